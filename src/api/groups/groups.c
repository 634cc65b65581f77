/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: all of them are in memory, so looking needs no store; changes are commands. */
#include "api/groups/groups.h"

#include "api/groups/job_why.h"
#include "api/objects/show.h"
#include "api/tasks/task_shapes.h"
#include "wire/json/fields.h"
#include "words/words.h"

const struct group_row *group_row(const struct core *core, rid id)
{
	struct group_view v;

	return core_group(core, id, &v) ? v.row : NULL;
}

const struct group_row *path_group(struct call *c)
{
	c->about = find_object(c, KIND_GROUP, c->arg, "group", &c->problem);
	if (c->about)
		return group_row(c->host->core, c->about);
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
	return group_row(core, id)->n_jobs;
}

static uint64_t group_news_batch(const struct core *core, rid id)
{
	struct group_view v;

	return core_group(core, id, &v) ? v.news_batch : 0;
}

static int group_state(const struct call *c, rid id)
{
	return group_row(c->host->core, id)->state;
}

static void group_show(struct call *c, rid id)
{
	show_group(&c->out, c->api, group_row(c->host->core, id));
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

static struct str why_nothing(struct call *c, const struct group_row *g)
{
	return arena_strf(&c->arena, "it has ended, and waits for nothing%s" STR_FMT,
	    g->reason.n ? ": " : "", STR_ARG(g->reason));
}

static void show_why(struct call *c)
{
	const struct api_host *h = c->host;
	const struct group_row *g = group_row(h->core, c->about);
	struct buf *b = &c->out;
	struct why *whys = NULL;
	struct str summary;
	size_t n;

	if (!g) {
		call_fail(c, ERR_NOT_FOUND, "the group was deleted just now");
		return;
	}
	n = core_group_why(h->core, g->id, h->mono_ms(h->arg), &c->arena, &whys);
	summary = n ? words_why(&c->arena, whys) : why_nothing(c, g);
	jw_open(b, '{');
	jw_mid_null(b, "id", c->host->ids, g->id);
	jw_mcstr(b, "state", group_state_names[g->state]);
	show_whys(b, &c->arena, whys, n);
	job_why_show_all(c, &summary);
	jw_mstr(b, "summary", summary);
	jw_close(b, '}');
	call_json(c, 200);
}

void group_why(struct call *c)
{
	struct job_why *j = call_state(c, sizeof *j);

	if (!path_group(c))
		return;
	j->group = c->about;
	j->n = core_group_live(c->host->core, c->about, j->tasks);
	job_why_read(c, j, show_why);
}

static const struct owner_names in_tasks = {Q_GROUP, "group", "group_id", "job", true};
const struct resource group_resource = {
    .kind = KIND_GROUP,
    .covers = group_covers,
    .n_tasks = group_tasks,
    .news_batch = group_news_batch,
    .owner = &in_tasks,
    .figures = group_figures,
    .show = group_show,
    .gone = "deleted",
    .states = group_state_names,
    .n_states = N_GROUP_STATES,
    .state = group_state,
};
