/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task can do to its own cgroup, if it may write there at all: freeze it, set its values,
 * make others below it. Whoever comes next must not find anything of that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/confine/cgroup_internal.h"

#define STEPS_MAX 20000 /* of one removal: others wait meanwhile */

int cgroup_write(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = write(fd, text, strlen(text));
	close(fd);
	return n < 0 ? -1 : 0;
}

bool cgroup_events_empty(int events_fd)
{
	char text[256];
	ssize_t n = pread(events_fd, text, sizeof text - 1, 0);

	if (n <= 0)
		return true; /* the directory is gone */
	text[n] = 0;
	return strstr(text, "populated 0") != NULL;
}

/* Removes those that have none below themselves. The first that has, or that is in use: its name.
 */
static bool remove_leaves(int dir, char name[256], int *steps)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	bool found = false;

	while (d && !found && *steps > 0 && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		(*steps)--;
		if (unlinkat(dir, e->d_name, AT_REMOVEDIR) < 0) {
			snprintf(name, 256, "%s", e->d_name);
			found = true;
		}
	}
	if (d)
		closedir(d);
	return found;
}

static int go_to(int from, const char *name, int top)
{
	int fd = openat(from, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (from != top)
		close(from);
	return fd;
}

/*
 * Down to the first leaf, and up again, without recursion: a task may nest them as deep as it
 * likes. One that could not be removed though nothing is below it is in use; there it ends.
 */
void cgroup_tree_remove(int top)
{
	int at = top, depth = 0, steps = STEPS_MAX, before;
	bool found;
	char name[256];

	while (at >= 0 && steps > 0) {
		before = steps;
		found = remove_leaves(at, name, &steps);
		if (!found && (depth == 0 || steps == before))
			break;
		depth += found ? 1 : -1;
		at = go_to(at, found ? name : "..", top);
	}
	if (at >= 0 && at != top)
		close(at);
}

struct value {
	const char *name, *fresh;
};

/* Read after every task, so their files stay open: opening one costs more than the rest of a look.
 */
static const struct value always[CGROUP_VALUES] = {{"cgroup.freeze", "0"},
    {"cgroup.type", "domain"}, {"cgroup.subtree_control", ""}, {"cgroup.max.depth", "max"},
    {"cgroup.max.descendants", "max"}};
#define FREEZE 0
/* Of the controllers that we hand down ourselves; a file that is not there is as it should be. */
static const struct value controlled[] = {{"cpu.max", "max 100000"}, {"cpu.max.burst", "0"},
    {"cpu.weight", "100"}, {"cpu.idle", "0"}, {"cpu.uclamp.min", "0.00"}, {"cpu.uclamp.max", "max"},
    {"pids.max", "max"}, {"memory.max", "max"}, {"memory.high", "max"}, {"memory.low", "0"},
    {"memory.min", "0"}, {"memory.oom.group", "0"}, {"memory.swap.max", "max"},
    {"memory.swap.high", "max"}, {"memory.zswap.max", "max"}, {"memory.zswap.writeback", "1"}};

static bool fd_reads_as(int fd, const char *wanted)
{
	char text[64];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);

	if (n < 0)
		return false;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return strcmp(text, wanted) == 0;
}

static bool reads_as(int dir, const struct value *v)
{
	int fd = openat(dir, v->name, O_RDONLY | O_CLOEXEC);
	bool same;

	if (fd < 0)
		return errno == ENOENT;
	same = fd_reads_as(fd, v->fresh);
	close(fd);
	return same;
}

static bool all_read_as(int dir, const struct value *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!reads_as(dir, &values[i]))
			return false;
	return true;
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* -1: there is no such file, or we may not. */
static int value_fd(struct cgroup *c, int i)
{
	int how = i == FREEZE ? O_RDWR : O_RDONLY;

	if (!c->value_fds[i])
		c->value_fds[i] = openat(c->dir_fd, always[i].name, how | O_CLOEXEC);
	return c->value_fds[i];
}

void cgroup_forget_values(struct cgroup *c)
{
	for (int i = 0; i < CGROUP_VALUES; i++) {
		if (c->value_fds[i] > 0)
			close(c->value_fds[i]);
		c->value_fds[i] = 0;
	}
}

bool cgroup_thaw(struct cgroup *c)
{
	int fd = value_fd(c, FREEZE);

	return fd < 0 || pwrite(fd, "0", 1, 0) == 1 || errno != ENODEV;
}

static bool values_are_fresh(struct cgroup *c)
{
	for (int i = 0; i < CGROUP_VALUES; i++) {
		int fd = value_fd(c, i);

		if (fd < 0 ? !reads_as(c->dir_fd, &always[i]) : !fd_reads_as(fd, always[i].fresh))
			return false;
	}
	return true;
}

/* Limits hand controllers down when they are first wanted. */
static bool has_controllers(struct cgroups *g)
{
	if (!g->controllers_fd)
		g->controllers_fd =
		    openat(g->dir_fd, "cgroup.subtree_control", O_RDONLY | O_CLOEXEC);
	return g->controllers_fd < 0 || !fd_reads_as(g->controllers_fd, "");
}

bool cgroup_is_as_new(struct cgroups *g, struct cgroup *c)
{
	struct stat st;

	return cgroup_events_empty(c->events_fd) && fstat(c->dir_fd, &st) == 0 &&
	       st.st_nlink == 2 && values_are_fresh(c) &&
	       (!has_controllers(g) || all_read_as(c->dir_fd, controlled, COUNT(controlled)));
}
