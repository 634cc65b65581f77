/* SPDX-License-Identifier: Apache-2.0 */
/* A need in the words of the books and in those of the auction. */
#include "core/service/place/want.h"

#include <stdlib.h>

#include "core/state.h"
#include "model/lines.h"

static int need_cmp(const struct want *x, const struct want *y)
{
	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	return str_cmp(x->need, y->need);
}

RB_PROTOTYPE(wants_by_need, want, by_need, need_cmp)
RB_GENERATE(wants_by_need, want, by_need, need_cmp)

struct auctions *auctions_of(const struct core *c)
{
	return services_of(c)->auctions;
}

struct want *wants_next(struct auctions *all, struct want *w)
{
	return w ? RB_NEXT(wants_by_need, &all->wants, w) : RB_MIN(wants_by_need, &all->wants);
}

static struct str own(struct str s)
{
	return (struct str){xstrndup(s.n ? s.p : "", s.n), s.n};
}

/* The instance itself and its ports are counted, too. */
static struct str whole_need(
    struct arena *a, const struct queue *q, const struct service_spec *spec)
{
	struct str need = need_merge(a, q->row.need, spec->need);
	struct buf always = {0};
	struct str lines;

	amount_line(&always, STR(AMOUNT_INSTANCES), 1);
	if (spec->n_ports)
		amount_line(&always, STR(AMOUNT_PORTS), spec->n_ports);
	lines = arena_str(a, buf_str(&always));
	buf_release(&always);
	return arena_str(a, need_merge(a, lines, need));
}

static void split_place(struct want *w, const struct queue *q)
{
	AUTO(buf_release) struct buf labels = {0}, without = {0};
	struct str rest = w->need, line;

	w->target = STR_NULL;
	while (lines_next(&rest, &line)) {
		struct str what = {line.p + 1, line.n - 1};

		if (line.p[0] == '+')
			lines_add(&labels, what);
		else if (line.p[0] == '-')
			lines_add(&without, what);
		else if (line.p[0] == '@')
			w->target = what;
	}
	/* workers that serve the queue have this label, which nobody can give himself */
	buf_printf(&labels, "queue " STR_FMT "\n", STR_ARG(q->row.name));
	w->target = own(w->target);
	w->labels = own(buf_str(&labels));
	w->without = own(buf_str(&without));
}

static int64_t amount_or_none(struct str need, const char *name)
{
	int64_t n = amount_of(need, str_of(name));

	return n > 0 ? n : 0;
}

static struct want *make(struct core *c, struct queue *q, struct str need)
{
	struct auctions *all = auctions_of(c);
	struct want *w = xcalloc(1, sizeof *w);

	w->queue = q->object.id;
	w->need = own(need);
	w->amount[PLACE_MEMORY] = amount_or_none(need, AMOUNT_MEMORY);
	w->amount[PLACE_DISK] = amount_or_none(need, AMOUNT_DISK);
	w->amount[PLACE_CPU] = amount_or_none(need, AMOUNT_CPU);
	w->amount[PLACE_INSTANCES] = 1;
	w->charge = shape_get(c, q, w->need);
	TAILQ_INIT(&w->shorts);
	split_place(w, q);
	RB_INSERT(wants_by_need, &all->wants, w);
	sites_relabel(c);
	return w;
}

struct want *want_of(struct core *c, struct service *s, struct revision *r)
{
	struct want probe = {0};
	struct revision_row row;
	struct arena a = {0};
	struct queue *q;

	if (r->want)
		return r->want;
	revision_row(s, r, NULL, &row);
	q = queue_find(c, row.spec.queue);
	if (!q || !row.spec.body.n)
		return NULL;
	probe.queue = q->object.id;
	probe.need = whole_need(&a, q, &row.spec);
	r->want = RB_FIND(wants_by_need, &auctions_of(c)->wants, &probe);
	if (!r->want)
		r->want = make(c, q, probe.need);
	r->want->refs++;
	arena_release(&a);
	return r->want;
}

void want_put(struct core *c, struct want *w)
{
	struct auctions *all = auctions_of(c);

	if (!w || --w->refs)
		return;
	MUST(!w->n_shorts);
	RB_REMOVE(wants_by_need, &all->wants, w);
	if (all->a && w->build == all->build)
		auction_shape_gone(all->a, w->shape);
	shape_put(c, w->charge);
	free((char *)w->need.p);
	free((char *)w->target.p);
	free((char *)w->labels.p);
	free((char *)w->without.p);
	free(w->error);
	free(w);
}

uint32_t want_shape(struct auctions *all, struct want *w)
{
	const struct place_want place = {w->target, w->labels, STR_NULL, w->without};

	if (w->build != all->build) {
		w->shape = auction_shape(all->a, w->amount, &place);
		w->build = all->build;
	}
	return w->shape;
}

bool want_fits_ever(const struct core *c, const struct want *w, const struct worker *worker)
{
	const struct queue *q = queue_find(c, w->queue);

	return q && worker->takes_services && worker_unserved(c, worker, q) == UNSERVED_NO &&
	       charge_fits_ever(worker, w->charge);
}

bool want_fits_now(const struct core *c, const struct want *w, const struct worker *worker)
{
	return want_fits_ever(c, w, worker) && worker_may_start(c, worker) &&
	       (charge_fits(c, worker, w->charge) || MUTANT(SERVICE_OVERBOOKED)) &&
	       charge_fits_common(w->charge);
}
