/* SPDX-License-Identifier: Apache-2.0 */
/* Why a task waits: all the reasons at once, each with what would lift it. */
#include "core/internal.h"

#include "base/timefmt.h"

struct answer {
	struct arena *a;
	struct why *whys;
	size_t n, cap;
};

static struct why *add(struct answer *an, const char *code)
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
	return &an->whys[an->n++];
}

/* A name as one would type it into a shell. */
static struct str shell(struct arena *a, struct str name)
{
	bool plain = name.n > 0;

	for (size_t i = 0; i < name.n; i++)
		plain &= (name.p[i] >= 'a' && name.p[i] <= 'z') ||
		         (name.p[i] >= 'A' && name.p[i] <= 'Z') ||
		         (name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '-' ||
		         name.p[i] == '_' || name.p[i] == '.';
	return plain ? name : arena_strf(a, "'" STR_FMT "'", STR_ARG(name));
}

#define TYPED(name) STR_ARG(shell(an->a, name))
#define SAY(w, ...) ((w)->text = arena_strf(an->a, __VA_ARGS__))
#define LIFT(w, ...) ((w)->lift = arena_strf(an->a, __VA_ARGS__))

static void why_paused(struct answer *an, const struct queue *q, int64_t now_ms)
{
	char left[TIME_TEXT_MAX];
	struct why *w;

	if (!q->row.paused)
		return;
	w = add(an, "queue-paused");
	SAY(w, "the queue " STR_FMT " is paused%s" STR_FMT, STR_ARG(q->row.name),
	    q->row.pause_reason.n ? ": " : "", STR_ARG(q->row.pause_reason));
	if (q->row.paused_until_ms)
		LIFT(w, "it resumes by itself in %s, or with: reeve queue resume " STR_FMT,
		    time_human_ms(q->row.paused_until_ms - now_ms, left), TYPED(q->row.name));
	else
		LIFT(w, "reeve queue resume " STR_FMT, TYPED(q->row.name));
}

static void why_threads(struct answer *an, const struct queue *q)
{
	long long used = q->n_claimed + q->n_running;
	struct why *w;

	if (q->row.threads < 0 || used < q->row.threads)
		return;
	w = add(an, q->row.threads == 0 ? "queue-closed" : "queue-full");
	SAY(w, "the queue's limit is reached: %lld of %d threads in use", used, q->row.threads);
	if (q->row.threads == 0)
		LIFT(w, "reeve queue set " STR_FMT " --threads N", TYPED(q->row.name));
	else
		LIFT(w, "one of them ends, or: reeve queue set " STR_FMT " --threads %d",
		    TYPED(q->row.name), q->row.threads + 1);
}

struct fleet {
	int connected, away, unhealthy, leaving, full, allow_plugin, serve, room;
	struct {
		const char *why; /* static */
		int n;
	} refusals[4];
};

static void note_refusal(struct fleet *f, const char *why)
{
	size_t i = 0;

	while (i < 3 && f->refusals[i].why && f->refusals[i].why != why)
		i++;
	f->refusals[i].why = why;
	f->refusals[i].n++;
}

static struct str refusals_text(struct arena *a, const struct fleet *f)
{
	struct str text = STR("");

	for (size_t i = 0; i < 4 && f->refusals[i].why; i++)
		text = arena_strf(a, STR_FMT "%s%d %s", STR_ARG(text), i ? ", " : "",
		    f->refusals[i].n, f->refusals[i].why);
	return text;
}

static struct fleet survey(const struct core *c, const struct queue *q)
{
	struct fleet f = {0};
	struct worker *w;
	const char *why;

	EACH_OBJECT(w, c, KIND_WORKER)
	{
		bool serves = worker_serves(c, w, q, &why);

		f.away += !w->link && w->health.state != WORKER_MUST_DIE && serves;
		if (!w->link)
			continue;
		f.connected++;
		f.allow_plugin += lines_has(w->row.facts.plugins, q->row.plugin);
		if (!serves) {
			note_refusal(&f, why);
			continue;
		}
		f.serve++;
		if (w->health.state != WORKER_HEALTHY)
			f.unhealthy++;
		else if (w->leaving)
			f.leaving++;
		else if (worker_has_room(c, w))
			f.room++;
		else
			f.full++;
	}
	return f;
}

/* Some are full, some sick, some about to go: each has its own cure. */
static void why_no_room(struct answer *an, const struct fleet *f)
{
	struct why *w;

	if (f->full) {
		w = add(an, "workers-full");
		SAY(w, "%d of %d worker%s that serve%s the queue %s at maxthreads", f->full,
		    f->serve, f->serve == 1 ? "" : "s", f->serve == 1 ? "s" : "",
		    f->full == 1 ? "is" : "are");
		LIFT(w, "a running task ends, another worker joins, or: "
		        "reeve worker set NAME --maxthreads N");
	}
	if (f->unhealthy) {
		w = add(an, "workers-unhealthy");
		SAY(w, "%d of %d worker%s that serve%s the queue %s not healthy", f->unhealthy,
		    f->serve, f->serve == 1 ? "" : "s", f->serve == 1 ? "s" : "",
		    f->unhealthy == 1 ? "is" : "are");
		LIFT(w, "what each of them waits for, and until when: reeve status");
	}
	if (f->leaving) {
		w = add(an, "workers-leaving");
		SAY(w, "%d of %d worker%s that serve%s the queue %s leaving", f->leaving, f->serve,
		    f->serve == 1 ? "" : "s", f->serve == 1 ? "s" : "",
		    f->leaving == 1 ? "is" : "are");
		LIFT(w, "start another: reeve worker --join HOST:PORT");
	}
}

static void why_workers(struct answer *an, const struct core *c, const struct queue *q)
{
	struct fleet f = survey(c, q);
	struct why *w;

	if (f.connected == 0) {
		w = add(an, "no-workers");
		SAY(w, "no worker is connected%s", f.away ? " (some are away)" : "");
		LIFT(w, "start one: reeve worker --join HOST:PORT");
	} else if (f.allow_plugin == 0) {
		w = add(an, "plugin-not-allowed");
		SAY(w, "no connected worker allows the plugin " STR_FMT ", so the queue is ignored",
		    STR_ARG(q->row.plugin));
		LIFT(w,
		    "add it to `plugins` in a worker's configuration, or give the queue another: "
		    "reeve queue set " STR_FMT " --plugin NAME",
		    TYPED(q->row.name));
	} else if (f.serve == 0) {
		w = add(an, "no-worker-serves-queue");
		SAY(w, "of %d connected workers none serves the queue: " STR_FMT, f.connected,
		    STR_ARG(refusals_text(an->a, &f)));
		LIFT(w, "change activequeues or ignorequeues of a worker");
	} else if (f.room == 0) {
		why_no_room(an, &f);
	}
}

/* A lost worker may still be ending it; the clock on the wall has no say in this. */
static void why_hold(struct answer *an, const struct task *t, int64_t mono_ms)
{
	char left[TIME_TEXT_MAX];
	struct why *w;

	w = add(an, "lost-hold");
	SAY(w, "the worker that had it was lost, and may still be ending it%s" STR_FMT,
	    t->row.state.reason.n ? ": " : "", STR_ARG(t->row.state.reason));
	LIFT(w, "the hold for lost workers' tasks is over in %s",
	    time_human_ms(t->hold_until_ms > mono_ms ? t->hold_until_ms - mono_ms : 0, left));
}

static void why_due(struct answer *an, const struct task_state *s, int64_t now_ms)
{
	char when[TIME_TEXT_MAX], left[TIME_TEXT_MAX];
	struct why *w;

	if (s->due_ms <= now_ms)
		return;
	w = add(an, s->attempt ? "backoff" : "run-after");
	if (s->attempt)
		SAY(w, "it waits before attempt %d%s" STR_FMT, s->attempt + 1,
		    s->reason.n ? "; the last one: " : "", STR_ARG(s->reason));
	else
		SAY(w, "it was asked to run later");
	LIFT(w, "at %s, in %s", time_format_ms(s->due_ms, when),
	    time_human_ms(s->due_ms - now_ms, left));
}

static void why_queued(struct answer *an, const struct core *c, const struct queue *q,
    const struct task *t, const struct task_state *s, int64_t now_ms, int64_t mono_ms)
{
	struct window *ready = &((struct queue *)q)->ready;
	char left[TIME_TEXT_MAX];
	struct why *w;

	if (c->start.waiting) {
		w = add(an, "initial-wait");
		SAY(w, "the server was restarted and must first know what its workers run");
		LIFT(w, "they all speak, or in %s; which are missing: reeve status",
		    time_human_ms(c->start.until_ms - mono_ms, left));
	}
	if (t && timer_is_set(&t->hold))
		why_hold(an, t, mono_ms);
	else
		why_due(an, s, now_ms);
	why_paused(an, q, now_ms);
	why_threads(an, q);
	why_workers(an, c, q);
	if (s->due_ms <= now_ms && !(t && timer_is_set(&t->hold)) &&
	    q->n_queued - q->n_delayed > 1) {
		w = add(an, "behind-others");
		SAY(w, "%lld tasks of the queue are ready to start; order is %s",
		    (long long)(q->n_queued - q->n_delayed), queue_order_names[q->row.order]);
		LIFT(w, "its turn comes%s",
		    q->row.order == ORDER_PRIORITY
		        ? "; a higher priority brings it forward: reeve task set ID --priority N"
		        : "");
	}
	if (!an->n) {
		w = add(an, "starting");
		SAY(w, "nothing holds it: it is about to start%s",
		    ready->reading ? " once the queue's head is read" : "");
		LIFT(w, "a moment");
	}
}

static void why_dispatched(
    struct answer *an, const struct core *c, const struct task *t, int64_t mono_ms)
{
	const struct worker *w = t ? t->worker : NULL;
	char left[TIME_TEXT_MAX];
	int64_t lost_in;
	struct why *y;

	if (!w)
		return;
	lost_in = wait_lost_in_ms(c, w, mono_ms);
	if (!w->link) {
		y = add(an, "unsure");
		SAY(y,
		    "its worker " STR_FMT " is away: whether it still runs is not known, so it "
		    "counts as running",
		    STR_ARG(w->row.facts.shard));
		LIFT(y,
		    "the worker returns, or is declared lost in %s; if its machine is certainly "
		    "gone: reeve worker rm --lost " STR_FMT,
		    time_human_ms(lost_in > 0 ? lost_in : 0, left), TYPED(w->row.facts.shard));
	} else if (t->unsure) {
		y = add(an, "unsure");
		SAY(y,
		    "worker " STR_FMT
		    " was told to start it and has not said whether it did: it counts "
		    "as running",
		    STR_ARG(w->row.facts.shard));
		LIFT(y, "the worker answers; it is asked again in %s",
		    time_human_ms(w->next_poll_ms > mono_ms ? w->next_poll_ms - mono_ms : 0, left));
	} else if (t->row.state.wish == WISH_CANCEL) {
		y = add(an, "cancelling");
		SAY(y, "worker " STR_FMT " is ending it", STR_ARG(w->row.facts.shard));
		LIFT(y, "its processes end");
	} else {
		y = add(an, "running");
		SAY(y, "it is %s worker " STR_FMT "%s",
		    t->row.state.status == TASK_RUNNING ? "running on" : "on its way to",
		    STR_ARG(w->row.facts.shard), lost_in >= 0 ? ", which is not healthy" : "");
		if (lost_in >= 0)
			LIFT(y, "it ends, or its worker is lost in %s",
			    time_human_ms(lost_in, left));
		else
			LIFT(y, "it ends");
	}
}

static void why_held(struct answer *an, const struct task_state *s)
{
	struct why *w = add(an, s->status == TASK_BLOCKED ? "blocked" : "held");

	SAY(w, "it is held back by status %d%s" STR_FMT, s->status, s->reason.n ? ": " : "",
	    STR_ARG(s->reason));
	LIFT(w, "reeve task release ID");
}

size_t core_why(const struct core *c, const struct task_row *row, int64_t now_ms, int64_t mono_ms,
    struct arena *a, struct why **ret_whys)
{
	struct task *t = task_find(c, row->id);
	const struct task_state *s = t ? &t->row.state : &row->state;
	struct queue *q = queue_find(c, row->spec.queue);
	struct answer an = {.a = a};

	if (q && task_phase(s->status) == PHASE_QUEUED)
		why_queued(&an, c, q, t, s, now_ms, mono_ms);
	else if (task_phase(s->status) == PHASE_HELD)
		why_held(&an, s);
	else
		why_dispatched(&an, c, t, mono_ms);
	*ret_whys = an.whys;
	return an.n;
}
