/* SPDX-License-Identifier: Apache-2.0 */
/* Attempts under way: which runner has each, and how to find it again. */
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/queue.h"
#include "worker/internal.h"

struct job *job_find(const struct worker *w, rid task, int64_t token)
{
	struct job *j = idmap_get(&w->jobs, task);

	return j && j->token == token ? j : NULL;
}

struct job *job_new(struct worker *w, rid task, int64_t token)
{
	struct job *j = xcalloc(1, sizeof *j);

	j->w = w;
	j->task = task;
	j->token = token;
	j->result_fd = -1;
	j->kept = (struct kept){.in = -1, .out = {-1, -1}};
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

void job_start(struct worker *w, const struct agent_effect *e)
{
	struct order o = {e->task, e->token, w->ids, e->run};
	const struct plugin_options *p = find_plugin(w, e->run->plugin);
	struct agent_exit x = {EXIT_ERROR, 0, 126, 0, STR_NULL};
	struct buf b = {0};

	if (p && p->mode == PLUGIN_PERSISTENT) {
		pool_submit(pool_find(w, e->run->plugin), &o);
		return;
	}
	if (p || (str_is(e->run->plugin, PLUGIN_COMMAND) && !w->o->no_command)) {
		process_job_start(w, &o, p);
		return;
	}
	buf_printf(&b, "this worker does not allow the plugin " STR_FMT, STR_ARG(e->run->plugin));
	x.reason = buf_str(&b);
	worker_exited(w, e->task, e->token, x);
	buf_release(&b);
}

void job_stop(struct worker *w, const struct agent_effect *e)
{
	struct job *j = job_find(w, e->task, e->token);

	if (!j)
		return; /* its end is on its way to the brain */
	if (j->pool)
		pool_stop(j, e->kill);
	else
		kept_signal(&j->kept, e->kill ? SIGKILL : SIGTERM, KILL_TO_CGROUP);
}

void job_read(struct worker *w, const struct agent_effect *e)
{
	struct job *j = job_find(w, e->task, e->token);

	if (j && j->pool)
		pool_read(j, e->read);
	else if (j)
		process_job_read(j, e->read);
}
