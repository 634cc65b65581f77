/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs that somebody has written down as the tasks, names and needs of a group. */
#include <inttypes.h>

#include "api/groups/draft/draft.h"
#include "base/mem.h"
#include "graph/file/reader.h"
#include "graph/limits.h"
#include "model/task/need.h"
#include "wire/json/json_in.h"

static uint8_t condition_of(uint8_t after)
{
	return after == AFTER_END ? EDGE_END : after == AFTER_FAILURE ? EDGE_FAILURE : EDGE_SUCCESS;
}

static void put_edges(struct draft *d, const struct dag *g)
{
	struct group_edge *to = (struct group_edge *)d->group.edges;

	for (uint32_t job = 0; job < g->n; job++)
		for (uint32_t i = g->first[job]; i < g->first[job + 1]; i++)
			*to++ = (struct group_edge){job, g->needs[i], condition_of(g->why[i]), 0};
}

/* What a duration says beyond so many milliseconds (49 days) makes no difference. */
static void put_weights(struct draft *d, const struct dag *g)
{
	uint32_t *to;

	if (!g->duration)
		return;
	to = arena_alloc(&d->arena, ((size_t)g->n + 1) * sizeof *to);
	for (uint32_t i = 0; i < g->n; i++)
		to[i] = g->duration[i] < UINT32_MAX ? (uint32_t)g->duration[i] : UINT32_MAX;
	d->group.weights = to;
}

struct putting {
	struct draft *d;
	const struct job_plan *plan;
	struct task_in in;
	struct buf text; /* scratch */
};

static struct str throttle_of_job(struct putting *p, uint32_t job, struct arena *a)
{
	const struct job *j = &p->plan->list->jobs[job];
	AUTO(buf_release) struct buf line = {0};

	if (!j->throttle || !j->n_axes)
		return STR_NULL;
	throttle_line(
	    &line, arena_strf(a, THROTTLE_ARRAY "%s.%" PRIu32, p->d->salt, job), j->throttle);
	return arena_str(a, buf_str(&line));
}

static int name_element(struct putting *p, uint32_t element, struct draft_element *e)
{
	const struct job *j = &p->plan->list->jobs[p->plan->elements[element].job];

	buf_reset(&p->text);
	job_element_name(p->plan, element, &p->text);
	if (p->text.n > JOB_NAME_MAX_BYTES) {
		problem_set(&p->d->problem, ERR_TOO_LARGE,
		    "with its values its name has %zu bytes; a job's may have %d", p->text.n,
		    JOB_NAME_MAX_BYTES);
		problem_hint(&p->d->problem, "give it a shorter name, or shorter values");
		return draft_problem(p->d, j->line, j->name);
	}
	e->name = arena_str(&p->d->arena, buf_str(&p->text));
	return 0;
}

static int put_element(struct putting *p, uint32_t element, const struct draft_element *of_job)
{
	const struct job *j = &p->plan->list->jobs[p->plan->elements[element].job];
	struct draft_value values[MATRIX_AXES_MAX];
	struct draft_element e = *of_job;
	json_t *said;
	int rc = name_element(p, element, &e);

	for (uint32_t i = 0; i < j->n_axes; i++)
		values[i] = (struct draft_value){
		    j->axes[i].name, job_element_value(p->plan, element, i), j->axes[i].name};
	e.values = values;
	e.n_values = j->n_axes;
	if (rc)
		return rc;
	if ((rc = json_in_parse(j->task, &said, &p->d->problem)))
		return draft_problem(p->d, j->line, j->name);
	rc = draft_task(p->d, &p->in, said, &e);
	json_decref(said);
	return rc;
}

static int put_jobs(struct putting *p)
{
	const struct job_plan *plan = p->plan;
	int rc = 0;

	for (uint32_t job = 0; job < plan->list->n && !rc; job++) {
		const struct draft_element e = {.line = plan->list->jobs[job].line,
		    .need = throttle_of_job(p, job, &p->d->arena)};

		for (uint32_t i = plan->first[job]; i < plan->first[job + 1] && !rc; i++)
			rc = put_element(p, i, &e);
	}
	return rc;
}

int draft_jobs(struct draft *d, struct plan_file *f)
{
	struct job_plan plan;
	struct putting p = {.d = d, .plan = &plan, .in = {.arena = &d->arena, .now_ms = d->now_ms}};
	int rc = job_plan_make(&f->jobs, &plan, &d->problem);

	if (rc)
		return rc;
	job_specs_drop_needs(&f->jobs);
	rc = draft_begin(d, plan.dag.n, plan.dag.first[plan.dag.n]);
	if (!rc) {
		put_edges(d, &plan.dag);
		put_weights(d, &plan.dag);
		rc = put_jobs(&p);
	}
	buf_release(&p.text);
	buf_release(&p.in.text);
	job_plan_release(&plan);
	return rc;
}
