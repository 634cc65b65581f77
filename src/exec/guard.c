/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exec/process.h"

#define LEAVE_MS 1000 /* how long we wait for a guard that was told to leave */
#define MOVED_MS 1000 /* a deadline later by less than this is not worth a wakeup … */
#define NEAR_MS 5000  /* … unless the one it knows is as near as this */
#define DISMISSED INT64_MIN
#define PIPE_AT 3 /* where the guard keeps what it needs */
#define HELD_AT 4
#define FD_FLOOR 16 /* descriptors on their way there are first moved above this */

static int64_t mono_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Signals meant for the worker, or for its whole group or terminal, must not end the guard first.
 */
static void stand_apart(void)
{
	static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE};

	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		signal(ignored[i], SIG_IGN);
	setsid();
	prctl(PR_SET_NAME, "reeve-guard");
	if (chdir("/") < 0)
		_exit(1);
}

/* Nothing of the worker's stays open here: not its lock, its log, nor anybody's pipes. */
static void keep_only(int pipe_fd, int held_fd)
{
	int null_fd = open("/dev/null", O_RDWR);
	int high[2] = {fcntl(pipe_fd, F_DUPFD, FD_FLOOR), -1};

	if (held_fd >= 0 && (high[1] = fcntl(held_fd, F_DUPFD, FD_FLOOR)) < 0)
		_exit(1);
	for (int i = 0; i < PIPE_AT; i++)
		if (dup2(null_fd, i) < 0)
			_exit(1);
	if (dup2(high[0], PIPE_AT) < 0 || (held_fd >= 0 && dup2(high[1], HELD_AT) < 0))
		_exit(1);
	syscall(SYS_close_range, held_fd >= 0 ? HELD_AT + 1u : PIPE_AT + 1u, ~0u, 0u);
}

/* A clock that runs on while the machine sleeps, as poll()'s does not. */
static void set_alarm(int timer, int64_t at_ms)
{
	struct itimerspec when = {0};

	if (at_ms != INT64_MAX) {
		if (at_ms < 1)
			at_ms = 1; /* 0 would mean: never */
		when.it_value.tv_sec = at_ms / 1000;
		when.it_value.tv_nsec = at_ms % 1000 * 1000000;
	}
	timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL);
}

/* What was just being made shows up in a later round. */
static void end_all(const char *lock)
{
	int64_t until = mono_ms() + GUARD_WORK_MS;

	do
		exec_end_cgroups(lock);
	while (exec_end_leftovers(lock) > 0 && mono_ms() < until);
	exec_end_cgroups(lock);
}

/* The worker's next word: a moment, or DISMISSED. False: there will be none any more. */
static bool next_word(int64_t *ret_word)
{
	ssize_t n;

	do
		n = read(PIPE_AT, ret_word, sizeof *ret_word); /* written whole, so read whole */
	while (n < 0 && errno == EINTR);
	return n == sizeof *ret_word;
}

static _Noreturn void guard_main(const char *lock)
{
	int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
	struct pollfd fds[2] = {{PIPE_AT, POLLIN, 0}, {timer, POLLIN, 0}};
	int64_t word = INT64_MAX;

	for (;;) {
		if (poll(fds, timer < 0 ? 1 : 2, -1) < 0)
			continue;
		/* a word first: it may have come just in time */
		if (fds[0].revents) {
			if (!next_word(&word))
				break;
			if (word == DISMISSED)
				_exit(0);
			set_alarm(timer, word);
		} else if (fds[1].revents) {
			end_all(lock);
			set_alarm(timer, INT64_MAX); /* until it says something new */
		}
	}
	end_all(lock);
	_exit(0);
}

int guard_start(struct guard *g, const char *lock, int held_fd, struct problem *p)
{
	int fds[2];

	*g = (struct guard){.fd = -1, .told_ms = INT64_MAX};
	if (pipe2(fds, O_CLOEXEC) < 0)
		return problem_set(p, ERR_IO, "a pipe for the guard: %s", strerror(errno));
	g->pid = fork();
	if (g->pid == 0) {
		stand_apart();
		keep_only(fds[0], held_fd);
		guard_main(lock);
	}
	close(fds[0]);
	if (g->pid < 0) {
		problem_set(p, ERR_IO, "the guard could not be started: %s", strerror(errno));
		close(fds[1]);
		return ERR_IO;
	}
	g->fd = fds[1];
	fcntl(g->fd, F_SETFL, O_WRONLY | O_NONBLOCK);
	return 0;
}

/* So few bytes are written whole or not at all; a guard that does not read is not waited for. */
static bool say(const struct guard *g, int64_t word)
{
	return write(g->fd, &word, sizeof word) == sizeof word;
}

void guard_deadline(struct guard *g, int64_t by_ms)
{
	bool little = by_ms > g->told_ms && by_ms != INT64_MAX && by_ms - g->told_ms < MOVED_MS;

	if (g->fd < 0 || by_ms == g->told_ms || (little && g->told_ms - mono_ms() > NEAR_MS))
		return;
	if (say(g, by_ms))
		g->told_ms = by_ms;
}

void guard_release(struct guard *g, bool dismissed, int64_t wait_ms)
{
	struct timespec pause = {0, 1000000};

	if (g->fd < 0)
		return;
	if (dismissed && say(g, DISMISSED) && wait_ms < LEAVE_MS)
		wait_ms = LEAVE_MS;
	process_close(&g->fd);
	/* not for ever: somebody may have stopped it */
	for (; wait_ms > 0 && waitpid(g->pid, NULL, WNOHANG) == 0; wait_ms--)
		nanosleep(&pause, NULL);
}
