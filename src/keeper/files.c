/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a task left, opened with the rights of that task: its path comes from whoever
 * submitted it, and must not show him more than the task itself could see.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "keeper/internal.h"

#define GROUPS_MAX 1024

/* "self" would be the keeper there, and reading some of these does something. */
static bool is_of_the_kernel(long type)
{
	return type == PROC_SUPER_MAGIC || type == SYSFS_MAGIC || type == DEBUGFS_MAGIC ||
	       type == TRACEFS_MAGIC || type == CGROUP_SUPER_MAGIC || type == CGROUP2_SUPER_MAGIC;
}

static int open_plain(const char *path, bool sandboxed)
{
	/* inside a sandbox a link may say anything about the world outside */
	struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
	    .resolve = RESOLVE_NO_MAGICLINKS | (sandboxed ? RESOLVE_NO_SYMLINKS : 0)};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	struct statfs fs;
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || fstatfs(fd, &fs) < 0 ||
	                   is_of_the_kernel(fs.f_type)))
		process_close(&fd);
	return fd;
}

int open_as_task(const struct rights *r, const char *path, bool sandboxed)
{
	gid_t before[GROUPS_MAX];
	int n = r->change_user ? getgroups(GROUPS_MAX, before) : 0, fd = -1;

	if (!r->change_user)
		return open_plain(path, sandboxed);
	if (n < 0 || syscall(SYS_setgroups, r->n_groups, r->groups) < 0)
		return -1;
	setfsgid(r->gid);
	setfsuid(r->uid);
	/* asked again they tell: half a change is none */
	if ((uid_t)setfsuid((uid_t)-1) == r->uid && (gid_t)setfsgid((gid_t)-1) == r->gid)
		fd = open_plain(path, sandboxed);
	setfsuid(geteuid());
	setfsgid(getegid());
	syscall(SYS_setgroups, n, before);
	return fd;
}
