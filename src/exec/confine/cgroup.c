/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/confine/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "exec/confine/cgroup_internal.h"

#define FREE_MAX 64 /* each keeps seven descriptors open */
#define LEFTOVER_WAIT_MS 5000
#define SIGNALLED_MAX 4096u /* a herd of more than that does not listen anyway; KILL gets all */
#define SIGNAL_BATCH 64u

/*
 * An earlier instance did not get to it: end whatever lives on, before anything new starts. It may
 * have left them standing still, and so would everybody who comes after.
 */
static int end_leftovers(int dir, struct problem *p)
{
	int events = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct timespec pause = {0, 2000000};
	int r = 0;

	if (events < 0 || cgroup_write(dir, "cgroup.kill", "1") < 0)
		r = problem_set(p, ERR_IO, "cgroup.kill is not available: %s", strerror(errno));
	cgroup_write(dir, "cgroup.freeze", "0");
	for (int ms = 0; r == 0 && !cgroup_events_empty(events); ms += 2) {
		if (ms > LEFTOVER_WAIT_MS)
			r = problem_set(p, ERR_IO, "processes of an earlier worker do not end");
		nanosleep(&pause, NULL);
	}
	if (events >= 0)
		close(events);
	if (r == 0)
		cgroup_tree_remove(dir);
	return r;
}

bool exec_end_cgroups(const char *lock)
{
	AUTO(free_cstr) char *path = cgroup_home(lock, NULL);
	int dir = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1, events;
	struct problem p = {0};
	bool empty;

	if (dir < 0)
		return true;
	end_leftovers(dir, &p);
	events = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	empty = events < 0 || cgroup_events_empty(events);
	if (events >= 0)
		close(events);
	close(dir);
	rmdir(path);
	return empty;
}

int cgroups_open(struct cgroups *g, const char *lock, struct problem *p)
{
	*g = (struct cgroups){.dir_fd = -1};
	g->path = cgroup_home(lock, &g->inside);
	if (!g->path)
		return problem_set(p, ERR_IO, "there is no cgroup v2 hierarchy");
	if (mkdir(g->path, 0755) < 0 && errno != EEXIST) {
		problem_set(p, ERR_IO, "cgroup %s: %s", g->path, strerror(errno));
		cgroups_close(g);
		return ERR_IO;
	}
	g->dir_fd = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir_fd < 0 || end_leftovers(g->dir_fd, p) < 0) {
		if (g->dir_fd < 0)
			problem_set(p, ERR_IO, "cgroup %s: %s", g->path, strerror(errno));
		cgroups_close(g);
		return ERR_IO;
	}
	return 0;
}

static void cgroup_remove(struct cgroups *g, struct cgroup *c)
{
	char name[16];

	snprintf(name, sizeof name, "t%u", c->number);
	if (unlinkat(g->dir_fd, name, AT_REMOVEDIR) < 0) { /* the task has made some below it */
		cgroup_write(c->dir_fd, "cgroup.kill", "1");
		cgroup_tree_remove(c->dir_fd);
		unlinkat(g->dir_fd, name, AT_REMOVEDIR);
	}
	cgroup_forget_values(c);
	close(c->events_fd);
	close(c->dir_fd);
	free(c);
}

void cgroups_close(struct cgroups *g)
{
	struct cgroup *c;

	while ((c = g->free)) {
		g->free = c->next;
		cgroup_remove(g, c);
	}
	if (g->dir_fd >= 0) {
		cgroup_tree_remove(g->dir_fd); /* what could not be removed in its time */
		if (g->controllers_fd > 0)
			close(g->controllers_fd);
		close(g->dir_fd);
	}
	if (g->path)
		rmdir(g->path);
	free(g->path);
	free(g->inside);
	*g = (struct cgroups){.dir_fd = -1};
}

static struct cgroup *cgroup_make(struct cgroups *g)
{
	struct cgroup *c = xcalloc(1, sizeof *c);
	char name[40];

	c->number = ++g->made;
	c->events_fd = -1;
	snprintf(name, sizeof name, "t%u", c->number);
	if (mkdirat(g->dir_fd, name, 0755) == 0) {
		c->dir_fd = openat(g->dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (c->dir_fd >= 0)
			c->events_fd = openat(c->dir_fd, "cgroup.events", O_RDONLY | O_CLOEXEC);
		if (c->events_fd >= 0)
			return c;
		if (c->dir_fd >= 0)
			close(c->dir_fd);
		unlinkat(g->dir_fd, name, AT_REMOVEDIR);
	}
	free(c);
	return NULL;
}

struct cgroup *cgroup_take(struct cgroups *g)
{
	struct cgroup *c;

	while ((c = g->free)) {
		g->free = c->next;
		g->n_free--;
		c->next = NULL;
		if (cgroup_thaw(c)) /* others than its last task may write there */
			return c;
		cgroup_remove(g, c);
	}
	return cgroup_make(g);
}

bool cgroup_is_empty(const struct cgroup *c)
{
	return cgroup_events_empty(c->events_fd);
}

/*
 * Kernels (seen: 6.18) remember that a cgroup was killed and end at birth what is cloned into it
 * later, so such a directory is spent. Thawed as well, behind it: a task may have frozen itself.
 */
void cgroup_kill(struct cgroup *c)
{
	c->killed = true;
	cgroup_write(c->dir_fd, "cgroup.kill", "1");
	cgroup_write(c->dir_fd, "cgroup.freeze", "0");
}

static size_t read_members(int dir_fd, pid_t *pids)
{
	int fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC), pid;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	size_t n = 0;

	while (f && n < SIGNALLED_MAX && fscanf(f, "%d", &pid) == 1)
		pids[n++] = pid;
	if (f)
		fclose(f);
	return n;
}

static bool is_among(pid_t pid, const pid_t *pids, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* By pidfd, and looked up once more behind it, so that a number in new hands is never hit. */
static void signal_some(int dir_fd, const pid_t *pids, size_t n, pid_t *scratch, int signal)
{
	int fds[SIGNAL_BATCH];
	size_t still;

	for (size_t i = 0; i < n; i++)
		fds[i] = (int)syscall(SYS_pidfd_open, pids[i], 0);
	still = read_members(dir_fd, scratch);
	for (size_t i = 0; i < n; i++) {
		if (fds[i] < 0)
			continue;
		if (is_among(pids[i], scratch, still))
			syscall(SYS_pidfd_send_signal, fds[i], signal, NULL, 0);
		close(fds[i]);
	}
}

void cgroup_signal(const struct cgroup *c, int signal)
{
	pid_t *pids = xmalloc(2 * SIGNALLED_MAX * sizeof *pids);
	size_t n = read_members(c->dir_fd, pids);

	for (size_t i = 0; i < n; i += SIGNAL_BATCH)
		signal_some(c->dir_fd, pids + i, n - i < SIGNAL_BATCH ? n - i : SIGNAL_BATCH,
		    pids + SIGNALLED_MAX, signal);
	cgroup_write(c->dir_fd, "cgroup.freeze", "0"); /* who has frozen himself hears nothing */
	free(pids);
}

bool cgroups_freeze(const struct cgroups *g, bool on)
{
	return g->dir_fd >= 0 && cgroup_write(g->dir_fd, "cgroup.freeze", on ? "1" : "0") == 0;
}

void cgroup_put(struct cgroups *g, struct cgroup *c)
{
	if (c->killed || g->n_free >= FREE_MAX || !cgroup_is_as_new(g, c)) {
		cgroup_remove(g, c);
		return;
	}
	c->next = g->free;
	g->free = c;
	g->n_free++;
}
