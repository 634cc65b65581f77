/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a group's jobs, each line with its job before it. When it is followed, a job is
 * shown from when it starts: those that wait have nothing to show, and there may be very many.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/group/group_stream.h"
#include "cli/nouns/noun.h"
#include "cli/reach/last.h"
#include "cli/reach/target.h"
#include "cli/tasks/logs.h"

struct feed {
	struct logs *logs;
	struct group_stream stream;
	char *group;
	uint8_t *shown; /* by job */
};

/* Of a short one the stream may tell the end alone. */
static bool has_run(const struct live *l, uint32_t job)
{
	int s = l->states[job];

	return l->started[job] || s == JOB_BUILT || s == JOB_FAILED || s == JOB_LOST;
}

static void show_job(struct live *l, uint32_t job, void *arg)
{
	struct feed *f = arg;
	char id[ID_TEXT];

	if (f->shown[job] || !has_run(l, job) || !live_task(l, job, id))
		return;
	f->shown[job] = 1;
	logs_add(f->logs, id, live_name(l, job));
}

/* What has started already; after a broken connection, what has started since. */
static void show_started(struct group_stream *s)
{
	struct feed *f = s->arg;

	if (!f->shown)
		f->shown = xcalloc((size_t)s->live.n + 1, 1);
	for (uint32_t j = 0; j < s->live.n; j++)
		show_job(&s->live, j, f);
}

static bool feed_more(struct logs *l)
{
	struct feed *f = l->arg;
	bool goes_on = group_stream_step(&f->stream);

	l->more_result = f->stream.result;
	return goes_on;
}

static void feed_release(struct logs *l)
{
	struct feed *f = l->arg;

	group_stream_release(&f->stream);
	free(f->group);
	free(f->shown);
	free(f);
}

static int follow_group(struct logs *l, const char *group)
{
	struct feed *f;

	if (l->more)
		return problem_set(
		    &l->c->problem, ERR_INVALID, "one group can be followed at a time");
	f = xcalloc(1, sizeof *f);
	f->logs = l;
	f->group = xstrdup(group);
	f->stream = (struct group_stream){
	    .c = l->c, .group = f->group, .on_job = show_job, .on_load = show_started, .arg = f};
	l->arg = f;
	l->more = feed_more;
	l->more_release = feed_release;
	return 0;
}

static bool add_page(struct cli *c, json_t *items, const char *next, void *arg)
{
	struct logs *l = arg;
	json_t *job;
	size_t i;

	json_array_foreach(
	    items, i, job) if (jhas(job, "started") && is_id(js(job, "task")) && logs_wants(l, job))
	    logs_add(l, js(job, "task"), js(job, "name"));
	if (next)
		cli_note(
		    c, "reeve: there are more than %d jobs; these are the first", LOGS_TASKS_MAX);
	return true;
}

int logs_add_group(struct logs *l, const char *group)
{
	AUTO(buf_release) struct buf url = {0};

	if (l->follow)
		return follow_group(l, group);
	buf_add_cstr(&url, "/v1/groups");
	url_add_path(&url, group);
	buf_add_cstr(&url, "/jobs");
	return cli_each_page(l->c, url.p, LOGS_TASKS_MAX, add_page, l);
}

static int which_jobs(struct logs *l)
{
	const struct options *o = &l->c->options;
	char id[25];
	int r = logs_get_since(l);

	if (r == 0 && o->n_args == 1)
		return group_id_of(l->c, o->args[0], id) < 0 ? l->c->problem.code
		                                             : logs_add_group(l, id);
	for (size_t i = 1; r == 0 && i < o->n_args; i++) {
		AUTO(json_drop) json_t *job = NULL;

		r = group_job_get(l->c, o->args[0], o->args[i], &job);
		if (r == 0)
			logs_add(l, js(job, "task"), js(job, "name"));
	}
	return r;
}

int cmd_group_log(struct cli *c)
{
	struct logs l = {.c = c, .follow = options_switch(&c->options, "follow", false)};
	int r = logs_check(c);

	if (r == 0)
		r = cli_client(c) ? which_jobs(&l) : c->problem.code;
	if (r == 0 && l.n == 0 && !l.more)
		cli_note(c, "reeve: no job has started");
	if (r == 0)
		r = logs_show(&l);
	logs_release(&l);
	return r;
}
