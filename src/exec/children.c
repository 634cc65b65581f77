/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is our child: what we started, and, where we are the reaper of those below us, whoever lost
 * its parent. A child that is not reaped keeps its number, so that is safe to use here.
 */
#include "exec/children.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"

#define PAUSE_MS 2

bool exec_is_child(pid_t pid)
{
	char path[64], text[512], *end;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = 0;
	end = strrchr(text, ')'); /* the name before it may hold anything */
	return end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == getpid();
}

void exec_each_child(void (*fn)(pid_t pid, void *arg), void *arg)
{
	struct dirent *e;
	DIR *d = opendir("/proc");
	int64_t pid;

	while (d && (e = readdir(d)))
		if (str_to_i64(str_of(e->d_name), 2, INT32_MAX, &pid) && exec_is_child((pid_t)pid))
			fn((pid_t)pid, arg);
	if (d)
		closedir(d);
}

static void kill_child(pid_t pid, void *arg)
{
	bool *may = arg;

	*may &= kill(pid, SIGKILL) == 0 || errno != EPERM;
}

/* False: there are none at all. */
static bool bury(void)
{
	siginfo_t info;

	do {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG) < 0 && errno != EINTR)
			return false;
	} while (info.si_pid);
	return true;
}

bool exec_end_children(int64_t wait_ms)
{
	struct timespec pause = {0, PAUSE_MS * 1000000};
	bool may = true;

	for (int64_t ms = 0; bury(); ms += PAUSE_MS) {
		if (ms >= wait_ms || !may)
			return false;
		exec_each_child(kill_child, &may);
		nanosleep(&pause, NULL);
	}
	return true;
}
