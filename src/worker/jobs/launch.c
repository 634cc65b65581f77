/* SPDX-License-Identifier: Apache-2.0 */
/* From a task and its settings to what the keeper is asked to start. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "base/world/memory_file.h"
#include "exec/rights.h"
#include "exec/sandbox/sandbox.h"
#include "model/limits.h"
#include "wire/json/settings.h"
#include "worker/internal.h"
#include "worker/jobs/needs.h"

#define CODE_REFUSED 126
#define NEEDS_ENV_MAX 16384

struct launch {
	struct worker *w;
	struct job *job;
	const struct link_run *run;
	struct arena arena;
	struct env env;
	struct command command;
	struct keeper_start start;
	struct program_limit limits[KEEPER_RLIMITS_MAX];
	int fds[KEEPER_FDS_MAX]; /* standard input first, if it is one of them */
	int n_fds;
	int own_fds; /* so many of them are to be closed when the keeper has them */
	bool is_action;
	int sandbox_at; /* which of its descriptors tells whether the command came to be */
	struct sandboxed sandboxed;
	struct buf note;
	char *why;
	size_t why_size;
};

static int refuse(struct launch *l, int code, const char *why)
{
	snprintf(l->why, l->why_size, "%s", why);
	return code;
}

/* In most tasks there are none: then the defaults serve all of them. */
static int read_settings(struct launch *l)
{
	const struct link_run *run = l->run;
	struct str own = json_member(run->body, "run");
	struct run_settings *s;
	struct problem p = {0};

	if (!run->run_settings.n && !own.n)
		return 0;
	s = arena_alloc(&l->job->memory, sizeof *s);
	if (settings_merge(run->run_settings, own, &l->job->memory, s, &p) < 0) {
		snprintf(l->why, l->why_size, "%s: %s", p.field, p.what);
		return CODE_REFUSED;
	}
	l->job->settings = s;
	l->job->checks = run_checks_of(s);
	return 0;
}

static void add_rlimit(struct launch *l, int resource, int64_t value)
{
	if (value >= 0)
		l->limits[l->start.program.n_limits++] =
		    (struct program_limit){resource, (uint64_t)value};
}

static void set_limits(struct launch *l)
{
	const struct run_limits *r = &l->job->settings->limits;

	l->start.limits = *r;
	add_rlimit(l, RLIMIT_NOFILE, r->open_files);
	add_rlimit(l, RLIMIT_FSIZE, r->file_size);
	add_rlimit(l, RLIMIT_CORE, r->core_size);
	add_rlimit(l, RLIMIT_STACK, r->stack_size);
	add_rlimit(l, RLIMIT_CPU, r->cpu_seconds);
	l->start.program.limits = l->limits;
}

/* Another user starts without any capabilities unless some are named; ourselves we leave as we are,
 * unless something is said. */
static int set_rights(struct launch *l)
{
	const struct run_settings *s = l->job->settings;

	l->start.user = s->user;
	l->start.group = s->group;
	l->start.groups = s->groups;
	l->start.n_groups = s->n_groups;
	l->start.new_privs = s->new_privs;
	l->start.has_capabilities = s->keep_capabilities || s->limit_capabilities || s->user.n;
	if (s->keep_capabilities) /* a wish, as every other */
		l->start.capabilities = CAPABILITIES_ALL;
	for (size_t i = 0; i < s->n_capabilities; i++) {
		int n = capability_number(s->capabilities[i].p);

		if (n < 0)
			return refuse(l, CODE_REFUSED, "a capability is not known here");
		l->start.capabilities |= UINT64_C(1) << n;
	}
	return 0;
}

static int death_signal(const struct run_settings *s)
{
	static const int numbers[N_DEATH_SIGNALS] = {
	    [DEATH_KILL] = SIGKILL, [DEATH_TERM] = SIGTERM, [DEATH_NONE] = 0};

	return numbers[s->death_signal];
}

static void set_settings(struct launch *l)
{
	const struct run_settings *s = l->job->settings;

	l->start.program.umask = s->umask == UMASK_UNSET ? 022 : (uint32_t)s->umask;
	l->start.program.set_nice = s->nice != NICE_UNSET;
	l->start.program.nice = s->nice;
	l->start.program.same_group = s->same_group;
	l->start.term_to = s->kill.to;
	/* a task that goes on without a worker must not die with the keeper's parent either */
	l->start.program.death_signal = death_signal(s);
	set_limits(l);
}

static int add_fd(struct launch *l, int fd, bool own)
{
	if (fd < 0)
		return refuse(l, SPAWN_NOT_MADE, "no memory file could be made");
	l->fds[l->n_fds++] = fd;
	if (own)
		l->own_fds |= 1 << (l->n_fds - 1);
	return 0;
}

static int add_stdin(struct launch *l, struct str content)
{
	l->start.input = KEEPER_STDIN_FD;
	return add_fd(l, memory_file("reeve-input", content), true);
}

static int add_extra(struct launch *l, int *slot, int fd)
{
	l->start.n_fds++;
	return add_fd(l, *slot = fd, false);
}

static int use_plugin(struct launch *l, const struct plugin_options *p)
{
	struct buf b = {0};
	int r;

	run_write(l->run, &l->w->ids, &b);
	l->start.program.argv = p->exec;
	r = add_stdin(l, buf_str(&b));
	buf_release(&b);
	return r ? r : add_extra(l, &l->job->result_fd, result_file());
}

/* The steps of an action are run by this program's own runner, as the leader of them all. */
static int use_action(struct launch *l, struct str action)
{
	const struct run_checks *checks = &l->job->checks;
	const char **argv = arena_zalloc(&l->arena, 4 * sizeof *argv);
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	int r;

	if (n <= 0)
		return refuse(l, SPAWN_NOT_MADE, "this program's own file is not found");
	path[n] = 0;
	argv[0] = arena_strdup(&l->arena, path);
	argv[1] = "action";
	if (checks->startup.kind != CHECK_NONE || checks->liveness.kind != CHECK_NONE)
		argv[2] = "--monitored";
	l->start.program.argv = argv;
	l->is_action = true;
	r = add_stdin(l, action);
	return r ? r : add_extra(l, &l->job->result_fd, result_file());
}

/* Inside a sandbox that path may lead elsewhere, or nowhere; a descriptor does not. */
static int bring_program(struct launch *l)
{
	char path[64];
	const char **argv = (const char **)l->start.program.argv;

	if (!l->is_action)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%u", 3 + l->start.n_fds);
	l->start.n_fds++;
	if (add_fd(l, open(argv[0], O_RDONLY | O_CLOEXEC), true))
		return refuse(l, SPAWN_NOT_MADE, "this program's own file cannot be opened");
	argv[0] = arena_strdup(&l->arena, path);
	return 0;
}

static int use_command(struct launch *l)
{
	struct str input = l->job->settings->input;

	if (!l->command.argv)
		return refuse(l, CODE_REFUSED, "the task has no command");
	l->start.program.argv = l->command.argv;
	if (l->run->is_streamed)
		l->start.input = KEEPER_STDIN_PIPE;
	return input.p && !l->run->is_streamed ? add_stdin(l, input) : 0;
}

static int add_status_file(struct launch *l)
{
	char path[64];

	if (!l->job->settings->status_file)
		return 0;
	snprintf(path, sizeof path, "/proc/self/fd/%u", 3 + l->start.n_fds);
	env_set(&l->env, STR("REEVE_STATUS_FILE"), str_of(path));
	return add_extra(l, &l->job->status_fd, memory_file("reeve-status", STR_NULL));
}

/* In memory, as the status file is. Short ones are in the environment as well. */
static int add_needs(struct launch *l)
{
	struct buf b = {0};
	char text[64];
	int r;

	if (!l->run->n_needs)
		return 0;
	needs_write(l->run, &l->w->ids, &b);
	snprintf(text, sizeof text, "/proc/self/fd/%u", 3 + l->start.n_fds);
	env_set(&l->env, STR("REEVE_NEEDS"), str_of(text));
	if (b.n <= NEEDS_ENV_MAX)
		env_set(&l->env, STR("REEVE_NEEDS_JSON"), buf_str(&b));
	snprintf(text, sizeof text, "%zu", l->run->needs_left_out);
	if (l->run->needs_left_out)
		env_set(&l->env, STR("REEVE_NEEDS_LEFT_OUT"), str_of(text));
	l->start.n_fds++;
	r = add_fd(l, memory_file("reeve-needs", buf_str(&b)), true);
	buf_release(&b);
	return r;
}

/* The file is opened from outside: what is seen inside must be the same one. */
static int set_result_file(struct launch *l)
{
	const struct run_settings *s = l->job->settings;
	struct str path = s->result_file;
	const char *cwd = l->command.cwd ? l->command.cwd : "/";

	if (!path.n)
		return 0;
	l->start.result_file =
	    path.p[0] == '/' ? path.p : arena_printf(&l->arena, "%s/" STR_FMT, cwd, STR_ARG(path));
	if (s->sandbox.on &&
	    !sandbox_is_shared(&s->sandbox, l->w->hidden, l->w->n_hidden, l->start.result_file))
		return refuse(l, CODE_REFUSED,
		    "result_file: in a sandbox it has to be in one of the writable paths, "
		    "without \"..\"");
	return 0;
}

static int filter_fd(struct launch *l, struct problem *p)
{
	struct worker *w = l->w;

	if (l->job->settings->sandbox.no_seccomp)
		return -1;
	if (w->filter_fd < 0 && sandbox_filter_make(&w->filter_fd, p) < 0)
		return -2;
	return w->filter_fd;
}

static int put_in_sandbox(struct launch *l)
{
	const struct run_settings *s = l->job->settings;
	const char **hidden = arena_alloc(&l->arena, (l->w->n_hidden + 1) * sizeof *hidden);
	struct problem p = {0};
	int r = bring_program(l);
	struct sandbox_spec spec = {.sandbox = &s->sandbox,
	    .argv = l->start.program.argv,
	    .envp = env_list(&l->env),
	    .cwd = l->command.cwd,
	    .hidden = hidden,
	    .n_hidden = hidden_for(l->w, s->user.n > 0, hidden),
	    .capabilities = s->capabilities,
	    .n_capabilities = s->n_capabilities,
	    .keep_capabilities = s->keep_capabilities,
	    .privileged = geteuid() == 0 && !s->user.n,
	    .first_fd = 3 + (int)l->start.n_fds,
	    .filter_fd = filter_fd(l, &p)};

	if (r)
		return r;
	if (spec.filter_fd == -2 || sandbox_prepare(&spec, &l->arena, &l->sandboxed, &p) < 0) {
		snprintf(l->why, l->why_size, "the sandbox: %s%s%s", p.what, p.hint[0] ? "; " : "",
		    p.hint);
		return CODE_REFUSED;
	}
	l->start.program.argv = l->sandboxed.argv;
	l->start.program.env = l->sandboxed.envp;
	l->start.program.cwd = NULL;
	l->start.sandboxed = true;
	/* inside, bubblewrap sees to it; without any it could not set the sandbox up */
	l->start.has_capabilities = false;
	l->start.capabilities = 0;
	l->start.new_privs = false;
	l->sandbox_at = (int)l->start.n_fds + SANDBOX_STATUS_AT;
	for (int i = 0; i < l->sandboxed.n_fds; i++) {
		l->start.n_fds++;
		add_fd(l, l->sandboxed.fds[i], false);
	}
	return 0;
}

static bool has_command(const struct run_checks *c)
{
	return c->startup.kind == CHECK_COMMAND || c->liveness.kind == CHECK_COMMAND ||
	       c->readiness.kind == CHECK_COMMAND;
}

/* A check runs as the task does: that is needed again, and not only by this worker. */
static void remember_surroundings(struct launch *l)
{
	struct job *j = l->job;
	const char *const *env = env_list(&l->env);
	const char **copy;
	size_t n = 0;

	if (!has_command(&j->checks))
		return;
	while (env[n])
		n++;
	copy = arena_zalloc(&j->memory, (n + 1) * sizeof *copy);
	for (size_t at = 0; at < n; at++)
		copy[at] = arena_strdup(&j->memory, env[at]);
	j->env = copy;
	j->cwd = l->command.cwd ? arena_strdup(&j->memory, l->command.cwd) : NULL;
}

/* What the task says of its environment is stronger than what follows from its user. */
static int describe_surroundings(struct launch *l, const struct plugin_options *p)
{
	const struct link_run *run = l->run;
	struct str user = l->job->settings->user;
	const char *wrong = NULL;

	identity_environment(user.n ? user : str_of(l->w->o->user), &l->env);
	if (command_parse(run->body, l->w->machine, &l->arena, &l->command, &wrong) < 0 ||
	    run_env(run, &l->w->ids, p ? p->env : NULL, l->w->facts.shard.p, l->w->lock_mark,
	        &l->env, &wrong) < 0)
		return refuse(l, CODE_REFUSED, wrong);
	given_environment(l->job, run, &l->env);
	l->start.program.cwd = l->command.cwd;
	return 0;
}

static int describe(struct launch *l, const struct plugin_options *p)
{
	struct str action = json_member(l->run->body, "action");
	int r;

	if ((r = read_settings(l)) || (r = set_rights(l)) ||
	    (r = given_take_ports(l->job, l->run->n_ports, l->why, l->why_size)) ||
	    (r = given_settle_checks(l->job, l->why, l->why_size)) ||
	    (r = describe_surroundings(l, p)))
		return r;
	set_settings(l);
	if ((r = p ? use_plugin(l, p) : action.n ? use_action(l, action) : use_command(l)))
		return r;
	if ((r = add_status_file(l)) || (r = add_needs(l)) || (r = set_result_file(l)))
		return r;
	remember_surroundings(l);
	l->start.program.env = env_list(&l->env);
	return l->job->settings->sandbox.on ? put_in_sandbox(l) : 0;
}

static void finish(struct launch *l)
{
	for (int i = 0; i < l->n_fds; i++)
		if (l->own_fds >> i & 1)
			close(l->fds[i]);
	if (l->sandboxed.n_fds)
		sandbox_started(&l->sandboxed);
	arena_release(&l->arena);
	buf_release(&l->note);
}

int launch_job(struct job *j, const struct link_run *r, const struct plugin_options *p,
    const struct kept_fns *fns, char *why, size_t size)
{
	struct launch l = {
	    .w = j->w, .job = j, .run = r, .sandboxed.status_fd = -1, .why = why, .why_size = size};
	int code;

	j->is_instance = r->instance.service.p != NULL;
	env_init_clean(&l.env, &l.arena);
	code = describe(&l, p);
	if (code == 0) {
		j->keeps = j->w->keeper.keeps;
		j->sandbox_fd = l.sandboxed.status_fd;
		j->sandbox_at = l.sandbox_at;
		/* whose input comes through us would take our death for its end */
		if (j->keeps && !r->is_streamed)
			l.start.note = note_write(j->w, j, r, &l.note);
		/* nobody could know it again by less: such a one ends with us */
		j->keeps = l.start.note.n > 0;
		l.start.kept = j->keeps;
		keeper_start(&j->w->keeper, &l.start, l.fds, l.n_fds, &j->kept, fns);
		if (j->keeps)
			job_record(j->w, j->task, j->token, j->kept.id);
	}
	finish(&l);
	return code;
}

static void set_env(struct env *e, const char *const *vars)
{
	struct str rest, name;

	for (; vars && *vars; vars++) {
		rest = str_of(*vars);
		if (str_next(&rest, '=', &name))
			env_set(e, name, rest);
	}
}

int launch_check(struct job *j, const struct run_check *c, struct kept *k,
    const struct kept_fns *fns, char *why, size_t size)
{
	struct launch l = {.w = j->w,
	    .job = j,
	    .command.cwd = j->cwd,
	    .sandboxed.status_fd = -1,
	    .why = why,
	    .why_size = size};
	const char **argv = arena_zalloc(&l.arena, (c->n_command + 1) * sizeof *argv);
	int r = set_rights(&l);

	for (size_t i = 0; i < c->n_command; i++)
		argv[i] = arena_str(&l.arena, c->command[i]).p;
	l.start.program.argv = argv;
	l.start.program.cwd = j->cwd;
	l.env.arena = &l.arena;
	set_env(&l.env, j->env);
	l.start.program.env = env_list(&l.env);
	set_settings(&l);
	if (r == 0 && j->settings->sandbox.on)
		r = put_in_sandbox(&l);
	if (r == 0)
		keeper_start(&j->w->keeper, &l.start, l.fds, l.n_fds, k, fns);
	finish(&l);
	process_close(&l.sandboxed.status_fd);
	return r;
}
