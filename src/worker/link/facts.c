/* SPDX-License-Identifier: Apache-2.0 */
/* What this worker says of itself: its name, its instance, and the lock that proves it is alone. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/machine.h"
#include "base/world/private.h"
#include "model/limits.h"
#include "model/lines.h"
#include "model/objects/queue.h"
#include "wire/text.h"
#include "worker/internal.h"

static int make_dirs(const char *path, struct problem *p)
{
	AUTO(free_cstr) char *copy = xstrdup(path);

	for (char *at = copy + 1;; at++) {
		char c = *at;

		if (c && c != '/')
			continue;
		*at = 0;
		if (mkdir(copy, 0750) < 0 && errno != EEXIST)
			return problem_set(
			    p, ERR_IO, "state directory %s: %s", copy, strerror(errno));
		if (!c)
			return 0;
		*at = c;
	}
}

/* The user that we become after the start, if that is somebody else: the directory may be theirs
 * already. */
static uid_t worker_uid(const struct worker *w)
{
	const struct passwd *u = w->o->user ? getpwnam(w->o->user) : NULL;

	return u ? u->pw_uid : 0;
}

/* The lock lives as long as we do: the kernel lets go of it, whatever kills us. */
int lock_take(struct worker *w, struct problem *p)
{
	const char *dir = w->o->state_dir;
	AUTO(free_cstr) char *path = NULL;
	char real[PATH_MAX], machine[MACHINE_ID_MAX];
	int r;

	if (!dir || !*dir)
		return problem_set(p, ERR_INVALID, "the worker needs a state directory");
	if ((r = make_dirs(dir, p)) < 0 || (r = private_dir(dir, worker_uid(w), p)) < 0)
		return r;
	path = xasprintf("%s/lock", dir);
	w->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0640);
	if (w->lock_fd < 0 || !realpath(dir, real))
		return problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
	if (flock(w->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		problem_set(p, ERR_CONFLICT, "another worker uses the state directory %s", dir);
		problem_hint(p, "give each worker on this machine a state directory of its own");
		return ERR_CONFLICT;
	}
	machine_id(machine);
	machine_mark(w->machine);
	w->lock = xasprintf("%s:%s", machine, real);
	w->lock_mark = exec_lock_mark(w->lock);
	return 0;
}

int state_sync(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = fd < 0 ? -1 : fsync(fd);

	process_close(&fd);
	return r;
}

/* Whole or not at all, whatever happens to the machine. */
static int write_started(const char *dir, const char *path, int64_t start)
{
	AUTO(free_cstr) char *fresh = xasprintf("%s.new", path);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640), r;

	if (fd < 0)
		return -1;
	r = dprintf(fd, "%lld\n", (long long)start) < 0 || fsync(fd) < 0 ? -1 : 0;
	process_close(&fd);
	return r < 0 || rename(fresh, path) < 0 ? -1 : state_sync(dir);
}

static int64_t read_started(const char *path)
{
	FILE *f = fopen(path, "re");
	long long start;

	if (f && fscanf(f, "%lld", &start) != 1)
		start = 0;
	if (!f)
		return 0;
	fclose(f);
	return start > 0 && start < START_MAX ? start : 0;
}

/*
 * Which start this is under this lock: the server tells by it which of two is the newer. The first
 * one is the time; from then on no clock has a say, for one that was set wrong for a while would
 * lock out every later start.
 */
static int take_started(struct worker *w, struct problem *p)
{
	AUTO(free_cstr) char *path = xasprintf("%s/started", w->o->state_dir);
	int64_t last = read_started(path);

	w->facts.started_ms = clock_wall_ms();
	w->facts.start = last ? last + 1 : w->facts.started_ms;
	if (write_started(w->o->state_dir, path, w->facts.start) < 0)
		return problem_set(p, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

static struct str list_of(struct arena *a, const char *const *items, const char *first)
{
	struct buf b = {0};
	struct str lines = STR_NULL;

	if (first)
		lines_add(&b, str_of(first));
	for (; items && *items; items++)
		lines_add(&b, str_of(*items));
	if (b.n)
		lines = lines_sorted(a, buf_str(&b));
	buf_release(&b);
	return lines;
}

static struct str plugin_names(const struct worker_options *o, struct arena *a)
{
	const char **names = arena_alloc(a, (o->n_plugins + 1) * sizeof *names);

	for (size_t i = 0; i < o->n_plugins; i++)
		names[i] = o->plugins[i].name;
	names[o->n_plugins] = NULL;
	return list_of(a, names, o->no_command ? NULL : PLUGIN_COMMAND);
}

static int check(const struct worker *w, struct problem *p)
{
	if (!text_is_name(w->facts.shard, NAME_MAX_BYTES))
		return problem_set(
		    p, ERR_INVALID, "the worker's name is empty, too long or not text");
	if (!w->o->server || !*w->o->server)
		return problem_set(p, ERR_INVALID, "the worker needs a server's address");
	for (size_t i = 0; i < w->o->n_plugins; i++) {
		const struct plugin_options *o = &w->o->plugins[i];

		if (!text_is_name(str_of(o->name), NAME_MAX_BYTES) || !o->exec || !o->exec[0])
			return problem_set(
			    p, ERR_INVALID, "plugin %zu has no name or nothing to execute", i + 1);
		if (strcmp(o->name, PLUGIN_COMMAND) == 0)
			return problem_set(
			    p, ERR_INVALID, "the name \"command\" is the built-in plugin's");
	}
	return 0;
}

int facts_gather(struct worker *w, struct problem *p)
{
	struct arena *a = &w->facts_arena;
	struct worker_facts *f = &w->facts;
	struct utsname u;
	char host[256] = "";
	int r;

	uname(&u);
	gethostname(host, sizeof host - 1);
	f->shard = str_of(arena_strdup(a, w->o->shard ? w->o->shard : host));
	do
		f->instance = clock_random();
	while (f->instance == 0);
	f->lock = str_of(w->lock);
	f->host = str_of(arena_strdup(a, host));
	f->zone = str_of(w->o->zone);
	f->target = w->o->target ? str_of(w->o->target) : arena_strf(a, "%s-linux", u.machine);
	f->version = str_of(REEVE_VERSION);
	f->labels = list_of(a, w->o->labels, NULL);
	f->plugins = plugin_names(w->o, a);
	f->active_queues = list_of(a, w->o->active_queues, NULL);
	f->ignore_queues = list_of(a, w->o->ignore_queues, NULL);
	f->maxthreads = w->o->maxthreads;
	if ((r = check(w, p)) < 0 ||
	    (r = offer_gather(w->o, ports_total(&w->ports), a, &f->offer, p)) < 0)
		return r;
	if ((r = key_take(w, p)) < 0)
		return r;
	return take_started(w, p);
}
