/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's times for people: those to come, what daylight saving does, those that were. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "cli/schedule/schedules.h"

#define STATES_ASKED_MAX 200 /* one by one, for those that the list of tasks did not hold */

char *local_words(const struct cli *c, const json_t *moment)
{
	AUTO(buf_release) struct buf words = {0};

	moment_words(js(moment, "local"), js(moment, "abbreviation"), &words);
	return words.p ? buf_take(&words) : NULL;
}

char *utc_words(const struct cli *c, const json_t *moment)
{
	return xasprintf("%.19sZ", js(moment, "utc"));
}

static char *left_words(const struct cli *c, const json_t *moment)
{
	char text[TIME_TEXT_MAX];

	return xstrdup(human_short(jtime(moment, "utc") - clock_wall_ms() + 500, text));
}

static void print_moments(struct cli *c, const json_t *moments)
{
	static const struct heading columns[] = {{"NEXT RUNS", 0, {.words = local_words}},
	    {"UTC", 0, {.words = utc_words}}, {"IN", HEADING_RIGHT, {.words = left_words}}};

	if (json_array_size(moments) == 0)
		puts("It does not run any more.");
	else
		table_show(c, columns, N_OF(columns), moments);
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
	int r;

	if (jhas(schedule, "problem")) /* nobody can say, and the problem was told */
		return 0;
	if ((r = noun_call(c, "GET", &schedule_noun, js(schedule, "name"), "next", NULL, &next)) <
	        0 ||
	    (r = cli_call(c, "POST", "/v1/schedules/preview", ask, &preview)) < 0)
		return r;
	print_moments(c, json_object_get(next, "items"));
	if (jhas(schedule, "pause"))
		puts("It is paused: what is due before it resumes is skipped.");
	print_notes(preview);
	return 0;
}

void state_of(struct cli *c, const struct noun *n, const char *id, char ret_state[32])
{
	AUTO(json_drop) json_t *task = NULL;
	int r = noun_get(c, n, id, &task);

	if (r < 0)
		c->problem = (struct problem){0};
	snprintf(ret_state, 32, "%.31s", r == ERR_NOT_FOUND ? "gone" : js(task, "state"));
}

/* {"id": "state"} of the newest tasks, or groups: one request instead of one for each. */
static json_t *states_of(struct cli *c, const struct noun *n_of, const char *name, size_t n)
{
	AUTO(buf_release) struct buf path = {0};
	AUTO(json_drop) json_t *list = NULL;
	json_t *states = json_object(), *task;
	size_t i;

	buf_add_cstr(&path, n_of->path);
	url_add(&path, "schedule", name);
	if (cli_get_list(c, path.p, n, &list) < 0)
		c->problem = (struct problem){0};
	json_array_foreach(json_object_get(list, "items"), i, task)
	    json_object_set(states, js(task, "id"), json_object_get(task, "state"));
	return states;
}

static char *reason_words(const struct cli *c, const json_t *tick)
{
	if (!jhas(tick, "until"))
		return xstrdup(js(tick, "reason"));
	return xasprintf("%s%sup to %.19sZ", js(tick, "reason"), jhas(tick, "reason") ? "; " : "",
	    js(tick, "until"));
}

/* The tick's task, or group. */
static const char *made_id(const json_t *tick)
{
	return jhas(tick, "group") ? js(tick, "group") : js(tick, "task");
}

static char *made_words(const struct cli *c, const json_t *tick)
{
	return *made_id(tick) ? xstrdup(made_id(tick)) : NULL;
}

const struct heading tick_columns[N_TICK_COLUMNS] = {
    {"TICK", 0, {.words = local_words}},
    {"OUTCOME", 0, {SHOWN_TEXT, "outcome"}},
    {"LATE", HEADING_RIGHT, {SHOWN_SPAN_IF, "late_by_ms"}},
    {"TASK", 0, {.words = made_words}},
    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
    {"REASON", HEADING_STRETCH, {.words = reason_words}},
};

void ticks_add_states(struct cli *c, const char *schedule, const json_t *ticks)
{
	const struct noun *n = &task_noun;
	AUTO(json_drop) json_t *states = NULL;
	json_t *tick;
	size_t i;
	int asked = 0;

	json_array_foreach(ticks, i, tick) if (jhas(tick, "group")) n = &group_noun;
	states = states_of(c, n, schedule, 2 * json_array_size(ticks) + 10);
	json_array_foreach(ticks, i, tick)
	{
		const char *id = made_id(tick);
		char state[32] = "";

		if (*id && !jhas(states, id) && ++asked <= STATES_ASKED_MAX) {
			state_of(c, n, id, state);
			json_object_set_new(states, id, json_string(state));
		}
		json_object_set(tick, "state", json_object_get(states, id));
	}
}
