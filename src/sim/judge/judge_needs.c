/* SPDX-License-Identifier: Apache-2.0 */
/* What processes hold, by what they were claimed with, against what there is. */
#include "sim/judge/judge_internal.h"

void judge_need_claimed(
    struct world *w, struct truth_task *t, const struct queue_row *q, int64_t token)
{
	t->queue_need = q ? needs_known(q->need) : STR_NULL;
	t->claim_token = token;
}

/* A task's own amount stands for the queue's. */
static int64_t amount_needed(const struct truth_task *t, int what)
{
	int64_t own = amount_of(t->need, str_of(held_names[what]));
	int64_t queue = amount_of(t->queue_need, str_of(held_names[what]));

	if (what >= HELD_ONE)
		return throttle_of(t->need, str_of(held_names[what])) > 0;
	return own >= 0 ? own : queue >= 0 ? queue : 0;
}

static void add_running(struct world *w, int slot, int64_t sum[N_HELD])
{
	const struct sim_worker *k = &w->workers[slot];

	for (const struct sim_process *p = k->processes; p; p = p->next) {
		const struct truth_task *t = truth_of(w, p->task);

		if (p->state != PROCESS_RUNS || p->is_given_up || p->overslept ||
		    p->token != t->started_token || p->instance != k->instance)
			continue;
		for (int i = 0; i < N_HELD; i++)
			sum[i] += t->held[i];
	}
}

static void check_worker(struct world *w, const struct truth_task *t, int slot)
{
	int64_t sum[N_HELD] = {0};

	add_running(w, slot, sum);
	for (int i = 0; i < HELD_LICENCE; i++) {
		int64_t has = amount_of(str_of(w->workers[slot].offer), str_of(held_names[i]));

		if (t->held[i] && sum[i] > has)
			world_fail(w, 44, "task %u starts: %lld of %s are held on %s, of %lld",
			    t->number, (long long)sum[i], held_names[i], world_node_name(w, slot),
			    (long long)has);
	}
}

static void check_cluster(struct world *w, const struct truth_task *t)
{
	int64_t sum[N_HELD] = {0};

	for (int slot = 0; slot < w->o.workers; slot++)
		add_running(w, slot, sum);
	if (t->held[HELD_LICENCE] && sum[HELD_LICENCE] > SIM_LICENCES)
		world_fail(w, 44, "task %u starts: %lld of %d licences are held", t->number,
		    (long long)sum[HELD_LICENCE], SIM_LICENCES);
}

static void check_throttles(struct world *w, const struct truth_task *t)
{
	int64_t sum[N_HELD] = {0};

	for (int slot = 0; slot < w->o.workers; slot++)
		add_running(w, slot, sum);
	for (int i = HELD_ONE; i < N_HELD; i++) {
		int64_t limit = throttle_of(t->need, str_of(held_names[i]));

		if (t->held[i] && sum[i] > limit)
			world_fail(w, 44, "task %u starts: %lld run with the throttle %s, of %lld",
			    t->number, (long long)sum[i], held_names[i], (long long)limit);
	}
}

static void check_place(struct world *w, const struct truth_task *t, int slot)
{
	struct str labels = str_of(w->workers[slot].labels), none = STR_NULL;

	if (need_unmet(t->need, none, none, labels).p ||
	    need_unmet(t->queue_need, none, none, labels).p)
		world_fail(w, 44, "task %u starts on %s, where it must not be", t->number,
		    world_node_name(w, slot));
}

void judge_need_started(struct world *w, struct truth_task *t, const struct sim_process *p)
{
	bool is_known = t->claim_token == p->token;

	for (int i = 0; i < N_HELD; i++)
		t->held[i] = is_known && w->o.has_needs ? amount_needed(t, i) : 0;
	if (!w->o.has_needs || !is_known || p->is_given_up)
		return;
	check_worker(w, t, p->slot);
	check_cluster(w, t);
	check_throttles(w, t);
	check_place(w, t, p->slot);
}

/* When all is over nobody holds anything. */
void judge_needs_end(struct world *w)
{
	struct worker_view v;
	rid id = 0;

	while ((id = core_next(sim_core(w), KIND_WORKER, id)))
		for (size_t i = 0;
		     core_worker(sim_core(w), id, sim_server_mono_ms(w), &v) && i < v.n_holdings;
		     i++)
			if (v.holdings[i].used)
				world_fail(w, 45, "%lld of %s are still held on " STR_FMT,
				    (long long)v.holdings[i].used, v.holdings[i].name,
				    STR_ARG(v.row->facts.shard));
	for (size_t i = 0; core_resource(sim_core(w), i); i++)
		if (core_resource(sim_core(w), i)->used)
			world_fail(w, 45, "%lld of %s are still held in the cluster",
			    (long long)core_resource(sim_core(w), i)->used,
			    core_resource(sim_core(w), i)->name);
}
