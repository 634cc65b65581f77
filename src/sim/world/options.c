/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/world/options.h"

#include "base/mutant.h"
#include "base/rng.h"
#include "sim/kind.h"
#include "sim/load/needs.h"
#include "sim/world/world.h"

const char *const sim_class_names[N_CLASSES] = {"net", "call", "crash", "pause", "clock", "process",
    "store", "twin", "split", "change", "time", "remove", "slow", "hostile", "coma"};

/* The classes from there on are drawn from streams of their own: seeds keep their meaning. */
#define DRAWN_CLASSES ((1u << CLASS_CHANGE) - 1)

void sim_options_init(struct sim_options *o)
{
	*o = (struct sim_options){
	    .dispatch = -1,
	    .faults = ALL_CLASSES,
	    .lost_hold_ms = 66000,
	    .run_wait_ms = 4000,
	    .delay_max_us = 1000,
	    .commit_max_us = 1000,
	    .guard_ms = 1000,
	};
	timeouts_default(&o->timeouts);
}

static void draw_timeouts(struct sim_options *o, struct rng *r)
{
	struct timeouts *t = &o->timeouts;

	timeouts_default(t);
	o->lost_hold_ms = 66000;
	o->run_wait_ms = 4000;
	if (sim_chance(r, 250))
		return;
	t->heartbeat_ms = sim_between(r, 2000, 10000);
	t->heartbeat_grace_ms = sim_between(r, 2000, 20000);
	t->check_period_ms = sim_between(r, 5000, 30000);
	t->check_grace_ms = sim_between(r, 2000, 20000);
	t->lose_after_ms = sim_between(r, 5000, 90000);
	t->margin_ms = sim_between(r, 1000, 4900);
	t->kill_wait_ms = sim_between(r, 100, t->margin_ms / 2);
	o->lost_hold_ms = sim_between(r, 1000, 66000);
	o->run_wait_ms = sim_between(r, 1000, 6000);
}

/*
 * Worlds in which only the hold keeps a second copy away: a worker's last processes may outlive the
 * moment at which the server gives them up. From a stream of its own, as draw_change().
 */
static void draw_long_kill(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x6b696c6c77616974ull};
	struct timeouts *t = &o->timeouts;

	if (!sim_chance(&r, 100))
		return;
	t->kill_wait_ms = sim_between(&r, t->margin_ms, 40000);
	o->lost_hold_ms = t->kill_wait_ms + sim_between(&r, 3000, 26000);
	if (sim_chance(&r, 700))
		o->classes |=
		    (1u << CLASS_CLOCK | 1u << CLASS_PROCESS | 1u << CLASS_NET) & o->faults;
}

static int64_t longer(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Two clocks that differ by twice this use up a quarter of the margin until a worker is lost. */
static int64_t drift_bound(const struct timeouts *t)
{
	int64_t ppm = t->margin_ms * 1000000 / timeouts_to_lose_ms(t) / 8;

	return ppm > 10000 ? 10000 : ppm;
}

static void draw_sizes(struct sim_options *o, struct rng *r)
{
	int workers = (int)sim_between(r, 1, 10), minutes = (int)sim_between(r, 1, 10);
	int tasks = (int)sim_between(r, 20, 250);

	if (o->workers <= 0)
		o->workers = workers;
	if (o->minutes <= 0)
		o->minutes = minutes;
	if (o->tasks <= 0)
		o->tasks = tasks;
	o->n_commands = o->tasks > tasks ? o->tasks : tasks;
	o->window_tasks = sim_chance(r, 300) ? (uint32_t)sim_between(r, 2, 20) : 2048;
}

static void draw_classes(struct sim_options *o, struct rng *r)
{
	unsigned drawn = (unsigned)rng_below(r, DRAWN_CLASSES + 1);
	int often = (int)sim_between(r, 1, 4);

	if (sim_chance(r, 100))
		drawn = DRAWN_CLASSES;
	if (sim_chance(r, 950))
		drawn &= ~(1u << CLASS_TWIN); /* a twin keeps many other faults from happening */
	o->classes = drawn & o->faults;
	if (!o->classes && o->faults != ALL_CLASSES)
		o->classes = o->faults;
	o->n_faults = (int)sim_between(r, 2, 10) * often;
}

/* A world in which consensus matters: few workers that come and go, and a server that dies often.
 */
static void draw_consensus(struct sim_options *o, struct rng *r)
{
	int workers = (int)sim_between(r, 2, 4);
	bool is_small = sim_chance(r, 500);

	o->consensus_patience = sim_chance(r, 500) ? (uint32_t)sim_between(r, 1, 3) : 0;
	if (!o->is_volatile || !is_small)
		return;
	if (o->workers <= 0)
		o->workers = workers;
	o->classes |= (1u << CLASS_SPLIT) & o->faults;
}

static void draw_change(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x6368616e67650000ull};
	struct sim_options other;
	bool drawn = sim_chance(&r, 150) || o->is_listed;
	int what = (int)sim_between(&r, 1, 3);
	int64_t ppm;

	draw_timeouts(&other, &r);
	if (drawn)
		o->classes |= (1u << CLASS_CHANGE) & o->faults;
	if (!(o->classes & 1u << CLASS_CHANGE))
		return;
	o->changes_dispatch = what & 1;
	o->changes_timeouts = what & 2;
	o->other_timeouts = o->changes_timeouts ? other.timeouts : o->timeouts;
	ppm = drift_bound(&o->other_timeouts);
	if (ppm < o->drift_max_ppm)
		o->drift_max_ppm = ppm;
}

static bool draw_rare(struct sim_options *o, struct rng *r, int class, int per_mille)
{
	if (sim_chance(r, per_mille) || o->is_listed)
		o->classes |= 1u << class & o->faults;
	return o->classes & 1u << class;
}

static void draw_remove(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x72656d6f76650000ull};

	if (draw_rare(o, &r, CLASS_REMOVE, 120))
		o->n_removes = (int)sim_between(&r, 1, 4);
}

static void draw_hostile(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x686f7374696c6500ull};

	if (draw_rare(o, &r, CLASS_HOSTILE, 80))
		o->n_attacks = (int)sim_between(&r, 2, 30);
}

static void draw_coma(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x636f6d6100000000ull};

	if (draw_rare(o, &r, CLASS_COMA, 60))
		o->n_comas = (int)sim_between(&r, 1, 6);
}

static int64_t shorter(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * So long a first one may take, or its worker is rightly lost; and so long every one may take, or
 * its worker is rightly unhealthy now and then: when the next one is answered two have passed.
 */
static int64_t check_bound(const struct timeouts *t)
{
	int64_t patience =
	    shorter(t->heartbeat_ms + t->heartbeat_grace_ms, t->check_period_ms) + t->lose_after_ms;

	return shorter(shorter((patience - t->margin_ms) * 3 / 4, t->check_grace_ms * 9 / 10),
	    (t->check_period_ms + t->check_grace_ms) * 9 / 20);
}

/* The larger the world, the longer its heartbeats, or it would do nothing else. */
static void draw_slow(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x736c6f7700000000ull};
	struct timeouts *t = &o->timeouts;
	int64_t least = (int64_t)o->workers * o->minutes * 10;
	int64_t beat = sim_between(&r, 1, sim_chance(&r, 500) ? 100 : 2000);

	if (!draw_rare(o, &r, CLASS_SLOW, 60))
		return;
	t->heartbeat_ms = longer(beat, least > 2000 ? 2000 : least);
	if (o->changes_timeouts)
		o->other_timeouts.heartbeat_ms = t->heartbeat_ms;
	if (o->allow_bump_unhealthy && o->classes & 1u << CLASS_TWIN)
		return; /* two with one name: each displaces the other before it is healthy, for
		           ever */
	o->check_max_ms = check_bound(t);
	if (o->changes_timeouts && check_bound(&o->other_timeouts) < o->check_max_ms)
		o->check_max_ms = check_bound(&o->other_timeouts);
}

struct timeouts sim_options_longest(const struct sim_options *o)
{
	struct timeouts t = o->timeouts;
	const struct timeouts *u = o->changes_timeouts ? &o->other_timeouts : &t;

	return (struct timeouts){
	    .heartbeat_ms = longer(t.heartbeat_ms, u->heartbeat_ms),
	    .heartbeat_grace_ms = longer(t.heartbeat_grace_ms, u->heartbeat_grace_ms),
	    .check_period_ms = longer(t.check_period_ms, u->check_period_ms),
	    .check_grace_ms = longer(t.check_grace_ms, u->check_grace_ms),
	    .lose_after_ms = longer(t.lose_after_ms, u->lose_after_ms),
	    .margin_ms = longer(t.margin_ms, u->margin_ms),
	    .kill_wait_ms = longer(t.kill_wait_ms, u->kill_wait_ms),
	};
}

static void draw_slices(struct sim_options *o)
{
	struct rng r = {o->seed ^ 0x736c696365730000ull};

	o->submit_slice = sim_chance(&r, 200) ? (uint32_t)sim_between(&r, 1, 4) : 0;
}

void sim_options_draw(struct sim_options *o)
{
	struct rng r = {o->seed * 0x9e3779b97f4a7c15ull + 1};
	bool is_volatile = sim_chance(&r, 400);

	if (o->exact)
		return;
	o->is_volatile = o->dispatch < 0 ? is_volatile : o->dispatch == 1;
	o->allow_bump_unhealthy = sim_chance(&r, 300);
	o->restart_when_lost = sim_chance(&r, 500);
	draw_timeouts(o, &r);
	draw_classes(o, &r);
	draw_consensus(o, &r);
	draw_sizes(o, &r);
	o->drift_max_ppm = drift_bound(&o->timeouts);
	o->pause_max_ms = sim_chance(&r, 500) ? 20000 : timeouts_to_lose_ms(&o->timeouts) * 3 / 2;
	o->delay_max_us = sim_between(&r, 1, 8) * sim_between(&r, 200, 20000);
	o->commit_max_us = sim_between(&r, 1, 8) * sim_between(&r, 200, 5000);
	o->guard_ms = sim_between(&r, 1, 2000);
	draw_long_kill(o);
	draw_change(o);
	o->kinds = 0;
	SIM_KINDS_DO(draw, o);
	draw_remove(o);
	draw_coma(o);
	draw_slow(o);
	draw_hostile(o);
	draw_slices(o);
	sim_needs_draw(o);
}

bool sim_classes_parse(struct str list, unsigned *ret_classes, struct str *ret_bad)
{
	struct str part;
	unsigned bits = 0;

	*ret_classes = str_is(list, "all") ? ALL_CLASSES : 0;
	if (str_is(list, "all") || str_is(list, "none"))
		return true;
	while (str_next(&list, ',', &part)) {
		int i = 0;

		while (i < N_CLASSES && !str_is(part, sim_class_names[i]))
			i++;
		if (i == N_CLASSES) {
			*ret_bad = part;
			return false;
		}
		bits |= 1u << i;
	}
	*ret_classes = bits;
	return true;
}

static void add_classes(struct buf *out, unsigned classes)
{
	bool any = false;

	for (int i = 0; i < N_CLASSES; i++) {
		if (!(classes & 1u << i))
			continue;
		buf_printf(out, "%s%s", any ? "," : "", sim_class_names[i]);
		any = true;
	}
	if (!any)
		buf_add_cstr(out, "none");
}

static void add_timeouts(struct buf *out, const struct timeouts *t)
{
	buf_printf(out,
	    "heartbeat %lld+%lld ms, check %lld+%lld ms, lose after %lld ms, margin %lld ms, "
	    "kill wait %lld ms\n",
	    (long long)t->heartbeat_ms, (long long)t->heartbeat_grace_ms,
	    (long long)t->check_period_ms, (long long)t->check_grace_ms,
	    (long long)t->lose_after_ms, (long long)t->margin_ms, (long long)t->kill_wait_ms);
}

void sim_options_format(const struct sim_options *o, struct buf *out)
{

	buf_printf(out, "%d workers, %d minutes, up to %d commands, dispatch %s, window %u tasks\n",
	    o->workers, o->minutes, o->tasks, o->is_volatile ? "volatile" : "durable",
	    o->window_tasks);
	buf_add_cstr(out, "  ");
	add_timeouts(out, &o->timeouts);
	if (o->changes_dispatch)
		buf_add_cstr(out, "  restarts may change the dispatch\n");
	if (o->changes_timeouts) {
		buf_add_cstr(out, "  restarts may change to ");
		add_timeouts(out, &o->other_timeouts);
	}
	buf_printf(out,
	    "  lost hold %lld ms, run wait %lld ms, drift up to %lld ppm, delays up to %lld us, "
	    "commits up to %lld us%s%s\n",
	    (long long)o->lost_hold_ms, (long long)o->run_wait_ms, (long long)o->drift_max_ppm,
	    (long long)o->delay_max_us, (long long)o->commit_max_us,
	    o->allow_bump_unhealthy ? ", unhealthy workers may be bumped" : "",
	    o->restart_when_lost ? ", lost workers restart" : "");
	for (int i = 0; i < N_KINDS; i++)
		if (o->kinds & 1u << i)
			buf_printf(out, "  with %ss\n", kind_names[i]);
	if (o->has_needs)
		buf_add_cstr(out, "  with needs and offers\n");
	if (o->has_drains)
		buf_add_cstr(out, "  operators drain workers\n");
	if (o->submit_slice)
		buf_printf(
		    out, "  long submits are taken in %u tasks at a time\n", o->submit_slice);
	if (o->check_max_ms)
		buf_printf(out, "  healthchecks take about %lld ms\n", (long long)o->check_max_ms);
	buf_printf(out, "  %d faults of: ",
	    o->n_faults + o->n_times + o->n_removes + o->n_attacks + o->n_comas);
	add_classes(out, o->classes);
	buf_add_char(out, '\n');
}

void sim_options_command(const struct sim_options *o, bool trace, struct buf *out)
{
	buf_printf(out, "reeve sim --from %llu --seeds 1 --workers %d --minutes %d --tasks %d",
	    (unsigned long long)o->seed, o->workers, o->minutes, o->tasks);
	buf_printf(out, " --dispatch %s --faults ", o->is_volatile ? "volatile" : "durable");
	add_classes(out, o->classes);
	if (o->has_only)
		buf_add_cstr(out, " --only-faults ");
	for (size_t i = 0; o->has_only && i < o->n_only; i++)
		buf_printf(out, "%s%u", i ? "," : "", o->only[i]);
	if (o->has_only && !o->n_only)
		buf_add_cstr(out, "none");
#ifdef REEVE_MUTANTS
	if (mutant_now != MUTANT_NONE)
		buf_printf(out, " --mutant %s", mutant_names[mutant_now]);
#endif
	if (trace)
		buf_add_cstr(out, " --trace");
}
