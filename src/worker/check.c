/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A healthcheck: one tiny process, made exactly as a task's is (same function, cgroup and pipes).
 * Who only answers, but can not start anything any more, must not count as healthy.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "model/limits.h"
#include "worker/internal.h"

#define LINGER_POLL_MS 5
#define LIMIT_LEAST_MS 1000 /* whatever the server says: a busy machine is not a broken one */

struct check {
	struct worker *w;
	uint64_t number;
	struct process process;
	struct loop_watch *exit_watch;
	struct loop_timer *limit, *linger;
	bool told; /* it took too long, and the brain knows */
};

static void tell(struct worker *w, uint64_t number, const char *why)
{
	worker_feed(w, (struct agent_event){.kind = AE_CHECKED,
	                   .check = {.number = number, .ok = !why, .reason = str_of(why)}});
}

static void check_free(struct check *c)
{
	if (c->exit_watch)
		loop_watch_free(c->exit_watch);
	loop_timer_free(c->limit);
	loop_timer_free(c->linger);
	process_release(&c->w->hand, &c->process);
	c->w->check = NULL;
	free(c);
}

static void check_over(struct check *c)
{
	struct worker *w = c->w;
	uint64_t number = c->number;
	int code = c->process.exit_code, signal = c->process.signal;
	bool told = c->told;
	char why[64];

	check_free(c); /* first: the brain may want the next one */
	if (told)
		return;
	if (signal)
		snprintf(why, sizeof why, "its process was ended by signal %d", signal);
	else
		snprintf(why, sizeof why, "its process ended with code %d", code);
	tell(w, number, code == 0 ? NULL : why);
}

static void on_linger(void *arg)
{
	struct check *c = arg;

	if (process_is_gone(&c->process))
		check_over(c);
	else
		loop_timer_set(c->linger, LINGER_POLL_MS);
}

static void on_check_exit(int fd, bool readable, bool writable, void *arg)
{
	struct check *c = arg;

	if (!process_reap(&c->process))
		return;
	loop_watch_free(c->exit_watch);
	c->exit_watch = NULL;
	on_linger(c);
}

static void on_limit(void *arg)
{
	struct check *c = arg;

	c->told = true;
	process_signal(&c->process, SIGKILL);
	tell(c->w, c->number, "its process did not end in time");
}

/* 0, or the reason in `why`. */
static int launch(struct worker *w, struct process *ret, char *why, size_t size)
{
	const char *programs[] = {w->o->check_program ? w->o->check_program : "/bin/true",
	    w->o->check_program ? NULL : "/usr/bin/true"};
	struct spawned failed = {.error = 0};
	struct arena a = {0};
	struct env env;
	int r = ERR_IO;

	env_init_clean(&env, &a);
	env_set(&env, STR(EXEC_LOCK_VARIABLE), str_of(w->lock)); /* a guard must find it, too */
	for (size_t i = 0; i < 2 && r < 0 && programs[i]; i++) {
		const char *argv[] = {programs[i], NULL};
		struct process_spec s = {.argv = argv,
		    .envp = env_list(&env),
		    .stdin_fd = -1,
		    .extra_fd = -1,
		    .umask = 022};

		r = process_start(&w->hand, &s, ret, &failed, why, size);
		if (r < 0 && failed.error != ENOENT)
			break; /* it is not the program that is missing */
	}
	arena_release(&a);
	return r;
}

void check_start(struct worker *w, uint64_t number)
{
	char why[REASON_MAX_BYTES];
	int64_t limit = w->timeouts.check_grace_ms;
	struct process process;
	struct check *c;

	if (w->check) {
		tell(w, number, "the process of the healthcheck before has not ended yet");
		return;
	}
	if (launch(w, &process, why, sizeof why) < 0) {
		tell(w, number, why);
		return;
	}
	c = w->check = xcalloc(1, sizeof *c);
	*c = (struct check){.w = w, .number = number, .process = process};
	c->exit_watch = loop_watch_new(w->loop, process.pidfd, on_check_exit, c);
	loop_watch_set(c->exit_watch, true, false);
	c->linger = loop_timer_new(w->loop, on_linger, c);
	c->limit = loop_timer_new(w->loop, on_limit, c);
	loop_timer_set(c->limit, limit > LIMIT_LEAST_MS ? limit : LIMIT_LEAST_MS);
}

void check_close(struct worker *w)
{
	if (w->check)
		check_free(w->check);
}
