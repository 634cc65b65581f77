/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the brain asks of the store: answered in order, at one moment between the question and the
 * answer, so other batches may have become durable before it or after it.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "sim/world/server.h"

struct reading {
	struct arena arena;
	struct read_ask ask;
	struct event ev;
};

void sim_read_free(void *p)
{
	struct reading *d = p;

	if (!d)
		return;
	arena_release(&d->arena);
	free(d);
}

static void read_rows(struct store_reader *r, struct reading *d)
{
	struct task_row *rows = NULL;
	size_t n = 0;

	if (d->ask.kind == READ_HEAD)
		store_queue_head(r, &d->ask.head, &d->arena, &rows, &n);
	else
		store_queue_due(r, &d->ask.due, &d->arena, &rows, &n);
	d->ev.rows.queue = d->ask.kind == READ_HEAD ? d->ask.head.queue : d->ask.due.queue;
	d->ev.rows.rows = rows;
	d->ev.rows.n = n;
}

static void read_keys(struct store_reader *r, struct reading *d)
{
	rid *ids = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *ids);
	struct idem_row *idem = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *idem);

	for (size_t i = 0; i < d->ask.n; i++) {
		const struct key_ask *k = &d->ask.keys[i];

		if (k->queue)
			store_find_key(r, k->queue, k->key, &ids[i]);
		else
			store_find_idem(r, k->key, &d->arena, &idem[i]);
	}
	d->ev.keys.ids = ids;
	d->ev.keys.idem = idem;
}

static void read_tasks(struct store_reader *r, struct reading *d)
{
	struct task_row *rows = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *rows);
	rid *holders = arena_zalloc(&d->arena, (d->ask.n + 1) * sizeof *holders);
	struct task_batch_row *batches =
	    arena_zalloc(&d->arena, (d->ask.n_batches + 1) * sizeof *batches);

	store_tasks_get(r, d->ask.ids, d->ask.n, &d->arena, rows);
	for (size_t i = 0; i < d->ask.n; i++)
		if (rows[i].spec.key.p)
			store_find_key(r, rows[i].spec.queue, rows[i].spec.key, &holders[i]);
	for (size_t i = 0; i < d->ask.n_batches; i++)
		store_batch_get(r, d->ask.batches[i], &d->arena, &batches[i]);
	d->ev.rows.rows = rows;
	d->ev.rows.batches = batches;
	d->ev.rows.holders = holders;
	d->ev.rows.n = d->ask.n;
}

static void read_parts(struct store_reader *r, struct reading *d)
{
	struct part_page page;

	store_parts(r, &d->ask.parts, &d->arena, &page);
	d->ev.parts.rows = page.rows;
	d->ev.parts.n = page.n;
}

static void look(struct world *w, struct reading *d)
{
	static const enum event_kind kinds[] = {[READ_HEAD] = EV_HEAD_READ,
	    [READ_DUE] = EV_DUE_READ,
	    [READ_KEYS] = EV_KEYS_READ,
	    [READ_TASKS] = EV_TASKS_READ,
	    [READ_PARTS] = EV_PARTS_READ,
	    [READ_INPUT] = EV_INPUT_READ};
	struct store_reader *r = w->server->reader;
	bool failed = w->server->reads_fail_until_us > w->now_us;

	d->ev.kind = kinds[d->ask.kind];
	switch (d->ask.kind) {
	case READ_KEYS:
		read_keys(r, d);
		d->ev.keys.read = d->ask.number;
		d->ev.keys.failed = failed;
		return;
	case READ_INPUT:
	case READ_PARTS:
		read_parts(r, d);
		d->ev.parts.read = d->ask.number;
		d->ev.parts.object = d->ask.parts.object;
		d->ev.parts.failed = failed;
		return;
	case READ_TASKS: read_tasks(r, d); break;
	default: read_rows(r, d); break;
	}
	d->ev.rows.read = d->ask.number;
	d->ev.rows.failed = failed;
}

void sim_read_begin(struct world *w, const struct read_ask *ask)
{
	struct sim_server *s = w->server;
	struct reading *d = xcalloc(1, sizeof *d);
	int64_t delay =
	    w->o.exact ? 100 : sim_between(&w->rng_store, 20, w->o.commit_max_us / 4 + 50);
	struct sim_event *e;

	if (s->reads_slow_until_us > w->now_us)
		delay += s->read_slow_us;
	d->ask = *ask;
	if (ask->kind == READ_TASKS) {
		d->ask.ids = arena_memdup(&d->arena, ask->ids, ask->n * sizeof *ask->ids);
		d->ask.batches =
		    arena_memdup(&d->arena, ask->batches, ask->n_batches * sizeof *ask->batches);
	}
	if (ask->kind == READ_KEYS) {
		struct key_ask *keys =
		    arena_memdup(&d->arena, ask->keys, ask->n * sizeof *ask->keys);

		for (size_t i = 0; i < ask->n; i++)
			keys[i].key = arena_str(&d->arena, keys[i].key);
		d->ask.keys = keys;
	}
	s->read_us = (s->read_us > w->now_us ? s->read_us : w->now_us) + delay;
	e = world_event(w, s->read_us, SE_READ, SIM_SERVER);
	e->n = s->incarnation;
	e->p = d;
}

void sim_read_event(struct world *w, struct sim_event *e)
{
	struct sim_server *s = w->server;
	struct reading *d = e->p;
	struct sim_event *done;

	if (!s->core || e->n != s->incarnation) {
		sim_read_free(d);
		return;
	}
	if (e->kind == SE_READ) {
		look(w, d);
		s->read_us += w->o.exact ? 0 : sim_between(&w->rng_store, 0, 200);
		if (d->ask.kind == READ_PARTS) {
			s->read_us += s->ticks_slow_us;
			s->ticks_slow_us = 0;
		}
		done = world_event(w, s->read_us, SE_READ_DONE, SIM_SERVER);
		done->n = e->n;
		done->p = d;
		return;
	}
	sim_server_step(w, &d->ev);
	sim_read_free(d);
}
