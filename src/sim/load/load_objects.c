/* SPDX-License-Identifier: Apache-2.0 */
/* Queues and workers among the kinds: what is asked of them as commands, and how they heal. */
#include "sim/judge/judge_internal.h"
#include "sim/load/load_internal.h"
#include "sim/world/worker.h"

static bool queue_command(
    struct world *w, const struct request *r, rid id, struct event *ev, struct command_parts *c)
{
	if (!id && r->kind != EV_CREATE)
		return false;
	ev->object.id = r->kind == EV_CREATE ? 0 : id;
	c->queue = r->row;
	c->queue.name = str_of(c->name);
	ev->object.row = &c->queue;
	ev->object.fields = r->fields;
	ev->object.force = r->force;
	if (r->kind == EV_PAUSE) {
		ev->object.until_ms = r->value ? sim_server_wall_ms(w) + r->value : 0;
		ev->object.reason = STR("drawn");
	}
	return true;
}

static void resume_queues(struct world *w)
{
	for (int i = 0; i < w->load->n_queues; i++) {
		struct request *r = load_command(w, w->load, EV_RESUME, KIND_QUEUE);

		r->queue = i;
		load_send(w, r, SECOND_US);
	}
}

const struct sim_kind sim_kind_queue = {
    .kind = KIND_QUEUE,
    .command = queue_command,
    .heal = resume_queues,
    .stored = judge_queue_stored,
};

static bool worker_command(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	ev->object.id = core_find(sim_core(w), KIND_WORKER, str_of(w->workers[r->slot].shard));
	c->worker.maxthreads_set = (int32_t)r->value;
	c->worker.maxthreads_is_set = r->value != -2;
	ev->object.row = &c->worker;
	ev->object.fields = row_settable(&worker_table);
	ev->object.force = r->kind == EV_DELETE;
	return ev->object.id;
}

static void give_workers_room(struct world *w)
{
	for (int i = 0; i < w->o.workers; i++) {
		struct request *r = load_command(w, w->load, EV_SET, KIND_WORKER);

		r->slot = i;
		r->value = -2;
		load_send(w, r, 2 * SECOND_US);
		if (!w->o.has_drains)
			continue;
		r = load_command(w, w->load, EV_DO, KIND_WORKER);
		r->slot = i;
		r->verb = WORKER_UNDRAIN;
		r->word = "undrain";
		load_send(w, r, 2 * SECOND_US);
	}
}

const struct sim_kind sim_kind_worker = {
    .kind = KIND_WORKER,
    .command = worker_command,
    .heal = give_workers_room,
    .stored = judge_worker_stored,
};
