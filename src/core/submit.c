/* SPDX-License-Identifier: Apache-2.0 */
/* New tasks: ids, twins by unique key, the first row, and a place in the queue. */
#include "core/internal.h"

#define NOTICE_EACH_UP_TO 100 /* larger submits are announced once, by their batch */

static struct task_row first_row(
    struct core *c, const struct queue *q, const struct submit_task *s, rid batch)
{
	struct task_row row = {.ctime_ms = c->now_ms, .spec = s->spec};

	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	row.spec.batch = batch;
	row.state.status = s->status;
	row.state.rank = queue_rank(q, s->spec.priority);
	row.state.exit_code = -1;
	row.state.mtime_ms = c->now_ms;
	if (s->spec.run_after_ms > c->now_ms)
		row.state.due_ms = s->spec.run_after_ms;
	return row;
}

/* A row that memory has no place for: written, counted, and left to the store. */
static void store_only(
    struct core *c, struct queue *q, const struct task_row *row, struct effects *out)
{
	struct task counted = {.row.state = row->state};

	batch_add(&out->batch, ROW_TASK_INSERT)->task = task_row_copy(&out->batch.arena, row);
	queue_count(q, &counted, row->state.status, +1);
}

static void take_in(
    struct core *c, struct queue *q, const struct task_row *row, struct effects *out)
{
	struct window *w = row->state.due_ms > 0 ? &q->due : &q->ready;
	struct task *t;

	if (row->state.status != TASK_QUEUED || !window_wants(w, row)) {
		store_only(c, q, row, out);
		return;
	}
	t = task_new(c, row);
	task_insert(c, t, out);
	task_enqueue(c, t, out);
}

static void announce(struct core *c, const struct task_row *row, struct effects *out)
{
	struct notice *n = effects_notice(out, "task.submitted");

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->task = row->id;
	n->queue = row->spec.queue;
	n->batch = row->spec.batch;
	n->status = row->state.status;
	n->exit_code = -1;
}

static void announce_batch(struct core *c, rid batch, size_t n_tasks, struct effects *out)
{
	struct notice *n = effects_notice(out, "task.submitted");

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->batch = batch;
	n->status = TASK_QUEUED;
	n->exit_code = -1;
	n->detail = arena_strf(&out->batch.arena, "{\"count\":%zu}", n_tasks);
}

static struct outcome submit_one(struct core *c, const struct event *ev,
    const struct submit_task *s, rid batch, struct effects *out)
{
	struct queue *q = queue_find(c, s->spec.queue);
	struct task_row row;
	rid twin;

	if (!q)
		return (struct outcome){
		    .code = ERR_NOT_FOUND, .why = "the queue was deleted meanwhile"};
	if (s->spec.key.p && (twin = lane_key_holder(c, s->spec.queue, s->spec.key))) {
		struct task *t = task_find(c, twin);

		return (struct outcome){
		    .id = twin, .twin = true, .status = t ? t->row.state.status : TASK_QUEUED};
	}
	row = first_row(c, q, s, batch);
	if (s->spec.key.p)
		lane_take_key(c, s->spec.queue, s->spec.key, row.id);
	if (s->spec.schedule)
		schedule_task_live(c, s->spec.schedule, row.id, s->spec.queue);
	if (ev->submit.n <= NOTICE_EACH_UP_TO)
		announce(c, &row, out);
	take_in(c, q, &row, out);
	return (struct outcome){.id = row.id, .status = row.state.status};
}

rid submit_alone(struct core *c, const struct submit_task *t, struct effects *out)
{
	struct event one = {.submit = {.n = 1}};

	return submit_one(c, &one, t, 0, out).id;
}

void submit_run(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct outcome *o = arena_alloc(&out->batch.arena, (ev->submit.n + 1) * sizeof *o);
	rid batch = ev->submit.batch;
	bool is_new = false;

	if (!batch && ev->submit.n > 1)
		batch = id_next(c->last_id, c->now_ms); /* the id of its first task */
	for (size_t i = 0; i < ev->submit.n; i++) {
		o[i] = submit_one(c, ev, &ev->submit.tasks[i], batch, out);
		is_new |= o[i].id && !o[i].twin;
	}
	if (!is_new) /* nobody may join what no task is in: its number is still to be given */
		batch = ev->submit.batch;
	if (ev->submit.n > NOTICE_EACH_UP_TO)
		announce_batch(c, batch, ev->submit.n, out);
	r->id = batch;
	r->outcomes = o;
	r->n = ev->submit.n;
}
