/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task's owner has to say of it: asked through the task, answered by the owner's kind. A
 * task that nobody owns costs one comparison.
 */
#include "core/state.h"

/* The owner, if there is one and its kind has that hook; else NULL. */
#define OWNER_WITH(hook, c, of)                                                    \
	((of)->id && object_kinds[(of)->kind]->tasks.hook                          \
	        ? (struct object *)object_find(c, (enum kind)(of)->kind, (of)->id) \
	        : NULL)

void owner_task_live(struct core *c, const struct owner *of, rid task, rid queue)
{
	struct object *o = OWNER_WITH(live, c, of);

	if (o)
		object_kinds[o->kind]->tasks.live(c, o, task, queue);
}

void owner_task_ended(struct core *c, const struct owner *of, rid task)
{
	struct object *o = OWNER_WITH(ended, c, of);

	if (o)
		object_kinds[o->kind]->tasks.ended(c, o, task);
}

void owner_task_waits(struct core *c, const struct owner *of, rid task)
{
	struct object *o = OWNER_WITH(waits, c, of);

	if (o)
		object_kinds[o->kind]->tasks.waits(c, o, task);
}

struct str owner_env(
    const struct core *c, const struct task_row *t, struct str env, struct arena *a)
{
	const struct object *o = OWNER_WITH(env, c, &t->spec.owner);

	return o ? object_kinds[o->kind]->tasks.env(c, o, t, env, a) : arena_str(a, env);
}

struct str owner_triggers(const struct core *c, const struct owner *of, struct arena *a)
{
	const struct object *o = OWNER_WITH(triggers, c, of);

	return o ? object_kinds[o->kind]->tasks.triggers(o, a) : STR_NULL;
}

bool owner_delays(struct core *c, const struct task *t)
{
	struct object *o = OWNER_WITH(delays, c, &t->row.spec.owner);

	return o && object_kinds[o->kind]->tasks.delays(c, o, t);
}

void owner_order(const struct core *c, const struct task *t, struct link_run *run, struct arena *a)
{
	const struct object *o = OWNER_WITH(order, c, &t->row.spec.owner);

	if (o)
		object_kinds[o->kind]->tasks.order(c, o, t, run, a);
}

void owner_fares(struct core *c, const struct task *t, const struct link_fares *fares)
{
	struct object *o = OWNER_WITH(fares, c, &t->row.spec.owner);

	if (o)
		object_kinds[o->kind]->tasks.fares(c, o, t, fares);
}

void owner_task_lost(struct core *c, const struct task *t, int64_t hold_ms)
{
	struct object *o = OWNER_WITH(lost, c, &t->row.spec.owner);

	if (o)
		object_kinds[o->kind]->tasks.lost(c, o, t, hold_ms);
}

bool owner_given_back(struct core *c, const struct task *t, struct str reason, bool refused)
{
	struct object *o = OWNER_WITH(given_back, c, &t->row.spec.owner);

	if (o)
		object_kinds[o->kind]->tasks.given_back(c, o, t, reason, refused);
	return o;
}

bool owner_is_shown(const struct core *c, const struct owner *of)
{
	const struct object *o = OWNER_WITH(is_shown, c, of);

	return o && object_kinds[o->kind]->tasks.is_shown(c, o, of->part);
}

bool owner_keeps_name(const struct owner *of)
{
	return of->id && object_kinds[of->kind]->tasks.keeps_name;
}

const char *owner_refuses(const struct core *c, const struct task *t, const struct event *ev)
{
	const struct object *o = OWNER_WITH(refuses, c, &t->row.spec.owner);

	return o ? object_kinds[o->kind]->tasks.refuses(c, o, t, ev) : NULL;
}

bool owner_may_fail(const struct core *c, const struct task *t)
{
	return OWNER_WITH(failed, c, &t->row.spec.owner) != NULL;
}

void owner_failed(
    struct core *c, const struct task *t, struct str reason, struct str actor, struct effects *out)
{
	const struct object *o = OWNER_WITH(failed, c, &t->row.spec.owner);

	if (o)
		object_kinds[o->kind]->tasks.failed(c, o, t, reason, actor, out);
}

int owner_released(const struct core *c, const struct task *t, int to)
{
	const struct object *o = OWNER_WITH(released, c, &t->row.spec.owner);

	return o ? object_kinds[o->kind]->tasks.released(c, o, t) : to;
}

bool owner_why(
    struct why_answer *an, const struct core *c, const struct task_row *t, int32_t status)
{
	const struct object *o = OWNER_WITH(why, c, &t->spec.owner);

	return o && object_kinds[o->kind]->tasks.why(an, c, o, t, status);
}
