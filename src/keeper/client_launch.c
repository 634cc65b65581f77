/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keeper is a program of its own inside this one, so that there is one file to install: it is
 * executed from a file in memory. Small, without the libraries, secrets and open files of a worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/world/memory_file.h"
#include "keeper/client.h"
#include "keeper/image.h"

#define WORKER_AT 3
#define HELD_AT 4
#define FD_FLOOR 16

/* Between fork and exec: nothing here may allocate or lock. */
static _Noreturn void become_keeper(int image, int talk_fd, int held_fd)
{
	static char *const argv[] = {"reeve-keeper", NULL}, *const envp[] = {NULL};
	int high[3] = {fcntl(image, F_DUPFD_CLOEXEC, FD_FLOOR),
	    fcntl(talk_fd, F_DUPFD_CLOEXEC, FD_FLOOR),
	    held_fd < 0 ? -1 : fcntl(held_fd, F_DUPFD_CLOEXEC, FD_FLOOR)};
	int null_fd = open("/dev/null", O_RDWR);
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(high[1], WORKER_AT) < 0)
		_exit(127);
	if (high[2] >= 0 ? dup2(high[2], HELD_AT) < 0 : close(HELD_AT) < 0 && errno != EBADF)
		_exit(127);
	syscall(SYS_execveat, high[0], "", argv, envp, AT_EMPTY_PATH);
	_exit(errno == EACCES || errno == EPERM ? 126 : 127);
}

int keeper_launch(int held_fd, pid_t *ret_pid, struct problem *p)
{
	int image = memory_file(
	        "reeve-keeper", (struct str){(const char *)keeper_image, keeper_image_bytes()}),
	    fds[2] = {-1, -1};

	if (image < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		problem_set(p, ERR_IO, "the keeper's file or socket: %s", strerror(errno));
		if (image >= 0)
			close(image);
		return -1;
	}
	*ret_pid = fork();
	if (*ret_pid == 0)
		become_keeper(image, fds[1], held_fd);
	close(image);
	close(fds[1]);
	if (*ret_pid < 0) {
		problem_set(p, ERR_IO, "the keeper could not be started: %s", strerror(errno));
		close(fds[0]);
		return -1;
	}
	return fds[0];
}
