/* SPDX-License-Identifier: Apache-2.0 */
/* Processes: what is true, whatever anybody believes. */
#include <string.h>

#include "sim/judge/judge_internal.h"
#include "sim/kind.h"

static void check_order(struct world *w, const struct truth_task *t, int64_t token)
{
	if (token == t->started_token)
		world_fail(w, 4, "task %u/%lld starts a second time", t->number, (long long)token);
	else if (token < t->started_token)
		world_fail(w, 6, "task %u/%lld starts after %lld did", t->number, (long long)token,
		    (long long)t->started_token);
	if (t->running && !t->is_risked)
		world_fail(w, 5, "task %u/%lld starts while %lld runs", t->number, (long long)token,
		    (long long)t->started_token);
}

static void check_promises(struct world *w, const struct truth_task *t, const struct sim_process *p)
{
	if (t->absent_instance == p->instance && p->token <= t->absent_token)
		world_fail(w, 12, "task %u/%lld starts where it was said not to be", t->number,
		    (long long)p->token);
	if (t->cancelled && p->token > t->cancel_token && !truth_is_gone(t))
		world_fail(w, 25, "task %u/%lld starts after its cancel was acknowledged",
		    t->number, (long long)p->token);
	if (t->max_attempts && t->starts > t->max_attempts &&
	    (!w->server->was_volatile || t->max_attempts == 1))
		world_fail(w, 26, "task %u is started %d times, %d are allowed", t->number,
		    t->starts, t->max_attempts);
}

static void begin(struct world *w, struct truth_task *t, const struct sim_process *p)
{
	check_order(w, t, p->token);
	t->starts++;
	check_promises(w, t, p);
	if (t->owner.id && sim_kind_of(t->owner.kind)->task_started)
		sim_kind_of(t->owner.kind)->task_started(w, t);
	t->started_token = p->token;
	memset(t->produced, 0, sizeof t->produced);
}

void judge_started(struct world *w, const struct sim_process *p)
{
	struct truth_task *t = truth_of(w, p->task);

	begin(w, t, p);
	t->running++;
	t->over_by_us = 0;
	t->given_up = p->is_given_up;
	t->is_risked |= p->is_given_up;
	judge_need_started(w, t, p);
	if (!t->queue || p->is_given_up)
		return;
	t->queue->processes++;
	if (t->queue->most_threads >= 0 && t->queue->processes > t->queue->most_threads)
		world_fail(w, 13, "%lld processes of one queue run, %d were allowed at most",
		    (long long)t->queue->processes, t->queue->most_threads);
}

void judge_shown(struct world *w, const struct link_run *run)
{
	struct truth_task *t = truth_of(w, run->task);

	if (t->owner.id && sim_kind_of(t->owner.kind)->task_shown)
		sim_kind_of(t->owner.kind)->task_shown(w, t, run);
}

void judge_unexecutable(struct world *w, const struct sim_process *p)
{
	begin(w, truth_of(w, p->task), p);
}

/* A process that runs in its stead is not a second copy, until it wakes. */
void judge_overslept(struct world *w, struct sim_process *p)
{
	struct truth_task *t = truth_of(w, p->task);

	p->overslept = true;
	t->running--;
	t->is_risked &= t->running > 0;
	if (t->queue && !p->is_given_up)
		t->queue->processes--;
	t->given_up = false;
	t->over_by_us = 0;
}

/* As soon as it wakes it is ended, and nothing that it did counts. */
static void check_woken(struct world *w, const struct truth_task *t, const struct sim_process *p)
{
	struct timeouts longest = sim_options_longest(&w->o);
	int64_t most = (longest.kill_wait_ms + w->o.guard_ms) * 1000 + SECOND_US;
	const struct sim_node *n = &w->workers[p->slot].node;

	if (!n->asleep && w->now_us > n->resume_us + most)
		world_fail(w, 11, "task %u/%lld overslept, and ran on for %lld ms after waking",
		    t->number, (long long)p->token, (long long)(w->now_us - n->resume_us) / 1000);
}

void judge_wrote(struct world *w, const struct sim_process *p)
{
	struct truth_task *t = truth_of(w, p->task);

	if (p->overslept || p->token != t->started_token)
		return;
	memcpy(t->produced, p->produced, sizeof t->produced);
}

void judge_ended(struct world *w, const struct sim_process *p)
{
	struct truth_task *t = truth_of(w, p->task);
	const struct agent_exit *x = &p->exit;

	if (p->overslept) {
		check_woken(w, t, p);
		return;
	}
	t->running--;
	t->is_risked &= t->running > 0;
	if (t->queue && !p->is_given_up)
		t->queue->processes--;
	t->given_up = false;
	if (p->token != t->started_token)
		return; /* of a displaced one, beside its successor */
	memcpy(t->produced, p->produced, sizeof t->produced);
	if ((x->kind == EXIT_CODE && (x->exit_code == 0 || x->exit_code == 99)) ||
	    (x->kind == EXIT_STATUS && x->status == TASK_SUCCEEDED))
		t->good_token = p->token;
	if (t->over_by_us && w->now_us > t->over_by_us && !truth_is_gone(t))
		world_fail(w, 11, "task %u/%lld was given up, but ran on until %lld ms after",
		    t->number, (long long)p->token, (long long)(w->now_us - t->over_by_us) / 1000);
	t->over_by_us = 0;
}

void judge_said(struct world *w, int slot, const struct event *ev)
{
	const struct sim_worker *k = &w->workers[slot];

	for (size_t i = 0; ev->kind == EV_NOTIFIED && i < ev->notified.n_absent; i++) {
		const struct link_held *a = &ev->notified.absent[i];
		struct truth_task *t = truth_of(w, a->task);

		if (t->absent_instance != k->instance || a->token > t->absent_token)
			t->absent_token = a->token;
		t->absent_instance = k->instance;
		for (const struct sim_process *p = k->processes; p; p = p->next)
			if (p->task == a->task && p->token == a->token &&
			    p->instance == k->instance && p->state != PROCESS_OVER)
				world_fail(w, 12, "task %u/%lld is there, but said not to be",
				    t->number, (long long)a->token);
	}
}
