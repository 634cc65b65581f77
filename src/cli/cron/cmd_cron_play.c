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

/* The items of one limit: they have a position, and so an engine, of their own. */
struct part {
	struct cron_items items; /* lent by the input */
	struct cron_policy policy;
	struct cron_state state;
	struct cron_engine engine; /* of this reading, with its next event */
	struct cron_event event;
	bool has_event;
};

struct play {
	struct cli *cli;
	struct cron_input in;
	bool has_zone;
	struct part parts[CRON_ITEMS_MAX];
	size_t n_parts;
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

static json_t *event_json(const struct play *p, size_t number, const struct part *part)
{
	const struct cron_event *e = &part->event;
	json_t *j = cron_time_json(p->in.zone->zone, e->time);

	json_object_set_new(j, "label", json_string(cron_label_name(e->label)));
	json_object_set_new(j, "until", json_integer(e->until));
	json_object_set_new(j, "shift", json_integer(e->shift));
	json_object_set_new(j, "max_shift", json_integer(part->policy.shift_limit));
	json_object_set_new(j, "line", json_integer((json_int_t)number));
	return j;
}

static void add_reading(struct play *p, size_t number, const struct part *part)
{
	const struct cron_change *c = &part->engine.change;

	json_array_append_new(p->readings,
	    json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:b}", "line", (json_int_t)number, "system",
	        (json_int_t)part->engine.now, "elapsed", (json_int_t)c->elapsed, "step",
	        (json_int_t)c->step, "zone_shift", (json_int_t)c->zone_shift, "distance",
	        (json_int_t)c->distance, "max_shift", (json_int_t)part->policy.shift_limit,
	        "repeats", c->repeats));
	if (c->repeats && !wants_machine(p->cli))
		cli_note(p->cli,
		    "line %zu: back by %lld seconds, further than the limit of %lld: what follows "
		    "fires again",
		    number, (long long)-c->distance, (long long)part->policy.shift_limit);
}

/* The one whose next event is the earliest; NULL: none has any. */
static struct part *earliest(struct play *p)
{
	struct part *first = NULL;

	for (struct part *part = p->parts; part < p->parts + p->n_parts; part++)
		if (part->has_event && (!first || part->event.time < first->event.time))
			first = part;
	return first;
}

static int play_reading(struct play *p, size_t number, const struct cron_reading *now)
{
	struct part *part, *end = p->parts + p->n_parts;

	for (part = p->parts; part < end; part++) {
		cron_engine_begin(&part->engine, &part->items, &part->policy, now, &part->state);
		add_reading(p, number, part);
		part->has_event = cron_engine_next(&part->engine, &part->event);
	}
	while ((part = earliest(p))) {
		if (json_array_size(p->events) >= EVENTS_MAX)
			return problem_set(&p->cli->problem, ERR_TOO_LARGE,
			    "line %zu: more than %d events; a lower --max-shift skips old ones",
			    number, EVENTS_MAX);
		json_array_append_new(p->events, event_json(p, number, part));
		part->has_event = cron_engine_next(&part->engine, &part->event);
	}
	for (part = p->parts; part < end; part++)
		part->state = part->engine.state;
	return 0;
}

static int play_line(struct str line, size_t number, void *arg)
{
	struct play *p = arg;
	struct cron_written written;
	int r = cron_reading_parse(line, &written, &p->cli->problem);

	if (r == 0 && written.is_remark)
		return 0;
	if (r < 0 || set_zone(p, written.zone) < 0)
		return bad_line(p->cli, number, "SYSTEM MONOTONIC ZONE, as: 1800000000 12.5 UTC");
	if (!p->has_zone && cron_items_use_zone(&p->in.items)) {
		problem_set(&p->cli->problem, ERR_INVALID, "a wall clock's times need a zone");
		return bad_line(p->cli, number, "name it as the third word, or with --tz");
	}
	return play_reading(p, number,
	    &(struct cron_reading){written.system, written.monotonic_ms, p->in.zone->zone});
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

/* The last one only where there are several limits. */
static const struct heading columns[] = {
    {"LINE", HEADING_RIGHT, {SHOWN_NUMBER, "line"}},
    {"EVENT", 0, {SHOWN_TEXT, "label"}},
    {"LOCAL TIME", 0, {.words = local_time}},
    {"EPOCH", HEADING_RIGHT, {SHOWN_NUMBER, "epoch"}},
    {"SHIFT", HEADING_RIGHT, {SHOWN_NUMBER, "shift"}},
    {"UNTIL", HEADING_RIGHT, {.words = until_words}},
    {"MAX SHIFT", HEADING_RIGHT, {SHOWN_NUMBER, "max_shift"}},
};

static void add_item(struct play *p, const struct cron_item *it, int64_t limit)
{
	struct part *part = p->parts;

	while (part < p->parts + p->n_parts && part->policy.shift_limit != limit)
		part++;
	p->n_parts += part == p->parts + p->n_parts;
	part->policy.shift_limit = limit;
	part->items.items = xrealloc(part->items.items, (part->items.n + 1) * sizeof *it);
	part->items.items[part->items.n++] = *it;
}

/* Given for all, or what each item says: mandatory, so that nobody is surprised by a default. */
static int read_limits(struct play *p)
{
	struct cli *c = p->cli;
	bool given = options_given(&c->options, "max-shift");
	int64_t ms = 0;
	int r = given ? options_duration(&c->options, "max-shift", &ms, &c->problem) : 0;

	for (size_t i = 0; i < p->in.items.n && r == 0; i++) {
		const struct cron_item *it = &p->in.items.items[i];

		if (!given && !it->has_shift_limit) {
			problem_set(
			    &c->problem, ERR_INVALID, "nothing says how far time may shift");
			return problem_hint(&c->problem,
			    "--max-shift SECONDS, or "
			    "\"max_shift_seconds_for_unskip_and_do_not_repeat\" in every item");
		}
		add_item(p, it, given ? ms / 1000 : it->shift_limit);
	}
	return r;
}

static int read_policies(struct play *p)
{
	struct cli *c = p->cli;
	int64_t on_time_ms = 60000;
	int r = read_limits(p);

	if (r < 0 || (r = options_duration(&c->options, "on-time", &on_time_ms, &c->problem)) < 0)
		return r;
	for (size_t i = 0; i < p->n_parts; i++)
		p->parts[i].policy.on_time = on_time_ms / 1000;
	return 0;
}

static int play_file(struct play *p)
{
	struct cli *c = p->cli;
	AUTO(json_drop) json_t *all = NULL;
	int r = read_policies(p);

	if (r < 0)
		return r;
	p->has_zone = options_get(&c->options, "tz") || p->in.items.zone;
	r = cron_each_line(c, c->options.args[0], play_line, p);
	if (wants_machine(c)) {
		all = json_pack("{s:O,s:O}", "items", p->events, "readings", p->readings);
		print_json(c, all);
	} else if (json_array_size(p->events) > 0) {
		table_show(c, columns, N_OF(columns) - (p->n_parts < 2), p->events);
	}
	return r;
}

int cmd_cron_play(struct cli *c)
{
	struct play p = {.cli = c, .events = json_array(), .readings = json_array()};
	int r = cron_input_read(c, false, &p.in);

	if (r == 0)
		r = play_file(&p);
	for (size_t i = 0; i < p.n_parts; i++)
		free(p.parts[i].items.items);
	cron_input_release(&p.in);
	json_decref(p.events);
	json_decref(p.readings);
	return r < 0 ? r : EXIT_OK;
}
