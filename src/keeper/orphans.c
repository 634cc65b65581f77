/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever loses its parent becomes our child. We bury it when it ends; and where there are no
 * cgroups, we end it when the task it came from is over. It is known by its environment; one that
 * has wiped its own belongs to nobody, and goes at once.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keeper/internal.h"

static struct job *job_of_leader(const struct keeper *k, pid_t pid)
{
	struct job *j;

	TAILQ_FOREACH (j, &k->jobs, entry)
		if (j->process.pid == pid && !j->process.reaped)
			return j;
	return NULL;
}

/* A child that is not reaped keeps its number, so the number is safe to use here. */
void orphans_bury(struct keeper *k)
{
	siginfo_t info;
	struct job *j;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
			return;
		j = job_of_leader(k, info.si_pid);
		if (j)
			job_leader_over(k, j);
		else
			waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
	}
}

static ssize_t read_environment(pid_t pid, char *text, size_t size)
{
	char path[64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, text, size);
	close(fd);
	return n;
}

/* The job's number in the environment, or 0. */
static uint64_t tag_of(pid_t pid)
{
	static char text[128 << 10];
	ssize_t n = read_environment(pid, text, sizeof text);
	struct str rest = {text, n > 0 ? (size_t)n : 0}, one;
	int64_t id;

	while (str_next(&rest, 0, &one))
		if (str_starts(one, KEEPER_TAG "=") &&
		    str_to_i64((struct str){one.p + sizeof KEEPER_TAG, one.n - sizeof KEEPER_TAG},
		        1, INT64_MAX, &id))
			return (uint64_t)id;
	return 0;
}

static bool is_our_child(pid_t pid)
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

static bool end_if_orphan_of(struct keeper *k, const struct job *j, pid_t pid)
{
	uint64_t tag;
	const struct job *owner;

	if (!is_our_child(pid) || job_of_leader(k, pid))
		return false;
	tag = tag_of(pid);
	owner = tag ? job_find(k, tag) : NULL;
	if (owner && owner != j && owner->state == JOB_RUNNING)
		return false;
	return kill(pid, SIGKILL) == 0; /* our child, not reaped: the number is its own */
}

bool orphans_end(struct keeper *k, const struct job *j)
{
	struct dirent *e;
	DIR *d = opendir("/proc");
	bool any = false;
	int64_t pid;

	orphans_bury(k);
	while (d && (e = readdir(d)))
		if (str_to_i64(str_of(e->d_name), 2, INT32_MAX, &pid))
			any |= end_if_orphan_of(k, j, (pid_t)pid);
	if (d)
		closedir(d);
	return any;
}
