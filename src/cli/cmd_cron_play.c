/* SPDX-License-Identifier: Apache-2.0 */
/* cron play: what the stateful engine would do, given what the clocks said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cmds.h"
#include "cli/cron_input.h"
#include "cli/output.h"
#include "cron/engine.h"

#define EVENTS_MAX 100000
#define MONOTONIC_MAX_S 1e12

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
	char what[200];

	snprintf(what, sizeof what, "%s", c->problem.what);
	if (c->problem.hint[0])
		hint = NULL;
	problem_set(&c->problem, ERR_INVALID, "line %zu: %s", number, what);
	return hint ? problem_hint(&c->problem, "%s", hint) : c->problem.code;
}

static int set_monotonic(struct cli *c, double seconds, struct cron_reading *r)
{
	if (!(seconds >= 0 && seconds <= MONOTONIC_MAX_S))
		return problem_set(&c->problem, ERR_INVALID,
		    "the monotonic clock is not a number of seconds from 0 on");
	r->monotonic_ms = (int64_t)(seconds * 1000 + 0.5);
	return 0;
}

static int set_system(struct cli *c, struct str text, struct cron_reading *r)
{
	int64_t ms;

	if (cron_time_parse(text, &ms, &c->problem) < 0)
		return c->problem.code;
	r->system = ms / 1000 - (ms % 1000 < 0);
	return 0;
}

static int set_zone(struct play *p, struct str name)
{
	char text[ZONE_NAME_MAX + 1];
	struct zone_ref *zone;

	if (name.n > ZONE_NAME_MAX)
		return problem_set(&p->cli->problem, ERR_INVALID,
		    "the zone's name is longer than %d bytes", ZONE_NAME_MAX);
	snprintf(text, sizeof text, "%.*s", (int)name.n, name.p);
	if (cron_input_zone(p->cli, p->in.zones, text, &zone) < 0)
		return p->cli->problem.code;
	zone_ref_drop(p->in.zone);
	p->in.zone = zone;
	p->has_zone = true;
	return 0;
}

static bool next_word(struct str *rest, struct str *ret_word)
{
	while (rest->n > 0 && (*rest->p == ' ' || *rest->p == '\t')) {
		rest->p++;
		rest->n--;
	}
	*ret_word = (struct str){rest->p, 0};
	while (rest->n > 0 && *rest->p != ' ' && *rest->p != '\t') {
		rest->p++;
		rest->n--;
		ret_word->n++;
	}
	return ret_word->n > 0;
}

/* The line ends with a NUL, so that strtod() stops there. */
static int read_words(struct play *p, struct str line, struct cron_reading *r)
{
	struct str system, monotonic, zone, more;
	char *end;
	double seconds;

	if (!next_word(&line, &system) || !next_word(&line, &monotonic))
		return problem_set(&p->cli->problem, ERR_INVALID, "this is not a reading");
	if (set_system(p->cli, system, r) < 0)
		return p->cli->problem.code;
	seconds = strtod(monotonic.p, &end);
	if (end != monotonic.p + monotonic.n)
		seconds = -1;
	if (!str_is(monotonic, "-") && set_monotonic(p->cli, seconds, r) < 0)
		return p->cli->problem.code;
	if (!next_word(&line, &zone) || *zone.p == '#')
		return 0;
	if (next_word(&line, &more) && *more.p != '#')
		return problem_set(&p->cli->problem, ERR_INVALID,
		    "there is more after the zone: \"%.*s\"", more.n < 40 ? (int)more.n : 40,
		    more.p);
	return set_zone(p, zone);
}

static int read_object(struct play *p, struct str line, struct cron_reading *r)
{
	json_error_t error;
	AUTO(json_drop) json_t *j = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, &error);
	json_t *system = NULL, *monotonic = NULL;
	const char *zone = NULL;
	char seconds[32];

	if (!j)
		return problem_set(
		    &p->cli->problem, ERR_INVALID, "at byte %d: %s", error.position, error.text);
	if (json_unpack_ex(j, &error, JSON_STRICT, "{s:o,s?o,s?s}", "system", &system, "monotonic",
	        &monotonic, "zone", &zone) < 0)
		return problem_set(&p->cli->problem, ERR_INVALID, "%s", error.text);
	if (monotonic && !json_is_null(monotonic) &&
	    set_monotonic(
	        p->cli, json_is_number(monotonic) ? json_number_value(monotonic) : -1, r) < 0)
		return p->cli->problem.code;
	snprintf(seconds, sizeof seconds, "%lld", (long long)json_integer_value(system));
	if (set_system(p->cli,
	        str_of(json_is_integer(system) ? seconds : json_string_value(system)), r) < 0)
		return p->cli->problem.code;
	return zone ? set_zone(p, str_of(zone)) : 0;
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
	struct cron_reading now = {.monotonic_ms = CRON_NO_MONOTONIC};
	struct cron_engine engine;
	struct cron_event event;
	struct str rest = line, first;

	if (!next_word(&rest, &first) || *first.p == '#')
		return 0;
	if ((*first.p == '{' ? read_object(p, line, &now) : read_words(p, line, &now)) < 0)
		return bad_line(p->cli, number, "SYSTEM MONOTONIC ZONE, as: 1800000000 12.5 UTC");
	if (!p->has_zone && cron_items_use_zone(&p->in.items)) {
		problem_set(&p->cli->problem, ERR_INVALID, "a wall clock's times need a zone");
		return bad_line(p->cli, number, "name it as the third word, or with --tz");
	}
	now.zone = p->in.zone->zone;
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

static void print_events(struct cli *c, const json_t *events)
{
	static const struct column columns[] = {{"LINE", COLUMN_RIGHT}, {"EVENT", 0},
	    {"LOCAL TIME", 0}, {"EPOCH", COLUMN_RIGHT}, {"SHIFT", COLUMN_RIGHT},
	    {"UNTIL", COLUMN_RIGHT}};
	struct table t;
	json_t *e;
	size_t i;

	table_init(&t, columns, 6);
	json_array_foreach(events, i, e)
	{
		table_addf(&t, "%lld", (long long)ji(e, "line", 0));
		table_add(&t, js(e, "label"));
		table_addf(&t, "%s %s", js(e, "local"), js(e, "abbreviation"));
		table_addf(&t, "%lld", (long long)ji(e, "epoch", 0));
		table_addf(&t, "%lld", (long long)ji(e, "shift", 0));
		if (!strcmp(js(e, "label"), cron_label_name(CRON_SKIPPED)))
			table_addf(&t, "%lld", (long long)ji(e, "until", 0));
		else
			table_add(&t, NULL);
	}
	table_print(&t, c);
	table_release(&t);
}

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
		print_events(c, p->events);
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
