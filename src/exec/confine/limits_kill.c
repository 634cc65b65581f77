/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version 1 has no cgroup.kill. First nothing new may be born (pids.max 0, where there is that
 * controller), then whatever is listed is killed, until nothing is listed any more.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "exec/confine/limits_internal.h"

#define PAUSE_MS 2
#define KILL_ROUND_MS 20 /* of one limits_kill(): the caller has others to see to */

/* ".../reeve-HASH" and "t7": "/reeve-HASH/t7", as the end of a line of /proc/PID/cgroup. */
static void line_end(int dir, const char *name, char *out, size_t size)
{
	char link[32], path[512];
	ssize_t n;
	char *last;

	snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = 0;
	last = strrchr(path, '/');
	snprintf(out, size, "%s/%s\n", last ? last : "", name);
}

/* Asked after the pidfd is open: if the number has become another's, it does not live there. */
static bool lives_there(pid_t pid, const char *end)
{
	char path[32], text[4096];

	snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
	return limits_read_text(AT_FDCWD, path, text, sizeof text) > 0 && strstr(text, end);
}

static void kill_member(pid_t pid, const char *end)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return;
	if (lives_there(pid, end))
		syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0);
	close(fd);
}

/* Kills those listed; how many there were. */
static int kill_listed(int dir, const char *name, const char *end)
{
	char path[300], line[32];
	FILE *f;
	int fd, n = 0;
	int64_t pid;

	snprintf(path, sizeof path, "%s/cgroup.procs", name);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && fgets(line, sizeof line, f)) {
		line[strcspn(line, "\n")] = 0;
		if (!str_to_i64(str_of(line), 0, INT32_MAX, &pid))
			continue;
		n++;
		if (pid > 1) /* 0: somebody outside our pid namespace */
			kill_member((pid_t)pid, end);
	}
	if (f)
		fclose(f);
	return n;
}

bool limits_v1_end(int dir, const char *name, int wait_ms)
{
	struct timespec pause = {0, PAUSE_MS * 1000000};
	char end[600], path[300];

	snprintf(path, sizeof path, "%s/pids.max", name);
	limits_write(dir, path, "0");
	line_end(dir, name, end, sizeof end);
	for (int ms = 0; kill_listed(dir, name, end) > 0; ms += PAUSE_MS) {
		if (ms >= wait_ms)
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* pids first: there it can be stopped from forking. */
static int tracking(const struct limits_task *t)
{
	static const enum limit_on order[] = {ON_PIDS, ON_CPU, ON_MEMORY};

	for (int i = 0; i < N_LIMITS; i++)
		if (t->v1[order[i]])
			return (int)order[i];
	return -1;
}

bool limits_kill(struct limits_host *h, const struct limits_task *t)
{
	int on = tracking(t);
	char name[16];

	if (on < 0)
		return false;
	snprintf(name, sizeof name, "t%u", t->number);
	limits_v1_end(h->v1_fd[on], name, KILL_ROUND_MS);
	return true;
}

bool limits_is_empty(struct limits_host *h, const struct limits_task *t)
{
	int on = tracking(t), dir = on < 0 ? -1 : limits_v1_open(h, t, (enum limit_on)on);
	char text[32];
	bool empty;

	if (dir < 0)
		return true;
	empty = limits_read_text(dir, "cgroup.procs", text, sizeof text) <= 0;
	close(dir);
	return empty;
}
