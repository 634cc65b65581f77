/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auction, at the end of a step: everything that waits for a place, a batch at a time. It is
 * kept between the steps; what workers hold comes from the books, so that tasks and instances
 * together never have more than there is.
 */
#include <stdlib.h>

#include "core/service/place/want.h"
#include "core/state.h"

#define BATCH_MAX 2048 /* units of one step: others want their turn, and the store its batch */

void auctions_init(struct core *c)
{
	struct auctions *all = xcalloc(1, sizeof *all);

	RB_INIT(&all->wants);
	TAILQ_INIT(&all->shorts);
	all->is_stale = true;
	services_of(c)->auctions = all;
}

void auctions_release(struct core *c)
{
	struct auctions *all = auctions_of(c);

	MUST(RB_EMPTY(&all->wants));
	auction_free(all->a);
	free(all->units);
	free(all->work);
	free(all->results);
	free(all->order);
	free(all);
}

/* --- workers */

static int64_t total_of(const struct worker *w, const char *name, int64_t *ret_used)
{
	for (size_t i = 0; i < w->holdings.n; i++)
		if (!strcmp(w->holdings.all[i].name, name)) {
			*ret_used = w->holdings.all[i].used;
			return w->holdings.all[i].total;
		}
	*ret_used = 0;
	return 0;
}

static struct place_worker place_worker(const struct site *s)
{
	static const char *const names[N_PLACE_RESOURCES] = {
	    AMOUNT_MEMORY, AMOUNT_DISK, AMOUNT_CPU, AMOUNT_INSTANCES};
	struct place_worker p = {.name = s->name,
	    .zone = s->zone,
	    .target = s->target,
	    .labels = s->labels,
	    .state = s->may_start    ? PLACE_READY
	             : s->is_drained ? PLACE_DRAINING
	                             : PLACE_SILENT,
	    .starting = s->n_starting};

	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		p.used[r] = -1;
	if (!s->worker)
		return p;
	p.tasks = (uint32_t)s->worker->running - s->n_units;
	for (int r = 0; r < N_PLACE_RESOURCES; r++)
		p.total[r] = total_of(s->worker, names[r], &p.reserved[r]);
	return p;
}

/* The present auction knows it, where it is now. */
static bool is_in(const struct auctions *all, const struct site *s)
{
	return all->a && s->number < auction_workers(all->a) &&
	       str_eq(auction_worker(all->a, s->number)->zone, s->zone);
}

void auction_site_changed(struct core *c, struct site *s)
{
	struct auctions *all = auctions_of(c);
	struct place_worker p;

	if (!is_in(all, s))
		return;
	p = place_worker(s);
	auction_update(all->a, s->number, &p);
}

void auction_counts(struct core *c, const struct unit *u, int by)
{
	struct auctions *all = auctions_of(c);

	if (!u->site || !all->a || u->site->number >= auction_workers(all->a))
		return;
	auction_grow(all->a, (uint32_t)services_of(c)->n_numbers);
	auction_count(all->a, u->site->number, u->service->number, by);
}

static int by_name(const void *a, const void *b)
{
	return str_cmp((*(struct site *const *)a)->name, (*(struct site *const *)b)->name);
}

/* Most servers never need it. */
static void make_room(struct auctions *all)
{
	if (all->units)
		return;
	all->units = xcalloc(BATCH_MAX, sizeof(struct unit *));
	all->work = xcalloc(BATCH_MAX, sizeof *all->work);
	all->results = xcalloc(BATCH_MAX, sizeof *all->results);
	all->order = xcalloc(BATCH_MAX, sizeof *all->order);
}

/* Numbered by name: that settles ties. */
static void build(struct core *c)
{
	struct services *all = services_of(c);
	struct auctions *au = all->auctions;
	struct place_worker *workers = xcalloc(all->n_sites + 1, sizeof *workers);
	struct unit *u;

	sites_compact(c);
	if (all->n_sites)
		qsort(all->sites, all->n_sites, sizeof(struct site *), by_name);
	for (size_t i = 0; i < all->n_sites; i++) {
		site_set_number(c, all->sites[i], (uint32_t)i);
		workers[i] = place_worker(all->sites[i]);
	}
	auction_free(au->a);
	au->a = auction_new(
	    &c->o.place, workers, (uint32_t)all->n_sites, NULL, (uint32_t)all->n_numbers);
	au->build++;
	au->is_stale = false;
	au->built_ms = c->mono_ms;
	for (size_t i = 0; i < all->n_sites; i++) {
		auction_update(au->a, (uint32_t)i, &workers[i]);
		TAILQ_FOREACH (u, &all->sites[i]->units, on_site)
			auction_count(au->a, (uint32_t)i, u->service->number, +1);
	}
	free(workers);
}

/* --- a batch */

static uint32_t gather(struct core *c)
{
	struct services *all = services_of(c);
	struct auctions *au = all->auctions;
	uint32_t n = 0;
	struct unit *u;

	while (
	    n < BATCH_MAX && ((u = TAILQ_FIRST(&all->due[0])) || (u = TAILQ_FIRST(&all->due[1])))) {
		struct want *w = unit_want(c, u);

		unit_unask(c, u);
		if (!unit_may_start(c, u))
			continue;
		if (!w) {
			unit_no_place(c, u, STR("nobody knows what its revision runs"));
			continue;
		}
		au->units[n++] = u;
	}
	return n;
}

/* When all that is wanted is known to the workers. */
static void put_in_words(struct core *c, uint32_t n)
{
	struct auctions *au = auctions_of(c);

	for (uint32_t k = 0; k < n; k++) {
		struct unit *u = au->units[k];

		au->work[k] = (struct place_work){
		    u->service->number, u->i.index, want_shape(au, unit_want(c, u))};
	}
}

void unit_no_place(struct core *c, struct unit *u, struct str why)
{
	bool had = unit_text(u, TEXT_PLACE).p;

	if (!unit_set_text(u, TEXT_PLACE, why))
		return;
	services_of(c)->n_place_errors += !had;
	services_of(c)->unplaced++;
	unit_touch(c, u);
}

/* The queue is no label that anybody has heard of. */
static void say_queue(struct core *c, const struct want *w, struct buf *text)
{
	const struct queue *q = queue_find(c, w->queue);
	AUTO(free_cstr)
	char *label = xasprintf("no worker with label queue " STR_FMT, STR_ARG(q->row.name));

	if (!str_is(buf_str(text), label))
		return;
	buf_reset(text);
	buf_printf(
	    text, "no worker that takes services serves the queue " STR_FMT, STR_ARG(q->row.name));
}

static void explain(struct core *c, struct unit *u, const struct place_result *r)
{
	struct auctions *au = auctions_of(c);
	struct want *w = unit_want(c, u);
	AUTO(buf_release) struct buf text = {0};
	struct place_error e;

	if (r->code == PLACE_STARTS)
		buf_printf(&text,
		    "waiting to start instance: reached in-flight start limit; %u of %u starts are "
		    "under way",
		    auction_starting(au->a), c->o.place.starts_max);
	else
		auction_explain(au->a, w->shape, r->zone_must, &e, &text);
	say_queue(c, w, &text);
	unit_no_place(c, u, buf_str(&text));
	unit_is_short(c, u, w);
}

/* The auction knows memory, disk, processors and numbers of instances; the books know all. */
static struct worker *look_elsewhere(struct core *c, const struct unit *u, const struct want *w)
{
	struct services *all = services_of(c);
	struct site *best = NULL;

	for (size_t i = 0; i < all->n_sites; i++) {
		struct site *s = all->sites[i];

		if (s->worker && s->may_start && want_fits_now(c, w, s->worker) &&
		    (!best || s->n_units < best->n_units))
			best = s;
	}
	return best ? best->worker : NULL;
}

static void not_there(struct core *c, struct unit *u, struct want *w, struct effects *out)
{
	struct worker *other = look_elsewhere(c, u, w);
	AUTO(buf_release) struct buf text = {0};
	struct str rest = w->need;
	struct amount at;

	if (other && unit_start(c, u, other, out))
		return;
	buf_add_cstr(&text, "insufficient resources: no worker has all of this free:");
	while (amount_next(&rest, &at)) {
		buf_printf(&text, " " STR_FMT " ", STR_ARG(at.name));
		amount_add(&text, at.name, at.n);
	}
	unit_no_place(c, u, buf_str(&text));
	unit_is_short(c, u, w);
}

static void settle(struct core *c, uint32_t k, struct effects *out)
{
	struct services *all = services_of(c);
	struct auctions *au = all->auctions;
	const struct place_result *r = &au->results[k];
	struct unit *u = au->units[k];
	struct want *w = unit_want(c, u);
	struct worker *to;

	if (r->worker == NO_WORKER) {
		explain(c, u, r);
		return;
	}
	to = all->sites[r->worker]->worker;
	/* the auction counted it there; the unit counts itself when it enters */
	auction_count(au->a, r->worker, u->service->number, -1);
	if (want_fits_now(c, w, to) && unit_start(c, u, to, out)) {
		au->has_room |= w->n_shorts > 0;
		return;
	}
	services_see_worker(c, to); /* what it has is as the books say */
	not_there(c, u, w, out);
}

/* When there is much, it takes a while: workers that join one by one wait for each other. */
#define MUCH 20000 /* units */
#define BUILD_EVERY_MS 500

static bool may_build(struct core *c)
{
	struct auctions *au = auctions_of(c);

	return services_of(c)->n_units < MUCH || c->mono_ms - au->built_ms >= BUILD_EVERY_MS;
}

static void run(struct core *c, struct effects *out)
{
	struct auctions *au = auctions_of(c);
	uint32_t n;

	make_room(au);
	n = gather(c);
	if (!n)
		return;
	sites_refresh(c);
	if (!au->a || (au->is_stale && may_build(c)))
		build(c);
	auction_grow(au->a, (uint32_t)services_of(c)->n_numbers);
	put_in_words(c, n);
	auction_run(au->a, au->work, n, au->results, au->order);
	services_of(c)->n_auctions++;
	for (uint32_t k = 0; k < n; k++)
		settle(c, au->order[k], out);
}

void auctions_run(struct core *c, struct effects *out)
{
	struct services *all = services_of(c);
	bool had_room = all->auctions->has_room;

	if (c->start.waiting)
		return;
	if (had_room)
		units_try_again(c);
	if (all->n_due)
		run(c, out);
	if (all->n_due || (all->auctions->has_room && all->n_short))
		services_again(c, 0);
	else if (all->auctions->is_stale && all->n_short)
		services_again(c, BUILD_EVERY_MS);
}
