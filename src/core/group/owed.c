/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that their owners trigger. The owner's progress and the group's row are one batch, so
 * there is one group per part of the owner, whatever happens. Its jobs are not known then: whoever
 * drafts them asks for the groups that are owed (core_owed()), as often as it takes, and submits
 * the jobs into the group, which takes them once.
 */
#include "core/group/group.h"
#include "core/state.h"

#include "core/group/view.h"

size_t group_room(const struct core *c)
{
	size_t n = c->objects[KIND_GROUP].n;

	return n < GROUPS_MAX ? GROUPS_MAX - n : 0;
}

void group_keep_ids(struct core *c, const struct group_row *g)
{
	rid last = g->id + GROUP_JOBS_MAX;

	if (group_is_owed(g) && last > c->last_id)
		c->last_id = last;
}

void group_tell_owner(struct core *c, const struct group *g)
{
	const struct owner of = group_owner(&g->row);

	if (group_is_ended(g->row.state))
		owner_task_ended(c, &of, g->row.id);
	else
		owner_task_live(c, &of, g->row.id, 0);
}

rid group_trigger(struct core *c, const struct owner *of, struct str actor, struct effects *out)
{
	const struct object *owner = object_find(c, (enum kind)of->kind, of->id);
	struct group_row row = {.id = id_next(c->last_id, c->now_ms),
	    .ctime_ms = c->now_ms,
	    .mtime_ms = c->now_ms,
	    .actor = actor.n ? actor : STR("reeve"),
	    .owner = of->id,
	    .owner_part = of->part};
	char text[ID_TEXT];
	struct group *g;

	if (!group_room(c))
		return 0;
	row.reason = arena_strf(&out->batch.arena, "triggered by the %s " STR_FMT,
	    kind_names[of->kind], STR_ARG(owner->name));
	row.name = str_of(id_format(&c->ids, row.id, text));
	c->last_id = row.id;
	g = group_add(c, &row);
	g->jobs_seq = out->batch.seq;
	group_keep_ids(c, &g->row);
	group_enter(c, g);
	if (!MUTANT(TICK_GROUP_UNWRITTEN))
		group_save(c, g, out);
	audit_object(c, "group.triggered", &g->object, g->row.actor,
	    detail_of(&out->batch.arena, "reason", g->row.reason), out);
	group_tell_owner(c, g);
	return g->row.id;
}

int group_undrafted(
    struct core *c, struct group *g, const struct event *ev, struct reply *r, struct effects *out)
{
	if (!group_is_owed(&g->row) || g->is_drafted)
		return problem_set(r->problem, ERR_CONFLICT, "the group is not owed any more");
	if (MUTANT(UNDRAFTED_STAYS))
		return 0;
	if (g->is_unwanted) /* that was said first */
		group_move(c, g, GROUP_CANCELED, STR("cancelled before its jobs were known"),
		    STR("reeve"), out);
	else
		group_move(c, g, GROUP_FAILED, ev->object.reason, ev->actor, out);
	return 0;
}

rid core_owed(const struct core *c, rid after, struct arena *a, struct str *ret_text)
{
	const struct group *g;
	struct owner of;

	TAILQ_FOREACH (g, &groups_of(c)->owed, in_line)
		if (g->row.id > after && !g->is_drafted &&
		    !(MUTANT(OWED_FORGOTTEN_AT_START) && !g->batch_seq))
			break;
	*ret_text = STR_NULL;
	if (!g)
		return 0;
	of = group_owner(&g->row);
	*ret_text = owner_triggers(c, &of, a);
	return g->row.id;
}
