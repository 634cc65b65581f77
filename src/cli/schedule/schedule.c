/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules: `schedule rm`, `schedule run`, `schedule history`. */
#include <stdio.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/reach/last.h"
#include "cli/schedule/schedules.h"

static const struct setting pause_settings[] = {
    {"reason", SETTING_TEXT},
    {"until", SETTING_MOMENT},
    {NULL},
};

const struct noun schedule_noun = {.word = "schedule",
    .path = "/v1/schedules",
    .list = &schedule_list,
    .view = &schedule_view,
    .pause = pause_settings};

/* The history goes with the schedule, which nobody expects who has not been told. */
static bool may_delete(struct cli *c, const json_t *schedule)
{
	return options_switch(&c->options, "yes", false) ||
	       confirm(c, "delete the schedule %s and its history (%lld runs, %lld skipped)?",
	           js(schedule, "name"), (long long)ji(schedule, "fired", 0),
	           (long long)ji(schedule, "skipped", 0));
}

static int delete_schedule(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *schedule = NULL;
	int64_t live;
	int r = noun_get(c, n, name, &schedule);

	if (r < 0)
		return r;
	if (!may_delete(c, schedule))
		return not_confirmed(c);
	r = noun_delete(c, n, name);
	if (r < 0)
		return r;
	live = ji(schedule, "live", 0);
	if (!c->quiet)
		say(stdout, "schedule %s deleted", js(schedule, "name"));
	if (live)
		cli_note(c, "%lld of its tasks or groups %s not ended yet, and go%s on",
		    (long long)live, live == 1 ? "has" : "have", live == 1 ? "es" : "");
	return EXIT_OK;
}

int cmd_schedule_rm(struct cli *c)
{
	return noun_each(c, delete_schedule);
}

static int run_one(struct cli *c, const struct noun *n, const char *name)
{
	AUTO(json_drop) json_t *reply = NULL;
	int r = noun_call(c, "POST", n, name, "run", NULL, &reply);
	const char *id;
	bool is_group;

	if (r < 0)
		return r;
	is_group = json_object_get(reply, "groups");
	id = json_string_value(
	    json_array_get(json_object_get(reply, is_group ? "groups" : "tasks"), 0));
	if (id)
		last_save(is_group ? LAST_GROUP : LAST_TASK, id);
	if (wants_machine(c))
		print_json(c, reply);
	else
		say(stdout, "%s", id ? id : "nothing was submitted");
	return EXIT_OK;
}

int cmd_schedule_run(struct cli *c)
{
	return noun_each(c, run_one);
}

static void add_states(struct cli *c, const json_t *ticks)
{
	ticks_add_states(c, c->options.args[0], ticks);
}

static int draw_history(struct cli *c)
{
	static const struct listing history = {.columns = tick_columns,
	    .n_columns = N_TICK_COLUMNS,
	    .usual = 30,
	    .most = 10000000,
	    .none = "none of its ticks was due yet",
	    .prepare = add_states};
	AUTO(buf_release) struct buf path = {0};

	noun_path(c, &schedule_noun, c->options.args[0], "history", &path);
	return listing_show(c, &history, path.p);
}

int cmd_schedule_history(struct cli *c)
{
	return noun_alone(c) < 0 ? c->problem.code : watch_loop(c, draw_history);
}
