/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for people: in a list, and all about one. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/schedule/schedules.h"
#include "cron/zone/civil.h"

#define STATES_SHOWN_MAX 200 /* each is a request of its own */
#define LIVE_SHOWN 10
#define HISTORY_SHOWN "10"
#define LIVE_GROUPS "triggered,created,queued,dispatching,failure-cleanup,canceling"

void moment_words(const char *local, const char *abbreviation, struct buf *out)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	int year, month, day;

	if (strlen(local) < 20 || sscanf(local, "%4d-%2d-%2d", &year, &month, &day) != 3 ||
	    month < 1 || month > 12) {
		buf_add_cstr(out, local);
		return;
	}
	buf_printf(out, "%.3s %.10s %.8s %s%s%s",
	    days + 3 * civil_weekday(civil_days(year, month, day)), local, local + 11, local + 19,
	    *abbreviation ? " " : "", abbreviation);
}

char *schedule_words(const json_t *schedule)
{
	AUTO(buf_release) struct buf words = {0};
	struct str rest = str_of(js(schedule, "words")), line;

	while (str_next(&rest, '\n', &line))
		buf_printf(&words, "%s" STR_FMT, words.n ? "; or " : "", STR_ARG(line));
	return words.p ? buf_take(&words) : xstrdup("-");
}

char *schedule_dst_words(const json_t *schedule)
{
	AUTO(buf_release) struct buf words = {0};
	json_t *rule;
	size_t i;

	json_array_foreach(json_object_get(schedule, "dst"), i, rule)
	    buf_printf(&words, "%s%s", words.n ? "; or " : "", json_string_value(rule));
	return words.p ? buf_take(&words) : NULL;
}

static char *state_word(const struct cli *c, const json_t *schedule)
{
	return xstrdup(jhas(schedule, "problem") ? "fail" : js(schedule, "state"));
}

static char *next_words(const struct cli *c, const json_t *schedule)
{
	AUTO(buf_release) struct buf next = {0};

	if (jhas(schedule, "next_local"))
		moment_words(js(schedule, "next_local"), "", &next);
	return next.p ? buf_take(&next) : NULL;
}

char *when_words(const struct cli *c, const json_t *schedule)
{
	return schedule_words(schedule);
}

static char *reason_words(const struct cli *c, const json_t *schedule)
{
	return xstrdup(jhas(schedule, "problem")
	                   ? js(schedule, "problem")
	                   : js(json_object_get(schedule, "pause"), "reason"));
}

static const struct heading columns[] = {
    {"SCHEDULE", HEADING_STRETCH, {SHOWN_TEXT, "name"}},
    {"STATE", HEADING_STATE, {.words = state_word}},
    {"NEXT RUN", 0, {.words = next_words}},
    {"ZONE", HEADING_STRETCH | HEADING_SPARE, {SHOWN_TEXT, "time_zone"}},
    {"LAST", HEADING_RIGHT | HEADING_SPARE, {SHOWN_AGO, "last.tick"}},
    {"OUTCOME", HEADING_STATE | HEADING_SPARE, {SHOWN_TEXT, "last.state"}},
    {"LIVE", HEADING_RIGHT | HEADING_WIDE, {SHOWN_NUMBER, "live", "0"}},
    {"RUNS", HEADING_RIGHT | HEADING_WIDE, {SHOWN_COUNT, "fired", "0"}},
    {"SKIPPED", HEADING_RIGHT | HEADING_WIDE, {SHOWN_COUNT, "skipped", "0"}},
    {"QUEUE", HEADING_STRETCH | HEADING_WIDE, {SHOWN_TEXT, "task.queue"}},
    {"OVERLAP", HEADING_WIDE, {SHOWN_TEXT, "overlap"}},
    {"MISSED", HEADING_WIDE, {SHOWN_TEXT, "missed"}},
    {"MAX SHIFT", HEADING_RIGHT | HEADING_WIDE, {SHOWN_SPAN, "max_shift_ms"}},
    {"WHEN", HEADING_STRETCH | HEADING_SPARE, {.words = when_words}},
    {"REASON", HEADING_STRETCH | HEADING_WIDE, {.words = reason_words}},
};

static void add_last_states(struct cli *c, const json_t *schedules)
{
	json_t *schedule;
	size_t i;

	json_array_foreach(schedules, i, schedule)
	{
		json_t *last = json_object_get(schedule, "last");
		char state[32] = "";

		if (!json_is_object(last) || i >= STATES_SHOWN_MAX)
			continue;
		if (jhas(last, "group"))
			state_of(c, &group_noun, js(last, "group"), state);
		else
			state_of(c, &task_noun, js(last, "task"), state);
		json_object_set_new(last, "state", json_string(state));
	}
}

static void note_problems(struct cli *c, const json_t *schedules)
{
	json_t *schedule;
	size_t i;

	json_array_foreach(schedules, i, schedule) if (jhas(schedule, "problem"))
	    cli_note(c, "%s does not run: %s", js(schedule, "name"), js(schedule, "problem"));
}

const struct listing schedule_list = {.columns = columns,
    .n_columns = N_OF(columns),
    .usual = 50,
    .most = 10000000,
    .none = "there are no such schedules; `reeve schedule add` makes one",
    .prepare = add_last_states,
    .remarks = note_problems};

static char *state_words(const struct cli *c, const json_t *schedule)
{
	const json_t *pause = json_object_get(schedule, "pause");
	const char *glyph = state_glyph(js(schedule, "state"), c->term.utf8);
	char ago[TIME_TEXT_MAX], until[TIME_TEXT_MAX];

	if (!jhas(schedule, "id")) /* a draft */
		return NULL;
	if (!json_is_object(pause))
		return xasprintf("%s %s", glyph, js(schedule, "state"));
	return xasprintf("%s paused %s%s%s%s%s", glyph, jago(pause, "since", ago),
	    jhas(pause, "reason") ? ": " : "", js(pause, "reason"),
	    jhas(pause, "until") ? "; resumes " : "",
	    jhas(pause, "until") ? jago(pause, "until", until) : "");
}

static char *dst_words(const struct cli *c, const json_t *schedule)
{
	return schedule_dst_words(schedule);
}

static char *runs_words(const struct cli *c, const json_t *schedule)
{
	if (!jhas(schedule, "id"))
		return NULL;
	return xasprintf("%lld, %lld skipped, %lld live now", (long long)ji(schedule, "fired", 0),
	    (long long)ji(schedule, "skipped", 0), (long long)ji(schedule, "live", 0));
}

static const struct fact facts[] = {
    {"schedule", {SHOWN_TEXT, "name"}},
    {"id", {SHOWN_TEXT, "id"}},
    {"state", {.words = state_words}},
    {"problem", {SHOWN_TEXT, "problem"}},
    {"when", {.words = when_words}},
    {"written as", {SHOWN_TEXT, "source"}},
    {"zone", {SHOWN_TEXT, "time_zone", "none needed"}},
    {"daylight saving", {.words = dst_words}},
    {"max shift", {SHOWN_SPAN_IF, "max_shift_ms"}},
    {"overlap", {SHOWN_TEXT, "overlap"}},
    {"missed", {SHOWN_TEXT, "missed"}},
    {"jitter", {SHOWN_SPAN_IF, "jitter_ms"}},
    {"start", {SHOWN_TIME, "start"}},
    {"end", {SHOWN_TIME, "end"}},
    {"group", {.words = group_of_schedule}},
    {"queue", {SHOWN_TEXT, "task.queue"}},
    {"command", {SHOWN_COMMAND, "task.command"}},
    {"action", {SHOWN_JSON, "task.action"}},
    {"params", {SHOWN_JSON, "task.params"}},
    {"cwd", {SHOWN_TEXT, "task.cwd"}},
    {"env", {SHOWN_PAIRS, "task.env"}},
    {"run", {SHOWN_OBJECT, "task.run"}},
    {"labels", {SHOWN_PAIRS, "task.labels"}},
    {"needs", {SHOWN_NEED, "task.need"}},
    {"priority", {SHOWN_NUMBER, "task.priority"}},
    {"max attempts", {SHOWN_NUMBER, "task.max_attempts"}},
    {"time limit", {SHOWN_TEXT, "task.timeout"}},
    {"backoff", {SHOWN_TEXT, "task.backoff"}},
    {"runs", {.words = runs_words}},
    {"made", {SHOWN_TIME, "ctime"}},
    {"changed", {SHOWN_TIME, "mtime"}},
};

void schedule_facts(struct cli *c, const json_t *schedule)
{
	facts_show(c, facts, N_OF(facts), schedule);
}

void schedule_understood(struct cli *c, const json_t *schedule)
{
	static const struct fact understood[] = {
	    {"when", {.words = when_words}},
	    {"zone", {SHOWN_TEXT, "time_zone", "none needed"}},
	    {"daylight saving", {.words = dst_words}},
	    {"max shift", {SHOWN_SPAN, "max_shift_ms"}},
	    {"overlap", {SHOWN_TEXT, "overlap"}},
	    {"missed", {SHOWN_TEXT, "missed"}},
	};

	facts_show(c, understood, N_OF(understood), schedule);
}

static int show_live(struct cli *c, const json_t *schedule)
{
	static const struct heading live[] = {
	    {"LIVE TASK", 0, {SHOWN_TEXT, "id"}},
	    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
	    {"TICK", 0, {SHOWN_TEXT, "tick"}},
	    {"AGE", HEADING_RIGHT, {SHOWN_AGO, "ctime"}},
	    {"WORKER", HEADING_STRETCH, {SHOWN_TEXT, "worker"}},
	    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
	};
	static const struct heading live_groups[] = {
	    {"LIVE GROUP", 0, {SHOWN_TEXT, "id"}},
	    {"STATE", HEADING_STATE, {SHOWN_TEXT, "state"}},
	    {"TICK", 0, {SHOWN_TEXT, "tick"}},
	    {"AGE", HEADING_RIGHT, {SHOWN_AGO, "created"}},
	    {"JOBS", HEADING_RIGHT, {SHOWN_NUMBER, "jobs"}},
	    {"REASON", HEADING_STRETCH, {SHOWN_TEXT, "reason"}},
	};
	bool groups = jhas(schedule, "group");
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	int r;

	buf_add_cstr(&url, groups ? group_noun.path : task_noun.path);
	url_add(&url, "schedule", js(schedule, "name"));
	url_add(&url, "state", groups ? LIVE_GROUPS : "queued,claimed,running,held,blocked");
	r = ji(schedule, "live", 0) ? cli_get_list(c, url.p, LIVE_SHOWN, &list) : 0;
	if (r < 0 || json_array_size(json_object_get(list, "items")) == 0)
		return r;
	putchar('\n');
	if (groups)
		table_show(c, live_groups, N_OF(live_groups), json_object_get(list, "items"));
	else
		table_show(c, live, N_OF(live), json_object_get(list, "items"));
	return 0;
}

static int show_history(struct cli *c, const json_t *schedule)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *page = NULL;
	const json_t *ticks;
	int r;

	noun_path(c, &schedule_noun, js(schedule, "name"), "history", &url);
	url_add(&url, "limit", HISTORY_SHOWN);
	r = cli_get(c, url.p, &page);
	ticks = json_object_get(page, "items");
	if (r < 0 || json_array_size(ticks) == 0)
		return r;
	putchar('\n');
	ticks_add_states(c, js(schedule, "name"), ticks);
	table_show(c, tick_columns, N_TICK_COLUMNS, ticks);
	return 0;
}

static int show_more(struct cli *c, const json_t *schedule)
{
	int r;

	putchar('\n');
	if ((r = schedule_print_future(c, schedule)) < 0 || (r = show_live(c, schedule)) < 0)
		return r;
	return show_history(c, schedule);
}

const struct view schedule_view = {facts, N_OF(facts), show_more};

char *schedule_of_task(const struct cli *c, const json_t *task)
{
	char ago[TIME_TEXT_MAX];

	if (!jhas(task, "schedule_id"))
		return NULL;
	return xasprintf("%s, %s%s%s%s",
	    jhas(task, "schedule") ? js(task, "schedule") : "one that was deleted",
	    jhas(task, "tick") ? "its tick of " : "run by hand", js(task, "tick"),
	    jhas(task, "tick") ? ", " : "", jhas(task, "tick") ? jago(task, "tick", ago) : "");
}
