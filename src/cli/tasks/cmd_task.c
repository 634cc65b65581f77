/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks: `task set`, `why`. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/reach/last.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

static int query(struct cli *c, struct buf *url)
{
	if (options_switch(&c->options, "oldest", false))
		url_add(url, "order", "asc");
	if (options_switch(&c->options, "full", false))
		url_add(url, "full", "true");
	return filter_url(c, url);
}

static const struct setting settings[] = {
    {"priority", SETTING_NUMBER, .min = -PRIORITY_MAX, .max = PRIORITY_MAX},
    {NULL},
};

const struct noun task_noun = {.word = "task",
    .path = "/v1/tasks",
    .list = &task_list,
    .view = &task_view,
    .settings = settings,
    .set_hint = "reeve task set ID --priority N",
    .resolve = id_resolve,
    .query = query};

static int set_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *task = NULL;
	int r = noun_apply(c, n, name, &task);

	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, task);
	else
		say(stdout, "%s has priority %lld now", js(task, "id"),
		    (long long)ji(task, "priority", 0));
	return EXIT_OK;
}

int cmd_task_set(struct cli *c)
{
	return noun_each(c, set_one);
}

/* Where a task comes from that nobody submitted by hand. */
static void show_origin(struct cli *c)
{
	AUTO(free_cstr) char *origin = NULL;
	AUTO(json_drop) json_t *task = NULL;

	if (noun_get(c, &task_noun, c->options.args[0], &task) < 0) {
		c->problem = (struct problem){0}; /* the question was why it waits: that was said */
		return;
	}
	origin = task_origin(c, task);
	if (origin)
		say(stdout, "  of %s", origin);
}

int cmd_why(struct cli *c)
{
	AUTO(json_drop) json_t *why = NULL;
	AUTO(buf_release) struct buf state = {0};
	json_t *reason;
	size_t i;
	int r = noun_call(c, "GET", &task_noun, c->options.args[0], "why", NULL, &why);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, why);
		return EXIT_OK;
	}
	add_state(&state, &c->term, c->term.out_colour, js(why, "state"));
	fputs(state.p, stdout);
	say(stdout, "%s: %s",
	    jb(why, "unsure") ? " (unsure: nobody knows yet whether it was started)" : "",
	    js(why, "summary"));
	json_array_foreach(json_object_get(why, "reasons"), i, reason)
	{
		say(stdout, "  %s %s", c->term.utf8 ? "•" : "*", js(reason, "text"));
		if (*js(reason, "lift"))
			say(stdout, "    %s %s", c->term.utf8 ? "→" : "->", js(reason, "lift"));
	}
	show_origin(c);
	return EXIT_OK;
}
