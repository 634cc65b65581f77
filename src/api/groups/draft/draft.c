/* SPDX-License-Identifier: Apache-2.0 */
#include "api/groups/draft/draft.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "graph/file/reader.h"
#include "model/limits.h"
#include "model/rows/field.h"
#include "wire/json/fields.h"
#include "wire/json/json_in.h"

#define TRIM_BYTES (1u << 20) /* of text: what it took is given back to the system */

void draft_release(struct draft *d)
{
	draft_empty(d);
	buf_release(&d->left_out);
}

void draft_empty(struct draft *d)
{
	arena_release(&d->arena);
	free(d->tasks);
	free(d->jobs);
	free(d->lines);
	free((char *)d->text.p);
	plan_file_release(&d->file);
	json_decref(d->job);
	d->job = NULL;
	d->tasks = NULL;
	d->jobs = NULL;
	d->lines = NULL;
	d->text = STR_NULL;
}

int draft_problem(struct draft *d, uint32_t line, struct str name)
{
	struct problem *p = &d->problem;
	const struct problem was = *p;

	if (line)
		return problem_at(p, line, name);
	snprintf(p->what, sizeof p->what, "%.*s: %.220s", name.n > 80 ? 80 : (int)name.n, name.p,
	    was.what);
	return p->code;
}

int draft_begin(struct draft *d, size_t n_jobs, size_t n_edges)
{
	if (n_jobs > GROUP_JOBS_MAX)
		return problem_set(&d->problem, ERR_TOO_LARGE,
		    "a group has at most %d jobs, this one %zu", GROUP_JOBS_MAX, n_jobs);
	if (n_edges > GROUP_EDGES_MAX)
		return problem_set(&d->problem, ERR_TOO_LARGE,
		    "a group's jobs have at most %d needs in all, these %zu", GROUP_EDGES_MAX,
		    n_edges);
	d->tasks = xcalloc(n_jobs + 1, sizeof *d->tasks);
	d->jobs = xcalloc(n_jobs + 1, sizeof *d->jobs);
	d->lines = xcalloc(n_jobs + 1, sizeof *d->lines);
	d->group.names = arena_zalloc(&d->arena, (n_jobs + 1) * sizeof *d->group.names);
	d->group.edges = arena_alloc(&d->arena, (n_edges + 1) * sizeof *d->group.edges);
	d->group.n_edges = n_edges;
	return 0;
}

struct saying {
	struct str name, queue, series;
	int32_t policy, reuse;
	json_t *job;
};

/* What would make another task of it, or start it at another time, is not a job's to say. */
static int set_job(json_t *v, const char *field, void *arg, struct problem *p)
{
	static const char *const others[] = {"name", "key", "status", "run_after", "stdin"};

	if (json_in_object(v, field, p))
		return ERR_INVALID;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_object_get(v, others[i])) {
			problem_set(p, ERR_INVALID, "\"%s\" is not a job's to say", others[i]);
			return problem_field(p, "job");
		}
	((struct saying *)arg)->job = json_incref(v);
	return 0;
}
static const struct json_member own[] = {{"job", set_job}, {NULL}};

const struct field group_said_fields[] = {
    FIELD("name", FIELD_OBJECT_NAME, saying, name, .max = NAME_MAX_BYTES,
        .flags = FIELD_GIVEN | FIELD_NULL_GIVEN, .about = "of the group; its id, if none is given"),
    FIELD("policy", FIELD_CHOICE, saying, policy, .names = group_policy_names,
        .n_names = N_GROUP_POLICIES, .flags = FIELD_GIVEN, .about = "when a job has failed",
        .usual = "best-effort"),
    FIELD("queue", FIELD_NAME, saying, queue, .max = NAME_MAX_BYTES, .flags = FIELD_GIVEN,
        .about = "of jobs that name none", .usual = "default"),
    FIELD("series", FIELD_NAME, saying, series, .max = NAME_MAX_BYTES,
        .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .about = "what groups that build the same again and again have in common"),
    FIELD("reuse", FIELD_BOOL, saying, reuse, .flags = FIELD_GIVEN,
        .about = "what was built from the same in the series before is taken as it is"),
    FIELD_TOLD("job", 0, "of packages: the task of every job", "{\"type\":\"object\"}"),
    {NULL},
};

/* Earlier builds are known by their series. A kept graph's name is one. */
static int check_reuse(struct draft *d)
{
	if (!d->reuse || d->group.series.n)
		return 0;
	problem_set(&d->problem, ERR_INVALID,
	    "\"reuse\" takes what earlier groups of a series have built, and there is no series");
	problem_hint(&d->problem, "give \"series\": a name for groups that build the same");
	return problem_field(&d->problem, "reuse");
}

/* What is said of the group as a whole. */
static int read_said(struct draft *d, struct str text)
{
	struct saying s = {.queue = STR("default")};
	const struct fields_in r = {
	    .arena = &d->arena, .into = &s, .problem = &d->problem, .own = own, .arg = &s};
	json_t *said;
	int rc = json_in_parse(text, &said, &d->problem);

	if (rc)
		return rc;
	rc = fields_read(&r, group_said_fields, said, "");
	json_decref(said);
	d->group.name = s.name;
	d->group.policy = s.policy;
	d->queue = s.queue;
	d->group.series =
	    s.series.p || !d->file.from.p ? s.series : arena_str(&d->arena, d->file.from);
	d->job = s.job;
	d->reuse = s.reuse;
	return rc ? rc : check_reuse(d);
}

static int read_packages(struct draft *d, const struct plan_file *f)
{
	struct manifest m;
	int rc = plan_file_manifest(f, 0, &m, &d->problem);

	if (rc)
		return rc;
	rc = draft_manifest(d, &m);
	manifest_release(&m);
	return rc;
}

static int read_file(struct draft *d, struct plan_file *f)
{
	int rc = read_said(d, buf_str(&f->said));

	if (rc)
		return rc;
	if (f->from.p)
		return 0;
	return f->has_jobs ? draft_jobs(d, f) : read_packages(d, f);
}

static void read_text(struct draft *d)
{
	const struct plan_reading how = {
	    .bounds = {GROUP_JOBS_MAX, GROUP_EDGES_MAX}, .seed = d->seed, .from_graph = true};

	if (plan_file_read_as(d->text, &how, &d->file, &d->problem))
		return;
	free((char *)d->text.p); /* nothing of the file lies in it */
	d->text.p = NULL;
	read_file(d, &d->file);
	if (!d->file.from.p)
		plan_file_release(&d->file);
}

/* Here, and not on the loop, what was refused is let go, and what a long text took to be read. */
static void let_go(struct draft *d)
{
	bool is_much = d->text.n >= TRIM_BYTES;

	if (d->problem.code && !d->denied.p)
		draft_empty(d);
	if (is_much)
		malloc_trim(0); /* what lies between used memory does not go back by itself */
}

void draft_read(struct draft *d)
{
	read_text(d);
	let_go(d);
}

static int fit_one(struct draft *d, size_t i)
{
	const struct draft_job *j = &d->jobs[i];
	const struct queue_row *q = d->rows[j->queue];
	const struct task_in in = {.has_command = j->has_command,
	    .has_action = j->has_action,
	    .has_params = j->has_params,
	    .run = j->run};

	d->tasks[i].spec.queue = q->id;
	if (d->limit && !token_covers(d->limit, q->name, d->tasks[i].spec.labels)) {
		d->denied = q->name;
		return ERR_DENIED;
	}
	return task_in_fits(&in, q, &d->problem);
}

void draft_fit(struct draft *d)
{
	int rc = 0;

	for (size_t i = 0; i < d->n && !rc; i++) {
		rc = fit_one(d, i);
		if (rc && !d->denied.p)
			draft_problem(d, d->lines[i], d->group.names[i]);
	}
	if (rc)
		let_go(d);
}
