/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as objects: their index, their one door, and what people ask of them. */
#include "core/group/group.h"
#include "core/state.h"

#include <stdlib.h>

static size_t *n_in(struct core *c)
{
	return c->objects[KIND_GROUP].n_in;
}

struct groups *groups_of(const struct core *c)
{
	return c->of_kind[KIND_GROUP];
}

struct group *group_find(const struct core *c, rid id)
{
	return object_find(c, KIND_GROUP, id);
}

struct group *group_of(const struct core *c, const struct task_row *t, uint32_t *ret_job)
{
	struct group *g = t->spec.owner.kind == KIND_GROUP ? group_find(c, t->spec.owner.id) : NULL;

	if (!g || t->id <= g->row.id || t->id - g->row.id > (rid)g->row.n_jobs)
		return NULL;
	*ret_job = (uint32_t)(t->id - g->row.id - 1);
	return g;
}

struct group *group_add(struct core *c, const struct group_row *row)
{
	struct group *g = xcalloc(1, sizeof *g);

	g->row = *row;
	row_own(&group_table, &g->row, &g->strings);
	object_add(c, &g->object, KIND_GROUP, g->row.id, g->row.name);
	n_in(c)[g->row.state]++;
	return g;
}

static bool waits(int state)
{
	return state == GROUP_QUEUED;
}

static bool is_active(int state)
{
	return state == GROUP_DISPATCHING || state == GROUP_FAILURE_CLEANUP ||
	       state == GROUP_CANCELING;
}

/* Newest last: both lists are looked through from their oldest. */
static void put_by_id(struct group_list *l, struct group *g)
{
	struct group *before = TAILQ_LAST(l, group_list);

	while (before && before->row.id > g->row.id)
		before = TAILQ_PREV(before, group_list, in_line);
	if (before)
		TAILQ_INSERT_AFTER(l, before, g, in_line);
	else
		TAILQ_INSERT_HEAD(l, g, in_line);
}

void group_enter(struct core *c, struct group *g)
{
	if (group_is_owed(&g->row))
		put_by_id(&groups_of(c)->owed, g);
	if (waits(g->row.state))
		put_by_id(&groups_of(c)->waiting, g);
	if (!is_active(g->row.state))
		return;
	put_by_id(&groups_of(c)->active, g);
	groups_of(c)->active_jobs += g->row.n_jobs;
	groups_of(c)->active_edges += g->row.n_edges;
	groups_of(c)->n_active += g->row.state == GROUP_DISPATCHING;
}

static void leave_line(struct core *c, struct group *g)
{
	if (group_is_owed(&g->row))
		TAILQ_REMOVE(&groups_of(c)->owed, g, in_line);
	if (waits(g->row.state))
		TAILQ_REMOVE(&groups_of(c)->waiting, g, in_line);
	if (!is_active(g->row.state))
		return;
	TAILQ_REMOVE(&groups_of(c)->active, g, in_line);
	groups_of(c)->active_jobs -= g->row.n_jobs;
	groups_of(c)->active_edges -= g->row.n_edges;
	groups_of(c)->n_active -= g->row.state == GROUP_DISPATCHING;
}

void group_dirty(struct core *c, struct group *g)
{
	if (g->is_dirty)
		return;
	g->is_dirty = true;
	TAILQ_INSERT_TAIL(&groups_of(c)->dirty, g, in_dirty);
}

void group_forget(struct core *c, struct group *g)
{
	active_end(c, g);
	leave_line(c, g);
	if (g->is_dirty)
		TAILQ_REMOVE(&groups_of(c)->dirty, g, in_dirty);
	object_del(c, &g->object);
	n_in(c)[g->row.state]--;
	series_drop(g);
	free(g->queues);
	free(g->strings);
	free(g);
}

/* A row that is in this batch already is overwritten. */
void group_save(struct core *c, struct group *g, struct effects *out)
{
	struct batch *b = &out->batch;

	g->is_changed = false;
	series_save(c, g, out);
	if (g->batch_seq == b->seq) {
		row_copy(&group_table, &b->arena, &g->row, 0, b->rows[g->batch_row].row);
		return;
	}
	g->batch_row = b->n;
	if (g->row.state <=
	    GROUP_CREATED) /* all of it is new: a triggered one has its size only now */
		batch_put(b, &group_table, row_new(&b->arena, &group_table, &g->row));
	else
		batch_state(b, &group_table, row_new(&b->arena, &group_table, &g->row));
	g->batch_seq = b->seq;
}

static const char *const move_events[N_GROUP_STATES] = {
    [GROUP_CREATED] = "group.created",
    [GROUP_QUEUED] = "group.queued",
    [GROUP_DISPATCHING] = "group.dispatching",
    [GROUP_COMPLETE] = "group.complete",
    [GROUP_FAILURE_CLEANUP] = "group.failure_cleanup",
    [GROUP_FAILED] = "group.failed",
    [GROUP_CANCELING] = "group.canceling",
    [GROUP_CANCELED] = "group.canceled",
};

void group_move(struct core *c, struct group *g, enum group_state to, struct str reason,
    struct str actor, struct effects *out)
{
	/* both may be the group's own, which move */
	reason = arena_str(&out->batch.arena, reason);
	actor = arena_str(&out->batch.arena, actor);
	leave_line(c, g);
	n_in(c)[g->row.state]--;
	g->row.state = (int32_t)moves_make(&group_moves, (unsigned)g->row.state, to);
	n_in(c)[g->row.state]++;
	group_enter(c, g);
	g->row.mtime_ms = c->now_ms;
	if (to == GROUP_DISPATCHING)
		g->row.dispatched_ms = c->now_ms;
	if (group_is_ended(to))
		g->row.ended_ms = c->now_ms;
	g->row.reason = reason;
	row_own(&group_table, &g->row, &g->strings);
	g->object.name = g->row.name;
	group_save(c, g, out);
	audit_object(c, move_events[to], &g->object, actor,
	    detail_of(&out->batch.arena, "reason", g->row.reason), out);
	if (group_is_ended(to) && !MUTANT(GROUP_END_UNTOLD))
		group_tell_owner(c, g);
}

/* What it was busy with is begun anew when the doors are open. */
static void load(struct core *c, const void *stored)
{
	struct group *g = group_add(c, stored);

	group_enter(c, g);
	if (!MUTANT(OWED_IDS_NOT_KEPT))
		group_keep_ids(c, &g->row);
	if (!group_is_ended(g->row.state) && !MUTANT(GROUP_LIVE_FORGOTTEN_AT_START))
		group_tell_owner(c, g);
	if (!is_active(g->row.state))
		return;
	if (g->row.state == GROUP_DISPATCHING)
		active_begin(c, g);
	else
		active_end_rest(c, g);
	group_dirty(c, g);
}

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	return problem_set(r->problem, ERR_INVALID, "a group is made by a submit of its jobs");
}

void group_begin_cancel(
    struct core *c, struct group *g, struct str reason, struct str actor, struct effects *out)
{
	group_move(c, g, GROUP_CANCELING, reason, actor, out);
	active_end_rest(c, g);
	group_dirty(c, g);
}

static int cancel(
    struct core *c, struct group *g, const struct event *ev, struct reply *r, struct effects *out)
{
	struct str reason = ev->object.reason.n ? ev->object.reason : STR("cancelled");

	if (group_is_ended(g->row.state)) {
		problem_set(r->problem, ERR_CONFLICT, "the group has ended already: it is %s",
		    group_state_names[g->row.state]);
		return problem_hint(r->problem, "there is nothing to be done");
	}
	if (g->row.state == GROUP_CANCELING)
		return 0;
	if (group_is_owed(&g->row) && !g->is_drafted) {
		group_move(c, g, GROUP_CANCELED, reason, ev->actor, out);
		return 0;
	}
	if (g->is_drafted) { /* once all of it is there: nothing can ask for it again */
		g->is_unwanted = true;
		return 0;
	}
	if (g->row.state < GROUP_QUEUED) {
		problem_set(r->problem, ERR_BUSY, "the group is being taken in");
		return problem_hint(r->problem, "try again");
	}
	group_begin_cancel(c, g, reason, ev->actor, out);
	return 0;
}

static int act(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct group *g = (struct group *)o;

	return ev->object.verb == GROUP_CANCEL ? cancel(c, g, ev, r, out)
	                                       : group_undrafted(c, g, ev, r, out);
}

/* A deleted group's tasks stay, and keep its id: retention takes them. */
static int remove_group(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct group *g = (struct group *)o;

	if (!group_is_ended(g->row.state)) {
		problem_set(r->problem, ERR_CONFLICT, "the group has not ended: it is %s",
		    group_state_names[g->row.state]);
		return problem_hint(r->problem, "cancel it first");
	}
	batch_delete(&out->batch, &group_table, o->id);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	group_forget(c, g);
	return 0;
}

static void placed(struct core *c, struct effects *out)
{
	needs_work(c, true, out);
	stands_look(c, false);
}

static bool delays(struct core *c, struct object *o, const struct task *t)
{
	stands_go_on(c, (struct group *)o);
	return needs_delay(c, o, t);
}

static void init(struct core *c)
{
	struct groups *all = c->of_kind[KIND_GROUP] = xcalloc(1, sizeof *all);

	TAILQ_INIT(&all->owed);
	TAILQ_INIT(&all->waiting);
	TAILQ_INIT(&all->active);
	TAILQ_INIT(&all->dirty);
	TAILQ_INIT(&all->late);
	if (!c->o.groups_active)
		c->o.groups_active = 2;
	if (!c->o.groups_delay_ms)
		c->o.groups_delay_ms = 2000;
}

static void release(struct core *c)
{
	struct groups *all = groups_of(c);
	struct group *g;

	needs_release(c);
	while ((g = object_first(c, KIND_GROUP)))
		group_forget(c, g);
	timer_clear(c, TIMER_MONO, &all->pull);
	timer_clear(c, TIMER_MONO, &all->more);
	timer_clear(c, TIMER_MONO, &all->read_again);
	free(all);
}

const struct object_kind group_kind = {
    .table = &group_table,
    .events = {[OBJECT_DELETED] = "group.deleted"},
    .max = GROUPS_MAX,
    .taken = HINT_LIST,
    .gone = HINT_LIST,
    .load = load,
    .create = create,
    .remove = remove_group,
    .act = act,
    .tasks = {.live = group_task_live,
        .ended = group_task_ended,
        .waits = group_task_waits,
        .env = group_env,
        .delays = delays,
        .is_shown = needs_are_shown,
        .refuses = group_refuses,
        .failed = group_failed,
        .released = group_released,
        .why = group_why_job,
        .keeps_name = true},
    .user_of = group_user_of,
    .work = groups_work,
    .placed = placed,
    .was_read = groups_read,
    .init = init,
    .release = release,
};
