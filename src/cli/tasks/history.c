/* SPDX-License-Identifier: Apache-2.0 */
/* task history: every state of a task, with time, cause and actor. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"

static char *cause_words(const struct cli *c, const json_t *entry)
{
	int64_t attempt = ji(entry, "attempt", 0);

	return attempt ? xasprintf("%s (attempt %lld)", js(entry, "cause"), (long long)attempt)
	               : xstrdup(js(entry, "cause"));
}

/* The clock of another machine may have made it. */
static char *time_words(const struct cli *c, const json_t *entry)
{
	return xasprintf("%s%s", js(entry, "time"), jb(entry, "times_doubtful") ? " ?" : "");
}

static char *exit_words(const struct cli *c, const json_t *entry)
{
	if (ji(entry, "signal", 0) > 0)
		return xasprintf("sig %lld", (long long)ji(entry, "signal", 0));
	return jhas(entry, "exit_code") ? xasprintf("%lld", (long long)ji(entry, "exit_code", 0))
	                                : NULL;
}

static const struct heading columns[] = {
    {"TIME", 0, {.words = time_words}},
    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
    {"CAUSE", 0, {.words = cause_words}},
    {"BY", HEADING_STRETCH, {SHOWN_TEXT, "actor"}},
    {"WORKER", HEADING_STRETCH, {SHOWN_TEXT, "worker"}},
    {"EXIT", HEADING_RIGHT | HEADING_WIDE, {.words = exit_words}},
    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
};

int task_history_show(struct cli *c, const char *id)
{
	AUTO(json_drop) json_t *history = NULL;
	int r = noun_call(c, "GET", &task_noun, id, "history", NULL, &history);

	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, history);
		return EXIT_OK;
	}
	if (!jb(history, "complete"))
		cli_note(c, "(the oldest are not kept any more)");
	table_show(c, columns, N_OF(columns), json_object_get(history, "items"));
	return EXIT_OK;
}

int cmd_task_history(struct cli *c)
{
	return noun_alone(c) < 0 ? c->problem.code : task_history_show(c, c->options.args[0]);
}
