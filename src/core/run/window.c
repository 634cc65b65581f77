/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: the head of a queue in memory, the rest in the store.
 *
 * The rule: every waiting task of the queue whose place is at or before the window's last one is
 * in the window; if the window is complete, every one is. So a newcomer is kept when it sorts
 * before the last one (or the window is complete), and otherwise left to the store.
 *
 * A refill reads the store after the batch that asked for it is durable, so it sees every task
 * that was turned away before. While it is under way nothing is turned away and nothing is
 * trimmed; when it has come back, what lies beyond its last row is dropped again, unless the read
 * reached the end. The merge of what is here and what was read is then exact.
 */
#include "core/state.h"

#include <stdlib.h>

static int key_cmp(const struct task *a, const struct task *b)
{
	if (a->key.a != b->key.a)
		return a->key.a < b->key.a ? -1 : 1;
	return a->key.b < b->key.b ? -1 : a->key.b > b->key.b;
}

RB_PROTOTYPE(task_tree, task, in_window, key_cmp)
RB_GENERATE(task_tree, task, in_window, key_cmp)

void window_init(struct window *w, struct queue *q, bool is_due)
{
	*w = (struct window){.queue = q, .is_due = is_due, .complete = true};
	RB_INIT(&w->tree);
}

static struct window_key key_of(const struct window *w, const struct task_row *row)
{
	if (w->is_due)
		return (struct window_key){row->state.due_ms, row->id};
	if (w->queue->row.order == ORDER_LIFO)
		return (struct window_key){row->state.rank, ~row->id};
	return (struct window_key){row->state.rank, row->id};
}

static size_t weight(const struct task *t)
{
	return t->row.spec.body.n + t->row.spec.labels.n + t->row.spec.need.n +
	       t->row.state.history.n + t->row.state.deeds.n;
}

struct task *window_first(struct window *w)
{
	return RB_MIN(task_tree, &w->tree);
}

struct task *window_last(struct window *w)
{
	return RB_MAX(task_tree, &w->tree);
}

struct task *window_next(struct task *t)
{
	return RB_NEXT(task_tree, &t->window->tree, t);
}

struct task *window_from(struct window *w, struct window_key key)
{
	struct task probe = {.key = key};

	return RB_NFIND(task_tree, &w->tree, &probe);
}

bool window_wants(const struct window *w, const struct task_row *row)
{
	struct task probe = {.key = key_of(w, row)};
	struct task *last;

	if (w->complete || w->reading)
		return true;
	last = RB_MAX(task_tree, &((struct window *)w)->tree);
	return last && key_cmp(&probe, last) < 0;
}

void window_put(struct core *c, struct window *w, struct task *t)
{
	MUST(!t->window);
	t->key = key_of(w, &t->row);
	MUST(RB_INSERT(task_tree, &w->tree, t) == NULL);
	t->window = w;
	w->n++;
	w->bytes += weight(t);
	if (!w->is_due)
		shape_enter(c, t);
}

void window_del(struct core *c, struct task *t)
{
	struct window *w = t->window;

	if (!w)
		return;
	RB_REMOVE(task_tree, &w->tree, t);
	t->window = NULL;
	w->n--;
	w->bytes -= weight(t);
	shape_leave(c, t);
}

static bool too_big(const struct core *c, const struct window *w)
{
	return w->n > c->o.window_tasks || (w->bytes > c->o.window_bytes && w->n > 1);
}

void window_trim(struct core *c, struct window *w)
{
	while (!w->reading && too_big(c, w)) {
		struct task *t = window_last(w);

		w->complete = false;
		window_del(c, t);
		task_forget(c, t);
	}
}

/* For a change of order: everything goes back to the store, to be read again. */
void window_clear(struct core *c, struct window *w)
{
	struct task *t;

	while ((t = window_last(w))) {
		w->complete = false;
		window_del(c, t);
		task_forget(c, t);
	}
}

uint64_t read_begin(struct core *c)
{
	GROW(c->outstanding, c->cap_outstanding, c->n_outstanding + 1);
	c->outstanding[c->n_outstanding++] = ++c->last_read;
	return c->last_read;
}

void read_end(struct core *c, uint64_t number)
{
	size_t i = 0;

	while (i < c->n_outstanding && c->outstanding[i] != number)
		i++;
	MUST(i < c->n_outstanding);
	for (c->n_outstanding--; i < c->n_outstanding; i++)
		c->outstanding[i] = c->outstanding[i + 1];
}

static void ask(struct core *c, struct window *w, struct effects *out)
{
	struct read_ask *r = effects_read(out, w->is_due ? READ_DUE : READ_HEAD);
	struct task *last = window_last(w);

	r->number = w->reading = read_begin(c);
	w->is_from_head = !last;
	if (last)
		w->from = last->key;
	/* rows of volatile runs say "queued", and those on hold are not for the window either: they
	 * must not fill the whole answer */
	w->limit = c->o.window_tasks + (uint32_t)(c->o.is_volatile ? w->queue->n_claimed : 0) +
	           (uint32_t)(w->is_due ? w->queue->n_on_hold : 0);
	if (w->is_due)
		r->due = (struct due_query){w->queue->row.id, last != NULL,
		    last ? last->row.state.due_ms : 0, last ? last->row.id : 0, w->limit};
	else
		r->head = (struct head_query){w->queue->row.id, w->queue->row.order, last != NULL,
		    last ? last->row.state.rank : 0, last ? last->row.id : 0, w->limit};
}

void window_refill(struct core *c, struct window *w, struct effects *out)
{
	if (w->complete || w->reading || timer_is_set(&c->retry_reads))
		return;
	if (w->n * 2 < c->o.window_tasks && w->bytes * 2 < c->o.window_bytes)
		ask(c, w, out);
}

/* A row as the store has it: what is in memory already is newer and wins. */
static void merge_row(struct core *c, struct window *w, const struct task_row *row)
{
	struct task *t = task_find(c, row->id);

	if (!t) {
		t = task_new(c, row);
	} else if (t->ghost_read && t->row.state.status == TASK_QUEUED && !t->worker) {
		/* turned away while this read was under way */
		if ((t->row.state.due_ms > 0) != w->is_due)
			return;
		task_unghost(c, t);
	} else {
		return;
	}
	window_put(c, w, t);
}

/* Newcomers beyond the last row that was read: tasks that were not read may lie before them. */
static void drop_beyond(struct core *c, struct window *w, const struct task_row *row)
{
	struct task boundary = {.key = key_of(w, row)};
	struct task *t;

	while ((t = window_last(w)) && key_cmp(t, &boundary) > 0) {
		window_del(c, t);
		task_forget(c, t);
	}
}

/* The read failed: what came in meanwhile may lie behind tasks that were not read. */
static void drop_unread(struct core *c, struct window *w)
{
	struct task boundary = {.key = w->from};
	struct task *t;

	while ((t = window_last(w)) && (w->is_from_head || key_cmp(t, &boundary) > 0)) {
		window_del(c, t);
		task_forget(c, t);
	}
}

static void wake_all(struct core *c, struct timer *t, struct effects *out)
{
	struct queue *q;

	EACH_OBJECT(q, c, KIND_QUEUE)
	queue_ready(c, q);
}

/* One has failed: all are tried again in a while. */
static void reads_retry(struct core *c)
{
	timer_set(c, TIMER_MONO, &c->retry_reads, c->mono_ms + 1000, 0, wake_all);
}

void window_read(struct core *c, const struct event *ev, struct effects *out)
{
	struct queue *q = queue_find(c, ev->rows.queue);
	struct window *w;

	read_end(c, ev->rows.read);
	if (!q)
		return;
	w = ev->kind == EV_DUE_READ ? &q->due : &q->ready;
	if (w->reading != ev->rows.read)
		return; /* the order was changed meanwhile; a newer read is under way */
	w->reading = 0;
	if (ev->rows.failed) {
		drop_unread(c, w);
		queue_set_wake(c, q);
		reads_retry(c);
		return;
	}
	for (size_t i = 0; i < ev->rows.n; i++)
		merge_row(c, w, &ev->rows.rows[i]);
	w->complete = ev->rows.n < w->limit;
	if (!w->complete)
		drop_beyond(c, w, &ev->rows.rows[ev->rows.n - 1]);
	if (w->is_due && w->complete && q->delayed_unknown) {
		q->n_delayed = (int64_t)w->n + q->n_on_hold;
		q->delayed_unknown = false;
	}
	window_trim(c, w);
	queue_ready(c, q);
	queue_set_wake(c, q);
}
