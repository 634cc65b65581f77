/* SPDX-License-Identifier: Apache-2.0 */
/* cron play: what the stateful engine would do, given what the clocks said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cron/cron_input.h"
#include "cli/cron/cron_reading.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"
#include "cron/engine.h"

#define EVENTS_MAX 100000

struct play {
	struct cli *cli;
	struct cron_input in;
	bool has_zone;
	struct cron_policy policy;
	struct cron_state state;
	json_t *events, *readings;
};

static int bad_line(struct cli *c, size_t number, const char *hint)
{
	struct problem was = c->problem;

	problem_set(&c->problem, ERR_INVALID, "line %zu: %.250s", number, was.what);
	return problem_hint(&c->problem, "%s", was.hint[0] ? was.hint : hint);
}

/* A line that names no zone keeps that of the line before. */
static int set_zone(struct play *p, const char *name)
{
	struct zone_ref *zone;

	if (!*name)
		return 0;
	if (cron_input_zone(p->cli, p->in.zones, name, &zone) < 0)
		return p->cli->problem.code;
	zone_ref_drop(p->in.zone);
	p->in.zone = zone;
	p->has_zone = true;
	return 0;
}

static json_t *event_json(const struct play *p, size_t number, const struct cron_event *e)
{
	json_t *j = cron_time_json(p->in.zone->zone, e->time);

	json_object_set_new(j, "label", json_string(cron_label_name(e->label)));
	json_object_set_new(j, "until", json_integer(e->until));
	json_object_set_new(j, "shift", json_integer(e->shift));
	json_object_set_new(j, "line", json_integer((json_int_t)number));
	return j;
}

static void add_reading(struct play *p, size_t number, const struct cron_engine *e)
{
	const struct cron_change *c = &e->change;

	json_array_append_new(
	    p->readings, json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:b}", "line", (json_int_t)number,
	                     "system", (json_int_t)e->now, "elapsed", (json_int_t)c->elapsed,
	                     "step", (json_int_t)c->step, "zone_shift", (json_int_t)c->zone_shift,
	                     "distance", (json_int_t)c->distance, "repeats", c->repeats));
	if (c->repeats && !wants_machine(p->cli))
		cli_note(p->cli,
		    "line %zu: back by %lld seconds, further than the limit: what follows fires "
		    "again",
		    number, (long long)-c->distance);
}

static int play_line(struct str line, size_t number, void *arg)
{
	struct play *p = arg;
	struct cron_written written;
	struct cron_reading now;
	struct cron_engine engine;
	struct cron_event event;
	int r = cron_reading_parse(line, &written, &p->cli->problem);

	if (r == 0 && written.is_remark)
		return 0;
	if (r < 0 || set_zone(p, written.zone) < 0)
		return bad_line(p->cli, number, "SYSTEM MONOTONIC ZONE, as: 1800000000 12.5 UTC");
	if (!p->has_zone && cron_items_use_zone(&p->in.items)) {
		problem_set(&p->cli->problem, ERR_INVALID, "a wall clock's times need a zone");
		return bad_line(p->cli, number, "name it as the third word, or with --tz");
	}
	now = (struct cron_reading){written.system, written.monotonic_ms, p->in.zone->zone};
	cron_engine_begin(&engine, &p->in.items, &p->policy, &now, &p->state);
	add_reading(p, number, &engine);
	while (cron_engine_next(&engine, &event)) {
		if (json_array_size(p->events) >= EVENTS_MAX)
			return problem_set(&p->cli->problem, ERR_TOO_LARGE,
			    "line %zu: more than %d events; a lower --max-shift skips old ones",
			    number, EVENTS_MAX);
		json_array_append_new(p->events, event_json(p, number, &event));
	}
	p->state = engine.state;
	return 0;
}

static char *local_time(const struct cli *c, const json_t *event)
{
	return xasprintf("%s %s", js(event, "local"), js(event, "abbreviation"));
}

static char *until_words(const struct cli *c, const json_t *event)
{
	return strcmp(js(event, "label"), cron_label_name(CRON_SKIPPED))
	           ? NULL
	           : xasprintf("%lld", (long long)ji(event, "until", 0));
}

static const struct column columns[] = {
    {"LINE", COLUMN_RIGHT, {SHOWN_NUMBER, "line"}},
    {"EVENT", 0, {SHOWN_TEXT, "label"}},
    {"LOCAL TIME", 0, {.words = local_time}},
    {"EPOCH", COLUMN_RIGHT, {SHOWN_NUMBER, "epoch"}},
    {"SHIFT", COLUMN_RIGHT, {SHOWN_NUMBER, "shift"}},
    {"UNTIL", COLUMN_RIGHT, {.words = until_words}},
};

/* Given, or what all the items say: mandatory, so that nobody is surprised by a default. */
static int read_limit(struct cli *c, const struct cron_items *items, int64_t *ret_limit)
{
	const struct cron_item *it = items->items;
	int64_t ms = 0;

	if (options_given(&c->options, "max-shift")) {
		int r = options_duration(&c->options, "max-shift", &ms, &c->problem);

		*ret_limit = ms / 1000;
		return r;
	}
	for (size_t i = 0; i < items->n; i++)
		if (!it[i].has_shift_limit || it[i].shift_limit != it[0].shift_limit) {
			problem_set(&c->problem, ERR_INVALID,
			    it[i].has_shift_limit ? "the items differ in how far time may shift"
			                          : "nothing says how far time may shift");
			return problem_hint(&c->problem,
			    "--max-shift SECONDS, or "
			    "\"max_shift_seconds_for_unskip_and_do_not_repeat\" in the item");
		}
	*ret_limit = it[0].shift_limit;
	return 0;
}

static int play_file(struct play *p)
{
	struct cli *c = p->cli;
	AUTO(json_drop) json_t *all = NULL;
	int64_t on_time_ms = 60000;
	int r = read_limit(c, &p->in.items, &p->policy.shift_limit);

	if (r < 0 || (r = options_duration(&c->options, "on-time", &on_time_ms, &c->problem)) < 0)
		return r;
	p->policy.on_time = on_time_ms / 1000;
	p->has_zone = options_get(&c->options, "tz") || p->in.items.zone;
	r = cron_each_line(c, c->options.args[0], play_line, p);
	if (wants_machine(c)) {
		all = json_pack("{s:O,s:O}", "items", p->events, "readings", p->readings);
		print_json(c, all);
	} else if (json_array_size(p->events) > 0) {
		table_show(c, columns, N_OF(columns), p->events);
	}
	return r;
}

int cmd_cron_play(struct cli *c)
{
	struct play p = {.cli = c, .events = json_array(), .readings = json_array()};
	int r = cron_input_read(c, false, &p.in);

	if (r == 0)
		r = play_file(&p);
	cron_input_release(&p.in);
	json_decref(p.events);
	json_decref(p.readings);
	return r < 0 ? r : EXIT_OK;
}
