/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes durable, and what a restarted server makes of it. */
#include <stdio.h>
#include <string.h>

#include "sim/faults/hostile.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"

/* One live task per unique key and queue. */
static void check_key(struct world *w, struct truth_task *t)
{
	struct judge *j = w->judge;
	uint64_t place;
	struct truth_task *holder;
	bool live = !task_is_ended(t->stored_status);

	if (!t->key)
		return;
	place = t->queue->id * 16 + (uint64_t)t->key;
	holder = idmap_get(&j->by_key, place);
	if (live && holder && holder != t && !truth_is_gone(holder))
		world_fail(w, 2, "tasks %u and %u are live with one unique key", holder->number,
		    t->number);
	if (live)
		idmap_put(&j->by_key, place, t);
	else if (holder == t)
		idmap_del(&j->by_key, place);
}

static void inserted(struct world *w, struct truth_task *t, const struct task_row *row)
{
	struct judge *j = w->judge;
	unsigned request, index;
	int idem;
	struct truth_task *twin;

	t->stored = true;
	t->queue = truth_queue_of(w, row->spec.queue);
	t->max_attempts = row->spec.max_attempts;
	t->backoff_ms = row->spec.backoff_ms;
	t->backoff_max_ms = row->spec.backoff_max_ms;
	t->run_after_ms = row->spec.run_after_ms;
	t->owner = row->spec.owner;
	t->need = needs_known(row->spec.need);
	if (t->owner.id)
		sim_kind_of(t->owner.kind)->task_stored(w, t);
	if (row->spec.key.p)
		t->key = row->spec.key.p[row->spec.key.n - 1] - '0';
	if (!row->spec.body.p ||
	    sscanf(row->spec.body.p, "{\"r\":%u,\"i\":%u,\"k\":%d}", &request, &index, &idem) !=
	        3 ||
	    !idem)
		return;
	twin = idmap_get(&j->by_request, (uint64_t)request * 100 + index + 1);
	if (twin && !truth_is_gone(twin))
		world_fail(
		    w, 2, "request %u made the tasks %u and %u", request, twin->number, t->number);
	idmap_put(&j->by_request, (uint64_t)request * 100 + index + 1, t);
}

static void check_bytes(struct world *w, const struct truth_task *t, int64_t token, int stream,
    int64_t offset, struct str data)
{
	for (size_t i = 0; i < data.n; i++)
		if (data.p[i] != sim_output_byte(t->id, token, stream, offset + (int64_t)i)) {
			world_fail(w, 27, "task %u/%lld: byte %lld of stream %d is not its own",
			    t->number, (long long)token, (long long)offset + (long long)i, stream);
			return;
		}
	if (token == t->started_token && offset + (int64_t)data.n > t->produced[stream])
		world_fail(w, 27, "task %u/%lld: more is stored than was written", t->number,
		    (long long)token);
}

static void output_row(struct world *w, const struct output_row *o)
{
	struct truth_task *t = truth_of(w, o->task);

	if (t->out_token != o->token) {
		t->out_token = o->token;
		memset(t->out_end, 0, sizeof t->out_end);
	}
	if (o->codec == 0)
		check_bytes(w, t, o->token, o->stream, o->offset, o->data);
	if (o->offset > t->out_end[o->stream])
		world_fail(w, 27, "task %u/%lld: stream %d has a hole at %lld", t->number,
		    (long long)o->token, o->stream, (long long)t->out_end[o->stream]);
	if (o->offset + o->raw_bytes > t->out_end[o->stream])
		t->out_end[o->stream] = o->offset + o->raw_bytes;
}

/* All that is said to be kept; beyond a truncation there may be some more. */
static bool has_output(const struct truth_task *t, const struct task_state *s, int stream)
{
	int64_t stored = t->out_token == s->token ? t->out_end[stream] : 0;

	return stored == s->output_bytes[stream] ||
	       (s->output_dropped[stream] && stored > s->output_bytes[stream]);
}

static void check_output(struct world *w, struct truth_task *t, const struct task_state *s)
{
	for (int i = 0; i < N_STREAMS && s->output_where != OUTPUT_NONE; i++) {
		int64_t all = s->output_bytes[i] + s->output_dropped[i];

		if (s->output_where == OUTPUT_INLINE)
			check_bytes(w, t, s->token, i, 0, s->output[i]);
		else if (!has_output(t, s, i))
			world_fail(w, 27, "task %u/%lld says %lld bytes, %lld are stored",
			    t->number, (long long)s->token, (long long)s->output_bytes[i],
			    (long long)t->out_end[i]);
		if (s->token == t->started_token && all != t->produced[i])
			world_fail(w, 27, "task %u/%lld: %lld bytes kept or dropped, %lld written",
			    t->number, (long long)s->token, (long long)all,
			    (long long)t->produced[i]);
	}
}

/* What one attempt left belongs to no other, and to nothing that is not over. */
static void check_result(struct world *w, struct truth_task *t, const struct task_state *s)
{
	if (s->result.p && !task_is_ended(s->status))
		world_fail(w, 27, "task %u/%lld is not over, but has a result", t->number,
		    (long long)s->token);
	if (s->result.p && !str_eq(s->result, sim_result(s->token)))
		world_fail(w, 27, "task %u/%lld has another attempt's result", t->number,
		    (long long)s->token);
	if (s->usage.known && s->usage.user_us != s->token)
		world_fail(w, 27, "task %u/%lld has another attempt's usage", t->number,
		    (long long)s->token);
}

static void task_row(struct world *w, const struct task_row *row, bool insert)
{
	struct truth_task *t = truth_of(w, row->id);
	const struct task_state *s = &row->state;

	if (insert)
		inserted(w, t, row);
	if (!t->stored || t->queue->deleted_durably)
		return;
	if (s->token < t->stored_token)
		world_fail(w, 6, "task %u: its stored token falls from %lld to %lld", t->number,
		    (long long)t->stored_token, (long long)s->token);
	w->judge->n_ends +=
	    task_is_ended(s->status) && (insert || !task_is_ended(t->stored_status));
	t->stored_status = s->status;
	t->stored_token = s->token;
	t->stored_attempt = s->attempt;
	t->stored_due_ms = s->due_ms;
	if (t->owner.id && sim_kind_of(t->owner.kind)->task_moved)
		sim_kind_of(t->owner.kind)->task_moved(w, t, row);
	check_key(w, t);
	check_output(w, t, s);
	check_result(w, t, s);
	if (w->hostile)
		judge_hostile_row(w, row);
}

static void queue_row(struct world *w, const struct queue_row *row)
{
	struct truth_queue *q = truth_queue_of(w, row->id);

	if (row->threads < 0 || q->most_threads < 0)
		q->most_threads = -1;
	else if (row->threads > q->most_threads)
		q->most_threads = row->threads;
}

void judge_queue_stored(struct world *w, const struct row_op *op)
{
	struct truth_queue *q;

	if (op->table != &queue_table)
		return;
	if (op->verb == ROW_PUT)
		queue_row(w, op->row);
	if (op->verb != ROW_DELETE)
		return;
	q = truth_queue_of(w, op->id);
	q->deleted = q->deleted_durably = true;
}

static void row_applied(struct world *w, const struct row_op *op)
{
	struct task_row room;
	const struct task_row *first = batch_new_task(op, &room);

	if (first) {
		task_row(w, first, true);
	} else if (op->table == &task_table) {
		if (op->verb <= ROW_STATE)
			task_row(w, op->row, false);
	} else if (op->verb <= ROW_DELETE || op->verb == ROW_DROP) {
		SIM_KINDS_DO(stored, w, op);
	}
}

void judge_applied(struct world *w, const struct batch *b)
{
	/* a task's row lies where it changed first: look at the output before it */
	for (size_t i = 0; i < b->n; i++)
		if (b->rows[i].table == &output_table)
			output_row(w, b->rows[i].row);
	w->judge->batch = b->seq;
	for (size_t i = 0; i < b->n; i++) {
		w->judge->row = i;
		row_applied(w, &b->rows[i]);
	}
	w->judge->row = b->n;
	judge_batches_applied(w, b);
	SIM_KINDS_DO(applied, w);
}

/* The core's memory is gone: what it knew is what is stored. */
static void forget_view(struct judge *j)
{
	for (size_t i = 0; i < j->n_queues; i++) {
		memset(j->queues[i]->n, 0, sizeof j->queues[i]->n);
		j->queues[i]->deleted = j->queues[i]->deleted_durably;
	}
	for (size_t i = 0; i < j->n_tasks; i++) {
		struct truth_task *t = j->tasks[i];

		t->is_known = t->stored && !truth_is_gone(t);
		t->retries = 0;
		if (!t->is_known)
			continue;
		t->status = t->stored_status;
		t->token = t->stored_token;
		t->attempt = t->stored_attempt;
		if (t->due_ms != t->stored_due_ms) { /* the loss was not written down */
			t->lost_us = 0;
			t->is_held = false;
		}
		t->due_ms = t->stored_due_ms;
		t->queue->n[task_phase(t->status)]++;
	}
}

static void compare_counts(struct world *w, const struct truth_queue *q)
{
	struct queue_counts c;

	if (q->deleted || !core_queue(sim_core(w), q->id))
		return;
	core_queue_counts(sim_core(w), q->id, &c);
	if (c.queued != q->n[PHASE_QUEUED] || c.held != q->n[PHASE_HELD] ||
	    c.claimed != q->n[PHASE_CLAIMED] || c.running != q->n[PHASE_RUNNING])
		world_fail(w, 28,
		    "after the start the queue counts %lld %lld %lld %lld, stored are "
		    "%lld %lld %lld %lld",
		    (long long)c.queued, (long long)c.held, (long long)c.claimed,
		    (long long)c.running, (long long)q->n[PHASE_QUEUED],
		    (long long)q->n[PHASE_HELD], (long long)q->n[PHASE_CLAIMED],
		    (long long)q->n[PHASE_RUNNING]);
}

static void compare_dispatched(struct world *w, const struct truth_task *t)
{
	struct task_state s;

	if (!t->is_known || (t->status != TASK_CLAIMED && t->status != TASK_RUNNING))
		return;
	if (!core_task_state(sim_core(w), t->id, &s) || s.status != t->status ||
	    s.token != t->token)
		world_fail(w, 28, "after the start task %u/%lld (%s) is not what is stored",
		    t->number, (long long)t->token, task_state_name(t->status));
}

void judge_loaded(struct world *w)
{
	struct judge *j = w->judge;

	if (w->o.no_judge)
		return;
	forget_view(j);
	SIM_KINDS_DO(loaded, w);
	judge_new_notices(w, NULL);
	for (size_t i = 0; i < j->n_queues; i++)
		compare_counts(w, j->queues[i]);
	for (size_t i = 0; i < j->n_tasks; i++)
		compare_dispatched(w, j->tasks[i]);
}
