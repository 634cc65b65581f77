/* SPDX-License-Identifier: Apache-2.0 */
/* Placement, names and sets: what the server says and believes of its workers, against the truth.
 */
#include "sim/faults/hostile.h"
#include "sim/judge/judge_internal.h"

static int slot_of(const struct world *w, const struct worker_view *v)
{
	for (int i = 0; i < w->o.workers; i++)
		if (w->workers[i].agent && w->workers[i].instance == v->row->facts.instance)
			return i;
	return -1;
}

/* A healthcheck is as old as it may be, by clocks that drift; the answer was later than that. */
static bool has_lately_started(const struct world *w, const struct sim_worker *k)
{
	const struct timeouts *t = &w->server->core_options.timeouts;
	int64_t limit_ms = t->check_period_ms + t->check_grace_ms + t->margin_ms;

	return k->last_ok_us && w->now_us - k->last_ok_us <= limit_ms * 1100;
}

/* The liar bears the name, and says that his healthchecks went well. */
static bool is_strangers(const struct world *w, uint64_t link)
{
	return w->hostile && hostile_link(w, link);
}

static void check_run(struct world *w, const struct message *m)
{
	struct task_state s;
	struct worker_view v;
	bool batched;
	int slot;

	if (!core_task_state(sim_core(w), m->run.task, &s) ||
	    !core_worker(sim_core(w), s.worker, sim_server_mono_ms(w), &v))
		return;
	slot = slot_of(w, &v);
	batched = v.batched && w->server->core_options.is_volatile;
	if (v.state != WORKER_HEALTHY || batched)
		world_fail(w, 37, "task %u goes to a worker that is %s",
		    judge_number(w, m->run.task),
		    batched ? "in no set yet" : worker_state_names[v.state]);
	else if (slot >= 0 && !is_strangers(w, m->link) &&
	         !has_lately_started(w, &w->workers[slot]))
		world_fail(w, 37, "task %u goes to %s, which cannot start processes",
		    judge_number(w, m->run.task), world_node_name(w, slot));
}

static void check_news(struct world *w, const struct link_news *n)
{
	struct set_view v;

	core_set(sim_core(w), sim_server_mono_ms(w), &v);
	if (v.waiting && n->set.server)
		world_fail(w, 39, "set %llu is told during the initial wait",
		    (unsigned long long)n->set.version);
}

static void ordered(struct world *w, const struct message *m)
{
	truth_of(w, m->run.task)->late_token = 0;
	check_run(w, m);
}

void judge_new_messages(struct world *w)
{
	struct judge *j = w->judge;
	const struct effects *fx = w->server->pipe.gathering;

	if (j->message_seq != fx->batch.seq)
		j->seen_messages = 0;
	j->message_seq = fx->batch.seq;
	for (; j->seen_messages < fx->n_messages; j->seen_messages++) {
		const struct message *m = &fx->messages[j->seen_messages];

		if (w->hostile)
			judge_hostile_message(w, m);
		if (m->kind == MSG_RUN)
			ordered(w, m);
		else if (m->kind == MSG_WELCOME)
			check_news(w, &m->welcome.news);
		else if (m->kind == MSG_BEAT_ACK)
			check_news(w, &m->beat_ack.news);
	}
}

void judge_credit(struct world *w, int slot, const struct worker_view *v)
{
	const struct set_id *heard = agent_set(w->workers[slot].agent);
	struct set_view set;

	if (!v->set_version)
		return;
	core_set(sim_core(w), sim_server_mono_ms(w), &set);
	if (heard->server != set.id.server || heard->version < v->set_version)
		world_fail(w, 39, "%s is credited with set %llu, which it never heard",
		    world_node_name(w, slot), (unsigned long long)v->set_version);
}

/* Instances of one lock follow one another. */
void judge_worker_stored(struct world *w, const struct row_op *op)
{
	const struct worker_row *row = op->row;

	if (op->table != &worker_table || op->verb == ROW_DELETE)
		return;
	for (int i = 0; i < w->o.workers; i++) {
		struct sim_worker *k = &w->workers[i];

		if (!str_is(row->facts.lock, k->lock) || !str_is(row->facts.key, k->lock))
			continue;
		if (row->facts.started_ms < k->row_started_ms)
			world_fail(w, 38, "an older instance of %s is back", world_node_name(w, i));
		k->row_started_ms = row->facts.started_ms;
	}
}
