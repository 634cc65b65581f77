/* SPDX-License-Identifier: Apache-2.0 */
/* One pass: what is there, what state that makes, what is done in it, when to look again. */
#include <stdlib.h>

#include "base/mem.h"
#include "service/deploy/internal.h"

void deploy_pass_release(struct deploy_pass *p)
{
	free(p->v);
	*p = (struct deploy_pass){0};
}

static bool is_under_way(const struct deploy *d)
{
	return d->state == DEPLOY_CANARY || d->state == DEPLOY_ROLLING ||
	       d->state == DEPLOY_ROLLING_BACK;
}

static bool all_are_healthy(const struct sight *x)
{
	return x->n_healthy == x->s->wanted;
}

/* Another number of instances is another deploy, as far as its time goes. */
static void note_progress(struct deploy *d, const struct sight *x)
{
	uint64_t left = sight_left(x);

	if (d->progress_ms && d->progress_ms <= x->env->now_ms && d->wanted == x->s->wanted &&
	    left >= d->left)
		return;
	d->progress_ms = x->env->now_ms;
	d->wanted = x->s->wanted;
	d->left = left;
}

static bool is_late(const struct deploy *d, const struct sight *x)
{
	int64_t deadline = x->s->strategy->deadline_ms;

	return deadline && x->env->now_ms - d->progress_ms >= deadline;
}

/* Too late: it goes back if it may and there is something to go back to. */
static void give_up(struct deploy *d, const struct sight *x)
{
	bool goes_back = x->s->strategy->auto_rollback && d->state != DEPLOY_ROLLING_BACK &&
	                 d->stable && d->stable != d->target;

	if (!goes_back) {
		if (d->state != DEPLOY_ROLLING_BACK)
			d->failed = d->target;
		deploy_move(d, DEPLOY_STALLED, x->env->now_ms);
		return;
	}
	d->failed = d->target;
	d->target = d->stable;
	deploy_move(d, DEPLOY_ROLLING_BACK, x->env->now_ms);
}

static void finish(struct deploy *d, const struct sight *x)
{
	if (d->failed == d->target)
		d->failed = 0;
	d->stable = d->target;
	deploy_move(d, DEPLOY_STEADY, x->env->now_ms);
}

static bool move_under_way(struct deploy *d, const struct sight *x)
{
	note_progress(d, x);
	if (d->state == DEPLOY_CANARY && x->n_healthy >= x->goal)
		deploy_move(d, DEPLOY_WAITING, x->env->now_ms);
	else if (d->state != DEPLOY_CANARY && all_are_healthy(x))
		finish(d, x);
	else if (is_late(d, x))
		give_up(d, x);
	else
		return false;
	return true;
}

/* By what is seen. True: it moved. */
static bool move(struct deploy *d, const struct sight *x)
{
	if (is_under_way(d))
		return move_under_way(d, x);
	if (d->state == DEPLOY_STEADY && x->n_old)
		deploy_move(d, DEPLOY_ROLLING, x->env->now_ms);
	else if (d->state == DEPLOY_WAITING && x->n_healthy < x->goal)
		deploy_move(d, DEPLOY_CANARY, x->env->now_ms);
	else if (d->state == DEPLOY_STALLED && all_are_healthy(x))
		finish(d, x);
	else
		return false;
	return true;
}

/* The first that is said to do this. */
static uint32_t told(const struct deploy_pass *pass, bool to_stop)
{
	for (size_t k = 0; k < pass->n; k++)
		if ((pass->v[k].kind == DEPLOY_STOP) == to_stop && pass->v[k].kind != DEPLOY_DELETE)
			return pass->v[k].index;
	return NO_INDEX;
}

/* With what this pass does, so that the next one says the same. */
static void set_wait_under_way(const struct sight *x, struct deploy_pass *pass)
{
	uint32_t started = told(pass, false);

	if (pass->holds_starts) {
		pass->waits = DEPLOY_WAITS_OVER;
		pass->waits_index = x->other_index;
	} else if (x->waits_healthy != NO_INDEX || started != NO_INDEX) {
		pass->waits = DEPLOY_WAITS_HEALTHY;
		pass->waits_index = x->waits_healthy < started ? x->waits_healthy : started;
	} else if (told(pass, true) != NO_INDEX || x->n_leaving ||
	           x->n_beyond > x->n_surge + x->n_surge_old) {
		pass->waits = DEPLOY_WAITS_OVER;
	} else {
		pass->waits = DEPLOY_WAITS_READY;
	}
}

static void set_wait(const struct deploy *d, const struct sight *x, struct deploy_pass *pass)
{
	pass->waits_index = NO_INDEX;
	pass->waits = DEPLOY_WAITS_NOTHING;
	if (d->state == DEPLOY_WAITING) {
		pass->waits = DEPLOY_WAITS_PROMOTE;
	} else if (d->state == DEPLOY_STALLED) {
		pass->waits = DEPLOY_WAITS_DECISION;
		pass->waits_index = x->waits_healthy;
	} else if (is_under_way(d)) {
		set_wait_under_way(x, pass);
	}
}

static void report(const struct deploy *d, const struct sight *x, struct deploy_pass *pass)
{
	pass->wanted = x->s->wanted;
	pass->goal = x->goal;
	pass->n_new = x->n_new;
	pass->n_healthy = x->n_healthy;
	pass->n_old = x->n_old;
	pass->n_surge = x->n_surge;
	pass->holds_starts = x->s->strategy->kind == DEPLOY_BY_RECREATE && x->may_run_other;
	pass->look_at_ms = x->look_at_ms;
	if (is_under_way(d) && x->s->strategy->deadline_ms &&
	    d->progress_ms + x->s->strategy->deadline_ms < pass->look_at_ms)
		pass->look_at_ms = d->progress_ms + x->s->strategy->deadline_ms;
	set_wait(d, x, pass);
}

void deploy_pass(const struct converge_env *env, const struct deploy_service *s, struct deploy *d,
    const struct instance *records, size_t n, struct deploy_pass *ret_pass)
{
	struct sight x = {.env = env, .s = s, .d = d, .records = records, .n = n};

	ret_pass->n = 0;
	/* Each move leads nearer to an end: rolling, back, stalled, steady. */
	do
		sight_take(&x);
	while (move(d, &x));
	deploy_choose(&x, ret_pass);
	report(d, &x, ret_pass);
}
