/* SPDX-License-Identifier: Apache-2.0 */
/* What the core decides, step by step, as its notices tell. */
#include <string.h>

#include "core/group/view.h"
#include "core/service/view.h"
#include "sim/faults/hostile.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"

static void move_counts(struct truth_task *t, int32_t to)
{
	if (!t->queue)
		return;
	if (t->is_known)
		t->queue->n[task_phase(t->status)]--;
	t->queue->n[task_phase(to)]++;
}

/* Nobody else uses that queue. */
static bool is_start(const struct world *w, rid queue)
{
	const struct queue_row *q = core_queue(sim_core(w), queue);

	return q && str_is(q->name, SERVICE_QUEUE);
}

static void check_edge(struct world *w, struct truth_task *t, const struct notice *n)
{
	if (!strcmp(n->kind, "task.submitted")) {
		if (t->is_known)
			world_fail(w, 3, "task %u is submitted twice", t->number);
		return;
	}
	/* the start of an instance is its worker's from the beginning */
	if (!t->is_known && is_start(w, n->queue) && n->status == TASK_CLAIMED)
		return;
	if (!t->is_known) {
		world_fail(w, 3, "task %u becomes %s out of nothing", t->number,
		    task_state_name(n->status));
		return;
	}
	if (!task_move_allowed(t->status, n->status))
		world_fail(w, 3, "task %u goes from %s to %s", t->number,
		    task_state_name(t->status), task_state_name(n->status));
	if (task_is_ended(t->status)) {
		if (!t->retries)
			world_fail(w, 3, "task %u was %s and becomes %s, nobody asked for that",
			    t->number, task_state_name(t->status), task_state_name(n->status));
		if (n->attempt < t->attempt)
			world_fail(w, 26, "task %u is retried, and counts from %d again, after %d",
			    t->number, n->attempt, t->attempt);
		t->cancelled = false;
		t->starts = 0;
	}
}

/* Instances of services take none of a worker's threads. */
static int32_t instances_on(const struct world *w, rid worker)
{
	struct worker_services has;
	struct arena a = {0};

	core_worker_services(sim_core(w), worker, &a, &has);
	arena_release(&a);
	return (int32_t)has.instances;
}

static void check_limits(struct world *w, const struct truth_task *t, const struct task_state *s)
{
	const struct core *c = sim_core(w);
	const struct queue_row *q = core_queue(c, t->queue->id);
	struct queue_counts counts;
	struct worker_view view;

	if (!q)
		return;
	core_queue_counts(c, q->id, &counts);
	if (q->threads >= 0 && counts.claimed + counts.running > q->threads)
		world_fail(w, 13, "task %u: %lld are dispatched, the queue allows %d", t->number,
		    (long long)(counts.claimed + counts.running), q->threads);
	if (!is_start(w, q->id) && core_worker(c, s->worker, sim_server_mono_ms(w), &view) &&
	    view.maxthreads >= 0 && view.running - instances_on(w, s->worker) > view.maxthreads)
		world_fail(w, 13, "task %u: the worker has %d tasks, it allows %d", t->number,
		    view.running, view.maxthreads);
	if (core_worker(c, s->worker, sim_server_mono_ms(w), &view) && view.row->drained)
		world_fail(w, 37, "task %u goes to a worker that is drained", t->number);
}

void judge_clock(struct world *w, bool back)
{
	struct judge *j = w->judge;

	j->steps_back += back;
	if (j->n_peaks == PEAKS_MOST)
		return;
	j->peaks[j->n_peaks].at_us = w->now_us;
	j->peaks[j->n_peaks++].wall_ms = sim_server_wall_ms(w);
}

/* Due is what was due at any time since then: clocks that go back take nothing back. */
static bool was_due(struct world *w, const struct truth_task *t)
{
	const struct judge *j = w->judge;

	if (t->due_ms <= sim_server_wall_ms(w))
		return true;
	for (size_t i = 0; i < j->n_peaks; i++)
		if (j->peaks[i].at_us >= t->due_since_us && j->peaks[i].wall_ms >= t->due_ms)
			return true;
	return false;
}

/* Whether the step that was just made sends the attempt out, or is about to. */
static bool is_ordered(const struct world *w, rid task, int64_t token)
{
	const struct effects *fx = w->server->pipe.gathering;

	for (size_t i = fx->n_messages; i-- > 0;)
		if (fx->messages[i].kind == MSG_RUN && fx->messages[i].run.task == task)
			return fx->messages[i].run.token == token;
	return core_order_is_late(sim_core(w), task, token);
}

/* The hold is a length of time: no step of any clock ends it, or makes it longer. */
static void check_hold(struct world *w, const struct truth_task *t)
{
	int64_t hold = w->o.lost_hold_ms - w->o.lost_hold_ms * w->o.drift_max_ppm / 1000000;
	int64_t waited = (w->now_us - t->lost_us) / 1000;

	if (waited + 2 < hold) /* the server counts in whole milliseconds, and so do we */
		world_fail(w, 11, "task %u is tried again %lld ms after its worker was lost",
		    t->number, (long long)waited);
}

static void check_claim(
    struct world *w, struct truth_task *t, const struct task_state *s, const struct event *ev)
{
	const struct queue_row *q = core_queue(sim_core(w), t->queue->id);
	int32_t most = t->max_attempts ? t->max_attempts : q ? q->max_attempts : INT32_MAX;
	int32_t nth = s->attempt - s->attempts_before; /* since the last retry */

	if (t->stored && nth > most) /* what it asked for is known from its row */
		world_fail(w, 26, "task %u begins attempt %d of %d", t->number, nth, most);
	if (core_order_is_late(sim_core(w), t->id, s->token))
		t->late_token = s->token;
	if (!is_ordered(w, t->id, s->token))
		return; /* the task runs already: the worker says so */
	check_limits(w, t, s);
	judge_need_claimed(w, t, q, s->token);
	if (t->lost_us)
		check_hold(w, t);
	if (!t->is_held && !was_due(w, t))
		world_fail(w, 22, "task %u is claimed %lld ms before it is due", t->number,
		    (long long)(t->due_ms - sim_server_wall_ms(w)));
}

static int64_t least_backoff(struct world *w, const struct truth_task *t, int32_t attempt)
{
	const struct queue_row *q = core_queue(sim_core(w), t->queue->id);
	int64_t delay = t->backoff_ms >= 0 ? t->backoff_ms : q ? q->backoff_ms : 0;
	int64_t most = t->backoff_max_ms >= 0 ? t->backoff_max_ms : q ? q->backoff_max_ms : 0;

	for (int i = 1; i < attempt && delay < most; i++)
		delay *= 2;
	return (delay < most ? delay : most) / 2;
}

/* A dispatched attempt is given up, or tried again: was that right, and not too early? */
static void check_requeue(
    struct world *w, struct truth_task *t, const struct task_state *s, const struct event *ev)
{
	int64_t wait = s->due_ms - sim_server_wall_ms(w);

	if (!ev || !s)
		return;
	if (t->late_token == s->token) /* nobody was ever told of it */
		return;
	if (ev->kind == EV_WAKE && wait < w->o.lost_hold_ms)
		world_fail(w, 11, "task %u of a lost worker waits only %lld ms", t->number,
		    (long long)wait);
	t->lost_us = ev->kind == EV_WAKE ? w->now_us : 0;
	/* also when its own word comes so late that its worker is lost by it */
	t->is_held = ev->kind == EV_ENDED && ev->ended.task == t->id ? wait == w->o.lost_hold_ms
	                                                             : wait >= w->o.lost_hold_ms;
	if (ev->kind == EV_ENDED && ev->ended.task == t->id && ev->ended.started_ms &&
	    wait < least_backoff(w, t, s->attempt - s->attempts_before))
		world_fail(w, 22, "task %u is retried after %lld ms", t->number, (long long)wait);
}

/* How long the process of a lost worker's attempt may still be there: see docs/TESTING.md. */
static int64_t over_ms(const struct world *w, const struct timeouts *t)
{
	int64_t drift = timeouts_to_lose_ms(t) * 2 * w->o.drift_max_ppm / 1000000;
	int64_t over = t->kill_wait_ms + drift - t->margin_ms;

	return over > 0 ? over : 0;
}

/* Which of the timeouts it goes by depends on the last welcome that it got. */
static int64_t slack_us(const struct world *w)
{
	int64_t over = over_ms(w, &w->o.timeouts), other = 0;

	if (w->o.changes_timeouts)
		other = over_ms(w, &w->o.other_timeouts);
	return ((over > other ? over : other) + 500) * 1000;
}

static struct sim_process *process_of(struct world *w, const struct truth_task *t)
{
	for (int slot = 0; slot < w->o.workers; slot++)
		for (struct sim_process *p = w->workers[slot].processes; p; p = p->next)
			if (p->task == t->id && p->token == t->token && p->state != PROCESS_OVER)
				return p;
	return NULL;
}

/* Invariant 11 says for how long a process that was given up may still be there. */
static void check_given_up(struct world *w, struct truth_task *t, const struct event *ev)
{
	bool told = ev && ev->kind == EV_ENDED && ev->ended.task == t->id;
	bool displaced = w->o.allow_bump_unhealthy && ev && ev->kind == EV_HELLO;
	struct sim_process *p = told ? NULL : process_of(w, t);

	if (!p || (p->state == PROCESS_WAITS && !displaced))
		return;
	if (p->state == PROCESS_RUNS && !p->is_given_up)
		t->queue->processes--;
	p->is_given_up = true;
	if (p->state == PROCESS_WAITS)
		return; /* where a worker is displaced, what it was sent may even start later */
	t->given_up = true;
	t->is_risked |= displaced;
	if (w->o.allow_bump_unhealthy ||
	    (ev && ev->kind == EV_DELETE && ev->object.kind == KIND_WORKER))
		return; /* the operator took that risk */
	t->over_by_us = w->now_us + slack_us(w);
}

static void check_end(struct world *w, struct truth_task *t, int32_t status)
{
	if (status == TASK_SUCCEEDED && t->good_token != t->token)
		world_fail(w, 7, "task %u/%lld has succeeded, but its process has not", t->number,
		    (long long)t->token);
}

static void check_counts(struct world *w, const struct truth_queue *q)
{
	struct queue_counts c;

	if (!core_queue(sim_core(w), q->id))
		return;
	core_queue_counts(sim_core(w), q->id, &c);
	if (c.queued != q->n[PHASE_QUEUED] || c.held != q->n[PHASE_HELD] ||
	    c.claimed != q->n[PHASE_CLAIMED] || c.running != q->n[PHASE_RUNNING] || c.delayed < 0 ||
	    c.delayed > c.queued)
		world_fail(w, 14,
		    "the queue counts %lld delayed of %lld queued %lld held %lld claimed %lld "
		    "running, "
		    "there are %lld %lld %lld %lld",
		    (long long)c.delayed, (long long)c.queued, (long long)c.held,
		    (long long)c.claimed, (long long)c.running, (long long)q->n[PHASE_QUEUED],
		    (long long)q->n[PHASE_HELD], (long long)q->n[PHASE_CLAIMED],
		    (long long)q->n[PHASE_RUNNING]);
}

static void see_move(struct world *w, const struct notice *n, const struct event *ev)
{
	struct truth_task *t = truth_of(w, n->task);
	struct task_state s = {0};
	bool in_memory = core_task_state(sim_core(w), n->task, &s);
	bool was_dispatched =
	    t->is_known && (t->status == TASK_CLAIMED || t->status == TASK_RUNNING);
	bool was_ended = t->is_known && task_is_ended(t->status);

	if (!t->queue || !t->stored)
		t->queue = truth_queue_of(w, n->queue); /* what was never stored never was */
	world_tell(w, "server: task %u %s%s", t->number, n->kind,
	    in_memory && core_task_unsure(sim_core(w), n->task) ? " (unsure)" : "");
	world_mix(w, n->task ^ (uint64_t)(uint32_t)n->status << 32);
	check_edge(w, t, n);
	move_counts(t, n->status);
	t->is_known = true;
	t->status = n->status;
	t->attempt = n->attempt;
	if (in_memory && s.status == n->status)
		t->token = s.token;
	if (was_dispatched && n->status != TASK_RUNNING)
		check_given_up(w, t, ev);
	if (n->status == TASK_CLAIMED && in_memory && s.status == TASK_CLAIMED)
		check_claim(w, t, &s, ev);
	if (n->status != TASK_QUEUED && !task_is_held(n->status)) {
		t->lost_us = 0;
		t->is_held = false;
	}
	if (n->status == TASK_QUEUED) {
		/* a retry by hand has no due time, though it may be held back for a while */
		t->due_ms = in_memory && s.status == TASK_QUEUED && !was_ended ? s.due_ms : 0;
		t->due_since_us = w->now_us;
		if (was_dispatched && in_memory && s.status == TASK_QUEUED)
			check_requeue(w, t, &s, ev);
	}
	if (task_is_ended(n->status))
		check_end(w, t, n->status);
}

void judge_new_notices(struct world *w, const struct event *ev)
{
	struct sim_server *s = w->server;
	bool any = false;

	if (s->seen_set != s->pipe.gathering->batch.seq)
		s->seen_notices = 0;
	s->seen_set = s->pipe.gathering->batch.seq;
	for (; s->seen_notices < s->pipe.gathering->n_notices; s->seen_notices++) {
		const struct notice *n = &s->pipe.gathering->notices[s->seen_notices];

		if (!strcmp(n->kind, "queue.deleted")) {
			truth_queue_of(w, n->queue)->deleted = true;
			continue;
		}
		if (!n->task || strncmp(n->kind, "task.", 5) != 0)
			continue;
		see_move(w, n, ev);
		truth_of(w, n->task)->queue->changed = any = true;
	}
	for (size_t i = 0; any && i < w->judge->n_queues; i++)
		if (w->judge->queues[i]->changed) {
			w->judge->queues[i]->changed = false;
			check_counts(w, w->judge->queues[i]);
		}
}

void judge_before(struct world *w, const struct event *ev)
{
	struct judge *j = w->judge;

	SIM_KINDS_DO(before, w);
	if (w->hostile)
		judge_hostile_before(w, ev);
	j->watches = ev->kind == EV_STARTED || ev->kind == EV_ENDED;
	if (!j->watches)
		return;
	j->watched = ev->kind == EV_STARTED ? ev->started.task : ev->ended.task;
	j->watched_token = ev->kind == EV_STARTED ? ev->started.token : ev->ended.token;
	j->found = core_task_state(sim_core(w), j->watched, &j->before);
}

static void check_stale(struct world *w)
{
	struct judge *j = w->judge;
	struct task_state now;

	if (!j->found || j->watched_token >= j->before.token)
		return;
	if (!core_task_state(sim_core(w), j->watched, &now) || now.token == j->before.token) {
		if (now.status == j->before.status && now.attempt == j->before.attempt)
			return;
	} else if (j->before.status == TASK_QUEUED && now.status == TASK_CLAIMED) {
		return; /* the task's turn has come, by chance in this step */
	}
	world_fail(w, 8, "task %u: word of token %lld changes it at token %lld",
	    judge_number(w, j->watched), (long long)j->watched_token, (long long)j->before.token);
}

void judge_after(struct world *w, const struct event *ev)
{
	if (w->o.no_judge)
		return;
	judge_new_notices(w, ev);
	SIM_KINDS_DO(after, w, ev);
	if (w->judge->watches)
		check_stale(w);
	if (w->hostile)
		judge_hostile_after(w, ev);
}

void judge_notices(struct world *w, const struct effects *fx)
{
	struct judge *j = w->judge;

	for (size_t i = 0; i < fx->n_notices; i++) {
		uint64_t seq = fx->notices[i].seq;
		bool same = j->notice_incarnation == w->server->incarnation;

		if (same ? seq != j->last_notice + 1 : seq <= j->last_notice)
			world_fail(w, 28, "event %llu comes after %llu", (unsigned long long)seq,
			    (unsigned long long)j->last_notice);
		j->last_notice = seq;
		j->notice_incarnation = w->server->incarnation;
	}
}
