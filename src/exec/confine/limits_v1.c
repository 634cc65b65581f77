/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers of version 1: a hierarchy per controller, in each a directory of ours below our own
 * place (so that whatever limits us limits the tasks too), in that one a directory per task.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/confine/cgroup.h"
#include "exec/confine/limits_internal.h"

#define LEFTOVER_WAIT_MS 5000
#define REMOVE_TRIES 5

static const char *const needed_files[N_LIMITS] = {
    "memory.limit_in_bytes", "cpu.cfs_quota_us", "pids.max"};

int limits_v1_files(
    enum limit_on on, const struct run_limits *l, struct limit_file files[LIMIT_FILES_MAX])
{
	int period = l->cpu_milli < 10 ? CPU_PERIOD_LONG_US : CPU_PERIOD_US;

	switch (on) {
	case ON_MEMORY:
		files[0] = (struct limit_file){.name = "memory.limit_in_bytes"};
		/* with swap: the sum may not be smaller than the part, so it comes second */
		files[1] =
		    (struct limit_file){.name = "memory.memsw.limit_in_bytes", .optional = true};
		for (int i = 0; i < 2; i++)
			snprintf(files[i].text, sizeof files[i].text, "%" PRId64, l->memory);
		return 2;
	case ON_CPU:
		files[0] = (struct limit_file){.name = "cpu.cfs_period_us"};
		files[1] = (struct limit_file){.name = "cpu.cfs_quota_us"};
		snprintf(files[0].text, sizeof files[0].text, "%d", period);
		snprintf(files[1].text, sizeof files[1].text, "%" PRId64,
		    (int64_t)l->cpu_milli * (period / 1000));
		return 2;
	default:
		files[0] = (struct limit_file){.name = "pids.max"};
		snprintf(files[0].text, sizeof files[0].text, "%" PRId32, l->pids);
		return 1;
	}
}

/* Looks through a table of the kernel; `path` becomes the last part that `take` found. */
static bool find_line(const char *root, const char *table, const char *controller,
    bool (*take)(struct str, const char *, struct buf *), struct buf *ret)
{
	AUTO(free_cstr) char *name = xasprintf("%s%s", root, table);
	AUTO(free_cstr) char *line = NULL;
	FILE *f = fopen(name, "re");
	bool found = false;
	size_t cap = 0;

	while (f && !found && getline(&line, &cap, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		found = take(str_of(line), controller, ret);
	}
	if (f)
		fclose(f);
	return found;
}

/* root and point, parted by a NUL */
static bool take_mount(struct str line, const char *controller, struct buf *ret)
{
	struct str root, point;

	if (!limits_parse_mount(line, controller, &root, &point))
		return false;
	limits_unescape(ret, root);
	buf_add_char(ret, 0);
	limits_unescape(ret, point);
	return true;
}

static bool take_own(struct str line, const char *controller, struct buf *ret)
{
	struct str path;

	if (!limits_parse_own(line, controller, &path))
		return false;
	buf_add_str(ret, path);
	return true;
}

/* Our own place, as seen through a mount that may show only a part of the hierarchy. */
static const char *below(const char *own, const char *mount_root)
{
	size_t n = strlen(mount_root);

	if (strcmp(mount_root, "/") == 0)
		return strcmp(own, "/") == 0 ? "" : own;
	return strncmp(own, mount_root, n) == 0 && own[n] == '/' ? own + n : "";
}

/* NULL: the host has no such hierarchy. */
static char *directory_path(const struct limits_place *place, const char *controller)
{
	AUTO(buf_release) struct buf mount = {0}, own = {0};

	if (!find_line(place->root, "/proc/self/mountinfo", controller, take_mount, &mount) ||
	    !find_line(place->root, "/proc/self/cgroup", controller, take_own, &own))
		return NULL;
	return xasprintf("%s%s%s/reeve-%016" PRIx64, place->root, mount.p + strlen(mount.p) + 1,
	    below(own.p, mount.p), exec_hash(place->lock));
}

static void remove_leftovers(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_type == DT_DIR && e->d_name[0] != '.') {
			limits_v1_end(dir, e->d_name, LEFTOVER_WAIT_MS);
			unlinkat(dir, e->d_name, AT_REMOVEDIR);
		}
	if (d)
		closedir(d);
}

static void probe_one(struct limits_host *h, const struct limits_place *place, enum limit_on on)
{
	AUTO(free_cstr) char *path = directory_path(place, limit_on_names[on]);
	int fd;

	if (!path)
		return;
	if (mkdir(path, 0755) < 0 && errno != EEXIST) {
		snprintf(h->why[on], sizeof h->why[on], "%.140s cannot be made: %s", path,
		    strerror(errno));
		return;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || faccessat(fd, needed_files[on], W_OK, AT_EACCESS) < 0) {
		snprintf(h->why[on], sizeof h->why[on], "%.100s/%s cannot be written: %s", path,
		    needed_files[on], strerror(errno));
		if (fd >= 0)
			close(fd);
		rmdir(path);
		return;
	}
	remove_leftovers(fd);
	h->v1_fd[on] = fd;
	h->v1_path[on] = TAKE(path);
	if (h->by[on] == BY_NOTHING)
		h->by[on] = BY_V1;
}

/* A controller belongs to one version at a time, so none is asked for that version 2 has. */
void limits_v1_probe(struct limits_host *h, const struct limits_place *place)
{
	for (int on = 0; on < N_LIMITS; on++)
		if (h->by[on] != BY_V2)
			probe_one(h, place, (enum limit_on)on);
}

void limits_v1_release(struct limits_host *h)
{
	for (int on = 0; on < N_LIMITS; on++) {
		if (h->v1_fd[on] >= 0) {
			remove_leftovers(h->v1_fd[on]);
			close(h->v1_fd[on]);
			rmdir(h->v1_path[on]);
		}
		h->v1_fd[on] = -1;
		free(TAKE(h->v1_path[on]));
	}
}

static const char *task_name(unsigned number, char name[16])
{
	snprintf(name, 16, "t%u", number);
	return name;
}

int limits_v1_open(struct limits_host *h, const struct limits_task *t, enum limit_on on)
{
	char name[16];

	return openat(h->v1_fd[on], task_name(t->number, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int limits_v1_make(struct limits_host *h, struct limits_task *t, enum limit_on on)
{
	char name[16], path[48];
	int fd;

	/* two controllers may share a hierarchy, and so the directory */
	if (mkdirat(h->v1_fd[on], task_name(t->number, name), 0755) < 0 && errno != EEXIST)
		return -1;
	t->v1[on] = true;
	snprintf(path, sizeof path, "%s/cgroup.procs", name);
	fd = openat(h->v1_fd[on], path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	t->join_fds[t->n_join++] = fd;
	return 0;
}

static bool remove_number(struct limits_host *h, unsigned number)
{
	char name[16];
	bool busy = false;

	task_name(number, name);
	for (int on = 0; on < N_LIMITS; on++)
		if (h->v1_fd[on] >= 0 && unlinkat(h->v1_fd[on], name, AT_REMOVEDIR) < 0)
			busy = busy || errno == EBUSY;
	return !busy;
}

static void retry_late(struct limits_host *h)
{
	unsigned left = 0;

	for (unsigned i = 0; i < h->n_late; i++)
		if (!remove_number(h, h->late[i]))
			h->late[left++] = h->late[i];
	h->n_late = left;
}

/* A process that has just ended may still be counted for a moment. What stays is tried again. */
void limits_v1_remove(struct limits_host *h, const struct limits_task *t)
{
	struct timespec pause = {0, 1000000};

	retry_late(h);
	for (int i = 0; !remove_number(h, t->number); i++) {
		if (i == REMOVE_TRIES) {
			if (h->n_late < LIMITS_LATE_MAX)
				h->late[h->n_late++] = t->number;
			break;
		}
		nanosleep(&pause, NULL);
	}
}
