/* SPDX-License-Identifier: Apache-2.0 */
/* What the store has of services: rows as they become durable. */
#include "sim/service/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct truth_service *truth_service_of(struct world *w, rid id)
{
	struct sim_services *all = sim_services_of(w);
	struct truth_service *s;

	for (size_t i = all->n; i-- > 0;)
		if (all->all[i]->id == id)
			return all->all[i];
	s = xcalloc(1, sizeof *s);
	s->id = id;
	GROW(all->all, all->cap, all->n + 1);
	all->all[all->n++] = s;
	s->number = (unsigned)all->n;
	return s;
}

struct truth_service *truth_service_named(const struct world *w, const char *name)
{
	const struct sim_services *all = sim_services_of(w);

	for (size_t i = all->n; i-- > 0;)
		if (!all->all[i]->deleted && strcmp(all->all[i]->name, name) == 0)
			return all->all[i];
	return NULL;
}

const struct truth_revision *truth_revision_of(const struct truth_service *s, int64_t number)
{
	for (size_t i = s->n_revisions; i-- > 0;)
		if (s->revisions[i].number == number)
			return &s->revisions[i];
	return NULL;
}

struct truth_record *truth_record_of(const struct truth_service *s, int64_t index, int64_t presence)
{
	for (size_t i = 0; i < s->n_records; i++) {
		struct truth_record *r = &s->records[i];

		if (!r->gone && r->row.index == index && r->row.presence == presence)
			return r;
	}
	return NULL;
}

bool truth_runs(const struct truth_task *t)
{
	return t->running > 0 && !t->is_risked;
}

bool truth_domain_is_fresh(const struct world *w, const struct truth_service *s)
{
	int n = s->domain[0] ? s->domain[1] - '0' : -1;

	return n >= 0 && n < 2 &&
	       domain_is_fresh(&sim_services_of(w)->domains[n], sim_server_wall_ms(w));
}

static void keep(char *to, size_t room, struct str from)
{
	size_t n = from.n < room - 1 ? from.n : room - 1;

	if (n)
		memcpy(to, from.p, n);
	to[n] = 0;
}

static void service_put(struct world *w, struct truth_service *s, const struct service_row *row)
{
	s->was_lowered |= row->instances < s->row.instances || row->deleting;
	s->was_changed = true;
	s->row = *row;
	keep(s->name, sizeof s->name, row->name);
	keep(s->domain, sizeof s->domain, row->domain);
	s->row.name = s->row.domain = s->row.routes = s->row.labels = STR_NULL;
	s->row.annotation = s->row.actor = STR_NULL;
	s->row.spec = (struct service_spec){0};
}

static void service_stored(struct world *w, const struct row_op *op)
{
	const struct service_row *row = op->row;
	struct truth_service *s = truth_service_of(w, op->verb == ROW_DELETE ? op->id : row->id);

	s->touched = true;
	if (op->verb == ROW_DELETE) {
		s->deleted = true;
		for (size_t i = 0; i < s->n_records; i++)
			s->records[i].gone = true;
		world_tell(w, "store: service %u is gone", s->number);
		return;
	}
	if (op->verb < ROW_STATE)
		service_put(w, s, row);
	if (s->row.deploy.state != row->deploy.state)
		world_tell(w, "store: service %u is %s, to revision %lld", s->number,
		    service_deploy_names[row->deploy.state], (long long)row->deploy.target);
	s->row.deploy = row->deploy;
	s->row.tag = row->tag;
}

static void revision_stored(struct world *w, const struct row_op *op)
{
	const struct revision_row *row = op->row;
	struct truth_service *s;
	struct truth_revision *r;

	if (op->verb > ROW_STATE)
		return; /* what is gone is kept here: some start may still be of it */
	s = truth_service_of(w, row->service);
	r = (struct truth_revision *)truth_revision_of(s, row->number);
	if (!r) {
		GROW(s->revisions, s->cap_revisions, s->n_revisions + 1);
		r = &s->revisions[s->n_revisions++];
		*r = (struct truth_revision){.number = row->number};
	}
	if (op->verb < ROW_STATE) {
		if (!row->spec.body.p || sscanf(row->spec.body.p, "{\"t\":%d", &r->temper) != 1)
			r->temper = TEMPER_GOOD;
		keep(r->needs, sizeof r->needs, row->spec.needs);
		if (r->needs[0])
			r->needs[strlen(r->needs) - 1] = 0; /* the line's end */
	}
	if (row->outcome == REVISION_STABLE)
		judge_outcome(w, s, r);
}

static void record_put(struct world *w, struct truth_service *s, const struct instance_row *row)
{
	struct truth_record *r = truth_record_of(s, row->index, row->presence);

	judge_record(w, s, r, row);
	for (size_t i = 0; !r && i < s->n_records; i++)
		r = s->records[i].gone ? &s->records[i] : NULL;
	if (!r) {
		GROW(s->records, s->cap_records, s->n_records + 1);
		r = &s->records[s->n_records++];
	}
	*r = (struct truth_record){.row = *row, .stored_us = w->now_us};
	r->row.address = r->row.ports = r->row.crash_reason = r->row.place_error = STR_NULL;
	s->was_ready |= row->ready_ms != 0;
	world_tell(w, "store: instance s%u/%lld (%s, revision %lld) is %s%s%s", s->number,
	    (long long)row->index, instance_row_presences[row->presence], (long long)row->revision,
	    instance_row_states[row->state], row->ready_ms ? ", ready" : "",
	    row->is_stopping ? ", stopping" : "");
}

static void record_stored(struct world *w, const struct row_op *op)
{
	const struct instance_row *row = op->row;
	struct truth_service *s;
	struct truth_record *r;

	if (op->verb == ROW_DELETE)
		return; /* with its service */
	s = truth_service_of(w, row->service);
	s->touched = true;
	if (op->verb != ROW_DROP) {
		record_put(w, s, row);
		return;
	}
	r = truth_record_of(s, row->index, row->presence);
	if (r)
		r->gone = true;
	world_tell(w, "store: instance s%u/%lld (%s) is gone", s->number, (long long)row->index,
	    instance_row_presences[row->presence]);
}

static void domain_stored(struct world *w, const struct row_op *op)
{
	const struct domain_row *row = op->row;
	struct sim_services *all = sim_services_of(w);

	if (op->verb == ROW_DELETE) {
		for (int i = 0; i < 2; i++)
			if (all->domains[i].id == op->id)
				all->domains[i] = (struct domain_row){0};
		return;
	}
	all->domains[row->name.p[1] == '1'] = *row;
	all->domains[row->name.p[1] == '1'].name = STR_NULL;
}

static void worker_stored(struct world *w, const struct row_op *op)
{
	const struct worker_row *row = op->row;
	struct sim_services *all = sim_services_of(w);
	size_t i = 0;

	if (op->verb == ROW_DELETE || !row->drained)
		return;
	while (i < all->n_drains && all->drains[i].worker != row->id)
		i++;
	if (i == all->n_drains) {
		GROW(all->drains, all->cap_drains, i + 1);
		all->drains[all->n_drains++].worker = row->id;
	}
	all->drains[i].seen_us = w->now_us;
}

static bool leaves(const struct world *w, uint64_t instance)
{
	for (int i = 0; i < w->o.workers; i++)
		if (w->workers[i].agent && w->workers[i].instance == instance)
			return agent_phase(w->workers[i].agent) != AGENT_SERVING;
	return true;
}

bool truth_worker_goes(const struct world *w, rid worker)
{
	const struct sim_services *all = sim_services_of(w);
	struct worker_view v;

	for (size_t i = 0; i < all->n_drains; i++)
		if (all->drains[i].worker == worker &&
		    w->now_us - all->drains[i].seen_us < MINUTE_US)
			return true;
	return !core_worker(sim_core(w), worker, sim_server_mono_ms(w), &v) || v.row->drained ||
	       leaves(w, v.row->facts.instance);
}

void judge_service_stored(struct world *w, const struct row_op *op)
{
	if (!sim_services_of(w))
		return;
	if (op->table == &service_table)
		service_stored(w, op);
	else if (op->table == &revision_table)
		revision_stored(w, op);
	else if (op->table == &instance_table)
		record_stored(w, op);
	else if (op->table == &worker_table)
		worker_stored(w, op);
	else if (op->table == &domain_table)
		domain_stored(w, op);
}

/* Starts that are over are forgotten. */
void judge_service_task(struct world *w, struct truth_task *t)
{
	struct truth_service *s = truth_service_of(w, t->owner.id);
	size_t n = 0;

	for (size_t i = 0; i < s->n_starts; i++)
		if (s->starts[i]->running || !task_is_ended(s->starts[i]->stored_status))
			s->starts[n++] = s->starts[i];
	s->n_starts = n;
	GROW(s->starts, s->cap_starts, s->n_starts + 1);
	s->starts[s->n_starts++] = t;
}
