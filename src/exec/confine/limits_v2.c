/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controllers of version 2 are handed down: from our own cgroup to the worker's directory below it,
 * from there to the tasks' directories. A cgroup that hands down may hold no processes itself, so
 * where we are alone in ours we move into a leaf beside the worker's directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exec/confine/cgroup.h"
#include "exec/confine/limits_internal.h"

#define OURS_MAX 64 /* a worker's processes at its start: a few */

int limits_v2_files(
    enum limit_on on, const struct run_limits *l, struct limit_file files[LIMIT_FILES_MAX])
{
	int period = l->cpu_milli < 10 ? CPU_PERIOD_LONG_US : CPU_PERIOD_US;

	switch (on) {
	case ON_MEMORY:
		files[0] = (struct limit_file){.name = "memory.max"};
		snprintf(files[0].text, sizeof files[0].text, "%" PRId64, l->memory);
		files[1] = (struct limit_file){"memory.swap.max", "0", true};
		/* half a task is of no use: all of it ends */
		files[2] = (struct limit_file){"memory.oom.group", "1", true};
		return 3;
	case ON_CPU:
		files[0] = (struct limit_file){.name = "cpu.max"};
		snprintf(files[0].text, sizeof files[0].text, "%" PRId64 " %d",
		    (int64_t)l->cpu_milli * (period / 1000), period);
		return 1;
	default:
		files[0] = (struct limit_file){.name = "pids.max"};
		snprintf(files[0].text, sizeof files[0].text, "%" PRId32, l->pids);
		return 1;
	}
}

void limits_v2_reset(int dir, enum limit_on on)
{
	static const char *const names[N_LIMITS] = {"memory.max", "cpu.max", "pids.max"};

	limits_write(dir, names[on], "max");
}

static pid_t parent_of(pid_t pid)
{
	char path[32], text[1024], *after;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (limits_read_text(AT_FDCWD, path, text, sizeof text) <= 0)
		return 0;
	after = strrchr(text, ')'); /* the name before it may hold anything */
	return after && sscanf(after + 1, " %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* The worker and its helpers: we, who started us, and what either of us started. */
static bool is_family(pid_t pid)
{
	pid_t self = getpid(), above = getppid(), parent;

	if (pid == self || (above > 1 && pid == above))
		return true;
	parent = parent_of(pid);
	return parent == self || (above > 1 && parent == above);
}

/* The processes directly in it; -1: too many, or some that are not ours to move. */
static int list_family(int cgroup, pid_t pids[OURS_MAX])
{
	char text[OURS_MAX * 12];
	struct str rest, line;
	int64_t pid;
	int n = 0;

	if (limits_read_text(cgroup, "cgroup.procs", text, sizeof text) < 0)
		return -1;
	rest = str_of(text);
	while (str_next(&rest, '\n', &line) && line.n > 0) {
		if (n == OURS_MAX || !str_to_i64(line, 1, INT32_MAX, &pid) ||
		    !is_family((pid_t)pid))
			return -1;
		pids[n++] = (pid_t)pid;
	}
	return n;
}

static bool make_room(int cgroup)
{
	pid_t pids[OURS_MAX];
	char text[16];
	int n = list_family(cgroup, pids);

	if (n < 0 || (mkdirat(cgroup, CGROUP_SELF, 0755) < 0 && errno != EEXIST))
		return false;
	for (int i = 0; i < n; i++) {
		snprintf(text, sizeof text, "%d", (int)pids[i]);
		if (limits_write(cgroup, CGROUP_SELF "/cgroup.procs", text) < 0 && errno != ESRCH)
			return false;
	}
	return true;
}

static bool is_enabled(int cgroup, const char *controller)
{
	char text[512];

	return limits_read_text(cgroup, "cgroup.subtree_control", text, sizeof text) > 0 &&
	       limits_has_word(text, controller);
}

static bool is_offered(int cgroup, const char *controller)
{
	char text[512];

	return limits_read_text(cgroup, "cgroup.controllers", text, sizeof text) > 0 &&
	       limits_has_word(text, controller);
}

/* Hands one controller down from that cgroup. False: errno. */
static bool enable(int cgroup, const char *controller, bool may_move)
{
	char text[32];

	if (is_enabled(cgroup, controller))
		return true;
	snprintf(text, sizeof text, "+%s", controller);
	if (limits_write(cgroup, "cgroup.subtree_control", text) == 0)
		return true;
	if (errno != EBUSY || !may_move)
		return false;
	if (make_room(cgroup) && limits_write(cgroup, "cgroup.subtree_control", text) == 0)
		return true;
	errno = EBUSY;
	return false;
}

/* The kernel's root has no such file; any other cgroup may not both hold and hand down. */
static bool could_enable(int cgroup, const char *controller)
{
	pid_t pids[OURS_MAX];

	if (is_enabled(cgroup, controller))
		return true;
	if (faccessat(cgroup, "cgroup.subtree_control", W_OK, AT_EACCESS) < 0)
		return false;
	errno = EBUSY;
	return faccessat(cgroup, "cgroup.type", F_OK, 0) < 0 || list_family(cgroup, pids) >= 0;
}

static void explain(struct limits_host *h, enum limit_on on, int error)
{
	snprintf(h->why[on], sizeof h->why[on],
	    "cgroup v2 does not hand down its %s controller: %s", limit_on_names[on],
	    error == EBUSY ? "other processes live in the worker's own cgroup" : strerror(error));
}

static void probe_one(
    struct limits_host *h, const struct limits_place *place, int above, enum limit_on on)
{
	const char *name = limit_on_names[on];
	bool ok;

	if (!is_offered(above, name)) {
		snprintf(h->why[on], sizeof h->why[on],
		    "cgroup v2 has no %s controller for us here", name);
		return;
	}
	if (place->look_only)
		ok = could_enable(above, name);
	else
		ok = enable(above, name, true) && enable(place->v2_dir_fd, name, false);
	if (ok)
		h->by[on] = BY_V2;
	else
		explain(h, on, errno);
}

void limits_v2_probe(struct limits_host *h, const struct limits_place *place)
{
	int above = place->v2_dir_fd < 0
	                ? -1
	                : openat(place->v2_dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	h->tree_kill = place->v2_dir_fd >= 0;
	for (int on = 0; on < N_LIMITS; on++)
		if (above >= 0)
			probe_one(h, place, above, (enum limit_on)on);
		else
			snprintf(
			    h->why[on], sizeof h->why[on], "there is no cgroup v2 for us here");
	if (above >= 0)
		close(above);
}
