/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the one system call that it is told to; its exit code is the errno, 0 when it was let. */
#include <errno.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static long clone_user(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

/* The process's parent must have the rights that it has: so a child of ours. */
static long trace_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, 0, 0) < 0 ? errno : 0);
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

static long call(const char *name)
{
	if (!strcmp(name, "mount"))
		return mount("none", "/tmp", "tmpfs", 0, "");
	if (!strcmp(name, "ptrace"))
		return trace_child();
	if (!strcmp(name, "unshare"))
		return unshare(CLONE_NEWUSER);
	if (!strcmp(name, "clone"))
		return clone_user();
	if (!strcmp(name, "clone3"))
		return syscall(SYS_clone3, NULL, 0);
	if (!strcmp(name, "keyctl"))
		return syscall(SYS_keyctl, 0, -3, 0); /* the id of our session's keyring */
	if (!strcmp(name, "io_uring"))
		return syscall(SYS_io_uring_setup, 0, NULL);
	if (!strcmp(name, "tiocsti"))
		return ioctl(0, TIOCSTI | 0x100000000ul, "x"); /* only 32 bits of it count */
	/* by number, as older headers do not have them */
	if (!strcmp(name, "open_tree_attr"))
		return syscall(467, -1, "", 0, NULL, 0);
	if (!strcmp(name, "unknown"))
		return syscall(470, NULL, 0, 0, 0);
	if (!strcmp(name, "adjtimex"))
		return syscall(SYS_adjtimex, NULL);
	if (!strcmp(name, "clock_adjtime"))
		return syscall(SYS_clock_adjtime, 0, NULL);
#ifdef __x86_64__
	if (!strcmp(name, "x32"))
		return syscall(0x40000000 | SYS_getpid);
#endif
	return fprintf(stderr, "no such call: %s\n", name) < 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	errno = 0;
	return argc > 1 && call(argv[1]) < 0 ? errno : 0;
}
