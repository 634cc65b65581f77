/* SPDX-License-Identifier: Apache-2.0 */
/* Why a task waits: all the reasons at once, each with the facts that say what would lift it. */
#include "core/state.h"

const char *const why_names[N_WHYS] = {
#define X(code, name) [code] = name,
    WHY_TABLE(X)
#undef X
};

struct facts *why_add(struct why_answer *an, enum why_code code)
{
	struct why *bigger;

	if (an->n == an->cap) {
		an->cap = an->cap ? an->cap * 2 : 8;
		bigger = arena_alloc(an->a, an->cap * sizeof *bigger);
		for (size_t i = 0; i < an->n; i++)
			bigger[i] = an->whys[i];
		an->whys = bigger;
	}
	an->whys[an->n] = (struct why){.code = code};
	return &an->whys[an->n++].facts;
}

static int64_t left_ms(int64_t until_ms, int64_t now_ms)
{
	return until_ms > now_ms ? until_ms - now_ms : 0;
}

static void why_paused(struct why_answer *an, const struct queue *q, int64_t now_ms)
{
	bool ends = q->row.pause.until_ms != 0;

	if (q->row.paused)
		*why_add(an, ends ? WHY_QUEUE_PAUSED_UNTIL : WHY_QUEUE_PAUSED) =
		    (struct facts){.name = q->row.name,
		        .reason = q->row.pause.reason,
		        .in_ms = ends ? q->row.pause.until_ms - now_ms : 0};
}

static void why_threads(struct why_answer *an, const struct queue *q)
{
	int64_t used = q->n_claimed + q->n_running;

	if (q->row.threads >= 0 && used >= q->row.threads)
		*why_add(an, q->row.threads == 0 ? WHY_QUEUE_CLOSED : WHY_QUEUE_FULL) =
		    (struct facts){.name = q->row.name, .n = used, .of = q->row.threads};
}

struct fleet {
	int connected, away, unhealthy, leaving, allow_plugin, serve, room, too_old;
	/* at maxthreads; at maxthreads 0; drained: `n`, and of the first `name`, `reason`, and
	 * in `other` who drained it */
	struct facts full, closed, drained;
	struct facts refusals; /* of workers that do not serve it: enum unserved */
};

static void note_refusal(struct facts *f, enum unserved why)
{
	size_t i = 0;

	while (f->unserved[i].n && f->unserved[i].why != why)
		i++;
	f->unserved[i].why = why;
	f->unserved[i].n++;
}

/* One that takes nothing at all has another cure than one that is busy. */
static void note_no_room(struct fleet *f, const struct core *c, const struct worker *w)
{
	struct facts *which = w->row.drained                 ? &f->drained
	                      : worker_maxthreads(c, w) == 0 ? &f->closed
	                                                     : &f->full;

	if (which->n++ > 0)
		return;
	which->name = w->row.facts.shard;
	which->reason = w->row.drain_reason;
	if (which == &f->drained)
		which->other = str_of(w->drained_by);
}

static struct fleet survey(
    const struct core *c, const struct queue *q, const struct task_spec *spec)
{
	struct fleet f = {0};
	struct worker *w;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		enum unserved why = worker_unserved(c, w, q);

		f.away +=
		    !w->link && !w->row.departed && w->health.state != WORKER_MUST_DIE && !why;
		if (!w->link)
			continue;
		f.connected++;
		f.allow_plugin += why != UNSERVED_PLUGIN;
		if (why) {
			note_refusal(&f.refusals, why);
			continue;
		}
		f.serve++;
		if (w->health.state != WORKER_HEALTHY)
			f.unhealthy++;
		else if (w->leaving)
			f.leaving++;
		else if (!worker_takes(c, w, spec))
			f.too_old++;
		else if (worker_has_room(c, w))
			f.room++;
		else
			note_no_room(&f, c, w);
	}
	f.full.of = f.closed.of = f.drained.of = f.serve;
	return f;
}

/* Some are full, some sick, some about to go: each has its own cure. */
static void why_no_room(struct why_answer *an, const struct fleet *f)
{
	if (f->full.n)
		*why_add(an, WHY_WORKERS_FULL) = f->full;
	if (f->closed.n)
		*why_add(an, WHY_WORKERS_CLOSED) = f->closed;
	if (f->drained.n)
		*why_add(an, WHY_WORKERS_DRAINED) = f->drained;
	if (f->unhealthy)
		*why_add(an, WHY_WORKERS_UNHEALTHY) =
		    (struct facts){.n = f->unhealthy, .of = f->serve};
	if (f->too_old)
		*why_add(an, WHY_WORKERS_TOO_OLD) = (struct facts){.n = f->too_old, .of = f->serve};
	if (f->leaving)
		*why_add(an, WHY_WORKERS_LEAVING) = (struct facts){.n = f->leaving, .of = f->serve};
}

static void why_workers(struct why_answer *an, const struct core *c, const struct queue *q,
    const struct task_spec *spec)
{
	struct fleet f = survey(c, q, spec);

	f.refusals.n = f.connected;
	if (f.connected == 0)
		why_add(an, f.away ? WHY_NO_WORKERS_AWAY : WHY_NO_WORKERS);
	else if (f.allow_plugin == 0)
		*why_add(an, WHY_PLUGIN_NOT_ALLOWED) =
		    (struct facts){.name = q->row.name, .other = q->row.plugin};
	else if (f.serve == 0)
		*why_add(an, WHY_NO_WORKER_SERVES) = f.refusals;
	else if (f.room == 0)
		why_no_room(an, &f);
}

static void why_due(struct why_answer *an, const struct task_state *s, int64_t now_ms)
{
	if (s->due_ms > now_ms)
		*why_add(an, s->attempt > s->attempts_before ? WHY_BACKOFF : WHY_RUN_AFTER) =
		    (struct facts){
		        .n = s->attempt + 1,
		        .reason = s->reason,
		        .at_ms = s->due_ms,
		        .in_ms = s->due_ms - now_ms,
		    };
}

/* A lost worker may still be ending it; the clock on the wall has no say in this. */
static void why_hold(struct why_answer *an, const struct task *t, int64_t mono_ms)
{
	*why_add(an, WHY_LOST_HOLD) = (struct facts){
	    .reason = t->row.state.reason, .in_ms = left_ms(t->hold_until_ms, mono_ms)};
}

static bool is_hopeless(enum why_code code)
{
	return code == WHY_NEED_PLACE || code == WHY_NEED_TOO_MUCH || code == WHY_NEED_NO_OFFERS ||
	       code == WHY_RESOURCE_TOO_MUCH;
}

/* The reasons that a task which is held meets as well, once it is released. */
static void why_not_now(struct why_answer *an, const struct core *c, const struct queue *q,
    const struct task *t, const struct task_row *row, int64_t now_ms, int64_t mono_ms)
{
	const struct task_state *s = t ? &t->row.state : &row->state;
	bool held_back = t && timer_is_set(&t->hold);
	size_t before;

	if (c->start.waiting)
		why_add(an, WHY_INITIAL_WAIT)->in_ms = c->start.until_ms - mono_ms;
	if (held_back)
		why_hold(an, t, mono_ms);
	else
		why_due(an, s, now_ms);
	why_paused(an, q, now_ms);
	why_threads(an, q);
	why_workers(an, c, q, &row->spec);
	before = an->n;
	why_need(an, c, q, row);
	an->lacks = an->n > before;
	for (size_t i = before; i < an->n; i++)
		an->hopeless |= is_hopeless(an->whys[i].code);
}

/* Whether somebody has to start before it. Who needs what is not there waits for that, and others
 * pass it by: then only its like are before it, and it is not before others. */
static bool is_behind(const struct queue *q, const struct task *t, bool lacks)
{
	struct task *first;

	if (!t || t->window != &q->ready)
		return q->n_queued - q->n_delayed > 1; /* beyond what is in memory */
	first = window_first((struct window *)&q->ready);
	for (struct task *at = first; at && at != t; at = window_next(at)) {
		const struct shape *shape = at->shape ? at->shape : &q->shapes.plain;

		if (at->shape == t->shape || (!lacks && !shape->is_blocked))
			return true;
	}
	return false;
}

static void why_queued(struct why_answer *an, const struct queue *q, const struct task *t,
    const struct task_state *s, int64_t now_ms)
{
	bool is_waiting = s->due_ms > now_ms || (t && timer_is_set(&t->hold));

	if (!is_waiting && !an->hopeless && is_behind(q, t, an->lacks))
		*why_add(an, q->row.order == ORDER_PRIORITY ? WHY_BEHIND_OTHERS_BY_PRIORITY
		                                            : WHY_BEHIND_OTHERS) =
		    (struct facts){.n = q->n_queued - q->n_delayed - 1, .order = q->row.order};
	if (!an->n)
		why_add(an, q->ready.reading ? WHY_STARTING_ONCE_READ : WHY_STARTING);
}

static enum why_code code_of_dispatched(const struct task *t, bool is_unhealthy)
{
	if (!t->worker->link)
		return WHY_WORKER_AWAY;
	if (t->unsure)
		return WHY_NO_ANSWER;
	if (task_is_told(&t->row.state))
		return WHY_CANCELLING;
	if (t->row.state.status == TASK_RUNNING)
		return is_unhealthy ? WHY_RUNNING_ON_UNHEALTHY : WHY_RUNNING;
	return is_unhealthy ? WHY_ON_ITS_WAY_TO_UNHEALTHY : WHY_ON_ITS_WAY;
}

static void why_dispatched(
    struct why_answer *an, const struct core *c, const struct task *t, int64_t mono_ms)
{
	const struct worker *w = t ? t->worker : NULL;
	enum why_code code;
	int64_t lost_in;

	if (!w)
		return;
	lost_in = wait_lost_in_ms(c, w, mono_ms);
	code = code_of_dispatched(t, lost_in >= 0);
	*why_add(an, code) = (struct facts){.name = w->row.facts.shard,
	    .in_ms =
	        code == WHY_NO_ANSWER ? left_ms(w->next_poll_ms, mono_ms) : left_ms(lost_in, 0)};
}

/* The last one to do so. One that its submit held has nobody's deed for that. */
static struct str held_by(const struct task_row *row)
{
	struct str rest = row->state.deeds, by = STR_NULL;
	struct deed d;

	while (deeds_next(&rest, &d))
		if (d.verb == DEED_HOLD)
			by = d.number ? d.actor : row->spec.actor;
	return by;
}

static void why_held(struct why_answer *an, const struct task_row *row)
{
	const struct task_state *s = &row->state;

	*why_add(an, s->status == TASK_BLOCKED ? WHY_BLOCKED : WHY_HELD) =
	    (struct facts){.n = s->status, .reason = s->reason, .other = held_by(row)};
}

static void why_task(struct why_answer *an, const struct core *c, const struct task *t,
    const struct task_row *row, int64_t now_ms, int64_t mono_ms)
{
	enum task_phase phase = task_phase(row->state.status);
	const struct queue *q = queue_find(c, row->spec.queue);

	if (phase == PHASE_HELD)
		why_held(an, row);
	if (q && (phase == PHASE_HELD || phase == PHASE_QUEUED))
		why_not_now(an, c, q, t, row, now_ms, mono_ms);
	if (q && phase == PHASE_QUEUED)
		why_queued(an, q, t, &row->state, now_ms);
	if (phase != PHASE_HELD && phase != PHASE_QUEUED)
		why_dispatched(an, c, t, mono_ms);
}

size_t core_why(const struct core *c, const struct task_row *row, int64_t now_ms, int64_t mono_ms,
    struct arena *a, struct why **ret_whys)
{
	struct task *t = task_find(c, row->id);
	const struct task_row *now = t ? &t->row : row;
	struct why_answer an = {.a = a, .mono_ms = mono_ms};
	char text[ID_TEXT];
	struct str id = arena_str(a, str_of(id_format(&c->ids, row->id, text)));

	if (!owner_why(&an, c, now, now->state.status))
		why_task(&an, c, t, now, now_ms, mono_ms);
	for (size_t i = 0; i < an.n; i++)
		an.whys[i].facts.task = id;
	*ret_whys = an.whys;
	return an.n;
}
