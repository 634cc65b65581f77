/* SPDX-License-Identifier: Apache-2.0 */
/* A start of the server: the store's rows become the brain's first events, as in the real one. */
#include "base/mem.h"
#include "sim/kind.h"
#include "sim/world/server.h"

struct loading {
	struct world *w;
	bool has_installation;
};

static int feed(void *arg, struct event *ev)
{
	struct world *w = ((struct loading *)arg)->w;

	ev->now_ms = sim_server_wall_ms(w);
	ev->mono_ms = sim_server_mono_ms(w);
	ev->seed = rng_next(&w->rng_id);
	return core_step(w->server->core, ev, w->server->pipe.gathering);
}

static int on_row(void *arg, const struct row_table *t, const void *row)
{
	struct loading *l = arg;

	if (t == &meta_table && str_is(((const struct meta_row *)row)->name, META_INSTALLATION))
		l->has_installation = true;
	return feed(l, &(struct event){.kind = EV_LOAD_ROW, .load = {t, row}});
}

static int on_count(void *arg, rid queue, int32_t status, int64_t n)
{
	return feed(arg,
	    &(struct event){
	        .kind = EV_LOAD_COUNT, .count.queue = queue, .count.status = status, .count.n = n});
}

static int on_owned(void *arg, const struct owner *of, rid task, rid queue)
{
	return feed(arg, &(struct event){.kind = EV_LOAD_OWNED, .owned = {*of, task, queue}});
}

static void found(struct loading *l)
{
	struct batch *b = &l->w->server->pipe.gathering->batch;
	struct meta_row *m = arena_zalloc(&b->arena, sizeof *m);

	m->name = STR(META_INSTALLATION);
	m->value = STR("0123456789");
	batch_put(b, &meta_table, m);
	on_row(l, &meta_table, m);
}

static int on_done(void *arg, rid last_id, uint64_t last_event)
{
	struct loading *l = arg;

	if (!l->has_installation)
		found(l);
	return feed(l,
	    &(struct event){
	        .kind = EV_LOAD_DONE, .loaded.last_id = last_id, .loaded.last_event = last_event});
}

void sim_server_load(struct world *w)
{
	struct loading l = {w, false};
	struct store_loader loader = {&l, on_row, on_count, on_owned, on_done};
	struct problem p = {0};

	SIM_KINDS_DO(starting, w, feed, &l);
	MUST(store_load(w->server->store, &loader, &p) == 0);
}
