/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/groups/{group}/jobs/{job}: one of them, with all that it needs and all that need it.
 * POST /v1/groups/{group}/fail: one of them has failed, for the reason that is given; the answer is
 * the job after that.
 */
#include <stdlib.h>
#include <string.h>

#include "api/groups/group_jobs.h"
#include "model/limits.h"
#include "wire/json/fields.h"
#include "words/words.h"

#define NO_JOB UINT32_MAX

#define STEP 1000 /* rows at a time */

struct looking {
	struct group_of_call g;
	struct call *c;
	struct str asked;
	struct str reason;     /* why it has failed */
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

/* The graph is damaged: the tasks have the names, too. */
static int find_by_task(struct store_reader *r, struct looking *l)
{
	const struct task_filter f = {.since = l->g.id + 1, .until = l->g.id + 1 + l->g.n_jobs};
	struct task_page page = {.next = 0};
	int rc;

	do {
		arena_reset(&l->c->row_arena);
		rc = store_task_list(r, &f, true, true, page.next, STEP, &l->c->row_arena, &page);
		for (size_t i = 0; i < page.n && !rc; i++)
			see_name(l, job_number(&l->g, page.rows[i].id), page.rows[i].spec.name);
	} while (!rc && page.next);
	return rc;
}

static int find_by_name(struct store_reader *r, struct looking *l)
{
	struct graph_scan s = group_scan(&l->g, &l->c->row_arena);
	int rc;

	l->job = (struct shown_job){.number = NO_JOB};
	s.job = see_name;
	s.arg = l;
	rc = graph_scan_all(&s, r);
	if (rc && l->job.number == NO_JOB)
		rc = find_by_task(r, l);
	if (l->job.number != NO_JOB)
		rc = 0;
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

/* Damaged: the job can be told nevertheless. */
static void forget_edges(struct looking *l)
{
	l->job.n_needs = l->job.n_users = l->job.n_all = 0;
	l->job.name = STR_NULL;
}

static void read_job(struct store_reader *r, void *arg)
{
	struct call *c = arg;
	struct looking *l = c->state;

	c->code = find_by_name(r, l);
	if (!c->code && read_edges(r, l))
		forget_edges(l);
	if (!c->code)
		c->code = read_bare_task(r, l->g.id + 1 + l->job.number, &c->arena, &l->job.row);
	if (!c->code && !l->job.name.n)
		l->job.name = l->job.row.spec.name;
}

static call_fn job_done;

static void read_it(struct call *c)
{
	call_read_long(c, read_job, job_done);
}

/* False: that has been said. */
static bool was_found(struct call *c)
{
	const struct looking *l = c->state;

	if (c->code != ERR_NOT_FOUND)
		return !group_read_failed(c);
	problem_set(&c->problem, ERR_NOT_FOUND, "the group has no job \"%.*s\"",
	    l->asked.n > 100 ? 100 : (int)l->asked.n, l->asked.p);
	problem_hint(&c->problem, "name it as the group does, or by its number or its task's "
	                          "id");
	problem_field(&c->problem, "job");
	call_problem(c);
	return false;
}

static void job_done(struct call *c)
{
	struct looking *l = c->state;

	if (!was_found(c) ||
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

static void look_for(struct call *c, const struct group_row *g, struct str asked)
{
	struct looking *l = c->state;

	l->c = c;
	group_of_row(c, &l->g, g);
	l->asked = arena_str(&c->arena, asked);
	l->asked_number = number_of(c, &l->g, l->asked);
}

void group_job(struct call *c)
{
	const struct group_row *g = path_group(c);

	if (!g)
		return;
	call_state(c, sizeof(struct looking));
	look_for(c, g, c->args[1]);
	read_it(c);
}

/* -- it has failed */

struct failing {
	struct str job, reason;
};

const struct field group_fail_fields[] = {
    FIELD("job", FIELD_TEXT, failing, job, .flags = FIELD_GIVEN, .max = JOB_NAME_MAX_BYTES,
        .about = "its name, its number, or its task's id"),
    FIELD("reason", FIELD_TEXT, failing, reason, .flags = FIELD_GIVEN, .max = REASON_MAX_BYTES,
        .about = "why it cannot be built"),
    {NULL},
};

static void failed(struct call *c, const struct reply *r)
{
	if (call_refused(c, r))
		return;
	if (r->n && r->outcomes[0].code) {
		problem_set(&c->problem, r->outcomes[0].code, "the job cannot be failed: " STR_FMT,
		    STR_ARG(words_outcome(&c->arena, &r->outcomes[0])));
		problem_hint(&c->problem, "reeve group show tells how its group stands");
		call_problem(c);
		return;
	}
	read_it(c);
}

static void send_fail(struct call *c)
{
	struct looking *l = c->state;
	struct event ev = {.kind = EV_CANCEL, .tasks = {.ids = &c->about, .n = 1, .fails = true}};

	if (!was_found(c))
		return;
	c->about = l->g.id + 1 + l->job.number;
	ev.tasks.reason = l->reason;
	call_command(c, &ev, failed);
}

static void find_job(struct store_reader *r, void *arg)
{
	struct call *c = arg;

	c->code = find_by_name(r, c->state);
}

void group_fail(struct call *c)
{
	struct failing said = {STR_NULL, STR_NULL};
	const struct fields_in r = {.arena = &c->arena, .into = &said, .problem = &c->problem};
	const struct group_row *g = path_group(c);

	if (!g || !call_fields(c, &r, group_fail_fields))
		return;
	if (!said.job.n || !said.reason.n) {
		problem_set(&c->problem, ERR_INVALID, "a job fails by its name, for a reason");
		problem_hint(&c->problem, "give \"job\" and \"reason\"");
		problem_field(&c->problem, said.job.n ? "reason" : "job");
		call_problem(c);
		return;
	}
	((struct looking *)call_state(c, sizeof(struct looking)))->reason = said.reason;
	look_for(c, g, said.job);
	call_read_long(c, find_job, send_fail);
}
