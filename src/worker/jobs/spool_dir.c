/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of spools: private, and without the files that nobody wants any more. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/jobs/spool_file.h"

static int open_dir(const char *dir)
{
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -1;
	return open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int no_dir(const char *dir, struct problem *p, const char *why)
{
	problem_set(p, ERR_IO, "output cannot be kept in %s: %s", dir, why);
	return problem_hint(p, "It must be a directory of the worker's own user, not a link.");
}

/* Output may be secret: whatever the directory was, only we may look into it. */
static int open_private_dir(const char *dir, int *ret_fd, struct problem *p)
{
	struct stat st;
	int fd = open_dir(dir);

	if (fd < 0)
		return no_dir(dir, p, strerror(errno));
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
	    ((st.st_mode & 07777) == 0700 || fchmod(fd, 0700) == 0)) {
		*ret_fd = fd;
		return 0;
	}
	close(fd);
	return no_dir(dir, p, "it belongs to another user");
}

int spool_make_dir(const char *dir, struct problem *p)
{
	int fd, r = open_private_dir(dir, &fd, p);

	if (r == 0)
		close(fd);
	return r;
}

static bool is_wanted(const char *name, bool (*wanted)(const char *, void *), void *arg)
{
	if (strncmp(name, SPOOL_PASSING_NAME, strlen(SPOOL_PASSING_NAME)) == 0)
		return false;
	return wanted(name, arg);
}

int spool_sweep(
    const char *dir, bool (*wanted)(const char *name, void *arg), void *arg, struct problem *p)
{
	int fd, removed = 0, r = open_private_dir(dir, &fd, p);
	struct dirent *entry;
	DIR *d;

	if (r < 0)
		return r;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return no_dir(dir, p, strerror(errno));
	}
	while ((entry = readdir(d))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		if (!is_wanted(name, wanted, arg) && unlinkat(fd, name, 0) == 0)
			removed++; /* a directory is not unlinked, and not ours */
	}
	closedir(d);
	return removed;
}
