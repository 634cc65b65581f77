/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/pipeline.h"

#include "base/data/heap.h"
#include "base/mem.h"
#include "base/mutant.h"

const struct moves set_moves = {
    "set of effects",
    {[SET_FREE] = "free",
        [SET_GATHERING] = "gathering",
        [SET_FLYING] = "flying",
        [SET_RELEASING] = "releasing"},
    {
        {SET_FREE, SET_GATHERING, "the one before it flies, or is released"},
        {SET_GATHERING, SET_FLYING, "has rows, and the one before it is durable"},
        {SET_FLYING, SET_FLYING, "refused whole, and tried again"},
        {SET_FLYING, SET_RELEASING, "its rows are durable"},
        {SET_GATHERING, SET_RELEASING, "has no rows, and nothing flies"},
        {SET_RELEASING, SET_FREE, "all has left, or the process ends"},
        {SET_GATHERING, SET_FREE, "the process ends"},
        {SET_FLYING, SET_FREE, "the process ends"},
    },
};

static struct effects **holder_of(struct pipeline *p, enum set_state s)
{
	switch (s) {
	case SET_GATHERING: return &p->gathering;
	case SET_FLYING: return &p->flying;
	case SET_RELEASING: return &p->releasing;
	default: return NULL;
	}
}

void set_move(struct pipeline *p, struct effects *fx, enum set_state to)
{
	struct pipeline_set *set = CONTAINER_OF(fx, struct pipeline_set, effects);
	struct effects **left = holder_of(p, set->state), **here = holder_of(p, to);

	set->state = moves_make(&set_moves, set->state, to);
	if (left)
		*left = NULL;
	if (here) {
		MUST(!*here);
		*here = fx;
	}
}

static void gather_anew(struct pipeline *p)
{
	struct pipeline_set *set = p->sets;

	while (set < p->sets + 3 && set->state != SET_FREE)
		set++;
	MUST(set < p->sets + 3);
	set_move(p, &set->effects, SET_GATHERING);
	set->effects.batch.seq = ++p->seq;
}

void pipeline_begin(struct pipeline *p)
{
	pipeline_drop(p);
	for (int i = 0; i < 3; i++)
		effects_reset(&p->sets[i].effects, 0);
	p->is_stuck = p->is_midway = false;
	gather_anew(p);
}

void pipeline_step(struct pipeline *p, struct core *c, const struct event *ev)
{
	core_step(c, ev, p->gathering);
	p->is_midway = core_is_midway(c);
}

bool pipeline_is_durable(const struct pipeline *p, uint64_t batch)
{
	return batch < (p->flying ? p->flying : p->gathering)->batch.seq;
}

void pipeline_drop(struct pipeline *p)
{
	for (int i = 0; i < 3; i++)
		if (p->sets[i].state != SET_FREE)
			set_move(p, &p->sets[i].effects, SET_FREE);
}

void pipeline_free(struct pipeline *p)
{
	for (int i = 0; i < 3; i++)
		effects_release(&p->sets[i].effects);
}

/* What has gathered goes to the store. */
static void fly(struct pipeline *p, struct pipeline_work *work)
{
	set_move(p, p->gathering, SET_FLYING);
	gather_anew(p);
	work->commit = &p->flying->batch;
	work->go_on = p->flying->go_on;
}

struct pipeline_work pipeline_flush(struct pipeline *p)
{
	struct effects *fx = p->gathering;
	struct pipeline_work work = {0};

	if (p->flying || p->releasing || p->is_midway || effects_empty(fx))
		return work;
	if (fx->batch.n && !MUTANT(RELEASED_BEFORE_COMMIT)) {
		fly(p, &work);
		return work;
	}
	set_move(p, fx, SET_RELEASING);
	work.release = fx;
	work.go_on = fx->go_on;
	gather_anew(p);
	return work;
}

static struct pipeline_work durable(struct pipeline *p)
{
	struct effects *fx = p->flying;
	struct pipeline_work work = {.release = fx};

	p->is_stuck = false;
	set_move(p, fx, SET_RELEASING);
	/* as soon as one commit ends the next begins: the disk waits for nobody */
	if (p->gathering->batch.n && !p->is_midway)
		fly(p, &work);
	return work;
}

struct pipeline_work pipeline_committed(struct pipeline *p, enum commit_outcome outcome)
{
	MUST(p->flying);
	switch (outcome) {
	case COMMIT_DURABLE: return durable(p);
	case COMMIT_REFUSED:
		p->is_stuck = true;
		return (struct pipeline_work){.retry = true, .tell_unknown = true};
	default: return (struct pipeline_work){.end = true};
	}
}

struct pipeline_work pipeline_retry(struct pipeline *p)
{
	if (MUTANT(RETRY_DROPS_A_ROW) && p->flying->batch.n > 1)
		p->flying->batch.n--;
	set_move(p, p->flying, SET_FLYING);
	return (struct pipeline_work){.commit = &p->flying->batch};
}

static bool let_go(struct effects *fx, const struct pipeline_outlets *o)
{
	for (size_t i = 0; i < fx->n_reads; i++)
		if (!o->read(&fx->reads[i], o->arg))
			return false;
	if (fx->n_messages && !o->send(fx->messages, fx->n_messages, o->arg))
		return false;
	for (size_t i = 0; i < fx->n_replies; i++)
		if (!o->answer(&fx->replies[i], o->arg))
			return false;
	return o->tell(fx, o->arg);
}

bool pipeline_release(struct pipeline *p, struct effects *fx, const struct pipeline_outlets *o)
{
	MUST(fx == p->releasing && fx != p->gathering);
	if (!let_go(fx, o) || (MUTANT(RELEASED_TWICE) && !let_go(fx, o)))
		return false;
	effects_reset(fx, 0);
	set_move(p, fx, SET_FREE);
	return true;
}

struct batch *pipeline_last(struct pipeline *p)
{
	struct batch *b = &p->gathering->batch;

	MUST(!p->is_midway);
	return p->is_stuck || !b->n ? NULL : b;
}
