/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where there are no cgroups: processes of an earlier instance bear its lock in their environment.
 * (The leaders, killed with their worker by the parent-death signal, are gone already.)
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "exec/confine/cgroup.h"
#include "exec/process.h"

static bool read_whole(const char *path, struct buf *ret)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	buf_reset(ret);
	if (fd < 0)
		return false;
	do {
		buf_reserve(ret, 16384);
		n = read(fd, ret->p + ret->n, 16384);
		if (n > 0)
			ret->n += (size_t)n;
	} while (n > 0 && ret->n < (4u << 20));
	close(fd);
	return ret->n > 0;
}

static bool has_variable(struct str environ_text, const char *wanted)
{
	struct str one;

	while (str_next(&environ_text, 0, &one))
		if (str_is(one, wanted))
			return true;
	return false;
}

/* Through a pidfd, so that a number taken over by somebody else in between is never hit. */
static bool kill_if_ours(pid_t pid, const char *wanted, struct buf *scratch)
{
	char path[64];
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool killed = false;

	if (fd < 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	if (read_whole(path, scratch) && has_variable(buf_str(scratch), wanted))
		killed = syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
	close(fd);
	return killed;
}

static int scan(const char *wanted, struct buf *scratch)
{
	struct dirent *e;
	DIR *d = opendir("/proc");
	int n = 0;

	while (d && (e = readdir(d))) {
		int64_t pid;

		if (str_to_i64(str_of(e->d_name), 2, INT32_MAX, &pid) && pid != getpid() &&
		    kill_if_ours((pid_t)pid, wanted, scratch))
			n++;
	}
	if (d)
		closedir(d);
	return n;
}

char *exec_lock_mark(const char *lock)
{
	return xasprintf("%016" PRIx64, exec_hash(lock));
}

int exec_end_leftovers(const char *lock)
{
	AUTO(free_cstr) char *mark = exec_lock_mark(lock);
	AUTO(free_cstr) char *wanted = xasprintf("%s=%s", EXEC_LOCK_VARIABLE, mark);
	struct timespec pause = {0, 5000000};
	struct buf scratch = {0};
	int n = 0, found, clean = 0;

	/* twice clean: one that is just executing shows no environment for a moment */
	for (int i = 0; i < 100 && clean < 2; i++) {
		found = scan(wanted, &scratch);
		n += found;
		clean = found ? 0 : clean + 1;
		nanosleep(&pause, NULL);
	}
	buf_release(&scratch);
	return n;
}
