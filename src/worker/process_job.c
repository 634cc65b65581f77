/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process per attempt: the built-in "command", and plugins of mode once. The attempt is over when
 * its leader has been reaped, nothing is left of what it forked, and both pipes are at their end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "model/limits.h"
#include "worker/internal.h"

#define RESULT_BYTES 65536
#define READS_PER_TURN 4    /* others want their turn */
#define LINGER_POLL_MS 5    /* while what it left behind is being killed */
#define LINGER_MOST_MS 1000 /* somebody who escaped us holds a pipe: let him */

static void job_check(struct job *j);

/* Stdin as a file in memory: no pipe to feed, no reader to wait for. */
static int order_file(const struct order *o)
{
	struct buf b = {0};
	int fd = memfd_create("reeve-order", MFD_CLOEXEC);
	size_t at = 0;

	order_write(o, &b);
	while (fd >= 0 && at < b.n) {
		ssize_t n = write(fd, b.p + at, b.n - at);

		if (n <= 0) {
			close(fd);
			fd = -1;
		} else {
			at += (size_t)n;
		}
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	buf_release(&b);
	return fd;
}

/* Descriptor 3, where a plugin may leave {"status":N,"reason":"…"}: of fixed size, so it can't
 * grow. */
static int result_file(void)
{
	int fd = memfd_create("reeve-result", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, RESULT_BYTES) < 0 ||
	                   fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Fills x from what the plugin left; the strings live in *ret_json. */
static void read_result(int fd, struct agent_exit *x, json_t **ret_json)
{
	AUTO(free_cstr) char *text = xmalloc(RESULT_BYTES);
	ssize_t n = pread(fd, text, RESULT_BYTES, 0);
	json_int_t status;
	json_t *reason;

	while (n > 0 && text[n - 1] == 0)
		n--;
	if (n <= 0)
		return;
	*ret_json = json_loadb(text, (size_t)n, 0, NULL);
	status = json_integer_value(json_object_get(*ret_json, "status"));
	reason = json_object_get(*ret_json, "reason");
	if (status < 1 || status > PLUGIN_STATUS_MAX) {
		x->status = TASK_FAILED;
		x->reason = STR("the plugin wrote a result that is not {\"status\": N}");
		return;
	}
	x->status = (int32_t)status;
	if (json_is_string(reason))
		x->reason = (struct str){json_string_value(reason), json_string_length(reason)};
}

static void job_over(struct job *j)
{
	struct worker *w = j->w;
	rid task = j->task;
	int64_t token = j->token;
	json_t *result = NULL;
	struct agent_exit x = {EXIT_CODE, 0, j->process.exit_code, j->process.signal, STR_NULL};

	if (j->process.signal)
		x.kind = EXIT_SIGNAL;
	else if (j->result_fd >= 0)
		read_result(j->result_fd, &x, &result);
	job_free(j); /* first: the brain may start the next attempt of this very task */
	worker_exited(w, task, token, x);
	json_decref(result);
}

static void close_stream(struct job *j, int i)
{
	if (j->out_watch[i])
		loop_watch_free(j->out_watch[i]);
	j->out_watch[i] = NULL;
	process_close(&j->process.out[i]);
}

static void on_linger(void *arg)
{
	struct job *j = arg;
	bool patient = worker_mono_ms() - j->reaped_ms < LINGER_MOST_MS;

	for (int i = 0; i < N_STREAMS && !patient && !j->paused; i++)
		close_stream(j, i);
	job_check(j);
}

static void job_check(struct job *j)
{
	if (!j->process.reaped)
		return;
	if (j->process.out[STDOUT] < 0 && j->process.out[STDERR] < 0 &&
	    process_is_gone(&j->process)) {
		job_over(j);
		return;
	}
	if (j->paused)
		return; /* reading goes on when the server has taken what there is */
	if (!j->linger)
		j->linger = loop_timer_new(j->w->loop, on_linger, j);
	loop_timer_set(j->linger, LINGER_POLL_MS);
}

static void on_process_exit(int fd, bool readable, bool writable, void *arg)
{
	struct job *j = arg;

	if (!process_reap(&j->process))
		return;
	loop_watch_free(j->exit_watch);
	j->exit_watch = NULL;
	j->reaped_ms = worker_mono_ms();
	job_check(j);
}

static void on_process_output(int fd, bool readable, bool writable, void *arg)
{
	struct job *j = arg;
	int stream = fd == j->process.out[STDOUT] ? STDOUT : STDERR;

	for (int i = 0; i < READS_PER_TURN && !j->paused; i++) {
		ssize_t n = read(fd, j->w->scratch, SCRATCH_BYTES);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) {
			close_stream(j, stream);
			job_check(j);
			return;
		}
		worker_output(j->w, j, stream, (struct str){j->w->scratch, (size_t)n});
		if (n < SCRATCH_BYTES / 2)
			return; /* most likely all there is */
	}
}

static void watch(struct job *j)
{
	struct loop *loop = j->w->loop;

	j->exit_watch = loop_watch_new(loop, j->process.pidfd, on_process_exit, j);
	loop_watch_set(j->exit_watch, true, false);
	for (int i = 0; i < N_STREAMS; i++) {
		j->out_watch[i] = loop_watch_new(loop, j->process.out[i], on_process_output, j);
		loop_watch_set(j->out_watch[i], true, false);
	}
}

static void could_not_start(struct worker *w, const struct order *o, int code, const char *why)
{
	struct agent_exit x = {EXIT_ERROR, 0, code, 0, str_of(why)};

	/* it may well start on another worker, so it must not count as tried */
	if (code == SPAWN_NOT_MADE)
		x.kind = EXIT_NEVER;
	worker_exited(w, o->task, o->token, x);
}

static int launch(struct worker *w, struct job *j, const struct order *o,
    const struct plugin_options *p, const struct command *c, struct env *env, char *why,
    size_t size)
{
	struct process_spec s = {.argv = p ? p->exec : c->argv,
	    .envp = env_list(env),
	    .cwd = c->cwd,
	    .stdin_fd = -1,
	    .extra_fd = -1,
	    .umask = 022};
	struct spawned failed = {.error = 0};
	int r;

	if (p) {
		s.stdin_fd = order_file(o);
		s.extra_fd = j->result_fd = result_file();
		if (s.stdin_fd < 0 || s.extra_fd < 0) {
			process_close(&s.stdin_fd);
			snprintf(why, size, "no memory file could be made: %s", strerror(errno));
			return SPAWN_NOT_MADE;
		}
	}
	r = process_start(&w->hand, &s, &j->process, &failed, why, size);
	if (p)
		process_close(&s.stdin_fd);
	return r < 0 ? spawn_exit_code(&failed) : 0;
}

void process_job_start(struct worker *w, const struct order *o, const struct plugin_options *p)
{
	struct arena a = {0};
	struct command c = {0};
	struct env env;
	const char *wrong = NULL;
	char why[REASON_MAX_BYTES];
	struct job *j;
	int code;

	env_init_clean(&env, &a);
	if (command_parse(o->run->body, &a, &c, &wrong) < 0 ||
	    order_env(o, p ? p->env : NULL, w->facts.shard.p, w->lock, &env, &wrong) < 0 ||
	    (!p && !c.argv)) {
		could_not_start(w, o, 126, wrong ? wrong : "the task has no command");
		arena_release(&a);
		return;
	}
	j = job_new(w, o->task, o->token);
	code = launch(w, j, o, p, &c, &env, why, sizeof why);
	arena_release(&a);
	if (code) {
		job_free(j);
		could_not_start(w, o, code, why);
		return;
	}
	watch(j);
	worker_feed(
	    w, (struct agent_event){
	           .kind = AE_STARTED, .task = o->task, .token = o->token, .pid = j->process.pid});
}

void process_job_read(struct job *j, bool on)
{
	j->paused = !on;
	for (int i = 0; i < N_STREAMS; i++)
		if (j->out_watch[i])
			loop_watch_set(j->out_watch[i], on, false);
	if (on && j->process.reaped)
		j->reaped_ms = worker_mono_ms(); /* its patience starts anew */
}

void process_job_release(struct job *j)
{
	if (j->exit_watch)
		loop_watch_free(j->exit_watch);
	for (int i = 0; i < N_STREAMS; i++)
		close_stream(j, i);
	if (j->linger)
		loop_timer_free(j->linger);
	process_close(&j->result_fd);
	process_release(&j->w->hand, &j->process);
}
