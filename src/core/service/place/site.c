/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers as services see them: whether what they have runs, and what the auction is told of them.
 * A worker that may have changed is noted, and looked at before the step goes on to services; so
 * an event costs what it concerns: the services that have something there.
 */
#include "core/service/unit.h"

#include <stdlib.h>
#include <string.h>

#include "core/service/place/want.h"
#include "core/service/worker.h"
#include "core/state.h"

static void site_free(struct site *s)
{
	free(s->texts);
	free(s);
}

void sites_init(struct core *c)
{
	struct services *all = services_of(c);

	all->noted_sites = xcalloc(1, sizeof *all->noted_sites);
	TAILQ_INIT(all->noted_sites);
	GROW(all->seen, all->cap_seen, 1); /* what is in limbo needs no worker */
	all->seen[SEEN_IN_LIMBO] = SEEN_SILENT;
}

void sites_release(struct core *c)
{
	struct services *all = services_of(c);

	while (all->n_sites) {
		struct site *s = all->sites[--all->n_sites];

		if (s->worker)
			s->worker->site = NULL;
		site_free(s);
	}
	free(all->sites);
	free(all->noted_sites);
}

void site_set_number(struct core *c, struct site *s, uint32_t number)
{
	s->number = number;
	services_of(c)->seen[SEEN_OF(number)] = s->seen;
}

/* One that nobody knows any more keeps its number until the next auction is made. */
void sites_compact(struct core *c)
{
	struct services *all = services_of(c);
	size_t n = 0;

	for (size_t i = 0; i < all->n_sites; i++)
		if (all->sites[i]->worker)
			all->sites[n++] = all->sites[i];
		else
			site_free(all->sites[i]);
	all->n_sites = n;
}

static struct site *site_of(struct core *c, struct worker *w)
{
	struct services *all = services_of(c);
	struct site *s = w->site;

	if (s)
		return s;
	s = w->site = xcalloc(1, sizeof *s);
	s->worker = w;
	TAILQ_INIT(&s->units);
	GROW(all->sites, all->cap_sites, all->n_sites + 1);
	GROW(all->seen, all->cap_seen, all->n_sites + 2);
	all->seen[SEEN_IN_LIMBO] = SEEN_SILENT;
	all->sites[all->n_sites] = s;
	site_set_number(c, s, (uint32_t)all->n_sites++);
	auctions_of(c)->is_stale = true;
	return s;
}

void services_see_worker(struct core *c, struct worker *w)
{
	struct services *all = services_of(c);
	struct site *s = all ? site_of(c, w) : NULL;

	if (!s || s->is_noted)
		return;
	s->is_noted = true;
	TAILQ_INSERT_TAIL(all->noted_sites, s, in_noted);
}

void services_forget_worker(struct core *c, struct worker *w)
{
	struct services *all = services_of(c);
	struct site *s = all ? TAKE(w->site) : NULL;
	struct unit *u;

	if (!s)
		return;
	while ((u = TAILQ_FIRST(&s->units))) {
		service_note(c, u->service);
		unit_leave_site(c, u);
	}
	if (s->is_noted)
		TAILQ_REMOVE(all->noted_sites, s, in_noted);
	s->worker = NULL;
	s->may_start = false;
	s->seen = SEEN_LOST;
	site_set_number(c, s, s->number);
	auction_site_changed(c, s);
}

static enum seen_worker seen_of(const struct core *c, const struct worker *w)
{
	enum health_lack lack;

	if (w->health.state == WORKER_MUST_DIE || w->row.departed)
		return SEEN_LOST;
	if (w->health.state != WORKER_UNHEALTHY)
		return SEEN_PRESENT;
	lack = health_lack(&w->health, worker_timeouts(c, w), c->mono_ms);
	return lack == LACK_BEAT || lack == LACK_KNOWN ? SEEN_SILENT : SEEN_PRESENT;
}

/* --- texts: what the auction goes by, each of them ours */

static struct str put(char **at, struct str s)
{
	char *copy = *at;

	memcpy(copy, s.n ? s.p : "", s.n);
	copy[s.n] = 0;
	*at += s.n + 1;
	return (struct str){copy, s.n};
}

/* The worker's own labels, its zone as one, and one for each queue of services that it serves. */
static void add_labels(struct core *c, const struct worker *w, struct buf *b)
{
	struct auctions *all = auctions_of(c);
	struct want *want;
	rid last = 0;

	buf_add_str(b, w->row.facts.labels);
	if (w->row.facts.zone.n)
		buf_printf(b, "zone=" STR_FMT "\n", STR_ARG(w->row.facts.zone));
	for (want = wants_next(all, NULL); want; want = wants_next(all, want)) {
		const struct queue *q = queue_find(c, want->queue);

		if (want->queue == last || !q || !w->takes_services ||
		    worker_unserved(c, w, q) != UNSERVED_NO)
			continue;
		last = want->queue;
		buf_printf(b, "queue " STR_FMT "\n", STR_ARG(q->row.name));
	}
}

static void set_texts(struct core *c, struct site *s, struct str zone)
{
	const struct worker_facts *f = &s->worker->row.facts;
	AUTO(buf_release) struct buf labels = {0};
	char *at;

	s->generation = s->worker->generation;
	s->labels_build = services_of(c)->labels_build;
	add_labels(c, s->worker, &labels);
	at = s->texts = xmalloc(f->shard.n + f->zone.n + f->target.n + labels.n + 4);
	s->name = put(&at, f->shard);
	s->zone = put(&at, f->zone);
	s->target = put(&at, f->target);
	s->labels = put(&at, buf_str(&labels));
	if (!zone.p || !str_eq(zone, s->zone))
		auctions_of(c)->is_stale = true;
}

static bool is_drained(const struct worker *w)
{
	return w->row.drained || w->leaving;
}

static void refresh(struct core *c, struct site *s)
{
	struct worker *w = s->worker;
	enum seen_worker seen = seen_of(c, w);
	bool drained = is_drained(w), may = worker_may_start(c, w);
	bool same = s->texts && s->generation == w->generation &&
	            s->labels_build == services_of(c)->labels_build;
	char *old = same ? NULL : s->texts;
	struct unit *u;

	if (!same) {
		set_texts(c, s, s->zone);
		services_room(c); /* it may offer what it did not */
	}
	if (seen != s->seen || drained != s->is_drained)
		TAILQ_FOREACH (u, &s->units, on_site)
			service_note(c, u->service);
	if (may && !s->may_start)
		services_room(c);
	s->seen = (uint8_t)seen;
	site_set_number(c, s, s->number);
	s->is_drained = drained;
	s->may_start = may;
	auction_site_changed(c, s);
	free(old);
}

size_t sites_missed(struct core *c)
{
	struct services *all = services_of(c);
	size_t n = 0;

	for (size_t i = 0; i < all->n_sites; i++) {
		struct site *s = all->sites[i];

		if (!s->worker || s->is_noted)
			continue;
		if (seen_of(c, s->worker) == s->seen && is_drained(s->worker) == s->is_drained &&
		    worker_may_start(c, s->worker) == s->may_start)
			continue;
		services_see_worker(c, s->worker);
		n++;
	}
	return n;
}

void sites_refresh(struct core *c)
{
	struct services *all = services_of(c);
	struct site *s;

	while ((s = TAILQ_FIRST(all->noted_sites))) {
		TAILQ_REMOVE(all->noted_sites, s, in_noted);
		s->is_noted = false;
		refresh(c, s);
	}
}

void sites_relabel(struct core *c)
{
	struct services *all = services_of(c);

	all->labels_build++;
	for (size_t i = 0; i < all->n_sites; i++)
		if (all->sites[i]->worker)
			services_see_worker(c, all->sites[i]->worker);
}

void unit_enter_site(struct core *c, struct unit *u, struct worker *w)
{
	struct site *s = site_of(c, w);

	MUST(!u->site);
	u->site = s;
	u->worker = w->row.id;
	TAILQ_INSERT_TAIL(&s->units, u, on_site);
	s->n_units++;
	u->is_starting = u->i.state == INSTANCE_CLAIMED;
	s->n_starting += u->is_starting;
	auction_counts(c, u, +1);
	services_see_worker(c, w);
}

void unit_is_up(struct core *c, struct unit *u)
{
	if (!u->is_starting)
		return;
	u->is_starting = false;
	u->site->n_starting--;
	services_see_worker(c, u->site->worker);
}

void unit_leave_site(struct core *c, struct unit *u)
{
	struct site *s = u->site;

	if (!s)
		return;
	auction_counts(c, u, -1);
	TAILQ_REMOVE(&s->units, u, on_site);
	s->n_units--;
	u->site = NULL;
	s->n_starting -= u->is_starting;
	u->is_starting = false;
	if (s->worker)
		services_see_worker(c, s->worker);
	services_room(c);
}
