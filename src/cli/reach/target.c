/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/reach/target.h"

#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/reach/last.h"

static int get(struct cli *c, const char *path, const char *name, json_t **ret_object)
{
	AUTO(buf_release) struct buf url = {0};

	buf_add_cstr(&url, path);
	url_add_path(&url, name);
	return cli_get(c, url.p, ret_object);
}

int batch_get(struct cli *c, const char *name, json_t **ret_batch)
{
	return get(c, "/v1/batches", name, ret_batch);
}

int group_fetch(struct cli *c, const char *name, json_t **ret_group)
{
	return get(c, "/v1/groups", name, ret_group);
}

static int take_id(struct cli *c, const json_t *object, const char *member, char ret_id[25])
{
	if (!is_id(js(object, member)))
		return problem_set(&c->problem, ERR_PROTOCOL, "the server's reply has no id");
	memcpy(ret_id, js(object, member), 25);
	return 0;
}

static bool is_task(struct cli *c, const char *id)
{
	AUTO(json_drop) json_t *task = NULL;

	return is_id(id) && get(c, "/v1/tasks", id, &task) == 0;
}

static bool is_batch(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *batch = NULL;

	return batch_get(c, name, &batch) == 0 && !jb(batch, "id_is_task");
}

static bool is_group(struct cli *c, const char *name)
{
	AUTO(json_drop) json_t *group = NULL;

	return group_fetch(c, name, &group) == 0;
}

/* No name has a slash: the path of a request that had one would be another. */
static int refuse_slash(struct cli *c, const char *typed, const char *what)
{
	problem_set(&c->problem, ERR_NOT_FOUND, "there is no %s \"%.64s\"", what, typed);
	return problem_hint(
	    &c->problem, "a name has no slash; GROUP/JOB is a job of a group, which is a task");
}

void target_hint(struct cli *c, const char *typed, enum target_kind wanted)
{
	static const struct {
		bool (*is)(struct cli *c, const char *typed);
		const char *what, *show;
	} kinds[] = {
	    [TARGET_TASK] = {is_task, "a task", "reeve task show"},
	    [TARGET_BATCH] = {is_batch, "a batch of tasks", "reeve batch show"},
	    [TARGET_GROUP] = {is_group, "a group of jobs", "reeve group show"},
	};
	const char *options[] = {NULL, "--batch", "--group"}, *of = is_id(typed) ? "id" : "name";
	AUTO(buf_release) struct buf name = {0};
	struct problem p = c->problem;

	if (strchr(typed, '/')) {
		refuse_slash(c, typed, wanted == TARGET_BATCH ? "batch" : "group");
		return;
	}
	buf_add_typed(&name, str_of(typed));
	for (size_t i = 0; i < N_OF(kinds); i++) {
		if (i == wanted || !kinds[i].is(c, typed))
			continue;
		c->problem = p;
		problem_hint(&c->problem, "it is the %s of %s: %s %s%s%s%s%s", of, kinds[i].what,
		    kinds[i].show, name.p, options[i] ? "; its tasks: reeve task ls " : "",
		    options[i] ? options[i] : "", options[i] ? " " : "", options[i] ? name.p : "");
		return;
	}
	c->problem = p;
}

/* Whether there are tasks of it, or it is known by its id: the tasks are not counted for that. */
static bool has_tasks(struct cli *c, const char *filter, const char *id)
{
	AUTO(buf_release) struct buf url = {0};
	AUTO(json_drop) json_t *list = NULL;
	struct problem p = c->problem;

	buf_add_cstr(&url, "/v1/tasks?order=asc&limit=1");
	url_add(&url, filter, id);
	if (cli_get(c, url.p, &list) == 0)
		return json_array_size(json_object_get(list, "items")) > 0;
	c->problem = p;
	return false;
}

/* The newest is meant: nobody should have to guess that. */
static void tell_namesakes(struct cli *c, const json_t *batch)
{
	int64_t others = ji(batch, "namesakes", 0);
	char ago[TIME_TEXT_MAX];

	if (others > 0)
		cli_note(c, "reeve: %lld%s batches are named \"%s\"; the newest is meant: %s, %s",
		    (long long)others + 1, others == 99 ? " or more" : "", js(batch, "name"),
		    js(batch, "id"), jago(batch, "ctime", ago));
}

int batch_find(struct cli *c, const char *typed, char ret_id[25])
{
	AUTO(json_drop) json_t *batch = NULL;
	int r;

	if (!*typed || !strcmp(typed, "@last"))
		return batch_resolve(typed, ret_id, &c->problem);
	if (strchr(typed, '/'))
		return refuse_slash(c, typed, "batch");
	if (is_id(typed) && has_tasks(c, "batch", typed))
		return batch_resolve(typed, ret_id, &c->problem);
	r = batch_get(c, typed, &batch);
	if (r == ERR_NOT_FOUND)
		target_hint(c, typed, TARGET_BATCH);
	if (r < 0)
		return r;
	tell_namesakes(c, batch);
	return take_id(c, batch, "id", ret_id);
}

int group_id_of(struct cli *c, const char *typed, char ret_id[25])
{
	AUTO(json_drop) json_t *group = NULL;
	int r;

	if (!*typed || !strcmp(typed, "@last"))
		return group_resolve(typed, ret_id, &c->problem);
	if (strchr(typed, '/'))
		return refuse_slash(c, typed, "group");
	if (is_id(typed) && has_tasks(c, "group", typed))
		return group_resolve(typed, ret_id, &c->problem);
	r = group_fetch(c, typed, &group);
	if (r == ERR_NOT_FOUND)
		target_hint(c, typed, TARGET_GROUP);
	return r < 0 ? r : take_id(c, group, "id", ret_id);
}

int group_job_get(struct cli *c, const char *group, const char *job, json_t **ret_job)
{
	AUTO(buf_release) struct buf url = {0};
	char id[25];

	if (!strcmp(group, "@last") && group_resolve(group, id, &c->problem) < 0)
		return c->problem.code;
	buf_add_cstr(&url, "/v1/groups");
	url_add_path(&url, strcmp(group, "@last") ? group : id);
	buf_add_cstr(&url, "/jobs");
	url_add_path(&url, job);
	return cli_get(c, url.p, ret_job);
}

/* A group's name has no slash, a job's may have some. */
static int find_job(struct cli *c, const char *typed, struct target *t)
{
	size_t n = strcspn(typed, "/");
	AUTO(free_cstr) char *group = xstrndup(typed, n);
	AUTO(json_drop) json_t *job = NULL;
	int r = group_job_get(c, group, typed + n + 1, &job);

	return r < 0 ? r : take_id(c, job, "task", t->id);
}

static int find_last(struct cli *c, struct target *t)
{
	static const enum target_kind kinds[] = {
	    [LAST_TASK] = TARGET_TASK, [LAST_BATCH] = TARGET_BATCH, [LAST_GROUP] = TARGET_GROUP};
	enum last_kind kind = LAST_TASK;
	int r = last_load(&kind, t->id, &c->problem);

	t->kind = kinds[kind];
	return r;
}

/* Which of the two would be cancelled, or waited for, nobody should have to know by heart. */
static int refuse_two_things(struct cli *c, const char *typed)
{
	AUTO(json_drop) json_t *group = NULL;
	AUTO(buf_release) struct buf name = {0};
	int r = is_id(typed) ? ERR_NOT_FOUND : group_fetch(c, typed, &group);

	if (r == ERR_NOT_FOUND)
		c->problem = (struct problem){0};
	if (r < 0)
		return r == ERR_NOT_FOUND ? 0 : r;
	buf_add_typed(&name, str_of(typed));
	problem_set(
	    &c->problem, ERR_CONFLICT, "\"%.64s\" is the name of a batch and of a group", typed);
	return problem_hint(&c->problem,
	    "give the id that you mean: reeve batch show %s, reeve group show %s", name.p, name.p);
}

/* 1: it is a batch or a group; 0: it is neither. */
static int find_several(struct cli *c, const char *typed, struct target *t)
{
	AUTO(json_drop) json_t *batch = NULL, *group = NULL;
	int r = batch_get(c, typed, &batch);

	if (r == 0 && !jb(batch, "id_is_task")) {
		r = refuse_two_things(c, typed);
		if (r < 0)
			return r;
		tell_namesakes(c, batch);
		t->kind = TARGET_BATCH;
		r = take_id(c, batch, "id", t->id);
		return r < 0 ? r : 1;
	}
	if (r == ERR_NOT_FOUND && (r = group_fetch(c, typed, &group)) == 0) {
		t->kind = TARGET_GROUP;
		r = take_id(c, group, "id", t->id);
		return r < 0 ? r : 1;
	}
	if (r < 0 && r != ERR_NOT_FOUND)
		return r;
	c->problem = (struct problem){0};
	return 0;
}

/* "GROUP/JOB", both of them said: a path is none. */
static bool names_a_job(const char *typed)
{
	const char *slash = strchr(typed, '/');

	return slash && slash != typed && slash[1];
}

int task_id_of(struct cli *c, const char *typed, char ret_id[25])
{
	struct target t;
	int r;

	if (!names_a_job(typed))
		return id_resolve(typed, ret_id, &c->problem);
	r = find_job(c, typed, &t);
	if (r == 0)
		memcpy(ret_id, t.id, 25);
	return r;
}

/* Names of tasks are their filter: any number may have the same. */
static int hint_at_name(struct cli *c, const char *typed)
{
	AUTO(buf_release) struct buf name = {0};

	buf_add_typed(&name, str_of(typed));
	return problem_hint(&c->problem,
	    "tasks have this name: --name %s means all of them; reeve task ls --name %s shows "
	    "their ids",
	    name.p, name.p);
}

/* "web", "web/3". Whatever is wrong, it is none: what else it may be says so. */
static bool find_service(struct cli *c, const char *typed, struct target *t)
{
	const char *slash = strrchr(typed, '/');
	AUTO(free_cstr)
	char *name = slash ? xstrndup(typed, (size_t)(slash - typed)) : xstrdup(typed);
	AUTO(json_drop) json_t *service = NULL;
	struct problem p = c->problem;
	bool found;

	*t = (struct target){.kind = TARGET_SERVICE, .index = -1};
	if (!*name || (slash && !str_to_i64(str_of(slash + 1), 0, INT32_MAX, &t->index)))
		return false;
	found =
	    get(c, "/v1/services", name, &service) == 0 && take_id(c, service, "id", t->id) == 0;
	c->problem = p;
	return found;
}

static int refuse_service(struct cli *c, const char *typed)
{
	AUTO(buf_release) struct buf name = {0};

	buf_add_typed(&name, str_of(typed));
	problem_set(&c->problem, ERR_CONFLICT,
	    "\"%.64s\" is of a service, and of a batch or a group", typed);
	return problem_hint(&c->problem,
	    "of the service: reeve service why %s, reeve service logs %s; else give an id", name.p,
	    name.p);
}

int target_find_any(struct cli *c, const char *typed, struct target *ret_target)
{
	int r = target_find(c, typed, ret_target);
	struct target service;

	if (!strcmp(typed, "@last") || is_id(typed) ||
	    (r < 0 && r != ERR_NOT_FOUND && r != ERR_INVALID) || !find_service(c, typed, &service))
		return r;
	if (r == 0)
		return refuse_service(c, typed);
	c->problem = (struct problem){0};
	*ret_target = service;
	return 0;
}

int target_find(struct cli *c, const char *typed, struct target *ret_target)
{
	struct target service;
	int r;

	*ret_target = (struct target){.kind = TARGET_TASK, .index = -1};
	if (!strcmp(typed, "@last"))
		return find_last(c, ret_target);
	if (names_a_job(typed))
		return find_job(c, typed, ret_target);
	r = find_several(c, typed, ret_target);
	if (r != 0)
		return r < 0 ? r : 0;
	if (is_id(typed))
		return id_resolve(typed, ret_target->id, &c->problem);
	problem_set(&c->problem, ERR_INVALID,
	    "\"%.64s\" is neither the id of a task nor the id or name of a batch or a group",
	    typed);
	if (has_tasks(c, "name", typed))
		return hint_at_name(c, typed);
	if (find_service(c, typed, &service))
		return problem_hint(&c->problem,
		    "it is a service: `reeve service --help` says what can be done with it");
	return problem_hint(&c->problem,
	    "an id has 24 hexadecimal digits; `reeve task ls`, `reeve batch ls` and `reeve group "
	    "ls` show them, and @last is the last one");
}
