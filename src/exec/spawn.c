/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clone3 with CLONE_VM: we wait until the child has executed or given up, which a pipe tells us.
 * Not CLONE_VFORK, which waits for ever: a child whose cgroup is frozen never executes. The child
 * runs on a stack of its own and makes nothing but system calls.
 */
#include "exec/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"

#define STACK_BYTES ((size_t)64 << 10)
#define FD_FLOOR 16       /* descriptors on their way to 0…7 are first moved above this */
#define REAP_WAIT_MS 1000 /* for a child that we have killed, to be gone */

struct child {
	const struct spawn *s;
	char **paths; /* what to try, in order */
	pid_t parent;
	int tell; /* where it writes what went wrong */
	bool joins_itself;
};

struct told { /* through that pipe */
	enum spawn_step step;
	int error;
};

#define IN_CHILD __attribute__((no_sanitize("address", "undefined"), no_stack_protector, noinline))

static IN_CHILD void fail(struct child *c, enum spawn_step step)
{
	struct told told = {step, errno};

	if (write(c->tell, &told, sizeof told) < 0)
		_exit(126);
	_exit(127);
}

/* Sources may lie in the way of targets: lift them all first. */
static IN_CHILD void place_fds(struct child *c)
{
	int high[SPAWN_FDS_MAX];

	if ((c->tell = fcntl(c->tell, F_DUPFD_CLOEXEC, FD_FLOOR)) < 0)
		_exit(127);
	for (int i = 0; i < c->s->n_fds; i++)
		if ((high[i] = fcntl(c->s->fds[i], F_DUPFD, FD_FLOOR)) < 0)
			fail(c, SPAWN_SETUP);
	for (int i = 0; i < c->s->n_fds; i++)
		if (dup2(high[i], i) < 0)
			fail(c, SPAWN_SETUP);
	/* the rest closes itself at exec, the pipe among them: that tells of the success */
	if (syscall(SYS_close_range, (unsigned)c->s->n_fds, ~0u, CLOSE_RANGE_CLOEXEC) < 0)
		fail(c, SPAWN_SETUP);
}

static IN_CHILD void execute(struct child *c)
{
	int kept = 0;

	for (char **p = c->paths; *p; p++) {
		execve(*p, (char *const *)c->s->program.argv, (char *const *)c->s->program.env);
		if (errno == EACCES)
			kept =
			    EACCES; /* found, but not for us: say that if there is no better one */
		else if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	if (kept && (errno == ENOENT || errno == ENOTDIR))
		errno = kept;
	fail(c, SPAWN_EXEC);
}

static IN_CHILD void limit_files(struct child *c)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		fail(c, SPAWN_SETUP);
	r.rlim_cur = (rlim_t)c->s->open_files;
	if (setrlimit(RLIMIT_NOFILE, &r) < 0)
		fail(c, SPAWN_SETUP);
}

static IN_CHILD void set_limits(struct child *c)
{
	if (c->s->open_files > 0)
		limit_files(c);
	for (size_t i = 0; i < c->s->program.n_limits; i++) {
		struct rlimit r = {c->s->program.limits[i].value, c->s->program.limits[i].value};

		if (setrlimit((__rlimit_resource_t)c->s->program.limits[i].resource, &r) < 0)
			fail(c, SPAWN_LIMIT);
	}
	if (c->s->program.set_nice && setpriority(PRIO_PROCESS, 0, c->s->program.nice) < 0)
		fail(c, SPAWN_LIMIT);
}

/* Where clone3 did not put us there. */
static IN_CHILD void join_cgroup(struct child *c)
{
	int fd = openat(c->s->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "0", 1) < 0)
		fail(c, SPAWN_JOIN);
	close(fd);
}

static IN_CHILD void join_cgroups(struct child *c)
{
	if (c->joins_itself)
		join_cgroup(c);
	for (int i = 0; i < c->s->n_joins; i++)
		if (write(c->s->joins[i], "0", 1) < 0)
			fail(c, SPAWN_JOIN);
}

/* A change of user takes the wish for a death signal back, so it comes after that. */
static IN_CHILD void take_rights(struct child *c)
{
	if (rights_apply(&c->s->rights) < 0)
		fail(c, SPAWN_RIGHTS);
	if (c->s->program.death_signal && prctl(PR_SET_PDEATHSIG, c->s->program.death_signal) < 0)
		fail(c, SPAWN_SETUP);
	if (c->s->program.death_signal && getppid() != c->parent) /* the parent died already */
		_exit(127);
}

static IN_CHILD int child_main(void *arg)
{
	static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD, SIGUSR1,
	    SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ, SIGURG, SIGWINCH};
	struct child *c = arg;
	struct sigaction dfl = {.sa_handler = SIG_DFL};
	sigset_t none;

	/* handlers went with CLONE_CLEAR_SIGHAND or go with exec; ignored ones must be reset by
	 * hand */
	for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
		sigaction(ignored[i], &dfl, NULL);
	if (!c->s->program.same_group && setsid() < 0)
		fail(c, SPAWN_SETUP);
	join_cgroups(c);
	umask(c->s->program.umask);
	place_fds(c);
	/* another user sets them as himself: he cannot give himself more than he may have */
	if (!c->s->rights.change_user)
		set_limits(c);
	take_rights(c);
	if (c->s->rights.change_user)
		set_limits(c);
	if (chdir(c->s->program.cwd ? c->s->program.cwd : "/") < 0)
		fail(c, SPAWN_CHDIR);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execute(c);
	return 127;
}

#ifdef __x86_64__
/* glibc has no wrapper: with a stack of its own the child must not return into our frames. */
static __attribute__((no_sanitize("address", "undefined"), noinline)) long clone3_run(
    struct clone_args *args, int (*fn)(void *), void *arg)
{
	register int (*r_fn)(void *) __asm__("r12") = fn;
	register void *r_arg __asm__("r13") = arg;
	long ret;

	__asm__ volatile("syscall\n\t"
	                 "testq %%rax, %%rax\n\t"
	                 "jnz 1f\n\t"
	                 "xorl %%ebp, %%ebp\n\t"
	                 "movq %%r13, %%rdi\n\t"
	                 "callq *%%r12\n\t"
	                 "movl %%eax, %%edi\n\t"
	                 "movl %[exit], %%eax\n\t"
	                 "syscall\n\t"
	                 "hlt\n"
	                 "1:\n\t"
	                 : "=a"(ret)
	                 : "a"((long)SYS_clone3), "D"(args), "S"(sizeof *args), "r"(r_fn),
	                 "r"(r_arg), [exit] "i"(SYS_exit)
	                 : "rcx", "r11", "memory");
	return ret;
}
#endif

static char *stack; /* one is enough: we wait until the child is done with it */

static char *child_stack(void)
{
	if (!stack) {
		stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
		MUST(stack != MAP_FAILED);
	}
	return stack;
}

/* One that becomes another user shares no memory with us. */
static unsigned shared_with(const struct child *c)
{
	return c->s->rights.change_user ? 0 : CLONE_VM;
}

/* On other machines, and where a filter has taken clone3 away, as systemd's RestrictNamespaces
 * does: the child joins its cgroup itself, before it does anything else that lasts. */
static pid_t clone_plain(struct child *c, int *ret_pidfd)
{
	c->joins_itself = c->s->cgroup_fd >= 0;
	return clone(child_main, child_stack() + STACK_BYTES,
	    (int)shared_with(c) | CLONE_PIDFD | SIGCHLD, c, ret_pidfd);
}

static pid_t clone_child(struct child *c, int *ret_pidfd)
{
#ifdef __x86_64__
	struct clone_args args = {
	    .flags = shared_with(c) | CLONE_PIDFD | CLONE_CLEAR_SIGHAND,
	    .pidfd = (uintptr_t)ret_pidfd,
	    .exit_signal = SIGCHLD,
	    .stack = (uintptr_t)child_stack(),
	    .stack_size = STACK_BYTES,
	};
	long r;

	if (c->s->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)c->s->cgroup_fd;
	}
	r = clone3_run(&args, child_main, c);
	if (r >= 0)
		return (pid_t)r;
	errno = (int)-r;
	if (errno != ENOSYS)
		return -1;
#endif
	return clone_plain(c, ret_pidfd);
}

static const char *env_get(const char *const *envp, const char *name)
{
	size_t n = strlen(name);

	for (; *envp; envp++)
		if (strncmp(*envp, name, n) == 0 && (*envp)[n] == '=')
			return *envp + n + 1;
	return NULL;
}

static char **candidates(const struct spawn *s, struct arena *a)
{
	const char *path = env_get(s->program.env, "PATH");
	struct str rest = str_of(path ? path : "/usr/local/bin:/usr/bin:/bin"), dir;
	size_t n = 0, most = 2;
	char **paths;

	for (const char *p = rest.p; *p; p++)
		most += *p == ':';
	paths = arena_alloc(a, (most + 1) * sizeof *paths);
	if (strchr(s->program.argv[0], '/') || !*s->program.argv[0])
		paths[n++] = (char *)s->program.argv[0];
	else
		while (n < most && str_next(&rest, ':', &dir))
			paths[n++] = arena_printf(a, STR_FMT "%s%s", STR_ARG(dir),
			    dir.n ? "/" : "./", s->program.argv[0]);
	paths[n] = NULL;
	return paths;
}

static void thaw(int cgroup_fd)
{
	int fd = cgroup_fd < 0 ? -1 : openat(cgroup_fd, "cgroup.freeze", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "0", 1) < 0) /* then it is gone */
		errno = 0;
	close(fd);
}

/*
 * Not waited for for ever either: what cannot even be killed is left to whoever buries our
 * children, and keeps the stack that it was given.
 */
static void reap_failed(const struct spawn *s, int pidfd)
{
	struct pollfd pf = {pidfd, POLLIN, 0};
	siginfo_t info;
	int n;

	syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	thaw(s->cgroup_fd);
	do
		n = poll(&pf, 1, REAP_WAIT_MS);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG);
	else
		stack = NULL;
	close(pidfd);
}

/*
 * The child has executed when the pipe closes without a word. A child that does not get there in
 * time stands still: in a frozen cgroup, or stopped by somebody of the user that it has become.
 */
static struct told hear(int pipe_fd)
{
	struct pollfd pf = {pipe_fd, POLLIN, 0};
	struct told told = {SPAWN_WAIT, ETIMEDOUT};
	int n;

	do
		n = poll(&pf, 1, SPAWN_WAIT_MS);
	while (n < 0 && errno == EINTR);
	if (n > 0 && read(pipe_fd, &told, sizeof told) == 0)
		told.step = SPAWN_OK;
	return told;
}

/* No handler of ours may run in the child, on our memory; nor use errno while it does. */
static pid_t clone_and_hear(struct child *c, const int fds[2], int *ret_pidfd, struct told *ret)
{
	sigset_t all, before;
	pid_t pid;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	c->tell = fds[1];
	pid = clone_child(c, ret_pidfd);
	*ret = (struct told){SPAWN_CLONE, errno};
	close(fds[1]);
	if (pid > 0)
		*ret = hear(fds[0]);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

int spawn_process(const struct spawn *s, struct spawned *ret)
{
	struct arena a = {0};
	struct child c = {.s = s, .parent = getpid()};
	struct told told;
	int fds[2];

	*ret = (struct spawned){.pid = -1, .pidfd = -1};
	if (pipe2(fds, O_CLOEXEC) < 0) {
		*ret = (struct spawned){-1, -1, SPAWN_CLONE, errno};
		return ERR_IO;
	}
	c.paths = candidates(s, &a);
	ret->pid = clone_and_hear(&c, fds, &ret->pidfd, &told);
	close(fds[0]);
	if (ret->pid > 0 && told.step != SPAWN_OK)
		reap_failed(s, ret->pidfd);
	arena_release(&a); /* not before: it is the child's as well */
	if (told.step == SPAWN_OK)
		return 0;
	*ret = (struct spawned){-1, -1, told.step, told.error};
	return ERR_IO;
}

int spawn_exit_code(const struct spawned *s)
{
	if (s->step == SPAWN_CLONE || s->step == SPAWN_JOIN)
		return SPAWN_NOT_MADE;
	return s->step == SPAWN_EXEC && s->error == ENOENT ? 127 : 126;
}

/* A program with a relative path may be there, but in another directory. */
static void explain_exec(const struct spawn *s, int error, char *out, size_t size)
{
	const char *program = s->program.argv[0], *slash = strchr(program, '/');

	if (error == ENOENT && !slash)
		snprintf(out, size, "exec %s: not found in PATH", program);
	else if (error == ENOENT && slash != program)
		snprintf(out, size, "exec %s in %s: %s", program,
		    s->program.cwd ? s->program.cwd : "/", strerror(error));
	else
		snprintf(out, size, "exec %s: %s", program, strerror(error));
}

void spawn_explain(const struct spawn *s, const struct spawned *failed, char *out, size_t size)
{
	const char *what = strerror(failed->error);

	switch (failed->step) {
	case SPAWN_CHDIR:
		snprintf(out, size, "working directory %s: %s",
		    s->program.cwd ? s->program.cwd : "/", what);
		break;
	case SPAWN_EXEC: explain_exec(s, failed->error, out, size); break;
	case SPAWN_LIMIT: snprintf(out, size, "its limits or nice value: %s", what); break;
	case SPAWN_RIGHTS: snprintf(out, size, "its user or capabilities: %s", what); break;
	case SPAWN_WAIT:
		snprintf(out, size,
		    "%s could not be started: its process did not get to run it within %d s, and "
		    "was killed; something keeps it from running, as a frozen cgroup does",
		    s->program.argv[0], SPAWN_WAIT_MS / 1000);
		break;
	case SPAWN_JOIN: snprintf(out, size, "its cgroup: %s", what); break;
	default:
		snprintf(
		    out, size, "a process for %s could not be made: %s", s->program.argv[0], what);
	}
}
