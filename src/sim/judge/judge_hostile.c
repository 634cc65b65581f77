/* SPDX-License-Identifier: Apache-2.0 */
/* A worker harms only its own attempts: one that has none harms nobody, whatever it says. */
#include "sim/faults/hostile.h"
#include "sim/judge/judge_internal.h"
#include "sim/world/net.h"

/* The rules for names: of a lost worker; and, where that was chosen, of an unhealthy one. */
static bool may_be_taken(const struct world *w, int slot)
{
	rid id = core_find(sim_core(w), KIND_WORKER, str_of(w->workers[slot].shard));
	struct worker_view v;

	if (!id || !core_worker(sim_core(w), id, sim_server_mono_ms(w), &v))
		return true;
	return v.state == WORKER_MUST_DIE ||
	       (w->o.allow_bump_unhealthy && v.state != WORKER_HEALTHY) ||
	       str_is(v.row->facts.key, "his own"); /* the name is his already */
}

static void watch(struct world *w, rid task)
{
	struct sim_hostile *h = w->hostile;

	if (h->n_tasks == HOSTILE_HELD)
		return;
	h->tasks[h->n_tasks].id = task;
	h->tasks[h->n_tasks].found =
	    core_task_state(sim_core(w), task, &h->tasks[h->n_tasks].state);
	h->n_tasks++;
}

void judge_hostile_before(struct world *w, const struct event *ev)
{
	struct sim_hostile *h = w->hostile;
	const struct hostile_link *l;

	for (int i = 0; i < w->o.workers; i++)
		h->is_free[i] = may_be_taken(w, i);
	l = hostile_link(w, ev->link);
	h->watches = l != NULL;
	h->n_tasks = 0;
	if (!l)
		return;
	for (size_t i = 0; ev->kind == EV_HELLO && i < l->n_held; i++)
		watch(w, l->held[i]);
	if (ev->kind == EV_STARTED)
		watch(w, ev->started.task);
	if (ev->kind == EV_ENDED)
		watch(w, ev->ended.task);
	if (ev->kind == EV_OUTPUT)
		watch(w, ev->output.task);
	if (ev->kind == EV_NOTIFIED)
		watch(w, ev->notified.absent[0].task);
}

/* A liar says that he has none; but an operator's number holds for whoever bears the name. */
static bool has_threads(const struct world *w, const struct hostile_link *l)
{
	rid id = l->victim < 0
	             ? 0
	             : core_find(sim_core(w), KIND_WORKER, str_of(w->workers[l->victim].shard));
	struct worker_view v;

	return id && core_worker(sim_core(w), id, sim_server_mono_ms(w), &v) && v.maxthreads != 0;
}

void judge_hostile_message(struct world *w, const struct message *m)
{
	const struct hostile_link *l = hostile_link(w, m->link);

	if (!l)
		return;
	if (m->kind == MSG_WELCOME && l->is_absurd)
		world_fail(w, 41, "somebody with absurd numbers is welcome");
	else if (m->kind == MSG_WELCOME && l->victim >= 0 && !w->hostile->is_free[l->victim])
		world_fail(w, 41, "somebody who is not %s is welcome as it",
		    world_node_name(w, l->victim));
	else if (m->kind == MSG_RUN && !has_threads(w, l))
		world_fail(w, 41, "somebody who takes no tasks is given task %u",
		    judge_number(w, m->run.task));
}

/* No attempt of others becomes a worker's own, whatever it claims. */
void judge_hostile_row(struct world *w, const struct task_row *row)
{
	const struct task_state *s = &row->state;

	if (s->status != TASK_CLAIMED && s->status != TASK_RUNNING)
		return;
	for (size_t i = 0; i < w->hostile->n_claims && i < HOSTILE_CLAIMS; i++)
		if (w->hostile->claims[i].task == row->id &&
		    w->hostile->claims[i].token == s->token &&
		    w->hostile->claims[i].instance == s->instance)
			world_fail(w, 41,
			    "task %u/%lld is another's, and is given to who claims it",
			    judge_number(w, row->id), (long long)s->token);
}

/* What waits may be given to a real worker in the same step, by chance. */
static bool is_harmed(const struct task_state *was, const struct task_state *is)
{
	if (was->status != TASK_CLAIMED && was->status != TASK_RUNNING)
		return task_is_ended(is->status) && !task_is_ended(was->status);
	return is->status != was->status || is->token != was->token || is->worker != was->worker;
}

void judge_hostile_after(struct world *w, const struct event *ev)
{
	struct sim_hostile *h = w->hostile;
	const struct hostile_link *l = hostile_link(w, ev->link);
	struct task_state now;

	/* a name that was free may have come with its tasks' fate */
	if (!h->watches || !l || (l->victim >= 0 && h->is_free[l->victim]))
		return;
	for (size_t i = 0; i < h->n_tasks; i++)
		if (h->tasks[i].found && (!core_task_state(sim_core(w), h->tasks[i].id, &now) ||
		                             is_harmed(&h->tasks[i].state, &now)))
			world_fail(w, 41, "task %u is another's, and a stranger's word changes it",
			    judge_number(w, h->tasks[i].id));
}
