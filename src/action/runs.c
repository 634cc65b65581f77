/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each run leads a session and group of its own (exec/spawn.h sees to that), so it is ended with
 * its descendants. Its group is signalled only while the leader is unreaped: then the number
 * cannot be another's. We are a subreaper: whoever leaves his group still comes back to us.
 */
#include "action/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "exec/env.h"
#include "exec/spawn.h"

#define STATUS_VARIABLE "REEVE_STATUS_FILE"
#define FD_PATH "/proc/self/fd/"
#define STATUS_AT 3
#define SWEEP_MS 1000
#define SWEEP_POLL_MS 2

struct run {
	struct run *next;
	struct node *node;
	pid_t pid;
	int64_t due_ms; /* the next step of its end; -1: it is not being ended */
	bool killed;
};

/* A descriptor of ours that programs write to by its name: they have to have it, too. */
static int find_status_fd(void)
{
	const char *path = getenv(STATUS_VARIABLE);
	int64_t fd;

	if (path && strncmp(path, FD_PATH, strlen(FD_PATH)) == 0 &&
	    str_to_i64(str_of(path + strlen(FD_PATH)), 3, INT32_MAX, &fd) &&
	    fcntl((int)fd, F_SETFD, FD_CLOEXEC) == 0)
		return (int)fd;
	return -1;
}

void runs_init(struct runs *r, struct tree *t)
{
	*r = (struct runs){.tree = t, .umask = umask(077), .status_fd = find_status_fd()};
	umask(r->umask);
	r->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	MUST(r->null_fd >= 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1L);
}

const char *run_end_text(int code, int status, char *out, size_t size)
{
	const char *name;

	if (code == CLD_EXITED) {
		snprintf(out, size, "Exited with status %d", status);
		return out;
	}
	name = sigabbrev_np(status);
	if (name)
		snprintf(out, size, "Exited with signal %d (SIG%s)", status, name);
	else
		snprintf(out, size, "Exited with signal %d", status);
	return out;
}

/* Ours, which is the task's, and what the action adds. */
static const char *const *environment(
    const struct runs *r, const struct action_run *a, struct arena *arena)
{
	struct env env = {.arena = arena};

	for (char **e = environ; *e; e++) {
		const char *is = strchr(*e, '=');

		if (is)
			env_set(&env, (struct str){*e, (size_t)(is - *e)}, str_of(is + 1));
	}
	if (r->status_fd >= 0)
		env_set(&env, STR(STATUS_VARIABLE), STR(FD_PATH "3"));
	for (size_t i = 0; i < a->n_env; i++)
		env_set(&env, a->env[i].name, a->env[i].value);
	return env_list(&env);
}

static void add(struct runs *r, struct node *leaf, const struct spawned *s)
{
	struct run *run = xcalloc(1, sizeof *run);

	close(s->pidfd); /* the number is safe: nobody but us reaps it */
	*run = (struct run){.next = r->first, .node = leaf, .pid = s->pid, .due_ms = -1};
	r->first = run;
	leaf->hand = run;
}

void runs_start(struct runs *r, struct node *leaf)
{
	const struct action_run *a = &leaf->action->run;
	struct arena arena = {0};
	struct spawn s = {.program = {.argv = a->argv,
	                      .env = environment(r, a, &arena),
	                      .cwd = a->dir ? a->dir : ".",
	                      .umask = r->umask,
	                      .death_signal = SIGKILL},
	    .fds = {r->null_fd, STDOUT_FILENO, STDERR_FILENO, [STATUS_AT] = r->status_fd},
	    .n_fds = r->status_fd >= 0 ? STATUS_AT + 1 : STATUS_AT,
	    .cgroup_fd = -1};
	struct outcome o = {.kind = OUTCOME_FAILED};
	struct spawned spawned;
	char why[512];

	if (spawn_process(&s, &spawned) == 0) {
		add(r, leaf, &spawned);
	} else {
		spawn_explain(&s, &spawned, why, sizeof why);
		o.exit_code = spawn_exit_code(&spawned);
		o.text = why;
		if (o.exit_code < 0)
			o.exit_code = 1;
		tree_leaf_over(r->tree, leaf, o);
	}
	arena_release(&arena);
}

void runs_end(struct runs *r, struct node *leaf, int64_t now_ms)
{
	struct run *run = leaf->hand;

	if (!run || run->due_ms >= 0)
		return;
	kill(-run->pid, SIGTERM);
	kill(-run->pid, SIGCONT); /* a stopped one would never hear it */
	run->due_ms = now_ms + RUN_KILL_MS;
}

static void drop(struct runs *r, struct run *run)
{
	struct run **at = &r->first;

	while (*at != run)
		at = &(*at)->next;
	*at = run->next;
	run->node->hand = NULL;
	free(run);
}

static void over(struct runs *r, struct run *run, const siginfo_t *how)
{
	bool exited = how->si_code == CLD_EXITED;
	struct outcome o = {.kind = OUTCOME_FAILED};
	struct node *node = run->node;
	char text[64];

	o.text = run_end_text(how->si_code, how->si_status, text, sizeof text);
	o.exit_code = exited ? how->si_status : 128 + how->si_status;
	if (exited && how->si_status == 0)
		o.kind = OUTCOME_GOOD;
	drop(r, run);
	tree_leaf_over(r->tree, node, o);
}

static struct run *run_of(const struct runs *r, pid_t pid)
{
	struct run *run = r->first;

	while (run && run->pid != pid)
		run = run->next;
	return run;
}

/* One that was told to end leaves nothing. */
static bool is_daemon(const struct runs *r, const struct run *run, const siginfo_t *how)
{
	return how->si_code == CLD_EXITED && how->si_status == 0 && run->due_ms < 0 &&
	       tree_may_detach(r->tree, run->node);
}

void runs_reap(struct runs *r)
{
	siginfo_t how = {0};

	while (waitid(P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT) == 0 && how.si_pid) {
		struct run *run = run_of(r, how.si_pid);

		if (run && is_daemon(r, run, &how))
			r->has_daemons = true;
		else if (run) /* what it left in its group goes with it */
			kill(-run->pid, SIGKILL);
		waitid(P_PID, (id_t)how.si_pid, &how, WEXITED | WNOHANG);
		if (run)
			over(r, run, &how);
		how.si_pid = 0;
	}
}

static void next_step(struct runs *r, struct run *run, int64_t now_ms)
{
	static const char text[] = "process did not exit";
	const struct tree_hands *hands = &r->tree->hands;
	struct node *node = run->node;

	if (!run->killed) {
		kill(-run->pid, SIGKILL);
		run->killed = true;
		run->due_ms = now_ms + RUN_GIVE_UP_MS;
		return;
	}
	drop(r, run);
	hands->say(hands->arg, node, true, text); /* the outcome will only say that it was ended */
	tree_leaf_over(r->tree, node, (struct outcome){OUTCOME_FAILED, 1, text, NULL});
}

void runs_wake(struct runs *r, int64_t now_ms)
{
	struct run *next;

	for (struct run *run = r->first; run; run = next) {
		next = run->next;
		if (run->due_ms >= 0 && run->due_ms <= now_ms)
			next_step(r, run, now_ms);
	}
}

int64_t runs_due_ms(const struct runs *r)
{
	int64_t due = -1;

	for (const struct run *run = r->first; run; run = run->next)
		if (run->due_ms >= 0 && (due < 0 || run->due_ms < due))
			due = run->due_ms;
	return due;
}

/* The parent as /proc tells it, or -1: the number behind the name, which may hold anything. */
static pid_t parent_of(const char *pid)
{
	char path[64], stat[512], *at;
	ssize_t n = -1;
	int fd, parent = -1;

	snprintf(path, sizeof path, "/proc/%.16s/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, stat, sizeof stat - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	stat[n] = 0;
	at = strrchr(stat, ')');
	return at && sscanf(at + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

/* Our children only: theirs become ours when they are gone. */
static void signal_children(int signal)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int64_t pid;

	while (proc && (e = readdir(proc)))
		if (str_to_i64(str_of(e->d_name), 1, INT32_MAX, &pid) &&
		    parent_of(e->d_name) == getpid())
			kill((pid_t)pid, signal);
	if (proc)
		closedir(proc);
}

/* False: there is no child any more. */
static bool bury_children(void)
{
	siginfo_t how = {0};

	while (waitid(P_ALL, 0, &how, WEXITED | WNOHANG) == 0 && how.si_pid)
		how.si_pid = 0;
	return waitid(P_ALL, 0, &how, WEXITED | WNOHANG | WNOWAIT) == 0;
}

void runs_end_daemons(struct runs *r)
{
	int64_t until = clock_mono_ms() + RUN_KILL_MS;

	if (!r->has_daemons)
		return;
	signal_children(SIGTERM);
	signal_children(SIGCONT);
	while (bury_children() && clock_mono_ms() < until)
		usleep(SWEEP_POLL_MS * 1000);
}

void runs_sweep(struct runs *r)
{
	int64_t until = clock_mono_ms() + SWEEP_MS;

	while (r->first)
		drop(r, r->first);
	close(r->null_fd);
	while (clock_mono_ms() < until) {
		if (!bury_children())
			return;
		signal_children(SIGKILL);
		usleep(SWEEP_POLL_MS * 1000);
	}
}
