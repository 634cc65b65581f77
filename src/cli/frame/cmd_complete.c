/* SPDX-License-Identifier: Apache-2.0 */
/* completion, and the words that completions ask for. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/frame/complete.h"
#include "cli/frame/help.h"
#include "cli/nouns/noun.h"
#include "cli/service/services.h"
#include "zones/zones.h"

#define NAMES_LIMIT 200

int cmd_completion(struct cli *c)
{
	const char *script = completion_script(c->options.args[0]);

	if (!script) {
		problem_set(&c->problem, ERR_INVALID, "there are no completions for \"%.32s\"",
		    c->options.args[0]);
		return problem_hint(&c->problem, "there are for bash, zsh and fish");
	}
	fputs(script, stdout);
	return EXIT_OK;
}

static void zone_names(struct buf *out)
{
	struct zones *zones = zones_new(NULL);
	const char *const *names;
	size_t n = zones_names(zones, &names);

	buf_add_cstr(out, "local\nUTC\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s\n", names[i]);
	zones_free(zones);
}

/* Live names. Whatever goes wrong, the person at the prompt sees nothing. */
static void live_names(const char *kind, struct buf *out, void *arg)
{
	struct cli *c = arg;
	const struct noun *n = noun_find(kind, strlen(kind));
	AUTO(json_drop) json_t *list = NULL;
	bool tasks = n == &task_noun, batches = n == &batch_noun, many = tasks || batches;
	json_t *item;
	size_t i;

	if (!strcmp(kind, "zone")) {
		zone_names(out);
		return;
	}
	if (!strcmp(kind, "instance")) {
		instance_names(c, c->options.args[c->options.n_args - 1], out);
		return;
	}
	if (!n || cli_get_list(c, n->path, many ? 20 : NAMES_LIMIT, &list) < 0)
		return;
	json_array_foreach(json_object_get(list, "items"), i, item)
	{
		AUTO(buf_release) struct buf line = {0};

		text_add_clean(&line, str_of(js(item, many ? "id" : "name")));
		if (batches) {
			buf_add_cstr(&line, "\t");
			text_add_clean(&line, str_of(js(item, "name")));
			buf_printf(&line, " %lld of %lld ended", (long long)ji(item, "done", 0),
			    (long long)ji(item, "total", 0));
		}
		if (tasks) {
			buf_printf(&line, "\t%s in ", js(item, "state"));
			text_add_clean(&line, str_of(js(item, "queue")));
		}
		if (line.p)
			buf_printf(out, "%s\n", line.p);
	}
}

int cmd_complete(struct cli *c)
{
	const struct completer k = {live_names, c};
	AUTO(buf_release) struct buf out = {0};
	const char *kind = c->options.args[0];

	if (!strcmp(kind, "line"))
		complete_line(&k, c->options.args + 1, c->options.n_args - 1, &out);
	else
		complete_kind(&k, kind, &out);
	fputs(out.p ? out.p : "", stdout);
	return EXIT_OK;
}
