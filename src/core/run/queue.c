/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: their index, their counts, their timers, and the commands that change them. */
#include "core/state.h"

#include <stdlib.h>

struct queue *queue_find(const struct core *c, rid id)
{
	return object_find(c, KIND_QUEUE, id);
}

static struct queue *queue_add(struct core *c, const struct queue_row *row)
{
	struct queue *q = xcalloc(1, sizeof *q);

	q->row = *row;
	row_own(&queue_table, &q->row, &q->strings);
	window_init(&q->ready, q, false);
	window_init(&q->due, q, true);
	TAILQ_INIT(&q->on_hold);
	shapes_init(c, q);
	object_add(c, &q->object, KIND_QUEUE, q->row.id, q->row.name);
	queue_set_wake(c, q);
	return q;
}

const struct moves line_moves = {
    "line",
    {[LINE_NONE] = "none", [LINE_ROTATION] = "rotation", [LINE_STALLED] = "stalled"},
    {
        {LINE_NONE, LINE_ROTATION, "something may have changed"},
        {LINE_ROTATION, LINE_NONE, "nothing to start, at its limit, or it is deleted"},
        {LINE_ROTATION, LINE_ROTATION, "one task was placed: the next queue's turn"},
        {LINE_ROTATION, LINE_STALLED, "no worker has room"},
        {LINE_STALLED, LINE_ROTATION, "a worker has room, or something else has changed"},
        {LINE_STALLED, LINE_NONE, "it is deleted"},
    },
};

/* Always to the end of that line. */
void queue_line(struct core *c, struct queue *q, enum line to)
{
	if (q->line == LINE_ROTATION)
		TAILQ_REMOVE(&c->rotation, q, in_line);
	else if (q->line == LINE_STALLED)
		TAILQ_REMOVE(&c->stalled, q, in_line);
	q->line = moves_make(&line_moves, q->line, to);
	if (to == LINE_ROTATION)
		TAILQ_INSERT_TAIL(&c->rotation, q, in_line);
	else if (to == LINE_STALLED)
		TAILQ_INSERT_TAIL(&c->stalled, q, in_line);
}

static void load(struct core *c, const void *row)
{
	queue_ready(c, queue_add(c, row));
}

static int64_t version(const struct object *o)
{
	return ((const struct queue *)o)->row.version;
}

static void forget_tasks(struct core *c, struct window *w)
{
	struct task *t;

	while ((t = window_last(w)))
		task_free(c, t);
}

/* The queue, and its tasks as far as they are in memory. */
static void forget(struct core *c, struct queue *q)
{
	struct task *t, *next;

	forget_tasks(c, &q->ready);
	forget_tasks(c, &q->due);
	while ((t = TAILQ_FIRST(&q->on_hold)))
		task_free(c, t);
	TAILQ_FOREACH_SAFE (t, &c->ghosts, in_ghosts, next)
		if (t->queue == q)
			task_free(c, t);
	if (q->line != LINE_NONE)
		queue_line(c, q, LINE_NONE);
	timer_clear(c, TIMER_WALL, &q->wake);
	object_del(c, &q->object);
	shapes_release(c, q);
	free(q->strings);
	free(q);
}

void queue_count(struct queue *q, const struct task_state *s, int status, int delta)
{
	switch (task_phase(status)) {
	case PHASE_HELD: q->n_held += delta; break;
	case PHASE_QUEUED:
		q->n_queued += delta;
		if (s->due_ms > 0 && !q->delayed_unknown)
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
		batch_state(b, &queue_table, arena_memdup(&b->arena, &q->row, sizeof q->row));
	}
	*(struct queue_row *)b->rows[q->counts_row].row = (struct queue_row){.id = q->row.id,
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
	if (q->line != LINE_ROTATION)
		queue_line(c, q, LINE_ROTATION);
}

void queue_waited(struct core *c, struct queue *q)
{
	queue_line(c, q, LINE_ROTATION);
	TAILQ_REMOVE(&c->rotation, q, in_line);
	if (c->waited)
		TAILQ_INSERT_AFTER(&c->rotation, c->waited, q, in_line);
	else
		TAILQ_INSERT_HEAD(&c->rotation, q, in_line);
	c->waited = q;
}

static timer_fn wake;

void queue_set_wake(struct core *c, struct queue *q)
{
	struct task *t = window_first(&q->due);
	int64_t at = t ? t->row.state.due_ms : INT64_MAX;

	if (q->row.paused && q->row.pause.until_ms && q->row.pause.until_ms < at)
		at = q->row.pause.until_ms;
	if (at == INT64_MAX)
		timer_clear(c, TIMER_WALL, &q->wake);
	else
		timer_set(c, TIMER_WALL, &q->wake, at, q->row.id, wake);
}

static void save(struct core *c, struct object *o, void *own, struct effects *out)
{
	struct queue *q = (struct queue *)o;

	row_own(&queue_table, &q->row, &q->strings);
	object_rename(c, o, q->row.name);
	batch_put(&out->batch, &queue_table, row_new(&out->batch.arena, &queue_table, &q->row));
}

static void unpause(struct core *c, struct queue *q, struct str actor, struct effects *out)
{
	q->row.paused = 0;
	object_resumed(c, &q->object, &q->row, &q->row.pause, actor, out);
	queue_ready(c, q);
}

static void wake(struct core *c, struct timer *timer, struct effects *out)
{
	struct queue *q = CONTAINER_OF(timer, struct queue, wake);
	struct task *t;

	if (q->row.paused && pause_is_over(&q->row.pause, c->now_ms))
		unpause(c, q, STR("reeve"), out);
	while ((t = window_first(&q->due)) && t->row.state.due_ms <= c->now_ms) {
		window_del(c, t);
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

/* What the store does to its rows (ROW_RERANK), done to those in memory. */
static void rerank_memory(struct core *c, struct queue *q)
{
	struct task *t;

	TAILQ_FOREACH (t, &q->on_hold, in_hold)
		t->row.state.rank = queue_rank(q, t->row.spec.priority);
	TAILQ_FOREACH (t, &c->ghosts, in_ghosts)
		if (t->queue == q)
			t->row.state.rank = queue_rank(q, t->row.spec.priority);
	for (t = window_first(&q->due); t; t = window_next(t))
		t->row.state.rank = queue_rank(q, t->row.spec.priority);
}

static void change_order(struct core *c, struct queue *q, int32_t order, struct effects *out)
{
	if (q->row.order == order)
		return;
	window_clear(c, &q->ready);
	q->row.order = order;
	rerank_memory(c, q);
	q->ready.reading = 0; /* an answer under way is in the old order: it will be ignored */
	q->ready.complete = q->n_queued == 0;
	batch_rerank(&out->batch, q->row.id, order);
}

/* What was given; the strings are the event's until save() has made them ours. */
static void apply(struct core *c, struct queue *q, const struct event *ev, struct effects *out)
{
	const struct queue_row *given = ev->object.row;
	uint64_t order = ROW_BIT(queue_table, queue_row, order);

	row_take(&queue_table, &q->row, given, ev->object.fields & ~order);
	if (ev->object.fields & order)
		change_order(c, q, given->order, out);
}

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	struct queue_row row;
	struct queue *q;

	queue_defaults(&row);
	row.version = 0; /* object_changed() makes it the first */
	row.id = id;
	row.name = ((const struct queue_row *)ev->object.row)->name;
	row.ctime_ms = c->now_ms;
	q = queue_add(c, &row);
	apply(c, q, ev, out);
	object_changed(c, &q->object, &q->row, OBJECT_CREATED, ev->actor, STR_NULL, out);
	fit_lists_anew(c, q); /* now that it has its plugin */
	return 0;
}

static int set(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct queue *q = (struct queue *)o;

	apply(c, q, ev, out);
	object_changed(c, o, &q->row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	if (ev->object.fields & ROW_BIT(queue_table, queue_row, need))
		shapes_anew(c, q);
	fit_lists_anew(c, q);
	queue_ready(c, q);
	return 0;
}

static int pause(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct queue *q = (struct queue *)o;

	q->row.paused = 1;
	object_paused(c, o, &q->row, &q->row.pause, ev, out);
	queue_set_wake(c, q);
	reserve_queue_rests(c, q);
	return 0;
}

static int resume(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	unpause(c, (struct queue *)o, ev->actor, out);
	return 0;
}

static int remove_queue(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct queue *q = (struct queue *)o;
	long long dispatched = q->n_claimed + q->n_running;
	long long live = dispatched + q->n_queued + q->n_held;
	const struct object *user = kinds_user_of(c, o->id);

	if (user) {
		problem_set(r->problem, ERR_CONFLICT,
		    "the %s \"" STR_FMT "\" submits its tasks to the queue", kind_names[user->kind],
		    STR_ARG(user->name));
		return problem_hint(r->problem, "remove it, or give it another queue, first");
	}
	if (live && !ev->object.force) {
		problem_set(r->problem, ERR_CONFLICT, "%lld %s of the queue %s not ended yet", live,
		    live == 1 ? "task" : "tasks", live == 1 ? "has" : "have");
		return problem_hint(r->problem, "wait for them, cancel them, or force it: then "
		                                "they are cancelled and deleted, too");
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
	batch_delete(&out->batch, &queue_table, o->id);
	inputs_drop_queue(c, o->id, out);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	forget(c, q);
	return 0;
}

static void release(struct core *c)
{
	struct queue *q;

	while ((q = object_first(c, KIND_QUEUE)))
		forget(c, q);
}

const struct object_kind queue_kind = {
    .table = &queue_table,
    .events = OBJECT_EVENTS("queue"),
    .taken = HINT_CHANGE,
    .load = load,
    .version = version,
    .save = save,
    .create = create,
    .set = set,
    .pause = pause,
    .resume = resume,
    .remove = remove_queue,
    .release = release,
};
