/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts under way: which runner has each, and how to find it again. */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/objects/queue.h"
#include "worker/internal.h"

struct job *job_find(const struct worker *w, rid task, int64_t token)
{
	struct job *j = idmap_get(&w->jobs, task);

	return j && j->token == token ? j : NULL;
}

static struct run_settings default_settings;

struct job *job_new(struct worker *w, rid task, int64_t token)
{
	struct job *j = xcalloc(1, sizeof *j);

	run_settings_default(&default_settings);
	j->w = w;
	j->task = task;
	j->token = token;
	j->result_fd = j->status_fd = j->sandbox_fd = -1;
	j->settings = &default_settings;
	j->kept = (struct kept){.in = -1, .out = {-1, -1}, .result_fd = -1};
	idmap_put(&w->jobs, task, j);
	return j;
}

void job_free(struct job *j)
{
	idmap_del(&j->w->jobs, j->task);
	process_job_release(j);
	buf_release(&j->frame);
	if (j->limit)
		loop_timer_free(j->limit);
	free(j);
}

static const struct plugin_options *find_plugin(const struct worker *w, struct str name)
{
	for (size_t i = 0; i < w->o->n_plugins; i++)
		if (str_is(name, w->o->plugins[i].name))
			return &w->o->plugins[i];
	return NULL;
}

void run_start(struct worker *w, const struct link_run *r)
{
	const struct plugin_options *p = find_plugin(w, r->plugin);
	struct agent_exit x = {EXIT_ERROR, 0, 126, 0, STR_NULL};
	struct buf b = {0};

	if (p && p->mode == PLUGIN_PERSISTENT) {
		pool_submit(pool_find(w, r->plugin), r);
		return;
	}
	if (p || (str_is(r->plugin, PLUGIN_COMMAND) && !w->o->no_command)) {
		process_job_start(w, r, p);
		return;
	}
	buf_printf(&b, "this worker does not allow the plugin " STR_FMT, STR_ARG(r->plugin));
	x.reason = buf_str(&b);
	worker_exited(w, r->task, r->token, x);
	buf_release(&b);
}

void job_stop(struct worker *w, const struct agent_effect *e)
{
	struct job *j = job_find(w, e->task, e->token);

	if (!j)
		return; /* the attempt's end is on its way to the brain */
	if (j->pool)
		pool_stop(j, e->kill);
	else
		kept_signal(
		    &j->kept, e->kill ? SIGKILL : SIGTERM, (enum kill_to)j->settings->kill.to);
}

static struct record *find_record(const struct worker *w, rid task, int64_t token)
{
	struct record *r = idmap_get(&w->records, task);

	while (r && r->token != token)
		r = r->next;
	return r;
}

void job_record(struct worker *w, rid task, int64_t token, uint64_t kept_id)
{
	struct record *r = xcalloc(1, sizeof *r);

	*r = (struct record){
	    .next = idmap_get(&w->records, task), .token = token, .kept_id = kept_id};
	LIST_INSERT_HEAD(&w->all_records, r, all);
	idmap_put(&w->records, task, r);
}

static void drop_record(struct worker *w, rid task, struct record *r)
{
	struct record *first = idmap_get(&w->records, task), *at = first;

	if (first == r) {
		if (r->next)
			idmap_put(&w->records, task, r->next);
		else
			idmap_del(&w->records, task);
	} else {
		while (at->next != r)
			at = at->next;
		at->next = r->next;
	}
	LIST_REMOVE(r, all);
	free(r);
}

void jobs_forget_all(struct worker *w)
{
	struct record *r;

	while ((r = LIST_FIRST(&w->all_records))) {
		LIST_REMOVE(r, all);
		free(r);
	}
	idmap_release(&w->records);
}

/* The server has all of it: the keeper and the disk may forget it, too. */
void job_forget(struct worker *w, const struct agent_effect *e)
{
	struct record *r = find_record(w, e->task, e->token);

	if (!r)
		return;
	keeper_release(&w->keeper, r->kept_id);
	job_output_remove(w, e->task, e->token);
	drop_record(w, e->task, r);
}

/* Leaving, with tasks that go on: our part of them goes. */
void jobs_leave(struct worker *w)
{
	struct kept *k, *next;

	TAILQ_FOREACH_SAFE (k, &w->keeper.all, entry, next)
		if (k->fns == &process_job_fns)
			job_free(CONTAINER_OF(k, struct job, kept));
}

void job_read(struct worker *w, const struct agent_effect *e)
{
	struct job *j = job_find(w, e->task, e->token);

	if (j && j->pool)
		pool_read(j, e->read);
	else if (j)
		job_output_read(j, e->read);
}
