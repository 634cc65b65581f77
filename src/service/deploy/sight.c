/* SPDX-License-Identifier: Apache-2.0 */
/* What a pass sees: how many of which revision there are, and how many serve. */
#include "base/mutant.h"
#include "service/deploy/internal.h"
#include "service/limits.h"

bool place_next(const struct instance *records, size_t n, uint32_t wanted, struct place_walk *at,
    struct place_of *ret_place)
{
	if (at->i >= n && at->next >= wanted)
		return false;
	*ret_place = (struct place_of){.index = at->next};
	if (at->i < n && (at->next >= wanted || records[at->i].index < at->next))
		ret_place->index = records[at->i].index;
	for (; at->i < n && records[at->i].index == ret_place->index; at->i++)
		ret_place->of[records[at->i].presence] = &records[at->i];
	at->next = ret_place->index + 1;
	return true;
}

bool is_on_worker(const struct instance *i)
{
	return i->state == INSTANCE_CLAIMED || i->state == INSTANCE_RUNNING;
}

/* A time that is yet to come was told by a clock that has been set: it is not waited for. */
bool asked_long_ago(const struct converge_env *env, const struct instance *i)
{
	return env->now_ms - i->asked_ms >= env->ask_again_ms || i->asked_ms > env->now_ms;
}

static bool is_ready(const struct instance *i)
{
	return i->state == INSTANCE_RUNNING && i->is_ready && !i->is_stopping;
}

bool is_healthy(const struct sight *x, const struct instance *i)
{
	int64_t age = x->env->now_ms - i->ready_ms;

	if (MUTANT(SERVICE_UP_IS_HEALTHY))
		return i->state == INSTANCE_RUNNING && !i->is_stopping;
	return is_ready(i) && (age < 0 || age >= x->s->strategy->min_healthy_ms);
}

/* A new one is as good as an old one only when it has been ready for a while. */
bool counts_as_ready(const struct sight *x, const struct instance *i)
{
	return i->revision == x->d->target ? is_healthy(x, i) : is_ready(i);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static struct room room_of(const struct deploy_service *s)
{
	uint32_t beyond = s->wanted <= SERVICE_INDEX_MAX ? SERVICE_INDEX_MAX + 1 - s->wanted : 0;
	struct room r = {least(s->strategy->max_surge, beyond), s->strategy->max_unavailable, 0};

	if (s->is_singleton || s->strategy->kind == DEPLOY_BY_RECREATE)
		r.surge = 0;
	if (r.surge == 0 && r.unavailable == 0)
		r.unavailable = 1;
	if (s->strategy->kind != DEPLOY_BY_RECREATE && s->wanted > r.unavailable)
		r.floor = s->wanted - r.unavailable;
	return r;
}

static void look_at(struct sight *x, int64_t at_ms)
{
	if (at_ms > x->env->now_ms && at_ms < x->look_at_ms)
		x->look_at_ms = at_ms;
}

static void see_new(struct sight *x, const struct instance *i)
{
	if (is_healthy(x, i)) {
		x->kept++;
		return;
	}
	if (x->waits_healthy == NO_INDEX)
		x->waits_healthy = i->index;
	if (is_ready(i))
		look_at(x, i->ready_ms + x->s->strategy->min_healthy_ms);
}

static void see_wanted(struct sight *x, const struct place_of *at)
{
	const struct instance *i = at->of[PRESENCE_ORDINARY], *e = at->of[PRESENCE_EVACUATING];

	if (!i) {
		x->n_holes++;
	} else if (i->is_stopping) {
		x->n_leaving++;
	} else if (i->revision == x->d->target) {
		x->n_new++;
		x->n_healthy += is_healthy(x, i);
		see_new(x, i);
	} else {
		x->n_old++;
		x->kept++;
	}
	if ((i && counts_as_ready(x, i)) || (e && is_ready(e)))
		x->served++;
}

/* What nobody wants any more is convergence's; only on its way out does it take room here. */
static void see_beyond(struct sight *x, const struct instance *i)
{
	if (!i || (!i->is_surge && !i->is_stopping))
		return;
	x->n_beyond++;
	if (i->is_stopping)
		return;
	x->served += counts_as_ready(x, i);
	if (i->revision == x->d->target) {
		x->n_surge++;
		see_new(x, i);
	} else {
		x->n_surge_old++;
		x->kept += is_ready(i);
	}
}

static void see_each(struct sight *x, const struct instance *i)
{
	if (!i)
		return;
	if (i->revision != x->d->target && is_on_worker(i) && !x->may_run_other) {
		x->may_run_other = true;
		x->other_index = i->index;
	}
	if (i->is_stopping && !asked_long_ago(x->env, i))
		look_at(x, i->asked_ms + x->env->ask_again_ms);
}

static uint32_t goal_of(const struct sight *x)
{
	bool is_few = x->d->state == DEPLOY_CANARY || x->d->state == DEPLOY_WAITING;

	return is_few ? least(x->s->strategy->canary, x->s->wanted) : x->s->wanted;
}

void sight_take(struct sight *x)
{
	struct sight blank = {
	    .env = x->env, .s = x->s, .d = x->d, .records = x->records, .n = x->n};
	struct place_walk walk = {0};
	struct place_of at;

	*x = blank;
	x->room = room_of(x->s);
	x->goal = goal_of(x);
	x->waits_healthy = x->other_index = NO_INDEX;
	x->look_at_ms = DEPLOY_NEVER;
	while (place_next(x->records, x->n, x->s->wanted, &walk, &at)) {
		if (at.index < x->s->wanted)
			see_wanted(x, &at);
		else
			see_beyond(x, at.of[PRESENCE_ORDINARY]);
		for (int p = 0; p < N_PRESENCES; p++)
			see_each(x, at.of[p]);
	}
}

static uint64_t rest(uint32_t of, uint32_t done)
{
	return of > done ? of - done : 0;
}

uint64_t sight_left(const struct sight *x)
{
	return rest(x->goal, x->n_healthy) + rest(x->goal, x->n_new + x->n_holes) +
	       rest(x->goal, x->n_new + x->n_holes + x->n_leaving);
}
