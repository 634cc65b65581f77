/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A group's file as a request. It is sent as it is, and the server reads it with the same reader.
 * Where the command line says something in the file's place, the file is written anew as JSON, with
 * every entry in the line in which it stood: an error still names the right line.
 */
#include "cli/group/group.h"

#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "graph/file/file.h"
#include "graph/file/node.h"
#include "graph/write/json_text.h"
#include "model/objects/group.h"

void group_said_release(struct group_said *s)
{
	buf_release(&s->lost);
	*s = (struct group_said){0};
}

/* A program with a relative path in a job without a directory. */
static bool find_lost(const json_t *task, struct str job, struct buf *lost)
{
	const char *program = jhas(task, "cwd") ? NULL : relative_program(task);

	if (!program)
		return false;
	buf_printf(lost, "%s of ", program);
	if (job.n)
		buf_printf(lost, "the job %.*s", (int)job.n, job.p);
	else
		buf_add_cstr(lost, "the jobs");
	return true;
}

static void look_into(const struct plan_file *f, struct group_said *ret)
{
	AUTO(json_drop) json_t *said = json_loadb(f->said.p ? f->said.p : "", f->said.n, 0, NULL);
	bool found = find_lost(json_object_get(said, "job"), (struct str){0}, &ret->lost);

	ret->has_queue = json_object_get(said, "queue");
	for (size_t i = 0; i < f->jobs.n && !found; i++) {
		struct str task = f->jobs.jobs[i].task;
		json_t *j = task.n ? json_loadb(task.p, task.n, 0, NULL) : NULL;

		found = find_lost(j, f->jobs.jobs[i].name, &ret->lost);
		json_decref(j);
	}
}

/* As the server takes it: packages or jobs that make sense, and not more than a group may have. */
int group_file_check(struct str text, struct group_said *ret_said, struct problem *p)
{
	AUTO(plan_file_release) struct plan_file f = {0};
	AUTO(manifest_release) struct manifest m = {0};
	AUTO(job_plan_release) struct job_plan j = {0};
	static const struct plan_reading how = {
	    .bounds = {GROUP_JOBS_MAX, GROUP_EDGES_MAX}, .from_graph = true};
	int rc = plan_file_read_as(text, &how, &f, p);
	uint32_t jobs;

	if (rc == 0)
		look_into(&f, ret_said);
	if (rc == 0 && f.from.p)
		return 0; /* the server has its packages */
	if (rc == 0)
		rc = f.has_packages ? plan_file_manifest(&f, 0, &m, p)
		                    : job_plan_make(&f.jobs, &j, p);
	if (rc < 0)
		return rc;
	jobs = f.has_packages ? m.dag.n : j.dag.n;
	if (jobs > GROUP_JOBS_MAX)
		return problem_set(p, ERR_TOO_LARGE, "a group has at most %d jobs, this one %u",
		    GROUP_JOBS_MAX, jobs);
	return 0;
}

static void to_line(struct buf *out, uint32_t *at, uint32_t line)
{
	for (; *at < line; (*at)++)
		buf_add_char(out, '\n');
}

static bool has_member(const struct node *map, const char *name)
{
	const struct node *v = map->first;

	while (v && !str_is(v->key, name))
		v = v->next;
	return v;
}

/* A job, with a directory if it names none. */
static void add_job(const struct node *v, const char *cwd, struct buf *out)
{
	node_json(v, out);
	if (!cwd || v->kind != NODE_MAP || has_member(v, "cwd"))
		return;
	out->n--;
	json_key_text(out, "cwd", str_of(cwd));
	buf_add_char(out, '}');
}

static int copy_list(
    struct reader *r, const char *cwd, struct buf *out, uint32_t *at, struct problem *p)
{
	struct node *v;
	int rc = reader_list(r, p);

	buf_add_char(out, '[');
	while (rc >= 0 && (rc = reader_item(r, &v, p)) > 0) {
		json_next(out);
		to_line(out, at, v->line);
		add_job(v, cwd, out);
	}
	buf_add_char(out, ']');
	return rc;
}

static int copy_value(struct reader *r, const char *cwd, struct buf *out, struct problem *p)
{
	struct node *v;
	int rc = reader_value(r, &v, p);

	if (rc == 0)
		add_job(v, cwd, out);
	return rc;
}

/* The lists that may be longer than what is read in one go. */
static bool is_list(struct str name)
{
	return str_is(name, "jobs") || str_is(name, "packages") || str_is(name, "touched") ||
	       str_is(name, "unbuildable");
}

static int copy(
    struct reader *r, const json_t *said, const char *cwd, struct buf *out, struct problem *p)
{
	struct str name;
	uint32_t line, at = 1;
	int rc;

	while ((rc = reader_member(r, &name, &line, p)) > 0) {
		AUTO(buf_release) struct buf dropped = {0};
		bool keeps = !json_object_getn(said, name.p, name.n);
		struct buf *to = keeps ? out : &dropped;
		uint32_t unused = UINT32_MAX;
		const char *here = str_is(name, "jobs") || str_is(name, "job") ? cwd : NULL;

		if (keeps) {
			json_next(out);
			to_line(out, &at, line);
			json_text(out, name);
			buf_add_char(out, ':');
		}
		rc = is_list(name) ? copy_list(r, here, to, keeps ? &at : &unused, p)
		                   : copy_value(r, here, to, p);
		if (rc < 0)
			break;
	}
	return rc;
}

int group_body(
    struct str text, const json_t *said, const char *cwd, struct buf *ret_body, struct problem *p)
{
	AUTO(free_cstr) char *head = NULL;
	struct reader *r;
	int rc;

	if (json_object_size(said) == 0 && !cwd) {
		buf_add_str(ret_body, text);
		return 0;
	}
	if ((rc = reader_open(text, &r, p)) < 0)
		return rc;
	head = json_dumps(said, JSON_COMPACT);
	buf_add(ret_body, head, strlen(head) - 1);
	rc = copy(r, said, cwd, ret_body, p);
	buf_add_char(ret_body, '}');
	reader_free(r);
	return rc;
}
