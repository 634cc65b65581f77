/* SPDX-License-Identifier: Apache-2.0 */
/* help, completion, man pages, and the words that completions ask for. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/frame/complete.h"
#include "cli/frame/help.h"
#include "cli/output/output.h"
#include "zones/zones.h"

#define NAMES_LIMIT 200

int cmd_help(struct cli *c)
{
	size_t used = 0, n = c->options.n_args;
	const struct command *cmd;

	if (n == 0) {
		help_overview(&c->term, stdout);
		return EXIT_OK;
	}
	if (n == 1 && command_is_family(c->options.args[0])) {
		/* "worker" is a command and a family: show both. */
		cmd = command_find(c->options.args, 1, &used);
		if (cmd)
			help_command(cmd, &c->term);
		help_family(c->options.args[0], &c->term, stdout);
		return EXIT_OK;
	}
	cmd = command_find(c->options.args, n > 2 ? 2 : n, &used);
	if (!cmd)
		return command_unknown(c->options.args, n, &c->problem);
	help_command(cmd, &c->term);
	return EXIT_OK;
}

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

int cmd_gen_man(struct cli *c)
{
	return man_write(c->options.args[0], &c->problem);
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
	AUTO(free_cstr) char *path = xasprintf("/v1/%ss", kind);
	AUTO(json_drop) json_t *list = NULL;
	bool tasks = !strcmp(kind, "task");
	json_t *item;
	size_t i;

	if (!strcmp(kind, "zone")) {
		zone_names(out);
		return;
	}
	if (cli_get_list(c, path, tasks ? 20 : NAMES_LIMIT, &list) < 0)
		return;
	json_array_foreach(json_object_get(list, "items"), i, item)
	{
		AUTO(buf_release) struct buf line = {0};

		text_add_clean(&line, str_of(js(item, tasks ? "id" : "name")));
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
