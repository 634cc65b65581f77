/* SPDX-License-Identifier: Apache-2.0 */
/* Clients who make, change, stop and run schedules. */
#include <stdio.h>

#include "base/mem.h"
#include "sim/load/load_internal.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/zones.h"
#include "sim/world/server.h"

#define NAMES_MOST 5
#define GROUPS_EVERY_S 15 /* at most: they are more work than a task */
#define DELETE_LATER_US (30 * SECOND_US)

/* What a client asks for: request.own. */
struct plan {
	char name[16], items[120];
	bool of_groups;
	struct schedule_row row; /* the row's strings are constants, and the two above */
	int64_t from_s, to_s, until_ms;
};

static struct rng *rng_of(const struct world *w)
{
	return &schedules_of(w)->rng;
}

static struct request *request(struct world *w, enum event_kind kind, int number)
{
	struct request *r = load_command(w, w->load, kind, KIND_SCHEDULE);
	struct plan *p = r->own = xcalloc(1, sizeof *p);

	snprintf(p->name, sizeof p->name, "s%d", number);
	p->of_groups = schedules_of(w)->of_groups >> number & 1;
	p->row.name = str_of(p->name);
	p->row.items = str_of(p->items); /* none yet */
	return r;
}

static struct request *request_somewhere(struct world *w, enum event_kind kind, int number)
{
	struct request *r = request(w, kind, number);

	r->queue = (int)rng_below(rng_of(w), (uint64_t)w->load->n_queues);
	return r;
}

/* Runs last minutes, clocks jump by years: some patterns match often, some almost never. */
static int64_t draw_items(struct rng *g, struct plan *p)
{
	static const char *const skipped[] = {"skip", "unskip"};
	static const char *const repeated[] = {
	    "repeat_use_both", "repeat_use_only_early", "repeat_use_only_late"};
	static const int periods[] = {2, 5, 7, 10, 15, 20, 30, 60, 61, 300, 3600};
	int period = periods[rng_below(g, sizeof periods / sizeof periods[0])];
	const char *s = skipped[rng_below(g, 2)], *d = repeated[rng_below(g, 3)];
	int zone = (int)rng_below(g, N_SIM_ZONES);

	if (p->of_groups && period < GROUPS_EVERY_S)
		period += GROUPS_EVERY_S;
	if (sim_chance(g, 450)) {
		snprintf(p->items, sizeof p->items, "{\"epoch\":{\"period\":%d,\"start\":%d}}",
		    period, (int)sim_between(g, 0, period));
		return period;
	}
	if (period < 60)
		snprintf(p->items, sizeof p->items,
		    "{\"minute\":{\"period\":1},\"second\":{\"period\":%d},\"dst_fixes\":[\"%s\","
		    "\"%s\"]}",
		    period, s, d);
	else
		snprintf(p->items, sizeof p->items,
		    "{\"minute\":{\"period\":%d},\"dst_fixes\":[\"%s\",\"%s\"]}",
		    period < 300 ? 1 : 5, s, d);
	p->row.zone = str_of(sim_zone_names[zone]);
	return period;
}

/* A limit within which no more than some dozen ticks can have been missed. */
static int64_t draw_limit(struct rng *g, int64_t period)
{
	static const int64_t limits[] = {0, 3, 30, 120, 600, 3600, 7200};
	int64_t limit = limits[rng_below(g, sizeof limits / sizeof limits[0])];

	return limit > period * 50 ? period * 50 : limit;
}

static void draw_plan(struct world *w, struct plan *p)
{
	struct rng *g = rng_of(w);
	struct schedule_row *row = &p->row;
	int64_t period = draw_items(g, p), wall = sim_server_wall_ms(w);

	row->items = str_of(p->items);
	row->source = STR("drawn");
	row->body = STR("{\"s\":1}");
	row->priority = (int32_t)sim_between(g, -3, 3);
	row->max_attempts = sim_chance(g, 500) ? 0 : (int32_t)sim_between(g, 1, 3);
	row->backoff_ms = row->backoff_max_ms = -1;
	row->overlap = (int32_t)rng_below(g, N_OVERLAPS);
	row->missed = (int32_t)rng_below(g, N_MISSED);
	row->max_shift_s = draw_limit(g, p->of_groups ? period / 5 : period);
	if (p->of_groups) {
		row->group = STR("{\"drawn\":true}");
		row->body = STR_NULL;
	}
	row->jitter_ms = sim_chance(g, 600) ? 0 : sim_between(g, 1, 20000);
	if (sim_chance(g, 150))
		row->start_ms = wall + sim_between(g, -60000, 120000);
	if (sim_chance(g, 150))
		row->end_ms = wall + sim_between(g, 10000, 300000);
}

static void make(struct world *w, int number)
{
	struct request *r = request_somewhere(w, EV_CREATE, number);

	draw_plan(w, r->own);
	r->fields = row_settable(&schedule_table);
	load_send(w, r, SECOND_US);
}

void schedules_load(struct world *w)
{
	struct sim_schedules *all = schedules_of(w);
	struct sim_event *e;
	int n = w->o.tasks / 5;

	if (!all)
		return;
	all->n_names = (int)sim_between(&all->rng, 1, NAMES_MOST);
	for (int i = 0; i < all->n_names; i++)
		make(w, i);
	for (int i = 0; i < n; i++) {
		e = world_event(
		    w, sim_between(&all->rng, 0, w->heal_us * 9 / 10), SE_LOAD, SIM_RAW);
		e->n = KIND_SCHEDULE;
	}
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

static uint64_t fields_of(enum draw d, bool of_groups)
{
	switch (d) {
	case DRAW_ITEMS: return BIT(items) | BIT(source) | BIT(zone);
	case DRAW_TASK: return of_groups ? BIT(group) : task_fields();
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

	draw_plan(w, r->own);
	drawn = (unsigned)rng_next(rng_of(w));
	if (sim_chance(rng_of(w), 500))
		drawn &= ~(1u << DRAW_ITEMS | 1u << DRAW_TASK | 1u << DRAW_START | 1u << DRAW_END);
	for (int i = 0; i < N_DRAWS; i++)
		if (drawn & 1u << i)
			r->fields |= fields_of(i, ((struct plan *)r->own)->of_groups);
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
	struct rng *g = rng_of(w);
	struct plan *p = r->own;
	int64_t now_s = sim_server_wall_ms(w) / 1000;

	p->from_s = now_s - sim_between(g, 0, sim_chance(g, 600) ? 120 : 8000);
	p->to_s = p->from_s + sim_between(g, 1, 90);
	if (sim_chance(g, 400)) { /* an end that may have come when the past is read */
		p->from_s = now_s - sim_between(g, 0, 20);
		p->to_s = now_s + sim_between(g, 1, 6);
		maybe_slow_answer(w, r);
	}
}

static void draw_command(struct world *w, enum event_kind kind, enum verb verb, int number)
{
	struct rng *g = rng_of(w);
	struct request *r = request_somewhere(w, kind, number);

	r->verb = verb;
	r->word = verb == SCHEDULE_RUN ? "run" : "backfill";
	r->repeat = verb != SCHEDULE_RUN && sim_chance(g, 500);
	if (kind == EV_SET)
		draw_set(w, r);
	if (verb == SCHEDULE_BACKFILL)
		draw_range(w, r);
	if (kind == EV_PAUSE && sim_chance(g, 500))
		((struct plan *)r->own)->until_ms =
		    sim_server_wall_ms(w) + sim_between(g, 100, 60000);
	load_send(w, r, 0);
}

/* A schedule's tasks are tasks like any others: people cancel and repeat them, too. */
static void draw_task(struct world *w)
{
	rid task = truth_some_task(w, rng_next(rng_of(w)));
	struct request *r;

	if (!task)
		return;
	r = load_request(w, w->load, sim_chance(rng_of(w), 600) ? EV_CANCEL : EV_RETRY);
	r->n_ids = 1;
	r->ids[0] = task;
	load_send(w, r, 0);
}

void schedules_draw_request(struct world *w)
{
	static const struct {
		enum event_kind kind;
		enum verb verb;
	} drawn[] = {{EV_SET, VERB_NONE}, {EV_SET, VERB_NONE}, {EV_PAUSE, VERB_NONE},
	    {EV_PAUSE, VERB_NONE}, {EV_RESUME, VERB_NONE}, {EV_RESUME, VERB_NONE},
	    {EV_RESUME, VERB_NONE}, {EV_DO, SCHEDULE_RUN}, {EV_DO, SCHEDULE_BACKFILL},
	    {EV_DO, SCHEDULE_BACKFILL}};
	int n = (int)rng_below(rng_of(w), 13);
	int number = (int)rng_below(rng_of(w), (uint64_t)schedules_of(w)->n_names);

	if (n < 10) {
		draw_command(w, drawn[n].kind, drawn[n].verb, number);
	} else if (n < 11) {
		draw_command(w, EV_DELETE, VERB_NONE, number);
		make(w, number);
	} else {
		draw_task(w);
	}
}

/* Schedules go on for a while in a world that is well; then nothing may be left to wait for. */
void schedules_heal(struct world *w)
{
	const struct sim_schedules *all = schedules_of(w);

	for (int i = 0; all && i < all->n_names; i++)
		load_send(w, request(w, EV_PAUSE, i), DELETE_LATER_US);
}

bool schedule_command(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	struct plan *p = r->own;

	if (r->kind != EV_CREATE)
		ev->object.id = core_find(sim_core(w), KIND_SCHEDULE, p->row.name);
	else if (!queue)
		return false;
	p->row.queue = p->of_groups ? 0 : queue;
	ev->object.row = &p->row;
	ev->object.fields = queue ? r->fields : r->fields & ~task_fields();
	ev->object.reason = STR("drawn");
	ev->object.until_ms = p->until_ms;
	ev->object.from_s = p->from_s;
	ev->object.to_s = p->to_s;
	return true;
}
