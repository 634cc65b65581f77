/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process per attempt: the built-in "command", and plugins of mode once. The attempt is over when
 * the keeper says that nothing is left of it, and both pipes are at their end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
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
#define LINGER_MOST_MS 1000

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
	struct agent_exit x = {.kind = EXIT_CODE,
	    .exit_code = j->kept.exit_code,
	    .signal = j->kept.signal,
	    .usage = j->kept.usage};

	if (j->kept.signal)
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
	process_close(&j->kept.out[i]);
}

/* Nothing is left of the tree, but somebody who escaped it holds a pipe: let him. */
static void on_linger(void *arg)
{
	struct job *j = arg;

	for (int i = 0; i < N_STREAMS && !j->paused; i++)
		close_stream(j, i);
	job_check(j);
}

static void job_check(struct job *j)
{
	if (!j->kept.is_over)
		return;
	if (j->kept.out[STDOUT] < 0 && j->kept.out[STDERR] < 0) {
		job_over(j);
		return;
	}
	if (j->paused)
		return; /* reading goes on when the server has taken what there is */
	if (!j->linger)
		j->linger = loop_timer_new(j->w->loop, on_linger, j);
	loop_timer_set(j->linger, LINGER_MOST_MS);
}

static void on_process_output(int fd, bool readable, bool writable, void *arg)
{
	struct job *j = arg;
	int stream = fd == j->kept.out[STDOUT] ? STDOUT : STDERR;

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

static struct job *job_of(struct kept *k)
{
	return CONTAINER_OF(k, struct job, kept);
}

static void on_started(struct kept *k)
{
	struct job *j = job_of(k);

	for (int i = 0; i < N_STREAMS; i++) {
		if (k->out[i] < 0)
			continue;
		j->out_watch[i] = loop_watch_new(j->w->loop, k->out[i], on_process_output, j);
		loop_watch_set(j->out_watch[i], true, false);
	}
	worker_feed(j->w, (struct agent_event){
	                      .kind = AE_STARTED, .task = j->task, .token = j->token, .pid = k->pid});
}

static void could_not_start(struct worker *w, rid task, int64_t token, int code, struct str why)
{
	struct agent_exit x = {.kind = EXIT_ERROR, .exit_code = code, .reason = why};

	/* it may well start on another worker, so it must not count as tried */
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
	job_check(job_of(k));
}

static const struct kept_fns job_fns = {on_started, on_not_started, on_over};

static int add_files(struct job *j, const struct order *o, struct keeper_start *s, int *fds)
{
	s->input = KEEPER_STDIN_FD;
	s->n_fds = 1;
	fds[0] = order_file(o);
	fds[1] = j->result_fd = result_file();
	return fds[0] < 0 || fds[1] < 0 ? -1 : 2;
}

static void launch(struct worker *w, const struct order *o, const struct plugin_options *p,
    const struct command *c, struct env *env)
{
	struct keeper_start s = {.argv = p ? p->exec : c->argv,
	    .env = env_list(env),
	    .cwd = c->cwd,
	    .umask = 022,
	    .nice = NICE_UNSET,
	    .death_signal = SIGKILL};
	struct job *j = job_new(w, o->task, o->token);
	int fds[2] = {-1, -1}, n_fds = p ? add_files(j, o, &s, fds) : 0;

	if (n_fds >= 0) {
		keeper_start(&w->keeper, &s, fds, n_fds, &j->kept, &job_fns);
	} else {
		job_free(j);
		could_not_start(w, o->task, o->token, SPAWN_NOT_MADE, STR("no memory file could be made"));
	}
	process_close(&fds[0]);
}

void process_job_start(struct worker *w, const struct order *o, const struct plugin_options *p)
{
	struct arena a = {0};
	struct command c = {0};
	struct env env;
	const char *wrong = NULL;

	env_init_clean(&env, &a);
	if (command_parse(o->run->body, &a, &c, &wrong) < 0 ||
	    order_env(o, p ? p->env : NULL, w->facts.shard.p, w->lock, &env, &wrong) < 0 ||
	    (!p && !c.argv))
		could_not_start(
		    w, o->task, o->token, 126, str_of(wrong ? wrong : "the task has no command"));
	else
		launch(w, o, p, &c, &env);
	arena_release(&a);
}

void process_job_read(struct job *j, bool on)
{
	j->paused = !on;
	for (int i = 0; i < N_STREAMS; i++)
		if (j->out_watch[i])
			loop_watch_set(j->out_watch[i], on, false);
	if (on)
		job_check(j); /* our patience with what holds its pipes starts anew */
}

void process_job_release(struct job *j)
{
	for (int i = 0; i < N_STREAMS; i++)
		close_stream(j, i);
	if (j->linger)
		loop_timer_free(j->linger);
	process_close(&j->result_fd);
	kept_drop(&j->kept);
}
