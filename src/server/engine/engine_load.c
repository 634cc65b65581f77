/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/engine_load.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

struct loading {
	struct core *core;
	struct time_zones *zones;
	struct effects *out;
	struct id_space *ids;
	struct receipt_key *key;
	struct problem *problem;
	bool has_installation, has_key;
};

static int feed(struct loading *l, struct event *ev)
{
	ev->now_ms = clock_wall_ms();
	ev->mono_ms = clock_mono_ms();
	ev->seed = clock_random();
	return core_step(l->core, ev, l->out);
}

static void see_meta(struct loading *l, const struct meta_row *m)
{
	if (str_is(m->name, META_INSTALLATION) && id_space_parse(m->value, l->ids))
		l->has_installation = true;
	if (str_is(m->name, META_RECEIPT_KEY) && receipt_key_parse(m->value, l->key))
		l->has_key = true;
}

/* An object whose time zone is unknown is loaded all the same, and says so itself. */
static void see_time_zone(struct loading *l, const struct row_table *t, const void *row)
{
	struct str zone = row_time_zone(t, row);
	struct problem p = {0};

	if (zone.p && time_zones_need(l->zones, zone, &p) != 0)
		log_warn("the %s " STR_FMT " cannot fire: %s", t->name,
		    STR_ARG(column_str(row_name_column(t), row)), p.what);
}

static int on_row(void *arg, const struct row_table *t, const void *row)
{
	if (t == &meta_table)
		see_meta(arg, row);
	see_time_zone(arg, t, row);
	return feed(arg, &(struct event){.kind = EV_LOAD_ROW, .load = {t, row}});
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

static struct meta_row *save(struct loading *l, const char *name, struct str value)
{
	struct batch *b = &l->out->batch;
	struct meta_row *m = arena_zalloc(&b->arena, sizeof *m);

	m->name = str_of(name);
	m->value = value;
	batch_put(b, &meta_table, m);
	return m;
}

/* A new store: draw the five bytes that are the middle of all its ids. */
static void found(struct loading *l)
{
	on_row(l, &meta_table,
	    save(l, META_INSTALLATION,
	        arena_strf(&l->out->batch.arena, "%010llx",
	            (unsigned long long)(clock_random() & 0xffffffffffull))));
}

static int on_done(void *arg, rid last_id, uint64_t last_event)
{
	struct loading *l = arg;

	if (!l->has_installation && (last_id || last_event)) { /* every id would be another */
		problem_set(l->problem, ERR_STORE,
		    "the store is damaged (meta " META_INSTALLATION
		    ", the middle of every id, is gone)");
		return problem_hint(l->problem, "restore a backup");
	}
	if (!l->has_installation)
		found(l);
	if (!l->has_key) { /* durable before the first order that has a receipt */
		receipt_key_draw(l->key);
		save(l, META_RECEIPT_KEY, receipt_key_text(l->key, &l->out->batch.arena));
	}
	return feed(l, &(struct event){.kind = EV_LOAD_DONE,
	                   .loaded.last_id = last_id,
	                   .loaded.last_event = last_event,
	                   .loaded.key_is_new = !l->has_key});
}

int engine_load(struct store *s, struct core *c, struct time_zones *zones, struct effects *out,
    struct id_space *ret_ids, struct receipt_key *ret_key, struct problem *ret_problem)
{
	struct loading l = {c, zones, out, ret_ids, ret_key, ret_problem, false, false};
	struct store_loader loader = {&l, on_row, on_count, on_owned, on_done};

	return store_load(s, &loader, ret_problem);
}
