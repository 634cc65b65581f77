/* SPDX-License-Identifier: Apache-2.0 */
/* A handler that only counts and writes one byte into a pipe. */
#include "cli/frame/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t count, last;
static int pipe_fds[2] = {-1, -1};

static void on_signal(int sig)
{
	int saved = errno;
	ssize_t n;

	if (sig != SIGWINCH) {
		last = sig;
		count = count + 1;
	}
	n = write(pipe_fds[1], "", 1);
	(void)n; /* a full pipe is readable already */
	errno = saved;
}

void interrupt_catch(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH};
	struct sigaction sa = {.sa_handler = on_signal};

	if (pipe_fds[0] >= 0 || pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return;
	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++) {
		struct sigaction old;

		/* What was ignored (nohup) stays ignored. */
		if (sigaction(caught[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(caught[i], &sa, NULL);
	}
}

int interrupt_count(void)
{
	return count;
}

int interrupt_signal(void)
{
	return last;
}

int interrupt_fd(void)
{
	return pipe_fds[0];
}

void interrupt_drain(void)
{
	char bytes[64];

	while (pipe_fds[0] >= 0 && read(pipe_fds[0], bytes, sizeof bytes) > 0)
		;
}
