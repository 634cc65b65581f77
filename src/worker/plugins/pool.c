/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of persistent plugin processes. A task goes to the process with the fewest; processes are
 * made on demand, up to the plugin's number, and after a crash only after a pause that doubles.
 */
#include "worker/plugins/pool.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/world/log.h"
#include "model/limits.h"

#define FAILURES_MOST 3 /* without a hello, until those who wait are told */
#define GOODBYE_MS 1000

static void on_retry(void *arg)
{
	pool_pump(arg);
}

void pools_open(struct worker *w)
{
	w->n_pools = w->o->n_plugins;
	w->pools = xcalloc(w->n_pools ? w->n_pools : 1, sizeof *w->pools);
	for (size_t i = 0; i < w->n_pools; i++) {
		struct pool *p = &w->pools[i];

		p->w = w;
		p->o = &w->o->plugins[i];
		p->max = p->o->processes > 0 ? p->o->processes : (int)sysconf(_SC_NPROCESSORS_ONLN);
		TAILQ_INIT(&p->plugs);
		TAILQ_INIT(&p->waiting);
		p->retry = loop_timer_new(w->loop, on_retry, p);
	}
}

static bool no_plugs(const struct worker *w)
{
	for (size_t i = 0; i < w->n_pools; i++)
		if (w->pools[i].n_plugs)
			return false;
	return true;
}

/* The plugins' input ends: a good one goes by itself; the others do not get long. */
static void say_goodbye(struct worker *w)
{
	struct plug *g;

	for (size_t i = 0; i < w->n_pools; i++)
		TAILQ_FOREACH (g, &w->pools[i].plugs, entry) {
			g->stopped = true;
			process_close(&g->kept.in);
		}
	keeping_wait(w, GOODBYE_MS, no_plugs);
}

void pools_close(struct worker *w)
{
	struct plug *g;
	struct job *j;

	say_goodbye(w);
	for (size_t i = 0; i < w->n_pools; i++) {
		struct pool *p = &w->pools[i];

		while ((g = TAILQ_FIRST(&p->plugs)))
			plug_free(g);
		while ((j = TAILQ_FIRST(&p->waiting))) {
			TAILQ_REMOVE(&p->waiting, j, entry);
			job_free(j);
		}
		loop_timer_free(p->retry);
	}
	free(w->pools);
	w->pools = NULL; /* the loop goes on until the link is closed: nobody may find them */
	w->n_pools = 0;
}

struct pool *pool_find(const struct worker *w, struct str name)
{
	for (size_t i = 0; i < w->n_pools; i++)
		if (str_is(name, w->pools[i].o->name))
			return &w->pools[i];
	return NULL;
}

void pools_flush(struct worker *w)
{
	struct plug *g;

	for (size_t i = 0; i < w->n_pools; i++)
		TAILQ_FOREACH (g, &w->pools[i].plugs, entry)
			if (g->dirty)
				plug_flush(g);
}

static struct plug *with_room(struct pool *p)
{
	struct plug *g, *best = NULL;

	TAILQ_FOREACH (g, &p->plugs, entry)
		if (g->state == PLUG_READY && g->n_jobs < g->concurrency &&
		    (!best || g->n_jobs < best->n_jobs))
			best = g;
	return best;
}

bool pool_is_ready(const struct pool *p)
{
	const struct plug *g;

	TAILQ_FOREACH (g, &p->plugs, entry)
		if (g->state == PLUG_READY)
			return true;
	return false;
}

static void job_unwait(struct job *j, struct agent_exit x)
{
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;

	TAILQ_REMOVE(&j->pool->waiting, j, entry);
	job_free(j);
	worker_exited(w, task, token, x);
}

void pool_fail_waiting(struct pool *p, enum agent_exit_kind kind, int code, const char *reason)
{
	struct agent_exit x = {kind, TASK_FAILED, code, 0, str_of(reason)};
	struct job *j;

	while ((j = TAILQ_FIRST(&p->waiting)))
		job_unwait(j, x);
}

static void start_more(struct pool *p)
{
	char reason[REASON_MAX_BYTES];
	int64_t left = p->not_before_ms - worker_mono_ms();

	/* one at a time: its hello will tell how many tasks it takes */
	if (p->n_plugs >= p->max || p->n_starting > 0)
		return;
	if (p->failures >= FAILURES_MOST) {
		snprintf(reason, sizeof reason, "plugin %s does not start: see the worker's log",
		    p->o->name);
		pool_fail_waiting(p, EXIT_ERROR, 126, reason);
		p->failures = 0; /* the next task tries anew, but not at once */
		return;
	}
	if (left > 0) {
		loop_timer_set(p->retry, left);
		return;
	}
	plug_start(p);
}

void pool_pump(struct pool *p)
{
	struct job *j;
	struct plug *g;

	while ((j = TAILQ_FIRST(&p->waiting)) && (g = with_room(p))) {
		TAILQ_REMOVE(&p->waiting, j, entry);
		plug_give(g, j);
	}
	if (j && !p->w->closing)
		start_more(p);
}

/*
 * The brain counts a task's time from its start. A task that waits for its turn has all the time
 * it was given still before it; but none may wait for ever for a plugin that does not come up.
 */
static void on_limit(void *arg)
{
	struct job *j = arg;
	char reason[REASON_MAX_BYTES], limit[TIME_TEXT_MAX];

	if (j->plug || pool_is_ready(j->pool))
		return;
	snprintf(reason, sizeof reason, "time limit of %s reached before plugin %s said hello",
	    time_human_ms(j->timeout_ms, limit), j->pool->o->name);
	job_unwait(j, (struct agent_exit){EXIT_STATUS, TASK_TERMINATED, -1, 0, str_of(reason)});
}

static void set_limit(struct job *j, int64_t timeout_ms)
{
	if (timeout_ms <= 0)
		return;
	j->timeout_ms = timeout_ms;
	j->limit = loop_timer_new(j->w->loop, on_limit, j);
	loop_timer_set(j->limit, timeout_ms);
}

void pool_submit(struct pool *p, const struct link_run *r)
{
	struct job *j = job_new(p->w, r->task, r->token);
	size_t start = frame_begin(&j->frame);

	j->pool = p;
	if (p->w->keeper.keeps) { /* the plugin ends with us, and the next worker has to say so */
		struct buf note = {0};

		job_record(p->w, r->task, r->token,
		    keeper_hold(&p->w->keeper, note_write(p->w, NULL, r, &note)));
		buf_release(&note);
	}
	run_write(r, &p->w->ids, &j->frame);
	frame_end(&j->frame, start);
	TAILQ_INSERT_TAIL(&p->waiting, j, entry);
	if (!pool_is_ready(p))
		set_limit(j, r->timeout_ms);
	pool_pump(p);
}

static void ask_to_cancel(struct plug *g, const struct job *j)
{
	char id[ID_TEXT];
	size_t start = frame_begin(&g->in);

	buf_printf(&g->in, "{\"id\":\"%s\",\"token\":%lld,\"cancel\":true}",
	    id_format(&j->w->ids, j->task, id), (long long)j->token);
	frame_end(&g->in, start);
	g->dirty = true;
}

/* Gently: the plugin may know how to drop one task. If not, its process has to go, with all in it.
 */
void pool_stop(struct job *j, bool kill)
{
	struct plug *g = j->plug;

	if (!g) {
		job_unwait(j, (struct agent_exit){EXIT_NEVER, 0, -1, 0, STR_NULL});
		return;
	}
	if (kill) {
		g->stopped = true;
		plug_retire(g, "its process was killed to end another task");
	} else if (g->can_cancel && g->state == PLUG_READY) {
		ask_to_cancel(g, j);
	} else {
		g->stopped = true;
		plug_move(g, PLUG_RETIRING);
		snprintf(g->why, sizeof g->why, "its process was stopped to end another task");
		kept_signal(&g->kept, SIGTERM, KILL_TO_CGROUP);
	}
}

/* One task that writes faster than the server stores holds up its process: there is only one pipe.
 */
void pool_read(struct job *j, bool on)
{
	struct plug *g = j->plug;

	if (!g || j->paused != on)
		return;
	j->paused = !on;
	g->n_paused += on ? -1 : 1;
	if (g->out_watch[STDOUT])
		loop_watch_set(g->out_watch[STDOUT], g->n_paused == 0, false);
}
