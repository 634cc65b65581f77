/* SPDX-License-Identifier: Apache-2.0 */
/* One process of a persistent plugin: made, fed, and buried with the tasks it held. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/timefmt.h"
#include "base/world/log.h"
#include "model/limits.h"
#include "worker/plugins/pool.h"

#define HELLO_WAIT_MS 10000
#define RECYCLE_WAIT_MS 10000
#define CLOSED_WAIT_MS 1000
#define BACKOFF_FIRST_MS 100
#define BACKOFF_MOST_MS 10000
#define PIPE_BYTES (1 << 20) /* whole batches at a time */

const struct moves plug_moves = {
    "plugin process",
    {[PLUG_GREETING] = "greeting", [PLUG_READY] = "ready", [PLUG_RETIRING] = "retiring"},
    {
        {PLUG_GREETING, PLUG_READY, "its hello"},
        {PLUG_READY, PLUG_RETIRING, "recycled, stopped or broken; or it is gone"},
        {PLUG_GREETING, PLUG_RETIRING, "no hello in 10 s, garbage, not started, or it is gone"},
        {PLUG_RETIRING, PLUG_RETIRING, "by force, where asking was not enough; or it is gone"},
    },
};

void plug_move(struct plug *g, enum plug_state to)
{
	if (g->state == PLUG_GREETING)
		g->pool->n_starting--;
	g->state = moves_make(&plug_moves, g->state, to);
}

static void set_watch(struct loop_watch **w, struct loop *loop, int fd, loop_fd_fn *fn, void *arg)
{
	*w = loop_watch_new(loop, fd, fn, arg);
	loop_watch_set(*w, true, false);
}

static void drop_watch(struct loop_watch **w)
{
	if (*w)
		loop_watch_free(*w);
	*w = NULL;
}

static int64_t hello_wait_ms(const struct worker *w)
{
	return w->o->hello_wait_ms > 0 ? w->o->hello_wait_ms : HELLO_WAIT_MS;
}

static void on_plug_writable(int fd, bool readable, bool writable, void *arg)
{
	plug_flush(arg);
}

/*
 * Another process of the pool may take those who wait. If there is none they are told now: the
 * next process would most likely be as silent, and they would wait for ever.
 */
static void on_hello_late(struct plug *g)
{
	struct pool *p = g->pool;
	char why[128], reason[REASON_MAX_BYTES], limit[TIME_TEXT_MAX];

	snprintf(why, sizeof why, "it did not say hello within %s",
	    time_human_ms(hello_wait_ms(p->w), limit));
	plug_retire(g, why);
	if (pool_is_ready(p))
		return;
	snprintf(reason, sizeof reason, "plugin %s: %s", p->o->name, why);
	p->failures = 0; /* the waiting tasks are told of the failures here */
	pool_fail_waiting(p, EXIT_ERROR, 126, reason);
}

/* No hello in time, no going when asked to: then by force. */
static void on_plug_timer(void *arg)
{
	struct plug *g = arg;

	if (g->state == PLUG_GREETING)
		on_hello_late(g);
	else if (g->kept.out[STDOUT] < 0)
		plug_retire(g, "it closed its stdout");
	else
		plug_retire(g, "");
}

static void on_started(struct kept *k)
{
	struct plug *g = CONTAINER_OF(k, struct plug, kept);
	struct loop *loop = g->pool->w->loop;

	if (k->in < 0 || k->out[STDOUT] < 0 || k->out[STDERR] < 0)
		return; /* the plugin's keeper died with it: that comes next */
	fcntl(k->in, F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(k->out[STDOUT], F_SETPIPE_SZ, PIPE_BYTES);
	fcntl(k->in, F_SETFL, O_WRONLY | O_NONBLOCK);
	set_watch(&g->out_watch[STDOUT], loop, k->out[STDOUT], on_plug_output, g);
	set_watch(&g->out_watch[STDERR], loop, k->out[STDERR], on_plug_errors, g);
	g->in_watch = loop_watch_new(loop, k->in, on_plug_writable, g);
	log_info("plugin %s[%d] started", g->pool->o->name, (int)k->pid);
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct plug *g = CONTAINER_OF(k, struct plug, kept);
	struct pool *p = g->pool;
	char reason[REASON_MAX_BYTES];

	snprintf(reason, sizeof reason, "plugin %s: " STR_FMT, p->o->name, STR_ARG(why));
	log_error("%s", reason);
	plug_free(g);
	pool_fail_waiting(p, code == SPAWN_NOT_MADE ? EXIT_NEVER : EXIT_ERROR, code, reason);
}

static void on_over(struct kept *k);

static void launch(struct plug *g)
{
	static const struct kept_fns fns = {on_started, on_not_started, on_over};
	struct pool *p = g->pool;
	struct arena a = {0};
	struct env env;
	const char *wrong = NULL;

	env_init_clean(&env, &a);
	run_env(NULL, NULL, p->o->env, p->w->facts.shard.p, p->w->lock_mark, &env, &wrong);
	struct keeper_start s = {.program = {.argv = p->o->exec,
	                             .env = env_list(&env),
	                             .umask = 022,
	                             .death_signal = SIGKILL},
	    .input = KEEPER_STDIN_PIPE};
	keeper_start(&p->w->keeper, &s, NULL, 0, &g->kept, &fns);
	arena_release(&a);
}

void plug_start(struct pool *p)
{
	struct plug *g = xcalloc(1, sizeof *g);

	g->pool = p;
	TAILQ_INIT(&g->jobs);
	TAILQ_INSERT_TAIL(&p->plugs, g, entry);
	p->n_plugs++;
	p->n_starting++;
	g->timer = loop_timer_new(p->w->loop, on_plug_timer, g);
	loop_timer_set(g->timer, hello_wait_ms(p->w));
	launch(g);
}

void plug_retire(struct plug *g, const char *why)
{
	if (g->state == PLUG_GREETING && *why)
		log_error("plugin %s[%d]: %s", g->pool->o->name, (int)g->kept.pid, why);
	if (!g->why[0])
		snprintf(g->why, sizeof g->why, "%s", why);
	if (g->state == PLUG_GREETING && !g->stopped)
		g->pool->failures++;
	plug_move(g, PLUG_RETIRING);
	g->deaf = true;
	kept_signal(&g->kept, SIGKILL, KILL_TO_CGROUP); /* the rest when it is over */
}

/* The plugin is about to leave; if it does not, it has to. */
void plug_closed(struct plug *g)
{
	if (g->state == PLUG_GREETING)
		g->pool->failures++;
	plug_move(g, PLUG_RETIRING);
	loop_timer_set(g->timer, CLOSED_WAIT_MS);
}

void plug_recycle(struct plug *g)
{
	plug_move(g, PLUG_RETIRING);
	g->stopped = true;
	if (g->n_jobs > 0)
		return;
	drop_watch(&g->in_watch);
	process_close(&g->kept.in);
	loop_timer_set(g->timer, RECYCLE_WAIT_MS);
}

void plug_give(struct plug *g, struct job *j)
{
	j->plug = g;
	TAILQ_INSERT_TAIL(&g->jobs, j, entry);
	g->n_jobs++;
	buf_add_str(&g->in, buf_str(&j->frame));
	buf_release(&j->frame);
	g->dirty = true;
	worker_feed(
	    j->w, (struct agent_event){
	              .kind = AE_STARTED, .task = j->task, .token = j->token, .pid = g->kept.pid});
}

void plug_lose(struct plug *g, struct job *j)
{
	if (j->paused)
		pool_read(j, true);
	TAILQ_REMOVE(&g->jobs, j, entry);
	g->n_jobs--;
	j->plug = NULL;
}

void plug_flush(struct plug *g)
{
	bool full = false;
	ssize_t n;

	g->dirty = false;
	while (g->kept.in >= 0 && g->in_at < g->in.n) {
		n = write(g->kept.in, g->in.p + g->in_at, g->in.n - g->in_at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) { /* full, or it is gone: the keeper will say so */
			full = errno == EAGAIN;
			break;
		}
		g->in_at += (size_t)n;
	}
	if (g->in_at == g->in.n) {
		buf_reset(&g->in);
		g->in_at = 0;
	}
	if (g->in_watch)
		loop_watch_set(g->in_watch, false, full);
}

static void describe(const struct plug *g, char *out, size_t size)
{
	if (g->kept.lost)
		snprintf(out, size,
		    "plugin %s: the worker's keeper died, and its processes with it",
		    g->pool->o->name);
	else if (g->why[0])
		snprintf(out, size, "plugin %s: %s", g->pool->o->name, g->why);
	else if (g->kept.signal)
		snprintf(out, size, "plugin crashed: %s was ended by signal %d (SIG%s)",
		    g->pool->o->name, g->kept.signal, sigabbrev_np(g->kept.signal));
	else
		snprintf(out, size, "plugin crashed: %s left with exit code %d", g->pool->o->name,
		    g->kept.exit_code);
}

static void fail_jobs(struct plug *g, const char *reason)
{
	struct agent_exit x = {
	    EXIT_STATUS, TASK_FAILED, g->kept.exit_code, g->kept.signal, str_of(reason)};
	struct worker *w = g->pool->w;
	struct job *j;

	while ((j = TAILQ_FIRST(&g->jobs))) {
		rid task = j->task;
		int64_t token = j->token;

		plug_lose(g, j);
		job_free(j);
		worker_exited(w, task, token, x);
	}
}

static void back_off(struct pool *p)
{
	p->backoff_ms = p->backoff_ms ? p->backoff_ms * 2 : BACKOFF_FIRST_MS;
	if (p->backoff_ms > BACKOFF_MOST_MS)
		p->backoff_ms = BACKOFF_MOST_MS;
	p->not_before_ms = worker_mono_ms() + p->backoff_ms;
}

static void on_over(struct kept *k)
{
	struct plug *g = CONTAINER_OF(k, struct plug, kept);
	struct pool *p = g->pool;
	char reason[REASON_MAX_BYTES];

	if (g->state == PLUG_GREETING)
		p->failures++;
	plug_move(g, PLUG_RETIRING);
	if (k->out[STDOUT] >= 0) /* replies written before it died still count */
		on_plug_output(k->out[STDOUT], true, false, g);
	describe(g, reason, sizeof reason);
	if (!g->stopped) {
		log_warn("%s (%d tasks failed with it)", reason, g->n_jobs);
		back_off(p);
	}
	fail_jobs(g, reason);
	plug_free(g);
	pool_pump(p);
}

void plug_free(struct plug *g)
{
	struct job *j;

	if (g->state == PLUG_GREETING)
		plug_move(g, PLUG_RETIRING);
	drop_watch(&g->in_watch);
	drop_watch(&g->out_watch[STDOUT]);
	drop_watch(&g->out_watch[STDERR]);
	loop_timer_free(g->timer);
	kept_drop(&g->kept);
	while ((j = TAILQ_FIRST(&g->jobs))) {
		plug_lose(g, j);
		job_free(j);
	}
	TAILQ_REMOVE(&g->pool->plugs, g, entry);
	g->pool->n_plugs--;
	buf_release(&g->in);
	buf_release(&g->read);
	free(g);
}
