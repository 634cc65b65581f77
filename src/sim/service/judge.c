/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of services: what really runs against what is recorded and wanted. Processes are true,
 * whatever anybody believes; a record is what the store has of one.
 */
#include <string.h>

#include "sim/service/service.h"

/* truth_task.marks */
enum {
	MARK_RECORDED = 1, /* a record has told of this start, */
	MARK_STOPS = 2,    /* and that it is to stop */
};

static bool is_on_worker(int32_t state)
{
	return state == RECORD_CLAIMED || state == RECORD_RUNNING;
}

/* --- records */

/* A step writes a record once, so it may have made several moves. */
static bool is_possible(int32_t from, int32_t to)
{
	if (from == RECORD_UNCLAIMED)
		return to == RECORD_UNCLAIMED || to == RECORD_CLAIMED;
	return from != RECORD_CRASHED || to != RECORD_RUNNING;
}

static void check_move(struct world *w, const struct truth_service *s,
    const struct truth_record *was, const struct instance_row *row)
{
	bool has_start = row->task != 0;

	if (was && !is_possible(was->row.state, row->state))
		world_fail(w, 55, "s%u/%lld goes from %s to %s", s->number, (long long)row->index,
		    instance_row_states[was->row.state], instance_row_states[row->state]);
	if (has_start && !is_on_worker(row->state))
		world_fail(w, 55, "s%u/%lld is %s, and has a start", s->number,
		    (long long)row->index, instance_row_states[row->state]);
	if (row->ready_ms && (row->state != RECORD_RUNNING || row->is_stopping))
		world_fail(w, 55, "s%u/%lld is ready, and %s", s->number, (long long)row->index,
		    row->is_stopping ? "stopping" : instance_row_states[row->state]);
}

static void check_tag(
    struct world *w, const struct truth_service *s, const struct instance_row *row)
{
	struct sim_services *all = sim_services_of(w);

	if ((uint64_t)row->tag <= all->last_tag)
		world_fail(w, 55, "s%u/%lld is written with tag %lld, after %llu", s->number,
		    (long long)row->index, (long long)row->tag, (unsigned long long)all->last_tag);
	all->last_tag = (uint64_t)row->tag;
}

/* --- crashes */

#define NEVER INT64_MAX

static int64_t wait_after(const struct service_crash *k, int64_t count)
{
	int64_t wait = k->wait_ms;

	if (k->stop_at && count >= k->stop_at)
		return NEVER;
	if (count <= k->at_once)
		return 0;
	for (int64_t n = count - k->at_once; n > 1 && wait < k->wait_max_ms; n--)
		wait = wait * k->factor / 1000;
	return wait < k->wait_max_ms ? wait : k->wait_max_ms;
}

static bool has_crashed(const struct truth_record *was, const struct instance_row *row)
{
	return was->row.state == RECORD_CRASHED || row->crash_count > was->row.crash_count;
}

/* Nobody but an operator, or a deploy, ends a wait; where clocks are set that cannot be said. */
static void check_wait(struct world *w, const struct truth_service *s,
    const struct truth_record *was, const struct instance_row *row)
{
	int64_t wait, since;

	if (!was || row->state == RECORD_CRASHED || !has_crashed(was, row) ||
	    row->revision != was->row.revision || s->stops >> row->index & 1 ||
	    w->o.classes & (1u << CLASS_CLOCK | 1u << CLASS_TIME) || row->index >= 32)
		return;
	wait = wait_after(&s->row.crash, row->crash_count);
	since = sim_server_wall_ms(w) - row->crashed_at_ms;
	if (!s->was_changed && row->crash_count && since < wait)
		world_fail(w, 22, "s%u/%lld starts again %lld ms after its %d. crash, not %lld",
		    s->number, (long long)row->index, (long long)since, row->crash_count,
		    (long long)wait);
}

/* --- what is stopped */

static bool is_unwanted(const struct truth_service *s, const struct instance_row *row)
{
	return row->index >= s->row.instances && !row->is_surge;
}

/* Of each start only the first time. */
static void check_surplus(
    struct world *w, const struct truth_service *s, const struct instance_row *row)
{
	struct truth_task *t = row->task ? truth_of(w, row->task) : NULL;

	if (!t || !row->is_stopping || t->marks & MARK_STOPS)
		return;
	t->marks |= MARK_STOPS;
	if (!is_unwanted(s, row))
		return;
	if (s->row.deleting || s->was_lowered || s->stops >> row->index & 1 ||
	    s->row.deploy.state || row->presence != RECORD_ORDINARY)
		return;
	if (!truth_domain_is_fresh(w, s) && !truth_worker_goes(w, row->worker))
		world_fail(w, 53, "s%u/%lld is stopped as surplus, and its domain is not fresh",
		    s->number, (long long)row->index);
}

/* The replacement may be gone again by now: it was ready, or it is the service's own trouble. */
static void check_evacuation(struct world *w, const struct truth_service *s,
    const struct truth_record *was, const struct instance_row *row)
{
	const struct truth_record *other = truth_record_of(s, row->index, RECORD_ORDINARY);

	if (!was || row->presence != RECORD_EVACUATING || was->row.is_stopping ||
	    !row->is_stopping || was->row.state != RECORD_RUNNING)
		return;
	if (is_unwanted(s, row) || s->row.deleting || s->row.deploy.state || s->was_changed)
		return;
	if (!other || (!other->row.ready_ms && !other->row.crash_count))
		world_fail(w, 54, "s%u/%lld is stopped before its replacement is ready", s->number,
		    (long long)row->index);
}

/* --- starts */

static void check_needs(
    struct world *w, const struct truth_service *s, const struct instance_row *row)
{
	const struct truth_revision *r = truth_revision_of(s, row->revision);
	const struct truth_service *other;
	struct truth_task *t;

	if (!row->task || (t = truth_of(w, row->task))->marks & MARK_RECORDED)
		return;
	t->marks |= MARK_RECORDED;
	if (!r || !r->needs[0] || row->state != RECORD_CLAIMED)
		return;
	other = truth_service_named(w, r->needs);
	if (!other || !other->was_ready)
		world_fail(w, 58, "s%u/%lld starts, and %s is not ready", s->number,
		    (long long)row->index, r->needs);
}

void judge_record(struct world *w, struct truth_service *s, const struct truth_record *was,
    const struct instance_row *row)
{
	check_tag(w, s, row);
	check_move(w, s, was, row);
	check_wait(w, s, was, row);
	check_surplus(w, s, row);
	check_evacuation(w, s, was, row);
	check_needs(w, s, row);
}

void judge_outcome(struct world *w, const struct truth_service *s, const struct truth_revision *r)
{
	if (r->temper != TEMPER_GOOD && s->row.instances > 0 && !s->row.deleting && !s->was_changed)
		world_fail(w, 56, "revision %lld of service %u is stable, and was never ready",
		    (long long)r->number, s->number);
}

/* --- processes */

static const struct truth_record *record_of(const struct truth_service *s, rid task)
{
	for (size_t i = 0; i < s->n_records; i++)
		if (!s->records[i].gone && s->records[i].row.task == task)
			return &s->records[i];
	return NULL;
}

/* The start is given up, and may still be ending: the record knows no start. */
static bool is_in_limbo(const struct truth_service *s, const struct truth_task *t)
{
	if (!task_is_ended(t->stored_status) && !t->given_up)
		return false;
	for (size_t i = 0; i < s->n_records; i++) {
		const struct instance_row *r = &s->records[i].row;

		if (!s->records[i].gone && r->index == t->owner.part && !r->task &&
		    is_on_worker(r->state))
			return true;
	}
	return false;
}

static void check_recorded(
    struct world *w, const struct truth_service *s, const struct truth_task *t)
{
	if (!record_of(s, t->id) && !is_in_limbo(s, t))
		world_fail(w, 52, "task %u runs as s%u/%lld, and has no record", t->number,
		    s->number, (long long)t->owner.part);
}

/* How many really run of an index, with that one. */
static int count_running(
    const struct truth_service *s, int64_t index, const struct truth_task *first)
{
	int n = first != NULL;

	for (size_t i = 0; i < s->n_starts; i++)
		n += s->starts[i] != first && s->starts[i]->owner.part == index &&
		     truth_runs(s->starts[i]);
	return n;
}

void judge_service_started(struct world *w, struct truth_task *t)
{
	const struct truth_service *s = truth_service_of(w, t->owner.id);
	int n = count_running(s, t->owner.part, t);

	if (t->is_risked || s->is_forgotten)
		return;
	if (sim_services_of(w)->was_emptied)
		n = 0; /* what the store forgot may run where nobody hears of it */
	if (n > 1 && s->row.singleton)
		world_fail(w, 51, "task %u starts as s%u/%lld, and another of it runs", t->number,
		    s->number, (long long)t->owner.part);
	if (n > 2)
		world_fail(w, 21, "task %u is the %d. that runs as s%u/%lld", t->number, n,
		    s->number, (long long)t->owner.part);
	check_recorded(w, s, t);
}

static void check_room(struct world *w)
{
	for (int i = 0; i < w->o.workers; i++) {
		const struct sim_worker *k = &w->workers[i];
		int64_t n = 0, ports = 0;

		for (const struct sim_process *p = k->processes; p; p = p->next) {
			if (!p->temper || p->state != PROCESS_RUNS || p->is_given_up ||
			    p->overslept || p->instance != k->instance)
				continue;
			n++;
			ports += p->n_ports;
		}
		if (n && (n > amount_of(str_of(k->offer), STR("instances")) ||
		             ports > amount_of(str_of(k->offer), STR("ports"))))
			world_fail(w, 59, "%s runs %lld instances with %lld ports, and has no room",
			    world_node_name(w, i), (long long)n, (long long)ports);
	}
}

void judge_services_applied(struct world *w)
{
	struct sim_services *all = sim_services_of(w);

	for (size_t i = 0; all && i < all->n; i++) {
		struct truth_service *s = all->all[i];

		for (size_t k = 0; s->touched && k < s->n_starts; k++)
			if (truth_runs(s->starts[k]))
				check_recorded(w, s, s->starts[k]);
		s->touched = s->was_changed = s->was_lowered = s->was_ready = false;
		for (size_t k = 0; k < s->n_records; k++)
			s->was_ready |= !s->records[k].gone && s->records[k].row.ready_ms != 0;
	}
	if (all)
		check_room(w);
}
