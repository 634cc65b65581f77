/* SPDX-License-Identifier: Apache-2.0 */
/* GET /v1/groups/{group}/jobs/{job}: one of them, with all that it needs and all that need it. */
#include <stdlib.h>
#include <string.h>

#include "api/groups/group_jobs.h"

#define NO_JOB UINT32_MAX

struct looking {
	struct group_of_call g;
	struct call *c;
	struct str asked;
	uint32_t asked_number; /* if it is one, or an id */
	struct shown_job job;
	uint32_t *place; /* of each job that needs it, from 1; while the graph is gone through */
};

/* A name may look like a number, so names go before. */
static void see_name(void *arg, uint32_t job, struct str name)
{
	struct looking *l = arg;

	if (str_eq(name, l->asked))
		l->job.number = job;
}

static void see_job(void *arg, uint32_t job, struct str name)
{
	struct looking *l = arg;
	struct shown_job *j = &l->job;

	if (job == j->number)
		j->name = arena_str(&l->c->arena, name);
	if (l->place[job])
		j->users[l->place[job] - 1].name = arena_str(&l->c->arena, name);
}

static void see_edge(void *arg, const struct group_edge *e, struct str need_name)
{
	struct looking *l = arg;
	struct shown_job *j = &l->job;
	struct arena *a = &l->c->arena;

	if (e->job == j->number) {
		j->needs = arena_room(a, j->needs, j->n_needs, &j->cap_needs, sizeof *j->needs);
		j->needs[j->n_needs++] = (struct shown_edge){*e, arena_str(a, need_name)};
		j->n_all++;
	} else if (e->need == j->number) {
		j->users = arena_room(a, j->users, j->n_users, &j->cap_users, sizeof *j->users);
		j->users[j->n_users++] = (struct shown_edge){*e, STR_NULL};
		l->place[e->job] = (uint32_t)j->n_users;
	}
}

static int find_by_name(struct store_reader *r, struct looking *l)
{
	struct graph_scan s = group_scan(&l->g, &l->c->row_arena);
	int rc;

	l->job = (struct shown_job){.number = NO_JOB};
	s.job = see_name;
	s.arg = l;
	rc = graph_scan_all(&s, r);
	if (l->job.number == NO_JOB)
		l->job.number = l->asked_number;
	return rc || l->job.number != NO_JOB ? rc : ERR_NOT_FOUND;
}

static int read_edges(struct store_reader *r, struct looking *l)
{
	struct graph_scan s = group_scan(&l->g, &l->c->row_arena);
	int rc;

	l->place = xcalloc((size_t)l->g.n_jobs + 1, sizeof *l->place);
	s.job = see_job;
	s.edge = see_edge;
	s.arg = l;
	rc = graph_scan_all(&s, r);
	free(l->place);
	return rc;
}

static void read_job(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct looking *l = c->state;

	c->code = find_by_name(r, l);
	if (!c->code)
		c->code = read_edges(r, l);
	if (!c->code)
		c->code = read_bare_task(r, l->g.id + 1 + l->job.number, &c->arena, &l->job.row);
}

static call_fn job_done;

static void read_it(struct call *c)
{
	call_read_long(c, read_job, job_done);
}

static void job_done(struct call *c)
{
	struct looking *l = c->state;

	if (c->code == ERR_NOT_FOUND) {
		problem_set(&c->problem, ERR_NOT_FOUND, "the group has no job \"%.*s\"",
		    l->asked.n > 100 ? 100 : (int)l->asked.n, l->asked.p);
		problem_hint(&c->problem,
		    "name it as the group does, or by its number or its task's "
		    "id");
		problem_field(&c->problem, "job");
		call_problem(c);
		return;
	}
	if (group_read_failed(c) ||
	    (group_is_ahead(&l->g, &l->job.row) && group_read_again(&l->g, read_it)))
		return;
	show_job(c, &l->g, &l->job);
	show_needs(&c->out, "dependents", l->job.users, l->job.n_users);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

/* By its number, or by its task's id. */
static uint32_t number_of(const struct call *c, const struct group_of_call *g, struct str text)
{
	int64_t n;
	rid id;

	if (g->n_jobs && str_to_i64(text, 0, g->n_jobs - 1, &n))
		return (uint32_t)n;
	if (id_parse(c->host->ids, text, &id) && id > g->id && id <= g->id + g->n_jobs)
		return job_number(g, id);
	return NO_JOB;
}

void group_job(struct call *c)
{
	struct looking *l = call_state(c, sizeof *l);
	const struct group_row *g = path_group(c);

	if (!g)
		return;
	l->c = c;
	group_of_row(c, &l->g, g);
	l->asked = arena_str(&c->arena, c->args[1]);
	l->asked_number = number_of(c, &l->g, l->asked);
	read_it(c);
}
