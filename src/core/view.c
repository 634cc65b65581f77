/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the brain without changing it: for lists, status and metrics. */
#include "core/state.h"

static rid id_of(const struct object *o)
{
	return o ? o->id : 0;
}

rid core_find(const struct core *c, enum kind kind, struct str name)
{
	return id_of(object_find_name(c, kind, name));
}

rid core_next(const struct core *c, enum kind kind, rid after)
{
	return id_of(object_from(c, kind, after + 1));
}

rid core_before(const struct core *c, enum kind kind, rid id)
{
	return id_of(object_before(c, kind, id ? id : UINT64_MAX));
}

struct str core_name(const struct core *c, enum kind kind, rid id)
{
	const struct object *o = object_find(c, kind, id);

	return o ? o->name : STR_NULL;
}

int64_t core_version(const struct core *c, enum kind kind, rid id)
{
	const struct object *o = object_find(c, kind, id);

	return o && object_kinds[kind]->version ? object_kinds[kind]->version(o) : 0;
}

rid core_next_name(const struct core *c, enum kind kind, struct str after)
{
	return id_of(object_after(c, kind, after));
}

size_t core_count(const struct core *c, enum kind kind)
{
	return c->objects[kind].n;
}

size_t core_count_in(const struct core *c, enum kind kind, int state)
{
	return c->objects[kind].n_in[state];
}

const struct queue_row *core_queue(const struct core *c, rid id)
{
	struct queue *q = queue_find(c, id);

	return q ? &q->row : NULL;
}

void core_queue_counts(const struct core *c, rid id, struct queue_counts *ret)
{
	struct queue *q = queue_find(c, id);
	struct task *t;

	*ret = (struct queue_counts){0};
	if (!q)
		return;
	t = q->row.order == ORDER_LIFO ? window_last(&q->ready) : window_first(&q->ready);
	*ret = (struct queue_counts){q->n_queued, q->n_delayed, q->n_held, q->n_claimed,
	    q->n_running, (int64_t)(q->ready.n + q->due.n), t ? t->row.ctime_ms : 0,
	    fit_connected(&q->shapes.plain)};
}

bool core_worker(const struct core *c, rid id, int64_t mono_ms, struct worker_view *ret)
{
	struct worker *w = worker_find(c, id);

	if (!w)
		return false;
	*ret = (struct worker_view){
	    .row = &w->row,
	    .state = w->health.state,
	    .shown = w->row.departed ? WORKER_LEFT : (int)w->health.state,
	    .own = w->own,
	    .maxthreads = worker_maxthreads(c, w),
	    .link = w->link,
	    .connected = w->link != 0,
	    .never_healthy = !w->health.has_been_healthy,
	    .lack = w->row.departed ? LACK_NOTHING
	                            : health_lack(&w->health, worker_timeouts(c, w), mono_ms),
	    .check_failed = w->check_failed ? str_of(w->check_failed) : STR_NULL,
	    .running = w->running,
	    .unsure = w->n_unsure,
	    .silent_ms = mono_ms - w->health.beat_ms,
	    .check_age_ms = w->health.check_ms == HEALTH_NEVER ? -1 : mono_ms - w->health.check_ms,
	    .lost_in_ms = w->row.departed ? -1 : wait_lost_in_ms(c, w, mono_ms),
	    .holdings = w->holdings.all,
	    .n_holdings = w->holdings.n,
	    .notify_seq = w->notify_seq,
	    .set_version = w->member.version,
	    .indirect_version = w->member.indirect,
	    .joined_version = w->member.joined,
	    .batched = w->member.batched,
	};
	return true;
}

const struct holding *core_resource(const struct core *c, size_t i)
{
	return i < c->n_commons ? &c->commons[i].held : NULL;
}

bool core_task_state(const struct core *c, rid id, struct task_state *ret_state)
{
	struct task *t = task_find(c, id);

	if (!t || t->ghost_read)
		return false;
	*ret_state = t->row.state;
	return true;
}

bool core_task_unsure(const struct core *c, rid id)
{
	struct task *t = task_find(c, id);

	return t && t->unsure;
}
