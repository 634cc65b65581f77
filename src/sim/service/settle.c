/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After healing all that is wanted runs, by processes that are there, and nothing else; every
 * deploy is over. Then everything is removed, and nothing may be left.
 */
#include <stdio.h>

#include "core/service/view.h"
#include "sim/service/service.h"
#include "words/words.h"

/* The process of that record: it is there, and the worker is the one that the record names. */
static const struct truth_task *start_of(const struct truth_service *s, rid task)
{
	for (size_t i = 0; task && i < s->n_starts; i++)
		if (s->starts[i]->id == task && s->starts[i]->running)
			return s->starts[i];
	return NULL;
}

static const char *lacks(
    const struct truth_service *s, const struct sim_services *all, int64_t *ret_index)
{
	int64_t n = 0;

	if (s->row.deleting)
		return "is still being removed";
	if (s->row.deploy.state != DEPLOY_IS_OVER)
		return "has a deploy that does not end";
	for (*ret_index = 0; *ret_index < s->row.instances; ++*ret_index) {
		const struct truth_record *r = truth_record_of(s, *ret_index, RECORD_ORDINARY);

		if (!r || r->row.state != RECORD_RUNNING || !r->row.ready_ms)
			return "has an instance that is not ready";
		if (!start_of(s, r->row.task))
			return "has an instance without a process";
		if (r->row.revision != s->row.deploy.target)
			return "has an instance of another revision";
		if (r->row.worker == all->drained)
			return "has an instance on a worker that is drained";
	}
	if (all->was_emptied)
		return NULL; /* what the store forgot may run beyond what is wanted */
	for (size_t i = 0; i < s->n_records; i++)
		n += !s->records[i].gone;
	if (n != s->row.instances)
		return "has records that nobody wants";
	n = 0;
	for (size_t i = 0; i < s->n_starts; i++)
		n += s->starts[i]->running > 0;
	return n != s->row.instances ? "has processes that nobody wants" : NULL;
}

static const struct truth_service *first_lacking(
    const struct world *w, const char **ret_what, int64_t *ret_index)
{
	const struct sim_services *all = sim_services_of(w);

	for (size_t i = 0; i < all->n; i++)
		if (!all->all[i]->deleted && (*ret_what = lacks(all->all[i], all, ret_index)))
			return all->all[i];
	return NULL;
}

static const struct truth_service *first_left(const struct world *w)
{
	const struct sim_services *all = sim_services_of(w);

	for (size_t i = 0; i < all->n; i++)
		if (!all->all[i]->deleted)
			return all->all[i];
	return NULL;
}

/* The machine of that worker; not the first, which has room for all instances. */
static int slot_to_drain(struct world *w, rid worker)
{
	struct worker_view v;

	if (!core_worker(sim_core(w), worker, sim_server_mono_ms(w), &v) ||
	    str_is(v.row->facts.shard, "w0"))
		return -1;
	for (int k = 1; k < w->o.workers; k++)
		if (str_is(v.row->facts.shard, w->workers[k].shard))
			return k;
	return -1;
}

static bool drain_one(struct world *w, struct sim_services *all)
{
	all->phase = SERVICES_MOVED;
	for (size_t i = 0; i < all->n && !all->was_emptied; i++) {
		const struct truth_service *s = all->all[i];

		for (int64_t k = 0; !s->deleted && k < s->row.instances; k++) {
			const struct truth_record *r = truth_record_of(s, k, RECORD_ORDINARY);
			int slot = slot_to_drain(w, r->row.worker);

			if (slot < 0)
				continue;
			all->drained = r->row.worker;
			services_drain(w, slot, true);
			return true;
		}
	}
	return false;
}

bool judge_services_settled(struct world *w)
{
	struct sim_services *all = sim_services_of(w);
	const char *what;
	int64_t index;

	if (!all)
		return true;
	if (all->phase == SERVICES_FAULTS)
		all->phase = SERVICES_HEALED;
	if (!sim_load_is_quiet(w))
		return false;
	if (all->phase == SERVICES_REMOVED)
		return !first_left(w);
	if (first_lacking(w, &what, &index) || (all->phase == SERVICES_HEALED && drain_one(w, all)))
		return false;
	world_tell(w, "all services run as they are wanted: they are removed");
	all->phase = SERVICES_REMOVED;
	services_remove_all(w);
	return false;
}

/* The server's own words, of the first instance that is not as it should be. */
static void say_why(
    struct world *w, const struct truth_service *s, int64_t index, char *text, size_t room)
{
	struct arena a = {0};
	struct why *whys;
	size_t n;

	text[0] = 0;
	for (int64_t i = index < 0 ? 0 : index; !text[0] && i < SERVICE_INDEXES; i++) {
		const struct truth_record *r = truth_record_of(s, i, RECORD_ORDINARY);

		if (r && r->row.state == RECORD_RUNNING && r->row.ready_ms && index < 0)
			continue;
		n = core_instance_why(
		    sim_core(w), s->id, i, sim_server_wall_ms(w), sim_server_mono_ms(w), &a, &whys);
		if (n)
			snprintf(text, room, "%.110s", words_why(&a, &whys[0]).p);
	}
	arena_release(&a);
}

void judge_services_unsettled(struct world *w)
{
	const struct sim_services *all = sim_services_of(w);
	const struct truth_service *s;
	const char *what = "is still there";
	int64_t index = -1;
	char why[120];

	if (!all)
		return;
	s = all->phase == SERVICES_REMOVED ? first_left(w) : first_lacking(w, &what, &index);
	if (!s)
		return;
	say_why(w, s, index, why, sizeof why);
	world_fail(w, 57, "service %u (%s) %s: %lld of %d: %s", s->number, s->name, what,
	    (long long)index, s->row.instances, why);
}
