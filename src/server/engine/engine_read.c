/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/engine_read.h"

#include <stdlib.h>

#include "base/mem.h"

struct reading {
	struct arena arena; /* the answer, and the ids asked for */
	struct read_ask ask;
	struct event ev;
	engine_read_fn *fn;
	void *arg;
	bool failed;
};

static void read_rows(struct store_reader *r, struct reading *d)
{
	struct task_row *rows = NULL;
	size_t n = 0;
	int e;

	if (d->ask.kind == READ_HEAD)
		e = store_queue_head(r, &d->ask.head, &d->arena, &rows, &n);
	else
		e = store_queue_due(r, &d->ask.due, &d->arena, &rows, &n);
	d->ev.kind = d->ask.kind == READ_HEAD ? EV_HEAD_READ : EV_DUE_READ;
	d->ev.rows.read = d->ask.number;
	d->ev.rows.queue = d->ask.kind == READ_HEAD ? d->ask.head.queue : d->ask.due.queue;
	d->ev.rows.rows = rows;
	d->ev.rows.n = n;
	d->ev.rows.failed = e != 0;
}

/* One key: a unique one gives its live task, an idempotency key its record. */
static int read_key(struct store_reader *r, struct reading *d, const struct key_ask *k, rid *ret_id,
    struct idem_row *ret_idem)
{
	int e;

	if (k->queue)
		return store_find_key(r, k->queue, k->key, ret_id);
	e = store_find_idem(r, k->key, &d->arena, ret_idem);
	if (e == ERR_NOT_FOUND) {
		*ret_idem = (struct idem_row){0};
		return 0;
	}
	return e;
}

static void read_keys(struct store_reader *r, struct reading *d)
{
	rid *ids = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *ids);
	struct idem_row *idem = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *idem);
	bool failed = false;

	for (size_t i = 0; i < d->ask.n && !failed; i++)
		failed = read_key(r, d, &d->ask.keys[i], &ids[i], &idem[i]) != 0;
	d->ev.kind = EV_KEYS_READ;
	d->ev.keys.read = d->ask.number;
	d->ev.keys.ids = ids;
	d->ev.keys.idem = idem;
	d->ev.keys.failed = failed;
}

static int read_holder(struct store_reader *r, const struct task_row *row, rid *ret_holder)
{
	return row->spec.key.p ? store_find_key(r, row->spec.queue, row->spec.key, ret_holder) : 0;
}

static int read_batch(
    struct store_reader *r, struct reading *d, rid id, struct task_batch_row *ret_row)
{
	int e = store_batch_get(r, id, &d->arena, ret_row);

	if (e == ERR_NOT_FOUND)
		*ret_row = (struct task_batch_row){0};
	return e == ERR_NOT_FOUND ? 0 : e;
}

static void read_tasks(struct store_reader *r, struct reading *d)
{
	struct task_batch_row *batches =
	    arena_zalloc(&d->arena, (d->ask.n_batches + 1) * sizeof *batches);
	struct task_row *rows = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *rows);
	rid *holders = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *holders);
	bool failed = store_tasks_get(r, d->ask.ids, d->ask.n, &d->arena, rows) != 0;

	for (size_t i = 0; i < d->ask.n && !failed; i++)
		failed = read_holder(r, &rows[i], &holders[i]) != 0;
	for (size_t i = 0; i < d->ask.n_batches && !failed; i++)
		failed = read_batch(r, d, d->ask.batches[i], &batches[i]) != 0;
	d->ev.kind = EV_TASKS_READ;
	d->ev.rows.read = d->ask.number;
	d->ev.rows.rows = rows;
	d->ev.rows.holders = holders;
	d->ev.rows.n = d->ask.n;
	d->ev.rows.batches = batches;
	d->ev.rows.failed = failed;
}

static void read_parts(struct store_reader *r, struct reading *d)
{
	struct part_page page;

	d->ev.kind = d->ask.kind == READ_INPUT ? EV_INPUT_READ : EV_PARTS_READ;
	d->ev.parts.read = d->ask.number;
	d->ev.parts.object = d->ask.parts.object;
	d->ev.parts.failed = store_parts(r, &d->ask.parts, &d->arena, &page) != 0;
	d->ev.parts.rows = page.rows;
	d->ev.parts.n = page.n;
}

static void work(struct store_reader *r, void *arg)
{
	struct reading *d = arg;

	switch (d->ask.kind) {
	case READ_KEYS: read_keys(r, d); break;
	case READ_TASKS: read_tasks(r, d); break;
	case READ_INPUT:
	case READ_PARTS: read_parts(r, d); break;
	default: read_rows(r, d); break;
	}
}

static void done(void *arg)
{
	struct reading *d = arg;

	d->fn(&d->ev, d->arg);
	arena_release(&d->arena);
	free(d);
}

void engine_read(struct readers *r, const struct read_ask *ask, engine_read_fn *fn, void *arg)
{
	struct reading *d = xcalloc(1, sizeof *d);

	d->ask = *ask;
	d->fn = fn;
	d->arg = arg;
	if (ask->kind == READ_TASKS) {
		d->ask.ids = arena_memdup(&d->arena, ask->ids, ask->n * sizeof *ask->ids);
		d->ask.batches =
		    arena_memdup(&d->arena, ask->batches, ask->n_batches * sizeof *ask->batches);
	}
	readers_run(r, false, work, done, d);
}
