/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules, and clients who make, change, stop and run them. */
#include <stdio.h>

#include "sim/judge/judge.h"
#include "sim/load/load_internal.h"
#include "sim/world/server.h"
#include "sim/world/zones.h"

#define DELETE_LATER_US (30 * SECOND_US)

static struct request *request(struct world *w, struct load *l, enum event_kind kind, int schedule)
{
	struct request *r = load_command(w, l, kind, KIND_SCHEDULE);

	r->schedule = schedule;
	r->queue = (int)rng_below(&w->rng_schedule, (uint64_t)l->n_queues);
	return r;
}

/* Runs last minutes, clocks jump by years: some patterns match often, some almost never. */
static int64_t draw_items(struct world *w, struct request *r)
{
	static const char *const skipped[] = {"skip", "unskip"};
	static const char *const repeated[] = {
	    "repeat_use_both", "repeat_use_only_early", "repeat_use_only_late"};
	static const int periods[] = {2, 5, 7, 10, 15, 20, 30, 60, 61, 300, 3600};
	struct rng *g = &w->rng_schedule;
	int period = periods[rng_below(g, sizeof periods / sizeof periods[0])];
	const char *s = skipped[rng_below(g, 2)], *d = repeated[rng_below(g, 3)];
	int zone = (int)rng_below(g, N_SIM_ZONES);

	if (sim_chance(g, 450)) {
		snprintf(r->items, sizeof r->items, "{\"epoch\":{\"period\":%d,\"start\":%d}}",
		    period, (int)sim_between(g, 0, period));
		return period;
	}
	if (period < 60)
		snprintf(r->items, sizeof r->items,
		    "{\"minute\":{\"period\":1},\"second\":{\"period\":%d},\"dst_fixes\":[\"%s\","
		    "\"%s\"]}",
		    period, s, d);
	else
		snprintf(r->items, sizeof r->items,
		    "{\"minute\":{\"period\":%d},\"dst_fixes\":[\"%s\",\"%s\"]}",
		    period < 300 ? 1 : 5, s, d);
	r->plan.zone = str_of(sim_zone_names[zone]);
	return period;
}

/* A limit within which no more than some dozen ticks can have been missed. */
static int64_t draw_limit(struct rng *g, int64_t period)
{
	static const int64_t limits[] = {0, 3, 30, 120, 600, 3600, 7200};
	int64_t limit = limits[rng_below(g, sizeof limits / sizeof limits[0])];

	return limit > period * 50 ? period * 50 : limit;
}

static void draw_plan(struct world *w, struct request *r)
{
	struct rng *g = &w->rng_schedule;
	int64_t period = draw_items(w, r), wall = sim_server_wall_ms(w);

	r->plan.source = STR("drawn");
	r->plan.body = STR("{\"s\":1}");
	r->plan.priority = (int32_t)sim_between(g, -3, 3);
	r->plan.max_attempts = sim_chance(g, 500) ? 0 : (int32_t)sim_between(g, 1, 3);
	r->plan.backoff_ms = r->plan.backoff_max_ms = -1;
	r->plan.overlap = (int32_t)rng_below(g, N_OVERLAPS);
	r->plan.missed = (int32_t)rng_below(g, N_MISSED);
	r->plan.max_shift_s = draw_limit(g, period);
	r->plan.jitter_ms = sim_chance(g, 600) ? 0 : sim_between(g, 1, 20000);
	if (sim_chance(g, 150))
		r->plan.start_ms = wall + sim_between(g, -60000, 120000);
	if (sim_chance(g, 150))
		r->plan.end_ms = wall + sim_between(g, 10000, 300000);
}

static void make(struct world *w, struct load *l, int schedule)
{
	struct request *r = request(w, l, EV_CREATE, schedule);

	draw_plan(w, r);
	r->fields = row_settable(&schedule_table);
	load_send(w, r, SECOND_US);
}

void load_schedules_init(struct world *w, struct load *l)
{
	struct rng *g = &w->rng_schedule;
	int n = w->o.tasks / 5;

	l->n_schedules = (int)sim_between(g, 1, SCHEDULES_MOST);
	for (int i = 0; i < l->n_schedules; i++)
		make(w, l, i);
	for (int i = 0; i < n; i++)
		world_event(w, sim_between(g, 0, w->heal_us * 9 / 10), SE_LOAD, SIM_RAW)->n = 1;
}

#define BIT(member) ROW_BIT(schedule_table, schedule_row, member)

/* What is changed together; the number is that of the bit that is drawn for it. */
enum draw {
	DRAW_NAME, /* nobody renames */
	DRAW_ITEMS,
	DRAW_TASK,
	DRAW_OVERLAP,
	DRAW_MISSED,
	DRAW_MAX_SHIFT,
	DRAW_JITTER,
	DRAW_START,
	DRAW_END,
	N_DRAWS,
};

static uint64_t task_fields(void)
{
	return BIT(queue) | BIT(priority) | BIT(max_attempts) | BIT(timeout_ms) | BIT(backoff_ms) |
	       BIT(backoff_max_ms) | BIT(labels) | BIT(body);
}

static uint64_t fields_of(enum draw d)
{
	switch (d) {
	case DRAW_ITEMS: return BIT(items) | BIT(source) | BIT(zone);
	case DRAW_TASK: return task_fields();
	case DRAW_OVERLAP: return BIT(overlap);
	case DRAW_MISSED: return BIT(missed);
	case DRAW_MAX_SHIFT: return BIT(max_shift_s);
	case DRAW_JITTER: return BIT(jitter_ms);
	case DRAW_START: return BIT(start_ms);
	case DRAW_END: return BIT(end_ms);
	default: return 0;
	}
}

static void draw_set(struct world *w, struct request *r)
{
	unsigned drawn;

	draw_plan(w, r);
	drawn = (unsigned)rng_next(&w->rng_schedule);
	if (sim_chance(&w->rng_schedule, 500))
		drawn &= ~(1u << DRAW_ITEMS | 1u << DRAW_TASK | 1u << DRAW_START | 1u << DRAW_END);
	for (int i = 0; i < N_DRAWS; i++)
		if (drawn & 1u << i)
			r->fields |= fields_of(i);
}

/*
 * Now and then the past takes so long to come that the range's end is there before it, and what was
 * read says nothing of that. By numbers of its own: all else is drawn as without it.
 */
static void maybe_slow_answer(struct world *w, const struct request *r)
{
	struct rng own = {w->o.seed ^ (uint64_t)r->number << 32};

	if (!sim_chance(&own, 500))
		return;
	w->server->ticks_slow_us = sim_between(&own, SECOND_US, 5 * SECOND_US);
}

/* What lies around now, or around what was now before somebody set the clock. */
static void draw_range(struct world *w, struct request *r)
{
	struct rng *g = &w->rng_schedule;
	int64_t now_s = sim_server_wall_ms(w) / 1000;

	r->from_s = now_s - sim_between(g, 0, sim_chance(g, 600) ? 120 : 8000);
	r->to_s = r->from_s + sim_between(g, 1, 90);
	if (sim_chance(g, 400)) { /* its end may have come by the time that the past is read */
		r->from_s = now_s - sim_between(g, 0, 20);
		r->to_s = now_s + sim_between(g, 1, 6);
		maybe_slow_answer(w, r);
	}
}

static void draw_command(
    struct world *w, struct load *l, enum event_kind kind, enum verb verb, int schedule)
{
	struct rng *g = &w->rng_schedule;
	struct request *r = request(w, l, kind, schedule);

	r->verb = verb;
	r->repeat = verb != SCHEDULE_RUN && sim_chance(g, 500);
	if (kind == EV_SET)
		draw_set(w, r);
	if (verb == SCHEDULE_BACKFILL)
		draw_range(w, r);
	if (kind == EV_PAUSE && sim_chance(g, 500))
		r->until_ms = sim_server_wall_ms(w) + sim_between(g, 100, 60000);
	load_send(w, r, 0);
}

/* Its tasks are tasks like any others: people cancel and repeat them, too. */
static void draw_task(struct world *w, struct load *l)
{
	rid task = judge_scheduled_task(w, rng_next(&w->rng_schedule));
	struct request *r;

	if (!task)
		return;
	r = load_request(w, l, sim_chance(&w->rng_schedule, 600) ? EV_CANCEL : EV_RETRY);
	r->n_ids = 1;
	r->ids[0] = task;
	load_send(w, r, 0);
}

void load_draw_schedule(struct world *w, struct load *l)
{
	static const struct {
		enum event_kind kind;
		enum verb verb;
	} drawn[] = {{EV_SET, VERB_NONE}, {EV_SET, VERB_NONE}, {EV_PAUSE, VERB_NONE},
	    {EV_PAUSE, VERB_NONE}, {EV_RESUME, VERB_NONE}, {EV_RESUME, VERB_NONE},
	    {EV_RESUME, VERB_NONE}, {EV_DO, SCHEDULE_RUN}, {EV_DO, SCHEDULE_BACKFILL},
	    {EV_DO, SCHEDULE_BACKFILL}};
	int n = (int)rng_below(&w->rng_schedule, 13);
	int schedule = (int)rng_below(&w->rng_schedule, (uint64_t)l->n_schedules);

	if (n < 10) {
		draw_command(w, l, drawn[n].kind, drawn[n].verb, schedule);
	} else if (n < 11) {
		draw_command(w, l, EV_DELETE, VERB_NONE, schedule);
		make(w, l, schedule);
	} else {
		draw_task(w, l);
	}
}

/* They go on for a while in a world that is well; then nothing may be left to wait for. */
void load_schedules_heal(struct world *w, struct load *l)
{
	for (int i = 0; i < l->n_schedules; i++) {
		struct request *r = load_command(w, l, EV_PAUSE, KIND_SCHEDULE);

		r->schedule = i;
		load_send(w, r, DELETE_LATER_US);
	}
}

bool load_schedule_event_of(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	snprintf(c->schedule_name, sizeof c->schedule_name, "s%d", r->schedule);
	if (r->kind != EV_CREATE)
		ev->object.id = core_find(sim_core(w), KIND_SCHEDULE, str_of(c->schedule_name));
	else if (!queue)
		return false;
	c->schedule = r->plan;
	c->schedule.name = str_of(c->schedule_name);
	c->schedule.items = str_of(r->items);
	c->schedule.queue = queue;
	ev->object.row = &c->schedule;
	ev->object.fields = queue ? r->fields : r->fields & ~task_fields();
	ev->object.reason = STR("drawn");
	ev->object.until_ms = r->until_ms;
	ev->object.from_s = r->from_s;
	ev->object.to_s = r->to_s;
	return true;
}
