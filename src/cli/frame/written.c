/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/frame/written.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* What was closed stays without use: every write says EBADF. */
static void keep(int fd)
{
	int null_fd;

	if (fcntl(fd, F_GETFD) >= 0)
		return;
	null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null_fd >= 0 && null_fd != fd) {
		dup3(null_fd, fd, O_CLOEXEC);
		close(null_fd);
	}
}

void written_keep(void)
{
	keep(STDOUT_FILENO);
	keep(STDERR_FILENO);
}

/* An earlier write has failed, and nobody knows any more why: the next one says. */
static int ask_again(void)
{
	return write(STDOUT_FILENO, "\n", 1) < 0 ? errno : EIO;
}

int written_error(void)
{
	if (fflush(stdout) != 0)
		return errno;
	return ferror(stdout) ? ask_again() : 0;
}
