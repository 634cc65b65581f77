/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/tasks/{id}/history: every state a task has been in, when, why, and by whom. It is made of
 * what the row has anyway (its times, its earlier attempts) and of what operators did to it.
 *
 * Clocks do not order it: attempts have numbers, and each deed knows the attempt that was there.
 * Within an attempt the order is that of enum place.
 */
#include "model/task/history.h"
#include "api/objects/resource.h"
#include "api/objects/show.h"
#include "base/mem.h"
#include "model/limits.h"
#include "model/task/deeds.h"

#define SERVER_ACTOR STR("reeve")

enum place { CLAIMED, STARTED, DURING, ENDED, REQUEUED, AFTER, N_PLACES };

struct entry {
	int64_t time_ms;
	int status;
	const char *cause;
	struct str actor, reason;
	rid worker; /* of the attempt; 0: it is none's */
	int32_t attempt, exit_code, signal;
	bool times_doubtful;
	int64_t order;
};

struct past {
	struct arena *a;
	const struct task_row *t;
	struct entry *entries;
	size_t n, cap;
	bool cut; /* the oldest were dropped */
};

static struct entry *add(struct past *p, int32_t attempt, enum place at)
{
	struct entry *e;

	p->entries = arena_room(p->a, p->entries, p->n, &p->cap, sizeof *p->entries);
	e = &p->entries[p->n++];
	*e = (struct entry){.exit_code = -1,
	    .attempt = attempt,
	    .actor = SERVER_ACTOR,
	    .order = (int64_t)attempt * N_PLACES + at};
	return e;
}

/* A submit that holds leaves a deed; before that was so, there was no other trace of it than that
 * the task was released, or is held. A group blocks its jobs; everybody else holds. */
static int first_status(const struct task_row *t)
{
	bool is_job = t->spec.owner.id && t->spec.owner.kind == KIND_GROUP;
	struct str rest = t->state.deeds;
	struct deed d;

	while (deeds_next(&rest, &d))
		if (d.number == 0)
			return d.status;
		else if (d.verb == DEED_HOLD)
			return TASK_QUEUED;
		else if (d.verb == DEED_RELEASE)
			return is_job ? TASK_BLOCKED : HELD_STATUS;
	return task_is_held(t->state.status) && !t->state.attempt ? t->state.status : TASK_QUEUED;
}

static const char *first_cause(const struct owner *o)
{
	const struct resource *r = o->id ? resource_of((enum kind)o->kind) : NULL;

	return r && r->owner && r->owner->cause ? r->owner->cause : "submit";
}

static void add_submit(struct past *p)
{
	const struct task_row *t = p->t;
	struct entry *e = add(p, 0, CLAIMED);

	e->time_ms = t->ctime_ms;
	e->status = first_status(t);
	e->cause = first_cause(&t->spec.owner);
	if (t->spec.actor.p)
		e->actor = t->spec.actor;
	else if (!t->spec.owner.id)
		e->actor = STR_NULL; /* a task from before actors were written down */
}

/* Something that its worker did. */
static struct entry *add_work(struct past *p, const struct attempt *k, enum place at)
{
	struct entry *e = add(p, k->number, at);

	e->worker = k->worker;
	e->times_doubtful = k->times_doubtful;
	return e;
}

static void add_end(struct past *p, const struct attempt *k)
{
	struct entry *e = add_work(p, k, ENDED);

	e->time_ms = k->ended_ms;
	e->status = k->status;
	e->cause = "end";
	e->reason = k->reason;
	e->exit_code = k->exit_code;
	e->signal = k->signal;
}

static void add_attempt(struct past *p, const struct attempt *k)
{
	struct entry *e;

	if (k->claimed_ms) {
		e = add_work(p, k, CLAIMED);
		e->time_ms = k->claimed_ms;
		e->status = TASK_CLAIMED;
		e->cause = "claim";
	}
	if (k->started_ms) {
		e = add_work(p, k, STARTED);
		e->time_ms = k->started_ms;
		e->status = TASK_RUNNING;
		e->cause = "start";
	}
	if (task_is_ended(k->status) && k->ended_ms)
		add_end(p, k);
}

/* By the server, since it had attempts left; what an operator did is a deed. */
static void add_requeue(struct past *p, const struct attempt *k)
{
	struct str rest = p->t->state.deeds;
	struct entry *e;
	struct deed d;

	while (deeds_next(&rest, &d))
		if (d.verb == DEED_RETRY && d.attempt == k->number)
			return;
	e = add(p, k->number, REQUEUED);
	e->time_ms = k->ended_ms;
	e->status = TASK_QUEUED;
	e->cause = "again";
}

static void add_attempts(struct past *p)
{
	struct str rest = p->t->state.history;
	struct attempt k, last = {0};
	bool first = true;

	while (history_next(&rest, &k)) {
		p->cut |= first && k.number > 1;
		first = false;
		/* a task without an attempt was cancelled while it waited, and then retried: deeds
		 * tell that */
		if (k.claimed_ms && k.token != last.token) {
			add_attempt(p, &k);
			add_requeue(p, &k);
		}
		last = k;
	}
	attempt_of(&p->t->state, &k);
	if (k.claimed_ms && k.token != last.token)
		add_attempt(p, &k);
}

static void add_deeds(struct past *p)
{
	struct str rest = p->t->state.deeds;
	bool first = true;
	struct deed d;

	while (deeds_next(&rest, &d)) {
		bool live = d.status == TASK_CLAIMED || d.status == TASK_RUNNING;
		struct entry *e;

		p->cut |= first && d.number > 1;
		first = false;
		if (d.number == 0) /* the entry of its submit says it */
			continue;
		e = add(p, d.attempt, live ? DURING : AFTER);
		e->time_ms = d.time_ms;
		e->status = d.status;
		e->cause = deed_names[d.verb];
		e->actor = d.actor.n ? d.actor : STR_NULL;
		e->reason = d.reason;
	}
}

/* How it stands now, where nothing above says so: rows of older versions, and damaged ones. */
static void add_present(struct past *p)
{
	const struct task_state *s = &p->t->state;
	struct entry *e;

	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].status == s->status)
			return;
	e = add(p, s->attempt, AFTER);
	e->time_ms = s->mtime_ms;
	e->status = s->status;
	e->cause = "state";
	e->actor = STR_NULL;
	e->reason = s->reason;
}

/* Stable, and few. */
static void sort(struct past *p)
{
	for (size_t i = 1; i < p->n; i++) {
		struct entry e = p->entries[i];
		size_t at = i;

		for (; at > 0 && p->entries[at - 1].order > e.order; at--)
			p->entries[at] = p->entries[at - 1];
		p->entries[at] = e;
	}
}

static void write_entry(struct call *c, const struct entry *e)
{
	struct buf *b = &c->out;
	struct worker_view view;
	bool known = e->worker && core_worker(c->host->core, e->worker, 0, &view);

	jw_open(b, '{');
	jw_mtime_null(b, "time", e->time_ms);
	jw_mbool(b, "times_doubtful", e->times_doubtful);
	jw_mcstr(b, "state", task_state_name(e->status));
	jw_mi64(b, "status", e->status);
	jw_mcstr(b, "cause", e->cause);
	jw_mstr_null(b, "actor", e->actor);
	jw_mstr_null(b, "reason", e->reason.n ? e->reason : STR_NULL);
	jw_mi64_null(b, "attempt", e->attempt, e->attempt > 0);
	jw_mstr_null(b, "worker", known ? view.row->facts.shard : STR_NULL);
	jw_mid_null(b, "worker_id", c->host->ids, e->worker);
	jw_mi64_null(b, "exit_code", e->exit_code, e->exit_code >= 0);
	jw_mi64_null(b, "signal", e->signal, e->signal != 0);
	jw_close(b, '}');
}

static void history_done(struct call *c)
{
	struct past p = {.a = &c->arena, .t = &c->row};

	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	add_submit(&p);
	add_attempts(&p);
	add_deeds(&p);
	add_present(&p);
	sort(&p);
	jw_open(&c->out, '{');
	jw_key(&c->out, "id");
	jw_id(&c->out, c->host->ids, c->row.id);
	jw_mstr_null(&c->out, "name", c->row.spec.name);
	jw_mbool(&c->out, "complete", !p.cut);
	jw_key(&c->out, "items");
	jw_open(&c->out, '[');
	for (size_t i = 0; i < p.n; i++)
		write_entry(c, &p.entries[i]);
	jw_close(&c->out, ']');
	jw_close(&c->out, '}');
	call_json(c, 200);
}

void task_history(struct call *c)
{
	if (call_path_id(c, &c->about))
		call_read_task(c, history_done);
}
