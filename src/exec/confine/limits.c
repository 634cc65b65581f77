/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/confine/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exec/confine/cgroup.h"
#include "exec/confine/limits_internal.h"

const char *const limit_on_names[N_LIMITS] = {"memory", "cpu", "pids"};
const char *const limit_by_names[N_LIMIT_BYS] = {
    "cannot be limited", "cgroup v2", "cgroup v1", "an rlimit of each process"};

static bool limit_wanted(const struct run_limits *l, enum limit_on on)
{
	switch (on) {
	case ON_MEMORY: return l->memory > 0;
	case ON_CPU: return l->cpu_milli > 0;
	default: return l->pids > 0;
	}
}

int limits_write_files(int dir, const struct limit_file *files, int n, const char **ret_name)
{
	for (int i = 0; i < n; i++)
		if (limits_write(dir, files[i].name, files[i].text) < 0 &&
		    !(files[i].optional && errno == ENOENT)) {
			*ret_name = files[i].name;
			return -1;
		}
	return 0;
}

void limits_probe_at(struct limits_host *h, const struct limits_place *place)
{
	*h = (struct limits_host){.v1_fd = {-1, -1, -1}};
	limits_v2_probe(h, place);
	limits_v1_probe(h, place);
	if (h->by[ON_MEMORY] == BY_NOTHING)
		h->by[ON_MEMORY] = BY_RLIMIT;
	if (h->by[ON_PIDS] == BY_NOTHING)
		h->by[ON_PIDS] = BY_RLIMIT;
}

void limits_probe(struct limits_host *h, const char *lock, int v2_dir_fd)
{
	limits_probe_at(
	    h, &(struct limits_place){.root = "", .lock = lock, .v2_dir_fd = v2_dir_fd});
}

void limits_end(const char *lock)
{
	struct limits_host h;

	limits_probe(&h, lock, -1);
	limits_release(&h);
}

void limits_look(struct limits_host *h)
{
	struct cgroups g;
	struct problem p = {0};
	char lock[48];
	int r;

	snprintf(lock, sizeof lock, "a look of process %d", (int)getpid());
	r = cgroups_open(&g, lock, &p);
	limits_probe_at(h, &(struct limits_place){
	                       .root = "", .lock = lock, .v2_dir_fd = g.dir_fd, .look_only = true});
	if (r < 0)
		snprintf(h->kill_why, sizeof h->kill_why, "%.199s", p.what);
	cgroups_close(&g);
}

void limits_release(struct limits_host *h)
{
	limits_v1_release(h);
}

void limits_describe(const struct limits_host *h, enum limit_on on, char *out, size_t size)
{
	static const char *const caveats[N_LIMITS] = {
	    "address space, not memory in use; not of the task as a whole", "",
	    "of all processes of that user together; not for root"};
	int n = snprintf(out, size, "%s: %s", limit_on_names[on], limit_by_names[h->by[on]]);

	if (n < 0 || (size_t)n >= size)
		return;
	out += n;
	size -= (size_t)n;
	switch (h->by[on]) {
	case BY_V1: /* where, without our own directory's name */
		n = (int)(strrchr(h->v1_path[on], '/') - h->v1_path[on]);
		snprintf(out, size, " (in %.*s)", n, h->v1_path[on]);
		break;
	case BY_RLIMIT: snprintf(out, size, " (%s): %s", caveats[on], h->why[on]); break;
	case BY_NOTHING: snprintf(out, size, ": %s", h->why[on]); break;
	default: break;
	}
}

static void warn(struct problem *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Several warnings share the one text. */
static void warn(struct problem *p, const char *fmt, ...)
{
	size_t n = strlen(p->what);
	va_list ap;

	if (n > 0 && n + 2 < sizeof p->what)
		n += (size_t)snprintf(p->what + n, sizeof p->what - n, "; ");
	va_start(ap, fmt);
	vsnprintf(p->what + n, sizeof p->what - n, fmt, ap);
	va_end(ap);
}

/* The host does not hold this limit: the task's policy says what that means. */
static int not_held(
    const struct run_limits *l, enum limit_on on, const char *why, struct problem *p)
{
	if (l->policy == LIMIT_WARN) {
		warn(p, "%s is not limited: %s", limit_on_names[on], why);
		return 0;
	}
	problem_set(p, ERR_INVALID, "this worker cannot limit %s: %s", limit_on_names[on], why);
	problem_hint(p, "`reeve doctor` on the worker says how to hand it the controllers; or run "
	                "the task without that limit, or with the limit policy \"warn\"");
	problem_field(p, "run.limits");
	return ERR_INVALID;
}

static int refused(
    const struct run_limits *l, enum limit_on on, const char *file, struct problem *p)
{
	char why[160];

	snprintf(why, sizeof why, "%s: %s", file, strerror(errno));
	return not_held(l, on, why, p);
}

static int take_v2(
    const struct run_limits *l, enum limit_on on, struct limits_task *t, struct problem *p)
{
	struct limit_file files[LIMIT_FILES_MAX];
	const char *name = "";

	if (t->v2_dir_fd < 0)
		return not_held(l, on, "the task has no cgroup of its own", p);
	t->spent = t->spent || on == ON_MEMORY; /* peak and kills cannot be set back */
	t->by[on] = BY_V2;
	if (limits_write_files(t->v2_dir_fd, files, limits_v2_files(on, l, files), &name) < 0)
		return refused(l, on, name, p);
	return 0;
}

static int take_v1(struct limits_host *h, const struct run_limits *l, enum limit_on on,
    struct limits_task *t, struct problem *p)
{
	struct limit_file files[LIMIT_FILES_MAX];
	const char *name = "cgroup.procs";
	int dir = -1, r = limits_v1_make(h, t, on);

	if (r == 0)
		r = dir = limits_v1_open(h, t, on);
	if (r >= 0)
		r = limits_write_files(dir, files, limits_v1_files(on, l, files), &name);
	if (r < 0)
		r = refused(l, on, name, p);
	else
		t->by[on] = BY_V1;
	if (dir >= 0)
		close(dir);
	return r;
}

static int take_rlimit(
    const struct run_limits *l, enum limit_on on, struct limits_task *t, struct problem *p)
{
	if (on == ON_MEMORY) {
		t->address_space = l->memory;
		warn(p, "memory is limited for each process by itself, and by its address space");
	} else if (t->as_root) {
		return not_held(l, on, "without cgroups root's processes cannot be counted", p);
	} else {
		t->processes = l->pids;
		warn(p, "pids counts every process of the user, not only this task's");
	}
	t->by[on] = BY_RLIMIT;
	return 0;
}

static int take_one(struct limits_host *h, const struct run_limits *l, enum limit_on on,
    struct limits_task *t, struct problem *p)
{
	switch (h->by[on]) {
	case BY_V2: return take_v2(l, on, t, p);
	case BY_V1: return take_v1(h, l, on, t, p);
	case BY_RLIMIT: return take_rlimit(l, on, t, p);
	default: return not_held(l, on, h->why[on], p);
	}
}

/* Without a v2 tree some directory of version 1 is what the task can be ended by; -1: none. */
static int tracking_by(const struct limits_host *h)
{
	static const enum limit_on order[] = {ON_PIDS, ON_CPU, ON_MEMORY};

	for (int i = 0; !h->tree_kill && i < N_LIMITS; i++)
		if (h->v1_fd[order[i]] >= 0)
			return (int)order[i];
	return -1;
}

/* One that is used again has the last task's limit. */
static void track(struct limits_host *h, struct limits_task *t, enum limit_on on)
{
	static const char *const names[N_LIMITS] = {
	    "memory.limit_in_bytes", "cpu.cfs_quota_us", "pids.max"};
	int dir;

	if (limits_v1_make(h, t, on) < 0 || (dir = limits_v1_open(h, t, on)) < 0)
		return;
	limits_write(dir, names[on], on == ON_PIDS ? "max" : "-1");
	close(dir);
}

int limits_take(
    struct limits_host *h, const struct run_limits *l, struct limits_task *t, struct problem *p)
{
	bool v1[N_LIMITS] = {false}, wanted[N_LIMITS] = {false};
	int r = 0, tracked = tracking_by(h);

	*p = (struct problem){0};
	for (int on = 0; on < N_LIMITS; on++) {
		wanted[on] = l && limit_wanted(l, (enum limit_on)on);
		v1[on] = (wanted[on] && h->by[on] == BY_V1) || on == tracked;
	}
	*t = (struct limits_task){
	    .v2_dir_fd = t->v2_dir_fd, .as_root = t->as_root, .number = limits_pool_take(h, v1)};
	for (int on = 0; r == 0 && on < N_LIMITS; on++)
		if (wanted[on])
			r = take_one(h, l, (enum limit_on)on, t, p);
	if (r == 0 && tracked >= 0 && !t->v1[tracked])
		track(h, t, (enum limit_on)tracked);
	if (r < 0)
		limits_put(h, t);
	return r;
}

void limits_joined(struct limits_task *t)
{
	for (int i = 0; i < t->n_join; i++)
		close(t->join_fds[i]);
	t->n_join = 0;
}

void limits_read(struct limits_host *h, const struct limits_task *t, struct usage *u)
{
	bool v1 = t->by[ON_MEMORY] == BY_V1, v2 = t->by[ON_MEMORY] == BY_V2;
	int dir = v1 ? limits_v1_open(h, t, ON_MEMORY) : v2 ? t->v2_dir_fd : -1;
	int64_t peak, kills;

	if (dir < 0)
		return;
	peak = limits_read_number(dir, v1 ? "memory.max_usage_in_bytes" : "memory.peak");
	kills = limits_read_field(dir, v1 ? "memory.oom_control" : "memory.events", "oom_kill");
	if (peak >= 0)
		u->peak_memory = peak;
	if (kills >= 0)
		u->oom_kills = (int32_t)kills;
	u->known = u->known || peak >= 0 || kills >= 0;
	if (v1)
		close(dir);
}

void limits_put(struct limits_host *h, struct limits_task *t)
{
	bool any = false;

	limits_joined(t);
	for (int on = 0; on < N_LIMITS; on++) {
		any = any || t->v1[on];
		if (t->by[on] == BY_V2)
			limits_v2_reset(t->v2_dir_fd, (enum limit_on)on);
	}
	if (any && !limits_pool_put(h, t))
		limits_v1_remove(h, t);
	memset(t->v1, 0, sizeof t->v1);
	memset(t->by, 0, sizeof t->by);
	t->v2_dir_fd = -1;
}
