/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that loses its parent becomes our child. We bury it when it ends, and end it when the
 * task it came from is over. That is known by the cgroup it lives in, where there are no cgroups by
 * its environment. One that has left or wiped that belongs to nobody: it has escaped, and goes at
 * once.
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

#define PASSES_MAX 4

static struct ward *ward_of_leader(const struct keeper *k, pid_t pid)
{
	struct ward *w;

	TAILQ_FOREACH (w, &k->wards, entry)
		if (w->process.pid == pid && !w->process.reaped)
			return w;
	return NULL;
}

/* A child that is not reaped keeps its number, so the number is safe to use here. */
void orphans_bury(struct keeper *k)
{
	siginfo_t info;
	struct ward *w;

	for (;;) {
		info.si_pid = 0;
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid)
			return;
		w = ward_of_leader(k, info.si_pid);
		if (w)
			ward_leader_over(k, w);
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

/* The ward's number in the environment, or 0. */
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

static const struct ward *owner_by_cgroup(const struct keeper *k, pid_t pid)
{
	unsigned number = cgroup_number_of(&k->hand.cgroups, pid);
	struct ward *w;

	TAILQ_FOREACH (w, &k->wards, entry)
		if (number && w->process.cgroup && w->process.cgroup->number == number)
			return w;
	return NULL;
}

static const struct ward *owner_of(const struct keeper *k, pid_t pid)
{
	uint64_t tag;

	if (k->hand.cgroups.dir_fd >= 0)
		return owner_by_cgroup(k, pid);
	tag = tag_of(pid);
	return tag ? ward_find(k, tag) : NULL;
}

struct search {
	struct keeper *k;
	const struct ward *ward; /* the ward that is over; NULL: only those who escaped */
	size_t n;
	bool buried, any;
};

static void count_one(pid_t pid, void *arg)
{
	((struct search *)arg)->n++;
}

/* Are there more than the leaders? Mostly not, and that is quickly seen. */
static bool are_there(struct search *s)
{
	const struct ward *w;

	s->n = 0;
	exec_each_child(count_one, s);
	TAILQ_FOREACH (w, &s->k->wards, entry)
		s->n -= w->state == WARD_RUNNING;
	return s->n != 0;
}

static void end_if_orphan(pid_t pid, void *arg)
{
	struct search *s = arg;
	const struct ward *owner;
	siginfo_t info = {0};

	if (ward_of_leader(s->k, pid))
		return;
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) == 0 && info.si_pid) {
		s->buried = true; /* the child's own children may have become ours a moment ago */
		return;
	}
	owner = owner_of(s->k, pid);
	if (owner && owner != s->ward && owner->state == WARD_RUNNING)
		return;
	s->any |= kill(pid, SIGKILL) == 0;
}

/* Leaders that are over are left to their own watch here: we may be called for one of them. */
bool orphans_end(struct keeper *k, const struct ward *w)
{
	struct search s = {.k = k, .ward = w};

	if (k->hand.cgroups.dir_fd < 0)
		orphans_bury(k);
	for (int i = 0; i < PASSES_MAX; i++) {
		if (!are_there(&s))
			return false;
		s.buried = false;
		exec_each_child(end_if_orphan, &s);
		if (s.any || !s.buried)
			return s.any;
	}
	return true;
}
