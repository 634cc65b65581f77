/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/engine_load.h"

#include "base/data/heap.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "core/pipeline/loading.h"

struct engine_loading {
	struct loading loading;
	struct time_zones *zones;
	struct receipt_key *key;
	bool has_key;
};

static void stamp(struct loading *l, struct event *ev)
{
	ev->now_ms = clock_wall_ms();
	ev->mono_ms = clock_mono_ms();
	ev->seed = clock_random();
}

/* An object whose time zone is unknown is loaded all the same, and says so itself. */
static void see_time_zone(struct time_zones *zones, const struct row_table *t, const void *row)
{
	struct str zone = row_time_zone(t, row);
	struct problem p = {0};

	if (zone.p && time_zones_need(zones, zone, &p) != 0)
		log_warn("the %s " STR_FMT " cannot fire: %s", t->name,
		    STR_ARG(column_str(row_name_column(t), row)), p.what);
}

static void see(struct loading *l, const struct row_table *t, const void *row)
{
	struct engine_loading *e = CONTAINER_OF(l, struct engine_loading, loading);
	const struct meta_row *m = t == &meta_table ? row : NULL;

	if (m && str_is(m->name, META_RECEIPT_KEY) && receipt_key_parse(m->value, e->key))
		e->has_key = true;
	see_time_zone(e->zones, t, row);
}

/* A key is durable before the first order that has a receipt. */
static void finish(struct loading *l, struct event *done)
{
	struct engine_loading *e = CONTAINER_OF(l, struct engine_loading, loading);

	done->loaded.key_is_new = !e->has_key;
	if (e->has_key)
		return;
	receipt_key_draw(e->key);
	loading_save(l, META_RECEIPT_KEY, receipt_key_text(e->key, &l->out->batch.arena));
}

int engine_load(struct store *s, struct core *c, struct time_zones *zones, struct effects *out,
    struct id_space *ret_ids, struct receipt_key *ret_key, struct problem *ret_problem)
{
	struct engine_loading e = {.loading = {.core = c,
	                               .out = out,
	                               .installation = clock_random(),
	                               .problem = ret_problem,
	                               .stamp = stamp,
	                               .see = see,
	                               .finish = finish},
	    .zones = zones,
	    .key = ret_key};
	struct row_loader loader = loading_loader(&e.loading);
	int r = store_load(s, &loader, ret_problem);

	*ret_ids = e.loading.ids;
	return r;
}
