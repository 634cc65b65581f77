/* SPDX-License-Identifier: Apache-2.0 */
#include "api/graphs/room.h"

#include <malloc.h>
#include <stdlib.h>

#include "core/graph/view.h"

#define IDLE_MS 10000
#define BYTES_MAX (128u << 20) /* of those that nobody uses just now */
#define TRIM_BYTES (4u << 20)

struct kept_graph {
	TAILQ_ENTRY(kept_graph) link;
	struct graph_room *room;
	rid id;          /* 0: it is not there yet */
	int64_t version; /* of what is in memory; 0: nothing is */
	struct graph_in_memory kept;
	size_t bytes;
	int64_t used_ms;
	struct graph_turns line; /* the first one's turn it is */
	bool is_busy;
};
TAILQ_HEAD(kept_graphs, kept_graph);

struct graph_room {
	struct api *api;
	struct kept_graphs all; /* the one that was used last is last */
	size_t bytes;
	uint64_t seed;
	void *timer; /* something is to be let go, or a turn begins; NULL: not set */
	bool is_soon;
};

static void set_timer(struct graph_room *r, bool soon);

static struct graph_room *room_of(struct api *a)
{
	if (a->graphs)
		return a->graphs;
	a->graphs = xcalloc(1, sizeof *a->graphs);
	a->graphs->api = a;
	a->host.secret_random(&a->graphs->seed, sizeof a->graphs->seed);
	TAILQ_INIT(&a->graphs->all);
	return a->graphs;
}

size_t graph_room_bytes(const struct graph_room *r)
{
	return r ? r->bytes : 0;
}

/* -- letting go: freeing a hundred thousand packages takes a while, so others do it */

struct rubbish {
	struct graph_in_memory kept;
	size_t bytes;
};

static void free_rubbish(struct store_reader *reader, void *arg)
{
	struct rubbish *b = arg;

	kept_release(&b->kept);
	if (b->bytes >= TRIM_BYTES)
		malloc_trim(0); /* what lies between used memory does not go back by itself */
}

static void let_go(struct graph_room *r, struct kept_graph *g)
{
	struct rubbish *b = xcalloc(1, sizeof *b);

	*b = (struct rubbish){g->kept, g->bytes};
	r->bytes -= g->bytes;
	g->kept = (struct graph_in_memory){0};
	g->bytes = 0;
	g->version = 0;
	r->api->host.read(r->api->host.arg, true, free_rubbish, free, b);
}

static void forget(struct graph_room *r, struct kept_graph *g)
{
	if (g->bytes)
		let_go(r, g);
	kept_release(&g->kept);
	TAILQ_REMOVE(&r->all, g, link);
	free(g);
}

static int64_t now_ms(const struct graph_room *r)
{
	return r->api->host.mono_ms(r->api->host.arg);
}

/* The longest unused first: those whose time is over, and more while all are too large. */
static void sweep(struct graph_room *r)
{
	struct kept_graph *g, *next;
	int64_t now = now_ms(r);

	for (g = TAILQ_FIRST(&r->all); g; g = next) {
		next = TAILQ_NEXT(g, link);
		if (g->is_busy || !TAILQ_EMPTY(&g->line))
			continue;
		if (!g->version || now - g->used_ms >= IDLE_MS || r->bytes > BYTES_MAX)
			forget(r, g);
	}
}

/* -- turns */

static void do_work(struct store_reader *reader, void *arg)
{
	struct graph_turn *t = arg;
	struct kept_graph *g = t->of;

	if (!t->as_it_is && g->version != t->row.version)
		t->is_read = kept_read(&g->kept, reader, &t->row, t->seed, &t->problem) == 0;
	if (!t->problem.code)
		t->work(t);
}

/* The graph may have been removed while others had their turns. */
static bool still_there(struct graph_turn *t)
{
	const struct graph_row *row = core_graph(t->c->host->core, t->of->id);

	if (!t->of->id)
		return true;
	if (row) {
		t->row = *row;
		t->row.name = t->row.actor = STR_NULL;
		return true;
	}
	problem_set(&t->problem, ERR_NOT_FOUND, "there is no such graph any more");
	problem_hint(&t->problem, "reeve graph ls shows the graphs");
	return false;
}

static void work_done(void *arg)
{
	struct graph_turn *t = arg;
	struct kept_graph *g = t->of;

	if (!t->as_it_is && g->version != t->row.version)
		g->version = t->is_read ? t->row.version : 0;
	if (t->problem.code)
		still_there(t); /* what was removed while it was read is not damaged */
	t->done(t);
}

static void start(struct kept_graph *g)
{
	struct graph_turn *t = TAILQ_FIRST(&g->line);
	const struct api_host *host = &g->room->api->host;

	g->is_busy = true;
	t->kept = &g->kept;
	t->seed = g->room->seed;
	if (t->c->over || !still_there(t))
		t->done(t);
	else
		host->read(host->arg, true, do_work, work_done, t);
}

/* NULL: nobody waits whose turn it could be. */
static struct kept_graph *next_to_start(struct graph_room *r)
{
	struct kept_graph *g;

	TAILQ_FOREACH (g, &r->all, link)
		if (!g->is_busy && !TAILQ_EMPTY(&g->line))
			return g;
	return NULL;
}

/* A turn may end as it begins, and others with it: the list is looked through anew. */
static void on_timer(void *arg)
{
	struct graph_room *r = arg;
	struct kept_graph *g;

	r->timer = NULL;
	while ((g = next_to_start(r)))
		start(g);
	sweep(r);
	if (!TAILQ_EMPTY(&r->all))
		set_timer(r, false);
}

static void set_timer(struct graph_room *r, bool soon)
{
	const struct api_host *host = &r->api->host;

	if (r->timer && (r->is_soon || !soon))
		return;
	if (r->timer)
		host->cancel_timer(host->arg, r->timer);
	r->is_soon = soon;
	r->timer = host->timer(host->arg, soon ? 0 : IDLE_MS / 2, on_timer, r);
}

static struct kept_graph *find_or_add(struct graph_room *r, rid id)
{
	struct kept_graph *g;

	TAILQ_FOREACH (g, &r->all, link)
		if (id && g->id == id)
			return g;
	g = xcalloc(1, sizeof *g);
	g->room = r;
	g->id = id;
	TAILQ_INIT(&g->line);
	TAILQ_INSERT_TAIL(&r->all, g, link);
	return g;
}

struct graph_turn *graph_turn_new(struct call *c, rid graph)
{
	struct graph_turn *t = xcalloc(1, sizeof *t);

	t->c = c;
	t->of = find_or_add(room_of(c->api), graph);
	call_hold(c);
	return t;
}

void graph_turn_begin(struct graph_turn *t)
{
	struct kept_graph *g = t->of;

	TAILQ_INSERT_TAIL(&g->line, t, in_line);
	if (!g->is_busy && TAILQ_FIRST(&g->line) == t)
		start(g);
}

void graph_turn_end(struct graph_turn *t, int64_t version)
{
	struct kept_graph *g = t->of;
	struct graph_room *r = g->room;
	struct call *c = t->c;

	if (t->is_changed)
		g->version = version;
	TAILQ_REMOVE(&g->line, t, in_line);
	free(t);
	g->is_busy = false;
	if (kept_is_stale(&g->kept))
		g->version = 0;
	g->used_ms = now_ms(r);
	r->bytes -= g->bytes;
	g->bytes = kept_bytes(&g->kept);
	r->bytes += g->bytes;
	TAILQ_REMOVE(&r->all, g, link);
	TAILQ_INSERT_TAIL(&r->all, g, link);
	if (!g->id || (!g->version && g->bytes))
		let_go(r, g);
	if (r->bytes > BYTES_MAX)
		sweep(r);
	set_timer(r, true);
	call_unhold(c);
}

void graph_room_free(struct graph_room *r)
{
	struct kept_graph *g;
	struct graph_turn *t;

	if (!r)
		return;
	if (r->timer)
		r->api->host.cancel_timer(r->api->host.arg, r->timer);
	while ((g = TAILQ_FIRST(&r->all))) {
		while ((t = TAILQ_FIRST(&g->line))) {
			TAILQ_REMOVE(&g->line, t, in_line);
			free(t);
		}
		TAILQ_REMOVE(&r->all, g, link);
		kept_release(&g->kept);
		free(g);
	}
	free(r);
}
