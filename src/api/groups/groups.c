/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/groups/groups.h"

#include "api/objects/show.h"
#include "api/tasks/task_shapes.h"
#include "wire/json/fields.h"
#include "words/words.h"

static const struct group_row *row_of(const struct core *core, rid id)
{
	struct group_view v;

	return core_group(core, id, &v) ? v.row : NULL;
}

const struct group_row *path_group(struct call *c)
{
	c->about = find_object(c, KIND_GROUP, c->arg, "group", &c->problem);
	if (c->about)
		return row_of(c->host->core, c->about);
	call_problem(c);
	return NULL;
}

/* A group's jobs may be in any queue: scope.c looks at them. */
static bool group_covers(const struct call *c, rid id)
{
	return !c->who.limit || c->covered == id;
}

static int64_t group_tasks(const struct core *core, rid id)
{
	return row_of(core, id)->n_jobs;
}

static uint64_t group_end_batch(const struct core *core, rid id)
{
	struct group_view v;

	return core_group(core, id, &v) ? v.end_batch : 0;
}

static int group_state(const struct call *c, rid id)
{
	return row_of(c->host->core, id)->state;
}

static void group_show(struct call *c, rid id)
{
	show_group(&c->out, c->api, row_of(c->host->core, id));
}

/* Of what people see of it: how it stands, and since when. */
static int64_t version_of(const struct group_row *g)
{
	return (g->mtime_ms * N_GROUP_STATES + g->state) * 2000 + group_count(&g->counts);
}

void group_get(struct call *c)
{
	const struct group_row *g = path_group(c);

	if (!g || call_etag(c, version_of(g)))
		return;
	show_group(&c->out, c->api, g);
	call_json(c, 200);
}

void group_cancel(struct call *c)
{
	struct event ev = {.kind = EV_DO, .object.verb = GROUP_CANCEL};
	struct str reason = STR_NULL;
	const struct fields_in r = {.arena = &c->arena, .into = &reason, .problem = &c->problem};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, reason_fields))
		return;
	ev.object.reason = reason;
	call_command(c, &ev, resource_changed);
}

static struct str why_summary(struct call *c, const struct group_row *g, const struct why *whys)
{
	if (whys)
		return words_why(&c->arena, whys);
	return arena_strf(&c->arena, "it has ended, and waits for nothing: it is %s",
	    group_state_names[g->state]);
}

void group_why(struct call *c)
{
	const struct group_row *g = path_group(c);
	struct buf *b = &c->out;
	struct why *whys = NULL;
	size_t n;

	if (!g)
		return;
	n = core_group_why(c->host->core, g->id, &c->arena, &whys);
	jw_open(b, '{');
	jw_mid_null(b, "id", c->host->ids, g->id);
	jw_mcstr(b, "state", group_state_names[g->state]);
	jw_mstr(b, "summary", why_summary(c, g, n ? whys : NULL));
	show_whys(b, &c->arena, whys, n);
	jw_close(b, '}');
	call_json(c, 200);
}

static const struct owner_names in_tasks = {Q_GROUP, "group", "group_id", "job", true};
const struct resource group_resource = {
    .kind = KIND_GROUP,
    .covers = group_covers,
    .n_tasks = group_tasks,
    .end_batch = group_end_batch,
    .owner = &in_tasks,
    .figures = group_figures,
    .show = group_show,
    .gone = "deleted",
    .states = group_state_names,
    .n_states = N_GROUP_STATES,
    .state = group_state,
};
