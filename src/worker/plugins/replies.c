/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a persistent plugin writes: its hello, output, replies. Anything else is garbage, and then
 * its process is killed: after one wrong byte nobody knows where the next frame begins.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/world/log.h"
#include "worker/plugins/pool.h"

#define READS_PER_TURN 32
#define LOOK_EVERY 16 /* tasks, until a process is asked for its size again */

static void garbage(struct plug *g, const char *what)
{
	char why[200];

	snprintf(why, sizeof why, "it wrote garbage: %s", what);
	plug_retire(g, why);
}

static struct job *find_job(struct plug *g, const struct plugin_frame *f)
{
	struct worker *w = g->pool->w;
	struct job *j;
	rid task;

	if (!id_parse(&w->ids, f->id, &task) || !task)
		return NULL;
	j = idmap_get(&w->jobs, task);
	if (!j || j->plug != g || (f->token && f->token != j->token))
		return NULL;
	return j;
}

/* Asked now and then: a process that has grown goes after the tasks that it has. */
static bool has_grown(const struct plug *g)
{
	char path[64];
	long long pages = 0;
	FILE *f;

	if (g->pool->o->recycle_memory <= 0 || (g->n_jobs > 0 && g->done % LOOK_EVERY))
		return false;
	snprintf(path, sizeof path, "/proc/%d/statm", (int)g->kept.pid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d %lld", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE) > g->pool->o->recycle_memory;
}

static bool has_done_enough(const struct plug *g)
{
	return (g->pool->o->recycle_after > 0 && g->done >= g->pool->o->recycle_after) ||
	       has_grown(g);
}

static void on_reply(struct plug *g, struct job *j, const struct plugin_frame *f)
{
	struct worker *w = g->pool->w;
	struct agent_exit x = {EXIT_STATUS, f->status, -1, 0, f->reason};
	rid task = j->task;
	int64_t token = j->token;

	for (int i = 0; i < N_STREAMS; i++)
		if (f->output[i].n)
			worker_output(w, j, i, f->output[i]);
	plug_lose(g, j);
	g->done++;
	g->pool->backoff_ms = 0;
	job_free(j);
	worker_exited(w, task, token, x);
	if ((g->state == PLUG_READY || g->stopped) && has_done_enough(g))
		plug_recycle(g);
}

static void on_hello(struct plug *g, const struct plugin_frame *f)
{
	plug_move(g, PLUG_READY);
	g->pool->failures = 0;
	g->concurrency = f->concurrency;
	g->can_cancel = f->can_cancel;
	loop_timer_set(g->timer, -1);
}

static void on_frame(struct plug *g, const struct plugin_frame *f)
{
	struct job *j;

	if (f->kind == FRAME_HELLO) {
		if (g->state == PLUG_GREETING)
			on_hello(g, f);
		else if (g->state == PLUG_READY)
			garbage(g, "a second hello");
		return;
	}
	if (g->state == PLUG_GREETING) {
		garbage(g, "something before its hello");
		return;
	}
	if (!(j = find_job(g, f)))
		garbage(g, "the id of a task that it does not have");
	else if (f->kind == FRAME_OUTPUT)
		worker_output(g->pool->w, j, f->stream, f->data);
	else
		on_reply(g, j, f);
}

static void understand(struct plug *g)
{
	struct plugin_frame f;
	struct str payload;
	const char *why = "";
	int r = 0;

	/* a process that is being killed for what it wrote is not listened to any more */
	while (!g->deaf && (r = frame_take(buf_str(&g->read), &g->read_at, &payload, &why)) > 0) {
		if (frame_parse(payload, &f, &why) < 0) {
			r = -1;
			break;
		}
		on_frame(g, &f);
		frame_release(&f);
	}
	if (r < 0)
		garbage(g, why);
	if (g->read_at == g->read.n) {
		buf_reset(&g->read);
		g->read_at = 0;
	} else if (g->read_at > g->read.n / 2) {
		memmove(g->read.p, g->read.p + g->read_at, g->read.n - g->read_at);
		g->read.n -= g->read_at;
		g->read_at = 0;
	}
}

void on_plug_output(int fd, bool readable, bool writable, void *arg)
{
	struct plug *g = arg;
	ssize_t n = 1;

	for (int i = 0; i < READS_PER_TURN && n > 0 && g->n_paused == 0; i++) {
		n = read(fd, g->pool->w->scratch, SCRATCH_BYTES);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			break;
		if (n > 0) {
			buf_add(&g->read, g->pool->w->scratch, (size_t)n);
			understand(g);
		}
		if (n < SCRATCH_BYTES)
			break;
	}
	if (n == 0) {
		loop_watch_free(g->out_watch[STDOUT]);
		g->out_watch[STDOUT] = NULL;
		process_close(&g->kept.out[STDOUT]);
		if (!g->kept.is_over)
			plug_closed(g);
	}
	pool_pump(g->pool);
}

/* A plugin's stderr is for the worker's log, a line at a time. */
void on_plug_errors(int fd, bool readable, bool writable, void *arg)
{
	struct plug *g = arg;
	char text[4096];
	ssize_t n = read(fd, text, sizeof text);
	struct str rest = {text, n > 0 ? (size_t)n : 0}, line;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	while (n > 0 && str_next(&rest, '\n', &line))
		if (line.n)
			log_info("plugin %s[%d]: " STR_FMT, g->pool->o->name, (int)g->kept.pid,
			    STR_ARG(line));
	if (n <= 0) {
		loop_watch_free(g->out_watch[STDERR]);
		g->out_watch[STDERR] = NULL;
		process_close(&g->kept.out[STDERR]);
	}
}
