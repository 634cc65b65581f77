/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whoever loses its parent becomes our child. We bury it when it ends; and where there are no
 * cgroups, we end it when the task it came from is over. It is known by its environment; one that
 * has wiped its own belongs to nobody, and goes at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/children.h"
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

struct search {
	struct keeper *k;
	const struct job *job; /* that is over */
	bool any;
};

static void end_if_orphan(pid_t pid, void *arg)
{
	struct search *s = arg;
	const struct job *owner;
	uint64_t tag;

	if (job_of_leader(s->k, pid))
		return;
	tag = tag_of(pid);
	owner = tag ? job_find(s->k, tag) : NULL;
	if (owner && owner != s->job && owner->state == JOB_RUNNING)
		return;
	s->any |= kill(pid, SIGKILL) == 0;
}

bool orphans_end(struct keeper *k, const struct job *j)
{
	struct search s = {k, j, false};

	orphans_bury(k);
	exec_each_child(end_if_orphan, &s);
	return s.any;
}
