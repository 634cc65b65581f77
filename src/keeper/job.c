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

const struct moves job_moves = {
    "job",
    {[JOB_RUNNING] = "running",
        [JOB_EMPTYING] = "emptying",
        [JOB_OVER] = "over",
        [JOB_HELD] = "held"},
    {
        {JOB_RUNNING, JOB_EMPTYING, "its leader is reaped"},
        {JOB_EMPTYING, JOB_OVER, "nothing is left of its tree"},
        {JOB_HELD, JOB_OVER, "its worker is gone, and the plugin's process with it"},
    },
};

void job_move(struct keeper *k, struct job *j, enum job_state to)
{
	if (j->state == JOB_EMPTYING)
		k->n_live--;
	j->state = moves_make(&job_moves, j->state, to);
}

struct job *job_find(const struct keeper *k, uint64_t id)
{
	return idmap_get(&k->by_id, id);
}

static struct job *job_new(struct keeper *k, uint64_t id, struct str note, enum job_state first)
{
	struct job *j = xcalloc(1, sizeof *j);

	j->id = id;
	j->state = first;
	j->leader.kind = WATCH_LEADER;
	j->tree.kind = WATCH_TREE;
	j->process = (struct process){.pid = -1, .pidfd = -1, .in = -1, .out = {-1, -1}};
	j->result_fd = -1;
	if (note.n)
		j->note = (struct str){memcpy(xmalloc(note.n), note.p, note.n), note.n};
	idmap_put(&k->by_id, id, j);
	TAILQ_INSERT_TAIL(&k->jobs, j, entry);
	return j;
}

void job_release(struct keeper *k, struct job *j)
{
	if (j->state == JOB_RUNNING || j->state == JOB_EMPTYING)
		return; /* nobody forgets what lives */
	idmap_del(&k->by_id, j->id);
	TAILQ_REMOVE(&k->jobs, j, entry);
	process_release(&k->hand, &j->process);
	process_close(&j->result_fd);
	free(j->result_path);
	free((gid_t *)j->rights.groups);
	for (int i = 0; i < j->n_extra; i++)
		process_close(&j->extra[i]);
	free((char *)j->note.p);
	j->note = STR_NULL;
	TAILQ_INSERT_TAIL(&k->dead, j, entry);
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
static void tell_started(struct keeper *k, struct job *j, struct str warning)
{
	struct keeper_started m = {j->id, j->process.pid, warning};
	int fds[3] = {j->process.out[0], j->process.out[1], j->process.in};

	worker_tell(k, &(struct from_keeper){.started = &m}, fds, j->process.in >= 0 ? 3 : 2);
	process_close(&j->process.in);
}

static void keep_extra(struct job *j, const struct spawn *spawn)
{
	for (int i = 3; j->kept && i < spawn->n_fds; i++)
		j->extra[j->n_extra++] = fcntl(spawn->fds[i], F_DUPFD_CLOEXEC, 3);
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

static void remember_result(struct job *j, const struct keeper_start *s, const struct rights *r)
{
	gid_t *groups;

	j->sandboxed = s->sandboxed;
	if (!s->result_file)
		return;
	groups = xmalloc((r->n_groups + 1) * sizeof *groups);
	if (r->n_groups)
		memcpy(groups, r->groups, r->n_groups * sizeof *groups);
	j->result_path = xstrdup(s->result_file);
	j->rights = *r;
	j->rights.groups = groups;
}

static void begin(struct keeper *k, const struct keeper_start *s, struct spawn *spawn)
{
	char why[REASON_MAX_BYTES];
	struct limits_task limits = {0};
	struct problem p = {0};
	struct spawned failed;
	struct process process;
	struct cgroup *cgroup = NULL;
	struct job *j;
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
	j = job_new(k, s->id, s->note, JOB_RUNNING);
	j->process = process;
	j->limited = limited > 0;
	j->limits = limits;
	remember_result(j, s, &spawn->rights);
	j->kept = s->kept && k->o.keep;
	j->term_to = (enum kill_to)s->term_to;
	j->started_ms = wall_ms();
	j->started_mono_ms = keeper_now_ms();
	keep_extra(j, spawn);
	k->n_live++;
	keeper_watch(k, process.pidfd, &j->leader, EPOLLIN);
	tell_started(k, j, p.what[0] ? str_of(p.what) : STR_NULL);
}

void job_start(struct keeper *k, const struct keeper_start *s, const int *fds, int n_fds)
{
	struct spawn spawn;

	if (k->phase != PHASE_SERVING)
		return;
	if (job_find(k, s->id) || make_spawn(k, s, fds, n_fds, &spawn) < 0)
		refuse(k, s->id, -1, "the keeper did not understand the order");
	else
		begin(k, s, &spawn);
}

void job_hold(struct keeper *k, uint64_t id, struct str note)
{
	struct job *j;

	if (!k->o.keep || job_find(k, id))
		return;
	j = job_new(k, id, note, JOB_HELD);
	j->kept = true;
}

void job_signal(struct keeper *k, const struct keeper_signal *s)
{
	struct job *j = job_find(k, s->id);

	if (!j || j->state == JOB_OVER || j->state == JOB_HELD)
		return;
	/* the outer bubblewrap would take everybody with it */
	if (j->sandboxed && s->signal != SIGKILL && sandbox_signal(j->process.pid, s->signal))
		return;
	process_signal(&j->process, s->signal, (enum kill_to)s->to);
}

void job_tell_over(struct keeper *k, struct job *j)
{
	struct keeper_over m = {.id = j->id,
	    .exit_code = j->process.exit_code,
	    .signal = j->process.signal,
	    .usage = j->process.usage};

	worker_tell(k, &(struct from_keeper){.over = &m}, &j->result_fd, j->result_fd >= 0);
	if (!j->kept)
		job_release(k, j);
}

static void look_again(struct keeper *k, struct job *j)
{
	int64_t soon = keeper_now_ms();

	if (j->process.cgroup) /* the kernel says when it has become empty */
		keeper_watch(k, j->process.cgroup->events_fd, &j->tree, EPOLLPRI);
	j->tree_watched = j->process.cgroup != NULL;
	soon += j->process.cgroup && !j->escape_looks ? LOOK_ANYWAY_MS : LOOK_AGAIN_MS;
	if (soon < k->look_ms)
		k->look_ms = soon;
}

/* It ran in a process of the worker's that ended with it. */
void job_lost(struct keeper *k, struct job *j)
{
	job_move(k, j, JOB_OVER);
	j->process.signal = SIGKILL;
	j->process.exit_code = -1;
}

void job_leader_over(struct keeper *k, struct job *j)
{
	if (j->state != JOB_RUNNING || !process_reap(&j->process))
		return;
	keeper_unwatch(k, j->process.pidfd);
	job_move(k, j, JOB_EMPTYING);
	if (j->process.cgroup)
		job_look(k, j);
	else
		look_again(k, j); /* by and by: it may be the search for orphans that found it */
}

/* Empty is not enough: somebody may have left it, whose parent was in it until now. */
static bool is_gone_with_cgroup(struct keeper *k, struct job *j)
{
	if (!process_is_gone(&j->process))
		return false;
	return j->escape_looks++ >= ESCAPE_LOOKS_MAX || !orphans_end(k, j);
}

static bool is_empty(struct keeper *k, struct job *j)
{
	if (j->process.cgroup)
		return is_gone_with_cgroup(k, j);
	if (orphans_end(k, j) || (j->limited && !limits_is_empty(&k->limits, &j->limits))) {
		j->clean_looks = 0;
		if (j->limited)
			limits_kill(&k->limits, &j->limits);
	} else {
		j->clean_looks++;
	}
	return j->clean_looks >= LOOKS_CLEAN;
}

/* Before the cgroup is given back: what was measured in it. */
static void settle(struct keeper *k, struct job *j)
{
	if (j->tree_watched)
		keeper_unwatch(k, j->process.cgroup->events_fd);
	j->tree_watched = false;
	if (j->limited) {
		limits_read(&k->limits, &j->limits, &j->process.usage);
		if (j->limits.spent && j->process.cgroup)
			j->process.cgroup->killed = true;
		limits_put(&k->limits, &j->limits);
	}
	if (j->process.cgroup)
		cgroup_put(&k->hand.cgroups, j->process.cgroup);
	j->process.cgroup = NULL;
	if (j->result_path)
		j->result_fd = open_as_task(&j->rights, j->result_path, j->sandboxed);
}

void job_look(struct keeper *k, struct job *j)
{
	if (j->state != JOB_EMPTYING)
		return;
	if (!is_empty(k, j)) {
		look_again(k, j);
		return;
	}
	settle(k, j);
	job_move(k, j, JOB_OVER);
	job_tell_over(k, j);
}
