/* SPDX-License-Identifier: Apache-2.0 */
/* The memory backend's lookups: one task, a queue's head, keys, output, events. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/chunk.h"
#include "store/memory/memory.h"

struct store_reader *mem_reader_open(struct store *base, struct problem *ret_problem)
{
	struct mem_reader *r = xcalloc(1, sizeof *r);

	r->base.ops = &store_memory;
	r->s = (struct mem_store *)base;
	return &r->base;
}

void mem_reader_close(struct store_reader *base)
{
	free(base);
}

static bool copy_task(struct mem_store *s, rid id, struct arena *a, struct task_row *ret_row)
{
	struct mem_task *t = mem_task_find(s, id);

	if (t)
		row_copy(&task_table, a, t->row, 0, ret_row);
	return t;
}

int mem_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	bool found;

	pthread_mutex_lock(&s->mutex);
	found = copy_task(s, id, a, ret_row);
	pthread_mutex_unlock(&s->mutex);
	return found ? 0 : ERR_NOT_FOUND;
}

int mem_tasks_get(
    struct store_reader *base, const rid *ids, size_t n, struct arena *a, struct task_row *ret_rows)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;

	pthread_mutex_lock(&s->mutex);
	for (size_t i = 0; i < n; i++)
		if (!copy_task(s, ids[i], a, &ret_rows[i]))
			ret_rows[i] = (struct task_row){0};
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_task_head(
    struct store_reader *base, rid id, size_t max, struct arena *a, struct str *ret_head)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;

	pthread_mutex_lock(&s->mutex);
	t = mem_task_find(s, id);
	if (t) {
		struct str body = t->row->spec.body;

		body.n = body.n < max ? body.n : max;
		*ret_head = arena_str(a, body);
	}
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

/* The first ready task of the queue at or behind (rank, id); NULL at the queue's end. */
static struct mem_task *ready_from(struct mem_store *s, rid queue, int64_t rank, rid id)
{
	struct task_row row = {.id = id, .spec.queue = queue, .state.rank = rank};
	struct mem_task probe = {.row = &row}, *t = RB_NFIND(mem_ready, &s->ready, &probe);

	return t && t->row->spec.queue == queue ? t : NULL;
}

/* The newest of that rank below `id`. */
static struct mem_task *ready_below(struct mem_store *s, rid queue, int64_t rank, rid id)
{
	struct task_row row = {.id = id, .spec.queue = queue, .state.rank = rank};
	struct mem_task probe = {.row = &row}, *t = RB_NFIND(mem_ready, &s->ready, &probe);

	t = t ? RB_PREV(mem_ready, &s->ready, t) : RB_MAX(mem_ready, &s->ready);
	return t && t->row->spec.queue == queue && t->row->state.rank == rank ? t : NULL;
}

static struct mem_task *next_lifo(struct mem_store *s, rid queue, int64_t rank, rid id)
{
	struct mem_task *t = ready_below(s, queue, rank, id);

	if (t || rank == INT64_MAX)
		return t;
	t = ready_from(s, queue, rank + 1, 0);
	return t ? ready_below(s, queue, t->row->state.rank, INT64_MAX) : NULL;
}

static struct mem_task *next_head(
    struct mem_store *s, const struct head_query *q, bool after, int64_t rank, rid id)
{
	if (q->order != ORDER_LIFO)
		return after ? ready_from(s, q->queue, rank, id + 1)
		             : ready_from(s, q->queue, INT64_MIN, 0);
	return next_lifo(s, q->queue, after ? rank : INT64_MIN, after ? id : INT64_MAX);
}

static void add_row(struct arena *a, const struct task_row *row, struct task_row *rows, size_t *n)
{
	row_copy(&task_table, a, row, 0, &rows[(*n)++]);
}

int mem_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;

	*ret_rows = arena_alloc(a, q->limit * sizeof **ret_rows);
	pthread_mutex_lock(&s->mutex);
	for (t = next_head(s, q, q->after, q->rank, q->id); t && *ret_n < q->limit;
	     t = next_head(s, q, true, t->row->state.rank, t->row->id))
		add_row(a, t->row, *ret_rows, ret_n);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct task_row row = {.spec.queue = q->queue};
	struct mem_task probe = {.row = &row}, *t;

	if (q->after) {
		row.state.due_ms = q->due_ms;
		row.id = q->id + 1;
	}
	*ret_rows = arena_alloc(a, q->limit * sizeof **ret_rows);
	pthread_mutex_lock(&s->mutex);
	for (t = RB_NFIND(mem_due, &s->due, &probe);
	     t && t->row->spec.queue == q->queue && *ret_n < q->limit;
	     t = RB_NEXT(mem_due, &s->due, t))
		add_row(a, t->row, *ret_rows, ret_n);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct task_row row = {.spec = {.queue = queue, .key = key}};
	struct mem_task probe = {.row = &row}, *t;

	pthread_mutex_lock(&s->mutex);
	t = RB_NFIND(mem_keys, &s->keys, &probe);
	if (t && t->row->spec.queue == queue && str_eq(t->row->spec.key, key))
		*ret_id = t->row->id;
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct idem_row probe = {.key = key};
	struct mem_row *r;
	bool found;

	pthread_mutex_lock(&s->mutex);
	r = mem_from(s, &idem_table, 1, &probe);
	found = r && row_compare(&idem_table, 1, r->row, &probe) == 0;
	if (found)
		row_copy(&idem_table, a, r->row, 0, ret_row);
	pthread_mutex_unlock(&s->mutex);
	return found ? 0 : ERR_NOT_FOUND;
}

/* The last chunk that begins at or before `offset`, or the first after it. */
static struct mem_row *chunk_at(
    struct mem_store *s, rid task, int64_t token, int stream, int64_t offset)
{
	struct output_row at = {.task = task, .token = token, .stream = stream, .offset = offset};
	struct mem_row *r = mem_from(s, &output_table, 4, &at), *before;

	if (r && row_compare(&output_table, 4, r->row, &at) == 0)
		return r;
	before = mem_before(s, &output_table, r);
	return before && row_compare(&output_table, 3, before->row, &at) == 0 ? before : r;
}

static int read_chunks(struct mem_store *s, rid task, int64_t token, int stream, size_t max,
    struct buf *out, int64_t *at)
{
	int64_t from = *at;
	struct mem_row *r = chunk_at(s, task, token, stream, from);
	int rc = 0;

	for (; r && rc == 0 && (uint64_t)(*at - from) < max; r = mem_next(r)) {
		const struct output_row *o = r->row;

		if (o->task != task || o->token != token || o->stream != stream)
			break;
		rc = chunk_append(o, out, at);
	}
	return rc < 0 ? rc : 0;
}

int mem_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;
	int rc = 0;

	pthread_mutex_lock(&s->mutex);
	t = mem_task_find(s, task);
	if (!t)
		rc = ERR_NOT_FOUND;
	else if (t->row->state.output_where == OUTPUT_INLINE && t->row->state.token == token)
		inline_append(t->row->state.output[stream], max, out, &ret_end->at);
	else
		rc = read_chunks(s, task, token, stream, max, out, &ret_end->at);
	pthread_mutex_unlock(&s->mutex);
	return rc;
}

static void read_events(struct mem_row *r, uint32_t limit, struct arena *a, struct event_page *page)
{
	size_t n = 0;

	for (struct mem_row *x = r; x && n < limit; x = mem_next(x))
		n++;
	page->rows = arena_alloc(a, n * sizeof *page->rows);
	for (; r && page->n < n; r = mem_next(r))
		row_copy(&event_table, a, r->row, 0, &page->rows[page->n++]);
}

/* The first event at or behind this number; NULL: there is none. */
static struct mem_row *event_from(struct mem_store *s, uint64_t seq)
{
	return seq > INT64_MAX ? NULL : mem_from(s, &event_table, 1, &seq);
}

int mem_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;

	pthread_mutex_lock(&s->mutex);
	if (after < UINT64_MAX)
		read_events(event_from(s, after + 1), limit, a, ret_page);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_events_before(struct store_reader *base, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_row *r, *first = NULL;
	uint32_t n = 0;

	pthread_mutex_lock(&s->mutex);
	r = mem_before(s, &event_table, event_from(s, before));
	for (; r && n < limit; r = RB_PREV(mem_rows, NULL, r), n++)
		first = r;
	read_events(first, n, a, ret_page);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;

	pthread_mutex_lock(&s->mutex);
	ret_page->anchor = s->anchor;
	ret_page->head = s->head;
	read_events(event_from(s, after + 1), limit, a, &ret_page->events);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}
