/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exec/process.h"

#define WORK_MS 10000 /* how long the guard tries to end what does not end */
#define LEAVE_MS 1000 /* how long we wait for a guard that was told to leave */
#define PIPE_AT 3     /* where the guard keeps what it needs */
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

static bool was_dismissed(void)
{
	char byte;
	ssize_t n;

	do
		n = read(PIPE_AT, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static _Noreturn void guard_main(const char *lock)
{
	int64_t until;

	if (was_dismissed())
		_exit(0);
	until = mono_ms() + WORK_MS;
	/* by cgroup, then by environment: what was just being made shows up in a later round */
	do
		exec_end_cgroups(lock);
	while (exec_end_leftovers(lock) > 0 && mono_ms() < until);
	exec_end_cgroups(lock);
	_exit(0);
}

int guard_start(struct guard *g, const char *lock, int held_fd, struct problem *p)
{
	int fds[2];

	*g = (struct guard){.fd = -1};
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
	return 0;
}

void guard_release(struct guard *g, bool dismissed)
{
	struct timespec pause = {0, 1000000};

	if (g->fd < 0)
		return;
	if (dismissed && write(g->fd, "", 1) < 0)
		dismissed = false; /* it is gone */
	process_close(&g->fd);
	/* not for ever: somebody may have stopped it */
	for (int ms = 0; dismissed && ms < LEAVE_MS && waitpid(g->pid, NULL, WNOHANG) == 0; ms++)
		nanosleep(&pause, NULL);
}
