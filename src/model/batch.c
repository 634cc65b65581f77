/* SPDX-License-Identifier: Apache-2.0 */
#include "model/batch.h"

#include <stdlib.h>

#include "base/mem.h"

void batch_release(struct batch *b)
{
	arena_release(&b->arena);
	free(b->rows);
	*b = (struct batch){0};
}

void batch_reset(struct batch *b, uint64_t seq)
{
	arena_reset(&b->arena);
	b->n = 0;
	b->seq = seq;
}

struct row_op *batch_add(struct batch *b, enum row_kind kind)
{
	struct row_op *op;

	GROW(b->rows, b->cap, b->n + 1);
	op = &b->rows[b->n++];
	*op = (struct row_op){.kind = kind};
	return op;
}

struct task_row *task_row_copy(struct arena *a, const struct task_row *r)
{
	struct task_row *c = arena_memdup(a, r, sizeof *r);

	c->spec.key = arena_str(a, r->spec.key);
	c->spec.labels = arena_str(a, r->spec.labels);
	c->spec.body = arena_str(a, r->spec.body);
	c->state.reason = arena_str(a, r->state.reason);
	c->state.history = arena_str(a, r->state.history);
	for (int i = 0; i < N_STREAMS; i++)
		c->state.output[i] = arena_str(a, r->state.output[i]);
	c->state.result = arena_str(a, r->state.result);
	return c;
}

struct queue_row *queue_row_copy(struct arena *a, const struct queue_row *r)
{
	struct queue_row *c = arena_memdup(a, r, sizeof *r);

	c->name = arena_str(a, r->name);
	c->plugin = arena_str(a, r->plugin);
	c->pause_reason = arena_str(a, r->pause_reason);
	c->env = arena_str(a, r->env);
	c->run = arena_str(a, r->run);
	return c;
}

struct worker_row *worker_row_copy(struct arena *a, const struct worker_row *r)
{
	struct worker_row *c = arena_memdup(a, r, sizeof *r);
	struct str *fields[] = {&c->facts.shard, &c->facts.lock, &c->facts.key, &c->facts.host,
	    &c->facts.zone, &c->facts.target, &c->facts.version, &c->facts.labels,
	    &c->facts.plugins, &c->facts.active_queues, &c->facts.ignore_queues};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		*fields[i] = arena_str(a, *fields[i]);
	return c;
}

struct schedule_row *schedule_row_copy(struct arena *a, const struct schedule_row *r)
{
	struct schedule_row *c = arena_memdup(a, r, sizeof *r);
	struct str *fields[] = {
	    &c->name, &c->items, &c->source, &c->zone, &c->labels, &c->body, &c->pause_reason};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		*fields[i] = arena_str(a, *fields[i]);
	return c;
}
