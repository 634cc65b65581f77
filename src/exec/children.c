/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our children: what we started, and, where we are the reaper of those below us, whoever lost
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
#define REFUSED_MS 500 /* one with more rights may just be ending by itself */
#define LIST_STEP 4096u
#define LIST_MAX (1u << 20)

static bool exec_is_child(pid_t pid)
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

static bool read_list(const char *thread, struct buf *ret)
{
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	do {
		buf_reserve(ret, LIST_STEP);
		n = read(fd, ret->p + ret->n, LIST_STEP);
		ret->n += n > 0 ? (size_t)n : 0;
	} while (n > 0 && ret->n < LIST_MAX);
	close(fd);
	return true;
}

/* The kernel's own list for one of our threads; false: it keeps none. Read before anything is done
 * with it: whoever is buried is missing in it, and another may be skipped by that. */
static bool each_listed(const char *thread, void (*fn)(pid_t pid, void *arg), void *arg)
{
	struct buf list = {0};
	bool is_there = read_list(thread, &list);
	struct str rest = buf_str(&list), one;
	int64_t pid;

	while (str_next(&rest, ' ', &one))
		if (str_to_i64(one, 1, INT32_MAX, &pid))
			fn((pid_t)pid, arg);
	buf_release(&list);
	return is_there;
}

static bool each_of_threads(void (*fn)(pid_t pid, void *arg), void *arg)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	bool any = false;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			any |= each_listed(e->d_name, fn, arg);
	if (d)
		closedir(d);
	return any;
}

static void each_of_all(void (*fn)(pid_t pid, void *arg), void *arg)
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

void exec_each_child(void (*fn)(pid_t pid, void *arg), void *arg)
{
	if (!each_of_threads(fn, arg))
		each_of_all(fn, arg);
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
		if (ms >= wait_ms || (!may && ms >= REFUSED_MS))
			return false;
		may = true;
		exec_each_child(kill_child, &may);
		nanosleep(&pause, NULL);
	}
	return true;
}
