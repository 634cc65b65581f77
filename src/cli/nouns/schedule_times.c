/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's times for people: those to come, what daylight saving does, those that were. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/nouns/schedules.h"

#define STATES_ASKED_MAX 200 /* one by one, for those that the list of tasks did not hold */

static void print_moments(struct cli *c, const json_t *moments)
{
	static const struct column columns[] = {{"NEXT RUNS", 0}, {"UTC", 0}, {"IN", COLUMN_RIGHT}};
	int64_t now_ms = clock_wall_ms();
	struct table t;
	json_t *moment;
	size_t i;

	if (json_array_size(moments) == 0) {
		puts("It does not run any more.");
		return;
	}
	table_init(&t, columns, 3);
	json_array_foreach(moments, i, moment)
	{
		AUTO(buf_release) struct buf local = {0};
		char left[TIME_TEXT_MAX];

		moment_words(js(moment, "local"), js(moment, "abbreviation"), &local);
		table_add(&t, local.p);
		table_addf(&t, "%.19sZ", js(moment, "utc"));
		table_add(&t, human_short(jtime(moment, "utc") - now_ms + 500, left));
	}
	table_print(&t, c);
	table_release(&t);
}

/* What lies behind us is of no use to anybody who looks ahead. */
static void print_notes(const json_t *preview)
{
	int64_t now_ms = clock_wall_ms();
	json_t *note;
	size_t i, n = 0;

	if (!jhas(preview, "time_zone"))
		return;
	puts("\nDaylight saving, until the end of next year:");
	json_array_foreach(json_object_get(preview, "daylight_saving"), i, note)
	{
		if (jtime(json_object_get(note, "at"), "utc") < now_ms)
			continue;
		say(stdout, "  %s", js(note, "text"));
		n++;
	}
	if (n == 0)
		puts("  it does not touch these times");
}

void schedule_print_preview(struct cli *c, const json_t *preview)
{
	print_moments(c, json_object_get(preview, "next"));
	print_notes(preview);
}

int schedule_print_future(struct cli *c, const json_t *schedule)
{
	AUTO(json_drop)
	json_t *ask = json_pack("{s:O,s:O,s:i}", "items", json_object_get(schedule, "items"),
	    "time_zone", json_object_get(schedule, "time_zone"), "n", 0);
	AUTO(json_drop) json_t *next = NULL, *preview = NULL;
	AUTO(buf_release) struct buf path = {0};
	int r;

	if (jhas(schedule, "problem")) /* nobody can say, and the problem was told */
		return 0;
	schedule_path(js(schedule, "name"), "next", &path);
	if ((r = cli_get(c, path.p, &next)) < 0 ||
	    (r = cli_call(c, "POST", "/v1/schedules/preview", ask, &preview)) < 0)
		return r;
	print_moments(c, json_object_get(next, "items"));
	if (jhas(schedule, "pause"))
		puts("It is paused: what is due before it resumes is skipped.");
	print_notes(preview);
	return 0;
}

void task_state_of(struct cli *c, const char *id, char ret_state[32])
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *task = NULL;
	int r;

	buf_add_cstr(&path, "/v1/tasks");
	url_add_path(&path, id);
	r = cli_get(c, path.p, &task);
	if (r < 0)
		c->problem = (struct problem){0};
	snprintf(ret_state, 32, "%.31s", r == ERR_NOT_FOUND ? "gone" : js(task, "state"));
}

/* {"id": "state"} of the newest tasks: one request instead of one for each. */
static json_t *states_of(struct cli *c, const char *name, size_t n)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *list = NULL;
	json_t *states = json_object(), *task;
	size_t i;

	buf_add_cstr(&path, "/v1/tasks");
	url_add(&path, "schedule", name);
	if (cli_get_list(c, path.p, n, &list) < 0)
		c->problem = (struct problem){0};
	json_array_foreach(json_object_get(list, "items"), i, task)
	    json_object_set(states, js(task, "id"), json_object_get(task, "state"));
	return states;
}

static void add_task(struct cli *c, struct table *t, const json_t *tick, json_t *states, int *asked)
{
	const char *id = js(tick, "task");
	char state[32] = "";

	if (*id && !jhas(states, id) && ++*asked <= STATES_ASKED_MAX) {
		task_state_of(c, id, state);
		json_object_set_new(states, id, json_string(state));
	}
	table_add(t, id);
	table_add(t, js(states, id));
}

static void add_tick(struct cli *c, struct table *t, const json_t *tick, json_t *states, int *asked)
{
	AUTO(buf_release) struct buf local = {0};
	char late[TIME_TEXT_MAX];

	moment_words(js(tick, "local"), "", &local);
	table_add(t, local.p);
	table_add(t, js(tick, "outcome"));
	table_add(t,
	    ji(tick, "late_by_ms", 0) > 0 ? time_human_ms(ji(tick, "late_by_ms", 0), late) : NULL);
	add_task(c, t, tick, states, asked);
	if (jhas(tick, "until"))
		table_addf(t, "%s%sup to %.19sZ", js(tick, "reason"),
		    jhas(tick, "reason") ? "; " : "", js(tick, "until"));
	else
		table_add(t, js(tick, "reason"));
}

int schedule_print_ticks(struct cli *c, const char *name, const json_t *ticks)
{
	static const struct column columns[] = {{"TICK", 0}, {"OUTCOME", 0}, {"LATE", COLUMN_RIGHT},
	    {"TASK", 0}, {"STATE", COLUMN_STATE}, {"REASON", COLUMN_STRETCH}};
	AUTO(json_drop) json_t *states = states_of(c, name, 2 * json_array_size(ticks) + 10);
	struct table t;
	json_t *tick;
	size_t i;
	int asked = 0;

	table_init(&t, columns, sizeof columns / sizeof columns[0]);
	json_array_foreach(ticks, i, tick) add_tick(c, &t, tick, states, &asked);
	table_print(&t, c);
	table_release(&t);
	return 0;
}
