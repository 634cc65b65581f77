/* SPDX-License-Identifier: Apache-2.0 */
/* The doors of libreeve-cron: the same functions under names and types of their own. */
#include "cron/library.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cron/engine.h"
#include "cron/words/words.h"

struct reeve_cron {
	struct cron_items items;
};

struct reeve_cron_run {
	struct cron_engine engine;
};

_Static_assert((int)REEVE_CRON_ON_TIME == (int)CRON_ON_TIME &&
                   (int)REEVE_CRON_LATE == (int)CRON_LATE &&
                   (int)REEVE_CRON_SKIPPED == (int)CRON_SKIPPED &&
                   (int)REEVE_CRON_ALREADY_FIRED == (int)CRON_ALREADY_FIRED,
    "labels are handed over as they are");
_Static_assert(REEVE_CRON_NO_MONOTONIC == CRON_NO_MONOTONIC, "so is this");

static enum reeve_cron_code code_of(int err)
{
	switch (err) {
	case ERR_NOT_FOUND: return REEVE_CRON_NOT_FOUND;
	case ERR_IO: return REEVE_CRON_IO;
	default: return REEVE_CRON_INVALID;
	}
}

int library_error(struct reeve_cron_error *ret_error, const struct problem *p)
{
	enum reeve_cron_code code = code_of(p->code);

	if (!ret_error)
		return code;
	ret_error->code = code;
	snprintf(ret_error->what, sizeof ret_error->what, "%s", p->what);
	snprintf(ret_error->hint, sizeof ret_error->hint, "%s", p->hint);
	return code;
}

int reeve_cron_zone_tzif(const void *bytes, size_t n, struct reeve_cron_zone **ret_zone,
    struct reeve_cron_error *ret_error)
{
	struct problem p = {0};
	struct cron_zone *zone;

	if (cron_zone_tzif(bytes, n, &zone, &p) < 0)
		return library_error(ret_error, &p);
	*ret_zone = library_zone(zone);
	return 0;
}

void reeve_cron_zone_free(struct reeve_cron_zone *zone)
{
	cron_zone_free((struct cron_zone *)zone);
}

int32_t reeve_cron_zone_offset(const struct reeve_cron_zone *zone, int64_t time)
{
	return cron_zone_offset(library_inner_zone(zone), time);
}

static int parse(enum reeve_cron_form form, struct str text, const struct cron_dst *dst,
    struct cron_items *ret_items, struct problem *p)
{
	switch (form) {
	case REEVE_CRON_JSON: return cron_items_json(text, ret_items, p);
	case REEVE_CRON_CRONTAB: return cron_items_crontab(text, dst, ret_items, p);
	case REEVE_CRON_CALENDAR: return cron_items_calendar(text, dst, ret_items, p);
	}
	return problem_set(p, ERR_INVALID, "%d is no form of a pattern", (int)form);
}

static int parse_dst(
    enum reeve_cron_form form, const char *dst, struct cron_dst *ret_dst, struct problem *p)
{
	if (!dst)
		return 0;
	if (form != REEVE_CRON_JSON)
		return cron_dst_parse(str_of(dst), ret_dst, p);
	problem_set(p, ERR_INVALID, "JSON items say themselves what daylight saving does");
	return problem_hint(p, "put \"dst_fixes\" into the items and pass NULL");
}

int reeve_cron_parse(enum reeve_cron_form form, const char *text, const char *dst,
    struct reeve_cron **ret_cron, struct reeve_cron_error *ret_error)
{
	struct cron_dst fixes = {0};
	struct cron_items items;
	struct problem p = {0};

	if (parse_dst(form, dst, &fixes, &p) < 0 ||
	    parse(form, str_of(text), dst ? &fixes : NULL, &items, &p) < 0)
		return library_error(ret_error, &p);
	*ret_cron = xcalloc(1, sizeof **ret_cron);
	(*ret_cron)->items = items;
	return 0;
}

void reeve_cron_free(struct reeve_cron *cron)
{
	if (cron)
		cron_items_release(&cron->items);
	free(cron);
}

const char *reeve_cron_zone_name(const struct reeve_cron *cron)
{
	return cron->items.zone;
}

bool reeve_cron_uses_zone(const struct reeve_cron *cron)
{
	return cron_items_use_zone(&cron->items);
}

static bool lacks_zone(const struct reeve_cron *cron, const struct reeve_cron_zone *zone)
{
	return !zone && reeve_cron_uses_zone(cron);
}

int reeve_cron_next(const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time,
    int64_t *ret_time)
{
	if (lacks_zone(cron, zone))
		return REEVE_CRON_INVALID;
	return cron_items_next(&cron->items, library_inner_zone(zone), time, ret_time);
}

int reeve_cron_last(const struct reeve_cron *cron, const struct reeve_cron_zone *zone, int64_t time,
    int64_t *ret_time)
{
	if (lacks_zone(cron, zone))
		return REEVE_CRON_INVALID;
	return cron_items_last(&cron->items, library_inner_zone(zone), time, ret_time);
}

char *reeve_cron_to_json(const struct reeve_cron *cron)
{
	struct buf text = {0};

	cron_items_write(&cron->items, &text);
	return buf_take(&text);
}

char *reeve_cron_to_words(const struct reeve_cron *cron)
{
	struct buf text = {0};

	cron_describe(&cron->items, &text);
	return buf_take(&text);
}

int reeve_cron_begin(const struct reeve_cron *cron, const struct reeve_cron_policy *policy,
    const struct reeve_cron_reading *now, const struct reeve_cron_state *state,
    struct reeve_cron_run **ret_run, struct reeve_cron_error *ret_error)
{
	struct cron_policy inner = {policy->max_shift_seconds, policy->on_time_seconds};
	struct cron_reading reading = {
	    now->system, now->monotonic_ms, library_inner_zone(now->zone)};
	struct cron_state before = {state->begun, state->done_until, state->seen_until,
	    state->system, state->monotonic_ms, state->offset};
	struct problem p = {0};

	if (lacks_zone(cron, now->zone)) {
		problem_set(&p, ERR_INVALID, "this pattern follows a wall clock, but has no zone");
		problem_hint(&p, "put one into the reading: reeve_cron_zone_open()");
		return library_error(ret_error, &p);
	}
	*ret_run = xcalloc(1, sizeof **ret_run);
	cron_engine_begin(&(*ret_run)->engine, &cron->items, &inner, &reading, &before);
	return 0;
}

bool reeve_cron_take(struct reeve_cron_run *run, struct reeve_cron_event *ret_event)
{
	struct cron_event e;

	if (!cron_engine_next(&run->engine, &e))
		return false;
	*ret_event =
	    (struct reeve_cron_event){(enum reeve_cron_label)e.label, e.time, e.until, e.shift};
	return true;
}

bool reeve_cron_wake(const struct reeve_cron_run *run, int64_t *ret_time)
{
	return cron_engine_wake(&run->engine, ret_time);
}

int64_t reeve_cron_distance(const struct reeve_cron_run *run)
{
	return run->engine.change.distance;
}

void reeve_cron_end(struct reeve_cron_run *run, struct reeve_cron_state *ret_state)
{
	const struct cron_state *s = &run->engine.state;

	*ret_state = (struct reeve_cron_state){
	    s->begun, s->done_until, s->seen_until, s->system, s->monotonic_ms, s->offset};
	free(run);
}
