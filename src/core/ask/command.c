/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what people ask of tasks, and the way from a command to its one reply. */
#include "core/state.h"

#include "core/ask/idem.h"

static struct outcome refused(const struct task *t, const char *why)
{
	return (struct outcome){t->row.id, ERR_CONFLICT, false, t->row.state.status, why};
}

static struct outcome not_known(const struct task *t)
{
	struct outcome o =
	    refused(t, "the server does not know yet whether it runs: it waits for its workers");

	o.hint = HINT_HOW_LONG;
	return o;
}

static struct outcome done(rid id, int32_t status)
{
	return (struct outcome){.id = id, .status = status};
}

static enum deed_verb deed_of(const struct event *cancel)
{
	return cancel->tasks.fails ? DEED_FAIL : DEED_CANCEL;
}

static struct outcome cancel_dispatched(
    struct core *c, struct task *t, struct str reason, const struct event *ev, struct effects *out)
{
	task_note_deed(c, t, deed_of(ev), t->row.state.status, ev, out);
	task_tell_end(c, t, ev->tasks.fails ? WISH_FAIL : WISH_CANCEL, reason, out);
	return done(t->row.id, t->row.state.status);
}

struct outcome task_call_off(
    struct core *c, struct task *t, const struct event *ev, struct effects *out)
{
	int end = ev->tasks.fails && !MUTANT(FAIL_IS_CANCEL) ? TASK_FAILED : TASK_CANCELLED;
	struct str reason = ev->tasks.reason;
	const char *why_not = ev->tasks.fails ? owner_refuses(c, t, ev) : NULL;
	rid id = t->row.id;

	if (ev->tasks.fails && !owner_may_fail(c, t))
		return refused(t, "it is no job of a group: cancel it");
	if (why_not)
		return refused(t, why_not);
	if (start_may_run(c, &t->row))
		return not_known(t);
	if (!reason.n)
		reason = ev->tasks.fails ? STR("an operator failed it") : STR("cancelled");
	if (ev->tasks.fails && task_phase(t->row.state.status) != PHASE_ENDED)
		owner_failed(c, t, reason, ev->actor, out);
	switch (task_phase(t->row.state.status)) {
	case PHASE_ENDED: return refused(t, "it has ended already");
	case PHASE_CLAIMED:
	case PHASE_RUNNING: return cancel_dispatched(c, t, reason, ev, out);
	default:
		task_note_deed(c, t, deed_of(ev), end, ev, out);
		task_move(c, t, end, reason, out);
		task_forget(c, t);
		return done(id, end);
	}
}

static struct outcome retry(
    struct core *c, struct task *t, const struct event *ev, struct effects *out)
{
	const char *why_not;
	rid id = t->row.id, holder;

	if (!task_is_ended(t->row.state.status))
		return refused(t, "it has not ended");
	if (t->row.spec.is_streamed)
		return refused(t, "its input was streamed, and went with its end: submit it again");
	if ((why_not = owner_refuses(c, t, ev)))
		return refused(t, why_not);
	if (t->row.spec.key.p) {
		holder = lane_holder_of(c, t);
		if (holder && holder != id)
			return refused(t, "another live task has its unique key by now");
		lane_take_key(c, t->row.spec.queue, t->row.spec.key, id);
	}
	task_unghost(c, t);
	task_note_deed(c, t, DEED_RETRY, TASK_QUEUED, ev, out);
	task_begin_anew(c, t, lane_row(c, id), out);
	return done(id, TASK_QUEUED);
}

static void set_priority(struct core *c, struct task *t, int32_t priority)
{
	window_del(c, t);
	t->row.spec.priority = priority;
	t->row.state.rank = queue_rank(t->queue, priority);
}

static struct outcome set(
    struct core *c, struct task *t, const struct event *ev, struct effects *out)
{
	int status = t->row.state.status, to = ev->tasks.has_status ? ev->tasks.status : status;
	const char *why_not;
	rid id = t->row.id;

	if (task_phase(status) != PHASE_QUEUED && task_phase(status) != PHASE_HELD)
		return refused(t, "it has left the queue");
	if ((why_not = owner_refuses(c, t, ev)))
		return refused(t, why_not);
	if (to != status && (to == TASK_QUEUED || to == TASK_BLOCKED))
		to = owner_released(c, t, to);
	if (to == TASK_BLOCKED && to == status && ev->tasks.status == TASK_QUEUED)
		return refused(t, "nobody holds it: it waits for the jobs that it needs");
	if (to != TASK_QUEUED && start_may_run(c, &t->row))
		return not_known(t);
	if (ev->tasks.has_priority) {
		set_priority(c, t, ev->tasks.priority);
		task_note_deed(c, t, DEED_PRIORITY, status, ev, out);
	}
	if (to != status)
		task_note_deed(c, t, to == TASK_QUEUED ? DEED_RELEASE : DEED_HOLD, to, ev, out);
	if (to != status)
		task_move(c, t, to, ev->tasks.reason, out);
	else
		task_save(c, t, out);
	if (to == TASK_QUEUED) {
		window_del(c, t);
		task_enqueue(c, t, out);
	} else {
		task_forget(c, t);
	}
	return done(id, to);
}

/* In memory, or as the lane has just read it. */
static struct task *find_or_load(struct core *c, rid id)
{
	struct task *t = task_find(c, id);
	const struct task_row *row;

	if (t)
		return t;
	row = lane_row(c, id);
	if (!row || !row->id || !queue_find(c, row->spec.queue))
		return NULL;
	return task_new(c, row);
}

void task_put_back(struct core *c, rid id, struct effects *out)
{
	struct task *t = task_find(c, id);

	if (!t || t->worker || t->window || t->ghost_read)
		return;
	if (t->row.state.status == TASK_QUEUED)
		task_enqueue(c, t, out);
	else
		task_forget(c, t);
}

static void tasks_run(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct outcome *o = arena_alloc(&out->batch.arena, (ev->tasks.n + 1) * sizeof *o);

	for (size_t i = 0; i < ev->tasks.n; i++) {
		struct task *t = find_or_load(c, ev->tasks.ids[i]);

		if (!t)
			o[i] = (struct outcome){
			    ev->tasks.ids[i], ERR_NOT_FOUND, false, 0, "there is no such task"};
		else if (ev->kind == EV_CANCEL)
			o[i] = task_call_off(c, t, ev, out);
		else if (ev->kind == EV_RETRY)
			o[i] = retry(c, t, ev, out);
		else
			o[i] = set(c, t, ev, out);
		task_put_back(c, ev->tasks.ids[i], out);
	}
	r->outcomes = o;
	r->n = ev->tasks.n;
}

static void remember(
    struct core *c, const struct event *ev, const struct reply *r, struct effects *out)
{
	struct arena *a = &out->batch.arena;
	struct idem_row *row = arena_zalloc(a, sizeof *row);

	row->key = arena_str(a, ev->idem_key);
	row->fingerprint = ev->idem_fingerprint;
	row->time_ms = c->now_ms;
	row->result = idem_pack(a, r);
	batch_put(&out->batch, &idem_table, row);
}

static int replay(
    const struct event *ev, const struct idem_row *row, struct reply *r, struct effects *out)
{
	if (row->damaged) {
		problem_set(r->problem, ERR_STORE,
		    "the answer that was kept for this Idempotency-Key is damaged");
		return problem_hint(r->problem,
		    "nothing was done now; see what the first request did, and use a fresh key");
	}
	if (row->fingerprint != ev->idem_fingerprint) {
		problem_set(r->problem, ERR_REUSED_KEY,
		    "this Idempotency-Key was used for a different request");
		return problem_hint(r->problem, "use a fresh key for each new request");
	}
	if (!idem_unpack(&out->batch.arena, row->result, r))
		return problem_set(r->problem, ERR_STORE, "the stored answer can't be read");
	r->replayed = true;
	return 0;
}

static int dispatch(struct core *c, const struct event *ev, const struct pending *p,
    struct reply *r, struct effects *out)
{
	switch (ev->kind) {
	case EV_HELLO:
		c->start.parked_hellos--;
		hello(c, ev, out);
		return 0;
	case EV_SUBMIT: return submit_run(c, ev, p, r, out);
	case EV_CANCEL:
	case EV_RETRY:
	case EV_TASK_SET: tasks_run(c, ev, r, out); return 0;
	case EV_INPUT: return input_append(c, ev, r, out);
	default: return object_command(c, ev, r, out);
	}
}

int command_run(struct core *c, const struct event *ev, struct pending *p, struct effects *out)
{
	struct reply r = {.ticket = ev->ticket, .time_ms = c->now_ms};

	r.problem = arena_zalloc(&out->batch.arena, sizeof *r.problem);
	r.hint = arena_zalloc(&out->batch.arena, sizeof *r.hint);
	if (p && p->idem && p->idem->key.p) {
		r.code = replay(ev, p->idem, &r, out);
	} else {
		r.code = dispatch(c, ev, p, &r, out);
		if (ev->idem_key.p && r.code == 0)
			remember(c, ev, &r, out);
	}
	if (ev->ticket)
		*effects_reply(out, ev->ticket) = r;
	return r.code;
}
