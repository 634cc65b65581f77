/* SPDX-License-Identifier: Apache-2.0 */
/* From a list of jobs to a DAG of elements: names resolved, arrays spread out, loops refused. */
#include <stdlib.h>

#include "base/mem.h"
#include "graph/jobs/jobs.h"
#include "graph/limits.h"
#include "graph/package/loops.h"
#include "graph/package/names.h"

#define NAME_SHOWN 80 /* bytes */

/* A job's needs among the jobs of the list. */
struct expansion {
	const struct job_specs *l;
	struct job_plan *plan;
	struct names names; /* a name's number is its job's */
	struct dag jobs;    /* of jobs, not yet of elements */
	struct problem *p;
};

static void expansion_release(struct expansion *x)
{
	names_release(&x->names);
	dag_release(&x->jobs);
}

/* "line 7: build: …"; jobs that are written nowhere have no line. */
static int tell(const struct expansion *x, uint32_t line, const struct job *job)
{
	struct str name = name_head(job->name, NAME_SHOWN);
	struct problem was;

	if (!x->p)
		return ERR_INVALID;
	was = *x->p;
	if (line)
		problem_set(
		    x->p, was.code, "line %u: " STR_FMT ": %.220s", line, STR_ARG(name), was.what);
	else
		problem_set(x->p, was.code, STR_FMT ": %.220s", STR_ARG(name), was.what);
	if (was.hint[0])
		problem_hint(x->p, "%s", was.hint);
	return was.code;
}

static int name_jobs(struct expansion *x)
{
	for (size_t i = 0; i < x->l->n; i++) {
		const struct job *job = &x->l->jobs[i];
		uint32_t there = names_find(&x->names, job->name);

		if (there != NO_NAME) {
			problem_set(x->p, ERR_INVALID,
			    "there are two jobs of this name; the first is in line %u",
			    x->l->jobs[there].line);
			return tell(x, job->line, job);
		}
		names_put(&x->names, job->name);
	}
	return 0;
}

static int missing_need(struct expansion *x, const struct job *job, const struct job_need *need)
{
	struct str name = name_head(need->job, NAME_SHOWN);

	problem_set(x->p, ERR_INVALID, "it needs " STR_FMT ", and there is no job of that name",
	    STR_ARG(name));
	return tell(x, need->line ? need->line : job->line, job);
}

static int two_conditions(struct expansion *x, const struct job *job, const struct job_need *need)
{
	struct str name = name_head(need->job, NAME_SHOWN);

	problem_set(x->p, ERR_INVALID, "it needs " STR_FMT " on two conditions", STR_ARG(name));
	problem_hint(x->p, "a job has either succeeded or failed: \"after\":\"end\" takes both");
	return tell(x, need->line ? need->line : job->line, job);
}

struct edge {
	uint32_t to;
	uint8_t why;
	uint32_t need;
};

static int edge_cmp(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->need < y->need ? -1 : x->need > y->need;
}

/* What is needed twice is needed once, unless the two say different things. */
static int link_job(struct expansion *x, uint32_t at, struct edge *edges, uint32_t *n_edges)
{
	const struct job *job = &x->l->jobs[at];
	struct dag *d = &x->jobs;
	uint32_t n = *n_edges;

	for (uint32_t i = 0; i < job->n_needs; i++) {
		uint32_t to = names_find(&x->names, job->needs[i].job);

		if (to == NO_NAME)
			return missing_need(x, job, &job->needs[i]);
		edges[i] = (struct edge){to, (uint8_t)job->needs[i].after, i};
	}
	if (job->n_needs)
		qsort(edges, job->n_needs, sizeof *edges, edge_cmp);
	for (uint32_t i = 0; i < job->n_needs; i++) {
		if (i && edges[i].to == edges[i - 1].to) {
			if (edges[i].why != edges[i - 1].why)
				return two_conditions(x, job, &job->needs[edges[i].need]);
			continue;
		}
		d->needs[n] = edges[i].to;
		d->why[n++] = edges[i].why;
	}
	d->first[at + 1] = n;
	*n_edges = n;
	return 0;
}

static int link_jobs(struct expansion *x)
{
	size_t n_needs = 0;
	uint32_t n_edges = 0;
	struct edge *edges;
	int rc = 0;

	for (size_t i = 0; i < x->l->n; i++)
		n_needs += x->l->jobs[i].n_needs;
	if (x->l->n > PLAN_JOBS_MAX || n_needs > PLAN_EDGES_MAX)
		return problem_set(x->p, ERR_TOO_LARGE,
		    "there are %zu jobs with %zu needs; there may be %d with %d", x->l->n, n_needs,
		    PLAN_JOBS_MAX, PLAN_EDGES_MAX);
	x->jobs.n = (uint32_t)x->l->n;
	x->jobs.first = xcalloc(x->l->n + 1, sizeof *x->jobs.first);
	x->jobs.needs = xcalloc(n_needs + 1, sizeof *x->jobs.needs);
	x->jobs.why = xcalloc(n_needs + 1, 1);
	edges = xcalloc(n_needs + 1, sizeof *edges);
	for (uint32_t i = 0; i < x->jobs.n && rc == 0; i++)
		rc = link_job(x, i, edges, &n_edges);
	free(edges);
	return rc;
}

static int refuse_loop(struct expansion *x)
{
	uint32_t *order = xcalloc((size_t)x->jobs.n + 1, sizeof *order), *loop;
	uint32_t sorted = dag_sort(&x->jobs, order);
	AUTO(free_cstr) char *words = NULL;
	const struct job *first;
	struct str *names;
	size_t n;

	free(order);
	if (sorted == x->jobs.n)
		return 0;
	loop = dag_loop(&x->jobs, &n);
	names = xcalloc(n, sizeof *names);
	for (size_t i = 0; i < n; i++)
		names[i] = x->l->jobs[loop[i]].name;
	first = &x->l->jobs[loop[0]];
	words = loop_words(names, n);
	free(names);
	free(loop);
	problem_set(x->p, ERR_CONFLICT, "its needs close a loop: %s", words);
	problem_hint(x->p, "each waits for the next for ever; take one of these needs away");
	return tell(x, first->line, first);
}

static uint32_t cells_of(const struct job *job)
{
	uint32_t n = 1;

	for (uint32_t i = 0; i < job->n_axes; i++)
		if (__builtin_mul_overflow(n, job->axes[i].n, &n) || n > MATRIX_CELLS_MAX)
			return MATRIX_CELLS_MAX + 1;
	return n;
}

static int count_elements(struct expansion *x)
{
	struct job_plan *j = x->plan;
	uint64_t n = 0;
	size_t most = x->l->jobs_max ? x->l->jobs_max : PLAN_JOBS_MAX;

	j->first = xcalloc(x->l->n + 1, sizeof *j->first);
	for (size_t i = 0; i < x->l->n; i++) {
		uint32_t cells = cells_of(&x->l->jobs[i]);

		if (cells > MATRIX_CELLS_MAX) {
			problem_set(x->p, ERR_TOO_LARGE,
			    "its matrix has more than %d combinations, the most that it may",
			    MATRIX_CELLS_MAX);
			return tell(x, x->l->jobs[i].line, &x->l->jobs[i]);
		}
		n += cells;
		if (n > most)
			return problem_set(x->p, ERR_TOO_LARGE,
			    "with all matrices there are more than %zu jobs, the most that there "
			    "may be",
			    most);
		j->first[i + 1] = (uint32_t)n;
	}
	return 0;
}

static int count_edges(struct expansion *x, uint64_t *ret_n)
{
	const uint32_t *first = x->plan->first;
	size_t most = x->l->needs_max ? x->l->needs_max : PLAN_EDGES_MAX;
	uint64_t n = 0;

	for (uint32_t i = 0; i < x->jobs.n; i++)
		for (uint32_t e = x->jobs.first[i]; e < x->jobs.first[i + 1]; e++) {
			uint32_t need = x->jobs.needs[e];

			n += (uint64_t)(first[i + 1] - first[i]) * (first[need + 1] - first[need]);
			if (n <= most)
				continue;
			problem_set(x->p, ERR_TOO_LARGE,
			    "between the elements of all matrices there are more than %zu needs",
			    most);
			return problem_hint(
			    x->p, "put a job without a matrix between two that have one");
		}
	*ret_n = n;
	return 0;
}

/* Every element of a job needs every element of what the job needs. */
static void spread_edges(struct expansion *x)
{
	const struct job_plan *j = x->plan;
	struct dag *d = &x->plan->dag;
	uint32_t at = 0;

	for (uint32_t element = 0; element < d->n; element++) {
		uint32_t job = j->elements[element].job;

		for (uint32_t e = x->jobs.first[job]; e < x->jobs.first[job + 1]; e++) {
			uint32_t need = x->jobs.needs[e];

			for (uint32_t i = j->first[need]; i < j->first[need + 1]; i++) {
				d->needs[at] = i;
				d->why[at++] = x->jobs.why[e];
			}
		}
		d->first[element + 1] = at;
	}
}

static void set_durations(struct expansion *x)
{
	struct dag *d = &x->plan->dag;
	int64_t sum = 0, n = 0;

	for (size_t i = 0; i < x->l->n; i++) {
		sum += x->l->jobs[i].duration_ms;
		n += x->l->jobs[i].duration_ms > 0;
	}
	x->plan->has_durations = n > 0;
	if (n == 0)
		return;
	d->duration = xcalloc((size_t)d->n + 1, sizeof *d->duration);
	for (uint32_t i = 0; i < d->n; i++) {
		int64_t known = x->l->jobs[x->plan->elements[i].job].duration_ms;

		d->duration[i] = known ? known : sum / n;
	}
}

/* A throttled job is a lane of its own. */
static void set_lanes(struct expansion *x)
{
	struct dag *d = &x->plan->dag;

	d->n_lanes = (uint32_t)x->l->n;
	d->lanes = xcalloc(x->l->n + 1, sizeof *d->lanes);
	d->lane = xcalloc((size_t)d->n + 1, sizeof *d->lane);
	for (size_t i = 0; i < x->l->n; i++)
		d->lanes[i + 1] = x->l->jobs[i].throttle;
	for (uint32_t i = 0; i < d->n; i++)
		d->lane[i] = x->plan->elements[i].job + 1;
}

static int spread(struct expansion *x)
{
	struct job_plan *j = x->plan;
	uint64_t n_edges = 0;
	int rc = count_elements(x);

	if (rc == 0)
		rc = count_edges(x, &n_edges);
	if (rc < 0)
		return rc;
	j->dag.n = j->first[x->l->n];
	j->elements = xcalloc((size_t)j->dag.n + 1, sizeof *j->elements);
	for (uint32_t i = 0; i < x->jobs.n; i++)
		for (uint32_t e = j->first[i]; e < j->first[i + 1]; e++)
			j->elements[e] = (struct job_element){i, e - j->first[i]};
	j->dag.first = xcalloc((size_t)j->dag.n + 1, sizeof *j->dag.first);
	j->dag.needs = xcalloc(n_edges + 1, sizeof *j->dag.needs);
	j->dag.why = xcalloc(n_edges + 1, 1);
	spread_edges(x);
	set_durations(x);
	set_lanes(x);
	return 0;
}

int job_plan_make(const struct job_specs *l, struct job_plan *ret_plan, struct problem *p)
{
	struct job_plan plan = {.list = l};
	AUTO(expansion_release)
	struct expansion x = {.l = l, .plan = &plan, .names.seed = l->seed, .p = p};
	int rc = name_jobs(&x);

	if (rc == 0)
		rc = link_jobs(&x);
	if (rc == 0)
		rc = refuse_loop(&x);
	if (rc == 0)
		rc = spread(&x);
	if (rc < 0)
		job_plan_release(&plan);
	else
		*ret_plan = plan;
	return rc;
}
