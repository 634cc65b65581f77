/* SPDX-License-Identifier: Apache-2.0 */
/* What is done: holes are filled, older ones give way one by one, surge comes and goes. */
#include <stdlib.h>

#include "base/mem.h"
#include "service/deploy/internal.h"

struct choosing {
	struct sight *x;
	struct deploy_pass *pass;
	uint32_t coming; /* wanted indexes that are of the target, or will be by what was said */
};

static void act(struct choosing *c, struct deploy_action a)
{
	struct deploy_pass *p = c->pass;

	GROW(p->v, p->cap, p->n + 1);
	p->v[p->n++] = a;
}

static void act_on(
    struct choosing *c, enum deploy_action_kind kind, const struct instance *i, const char *reason)
{
	act(c,
	    (struct deploy_action){kind, i->index, i->presence, i->is_surge, i->revision, reason});
}

static bool may_run(const struct instance *i)
{
	return i && is_on_worker(i);
}

static bool is_surge_of(const struct sight *x, const struct instance *i)
{
	return i->index >= x->s->wanted && i->is_surge;
}

/* --- holes --- */

static int64_t revision_of_hole(struct choosing *c)
{
	struct sight *x = c->x;
	const struct deploy *d = x->d;
	bool is_whole = x->s->strategy->kind == DEPLOY_BY_RECREATE || !d->stable;

	if (!is_whole && d->stable != d->target &&
	    (d->state == DEPLOY_STALLED || c->coming >= x->goal)) {
		x->n_old++;
		x->kept++;
		return d->stable;
	}
	c->coming++;
	return d->target;
}

/* A singleton waits until no other start of it may run. */
static void fill_holes(struct choosing *c)
{
	struct place_walk walk = {0};
	struct place_of at;

	if (!c->x->n_holes)
		return;
	while (place_next(c->x->records, c->x->n, c->x->s->wanted, &walk, &at)) {
		bool others =
		    may_run(at.of[PRESENCE_EVACUATING]) || may_run(at.of[PRESENCE_SUSPECT]);

		if (at.index >= c->x->s->wanted)
			return;
		if (!at.of[PRESENCE_ORDINARY] && !(c->x->s->is_singleton && others))
			act(c, (struct deploy_action){DEPLOY_CREATE, at.index, PRESENCE_ORDINARY,
			           false, revision_of_hole(c),
			           "it is wanted, and there is no record"});
	}
}

/* --- what was asked for, and did not happen --- */

/* Only what the deploy stops itself: of another revision, or its surge. */
static void ask_again(struct choosing *c)
{
	for (size_t k = 0; k < c->x->n; k++) {
		const struct instance *i = &c->x->records[k];
		bool is_ours = i->revision != c->x->d->target || is_surge_of(c->x, i);
		bool is_wanted = i->index < c->x->s->wanted || i->is_surge;

		if (i->is_stopping && is_ours && is_wanted && is_on_worker(i) &&
		    i->presence == PRESENCE_ORDINARY && asked_long_ago(c->x->env, i))
			act_on(c, DEPLOY_STOP, i, "it was asked to stop long ago, and did not");
	}
}

/* --- one revision after the other --- */

/* The order in which instances give way: what serves nobody, what is beyond, what is older, the
 * lower index. */
static int by_worth(const void *a, const void *b, void *arg)
{
	const struct instance *x = *(const struct instance *const *)a;
	const struct instance *y = *(const struct instance *const *)b;
	const struct sight *s = arg;
	bool x_serves = counts_as_ready(s, x), y_serves = counts_as_ready(s, y);

	if (x_serves != y_serves)
		return x_serves ? 1 : -1;
	if (is_surge_of(s, x) != is_surge_of(s, y))
		return is_surge_of(s, x) ? -1 : 1;
	if (x->revision != y->revision)
		return x->revision < y->revision ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/*
 * A wanted one gives way when enough are kept. Those that serve nobody have gone before, so that
 * what is kept then serves.
 */
static void replace_wanted(struct choosing *c, const struct instance *i)
{
	struct sight *x = c->x;

	if (c->coming >= x->goal || x->kept <= x->room.floor)
		return;
	x->kept--;
	x->n_old--;
	c->coming++;
	if (is_on_worker(i)) {
		x->served -= counts_as_ready(x, i);
		act_on(c, DEPLOY_STOP, i, "it is of another revision, and enough others are there");
		return;
	}
	act(c, (struct deploy_action){DEPLOY_RENEW, i->index, PRESENCE_ORDINARY, false,
	           x->d->target, "nothing of it runs, so it starts at the new revision"});
}

/* What nobody wants any more of a deploy that is over, or was replaced by another. */
static void drop_surge(struct choosing *c, const struct instance *i, bool anyhow)
{
	struct sight *x = c->x;
	bool serves = counts_as_ready(x, i);

	if (!anyhow && serves && (x->served <= x->room.floor || x->kept <= x->room.floor))
		return;
	x->served -= serves;
	x->kept -= serves;
	if (is_on_worker(i)) {
		act_on(c, DEPLOY_STOP, i, "the deploy needs it no more");
		return;
	}
	x->n_beyond--;
	act_on(c, DEPLOY_DELETE, i, "the deploy needs it no more");
}

static void replace_old(struct choosing *c)
{
	const struct instance **olds = xcalloc(c->x->n + 1, sizeof *olds);
	size_t n = 0;

	for (size_t k = 0; k < c->x->n; k++) {
		const struct instance *i = &c->x->records[k];

		if (i->presence == PRESENCE_ORDINARY && !i->is_stopping &&
		    i->revision != c->x->d->target &&
		    (i->index < c->x->s->wanted || is_surge_of(c->x, i)))
			olds[n++] = i;
	}
	if (n)
		qsort_r(olds, n, sizeof *olds, by_worth, c->x);
	for (size_t k = 0; k < n; k++) {
		if (is_surge_of(c->x, olds[k]))
			drop_surge(c, olds[k], false);
		else
			replace_wanted(c, olds[k]);
	}
	free(olds);
}

/* --- recreate: all of the older ones first --- */

/* Also in a deploy that has stalled, nothing may start beside another revision. */
static void recreate(struct choosing *c, bool stops)
{
	for (size_t k = 0; k < c->x->n; k++) {
		const struct instance *i = &c->x->records[k];

		if (i->revision == c->x->d->target || i->is_stopping ||
		    i->presence == PRESENCE_SUSPECT ||
		    (i->index >= c->x->s->wanted && !i->is_surge))
			continue;
		if (is_on_worker(i) && !stops)
			continue;
		if (is_on_worker(i))
			act_on(c, DEPLOY_STOP, i, "all of the older revisions stop first");
		else if (is_surge_of(c->x, i))
			act_on(c, DEPLOY_DELETE, i, "the deploy needs it no more");
		else
			act(c, (struct deploy_action){DEPLOY_RENEW, i->index, PRESENCE_ORDINARY,
			           false, c->x->d->target,
			           "nothing of it runs, so it starts at the new revision"});
	}
}

/* --- surge --- */

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void create_surge(struct choosing *c, uint32_t n)
{
	struct place_walk walk = {0};
	struct place_of at;
	uint32_t next = c->x->s->wanted;

	while (n && place_next(c->x->records, c->x->n, c->x->s->wanted, &walk, &at)) {
		if (at.index < next)
			continue;
		for (; n && next < at.index; n--, next++)
			act(c, (struct deploy_action){DEPLOY_CREATE, next, PRESENCE_ORDINARY, true,
			           c->x->d->target, "it serves while older ones are replaced"});
		next = at.index + 1;
	}
	for (; n; n--, next++)
		act(c, (struct deploy_action){DEPLOY_CREATE, next, PRESENCE_ORDINARY, true,
		           c->x->d->target, "it serves while older ones are replaced"});
}

/* As many as there are older ones still to be replaced, and room for. */
static void add_surge(struct choosing *c)
{
	const struct sight *x = c->x;
	uint32_t left = x->goal > c->coming ? least(x->goal - c->coming, x->n_old) : 0;
	uint32_t wanted = least(left, x->room.surge);
	uint32_t room = x->room.surge > x->n_beyond ? x->room.surge - x->n_beyond : 0;

	if (wanted > x->n_surge)
		create_surge(c, least(wanted - x->n_surge, room));
}

/* First the ones that serve nobody. */
static void drop_surge_except(struct choosing *c, uint32_t keep)
{
	uint32_t drop = c->x->n_surge > keep ? c->x->n_surge - keep : 0;

	for (int serving = 0; drop && serving < 2; serving++)
		for (size_t k = c->x->n; drop && k-- > 0;) {
			const struct instance *i = &c->x->records[k];

			if (i->presence != PRESENCE_ORDINARY || i->is_stopping ||
			    !is_surge_of(c->x, i) || i->revision != c->x->d->target ||
			    counts_as_ready(c->x, i) != serving)
				continue;
			drop_surge(c, i, false);
			drop--;
		}
}

static void drop_all_surge(struct choosing *c)
{
	for (size_t k = 0; k < c->x->n; k++) {
		const struct instance *i = &c->x->records[k];

		if (i->presence == PRESENCE_ORDINARY && !i->is_stopping && is_surge_of(c->x, i))
			drop_surge(c, i, true);
	}
}

/* In this order what one gives up is the next one's, and a second pass finds nothing more. */
static void roll(struct choosing *c)
{
	uint32_t missing = c->x->goal > c->x->n_healthy ? c->x->goal - c->x->n_healthy : 0;

	replace_old(c);
	add_surge(c);
	drop_surge_except(c, least(missing, c->x->room.surge));
}

void deploy_choose(struct sight *x, struct deploy_pass *pass)
{
	struct choosing c = {.x = x, .pass = pass, .coming = x->n_new + x->n_leaving};

	ask_again(&c);
	fill_holes(&c);
	switch (x->d->state) {
	case DEPLOY_STEADY: drop_all_surge(&c); break;
	case DEPLOY_CANARY:
	case DEPLOY_WAITING:
	case DEPLOY_ROLLING:
	case DEPLOY_ROLLING_BACK:
		if (x->s->strategy->kind == DEPLOY_BY_RECREATE)
			recreate(&c, true);
		else
			roll(&c);
		break;
	case DEPLOY_STALLED:
		if (x->s->strategy->kind == DEPLOY_BY_RECREATE)
			recreate(&c, false);
		break;
	case N_DEPLOY_STATES: break;
	}
}
