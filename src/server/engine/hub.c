/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/hub.h"

#include <bsd/sys/queue.h>
#include <stdlib.h>

#include "base/data/idmap.h"
#include "base/mem.h"

struct watcher {
	TAILQ_ENTRY(watcher) entry;
	hub_notice_fn *fn;
	void *arg;
	bool gone; /* unwatched while the list is being walked */
};

struct output_watcher {
	TAILQ_ENTRY(output_watcher) entry;
	struct output_task *task;
	hub_fn *fn;
	void *arg;
	bool gone;
};

struct output_task {
	TAILQ_ENTRY(output_task) entry;
	rid id;
	TAILQ_HEAD(, output_watcher) watchers;
};

struct hub {
	struct notice *ring;
	uint64_t last; /* how many were ever put in: the ring holds the newest HUB_RING of them */
	uint64_t last_seq;
	TAILQ_HEAD(, watcher) watchers;
	struct idmap outputs; /* task -> struct output_task */
	TAILQ_HEAD(, output_task) followed;
	hub_follow_fn *on_follow; /* NULL: nobody wants to know */
	void *on_follow_arg;
	int walking;
	struct output_watcher **dead; /* unwatched during a walk */
	size_t n_dead, cap_dead;
};

struct hub *hub_new(void)
{
	struct hub *h = xcalloc(1, sizeof *h);

	h->ring = xcalloc(HUB_RING, sizeof *h->ring);
	TAILQ_INIT(&h->watchers);
	TAILQ_INIT(&h->followed);
	return h;
}

static void drop_strings(struct notice *n)
{
	free((char *)n->subject.p);
	free((char *)n->detail.p);
	n->subject = n->detail = STR_NULL;
}

void hub_free(struct hub *h)
{
	struct watcher *w;

	while ((w = TAILQ_FIRST(&h->watchers))) {
		TAILQ_REMOVE(&h->watchers, w, entry);
		free(w);
	}
	for (size_t i = 0; i < HUB_RING; i++)
		drop_strings(&h->ring[i]);
	idmap_release(&h->outputs);
	free(h->dead);
	free(h->ring);
	free(h);
}

static struct str keep(struct str s)
{
	return s.p ? (struct str){xstrndup(s.p, s.n), s.n} : STR_NULL;
}

static void remember(struct hub *h, const struct notice *n)
{
	struct notice *slot = &h->ring[h->last++ % HUB_RING];

	drop_strings(slot);
	*slot = *n;
	slot->subject = keep(n->subject);
	slot->detail = keep(n->detail);
	h->last_seq = n->seq;
}

static void sweep(struct hub *h)
{
	struct watcher *w, *next;

	if (h->walking)
		return;
	TAILQ_FOREACH_SAFE (w, &h->watchers, entry, next)
		if (w->gone) {
			TAILQ_REMOVE(&h->watchers, w, entry);
			free(w);
		}
}

static void tell(struct hub *h, const struct notice *n)
{
	struct watcher *w;

	h->walking++;
	TAILQ_FOREACH (w, &h->watchers, entry)
		if (!w->gone)
			w->fn(n, w->arg);
	h->walking--;
}

static void wake_output(struct hub *h, rid task)
{
	struct output_task *t = h->outputs.n ? idmap_get(&h->outputs, task) : NULL;
	struct output_watcher *w;

	if (!t)
		return;
	h->walking++;
	TAILQ_FOREACH (w, &t->watchers, entry)
		if (!w->gone)
			w->fn(w->arg);
	h->walking--;
}

static void tell_follow(struct hub *h, rid task, bool is_followed)
{
	if (h->on_follow)
		h->on_follow(task, is_followed, h->on_follow_arg);
}

void hub_on_follow(struct hub *h, hub_follow_fn *fn, void *arg)
{
	h->on_follow = fn;
	h->on_follow_arg = arg;
}

bool hub_is_followed(const struct hub *h, rid task)
{
	return h->outputs.n && idmap_get(&h->outputs, task);
}

size_t hub_each_followed(const struct hub *h, hub_follow_fn *fn, void *arg)
{
	const struct output_task *t;

	TAILQ_FOREACH (t, &h->followed, entry)
		fn(t->id, true, arg);
	return h->outputs.n;
}

static void remove_output(struct hub *h, struct output_watcher *w)
{
	struct output_task *t = w->task;

	TAILQ_REMOVE(&t->watchers, w, entry);
	free(w);
	if (TAILQ_EMPTY(&t->watchers)) {
		idmap_del(&h->outputs, t->id);
		TAILQ_REMOVE(&h->followed, t, entry);
		tell_follow(h, t->id, false);
		free(t);
	}
}

void hub_release(struct hub *h, const struct effects *fx)
{
	for (size_t i = 0; i < fx->n_notices; i++) {
		remember(h, &fx->notices[i]);
		tell(h, &fx->notices[i]);
	}
	if (fx->n_notices || fx->batch.n)
		tell(h, NULL);
	sweep(h);
	if (!h->outputs.n)
		return;
	for (size_t i = 0; i < fx->batch.n; i++)
		if (fx->batch.rows[i].table == &output_table)
			wake_output(h, ((const struct output_row *)fx->batch.rows[i].row)->task);
	for (size_t i = 0; i < fx->n_notices; i++)
		if (fx->notices[i].task)
			wake_output(h, fx->notices[i].task);
	while (h->n_dead)
		remove_output(h, h->dead[--h->n_dead]);
}

void *hub_watch(struct hub *h, hub_notice_fn *fn, void *arg)
{
	struct watcher *w = xcalloc(1, sizeof *w);

	w->fn = fn;
	w->arg = arg;
	TAILQ_INSERT_TAIL(&h->watchers, w, entry);
	return w;
}

void hub_unwatch(struct hub *h, void *handle)
{
	((struct watcher *)handle)->gone = true;
	sweep(h);
}

/* Where in the ring the first notice behind `after` is: their numbers rise. */
static uint64_t find_after(const struct hub *h, uint64_t low, uint64_t after)
{
	uint64_t high = h->last;

	while (low < high) {
		uint64_t mid = low + (high - low) / 2;

		if (h->ring[mid % HUB_RING].seq > after)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

bool hub_replay(
    struct hub *h, uint64_t after, bool (*fn)(const struct notice *n, void *arg), void *arg)
{
	uint64_t at = h->last > HUB_RING ? h->last - HUB_RING : 0;
	bool whole = at < h->last && h->ring[at % HUB_RING].seq <= after + 1;

	if (after >= h->last_seq)
		return true;
	if (!whole)
		return false;
	for (at = find_after(h, at, after); at < h->last; at++)
		if (!fn(&h->ring[at % HUB_RING], arg))
			break;
	return true;
}

uint64_t hub_last_seq(const struct hub *h)
{
	return h->last_seq;
}

void *hub_watch_output(struct hub *h, rid task, hub_fn *fn, void *arg)
{
	struct output_task *t = idmap_get(&h->outputs, task);
	struct output_watcher *w = xcalloc(1, sizeof *w);
	bool is_first = !t;

	if (is_first) {
		t = xcalloc(1, sizeof *t);
		t->id = task;
		TAILQ_INIT(&t->watchers);
		idmap_put(&h->outputs, task, t);
		TAILQ_INSERT_TAIL(&h->followed, t, entry);
	}
	*w = (struct output_watcher){.task = t, .fn = fn, .arg = arg};
	TAILQ_INSERT_TAIL(&t->watchers, w, entry);
	if (is_first)
		tell_follow(h, task, true);
	return w;
}

void hub_unwatch_output(struct hub *h, void *handle)
{
	struct output_watcher *w = handle;

	if (!h->walking) {
		remove_output(h, w);
		return;
	}
	w->gone = true;
	GROW(h->dead, h->cap_dead, h->n_dead + 1);
	h->dead[h->n_dead++] = w;
}
