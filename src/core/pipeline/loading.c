/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pipeline/loading.h"

int loading_feed(struct loading *l, struct event *ev)
{
	l->stamp(l, ev);
	return core_step(l->core, ev, l->out);
}

static int on_row(void *arg, const struct row_table *t, const void *row)
{
	const struct meta_row *m = t == &meta_table ? row : NULL;
	struct loading *l = arg;

	if (m && str_is(m->name, META_INSTALLATION) && id_space_parse(m->value, &l->ids))
		l->has_installation = true;
	if (l->see)
		l->see(l, t, row);
	return loading_feed(l, &(struct event){.kind = EV_LOAD_ROW, .load = {t, row}});
}

static int on_count(void *arg, rid queue, int32_t status, int64_t n)
{
	return loading_feed(
	    arg, &(struct event){.kind = EV_LOAD_COUNT, .count = {queue, status, n}});
}

static int on_owned(void *arg, const struct owner *of, rid task, rid queue)
{
	return loading_feed(
	    arg, &(struct event){.kind = EV_LOAD_OWNED, .owned = {*of, task, queue}});
}

struct meta_row *loading_save(struct loading *l, const char *name, struct str value)
{
	struct batch *b = &l->out->batch;
	struct meta_row *m = arena_zalloc(&b->arena, sizeof *m);

	m->name = str_of(name);
	m->value = value;
	batch_put(b, &meta_table, m);
	return m;
}

/* A new store: five bytes are the middle of all its ids. */
static int found(struct loading *l)
{
	struct str text = arena_strf(&l->out->batch.arena, "%010llx",
	    (unsigned long long)(l->installation & 0xffffffffffull));

	return on_row(l, &meta_table, loading_save(l, META_INSTALLATION, text));
}

static int on_done(void *arg, rid last_id, uint64_t last_event)
{
	struct event done = {.kind = EV_LOAD_DONE, .loaded = {last_id, last_event}};
	struct loading *l = arg;

	if (!l->has_installation && (last_id || last_event)) { /* every id would be another */
		problem_set(l->problem, ERR_STORE,
		    "the store is damaged (meta " META_INSTALLATION
		    ", the middle of every id, is gone)");
		return problem_hint(l->problem, "restore a backup");
	}
	if (!l->has_installation)
		found(l);
	if (l->finish)
		l->finish(l, &done);
	return loading_feed(l, &done);
}

struct row_loader loading_loader(struct loading *l)
{
	return (struct row_loader){l, on_row, on_count, on_owned, on_done};
}
