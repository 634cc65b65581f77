/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process per attempt: the built-in "command", actions, and plugins of mode once. The attempt is
 * over when the keeper says that nothing is left of it, and all of its output has been taken.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "model/limits.h"
#include "worker/internal.h"

#define LINGER_MS 1000 /* nothing is left of the tree, but somebody who escaped it holds a pipe */

static void job_over(struct job *j)
{
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;
	struct buf text = {0};
	struct agent_exit x = {.kind = EXIT_CODE,
	    .exit_code = j->kept.exit_code,
	    .signal = j->kept.signal,
	    .usage = j->kept.usage};

	if (j->kept.signal)
		x.kind = EXIT_SIGNAL;
	job_result(j, &x, &text);
	if (j->kept.lost)
		x.reason = STR("the worker's keeper died, and its tasks with it");
	job_free(j); /* first: the brain may start the next attempt of this very task */
	worker_exited(w, task, token, x);
	buf_release(&text);
}

static void on_linger(void *arg)
{
	struct job *j = arg;

	if (job_output_cut(j))
		process_job_check(j);
}

void process_job_check(struct job *j)
{
	if (!j->kept.is_over)
		return;
	if (job_output_is_done(j)) {
		job_over(j);
		return;
	}
	job_output_watch(j);
	if (j->paused)
		return; /* reading goes on when the server has taken what there is */
	if (!j->lingers) {
		if (j->linger)
			loop_timer_free(j->linger);
		j->linger = loop_timer_new(j->w->loop, on_linger, j);
	}
	j->lingers = true;
	loop_timer_set(j->linger, LINGER_MS);
}

static struct job *job_of(struct kept *k)
{
	return CONTAINER_OF(k, struct job, kept);
}

static void on_started(struct kept *k)
{
	struct job *j = job_of(k);
	char id[ID_TEXT];

	if (k->warning)
		log_warn("task %s: %s", id_format(&j->w->ids, j->task, id), k->warning);
	job_output_open(j);
	job_input_open(j);
	worker_feed(
	    j->w, (struct agent_event){
	              .kind = AE_STARTED, .task = j->task, .token = j->token, .pid = k->pid});
	monitoring_start(j);
}

static void could_not_start(struct worker *w, rid task, int64_t token, int code, struct str why)
{
	struct agent_exit x = {.kind = EXIT_ERROR, .exit_code = code, .reason = why};

	/* the task may well start on another worker, so it must not count as tried */
	if (code == SPAWN_NOT_MADE)
		x.kind = EXIT_NEVER;
	worker_exited(w, task, token, x);
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct job *j = job_of(k);
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;

	job_free(j);
	could_not_start(w, task, token, code, why);
}

static void on_over(struct kept *k)
{
	struct job *j = job_of(k);

	monitoring_stop(j);
	if (job_output_drain(j))
		process_job_check(j);
}

const struct kept_fns process_job_fns = {on_started, on_not_started, on_over};

void process_job_start(struct worker *w, const struct link_run *r, const struct plugin_options *p)
{
	struct job *j = job_new(w, r->task, r->token);
	char why[REASON_MAX_BYTES];
	int code = launch_job(j, r, p, &process_job_fns, why, sizeof why);

	if (!code)
		return;
	job_free(j);
	could_not_start(w, r->task, r->token, code, str_of(why));
}

void process_job_release(struct job *j)
{
	monitoring_stop(j);
	ports_give_back(&j->w->ports, j->ports, j->n_ports);
	job_output_release(j);
	job_input_release(j);
	if (j->linger)
		loop_timer_free(j->linger);
	process_close(&j->result_fd);
	process_close(&j->status_fd);
	process_close(&j->sandbox_fd);
	if (!j->w->detached || !j->keeps)
		kept_drop(&j->kept);
	else
		kept_leave(&j->kept);
	arena_release(&j->memory);
}
