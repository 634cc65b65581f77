/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define OPEN_FILES 65536
/*
 * Can a process really be born there? The attempt to execute what does not exist must fail at
 * the exec; where the kernel kills it before, it seems to have succeeded.
 */
static int probe_cgroups(struct hand *h, struct problem *p)
{
	static const char *const argv[] = {"/nonexistent/probe", NULL}, *const envp[] = {NULL};
	struct cgroup *c = cgroup_take(&h->cgroups);
	struct spawn s = {.program = {.argv = argv, .env = envp}, .cgroup_fd = c ? c->dir_fd : -1};
	struct spawned got = {.error = errno};
	int r = 0;

	if (!c || spawn_process(&s, &got) == 0 || got.step != SPAWN_EXEC)
		r = problem_set(p, ERR_IO, "processes cannot be started in %s: %s", h->cgroups.path,
		    got.pid > 0 ? "they are killed at once" : strerror(got.error));
	if (got.pid > 0)
		waitid(P_PIDFD, (id_t)got.pidfd, &(siginfo_t){0}, WEXITED);
	process_close(&got.pidfd);
	if (c)
		cgroup_put(&h->cgroups, c);
	if (r < 0)
		cgroups_close(&h->cgroups);
	return r;
}

/* Three descriptors per task add up; but programs that use select() must not see more than usual.
 */
static void raise_file_limit(struct hand *h)
{
	struct rlimit r;

	h->open_files = 0;
	if (getrlimit(RLIMIT_NOFILE, &r) < 0 || r.rlim_cur >= OPEN_FILES ||
	    r.rlim_cur >= r.rlim_max)
		return;
	h->open_files = (int)r.rlim_cur;
	r.rlim_cur = r.rlim_max < OPEN_FILES ? r.rlim_max : OPEN_FILES;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		h->open_files = 0;
}

int hand_init(struct hand *h, const char *lock, bool want_cgroups, struct problem *p)
{
	raise_file_limit(h);
	h->cgroups = (struct cgroups){.dir_fd = -1};
	h->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (h->null_fd < 0)
		return problem_set(p, ERR_IO, "/dev/null: %s", strerror(errno));
	if (!want_cgroups)
		return 0;
	if (cgroups_open(&h->cgroups, lock, p) < 0)
		return ERR_IO;
	return probe_cgroups(h, p);
}

void hand_release(struct hand *h)
{
	struct rlimit r;

	if (h->open_files > 0 && getrlimit(RLIMIT_NOFILE, &r) == 0) {
		r.rlim_cur = (rlim_t)h->open_files;
		setrlimit(RLIMIT_NOFILE, &r);
	}
	h->open_files = 0;
	cgroups_close(&h->cgroups);
	process_close(&h->null_fd);
}

void process_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Ours is close-on-exec and does not block; the child's end is an ordinary one. */
static int make_pipe(int *ret_ours, int *ret_theirs, bool we_read)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	*ret_ours = fds[we_read ? 0 : 1];
	*ret_theirs = fds[we_read ? 1 : 0];
	fcntl(*ret_ours, F_SETFL, O_NONBLOCK | (we_read ? O_RDONLY : O_WRONLY));
	return 0;
}

/* The child's ends, in place of its first three descriptors. */
static int open_pipes(struct hand *h, struct process *p, int *fds)
{
	if (!p->cgroup && h->cgroups.dir_fd >= 0 && !(p->cgroup = cgroup_take(&h->cgroups)))
		return -1;
	if (fds[0] == PROCESS_NULL)
		fds[0] = h->null_fd;
	else if (fds[0] == PROCESS_PIPE && make_pipe(&p->in, &fds[0], false) < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (make_pipe(&p->out[i], &fds[i + 1], true) < 0)
			return -1;
	return 0;
}

static void close_theirs(bool piped, int *fds)
{
	if (piped)
		process_close(&fds[0]);
	process_close(&fds[1]);
	process_close(&fds[2]);
}

int process_start(struct hand *h, struct spawn *s, struct cgroup *cgroup, struct process *ret,
    struct spawned *ret_failed, char *why, size_t why_size)
{
	bool piped = s->fds[0] == PROCESS_PIPE;
	int r;

	*ret = (struct process){.pid = -1,
	    .pidfd = -1,
	    .in = -1,
	    .out = {-1, -1},
	    .cgroup = cgroup,
	    .exit_code = -1,
	    .leads_group = !s->program.same_group};
	*ret_failed = (struct spawned){-1, -1, SPAWN_CLONE, 0};
	s->fds[1] = s->fds[2] = -1;
	if (s->n_fds < 3)
		s->n_fds = 3;
	s->open_files = h->open_files;
	if (open_pipes(h, ret, s->fds) < 0) {
		ret_failed->error = errno;
		snprintf(why, why_size, "pipes or cgroup: %s", strerror(errno));
		r = ERR_IO;
	} else {
		s->cgroup_fd = ret->cgroup ? ret->cgroup->dir_fd : -1;
		r = spawn_process(s, ret_failed);
		if (r < 0)
			spawn_explain(s, ret_failed, why, why_size);
	}
	close_theirs(piped, s->fds);
	if (r < 0) {
		process_release(h, ret);
		return r;
	}
	ret->pid = ret_failed->pid;
	ret->pidfd = ret_failed->pidfd;
	return 0;
}

static void signal_leader(const struct process *p, int signal)
{
	syscall(SYS_pidfd_send_signal, p->pidfd, signal, NULL, 0);
}

void process_signal(struct process *p, int signal, enum kill_to to)
{
	if (p->pid <= 0)
		return;
	if (to == KILL_TO_CGROUP && p->cgroup) {
		if (signal == SIGKILL)
			cgroup_kill(p->cgroup);
		else
			cgroup_signal(p->cgroup, signal);
		return;
	}
	if (p->reaped) /* from then on others may bear its number */
		return;
	if (to == KILL_TO_CHILD || !p->leads_group)
		signal_leader(p, signal);
	else
		kill(-p->pid, signal);
}

void process_kill(struct process *p)
{
	process_signal(p, SIGKILL, KILL_TO_CGROUP);
	process_signal(p, SIGKILL, KILL_TO_GROUP);
}

/* The raw call: glibc's has no room for what the process has used. */
static bool wait_leader(struct process *p, int options, siginfo_t *ret_info, struct rusage *used)
{
	long r;

	ret_info->si_pid = 0;
	do {
		r = syscall(
		    SYS_waitid, P_PIDFD, p->pidfd, ret_info, WEXITED | WNOHANG | options, used);
	} while (r < 0 && errno == EINTR);
	return r == 0 && ret_info->si_pid != 0;
}

static void take_usage(struct process *p, const struct rusage *used)
{
	p->usage.user_us = used->ru_utime.tv_sec * 1000000 + used->ru_utime.tv_usec;
	p->usage.system_us = used->ru_stime.tv_sec * 1000000 + used->ru_stime.tv_usec;
	p->usage.peak_memory = (int64_t)used->ru_maxrss * 1024;
	p->usage.known = true;
}

bool process_reap(struct process *p)
{
	struct rusage used = {0};
	siginfo_t info;

	if (p->reaped)
		return true;
	if (!p->cgroup && p->leads_group) { /* ours until the leader is reaped */
		if (!wait_leader(p, WNOWAIT, &info, NULL))
			return false;
		kill(-p->pid, SIGKILL);
	}
	if (!wait_leader(p, 0, &info, &used))
		return false;
	p->reaped = true;
	take_usage(p, &used);
	if (info.si_code == CLD_EXITED)
		p->exit_code = info.si_status;
	else
		p->signal = info.si_status;
	if (p->cgroup && !cgroup_is_empty(p->cgroup))
		cgroup_kill(p->cgroup);
	return true;
}

bool process_is_gone(const struct process *p)
{
	return p->reaped && (!p->cgroup || cgroup_is_empty(p->cgroup));
}

void process_release(struct hand *h, struct process *p)
{
	siginfo_t info;

	if (p->pid > 0 && !p->reaped) { /* only when giving up on it */
		process_kill(p);
		waitid(P_PIDFD, (id_t)p->pidfd, &info, WEXITED);
	}
	process_close(&p->pidfd);
	process_close(&p->in);
	process_close(&p->out[0]);
	process_close(&p->out[1]);
	if (p->cgroup)
		cgroup_put(&h->cgroups, p->cgroup);
	p->cgroup = NULL;
	p->pid = -1;
}
