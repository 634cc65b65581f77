/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges: who holds what. From its claim until its end a task holds what it needs, of its worker
 * or of the whole cluster; also while nobody knows whether it runs. What it was charged with is
 * written into its row: that is what it gives back, whatever its queue says by then.
 */
#include "core/service/worker.h"
#include "core/state.h"

#include <stdlib.h>

static struct holding *find(const struct holdings *h, struct str name)
{
	for (size_t i = 0; i < h->n; i++)
		if (str_is(name, h->all[i].name))
			return &h->all[i];
	return NULL;
}

static struct holding *find_or_add(struct holdings *h, struct str name)
{
	struct holding *found = find(h, name);

	if (found)
		return found;
	GROW(h->all, h->cap, h->n + 1);
	h->all[h->n] = (struct holding){.name = xstrndup(name.p, name.n)};
	return &h->all[h->n++];
}

/* What is neither offered nor held is not worth a line. */
static void tidy(struct holdings *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->all[i].total || h->all[i].used)
			h->all[kept++] = h->all[i];
		else
			free(h->all[i].name);
	h->n = kept;
}

void holdings_release(struct holdings *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].name);
	free(h->all);
	*h = (struct holdings){0};
}

int64_t holding_free(const struct holdings *h, struct str name)
{
	const struct holding *found = find(h, name);

	return found ? found->total - found->used : 0;
}

void charge_offer(struct worker *w)
{
	struct str rest = w->row.facts.offer;
	struct amount at;

	for (size_t i = 0; i < w->holdings.n; i++)
		w->holdings.all[i].total = 0;
	while (amount_next(&rest, &at))
		find_or_add(&w->holdings, at.name)->total = at.n;
	tidy(&w->holdings);
}

void commons_init(struct core *c)
{
	c->commons = xcalloc(c->o.n_resources + 1, sizeof *c->commons);
	for (size_t i = 0; i < c->o.n_resources; i++) {
		const struct amount *at = &c->o.resources[i];

		c->commons[i].held = (struct holding){xstrndup(at->name.p, at->name.n), at->n, 0};
	}
	c->n_commons = c->o.n_resources;
	c->o.resources = NULL; /* the resources were the caller's */
}

void commons_release(struct core *c)
{
	for (size_t i = 0; i < c->n_commons; i++) {
		free(c->commons[i].held.name);
		free(c->commons[i].waiting);
	}
	free(c->commons);
}

struct common *common_find(const struct core *c, struct str name)
{
	for (size_t i = 0; i < c->n_commons; i++)
		if (str_is(name, c->commons[i].held.name))
			return &c->commons[i];
	return NULL;
}

static bool is_free(const struct shape_amount *a)
{
	const struct holding *h = &a->common->held;

	if (a->limit)
		return h->used < a->limit + MUTANT(THROTTLE_ONE_MORE);
	return h->total - h->used >= a->n;
}

const struct shape_amount *commons_wanted(const struct shape *s, const struct common *of)
{
	for (size_t i = 0; i < s->n_amounts; i++)
		if (s->amounts[i].common == of)
			return &s->amounts[i];
	return NULL;
}

bool commons_short(struct core *c, struct shape *s)
{
	for (size_t i = 0; i < s->n_amounts; i++) {
		const struct shape_amount *a = &s->amounts[i];
		struct common *of = a->common;

		if (!of || (is_free(a) && !reserve_bars_common(c, s, of)))
			continue;
		if (!s->waits_for) {
			GROW(of->waiting, of->cap_waiting, of->n_waiting + 1);
			of->waiting[of->n_waiting++] = s->id;
			s->waits_for = of;
		}
		return true;
	}
	return false;
}

/* Some of it was given back: those in line that could have what they want are looked at again. */
static void wake(struct core *c, struct common *of)
{
	size_t n = of->n_waiting, kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct shape *s = idmap_get(&c->shapes, of->waiting[i]);

		if (!s || s->waits_for != of)
			continue;
		if (!is_free(commons_wanted(s, of))) {
			of->waiting[kept++] = of->waiting[i];
			continue;
		}
		s->waits_for = NULL;
		shape_unblock(c, s);
	}
	of->n_waiting = kept;
}

void commons_wake(struct core *c, const struct shape *s)
{
	for (size_t i = 0; i < s->n_amounts; i++)
		if (s->amounts[i].common)
			wake(c, s->amounts[i].common);
}

static void add(struct core *c, struct worker *w, const struct shape *s, int sign)
{
	for (size_t i = 0; i < s->n_amounts; i++) {
		const struct shape_amount *a = &s->amounts[i];
		struct holding *h =
		    a->common ? &a->common->held : find_or_add(&w->holdings, a->name);

		if (a->common && !c->open && MUTANT(COMMONS_NOT_RESTORED))
			continue;
		h->used += sign * a->n;
	}
	services_see_worker(c, w);
}

void charge_task(struct core *c, struct task *t, struct str need)
{
	if (!need.n)
		return;
	if (MUTANT(CHARGED_BY_QUEUE_OF_TODAY) && !c->open)
		need = t->queue->row.need.n ? t->queue->row.need : need;
	t->charged = shape_get(c, t->queue, need);
	t->row.state.charged = t->charged->need;
	add(c, t->worker, t->charged, +1);
}

void charge_release(struct core *c, struct task *t)
{
	struct shape *s = TAKE(t->charged);

	t->row.state.charged = STR_NULL;
	if (!s)
		return;
	if (!MUTANT(NEED_NOT_RELEASED))
		add(c, t->worker, s, MUTANT(NEED_RELEASED_TWICE) ? -2 : -1);
	tidy(&t->worker->holdings);
	commons_wake(c, s);
	shape_put(c, s);
}

bool charge_fits(const struct core *c, const struct worker *w, const struct shape *s)
{
	for (size_t i = 0; i < s->n_amounts; i++)
		if (!s->amounts[i].common &&
		    holding_free(&w->holdings, s->amounts[i].name) < s->amounts[i].n)
			return false;
	return true;
}

bool charge_fits_common(const struct shape *s)
{
	for (size_t i = 0; i < s->n_amounts; i++)
		if (s->amounts[i].common && !is_free(&s->amounts[i]))
			return false;
	return true;
}

bool charge_fits_ever(const struct worker *w, const struct shape *s)
{
	const struct worker_facts *f = &w->row.facts;

	if (!s->asks_worker)
		return true;
	if (!f->offer.n ||
	    (need_unmet(s->need, f->target, f->zone, f->labels).p && !MUTANT(PLACE_IGNORED)))
		return false;
	for (size_t i = 0; i < s->n_amounts; i++) {
		const struct holding *h = find(&w->holdings, s->amounts[i].name);

		if (!s->amounts[i].common && (!h || h->total < s->amounts[i].n))
			return false;
	}
	return true;
}
