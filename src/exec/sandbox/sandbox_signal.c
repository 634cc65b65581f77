/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command inside a sandbox from outside, and speaks to it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "exec/confine/limits_internal.h"
#include "exec/sandbox/sandbox.h"

#define TO_GROUP 4u /* PIDFD_SIGNAL_PROCESS_GROUP, of Linux 6.9 */

/* The first child of a process; 0: none. */
static pid_t first_child(pid_t pid)
{
	char path[64], text[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
	if (limits_read_text(AT_FDCWD, path, text, sizeof text) <= 0)
		return 0;
	return (pid_t)strtol(text, NULL, 10);
}

/* Found again after the pidfd is open: then it is the one that was meant. */
static pid_t find_command(pid_t outer)
{
	pid_t init = first_child(outer);

	return init > 0 ? first_child(init) : 0;
}

static bool send(int pidfd, int signal)
{
	return syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, TO_GROUP) == 0 ||
	       syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) == 0;
}

bool sandbox_signal(pid_t outer, int signal)
{
	pid_t command = find_command(outer);
	int fd = command > 0 ? (int)syscall(SYS_pidfd_open, command, 0) : -1;
	bool sent = fd >= 0 && find_command(outer) == command && send(fd, signal);

	if (fd >= 0)
		close(fd);
	return sent;
}
