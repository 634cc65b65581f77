/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of the memory backend: their orders, and what keeps them consistent. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/memory/memory.h"

#define THREE_WAY(x, y) ((x) < (y) ? -1 : (x) > (y))

static int mem_compare_id(const struct mem_task *x, const struct mem_task *y)
{
	return THREE_WAY(x->row->id, y->row->id);
}

static int mem_compare_rank(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = THREE_WAY(x->row->state.rank, y->row->state.rank);
	return c ? c : mem_compare_id(x, y);
}

static int mem_compare_due(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = THREE_WAY(x->row->state.due_ms, y->row->state.due_ms);
	return c ? c : mem_compare_id(x, y);
}

static int mem_compare_key(const struct mem_task *x, const struct mem_task *y)
{
	int c = THREE_WAY(x->row->spec.queue, y->row->spec.queue);

	if (!c)
		c = str_cmp(x->row->spec.key, y->row->spec.key);
	return c ? c : mem_compare_id(x, y);
}

static int mem_compare_output(const struct mem_row *x, const struct mem_row *y)
{
	const struct output_row *a = x->row, *b = y->row;
	int c = THREE_WAY(a->task, b->task);

	if (!c)
		c = THREE_WAY(a->token, b->token);
	if (!c)
		c = THREE_WAY(a->stream, b->stream);
	return c ? c : THREE_WAY(a->offset, b->offset);
}

static int mem_compare_tick(const struct mem_row *x, const struct mem_row *y)
{
	const struct tick_row *a = x->row, *b = y->row;
	int c = THREE_WAY(a->schedule, b->schedule);

	if (!c)
		c = THREE_WAY(a->tick_s, b->tick_s);
	return c ? c : THREE_WAY(a->offset_s, b->offset_s);
}

static int mem_compare_num(const struct mem_row *x, const struct mem_row *y)
{
	return THREE_WAY(*(const uint64_t *)x->row, *(const uint64_t *)y->row);
}

static int mem_compare_name(const struct mem_row *x, const struct mem_row *y)
{
	return str_cmp(*(const struct str *)x->row, *(const struct str *)y->row);
}

RB_GENERATE(mem_ids, mem_task, by_id, mem_compare_id)
RB_GENERATE(mem_ready, mem_task, by_rank, mem_compare_rank)
RB_GENERATE(mem_due, mem_task, by_due, mem_compare_due)
RB_GENERATE(mem_keys, mem_task, by_key, mem_compare_key)
RB_GENERATE(mem_outputs, mem_row, entry, mem_compare_output)
RB_GENERATE(mem_ticks, mem_row, entry, mem_compare_tick)
RB_GENERATE(mem_nums, mem_row, entry, mem_compare_num)
RB_GENERATE(mem_names, mem_row, entry, mem_compare_name)

_Static_assert(offsetof(struct queue_row, id) == 0 && offsetof(struct worker_row, id) == 0 &&
                   offsetof(struct event_row, seq) == 0 && offsetof(struct idem_row, key) == 0 &&
                   offsetof(struct meta_row, name) == 0 && offsetof(struct schedule_row, id) == 0,
    "the trees compare the first field");

struct mem_task *mem_task_find(struct mem_store *s, rid id)
{
	struct task_row row = {.id = id};
	struct mem_task probe = {.row = &row};

	return RB_FIND(mem_ids, &s->tasks, &probe);
}

void mem_task_link(struct mem_store *s, struct mem_task *t)
{
	bool queued = t->row->state.status == TASK_QUEUED;

	t->is_ready = queued && t->row->state.due_ms <= 0;
	t->is_due = queued && t->row->state.due_ms > 0;
	t->is_keyed = t->row->spec.key.p && !task_is_ended(t->row->state.status);
	if (t->is_ready)
		RB_INSERT(mem_ready, &s->ready, t);
	if (t->is_due)
		RB_INSERT(mem_due, &s->due, t);
	if (t->is_keyed)
		RB_INSERT(mem_keys, &s->keys, t);
}

void mem_task_unlink(struct mem_store *s, struct mem_task *t)
{
	if (t->is_ready)
		RB_REMOVE(mem_ready, &s->ready, t);
	if (t->is_due)
		RB_REMOVE(mem_due, &s->due, t);
	if (t->is_keyed)
		RB_REMOVE(mem_keys, &s->keys, t);
	t->is_ready = t->is_due = t->is_keyed = false;
}

void mem_task_add(struct mem_store *s, struct task_row *owned)
{
	struct mem_task *t = xcalloc(1, sizeof *t);

	t->row = owned;
	MUST(RB_INSERT(mem_ids, &s->tasks, t) == NULL);
	mem_task_link(s, t);
	if (owned->id > s->last_id)
		s->last_id = owned->id;
}

static void free_output(struct mem_store *s, struct mem_row *r)
{
	RB_REMOVE(mem_outputs, &s->outputs, r);
	free(r->row);
	free(r);
}

static void remove_outputs(struct mem_store *s, rid task)
{
	struct output_row row = {.task = task, .token = INT64_MIN, .stream = INT32_MIN};
	struct mem_row probe = {.row = &row}, *r, *next;

	for (r = RB_NFIND(mem_outputs, &s->outputs, &probe);
	     r && ((struct output_row *)r->row)->task == task; r = next) {
		next = RB_NEXT(mem_outputs, &s->outputs, r);
		free_output(s, r);
	}
}

void mem_task_remove(struct mem_store *s, struct mem_task *t)
{
	mem_task_unlink(s, t);
	RB_REMOVE(mem_ids, &s->tasks, t);
	remove_outputs(s, t->row->id);
	free(t->row);
	free(t);
}

void mem_num_put(struct mem_nums *tree, const struct row_table *t, const void *row)
{
	struct mem_row *r = xcalloc(1, sizeof *r), *old;

	r->row = row_dup(t, row);
	old = RB_INSERT(mem_nums, tree, r);
	if (!old)
		return;
	free(old->row);
	old->row = r->row;
	free(r);
}

static struct mem_row *num_find(struct mem_nums *tree, uint64_t id)
{
	struct mem_row probe = {.row = &id};

	return RB_FIND(mem_nums, tree, &probe);
}

void *mem_num_get(struct mem_nums *tree, uint64_t id)
{
	struct mem_row *r = num_find(tree, id);

	return r ? r->row : NULL;
}

void mem_num_del(struct mem_nums *tree, uint64_t id)
{
	struct mem_row *r = num_find(tree, id);

	if (!r)
		return;
	RB_REMOVE(mem_nums, tree, r);
	free(r->row);
	free(r);
}

void mem_name_put(struct mem_names *tree, const struct row_table *t, const void *row)
{
	struct mem_row *r = xcalloc(1, sizeof *r), *old;

	r->row = row_dup(t, row);
	old = RB_INSERT(mem_names, tree, r);
	if (!old)
		return;
	free(old->row);
	old->row = r->row;
	free(r);
}

void *mem_name_get(struct mem_names *tree, struct str name)
{
	struct mem_row probe = {.row = &name}, *r = RB_FIND(mem_names, tree, &probe);

	return r ? r->row : NULL;
}

void mem_output_put(struct mem_store *s, const struct output_row *row)
{
	struct mem_row *r = xcalloc(1, sizeof *r), *old;

	r->row = row_dup(&output_table, row);
	old = RB_INSERT(mem_outputs, &s->outputs, r);
	if (!old)
		return;
	free(old->row);
	old->row = r->row;
	free(r);
}

struct mem_row *mem_output_at(
    struct mem_store *s, rid task, int64_t token, int stream, int64_t offset)
{
	struct output_row row = {.task = task, .token = token, .stream = stream, .offset = offset};
	struct mem_row probe = {.row = &row}, *r = RB_NFIND(mem_outputs, &s->outputs, &probe),
	               *prev;
	const struct output_row *o;

	if (r && mem_compare_output(r, &probe) == 0)
		return r;
	prev = r ? RB_PREV(mem_outputs, &s->outputs, r) : RB_MAX(mem_outputs, &s->outputs);
	if (!prev)
		return r;
	o = prev->row;
	return o->task == task && o->token == token && o->stream == stream ? prev : r;
}

static void clear_nums(struct mem_nums *tree)
{
	while (!RB_EMPTY(tree))
		mem_num_del(tree, *(uint64_t *)RB_ROOT(tree)->row);
}

static void clear_names(struct mem_names *tree)
{
	struct mem_row *r;

	while ((r = RB_ROOT(tree))) {
		RB_REMOVE(mem_names, tree, r);
		free(r->row);
		free(r);
	}
}

void mem_clear(struct mem_store *s)
{
	while (!RB_EMPTY(&s->tasks))
		mem_task_remove(s, RB_ROOT(&s->tasks));
	while (!RB_EMPTY(&s->outputs))
		free_output(s, RB_ROOT(&s->outputs));
	clear_nums(&s->queues);
	clear_nums(&s->workers);
	clear_nums(&s->tokens);
	clear_nums(&s->schedules);
	mem_ticks_clear(s);
	clear_nums(&s->events);
	clear_names(&s->idems);
	clear_names(&s->metas);
}
