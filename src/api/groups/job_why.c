/* SPDX-License-Identifier: Apache-2.0 */
#include "api/groups/job_why.h"

#include "api/frame/shapes.h"
#include "api/objects/show.h"

const struct field why_shape_reasons[] = {TEXT("code", 0, "for programs"),
    TEXT("text", 0, "for people"), TEXT("lift", NONE, "what would lift it"), {NULL}};

const struct field why_shape_jobs[] = {TEXT("job", 0, "its name in the group"),
    TEXT("group", RARE, "its group, if that is another one"), ID("task", 0, "its task"),
    FIELD_FOUND("state", FIELD_TEXT, 0, "of the job"),
    TEXT("summary", 0, "all of it in one sentence"),
    FIELD_FOUND("reasons", FIELD_OBJECTS, 0, "what it waits for, each for itself",
        .table = why_shape_reasons),
    {NULL}};

static const struct task_row *row_of(const struct job_why *j, rid task)
{
	for (size_t i = 0; i < j->n; i++)
		if (task && j->rows[i].id == task)
			return &j->rows[i];
	return NULL;
}

void job_why_named(struct job_why *j, const struct why *whys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (whys[i].facts.at && j->n < GROUP_LIVE_MAX)
			j->tasks[j->n++] = whys[i].facts.at;
}

bool job_why_ahead(struct job_why *j, const struct call *c, rid group)
{
	struct group_view v;

	if (!core_group(c->host->core, group, &v) || v.row->state != GROUP_QUEUED)
		return false;
	j->group = group;
	j->is_ahead = true;
	j->n = core_group_live(c->host->core, group, j->tasks);
	return true;
}

/* The name of the person who holds a task is among what a bare row leaves out. */
static int read_one(struct store_reader *r, rid task, struct arena *a, struct task_row *ret)
{
	int rc = read_bare_task(r, task, a, ret);

	return !rc && ret->id && task_is_held(ret->state.status) ? store_task_get(r, task, a, ret)
	                                                         : rc;
}

/* What cannot be read is not named: the reasons are the brain's own, and good without. */
static void read_rows(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct job_why *j = c->state;

	for (size_t i = 0; i < j->n; i++)
		if (read_one(r, j->tasks[i], &c->arena, &j->rows[i]) < 0)
			j->rows[i].id = 0;
}

static void rows_read(struct call *c)
{
	struct job_why *j = c->state;

	for (size_t i = 0; i < j->n; i++) {
		const struct task_spec *s = &j->rows[i].spec;

		if (!j->rows[i].id || !scope_covers(c, s->queue, s->labels))
			j->rows[i].id = 0;
		else
			task_overlay(c->api, &j->rows[i]);
	}
	j->then(c);
}

void job_why_read(struct call *c, struct job_why *j, call_fn *then)
{
	c->state = j;
	j->then = then;
	if (j->n)
		call_read(c, read_rows, rows_read);
	else
		then(c);
}

void job_why_fill(const struct job_why *j, struct why *whys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct task_row *row = row_of(j, whys[i].facts.at);

		if (row)
			whys[i].facts.job = row->spec.name;
	}
}

const struct task_row *job_why_last(const struct job_why *j, const struct why *whys, size_t n)
{
	while (n && !whys[n - 1].facts.at)
		n--;
	return n ? row_of(j, whys[n - 1].facts.at) : NULL;
}

void job_why_open(struct call *c)
{
	jw_key(&c->out, "jobs");
	jw_open(&c->out, '[');
}

void job_why_close(struct call *c)
{
	jw_close(&c->out, ']');
}

static const char *state_of(const struct call *c, const struct task_row *row)
{
	struct group_view v;
	bool found = core_group(c->host->core, row->spec.owner.id, &v);

	return job_state_names[job_state(
	    found ? (enum group_state)v.row->state : GROUP_DISPATCHING, &row->state)];
}

/* Empty: it is the one that is asked about. */
static struct str other_group(const struct call *c, const struct task_row *row)
{
	const struct job_why *j = c->state;
	struct group_view v;

	if (row->spec.owner.id == j->group || !core_group(c->host->core, row->spec.owner.id, &v))
		return STR_NULL;
	return v.row->name;
}

struct str job_why_show(struct call *c, const struct task_row *row)
{
	struct str group = other_group(c, row);
	const struct api_host *h = c->host;
	struct buf *b = &c->out;
	struct why *whys;
	size_t n = core_why(h->core, row, h->wall_ms(h->arg), h->mono_ms(h->arg), &c->arena, &whys);
	struct str summary = why_summary(&c->arena, row, whys, n);

	jw_open(b, '{');
	jw_mstr(b, "job", row->spec.name);
	if (group.n)
		jw_mstr(b, "group", group);
	jw_mid_null(b, "task", h->ids, row->id);
	jw_mcstr(b, "state", state_of(c, row));
	jw_mstr(b, "summary", summary);
	show_whys(b, &c->arena, whys, n);
	jw_close(b, '}');
	return arena_strf(&c->arena, STR_FMT "%s" STR_FMT ": " STR_FMT, STR_ARG(group),
	    group.n ? "/" : "", STR_ARG(row->spec.name), STR_ARG(summary));
}

void job_why_show_all(struct call *c, struct str *summary)
{
	const struct job_why *j = c->state;
	bool is_first = true;

	job_why_open(c);
	for (size_t i = 0; i < j->n; i++) {
		struct str line;

		if (!j->rows[i].id || task_is_ended(j->rows[i].state.status))
			continue;
		line = job_why_show(c, &j->rows[i]);
		if (is_first)
			*summary = arena_strf(
			    &c->arena, STR_FMT "; " STR_FMT, STR_ARG(*summary), STR_ARG(line));
		is_first = false;
	}
	job_why_close(c);
}
