/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/judge/judge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sim/judge/judge_internal.h"
#include "sim/kind.h"

struct judge *judge_new(void)
{
	return xcalloc(1, sizeof(struct judge));
}

void judge_free(struct judge *j)
{
	for (size_t i = 0; i < j->n_tasks; i++)
		free(j->tasks[i]);
	for (size_t i = 0; i < j->n_queues; i++)
		free(j->queues[i]);
	free(j->tasks);
	free(j->queues);
	judge_batches_free(j);
	idmap_release(&j->by_id);
	idmap_release(&j->queues_by_id);
	idmap_release(&j->by_request);
	idmap_release(&j->by_key);
	free(j);
}

struct truth_task *truth_of(struct world *w, rid id)
{
	struct judge *j = w->judge;
	struct truth_task *t = idmap_get(&j->by_id, id);

	if (t)
		return t;
	t = xcalloc(1, sizeof *t);
	t->id = id;
	GROW(j->tasks, j->cap_tasks, j->n_tasks + 1);
	j->tasks[j->n_tasks++] = t;
	t->number = (unsigned)j->n_tasks;
	idmap_put(&j->by_id, id, t);
	return t;
}

struct truth_queue *truth_queue_of(struct world *w, rid id)
{
	struct judge *j = w->judge;
	struct truth_queue *q = idmap_get(&j->queues_by_id, id);

	if (q)
		return q;
	q = xcalloc(1, sizeof *q);
	q->id = id;
	GROW(j->queues, j->cap_queues, j->n_queues + 1);
	j->queues[j->n_queues++] = q;
	idmap_put(&j->queues_by_id, id, q);
	return q;
}

bool truth_is_gone(const struct truth_task *t)
{
	return t->queue && t->queue->deleted;
}

unsigned judge_number(struct world *w, rid task)
{
	return task ? truth_of(w, task)->number : 0;
}

void judge_submitted(struct world *w, const struct reply *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct outcome *o = &r->outcomes[i];
		struct truth_task *t;

		if (o->code != 0 || r->replayed)
			continue; /* what is said again was checked when it was said first */
		t = truth_of(w, o->id);
		if (!t->stored && !truth_is_gone(t))
			world_fail(w, 1, "task %u was acknowledged but is not durable", t->number);
	}
}

static void answered_cancel(struct world *w, const struct reply *r, bool fails)
{
	for (size_t i = 0; i < r->n; i++) {
		struct truth_task *t;

		if (r->outcomes[i].code != 0)
			continue;
		t = truth_of(w, r->outcomes[i].id);
		if (t->retries)
			continue; /* another client wants it again meanwhile */
		if (task_is_ended(r->outcomes[i].status) && t->running && !t->given_up &&
		    !t->over_by_us)
			world_fail(w, 25, "task %u is called cancelled while it runs", t->number);
		if (fails && r->outcomes[i].status == TASK_CANCELLED)
			world_fail(
			    w, 46, "task %u is failed by an operator, and is cancelled", t->number);
		t->cancelled = true;
		t->cancel_token = t->token;
	}
}

/* While a retry is under way what has ended may begin anew. */
static void count_retries(struct world *w, const struct event *command, int by)
{
	for (size_t i = 0; command->kind == EV_RETRY && i < command->tasks.n; i++) {
		truth_of(w, command->tasks.ids[i])->retries += by;
		truth_of(w, command->tasks.ids[i])->was_retried = true;
	}
}

void judge_answered(struct world *w, const struct event *command, const struct reply *r)
{
	count_retries(w, command, -1);
	if (r->code != 0)
		return;
	if (command->kind == EV_SUBMIT)
		judge_submitted(w, r);
	else if (command->kind == EV_DO && sim_kind_of(command->object.kind)->done)
		sim_kind_of(command->object.kind)->done(w, command, r);
	else if (command->kind == EV_CANCEL)
		answered_cancel(w, r, command->tasks.fails);
}

void judge_asked(struct world *w, const struct event *command)
{
	count_retries(w, command, +1);
}
