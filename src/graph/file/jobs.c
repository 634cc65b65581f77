/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of a file. What a job says of its task is checked for its name alone, and kept as JSON. */
#include <string.h>

#include "base/mem.h"
#include "graph/file/internal.h"
#include "graph/limits.h"
#include "graph/package/names.h"
#include "graph/write/json_text.h"

#define COMMAND_WORDS_MAX 10000
#define AXIS_NAME_MAX 64

struct taking {
	struct arena *arena, *needs; /* of the list of jobs */
	uint64_t seed;
	struct job job;
	struct buf task;
};

static int set_name(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read first of all, so that every other error can name it */
}

static struct job_need *last_need(struct taking *t)
{
	return &t->job.needs[t->job.n_needs - 1];
}

static int set_after(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	struct str text;
	int rc = node_text(v, "after", 16, t->job.name, &text, p);

	if (rc == 0 && !after_parse(text, &last_need(t)->after))
		return wrong_at(p, v->line, t->job.name, "after is success, end or failure");
	return rc;
}

static int set_need_job(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	last_need(t)->line = v->line;
	return node_text(v, "job", JOB_NAME_MAX, t->job.name, &last_need(t)->job, p);
}

static const struct member need_members[] = {{"job", set_need_job}, {"after", set_after}};

static int read_need(struct taking *t, const struct node *v, struct problem *p)
{
	struct job_need *need = &t->job.needs[t->job.n_needs++];
	int rc;

	*need = (struct job_need){.after = AFTER_SUCCESS, .line = v->line};
	if (v->kind == NODE_MAP)
		rc = members_read(v, need_members, 2, t, t->job.name, p);
	else
		rc = node_text(v, "a need", JOB_NAME_MAX, t->job.name, &need->job, p);
	if (rc == 0 && need->job.n == 0)
		return wrong_at(p, v->line, t->job.name, "a need has no job");
	if (rc == 0 && (rc = job_name_check(need->job, "the name of a need", p)) < 0)
		problem_at(p, v->line, t->job.name);
	need->job = arena_str(t->needs, need->job);
	return rc;
}

static int set_needs(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int rc = node_list(v, "needs", JOB_NEEDS_MAX, t->job.name, p);

	if (rc < 0)
		return rc;
	t->job.needs = arena_alloc(t->needs, (v->n + 1) * sizeof *t->job.needs);
	for (const struct node *i = v->first; rc == 0 && i; i = i->next)
		rc = read_need(t, i, p);
	return rc;
}

static bool is_axis_name(struct str s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	if (s.n == 0 || s.n > AXIS_NAME_MAX || !memchr(letters, s.p[0], sizeof letters - 1))
		return false;
	for (size_t i = 1; i < s.n; i++)
		if (!memchr(letters, s.p[i], sizeof letters - 1) && (s.p[i] < '0' || s.p[i] > '9'))
			return false;
	return true;
}

static int read_value(struct taking *t, const struct node *v, struct names *seen, struct problem *p)
{
	struct job_axis *a = &t->job.axes[t->job.n_axes];
	int rc;

	if (v->kind != NODE_TEXT)
		return wrong_at(p, v->line, t->job.name,
		    "a value in matrix is %s; a text or a number is wanted", node_type(v));
	if ((rc = job_name_check(v->text, "a value in matrix", p)) < 0) {
		problem_at(p, v->line, t->job.name);
		return rc;
	}
	if (names_put(seen, v->text) < a->n)
		return wrong_at(p, v->line, t->job.name, "a value in matrix is there twice");
	a->values[a->n++] = arena_str(t->arena, v->text);
	return 0;
}

/* Numbers and words are taken as they are written: a value is a text. */
static int read_axis(struct taking *t, const struct node *v, struct problem *p)
{
	struct job_axis *a = &t->job.axes[t->job.n_axes];
	struct names seen = {.seed = t->seed};
	int rc = node_list(v, "a list of values", MATRIX_CELLS_MAX, t->job.name, p);

	if (rc < 0)
		return rc;
	if (v->n == 0)
		return wrong_at(p, v->line, t->job.name, "a list of values in matrix is empty");
	*a = (struct job_axis){.name = arena_str(t->arena, v->key)};
	a->values = arena_alloc(t->arena, v->n * sizeof *a->values);
	for (const struct node *i = v->first; i && rc == 0; i = i->next)
		rc = read_value(t, i, &seen, p);
	names_release(&seen);
	t->job.n_axes += rc == 0;
	return rc;
}

static int set_matrix(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int rc = 0;

	if (v->kind != NODE_MAP || v->n == 0 || v->n > MATRIX_AXES_MAX)
		return wrong_at(p, v->line, t->job.name,
		    "matrix is a map of 1 to %d names, each with its list of values",
		    MATRIX_AXES_MAX);
	t->job.axes = arena_alloc(t->arena, v->n * sizeof *t->job.axes);
	for (const struct node *i = v->first; rc == 0 && i; i = i->next) {
		if (!is_axis_name(i->key))
			return wrong_at(p, i->line, t->job.name,
			    "a name in matrix is not letters, digits and _, beginning with no "
			    "digit");
		for (uint32_t k = 0; k < t->job.n_axes; k++)
			if (str_eq(t->job.axes[k].name, i->key))
				return wrong_at(
				    p, i->line, t->job.name, "%s is in matrix twice", i->key.p);
		rc = read_axis(t, i, p);
	}
	return rc;
}

static int set_throttle(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int64_t n = 0;
	int rc = node_number(v, "throttle", 1, MATRIX_CELLS_MAX, t->job.name, &n, p);

	t->job.throttle = (uint32_t)n;
	return rc;
}

static int set_duration(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	return node_duration(
	    v, "duration", JOB_DURATION_MAX_MS, t->job.name, &t->job.duration_ms, p);
}

static int set_task(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;

	json_next(&t->task);
	json_text(&t->task, v->key);
	buf_add_char(&t->task, ':');
	node_json(v, &t->task);
	return 0;
}

static int set_command(const struct node *v, void *arg, struct problem *p)
{
	struct taking *t = arg;
	int rc = node_list(v, "command", COMMAND_WORDS_MAX, t->job.name, p);
	struct str word;

	if (rc == 0 && v->n == 0)
		return wrong_at(p, v->line, t->job.name, "command is empty");
	for (const struct node *i = v->first; rc == 0 && i; i = i->next)
		rc = node_text(i, "a word of command", SIZE_MAX, t->job.name, &word, p);
	return rc < 0 ? rc : set_task(v, arg, p);
}

/* The job's own members, and those of its task, which are the ones of POST /v1/tasks. */
static const struct member job_members[] = {
    {"name", set_name},
    {"needs", set_needs},
    {"matrix", set_matrix},
    {"throttle", set_throttle},
    {"duration", set_duration},
    {"command", set_command},
    {"action", set_task},
    {"queue", set_task},
    {"params", set_task},
    {"run", set_task},
    {"env", set_task},
    {"cwd", set_task},
    {"cwd_machine", set_task},
    {"need", set_task},
    {"priority", set_task},
    {"timeout", set_task},
    {"max_attempts", set_task},
    {"backoff", set_task},
    {"backoff_max", set_task},
    {"labels", set_task},
};

static int read_name(const struct node *map, struct taking *t, struct problem *p)
{
	const struct node *v = map->first;
	struct str text;
	int rc;

	while (v && !str_is(v->key, "name"))
		v = v->next;
	if (!v)
		return wrong_at(p, map->line, STR_NULL, "this job has no name");
	if ((rc = node_text(v, "name", SIZE_MAX, STR_NULL, &text, p)) < 0)
		return rc;
	if ((rc = job_name_check(text, "the name of a job", p)) < 0) {
		problem_at(p, v->line, STR_NULL);
		return rc;
	}
	t->job.name = arena_str(t->arena, text);
	t->job.line = map->line;
	return 0;
}

static int too_many(struct problem *p, uint32_t line, const char *what, size_t most)
{
	return problem_set(
	    p, ERR_TOO_LARGE, "line %u: there are more than %zu %s", line, most, what);
}

int file_read_job(struct plan_file *f, const struct node *v, struct problem *p)
{
	struct taking t = {.arena = &f->jobs.arena, .needs = &f->jobs.needs, .seed = f->jobs.seed};
	int rc;

	if (v->kind != NODE_MAP)
		return wrong_at(
		    p, v->line, STR_NULL, "a job is %s; {\"name\":…} is wanted", node_type(v));
	if (f->jobs.n >= f->bounds.jobs)
		return too_many(p, v->line, "jobs", f->bounds.jobs);
	if ((rc = read_name(v, &t, p)) < 0)
		return rc;
	buf_add_char(&t.task, '{');
	rc = members_read(
	    v, job_members, sizeof job_members / sizeof *job_members, &t, t.job.name, p);
	buf_add_char(&t.task, '}');
	f->n_needs += t.job.n_needs;
	if (rc == 0 && f->n_needs > f->bounds.needs)
		rc = too_many(p, v->line, "needs", f->bounds.needs);
	if (rc == 0) {
		t.job.task = arena_str(t.arena, buf_str(&t.task));
		*job_specs_add(&f->jobs) = t.job;
	}
	buf_release(&t.task);
	return rc;
}
