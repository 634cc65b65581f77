/* SPDX-License-Identifier: Apache-2.0 */
/* After healing: everything that can end ends, and nothing is left over. */
#include <stdio.h>

#include "sim/judge/judge_internal.h"
#include "sim/kind.h"
#include "sim/load/load.h"
#include "words/words.h"

#define FAR_MS (INT64_C(900) * 1000) /* less than judge_patience_us() */

int64_t judge_patience_us(const struct world *w)
{
	struct core_options o = w->server->core_options;
	int64_t wait;

	o.timeouts = sim_options_longest(&w->o);
	wait = core_safe_wait_ms(&o);
	return (timeouts_to_lose_ms(&o.timeouts) * 2 + wait + w->o.lost_hold_ms * 2) * 1000 +
	       20 * MINUTE_US;
}

int64_t judge_ends(const struct world *w)
{
	return w->judge->n_ends;
}

/* By the server's clock, which is right since then. */
static int64_t healed_ms(const struct world *w)
{
	return sim_server_wall_ms(w) - (w->now_us - w->heal_us) / 1000;
}

/* A due time that a jumping clock made is kept as it was given: nobody waits for it here. */
bool truth_is_far(const struct world *w, const struct truth_task *t)
{
	return t->stored_status == TASK_QUEUED && t->stored_due_ms > healed_ms(w) + FAR_MS;
}

/* Of a service, which says when it is over. */
static bool is_instance(const struct truth_task *t)
{
	return t->owner.id && t->owner.kind == KIND_SERVICE;
}

static bool waits(const struct world *w, const struct truth_task *t)
{
	if (!t->stored || truth_is_gone(t) || task_is_ended(t->stored_status))
		return false;
	if (task_is_held(t->stored_status) || is_instance(t))
		return false;
	return !truth_is_far(w, t);
}

static const struct truth_task *first_waiting(const struct world *w)
{
	for (size_t i = 0; i < w->judge->n_tasks; i++)
		if (waits(w, w->judge->tasks[i]))
			return w->judge->tasks[i];
	return NULL;
}

static int first_with_process(const struct world *w)
{
	for (int i = 0; i < w->o.workers; i++)
		if (w->workers[i].processes)
			return i;
	return -1;
}

/* Of several machines with one name all but one are told to go. */
static bool has_twin(const struct world *w, int slot)
{
	for (int i = 0; i < w->o.workers; i++)
		if (i != slot &&
		    str_eq(str_of(w->workers[i].shard), str_of(w->workers[slot].shard)))
			return true;
	return false;
}

static int first_unhealthy(const struct world *w)
{
	struct worker_view v;

	for (int i = 0; i < w->o.workers; i++) {
		rid id = core_find(sim_core(w), KIND_WORKER, str_of(w->workers[i].shard));

		if (has_twin(w, i))
			continue;
		if (!w->workers[i].agent || !id ||
		    !core_worker(sim_core(w), id, sim_server_mono_ms(w), &v) ||
		    v.state != WORKER_HEALTHY || v.unsure ||
		    agent_health(w->workers[i].agent) != WORKER_HEALTHY)
			return i;
	}
	return -1;
}

static bool kinds_settled(struct world *w)
{
	for (size_t i = 0; sim_kinds[i]; i++)
		if (sim_kinds[i]->settled && !sim_kinds[i]->settled(w))
			return false;
	return true;
}

bool judge_settled(struct world *w)
{
	const struct sim_server *s = w->server;

	return s->core && kinds_settled(w) && !s->pipe.flying && effects_empty(s->pipe.gathering) &&
	       sim_load_is_quiet(w) && first_with_process(w) < 0 && !first_waiting(w) &&
	       first_unhealthy(w) < 0;
}

static void say_why(struct world *w, const struct truth_task *t, char *text, size_t room)
{
	struct arena a = {0};
	struct why *whys;
	struct task_row row;
	size_t n = 0;

	text[0] = 0;
	if (store_task_get(w->server->reader, t->id, &a, &row) == 0)
		n = core_why(
		    sim_core(w), &row, sim_server_wall_ms(w), sim_server_mono_ms(w), &a, &whys);
	if (n)
		snprintf(text, room, "%.150s", words_why(&a, &whys[0]).p);
	arena_release(&a);
}

void judge_unsettled(struct world *w)
{
	const struct truth_task *t = first_waiting(w);
	int slot;
	char why[160];

	if (!w->server->core) {
		world_fail(w, 33, "the server is down");
		return;
	}
	if (t) {
		say_why(w, t, why, sizeof why);
		world_fail(w, 32, "task %u is still %s: %s", t->number,
		    task_state_name(t->stored_status), why);
	}
	SIM_KINDS_DO(unsettled, w);
	if ((slot = first_with_process(w)) >= 0)
		world_fail(w, 33, "%s still has processes", world_node_name(w, slot));
	if ((slot = first_unhealthy(w)) >= 0)
		world_fail(w, 33, "%s is %s, its agent is %s", world_node_name(w, slot),
		    w->workers[slot].agent ? "up" : "down",
		    w->workers[slot].agent
		        ? worker_state_names[agent_health(w->workers[slot].agent)]
		        : "gone");
	world_fail(w, 32, "some client or commit never came to an end");
}

bool judge_end(struct world *w)
{
	struct judge *j = w->judge;

	for (size_t i = 0; i < j->n_tasks; i++) {
		struct truth_task *t = j->tasks[i];

		if (!t->is_known || !t->stored || truth_is_gone(t))
			continue;
		if (t->status != t->stored_status)
			world_fail(w, 28, "task %u is %s for the core, stored as %s", t->number,
			    task_state_name(t->status), task_state_name(t->stored_status));
		if (t->running)
			world_fail(w, 33, "task %u still runs", t->number);
	}
	for (size_t i = 0; i < j->n_queues; i++)
		if (!j->queues[i]->deleted &&
		    (j->queues[i]->n[PHASE_CLAIMED] || j->queues[i]->n[PHASE_RUNNING]))
			world_fail(w, 33, "a queue still counts dispatched tasks");
	judge_needs_end(w);
	return !w->verdict.invariant;
}
