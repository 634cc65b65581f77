/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs whose outcome is not known. A run is sent once per token, ever. Its answer is "started",
 * "certainly not", or silence; after silence (or a lost link) the task is unsure: it counts as
 * running, and the worker is asked, at once and then ever more slowly, which of such tasks it does
 * not have. What it calls absent will never start there, for by answering it has adopted a number
 * above that of every run sent before. What it has is running until we are told otherwise.
 */
#include "core/state.h"

#define POLL_FIRST_MS 2000
#define POLL_MOST_MS 256000
#define ASKED_MAX 4096
#define POLL_TIE ((rid)1 << 60) /* the worker's other timer has its plain id */

static timer_fn look; /* at what was ordered, and what is unsure */

static void arm(struct core *c, struct worker *w, int64_t at)
{
	if (!timer_is_set(&w->poll) || at < w->poll.node.at)
		timer_set(c, TIMER_MONO, &w->poll, at, w->row.id | POLL_TIE, look);
}

void unsure_ordered(struct core *c, struct task *t)
{
	t->ordered_ms = c->mono_ms;
	arm(c, t->worker, c->mono_ms + c->o.run_wait_ms);
}

void unsure_settle(struct task *t)
{
	t->ordered_ms = 0;
	if (!t->unsure)
		return;
	t->unsure = false;
	t->worker->n_unsure--;
}

static void become_unsure(struct core *c, struct task *t)
{
	struct worker *w = t->worker;

	if (t->unsure)
		return;
	t->unsure = true;
	if (MUTANT(UNSURE_HOLDS_NOTHING))
		charge_release(c, t);
	if (w->n_unsure++ == 0 || w->next_poll_ms > c->mono_ms + POLL_FIRST_MS) {
		w->next_poll_ms = c->mono_ms; /* a new doubt: ask at once */
		w->poll_wait_ms = POLL_FIRST_MS;
	}
}

void unsure_link_lost(struct core *c, struct worker *w)
{
	struct task *t;

	TAILQ_FOREACH (t, &w->tasks, on_worker)
		if (t->ordered_ms)
			become_unsure(c, t);
	timer_clear(c, TIMER_MONO, &w->poll); /* the next hello tells */
}

void unsure_forget(struct core *c, struct worker *w)
{
	timer_clear(c, TIMER_MONO, &w->poll);
	w->poll_wait_ms = POLL_FIRST_MS;
	w->next_poll_ms = c->mono_ms;
}

static void ask(struct core *c, struct worker *w, struct effects *out)
{
	size_t most = w->n_unsure < ASKED_MAX ? (size_t)w->n_unsure : ASKED_MAX;
	struct run_ref *refs = arena_alloc(&out->batch.arena, most * sizeof *refs);
	struct task *t;
	size_t n = 0;

	TAILQ_FOREACH (t, &w->tasks, on_worker)
		if (t->unsure && n < most)
			refs[n++] = (struct run_ref){t->row.id, t->row.state.token};
	if (!MUTANT(NOTIFY_SEQ_NOT_RAISED))
		w->notify_seq++; /* after the list is made: above every run it asks about */
	effects_message(out, MSG_NOTIFY, w->link)->notify =
	    (struct link_notify){w->notify_seq, refs, n};
	w->next_poll_ms = c->mono_ms + w->poll_wait_ms;
	w->poll_wait_ms = w->poll_wait_ms * 2 > POLL_MOST_MS ? POLL_MOST_MS : w->poll_wait_ms * 2;
}

/* Marks what has waited too long; returns when the next one will have. */
static int64_t find_overdue(struct core *c, struct worker *w)
{
	int64_t next = INT64_MAX;
	struct task *t;

	TAILQ_FOREACH (t, &w->tasks, on_worker) {
		int64_t at = t->ordered_ms + c->o.run_wait_ms;

		if (!t->ordered_ms || t->unsure)
			continue;
		if (at <= c->mono_ms)
			become_unsure(c, t);
		else if (at < next)
			next = at;
	}
	return next;
}

static void look(struct core *c, struct timer *t, struct effects *out)
{
	struct worker *w = CONTAINER_OF(t, struct worker, poll);
	int64_t next;

	if (!w->link)
		return;
	next = find_overdue(c, w);
	if (w->n_unsure && w->next_poll_ms <= c->mono_ms)
		ask(c, w, out);
	if (w->n_unsure && w->next_poll_ms < next)
		next = w->next_poll_ms;
	if (next != INT64_MAX)
		arm(c, w, next);
}

static void is_held(
    struct core *c, struct worker *w, const struct link_held *h, struct effects *out)
{
	struct task *t = report_current(c, w, h->task, h->token);

	if (!t)
		return;
	unsure_settle(t);
	if (h->started_ms && t->row.state.status == TASK_CLAIMED) {
		t->row.state.started_ms = h->started_ms;
		task_move(c, t, TASK_RUNNING, task_told_why(t), out);
	}
}

/* Never instead of a real word: only of what we are unsure about, and only of this attempt. */
static void is_absent(
    struct core *c, struct worker *w, const struct link_held *h, struct effects *out)
{
	struct task *t = report_current(c, w, h->task, h->token);

	if (MUTANT(ABSENT_UNCHECKED))
		t = task_find(c, h->task);
	else if (t && (!t->unsure || t->row.state.status != TASK_CLAIMED))
		t = NULL;
	if (!t || t->worker != w)
		return;
	report_absent(c, t, STR("the worker never received it"), 0, out);
}

void unsure_answer(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w = worker_by_link(c, ev->link);

	if (!w || ev->notified.seq > w->notify_seq)
		return;
	watch_heard(c, w, out);
	for (size_t i = 0; i < ev->notified.n_held; i++)
		is_held(c, w, &ev->notified.held[i], out);
	for (size_t i = 0; i < ev->notified.n_absent; i++)
		is_absent(c, w, &ev->notified.absent[i], out);
}
