/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration in its place: checked, whole, and known to the proxy. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/routes/routes.h"

#define PID_TEXT_MAX 32

/* The paths of one write. The mark is there from before the file changes until the reload. */
struct place {
	char *path, *folder, *temporary, *mark;
};

static void place_release(struct place *l)
{
	free(l->path);
	free(l->folder);
	free(l->temporary);
	free(l->mark);
}

/* Where a link leads, so that it stays one. */
static struct place place_of(const char *path)
{
	char *real = realpath(path, NULL);
	struct place l = {.path = real ? real : xstrdup(path)};
	const char *slash = strrchr(l.path, '/');
	const char *name = slash ? slash + 1 : l.path;

	l.folder = slash ? xstrndup(l.path, (size_t)(slash - l.path) + 1) : xstrdup("./");
	l.temporary = xasprintf("%s.%s.XXXXXX", l.folder, name);
	l.mark = xasprintf("%s.%s.reload", l.folder, name);
	return l;
}

static int cannot(struct problem *p, const char *what, const char *path)
{
	return problem_set(p, ERR_IO, "cannot %s %.200s: %s", what, path, strerror(errno));
}

static bool holds(const char *path, struct str text)
{
	AUTO(buf_release) struct buf there = {0};
	char chunk[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return false;
	while (there.n <= text.n && (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		buf_add(&there, chunk, n);
	fclose(f);
	return str_eq(buf_str(&there), text);
}

static bool write_all(int fd, struct str text)
{
	while (text.n) {
		ssize_t n = write(fd, text.p, text.n);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			text.p += n, text.n -= (size_t)n;
	}
	return fsync(fd) == 0;
}

/* The file's rights and owner stay as they were. */
static void take_rights(int fd, const char *path)
{
	mode_t mask = umask(0);
	struct stat st;

	umask(mask);
	if (stat(path, &st) < 0) {
		fchmod(fd, 0644 & ~mask);
		return;
	}
	if (fchown(fd, st.st_uid, st.st_gid) == 0)
		fchmod(fd, st.st_mode & 07777);
	else
		fchmod(fd, st.st_mode & 0777);
}

static int write_temporary(struct place *l, struct str text, struct problem *p)
{
	int fd = mkostemp(l->temporary, O_CLOEXEC), rc = 0;

	if (fd < 0)
		return cannot(p, "make", l->temporary);
	take_rights(fd, l->path);
	if (!write_all(fd, text))
		rc = cannot(p, "write", l->temporary);
	close(fd);
	if (rc < 0)
		unlink(l->temporary);
	return rc;
}

static void sync_folder(const struct place *l)
{
	int fd = open(l->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
}

static int set_mark(const struct place *l, struct problem *p)
{
	int fd = open(l->mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return cannot(p, "make", l->mark);
	close(fd);
	sync_folder(l);
	return 0;
}

static bool has_reload(const struct target_file *t)
{
	return t->exec.n || t->pid_file;
}

static int put(const struct target_file *t, struct place *l, struct str text, struct problem *p)
{
	int rc = write_temporary(l, text, p);

	if (rc < 0)
		return rc;
	if (t->check.n)
		rc = argv_run(&t->check, l->temporary, t->timeout_ms, p);
	if (rc == 0 && has_reload(t))
		rc = set_mark(l, p);
	if (rc == 0 && rename(l->temporary, l->path) < 0)
		rc = cannot(p, "write", l->path);
	if (rc < 0)
		unlink(l->temporary);
	else
		sync_folder(l);
	return rc;
}

/* --- reloading --- */

static int read_pid(const char *path, pid_t *ret_pid, struct problem *p)
{
	char text[PID_TEXT_MAX];
	FILE *f = fopen(path, "re");
	int64_t pid;
	size_t n;

	if (!f)
		return cannot(p, "read", path);
	n = fread(text, 1, sizeof text, f);
	fclose(f);
	while (n && strchr(" \n", text[n - 1]))
		n--;
	if (!str_to_i64((struct str){text, n}, 2, INT32_MAX, &pid))
		return problem_set(p, ERR_IO, "%.200s does not hold the id of a process", path);
	*ret_pid = (pid_t)pid;
	return 0;
}

static int reload(const struct target_file *t, const struct place *l, struct problem *p)
{
	pid_t pid = 0;
	int rc = 0;

	if (t->exec.n)
		rc = argv_run(&t->exec, l->path, t->timeout_ms, p);
	if (rc == 0 && t->pid_file)
		rc = read_pid(t->pid_file, &pid, p);
	if (rc == 0 && t->pid_file && kill(pid, t->signal) < 0)
		rc = problem_set(p, ERR_IO, "cannot signal process %d of %.200s: %s", (int)pid,
		    t->pid_file, strerror(errno));
	if (rc == 0)
		unlink(l->mark);
	return rc;
}

static int to_stdout(struct str text, enum write_result *ret_result, struct problem *p)
{
	fwrite(text.p, 1, text.n, stdout);
	*ret_result = WRITE_DONE;
	return fflush(stdout) == 0 ? 0 : cannot(p, "write", "standard output");
}

int target_write(
    const struct target_file *t, struct str text, enum write_result *ret_result, struct problem *p)
{
	AUTO(place_release) struct place l = {NULL};
	bool is_same;
	int rc = 0;

	if (!t->path)
		return to_stdout(text, ret_result, p);
	l = place_of(t->path);
	is_same = holds(l.path, text);
	if (!is_same)
		rc = put(t, &l, text, p);
	*ret_result = is_same ? WRITE_SAME : WRITE_DONE;
	if (rc == 0 && has_reload(t) && access(l.mark, F_OK) == 0) {
		rc = reload(t, &l, p);
		*ret_result = WRITE_RELOADED;
	}
	return rc;
}
