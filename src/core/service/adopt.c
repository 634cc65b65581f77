/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker runs an instance of which no task is known: the store is another one, or an older one.
 * What becomes of it is in the table of src/service/worker. What runs gets its record back, and if
 * need be its service, which nobody desires then: an emptied store stops nothing.
 */
#include "core/service/place/want.h"
#include "core/state.h"
#include "service/limits.h"
#include "service/worker/reconcile.h"

#define ID_AHEAD_MS 86400000 /* clocks differ; ids that lie further ahead are made up */

static bool is_sound(const struct core *c, const struct link_held *h)
{
	const struct link_instance *i = &h->instance;

	return h->task && h->task <= id_next(0, c->now_ms + ID_AHEAD_MS) && h->token > 0 &&
	       i->service.n && i->service.n <= NAME_MAX_BYTES && i->domain.n <= NAME_MAX_BYTES &&
	       i->index <= SERVICE_INDEX_MAX && i->revision >= 1 &&
	       i->revision <= SERVICE_REVISION_MAX && h->fares.container >= 0 &&
	       h->fares.container < N_CONTAINER_STATES;
}

/* The start is known, and has ended: nobody takes that back. */
static bool is_known(const struct core *c, rid task)
{
	const struct task_row *row = lane_row(c, task);

	return task_find(c, task) || (row && row->id);
}

static enum reconcile_decision decide(
    struct core *c, const struct service *s, struct worker *w, const struct link_held *h)
{
	const struct reconcile_self self = {w->site->number, h->task, w->row.drained || w->leaving};
	const struct container container = {(enum container_state)h->fares.container, false};
	const struct instance *records[N_PRESENCES] = {NULL};
	struct instance copies[N_PRESENCES];
	struct reconcile_view v;

	for (int p = 0; s && p < N_PRESENCES; p++) {
		struct unit *u = unit_find(s, h->instance.index, (enum presence)p);

		if (!u || u->is_over)
			continue;
		copies[p] = u->i;
		copies[p].worker = u->site ? u->site->number : NO_WORKER;
		records[p] = &copies[p];
	}
	v = reconcile_look(&self, &container, records);
	return reconcile_decide(&v);
}

static struct str queue_name(const struct link_held *h)
{
	return h->queue.n && h->queue.n <= NAME_MAX_BYTES ? h->queue : STR(SERVICE_QUEUE);
}

static rid queue_for(struct core *c, const struct link_held *h, struct effects *out)
{
	struct queue *q = object_find_name(c, KIND_QUEUE, queue_name(h));

	return q ? q->object.id : services_queue(c, out);
}

/* Nobody knows what it runs: nothing more is started of it. */
static void add_revision(
    struct core *c, struct service *s, const struct link_held *h, rid queue, struct effects *out)
{
	struct revision_row r = {.service = s->object.id,
	    .number = h->instance.revision,
	    .time_ms = c->now_ms,
	    .outcome = REVISION_STABLE,
	    .outcome_ms = c->now_ms,
	    .reason = STR("a worker runs it, and the store did not know it"),
	    .spec = {.queue = queue}};

	if (!revision_find(s, r.number))
		revision_add(c, s, &r, out);
}

static struct service *add_service(
    struct core *c, const struct link_held *h, rid queue, struct effects *out)
{
	struct service_row row;
	struct service *s;

	service_defaults(&row);
	row.id = c->last_id = id_next(c->last_id, c->now_ms);
	row.name = h->instance.service;
	row.domain = h->instance.domain.n ? h->instance.domain : STR_NULL;
	row.instances = 0;
	row.ctime_ms = row.mtime_ms = c->now_ms;
	row.version = 1;
	row.last_revision = h->instance.revision;
	row.deploy.target = row.deploy.stable = h->instance.revision;
	row.deploy.since_ms = c->now_ms;
	s = service_enter(c, &row);
	add_revision(c, s, h, queue, out);
	service_row(s, &out->batch.arena, &row);
	service_save(c, s, &row, out);
	audit_object(c, "service.adopted", &s->object, STR("reeve"), STR_NULL, out);
	return s;
}

static struct task *add_task(struct core *c, const struct service *s, struct worker *w,
    const struct link_held *h, rid queue, struct effects *out)
{
	struct task_row row = {.id = h->task,
	    .ctime_ms = h->started_ms && h->started_ms < c->now_ms ? h->started_ms : c->now_ms,
	    .spec = {.queue = queue,
	        .max_attempts = 1,
	        .timeout_ms = -1,
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .owner = {KIND_SERVICE, s->object.id, h->instance.index},
	        .name = arena_strf(
	            &out->batch.arena, STR_FMT "/%u", STR_ARG(s->object.name), h->instance.index),
	        .body = STR("{}")},
	    .state = {.status = TASK_QUEUED, .exit_code = -1, .mtime_ms = c->now_ms}};
	struct task *t = task_new(c, &row);

	if (h->task > c->last_id)
		c->last_id = h->task;
	task_insert(c, t, row_new(&out->batch.arena, &task_table, &row), out);
	task_begin_attempt(c, t, w, h->token, h->instance.need);
	times_adopted(c, &t->row, h->started_ms);
	task_move(c, t, TASK_CLAIMED, STR_NULL, out);
	return t;
}

/* The index is another's, which is only starting: that one gives way, as one that may run. */
static bool make_way(struct core *c, struct service *s, uint32_t index, struct effects *out)
{
	struct unit *u = unit_find(s, index, PRESENCE_ORDINARY);

	if (!u)
		return true;
	if (!unit_is_on_worker(u)) {
		unit_remove(c, u, out);
		return true;
	}
	if (unit_find(s, index, PRESENCE_SUSPECT))
		return false;
	unit_set_presence(c, u, PRESENCE_SUSPECT, out);
	unit_tell(c, u, STR("another of it runs already"), out);
	return true;
}

static void add_unit(struct core *c, struct service *s, struct worker *w, const struct link_held *h,
    const struct task *t, enum presence presence)
{
	struct unit *u = unit_add(c, s, h->instance.index, presence, h->instance.revision);

	unit_move(c, u, INSTANCE_RUNNING);
	if (h->fares.container != CONTAINER_RUNNING)
		unit_move(c, u, INSTANCE_CLAIMED);
	u->i.id = t->row.id;
	u->token = t->row.state.token;
	u->i.is_surge = h->instance.index >= s->wanted && s->deploy.state != DEPLOY_STEADY;
	unit_enter_site(c, u, w);
	s->has_surplus = true;
	service_note(c, s);
}

static bool takes_it(enum reconcile_decision d)
{
	return d == DO_CREATE_RUNNING || d == DO_SET_RUNNING || d == DO_CLAIM || d == DO_EVACUATE;
}

bool services_adopt(
    struct core *c, struct worker *w, const struct link_held *h, struct effects *out)
{
	struct service *s = object_find_name(c, KIND_SERVICE, h->instance.service);
	enum presence presence = PRESENCE_ORDINARY;
	enum reconcile_decision d;
	struct task *t;
	rid queue;

	if (!is_sound(c, h) || is_known(c, h->task))
		return false;
	services_see_worker(c, w); /* from now on it has a site */
	d = decide(c, s, w, h);
	if (!takes_it(d))
		return false;
	if (d == DO_EVACUATE && s && unit_find(s, h->instance.index, PRESENCE_ORDINARY))
		presence = PRESENCE_EVACUATING;
	if (s && unit_find(s, h->instance.index, presence) &&
	    !(presence == PRESENCE_ORDINARY && make_way(c, s, h->instance.index, out)))
		return false;
	queue = queue_for(c, h, out);
	if (!s)
		s = add_service(c, h, queue, out);
	add_revision(c, s, h, queue, out);
	t = add_task(c, s, w, h, queue, out);
	add_unit(c, s, w, h, t, presence);
	return true;
}
