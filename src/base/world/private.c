/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/private.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int foreign(const char *path, uid_t owner, struct problem *p)
{
	problem_set(p, ERR_DENIED, "%s belongs to the user with the number %u, who could change it",
	    path, (unsigned)owner);
	return problem_hint(p, "make it our own: chown %u %s", (unsigned)geteuid(), path);
}

static int open_to_others(const char *path, const char *right, const char *mode, struct problem *p)
{
	problem_set(p, ERR_DENIED, "others may %s %s", right, path);
	return problem_hint(p, "shut them out: chmod %s %s", mode, path);
}

static bool is_ours(const struct stat *st, uid_t other)
{
	return st->st_uid == geteuid() || st->st_uid == 0 || (other && st->st_uid == other);
}

/* A user who may write a folder above can move ours away; in a sticky one only what is their own.
 */
static int check_above(char *real, struct problem *p)
{
	struct stat st;
	char *slash;

	while ((slash = strrchr(real, '/'))) {
		slash[slash == real] = 0; /* the root keeps its slash */
		if (stat(real, &st) == 0 && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
			return open_to_others(real, "write in", "o-w", p);
		if (slash == real)
			break;
	}
	return 0;
}

int private_dir(const char *path, uid_t other, struct problem *ret_problem)
{
	char real[PATH_MAX];
	struct stat st;

	if (stat(path, &st) < 0 || !realpath(path, real))
		return 0;
	if (!is_ours(&st, other))
		return foreign(path, st.st_uid, ret_problem);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return open_to_others(path, "write in", "go-w", ret_problem);
	return check_above(real, ret_problem);
}

/* A file to be opened: no link, and only root and we may write it. */
static int private_file(const char *path, struct problem *ret_problem)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode)) {
		problem_set(ret_problem, ERR_DENIED, "%s is a symbolic link", path);
		return problem_hint(ret_problem,
		    "name the file that it points to, or move that one here: a link can be turned "
		    "to another file");
	}
	if (!is_ours(&st, 0))
		return foreign(path, st.st_uid, ret_problem);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return open_to_others(path, "write", "go-w", ret_problem);
	return 0;
}

int private_place(const char *path, struct problem *ret_problem)
{
	AUTO(free_cstr) char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	int e;

	if (slash)
		slash[slash == dir] = 0;
	e = private_dir(slash ? dir : ".", 0, ret_problem);
	return e ? e : private_file(path, ret_problem);
}

/* A group may read it, which takes somebody who gave it to that group. */
int private_secret(int fd, const char *path, struct problem *ret_problem)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	if (!is_ours(&st, 0))
		return foreign(path, st.st_uid, ret_problem);
	if (st.st_mode & S_IRWXO)
		return open_to_others(
		    path, st.st_mode & S_IWOTH ? "write" : "read", "o-rwx", ret_problem);
	if (st.st_mode & S_IWGRP)
		return open_to_others(path, "write", "g-w", ret_problem);
	return 0;
}
