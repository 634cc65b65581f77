/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules for people: in a list, and all about one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/nouns/schedules.h"
#include "cli/tasks/work.h"
#include "cron/zone/civil.h"

static const struct column schedule_columns[] = {
    {"SCHEDULE", COLUMN_STRETCH},
    {"STATE", COLUMN_STATE},
    {"NEXT RUN", 0},
    {"ZONE", COLUMN_STRETCH},
    {"LAST", COLUMN_RIGHT},
    {"OUTCOME", COLUMN_STATE},
    {"LIVE", COLUMN_RIGHT | COLUMN_WIDE},
    {"RUNS", COLUMN_RIGHT | COLUMN_WIDE},
    {"SKIPPED", COLUMN_RIGHT | COLUMN_WIDE},
    {"QUEUE", COLUMN_STRETCH | COLUMN_WIDE},
    {"OVERLAP", COLUMN_WIDE},
    {"MISSED", COLUMN_WIDE},
    {"MAX SHIFT", COLUMN_RIGHT | COLUMN_WIDE},
    {"WHEN", COLUMN_STRETCH},
    {"REASON", COLUMN_STRETCH | COLUMN_WIDE},
};

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

void schedule_table_init(struct table *t)
{
	table_init(t, schedule_columns, sizeof schedule_columns / sizeof schedule_columns[0]);
}

void schedule_table_add(struct table *t, const json_t *schedule, const char *last_state)
{
	const json_t *last = json_object_get(schedule, "last");
	AUTO(buf_release) struct buf next = {0};
	AUTO(free_cstr) char *words = schedule_words(schedule);
	char text[TIME_TEXT_MAX];

	if (jhas(schedule, "next_local"))
		moment_words(js(schedule, "next_local"), "", &next);
	table_add(t, js(schedule, "name"));
	table_add(t, jhas(schedule, "problem") ? "fail" : js(schedule, "state"));
	table_add(t, next.p);
	table_add(t, js(schedule, "time_zone"));
	table_add(t, jhas(last, "tick") ? jago(last, "tick", text) : NULL);
	table_add(t, last_state);
	table_addf(t, "%lld", (long long)ji(schedule, "live", 0));
	table_add(t, human_count(ji(schedule, "fired", 0), text));
	table_add(t, human_count(ji(schedule, "skipped", 0), text));
	table_add(t, js(json_object_get(schedule, "task"), "queue"));
	table_add(t, js(schedule, "overlap"));
	table_add(t, js(schedule, "missed"));
	table_add(t, time_human_ms(ji(schedule, "max_shift_ms", 0), text));
	table_add(t, words);
	table_add(t, jhas(schedule, "problem") ? js(schedule, "problem")
	                                       : js(json_object_get(schedule, "pause"), "reason"));
}

static char *state_words(struct cli *c, const json_t *schedule)
{
	const json_t *pause = json_object_get(schedule, "pause");
	const char *glyph = state_glyph(js(schedule, "state"), c->term.utf8);
	char ago[TIME_TEXT_MAX], until[TIME_TEXT_MAX];

	if (!json_is_object(pause))
		return xasprintf("%s %s", glyph, js(schedule, "state"));
	return xasprintf("%s paused %s%s%s%s%s", glyph, jago(pause, "since", ago),
	    jhas(pause, "reason") ? ": " : "", js(pause, "reason"),
	    jhas(pause, "until") ? "; resumes " : "",
	    jhas(pause, "until") ? jago(pause, "until", until) : "");
}

static char *span_fact(const json_t *j, const char *name)
{
	char text[TIME_TEXT_MAX];

	return ji(j, name, 0) ? xstrdup(time_human_ms(ji(j, name, 0), text)) : NULL;
}

static char *counts_words(const json_t *schedule)
{
	return xasprintf("%lld, %lld skipped, %lld live now", (long long)ji(schedule, "fired", 0),
	    (long long)ji(schedule, "skipped", 0), (long long)ji(schedule, "live", 0));
}

static char *number_fact(const json_t *j, const char *name)
{
	return jhas(j, name) ? xasprintf("%lld", (long long)ji(j, name, 0)) : NULL;
}

void schedule_facts(struct cli *c, const json_t *schedule)
{
	const json_t *task = json_object_get(schedule, "task");
	bool is_made = jhas(schedule, "id");
	struct fact facts[] = {
	    {"schedule", xstrdup(js(schedule, "name"))},
	    {"id", text_fact(js(schedule, "id"))},
	    {"state", is_made ? state_words(c, schedule) : NULL},
	    {"problem", text_fact(js(schedule, "problem"))},
	    {"when", schedule_words(schedule)},
	    {"written as", text_fact(js(schedule, "source"))},
	    {"zone",
	        xstrdup(jhas(schedule, "time_zone") ? js(schedule, "time_zone") : "none needed")},
	    {"daylight saving", schedule_dst_words(schedule)},
	    {"max shift", span_fact(schedule, "max_shift_ms")},
	    {"overlap", text_fact(js(schedule, "overlap"))},
	    {"missed", text_fact(js(schedule, "missed"))},
	    {"jitter", span_fact(schedule, "jitter_ms")},
	    {"start", time_fact(schedule, "start")},
	    {"end", time_fact(schedule, "end")},
	    {"queue", text_fact(js(task, "queue"))},
	    {"command", command_fact(task)},
	    {"action", json_fact(json_object_get(task, "action"))},
	    {"params", json_fact(json_object_get(task, "params"))},
	    {"cwd", text_fact(js(task, "cwd"))},
	    {"env", pairs_fact(json_object_get(task, "env"))},
	    {"run", run_fact(task)},
	    {"labels", pairs_fact(json_object_get(task, "labels"))},
	    {"priority", number_fact(task, "priority")},
	    {"max attempts", number_fact(task, "max_attempts")},
	    {"time limit", text_fact(js(task, "timeout"))},
	    {"backoff", text_fact(js(task, "backoff"))},
	    {"runs", is_made ? counts_words(schedule) : NULL},
	    {"made", time_fact(schedule, "ctime")},
	    {"changed", time_fact(schedule, "mtime")},
	};

	facts_print(c, facts, sizeof facts / sizeof facts[0]);
}
