/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: their index, their counts, their timers, and the commands that change them. */
#include "core/internal.h"

#include <stdlib.h>

int queue_id_cmp(const struct queue *a, const struct queue *b)
{
	return a->row.id < b->row.id ? -1 : a->row.id > b->row.id;
}

int queue_name_cmp(const struct queue *a, const struct queue *b)
{
	return str_cmp(a->row.name, b->row.name);
}

RB_GENERATE(queue_ids, queue, by_id, queue_id_cmp)
RB_GENERATE(queue_names, queue, by_name, queue_name_cmp)

struct queue *queue_find(const struct core *c, rid id)
{
	struct queue probe = {.row.id = id};

	return RB_FIND(queue_ids, &((struct core *)c)->queues, &probe);
}

struct queue *queue_find_name(const struct core *c, struct str name)
{
	struct queue probe = {.row.name = name};

	return RB_FIND(queue_names, &((struct core *)c)->queue_names, &probe);
}

static void own_str(struct str *s)
{
	if (s->p)
		s->p = xstrndup(s->p, s->n);
}

static void set_str(struct str *field, struct str value)
{
	free((char *)field->p);
	*field = value;
	own_str(field);
}

/* Enters a connected worker that serves the queue, or renews its entry. */
void queue_consider(struct core *c, struct queue *q, struct worker *w)
{
	if (!w->link || worker_unserved(c, w, q))
		return;
	for (size_t i = 0; i < q->n_eligible; i++)
		if (q->eligible[i].worker == w) {
			q->eligible[i].generation = w->generation;
			return;
		}
	GROW(q->eligible, q->cap_eligible, q->n_eligible + 1);
	q->eligible[q->n_eligible++] = (struct eligible){w, w->generation};
}

/* Again after a change of plugin or name: other workers may serve it then. */
static void find_workers(struct core *c, struct queue *q)
{
	struct worker *w;

	q->n_eligible = 0;
	RB_FOREACH (w, worker_ids, &c->workers)
		queue_consider(c, q, w);
}

struct queue *queue_add(struct core *c, const struct queue_row *row)
{
	struct queue *q = xcalloc(1, sizeof *q);

	q->row = *row;
	own_str(&q->row.name);
	own_str(&q->row.plugin);
	own_str(&q->row.pause_reason);
	own_str(&q->row.env);
	own_str(&q->row.run);
	window_init(&q->ready, q, false);
	window_init(&q->due, q, true);
	MUST(!RB_INSERT(queue_ids, &c->queues, q));
	MUST(!RB_INSERT(queue_names, &c->queue_names, q));
	queue_set_wake(c, q);
	return q;
}

static void leave_line(struct core *c, struct queue *q)
{
	if (q->line == LINE_ROTATION)
		TAILQ_REMOVE(&c->rotation, q, in_line);
	else if (q->line == LINE_STALLED)
		TAILQ_REMOVE(&c->stalled, q, in_line);
	q->line = LINE_NONE;
}

void queue_free(struct core *c, struct queue *q)
{
	leave_line(c, q);
	heap_del(&c->wall_timers, &q->wake);
	RB_REMOVE(queue_ids, &c->queues, q);
	RB_REMOVE(queue_names, &c->queue_names, q);
	free((char *)q->row.name.p);
	free((char *)q->row.plugin.p);
	free((char *)q->row.pause_reason.p);
	free((char *)q->row.env.p);
	free((char *)q->row.run.p);
	free(q->eligible);
	free(q);
}

void queue_count(struct queue *q, const struct task *t, int status, int delta)
{
	switch (task_phase(status)) {
	case PHASE_HELD: q->n_held += delta; break;
	case PHASE_QUEUED:
		q->n_queued += delta;
		if (t->row.state.due_ms > 0 && !q->delayed_unknown)
			q->n_delayed += delta;
		break;
	case PHASE_CLAIMED: q->n_claimed += delta; break;
	case PHASE_RUNNING: q->n_running += delta; break;
	default: break;
	}
}

/* The lifetime counters are written once per batch, whatever happens in it. */
void queue_count_end(struct core *c, struct queue *q, int status, struct effects *out)
{
	struct batch *b = &out->batch;

	if (status == TASK_SUCCEEDED)
		q->row.n_succeeded++;
	else if (status == TASK_FAILED)
		q->row.n_failed++;
	else
		q->row.n_other++;
	if (q->counts_seq != b->seq) {
		q->counts_seq = b->seq;
		q->counts_row = b->n;
		batch_add(b, ROW_QUEUE_COUNTS)->queue =
		    arena_memdup(&b->arena, &q->row, sizeof q->row);
	}
	*b->rows[q->counts_row].queue = (struct queue_row){.id = q->row.id,
	    .n_succeeded = q->row.n_succeeded,
	    .n_failed = q->row.n_failed,
	    .n_other = q->row.n_other};
}

int64_t queue_rank(const struct queue *q, int32_t priority)
{
	return q->row.order == ORDER_PRIORITY ? -(int64_t)priority : 0;
}

void queue_ready(struct core *c, struct queue *q)
{
	if (q->line == LINE_ROTATION)
		return;
	leave_line(c, q);
	q->line = LINE_ROTATION;
	TAILQ_INSERT_TAIL(&c->rotation, q, in_line);
}

void queue_set_wake(struct core *c, struct queue *q)
{
	struct task *t = window_first(&q->due);
	int64_t at = t ? t->row.state.due_ms : INT64_MAX;

	if (q->row.paused && q->row.paused_until_ms && q->row.paused_until_ms < at)
		at = q->row.paused_until_ms;
	if (at == INT64_MAX)
		heap_del(&c->wall_timers, &q->wake);
	else
		heap_put(&c->wall_timers, &q->wake, at, q->row.id);
}

static void resume(struct core *c, struct queue *q, struct str actor, struct effects *out)
{
	q->row.paused = 0;
	q->row.paused_until_ms = 0;
	set_str(&q->row.pause_reason, STR_NULL);
	q->row.version++;
	q->row.mtime_ms = c->now_ms;
	save_queue(c, q, out);
	audit(c, "queue.resumed", q->row.name, q->row.id, 0, actor, STR_NULL, out);
	queue_ready(c, q);
}

void queue_tick(struct core *c, struct queue *q, struct effects *out)
{
	struct task *t;

	if (q->row.paused && q->row.paused_until_ms && q->row.paused_until_ms <= c->now_ms)
		resume(c, q, STR("reeve"), out);
	while ((t = window_first(&q->due)) && t->row.state.due_ms <= c->now_ms) {
		window_del(t);
		if (hold_to_floor(c, t)) {
			hold_take(c, t);
			continue;
		}
		t->row.state.due_ms = 0;
		task_save(c, t, out); /* the store must count it among the ready ones */
		q->n_delayed -= !q->delayed_unknown;
		task_enqueue(c, t, out);
	}
	queue_set_wake(c, q);
}

/* What the store does to its rows (ROW_QUEUE_RERANK), done to those in memory. */
static void rerank_memory(struct core *c, struct queue *q)
{
	struct task *t;
	size_t at = 0;

	while ((t = hold_next(c, q, &at)))
		t->row.state.rank = queue_rank(q, t->row.spec.priority);
	TAILQ_FOREACH (t, &c->ghosts, in_ghosts)
		if (t->queue == q)
			t->row.state.rank = queue_rank(q, t->row.spec.priority);
	for (t = window_first(&q->due); t; t = window_next(t))
		t->row.state.rank = queue_rank(q, t->row.spec.priority);
}

static void change_order(struct core *c, struct queue *q, int32_t order, struct effects *out)
{
	struct row_op *op;

	if (q->row.order == order)
		return;
	window_clear(c, &q->ready);
	q->row.order = order;
	rerank_memory(c, q);
	q->ready.reading = 0; /* an answer under way is in the old order: it will be ignored */
	q->ready.complete = q->n_queued == 0;
	op = batch_add(&out->batch, ROW_QUEUE_RERANK);
	op->id = q->row.id;
	op->order = order;
}

static void apply(
    struct core *c, struct queue *q, const struct queue_change *ch, struct effects *out)
{
	const struct queue_row *n = &ch->row;

#define GIVEN(f) (ch->fields & (1u << (f)))
	if (GIVEN(QF_NAME)) {
		RB_REMOVE(queue_names, &c->queue_names, q);
		set_str(&q->row.name, n->name);
		RB_INSERT(queue_names, &c->queue_names, q);
	}
	if (GIVEN(QF_PLUGIN))
		set_str(&q->row.plugin, n->plugin);
	if (GIVEN(QF_ENV))
		set_str(&q->row.env, n->env);
	if (GIVEN(QF_RUN))
		set_str(&q->row.run, n->run);
	if (GIVEN(QF_THREADS))
		q->row.threads = n->threads;
	if (GIVEN(QF_TIMEOUT))
		q->row.timeout_ms = n->timeout_ms;
	if (GIVEN(QF_ATTEMPTS))
		q->row.max_attempts = n->max_attempts;
	if (GIVEN(QF_BACKOFF))
		q->row.backoff_ms = n->backoff_ms;
	if (GIVEN(QF_BACKOFF_MAX))
		q->row.backoff_max_ms = n->backoff_max_ms;
	if (GIVEN(QF_EXIT_CODES))
		q->row.exit_codes = n->exit_codes;
	if (GIVEN(QF_OUTPUT_MODE))
		q->row.output_mode = n->output_mode;
	if (GIVEN(QF_OUTPUT_MAX))
		q->row.output_max = n->output_max;
	if (GIVEN(QF_ORDER))
		change_order(c, q, n->order, out);
}

static int name_taken(struct core *c, struct str name, const struct queue *self, struct reply *r)
{
	struct queue *other = queue_find_name(c, name);

	if (!other || other == self)
		return 0;
	r->id = other->row.id;
	problem_set(
	    r->problem, ERR_CONFLICT, "there is a queue \"" STR_FMT "\" already", STR_ARG(name));
	return reply_hint(r, HINT_QUEUE_CHANGE, name);
}

static int create(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct queue_row row;
	struct queue *q;
	int e = name_taken(c, ev->queue.change->row.name, NULL, r);

	if (e)
		return e;
	queue_defaults(&row);
	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	row.name = ev->queue.change->row.name;
	row.ctime_ms = row.mtime_ms = c->now_ms;
	q = queue_add(c, &row);
	apply(c, q,
	    &(struct queue_change){
	        ev->queue.change->fields & ~(1u << QF_NAME), ev->queue.change->row},
	    out);
	find_workers(c, q); /* now that it has its plugin */
	r->id = row.id;
	save_queue(c, q, out);
	audit(c, "queue.created", q->row.name, q->row.id, 0, ev->actor, STR_NULL, out);
	return 0;
}

static int set(
    struct core *c, struct queue *q, const struct event *ev, struct reply *r, struct effects *out)
{
	int e = 0;

	if (ev->queue.change->fields & (1u << QF_NAME))
		e = name_taken(c, ev->queue.change->row.name, q, r);
	if (e)
		return e;
	apply(c, q, ev->queue.change, out);
	q->row.version++;
	q->row.mtime_ms = c->now_ms;
	find_workers(c, q);
	save_queue(c, q, out);
	audit(c, "queue.changed", q->row.name, q->row.id, 0, ev->actor, STR_NULL, out);
	queue_ready(c, q);
	return 0;
}

static int pause(struct core *c, struct queue *q, const struct event *ev, struct effects *out)
{
	q->row.paused = 1;
	q->row.paused_until_ms = ev->queue.until_ms;
	set_str(&q->row.pause_reason, ev->queue.reason);
	q->row.version++;
	q->row.mtime_ms = c->now_ms;
	queue_set_wake(c, q);
	save_queue(c, q, out);
	audit(c, "queue.paused", q->row.name, q->row.id, 0, ev->actor,
	    detail_of(&out->batch.arena, "reason", ev->queue.reason), out);
	return 0;
}

static void forget_tasks(struct core *c, struct window *w)
{
	struct task *t;

	while ((t = window_last(w)))
		task_free(c, t);
}

static void forget_held_back(struct core *c, struct queue *q)
{
	struct task *t;
	size_t at = 0;

	while ((t = hold_next(c, q, &at))) {
		task_free(c, t);
		at = 0; /* the others have moved */
	}
}

static void forget_ghosts(struct core *c, struct queue *q)
{
	struct task *t, *next;

	TAILQ_FOREACH_SAFE (t, &c->ghosts, in_ghosts, next)
		if (t->queue == q)
			task_free(c, t);
}

static int delete (
    struct core *c, struct queue *q, const struct event *ev, struct reply *r, struct effects *out)
{
	long long dispatched = q->n_claimed + q->n_running;
	long long live = dispatched + q->n_queued + q->n_held;
	struct str schedule;

	if (schedule_of_queue(c, q->row.id, &schedule)) {
		problem_set(r->problem, ERR_CONFLICT,
		    "the schedule \"" STR_FMT "\" submits its tasks to the queue",
		    STR_ARG(schedule));
		return problem_hint(r->problem, "remove it, or give it another queue, first");
	}
	if (live && !ev->queue.force) {
		problem_set(r->problem, ERR_CONFLICT, "the queue holds %lld live tasks", live);
		return problem_hint(r->problem, "wait for them, cancel them, or delete with force");
	}
	if (dispatched) {
		problem_set(
		    r->problem, ERR_CONFLICT, "%lld tasks of the queue are on workers", dispatched);
		return reply_hint(r, HINT_QUEUE_CANCEL, q->row.name);
	}
	if (c->start.waiting && q->n_queued) {
		problem_set(r->problem, ERR_CONFLICT,
		    "some of the queue's tasks may be running: the server waits for its workers");
		return reply_hint(r, HINT_START_WAIT, STR_NULL);
	}
	forget_tasks(c, &q->ready);
	forget_tasks(c, &q->due);
	forget_held_back(c, q);
	forget_ghosts(c, q);
	batch_add(&out->batch, ROW_QUEUE_DELETE)->id = q->row.id;
	audit(c, "queue.deleted", q->row.name, q->row.id, 0, ev->actor, STR_NULL, out);
	queue_free(c, q);
	return 0;
}

int run_queue_command(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct queue *q;

	if (ev->kind == EV_QUEUE_CREATE)
		return create(c, ev, r, out);
	q = queue_find(c, ev->queue.id);
	if (!q)
		return problem_set(r->problem, ERR_NOT_FOUND, "there is no such queue any more");
	r->id = q->row.id;
	if (ev->queue.if_version && ev->queue.if_version != q->row.version) {
		problem_set(r->problem, ERR_PRECONDITION, "the queue is at version %lld by now",
		    (long long)q->row.version);
		return problem_hint(r->problem, "read it again, then decide");
	}
	switch (ev->kind) {
	case EV_QUEUE_SET: return set(c, q, ev, r, out);
	case EV_QUEUE_PAUSE: return pause(c, q, ev, out);
	case EV_QUEUE_RESUME: resume(c, q, ev->actor, out); return 0;
	default: return delete (c, q, ev, r, out);
	}
}
