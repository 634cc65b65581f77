/* SPDX-License-Identifier: Apache-2.0 */
/* A process tree in our care: started, ended, told about, forgotten. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "exec/sandbox/sandbox.h"
#include "keeper/internal.h"
#include "model/limits.h"

#define LOOK_AGAIN_MS 5 /* without cgroups */
#define LOOK_ANYWAY_MS 100
#define LOOKS_CLEAN 2        /* one that is just being made shows up in a later look */
#define ESCAPE_LOOKS_MAX 400 /* for those who do not die; others' tasks must get to their end */

const struct moves ward_moves = {
    "ward",
    {[WARD_RUNNING] = "running",
        [WARD_EMPTYING] = "emptying",
        [WARD_OVER] = "over",
        [WARD_HELD] = "held"},
    {
        {WARD_RUNNING, WARD_EMPTYING, "its leader is reaped"},
        {WARD_EMPTYING, WARD_OVER, "nothing is left of its tree"},
        {WARD_HELD, WARD_OVER, "its worker is gone, and the plugin's process with it"},
    },
};

void ward_move(struct keeper *k, struct ward *w, enum ward_state to)
{
	if (w->state == WARD_EMPTYING)
		k->n_live--;
	w->state = moves_make(&ward_moves, w->state, to);
}

struct ward *ward_find(const struct keeper *k, uint64_t id)
{
	return idmap_get(&k->by_id, id);
}

static struct ward *ward_new(struct keeper *k, uint64_t id, struct str note, enum ward_state first)
{
	struct ward *w = xmalloc(sizeof *w);

	*w = (struct ward){.id = id,
	    .state = first,
	    .leader.kind = WATCH_LEADER,
	    .tree.kind = WATCH_TREE,
	    .process = {.pid = -1, .pidfd = -1, .in = -1, .out = {-1, -1}},
	    .result_fd = -1};
	if (note.n)
		w->note = (struct str){memcpy(xmalloc(note.n), note.p, note.n), note.n};
	idmap_put(&k->by_id, id, w);
	TAILQ_INSERT_TAIL(&k->wards, w, entry);
	return w;
}

void ward_release(struct keeper *k, struct ward *w)
{
	if (w->state == WARD_RUNNING || w->state == WARD_EMPTYING)
		return; /* nobody forgets what lives */
	idmap_del(&k->by_id, w->id);
	TAILQ_REMOVE(&k->wards, w, entry);
	process_release(&k->hand, &w->process);
	process_close(&w->result_fd);
	free(w->result_path);
	free((gid_t *)w->rights.groups);
	for (int i = 0; i < w->n_extra; i++)
		process_close(&w->extra[i]);
	free((char *)w->note.p);
	w->note = STR_NULL;
	TAILQ_INSERT_TAIL(&k->dead, w, entry);
}

static void refuse(struct keeper *k, uint64_t id, int code, const char *why)
{
	struct keeper_not_started m = {id, code, str_of(why)};

	worker_tell(k, &(struct from_keeper){.not_started = &m}, NULL, 0);
}

static const char *const *tagged(struct keeper *k, const struct keeper_start *s)
{
	const char *const *own = s->program.env;
	size_t n = 0;
	const char **env;

	if (k->hand.cgroups.dir_fd >= 0)
		return own;
	while (own[n])
		n++;
	env = arena_alloc(&k->arena, (n + 2) * sizeof *env);
	memcpy(env, own, n * sizeof *env);
	env[n] = arena_printf(&k->arena, KEEPER_TAG "=%llu", (unsigned long long)s->id);
	env[n + 1] = NULL;
	return env;
}

static int make_spawn(
    struct keeper *k, const struct keeper_start *s, const int *fds, int n_fds, struct spawn *ret)
{
	int at = s->input == KEEPER_STDIN_FD ? 1 : 0;
	size_t n = s->program.n_limits;
	/* room for two that stand in for a cgroup */
	struct program_limit *limits = arena_alloc(&k->arena, (n + 2) * sizeof *limits);

	if (n_fds != at + (int)s->n_fds)
		return -1;
	*ret = (struct spawn){.program = s->program, .n_fds = 3 + (int)s->n_fds};
	ret->fds[0] = at ? fds[0] : s->input == KEEPER_STDIN_PIPE ? PROCESS_PIPE : PROCESS_NULL;
	for (uint32_t i = 0; i < s->n_fds; i++)
		ret->fds[3 + i] = fds[at + (int)i];
	if (n)
		memcpy(limits, s->program.limits, n * sizeof *limits);
	ret->program.limits = limits;
	ret->program.env = tagged(k, s);
	return 0;
}

static int64_t wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/*
 * Our ends of the pipes go to the worker. Copies stay here: for the next worker, or so that a task
 * which is asked to end after its worker's death may still write what it does, and not die of it.
 */
static void tell_started(struct keeper *k, struct ward *w, struct str warning)
{
	struct keeper_started m = {w->id, w->process.pid, warning};
	int fds[3] = {w->process.out[0], w->process.out[1], w->process.in};

	worker_tell(k, &(struct from_keeper){.started = &m}, fds, w->process.in >= 0 ? 3 : 2);
	process_close(&w->process.in);
}

static void keep_extra(struct ward *w, const struct spawn *spawn)
{
	for (int i = 3; w->kept && i < spawn->n_fds; i++)
		w->extra[w->n_extra++] = fcntl(spawn->fds[i], F_DUPFD_CLOEXEC, 3);
}

static void add_limit(struct program *p, int resource, int64_t value)
{
	struct program_limit *all = (struct program_limit *)p->limits;

	if (value > 0)
		all[p->n_limits++] = (struct program_limit){resource, (uint64_t)value};
}

/*
 * Most tasks have none. Where there is no tree of cgroup v2, all get a directory of version 1 if
 * there is any, because it can be emptied.
 */
static int take_limits(struct keeper *k, const struct run_limits *l, struct spawn *spawn,
    struct cgroup **ret_cgroup, struct limits_task *t, struct problem *p)
{
	const struct rights *r = &spawn->rights;
	struct cgroup *cgroup = NULL;

	if (k->limits.tree_kill && !l->memory && !l->cpu_milli && !l->pids)
		return 0;
	if (k->hand.cgroups.dir_fd >= 0 && !(cgroup = cgroup_take(&k->hand.cgroups)))
		return problem_set(p, ERR_IO, "its cgroup could not be made");
	*t = (struct limits_task){.v2_dir_fd = cgroup ? cgroup->dir_fd : -1,
	    .as_root = (r->change_user ? r->uid : geteuid()) == 0};
	if (limits_take(&k->limits, l, t, p) < 0) {
		if (cgroup)
			cgroup_put(&k->hand.cgroups, cgroup);
		return p->code;
	}
	if (t->spent && cgroup)
		cgroup->killed = true; /* whatever comes of it: it is not used again */
	*ret_cgroup = cgroup;
	spawn->n_joins = t->n_join;
	for (int i = 0; i < t->n_join; i++)
		spawn->joins[i] = t->join_fds[i];
	add_limit(&spawn->program, RLIMIT_AS, t->address_space);
	add_limit(&spawn->program, RLIMIT_NPROC, t->processes);
	return 1;
}

static void remember_result(struct ward *w, const struct keeper_start *s, const struct rights *r)
{
	gid_t *groups;

	w->sandboxed = s->sandboxed;
	if (!s->result_file)
		return;
	groups = xmalloc((r->n_groups + 1) * sizeof *groups);
	if (r->n_groups)
		memcpy(groups, r->groups, r->n_groups * sizeof *groups);
	w->result_path = xstrdup(s->result_file);
	w->rights = *r;
	w->rights.groups = groups;
}

static void begin(struct keeper *k, const struct keeper_start *s, struct spawn *spawn)
{
	char why[REASON_MAX_BYTES];
	struct limits_task limits = {0};
	struct problem p = {0};
	struct spawned failed;
	struct process process;
	struct cgroup *cgroup = NULL;
	struct ward *w;
	int limited, r;

	if (identity_find(k, s, &spawn->rights, why, sizeof why) < 0) {
		refuse(k, s->id, 126, why);
		return;
	}
	limited = take_limits(k, &s->limits, spawn, &cgroup, &limits, &p);
	if (limited < 0) {
		snprintf(why, sizeof why, "%.250s%s%.250s", p.what, p.hint[0] ? "; " : "", p.hint);
		refuse(k, s->id, limited == ERR_IO ? -1 : 126, why);
		return;
	}
	r = process_start(&k->hand, spawn, cgroup, &process, &failed, why, sizeof why);
	if (limited)
		limits_joined(&limits);
	if (r < 0) {
		if (limited)
			limits_put(&k->limits, &limits);
		refuse(k, s->id, spawn_exit_code(&failed), why);
		return;
	}
	w = ward_new(k, s->id, s->note, WARD_RUNNING);
	w->process = process;
	w->limited = limited > 0;
	w->limits = limits;
	remember_result(w, s, &spawn->rights);
	w->kept = s->kept && k->o.keep;
	w->term_to = (enum kill_to)s->term_to;
	w->started_ms = wall_ms();
	w->started_mono_ms = keeper_now_ms();
	keep_extra(w, spawn);
	k->n_live++;
	keeper_watch(k, process.pidfd, &w->leader, EPOLLIN);
	tell_started(k, w, p.what[0] ? str_of(p.what) : STR_NULL);
}

void ward_start(struct keeper *k, const struct keeper_start *s, const int *fds, int n_fds)
{
	struct spawn spawn;

	if (k->phase != PHASE_SERVING)
		return;
	if (ward_find(k, s->id) || make_spawn(k, s, fds, n_fds, &spawn) < 0)
		refuse(k, s->id, -1, "the keeper did not understand the order");
	else
		begin(k, s, &spawn);
}

void ward_hold(struct keeper *k, uint64_t id, struct str note)
{
	struct ward *w;

	if (!k->o.keep || ward_find(k, id))
		return;
	w = ward_new(k, id, note, WARD_HELD);
	w->kept = true;
}

void ward_signal(struct keeper *k, const struct keeper_signal *s)
{
	struct ward *w = ward_find(k, s->id);

	if (!w || w->state == WARD_OVER || w->state == WARD_HELD)
		return;
	/* the outer bubblewrap would take everybody with it */
	if (w->sandboxed && s->signal != SIGKILL && sandbox_signal(w->process.pid, s->signal))
		return;
	process_signal(&w->process, s->signal, (enum kill_to)s->to);
}

static void ward_tell_over(struct keeper *k, struct ward *w)
{
	struct keeper_over m = {.id = w->id,
	    .exit_code = w->process.exit_code,
	    .signal = w->process.signal,
	    .usage = w->process.usage};

	worker_tell(k, &(struct from_keeper){.over = &m}, &w->result_fd, w->result_fd >= 0);
	if (!w->kept)
		ward_release(k, w);
}

static void look_again(struct keeper *k, struct ward *w)
{
	int64_t soon = keeper_now_ms();

	if (w->process.cgroup) /* the kernel says when it has become empty */
		keeper_watch(k, w->process.cgroup->events_fd, &w->tree, EPOLLPRI);
	w->tree_watched = w->process.cgroup != NULL;
	soon += w->process.cgroup && !w->escape_looks ? LOOK_ANYWAY_MS : LOOK_AGAIN_MS;
	if (soon < k->look_ms)
		k->look_ms = soon;
}

/* The task ran in a process of the worker's that ended with it. */
void ward_lost(struct keeper *k, struct ward *w)
{
	ward_move(k, w, WARD_OVER);
	w->process.signal = SIGKILL;
	w->process.exit_code = -1;
}

void ward_leader_over(struct keeper *k, struct ward *w)
{
	if (w->state != WARD_RUNNING || !process_reap(&w->process))
		return;
	keeper_unwatch(k, w->process.pidfd);
	ward_move(k, w, WARD_EMPTYING);
	if (w->process.cgroup)
		ward_look(k, w);
	else
		look_again(k, w); /* by and by: it may be the search for orphans that found it */
}

/* Empty is not enough: somebody may have left it, whose parent was in it until now. */
static bool is_gone_with_cgroup(struct keeper *k, struct ward *w)
{
	if (!process_is_gone(&w->process))
		return false;
	return w->escape_looks++ >= ESCAPE_LOOKS_MAX || !orphans_end(k, w);
}

static bool is_empty(struct keeper *k, struct ward *w)
{
	if (w->process.cgroup)
		return is_gone_with_cgroup(k, w);
	if (orphans_end(k, w) || (w->limited && !limits_is_empty(&k->limits, &w->limits))) {
		w->clean_looks = 0;
		if (w->limited)
			limits_kill(&k->limits, &w->limits);
	} else {
		w->clean_looks++;
	}
	return w->clean_looks >= LOOKS_CLEAN;
}

/* Before the cgroup is given back: what was measured in it. */
static void settle(struct keeper *k, struct ward *w)
{
	if (w->tree_watched)
		keeper_unwatch(k, w->process.cgroup->events_fd);
	w->tree_watched = false;
	if (w->limited) {
		limits_read(&k->limits, &w->limits, &w->process.usage);
		if (w->limits.spent && w->process.cgroup)
			w->process.cgroup->killed = true;
		limits_put(&k->limits, &w->limits);
	}
	if (w->process.cgroup)
		cgroup_put(&k->hand.cgroups, w->process.cgroup);
	w->process.cgroup = NULL;
	if (w->result_path)
		w->result_fd = open_as_task(&w->rights, w->result_path, w->sandboxed);
}

void ward_look(struct keeper *k, struct ward *w)
{
	if (w->state != WARD_EMPTYING)
		return;
	if (!is_empty(k, w)) {
		look_again(k, w);
		return;
	}
	settle(k, w);
	ward_move(k, w, WARD_OVER);
	ward_tell_over(k, w);
}
