/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process's output on its way to the brain. While the brain has room it goes there straight from
 * the pipe; when it has none, or when the task may outlive us, it goes through a bounded file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "worker/internal.h"
#include "worker/jobs/spool.h"

#define READS_PER_TURN 4 /* others want their turn */
#define WATCH_AFTER_MS 2
#define FILL_BYTES ((size_t)256 << 10)

static const char *const stream_names[N_STREAMS] = {"out", "err"};

static void spool_name(const struct job *j, int stream, char name[96])
{
	snprintf(name, 96, "%016llx.%lld.%s", (unsigned long long)j->task, (long long)j->token,
	    stream_names[stream]);
}

/* NULL: there is no disk to put anything aside on; then the task has to wait. */
static struct spool *spool_of(struct job *j, int stream)
{
	int64_t max = j->settings->spool >= 0 ? j->settings->spool : j->w->o->spool_bytes;
	struct problem p = {0};
	char name[96];

	if (j->spools)
		return j->spools[stream].path ? &j->spools[stream] : NULL;
	j->spools = xcalloc(N_STREAMS, sizeof *j->spools);
	for (int i = 0; i < N_STREAMS; i++) {
		spool_name(j, i, name);
		if (spool_open(&j->spools[i], j->w->spool_dir, name, j->keeps, max, &p) < 0)
			log_warn("output cannot be put aside: %s", p.what);
		else
			spool_policy(&j->spools[i], (enum output_policy)j->settings->output_policy);
	}
	return spool_of(j, stream);
}

static int64_t unread(const struct job *j, int stream)
{
	return j->spools && j->spools[stream].path ? spool_unread(&j->spools[stream]) : 0;
}

/* Something lies before what is in the pipe now, if only the mark of what was thrown away. */
static bool has_backlog(const struct job *j, int stream)
{
	return unread(j, stream) > 0 ||
	       (j->spools && j->spools[stream].path && j->spools[stream].gap > 0);
}

static void close_stream(struct job *j, int i)
{
	if (j->out_watch[i])
		loop_watch_free(j->out_watch[i]);
	j->out_watch[i] = NULL;
	process_close(&j->kept.out[i]);
	if (j->spools && j->spools[i].path)
		spool_end(&j->spools[i]);
}

static void watch(struct job *j, int i, bool on)
{
	if (j->out_watch[i])
		loop_watch_set(j->out_watch[i], on, false);
}

static void on_resume(void *arg);

/* Until the brain's present step is over it cannot say that it has enough. */
static void resume_later(struct job *j)
{
	if (!j->resume)
		j->resume = loop_timer_new(j->w->loop, on_resume, j);
	loop_timer_set(j->resume, 0);
}

/* From the file to the brain, as far as that takes it. The job may be gone afterwards: false. */
static bool pump(struct job *j, int stream)
{
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;
	size_t n;

	while (!j->paused && unread(j, stream) > 0) {
		if (w->stepping) {
			resume_later(j);
			return true;
		}
		n = spool_take(&j->spools[stream], w->scratch, SCRATCH_BYTES);
		if (n == 0)
			break;
		worker_output(w, j, stream, (struct str){w->scratch, n});
		if (job_find(w, task, token) != j)
			return false;
	}
	if (j->full[stream] && unread(j, stream) == 0) {
		j->full[stream] = false;
		watch(j, stream, true);
	}
	return true;
}

static void on_resume(void *arg)
{
	struct job *j = arg;

	for (int i = 0; i < N_STREAMS; i++)
		if (!pump(j, i))
			return;
	process_job_check(j);
}

static void fill(struct job *j, int stream)
{
	struct spool *s = spool_of(j, stream);
	struct output_need need = {0};
	ssize_t n;

	if (s && j->keeps) {
		need = agent_output_need(j->w->agent, j->task, j->token, stream);
		spool_need(s, need.from, need.to);
	}
	n = s ? spool_fill(s, j->kept.out[stream], FILL_BYTES) : -1;

	if (!s || (n < 0 && errno == EFBIG)) {
		j->full[stream] = true;
		watch(j, stream, false);
	} else if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		close_stream(j, stream);
	}
	if (pump(j, stream))
		process_job_check(j);
}

/* False: there is nothing more now. */
static bool straight(struct job *j, int stream)
{
	ssize_t n = read(j->kept.out[stream], j->w->scratch, SCRATCH_BYTES);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_stream(j, stream);
		process_job_check(j);
		return false;
	}
	worker_output(j->w, j, stream, (struct str){j->w->scratch, (size_t)n});
	return n >= SCRATCH_BYTES / 2; /* less is most likely all there is */
}

/* What may outlive us goes through a file, unless there is no disk for it. */
static bool through_spool(struct job *j, int stream)
{
	return (j->keeps && spool_of(j, stream)) || j->paused || has_backlog(j, stream);
}

static void on_output(int fd, bool readable, bool writable, void *arg)
{
	struct job *j = arg;
	int stream = fd == j->kept.out[STDOUT] ? STDOUT : STDERR;

	for (int i = 0; i < READS_PER_TURN; i++) {
		if (through_spool(j, stream)) {
			fill(j, stream);
			return;
		}
		if (!straight(j, stream))
			return;
	}
}

void job_output_watch(struct job *j)
{
	for (int i = 0; i < N_STREAMS; i++) {
		if (j->kept.out[i] < 0 || j->out_watch[i])
			continue;
		j->out_watch[i] = loop_watch_new(j->w->loop, j->kept.out[i], on_output, j);
		watch(j, i, !j->full[i]);
	}
}

static void on_watch_time(void *arg)
{
	job_output_watch(arg);
}

/* Most tasks are over in a moment: then one look at the end is cheaper than to watch. */
void job_output_open(struct job *j)
{
	j->linger = loop_timer_new(j->w->loop, on_watch_time, j);
	loop_timer_set(j->linger, WATCH_AFTER_MS);
}

/* All that is in the pipes now, once nobody writes to them any more. */
bool job_output_drain(struct job *j)
{
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;

	for (int i = 0; i < N_STREAMS; i++)
		while (j->kept.out[i] >= 0 && !j->keeps && !j->paused && !has_backlog(j, i)) {
			ssize_t n = read(j->kept.out[i], w->scratch, SCRATCH_BYTES);

			if (n < 0)
				break;
			if (n == 0) {
				close_stream(j, i);
				break;
			}
			worker_output(w, j, i, (struct str){w->scratch, (size_t)n});
			if (job_find(w, task, token) != j)
				return false;
		}
	return true;
}

void job_output_read(struct job *j, bool on)
{
	j->paused = !on;
	if (on)
		on_resume(j);
}

bool job_output_cut(struct job *j)
{
	for (int i = 0; i < N_STREAMS; i++) {
		close_stream(j, i);
		if (!pump(j, i)) /* the last mark */
			return false;
	}
	return true;
}

bool job_output_is_done(const struct job *j)
{
	for (int i = 0; i < N_STREAMS; i++)
		if (j->kept.out[i] >= 0 || unread(j, i) > 0)
			return false;
	return true;
}

void job_output_remove(struct worker *w, rid task, int64_t token)
{
	for (int i = 0; i < N_STREAMS; i++) {
		AUTO(free_cstr)
		char *path = xasprintf("%s/%016llx.%lld.%s", w->spool_dir, (unsigned long long)task,
		    (long long)token, stream_names[i]);

		unlink(path);
	}
}

/* What may outlive us is found again by name, until the server has all of it: job_forget(). */
void job_output_release(struct job *j)
{
	for (int i = 0; i < N_STREAMS; i++) {
		close_stream(j, i);
		if (j->spools)
			spool_close(&j->spools[i], !j->keeps);
	}
	free(j->spools);
	j->spools = NULL;
	if (j->resume)
		loop_timer_free(j->resume);
	j->resume = NULL;
}
