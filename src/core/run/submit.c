/* SPDX-License-Identifier: Apache-2.0 */
/* New tasks: ids, twins by unique key, the first row, and a place in the queue. */
#include "core/state.h"

#define NOTICE_EACH_UP_TO 100  /* larger submits are announced once, by their batch */
#define SLICE_BYTES (1u << 20) /* of long submits: what goes into memory is copied */

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

static void take_in(struct core *c, struct queue *q, struct task_row *row, struct effects *out)
{
	struct window *w = row->state.due_ms > 0 ? &q->due : &q->ready;
	struct task counted = {.row.state = row->state};

	if (row->state.status == TASK_QUEUED && window_wants(w, row)) {
		struct task *t = task_new(c, row);

		task_insert(c, t, row, out);
		task_enqueue(c, t, out);
		return;
	}
	/* memory has no place for it: written, counted, and left to the store */
	batch_insert(&out->batch, &task_table, row);
	queue_count(q, &counted, row->state.status, +1);
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
	struct arena *a = &out->batch.arena;
	struct task_row row, *kept;
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
	owner_task_live(c, &s->spec.owner, row.id, s->spec.queue);
	if (ev->submit.n <= NOTICE_EACH_UP_TO)
		announce(c, &row, out);
	/* a long submit's strings are in the batch already */
	kept = ev->submit.arena ? arena_memdup(a, &row, sizeof row) : row_new(a, &task_table, &row);
	take_in(c, q, kept, out);
	return (struct outcome){.id = row.id, .status = row.state.status};
}

rid submit_alone(struct core *c, const struct submit_task *t, struct effects *out)
{
	struct event one = {.submit = {.n = 1}};

	return submit_one(c, &one, t, 0, out).id;
}

/* Several tasks are a batch, whose id is that of its first one. */
static rid batch_of(const struct core *c, const struct event *ev)
{
	if (ev->submit.batch || ev->submit.n <= 1)
		return ev->submit.batch;
	return id_next(c->last_id, c->now_ms);
}

static void begin(struct core *c, struct pending *p, struct effects *out)
{
	const struct event *ev = &p->event;

	arena_adopt(&out->batch.arena, &p->arena);
	p->outcomes = arena_alloc(&out->batch.arena, (ev->submit.n + 1) * sizeof *p->outcomes);
	p->batch = batch_of(c, ev);
}

bool submit_slice(struct core *c, struct pending *p, struct effects *out)
{
	const struct event *ev = &p->event;
	size_t end, bytes = 0;

	if (p->idem && p->idem->key.p)
		return true;
	if (!p->outcomes)
		begin(c, p, out);
	end = ev->submit.n - p->n_taken > c->o.submit_slice ? p->n_taken + c->o.submit_slice
	                                                    : ev->submit.n;
	for (; p->n_taken < end && bytes < SLICE_BYTES; p->n_taken++) {
		const struct submit_task *t = &ev->submit.tasks[p->n_taken];

		p->outcomes[p->n_taken] = submit_one(c, ev, t, p->batch, out);
		bytes += t->spec.body.n;
	}
	if (!ev->submit.batch && c->last_id < p->batch)
		c->last_id = p->batch; /* its first tasks are twins: nobody else may have it */
	return p->n_taken == ev->submit.n;
}

static const struct outcome *run_at_once(
    struct core *c, const struct event *ev, rid batch, struct effects *out)
{
	struct outcome *o = arena_alloc(&out->batch.arena, (ev->submit.n + 1) * sizeof *o);

	for (size_t i = 0; i < ev->submit.n; i++)
		o[i] = submit_one(c, ev, &ev->submit.tasks[i], batch, out);
	return o;
}

static bool any_new(const struct outcome *o, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (o[i].id && !o[i].twin)
			return true;
	return false;
}

void submit_run(struct core *c, const struct event *ev, const struct pending *p, struct reply *r,
    struct effects *out)
{
	bool in_slices = p && p->outcomes;

	r->id = in_slices ? p->batch : batch_of(c, ev);
	r->outcomes = in_slices ? p->outcomes : run_at_once(c, ev, r->id, out);
	if (!any_new(r->outcomes, ev->submit.n))
		r->id = ev->submit.batch; /* nobody may join what no task is in */
	if (ev->submit.n > NOTICE_EACH_UP_TO)
		announce_batch(c, r->id, ev->submit.n, out);
	r->n = ev->submit.n;
}
