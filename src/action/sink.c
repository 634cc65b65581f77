/* SPDX-License-Identifier: Apache-2.0 */
#include "action/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/world/clock.h"

#define NAME_TRIES 16

static int failed(const char *what, const char *path, char *why, size_t size)
{
	snprintf(why, size, "%s %.200s: %s", what, path, strerror(errno));
	return ERR_IO;
}

/* "dir/" of the target, or "./" */
static void folder_of(const char *target, char out[PATH_MAX])
{
	const char *slash = strrchr(target, '/');

	if (slash)
		snprintf(out, PATH_MAX, "%.*s", (int)(slash - target + 1), target);
	else
		snprintf(out, PATH_MAX, "./");
}

static bool choose_name(struct sink *s)
{
	char folder[PATH_MAX];
	int n;

	folder_of(s->target, folder);
	n = snprintf(s->temporary, sizeof s->temporary, "%s.reeve-%016llx", folder,
	    (unsigned long long)clock_random());
	if (n > 0 && (size_t)n < sizeof s->temporary)
		return true;
	s->temporary[0] = 0;
	errno = ENAMETOOLONG;
	return false;
}

static void open_named(struct sink *s)
{
	for (int i = 0; i < NAME_TRIES && s->fd < 0 && choose_name(s); i++) {
		s->fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (s->fd < 0 && errno != EEXIST)
			break;
	}
	if (s->fd < 0)
		s->temporary[0] = 0;
}

int sink_open(struct sink *s, const char *target, char *why, size_t size)
{
	char folder[PATH_MAX];
	struct stat st;

	*s = SINK_CLOSED;
	snprintf(s->target, sizeof s->target, "%s", target);
	folder_of(target, folder);
	if (target[strlen(target) - 1] == '/' || (stat(target, &st) == 0 && S_ISDIR(st.st_mode))) {
		snprintf(why, size, "%.200s is a directory; the name of a file is needed", target);
		return ERR_IO;
	}
	s->fd = open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
	if (s->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		open_named(s);
	return s->fd < 0 ? failed("cannot write into", folder, why, size) : 0;
}

int sink_write(struct sink *s, const void *p, size_t n, char *why, size_t size)
{
	for (const char *at = p; n > 0;) {
		ssize_t done = write(s->fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return failed("cannot write", s->target, why, size);
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

/* A name for what has none yet: a link cannot replace a file, a rename can. */
static int give_name(struct sink *s)
{
	char self[64];

	snprintf(self, sizeof self, "/proc/self/fd/%d", s->fd);
	for (int i = 0; i < NAME_TRIES && choose_name(s); i++) {
		if (linkat(AT_FDCWD, self, AT_FDCWD, s->temporary, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	s->temporary[0] = 0;
	return -1;
}

static mode_t mode_by_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return 0666 & ~mask;
}

int sink_commit(struct sink *s, int mode, char *why, size_t size)
{
	mode_t wanted = mode == ACTION_MODE_UNSET ? mode_by_umask() : (mode_t)mode;

	if (fchmod(s->fd, wanted) < 0 || (!s->temporary[0] && give_name(s) < 0) ||
	    rename(s->temporary, s->target) < 0) {
		failed("cannot make", s->target, why, size);
		sink_abandon(s);
		return ERR_IO;
	}
	s->temporary[0] = 0;
	sink_abandon(s);
	return 0;
}

void sink_abandon(struct sink *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->fd >= 0 && s->temporary[0])
		unlink(s->temporary);
	s->fd = -1;
}
