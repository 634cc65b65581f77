/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/file/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "graph/file/internal.h"
#include "graph/limits.h"
#include "graph/write/json_text.h"

void plan_file_release(struct plan_file *f)
{
	arena_release(&f->arena);
	package_graph_release(&f->graph);
	names_release(&f->idents);
	job_specs_release(&f->jobs);
	free(f->ident_lines);
	free(f->lines);
	free(f->touched);
	free(f->blocked);
	buf_release(&f->said);
	*f = (struct plan_file){0};
}

int plan_file_touch(struct plan_file *f, struct str text, struct problem *p)
{
	struct ident id;
	int rc = ident_parse(text, &id, p);

	if (rc < 0)
		return rc;
	if (f->n_touched >= GRAPH_NAMES_MAX)
		return problem_set(
		    p, ERR_TOO_LARGE, "more than %d packages are touched", GRAPH_NAMES_MAX);
	GROW(f->touched, f->touched_cap, f->n_touched + 1);
	f->touched[f->n_touched++] = arena_str(&f->arena, id.key);
	return 0;
}

static int touched_read(struct plan_file *f, const struct node *v, struct problem *p)
{
	struct str text;
	int rc = node_text(v, "touched", SIZE_MAX, STR_NULL, &text, p);

	if (rc < 0)
		return rc;
	rc = plan_file_touch(f, text, p);
	if (rc < 0)
		problem_at(p, v->line, STR("touched"));
	return rc;
}

static int read_list(struct plan_file *f, struct reader *r,
    int (*read)(struct plan_file *, const struct node *, struct problem *), struct problem *p)
{
	struct node *v;
	int rc = reader_list(r, p);

	while (rc >= 0 && (rc = reader_item(r, &v, p)) > 0)
		rc = read(f, v, p);
	return rc;
}

static int read_packages(struct plan_file *f, struct reader *r, struct problem *p)
{
	f->has_packages = true;
	return read_list(f, r, file_read_package, p);
}

static int read_jobs(struct plan_file *f, struct reader *r, struct problem *p)
{
	f->has_jobs = true;
	return read_list(f, r, file_read_job, p);
}

static int read_touched(struct plan_file *f, struct reader *r, struct problem *p)
{
	f->has_touched = true;
	return read_list(f, r, touched_read, p);
}

static int read_blocked(struct plan_file *f, struct reader *r, struct problem *p)
{
	return read_list(f, r, file_read_blocked, p);
}

static int read_rounds(struct plan_file *f, struct reader *r, struct problem *p)
{
	struct node *v;
	int64_t n = 0;
	int rc = reader_value(r, &v, p);

	if (rc == 0)
		rc = node_number(v, "rounds", 1, PLAN_ROUNDS_MAX, STR_NULL, &n, p);
	if (rc == 0)
		f->rounds = (uint32_t)n;
	return rc;
}

static int read_from(struct plan_file *f, struct reader *r, struct problem *p)
{
	struct str text;
	struct node *v;
	int rc = reader_value(r, &v, p);

	if (rc == 0)
		rc = node_text(v, "graph", JOB_NAME_MAX, STR_NULL, &text, p);
	if (rc == 0)
		f->from = arena_str(&f->arena, text);
	return rc;
}

/* NULL: it is kept as it is written, for whoever runs the group. */
static const struct {
	const char *name;
	int (*read)(struct plan_file *f, struct reader *r, struct problem *p);
	bool is_of_packages, is_of_jobs;
} members[] = {
    {"packages", read_packages, true, false},
    {"touched", read_touched, true, false},
    {"unbuildable", read_blocked, true, false},
    {"rounds", read_rounds, true, false},
    {"graph", read_from, true, false},
    {"jobs", read_jobs, false, true},
    {"job", NULL, true, false},
    {"name", NULL, true, true},
    {"policy", NULL, true, true},
    {"series", NULL, true, true},
    {"reuse", NULL, true, true},
    {"queue", NULL, true, true},
};
#define N_MEMBERS (sizeof members / sizeof *members)

static int keep(struct plan_file *f, struct reader *r, const char *name, struct problem *p)
{
	struct node *v;
	int rc = reader_value(r, &v, p);

	if (rc < 0)
		return rc;
	json_next(&f->said);
	json_text(&f->said, str_of(name));
	buf_add_char(&f->said, ':');
	node_json(v, &f->said);
	return 0;
}

/* What Reeve writes itself, by its first member: it lacks what a group is made of. */
static const struct {
	const char *member, *is;
} written[] = {
    {"form", "this is a plan, which says what a file leads to"},
    {"id", "this is a group as the server shows it"},
    {"group", "this is the picture of a group as the server has it"},
};

static int unknown(
    uint32_t line, struct str name, uint32_t seen, const char *const *names, struct problem *p)
{
	for (size_t i = 0; i < sizeof written / sizeof *written && !seen; i++)
		if (str_is(name, written[i].member)) {
			wrong_at(
			    p, line, STR_NULL, "%s, without the tasks of its jobs", written[i].is);
			return problem_hint(p, "submit the file that it was made of");
		}
	return member_unknown(line, name, names, N_MEMBERS, STR_NULL, p);
}

static int read_member(struct plan_file *f, struct reader *r, struct str name, uint32_t line,
    uint32_t *seen, struct problem *p)
{
	const char *names[N_MEMBERS];
	size_t i;

	for (i = 0; i < N_MEMBERS; i++)
		names[i] = members[i].name;
	for (i = 0; i < N_MEMBERS && !str_is(name, names[i]); i++)
		;
	if (i == N_MEMBERS)
		return unknown(line, name, *seen, names, p);
	if (*seen >> i & 1)
		return wrong_at(p, line, STR_NULL, "%s is there twice", names[i]);
	*seen |= (uint32_t)1 << i;
	return members[i].read ? members[i].read(f, r, p) : keep(f, r, names[i], p);
}

/* Packages or jobs, with what belongs to them. */
static int check_form(
    const struct plan_file *f, const struct plan_reading *how, uint32_t seen, struct problem *p)
{
	if (f->has_packages && f->has_jobs)
		return problem_set(p, ERR_INVALID, "a file has either packages or jobs, not both");
	if (f->from.p && (f->has_packages || f->has_jobs))
		return problem_set(
		    p, ERR_INVALID, "a graph stands in place of packages or jobs, not beside them");
	if (f->from.p && !how->from_graph)
		return problem_set(p, ERR_INVALID,
		    "it names a graph, which a server keeps; packages or jobs are wanted here");
	if (!f->has_packages && !f->has_jobs && !f->from.p) {
		problem_set(p, ERR_INVALID, "there are neither packages nor jobs in it");
		return problem_hint(p, "a file begins {\"packages\": [ or {\"jobs\": [");
	}
	for (size_t i = 0; i < N_MEMBERS && f->has_jobs; i++)
		if ((seen >> i & 1) && !members[i].is_of_jobs)
			return problem_set(p, ERR_INVALID, "%s goes with packages, not with jobs",
			    members[i].name);
	return 0;
}

/* A loop is told by its first package, so the line is that package's. */
static int with_line(const struct plan_file *f, int rc, struct problem *p)
{
	uint32_t name = rc < 0 && p ? names_find(&f->graph.names, str_of(p->field)) : NO_NAME;

	if (name != NO_NAME && name < f->line_cap && f->lines[name])
		problem_at(p, f->lines[name], STR_NULL);
	return rc;
}

static int read_all(
    struct plan_file *f, struct reader *r, const struct plan_reading *how, struct problem *p)
{
	struct str name;
	uint32_t line, seen = 0;
	int rc;

	buf_add_char(&f->said, '{');
	while ((rc = reader_member(r, &name, &line, p)) > 0)
		if ((rc = read_member(f, r, name, line, &seen, p)) < 0)
			return rc;
	buf_add_char(&f->said, '}');
	if (rc == 0)
		rc = check_form(f, how, seen, p);
	if (rc == 0 && !how->any_loops)
		rc = with_line(f, package_graph_check(&f->graph, p), p);
	return rc;
}

int plan_file_read(struct str text, struct plan_file *ret_file, struct problem *p)
{
	return plan_file_read_as(text, &(struct plan_reading){0}, ret_file, p);
}

int plan_file_read_as(
    struct str text, const struct plan_reading *how, struct plan_file *ret_file, struct problem *p)
{
	struct plan_file f = {.bounds = how->bounds};
	struct reader *r;
	int rc;

	if (text.n > PLAN_FILE_MAX)
		return problem_set(p, ERR_TOO_LARGE, "this has %zu bytes; a file may have %lld",
		    text.n, (long long)PLAN_FILE_MAX);
	if ((rc = reader_open(text, &r, p)) < 0)
		return rc;
	if (!how->bounds.jobs)
		f.bounds = (struct plan_bounds){PLAN_JOBS_MAX, PLAN_EDGES_MAX};
	f.idents.seed = how->seed;
	f.jobs.seed = how->seed;
	f.jobs.jobs_max = f.bounds.jobs;
	f.jobs.needs_max = f.bounds.needs;
	package_graph_seed(&f.graph, how->seed);
	rc = read_all(&f, r, how, p);
	reader_free(r);
	if (rc < 0)
		plan_file_release(&f);
	else
		*ret_file = f;
	return rc;
}

int plan_file_manifest(
    const struct plan_file *f, uint32_t rounds, struct manifest *ret_manifest, struct problem *p)
{
	struct plan_request r = {.all = !f->has_touched && f->n_touched == 0};

	r.touched = f->touched;
	r.n_touched = f->n_touched;
	r.blocked = f->blocked;
	r.n_blocked = f->n_blocked;
	r.rounds = rounds ? rounds : f->rounds;
	return with_line(f, manifest_make(&f->graph, &r, ret_manifest, p), p);
}
