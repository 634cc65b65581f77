/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks in memory, and the one door through which every state changes: task_move() checks the
 * table, keeps the queue's counts, records the write and tells the watchers.
 */
#include "core/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "model/limits.h"
#include "model/task/history.h"

#define REAP_MAX 4096

struct task *task_find(const struct core *c, rid id)
{
	return idmap_get(&c->tasks, id);
}

static struct str own(char **at, struct str s)
{
	char *copy = *at;

	if (!s.p)
		return s;
	memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	*at += s.n + 1;
	return (struct str){copy, s.n};
}

static struct str replace(char **owned, struct str s)
{
	char *copy = s.p && s.n ? xstrndup(s.p, s.n) : NULL;

	free(*owned);
	*owned = copy;
	return (struct str){copy, copy ? s.n : 0};
}

struct task *task_new(struct core *c, const struct task_row *row)
{
	const struct task_spec *s = &row->spec;
	struct task *t = xcalloc(1, sizeof *t);
	/* the name changes no decision, but the owner may want to tell it */
	struct str name = owner_keeps_name(&s->owner) ? s->name : STR_NULL;
	char *at;

	t->row = *row;
	at = t->strings = xmalloc(s->key.n + s->labels.n + s->need.n + s->body.n + name.n + 5);
	t->row.spec.key = own(&at, s->key);
	t->row.spec.labels = own(&at, s->labels);
	t->row.spec.need = own(&at, s->need);
	t->row.spec.body = own(&at, s->body);
	t->row.spec.name = own(&at, name);
	t->row.spec.actor = STR_NULL;
	t->row.state.reason = t->row.state.charged = STR_NULL;
	task_set_reason(t, row->state.reason);
	task_set_history(t, row->state.history);
	t->row.state.deeds = replace(&t->deeds, row->state.deeds);
	for (int i = 0; i < N_STREAMS; i++)
		t->row.state.output[i] = STR_NULL;
	t->has_result = row->state.result.n > 0;
	t->row.state.result = STR_NULL;
	t->queue = queue_find(c, row->spec.queue);
	MUST(t->queue);
	idmap_put(&c->tasks, row->id, t);
	return t;
}

void task_drop_body(struct task *t)
{
	struct task_spec *s = &t->row.spec;
	char *old = t->strings, *at;

	s->body = STR_NULL;
	at = t->strings = xmalloc(s->key.n + s->labels.n + s->need.n + s->name.n + 4);
	s->key = own(&at, s->key);
	s->labels = own(&at, s->labels);
	s->need = own(&at, s->need);
	s->name = own(&at, s->name);
	free(old);
}

void task_free(struct core *c, struct task *t)
{
	window_del(c, t);
	hold_del(c, t);
	task_detach(c, t);
	if (t->ghost_read)
		TAILQ_REMOVE(&c->ghosts, t, in_ghosts);
	idmap_del(&c->tasks, t->row.id);
	free(t->strings);
	free(t->reason);
	free(t->history);
	free(t->deeds);
	free(t);
}

void task_set_reason(struct task *t, struct str reason)
{
	if (reason.n > REASON_MAX_BYTES)
		reason.n = REASON_MAX_BYTES;
	t->row.state.reason = replace(&t->reason, reason);
}

void task_set_history(struct task *t, struct str history)
{
	t->row.state.history = replace(&t->history, history);
}

void task_note_deed(struct core *c, struct task *t, enum deed_verb verb, int32_t status,
    const struct event *ev, struct effects *out)
{
	struct task_state *s = &t->row.state;
	struct str reason = ev->tasks.reason;
	struct deed d = {.time_ms = c->now_ms,
	    .verb = verb,
	    .status = status,
	    .attempt = s->attempt,
	    .actor = ev->actor};

	window_del(c, t); /* which counts the bytes of its texts */
	if (reason.n > REASON_MAX_BYTES)
		reason.n = REASON_MAX_BYTES;
	d.reason = verb == DEED_PRIORITY ? arena_strf(&out->batch.arena, "%d", ev->tasks.priority)
	                                 : reason;
	s->deeds = replace(&t->deeds, deeds_append(&out->batch.arena, s->deeds, &d));
}

static void copy_state(struct arena *a, struct task_state *to, const struct task_state *from)
{
	*to = *from;
	to->charged = arena_str(a, from->charged);
	to->reason = arena_str(a, from->reason);
	to->history = arena_str(a, from->history);
	to->deeds = arena_str(a, from->deeds);
	for (int i = 0; i < N_STREAMS; i++)
		to->output[i] = arena_str(a, from->output[i]);
	to->result = arena_str(a, from->result);
}

/* The state goes into the batch; a row that is in this batch already is overwritten. */
void task_save(struct core *c, struct task *t, struct effects *out)
{
	struct batch *b = &out->batch;
	struct task_row *row;

	if (t->batch_seq == b->seq) {
		row = b->rows[t->batch_row].row;
	} else {
		t->batch_seq = b->seq;
		t->batch_row = b->n;
		row = arena_memdup(&b->arena, &t->row, sizeof t->row);
		batch_state(b, &task_table, row);
	}
	row->spec.priority = t->row.spec.priority;
	copy_state(&b->arena, &row->state, &t->row.state);
}

/* The first row of a new task, which is in the batch's arena. */
void task_insert(struct core *c, struct task *t, struct task_row *row, struct effects *out)
{
	t->batch_seq = out->batch.seq;
	t->batch_row = out->batch.n;
	batch_insert(&out->batch, &task_table, row);
	queue_count(t->queue, &t->row.state, t->row.state.status, +1);
}

static void task_notice(struct core *c, const struct task *t, const char *kind, struct effects *out)
{
	struct notice *n = effects_notice(out, kind);

	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->task = t->row.id;
	n->queue = t->queue->row.id;
	n->worker = t->row.state.worker;
	n->batch = t->row.spec.batch;
	n->status = t->row.state.status;
	n->attempt = t->row.state.attempt;
	n->exit_code = t->row.state.exit_code;
	n->wish = t->row.state.wish;
}

static const char *notice_kind(int from, int to)
{
	switch (to) {
	case TASK_QUEUED: return task_is_held(from) ? "task.released" : "task.retrying";
	case TASK_CLAIMED: return "task.claimed";
	case TASK_RUNNING: return "task.running";
	case TASK_SUCCEEDED: return "task.succeeded";
	case TASK_FAILED: return "task.failed";
	case TASK_CANCELLED: return "task.cancelled";
	case TASK_TERMINATED: return "task.terminated";
	case TASK_ORPHANED: return "task.orphaned";
	default: return to > 0 ? "task.finished" : "task.held";
	}
}

void task_move(struct core *c, struct task *t, int to, struct str reason, struct effects *out)
{
	struct task_state *s = &t->row.state;
	int from = s->status;

	moves_make(&task_moves, task_phase(from), task_phase(to));
	window_del(c, t);
	hold_del(c, t);
	queue_count(t->queue, s, from, -1);
	if (task_phase(to) != PHASE_CLAIMED && task_phase(to) != PHASE_RUNNING)
		task_detach(c, t);
	s->status = to;
	s->mtime_ms = c->now_ms;
	if (to == TASK_QUEUED)
		s->rank = queue_rank(t->queue, t->row.spec.priority);
	task_set_reason(t, reason);
	if (to != TASK_CLAIMED && t->worker)
		unsure_settle(t);
	if (task_is_ended(to)) {
		if (!s->ended_ms)
			s->ended_ms = c->now_ms;
		if (t->row.spec.is_streamed)
			input_drop(c, t->row.id, out);
		s->wish = s->wish == WISH_SKIP ? WISH_SKIP : WISH_NONE;
		queue_count_end(c, t->queue, to, out);
	} else {
		queue_count(t->queue, s, to, +1);
	}
	if (to != TASK_CLAIMED || !task_is_volatile(c, t))
		task_save(c, t, out);
	task_notice(c, t, notice_kind(from, to), out);
	if (task_is_ended(to))
		owner_task_ended(c, &t->row.spec.owner, t->row.id);
	else if (task_is_ended(from))
		owner_task_live(c, &t->row.spec.owner, t->row.id, t->row.spec.queue);
	else if (to == TASK_QUEUED && !task_is_held(from))
		owner_task_waits(c, &t->row.spec.owner, t->row.id);
	queue_ready(c, t->queue);
}

void task_unghost(struct core *c, struct task *t)
{
	if (!t->ghost_read)
		return;
	TAILQ_REMOVE(&c->ghosts, t, in_ghosts);
	t->ghost_read = 0;
}

/* Ghosts may go once every read that was under way when they left has come back; not too many at a
 * time, for a step is to be short. */
void ghosts_reap(struct core *c)
{
	uint64_t oldest = c->n_outstanding ? c->outstanding[0] : UINT64_MAX;
	struct task *t;

	for (int n = 0; n < REAP_MAX; n++) {
		t = TAILQ_FIRST(&c->ghosts);
		if (!t || t->ghost_read >= oldest)
			break;
		task_free(c, t);
	}
}

void task_forget(struct core *c, struct task *t)
{
	MUST(!t->worker && !t->window);
	if (!c->n_outstanding) {
		task_free(c, t);
		return;
	}
	if (t->ghost_read)
		TAILQ_REMOVE(&c->ghosts, t, in_ghosts);
	t->ghost_read = c->last_read;
	TAILQ_INSERT_TAIL(&c->ghosts, t, in_ghosts);
}

void task_enqueue(struct core *c, struct task *t, struct effects *out)
{
	struct queue *q = t->queue;
	struct window *w = t->row.state.due_ms > 0 ? &q->due : &q->ready;

	MUST(t->row.state.status == TASK_QUEUED && !t->window);
	task_unghost(c, t);
	if (hold_take(c, t))
		return;
	if (window_wants(w, &t->row)) {
		window_put(c, w, t);
		window_trim(c, w);
	} else {
		task_forget(c, t);
	}
	queue_ready(c, q);
	queue_set_wake(c, q);
}

static bool is_instance(const struct task *t)
{
	const struct owner *o = &t->row.spec.owner;

	return o->id && o->kind == KIND_SERVICE;
}

void task_attach(struct core *c, struct task *t, struct worker *w, struct str charged)
{
	MUST(!t->worker);
	t->worker = w;
	TAILQ_INSERT_TAIL(&w->tasks, t, on_worker);
	w->running++;
	w->n_instances += is_instance(t);
	if (task_is_told(&t->row.state))
		w->n_wishes++;
	charge_task(c, t, charged);
}

void task_begin_attempt(
    struct core *c, struct task *t, struct worker *w, int64_t token, struct str charged)
{
	struct task_state *s = &t->row.state;

	s->attempt++;
	s->token = token;
	s->worker = w->row.id;
	s->instance = w->row.facts.instance;
	times_forget(s);
	s->exit_code = -1;
	s->signal = 0;
	s->usage = (struct usage){0};
	task_attach(c, t, w, charged);
}

void task_detach(struct core *c, struct task *t)
{
	struct worker *w = t->worker;

	if (!w)
		return;
	unsure_settle(t);
	if (task_is_told(&t->row.state))
		w->n_wishes--;
	TAILQ_REMOVE(&w->tasks, t, on_worker);
	w->running--;
	w->n_instances -= is_instance(t);
	charge_release(c, t);
	t->worker = NULL;
	place_room(c, w);
}

void task_wish(struct task *t, enum task_wish wish)
{
	if (t->worker && !task_is_told(&t->row.state))
		t->worker->n_wishes++;
	t->row.state.wish = (int32_t)wish;
}

void task_tell_end(
    struct core *c, struct task *t, enum task_wish wish, struct str reason, struct effects *out)
{
	task_wish(t, wish);
	t->row.state.mtime_ms = c->now_ms;
	task_set_reason(t, reason);
	task_save(c, t, out);
	if (t->worker && t->worker->link)
		effects_message(out, MSG_KILL, t->worker->link)->kill = (struct link_kill){
		    t->row.id, t->row.state.token, arena_str(&out->batch.arena, reason)};
}

struct str task_told_why(const struct task *t)
{
	return task_is_told(&t->row.state) ? t->row.state.reason : STR_NULL;
}

int task_told_end(const struct task *t, struct str *reason)
{
	if (t->row.state.wish != WISH_FAIL)
		return TASK_CANCELLED;
	if (t->row.state.reason.n)
		*reason = t->row.state.reason;
	return TASK_FAILED;
}

/*
 * A task that may run once only is never dispatched without a row: its row is the only proof. Nor
 * is any to a worker that will not be able to prove that it was, nor one that needs something: its
 * row is what tells how much it holds.
 */
bool task_is_volatile(const struct core *c, const struct task *t)
{
	if (t->charged)
		return false;
	if (t->worker && t->worker->drops_receipts && !MUTANT(DROPPED_RECEIPT_UNWRITTEN))
		return false;
	return c->o.is_volatile && (task_max_attempts(t) > 1 || MUTANT(ONCE_IS_VOLATILE));
}

int32_t task_max_attempts(const struct task *t)
{
	return t->row.spec.max_attempts ? t->row.spec.max_attempts : t->queue->row.max_attempts;
}

int64_t task_timeout_ms(const struct task *t)
{
	int64_t own = t->row.spec.timeout_ms;

	return own < 0 ? 0 : own ? own : t->queue->row.timeout_ms;
}

/* Since somebody asked for it: by a submit, or by the last retry. */
static int32_t attempts_made(const struct task_state *s)
{
	return s->attempt - s->attempts_before;
}

/* base * 2^(attempts-1), capped, then spread over [half, whole] so that retries don't march in
 * step.
 */
static int64_t backoff_ms(struct core *c, const struct task *t)
{
	const struct task_spec *s = &t->row.spec;
	int64_t base = s->backoff_ms >= 0 ? s->backoff_ms : t->queue->row.backoff_ms;
	int64_t cap = s->backoff_max_ms >= 0 ? s->backoff_max_ms : t->queue->row.backoff_max_ms;
	int64_t delay = base;
	struct rng r = {c->seed ^ t->row.id};

	for (int i = 1; i < attempts_made(&t->row.state) && delay < cap; i++)
		delay *= 2;
	if (delay > cap)
		delay = cap;
	return delay - (int64_t)rng_below(&r, (uint64_t)delay / 2 + 1);
}

/* Output that lay in the row moves to rows of its own, so the next attempt can't overwrite it. */
static void keep_inline_output(
    const struct task *t, const struct task_state *s, struct effects *out)
{
	struct arena *a = &out->batch.arena;

	for (int i = 0; i < N_STREAMS && s->output_where == OUTPUT_INLINE; i++) {
		for (size_t at = 0; at < s->output[i].n; at += OUTPUT_CHUNK_BYTES) {
			struct output_row *o = arena_zalloc(a, sizeof *o);
			size_t n = s->output[i].n - at;

			if (n > OUTPUT_CHUNK_BYTES)
				n = OUTPUT_CHUNK_BYTES;
			*o = (struct output_row){t->row.id, s->token, i, (int64_t)at, (int32_t)n, 0,
			    arena_str(a, (struct str){s->output[i].p + at, n})};
			batch_put(&out->batch, &output_table, o);
		}
	}
}

/* Output and result are the ended attempt's, and only borrowed. */
static void forget_results(struct task_state *s)
{
	s->output_where = OUTPUT_NONE;
	s->result = STR_NULL;
	for (int i = 0; i < N_STREAMS; i++) {
		s->output[i] = STR_NULL;
		s->output_bytes[i] = s->output_dropped[i] = 0;
	}
}

static void retry_later(struct core *c, struct task *t, int status, struct str reason,
    int64_t hold_ms, struct effects *out)
{
	struct task_state *s = &t->row.state;
	struct task_state past = *s;
	int64_t backoff;

	past.status = status;
	past.reason = reason;
	if (!past.ended_ms)
		past.ended_ms = c->now_ms;
	task_set_history(t, history_append(&out->batch.arena, &past));
	keep_inline_output(t, s, out);
	forget_results(s);
	if (MUTANT(LOST_WITHOUT_HOLD))
		hold_ms = 0;
	backoff = backoff_ms(c, t);
	hold_begin(c, t, hold_ms, backoff > hold_ms ? c->now_ms + backoff : 0);
	s->due_ms = c->now_ms + (backoff > hold_ms ? backoff : hold_ms);
	s->ended_ms = 0;
	task_move(c, t, TASK_QUEUED, reason, out);
	task_enqueue(c, t, out);
}

static void end_attempt(struct core *c, struct task *t, int status, struct str reason,
    bool may_retry, int64_t hold_ms, struct effects *out)
{
	struct task_state *s = &t->row.state;
	int32_t most = task_max_attempts(t) + (MUTANT(ONE_ATTEMPT_TOO_MANY) ? 1 : 0);

	if (may_retry && s->wish == WISH_NONE && attempts_made(s) < most) {
		retry_later(c, t, status, reason, hold_ms, out);
		return;
	}
	task_move(c, t, status, reason, out);
	forget_results(s); /* saved above; the strings were the event's */
	task_forget(c, t);
}

void task_end_attempt(struct core *c, struct task *t, int status, struct str reason, bool may_retry,
    struct effects *out)
{
	end_attempt(c, t, status, reason, may_retry, 0, out);
}

void task_end_lost(
    struct core *c, struct task *t, struct str reason, int64_t hold_ms, struct effects *out)
{
	int end = task_is_told(&t->row.state) ? task_told_end(t, &reason) : TASK_ORPHANED;

	if (hold_ms > 0)
		hold_lost(c, hold_ms);
	owner_task_lost(c, t, hold_ms);
	end_attempt(c, t, end, reason, true, hold_ms, out);
}

/* Ordered, but certainly never started: the attempt does not count. */
void task_give_back(
    struct core *c, struct task *t, struct str reason, int64_t delay_ms, struct effects *out)
{
	struct task_state *s = &t->row.state;
	int end;

	if (task_is_told(s)) {
		reason = STR("cancelled before it started");
		end = task_told_end(t, &reason);
		task_end_attempt(c, t, end, reason, false, out);
		return;
	}
	if (owner_given_back(c, t, reason, delay_ms > 0)) {
		task_end_attempt(c, t, TASK_CANCELLED, reason, false, out);
		return;
	}
	s->attempt--;
	s->claimed_ms = 0;
	times_forget(s);
	s->due_ms = t->hold_then_due_ms = delay_ms ? c->now_ms + delay_ms : 0;
	task_move(c, t, TASK_QUEUED, reason, out);
	task_enqueue(c, t, out);
}

void task_begin_anew(
    struct core *c, struct task *t, const struct task_row *stored, struct effects *out)
{
	struct task_state *s = &t->row.state;

	task_set_history(t, history_append(&out->batch.arena, s));
	if (stored)
		keep_inline_output(t, &stored->state, out);
	forget_results(s);
	s->attempt = MUTANT(RETRY_COUNTS_FROM_ONE) ? 0 : s->attempt;
	s->attempts_before = s->attempt; /* numbers go on, so each names one attempt */
	s->wish = WISH_NONE;
	/* the task's worker may still be ending it, whoever asks */
	s->due_ms = hold_to_floor(c, t) ? c->now_ms + c->hold_floor_ms - c->mono_ms : 0;
	s->claimed_ms = 0;
	times_forget(s);
	s->exit_code = -1;
	s->signal = 0;
	s->usage = (struct usage){0};
	task_move(c, t, TASK_QUEUED, STR_NULL, out);
	task_enqueue(c, t, out);
}
