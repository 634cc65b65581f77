/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve backup` and `reeve restore`: a store's copy in a file, or through a pipe. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "config/flags.h"
#include "server/copy_talk.h"
#include "server/paths.h"
#include "server/server.h"
#include "server/store_command.h"
#include "store/store.h"

const struct option_def backup_options[] = {
    {"force", 0, NULL, "replace a file that is there already", NULL, 0, NULL},
    {"damaged", 0, NULL,
        "keep the copy also if something in it is damaged; the exit code is 1 all the same", NULL,
        0, NULL},
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

const struct option_def restore_options[] = {
    {"force", 0, NULL, "replace a store that is there already", NULL, 0, NULL},
    {"damaged", 0, NULL,
        "take the backup also if something in it is damaged, which is then no failure", NULL, 0,
        NULL},
    {"store", 0, "URL", "the store, such as sqlite:PATH (default: the server's)", NULL, 0, NULL},
    {NULL},
};

/* -- backup */

static bool is_loopback(struct str url)
{
	static const char *const here[] = {"localhost", "127.", "[::1]"};
	const char *host = memmem(url.p, url.n, "://", 3);
	struct str s = str_of(host ? host + 3 : url.p);

	for (size_t i = 0; i < sizeof here / sizeof here[0]; i++)
		if (str_starts(s, here[i]))
			return true;
	return false;
}

/* Where commands ask a server, people mean its store: a socket is ours when the configuration has
 * it, an address when it is this machine's. */
static bool is_ours(const char *server, const struct config *c)
{
	struct str s = str_of(server);

	if (str_starts(s, "unix:"))
		s = str_of(server + (str_starts(s, "unix://") ? 7 : 5));
	return s.p[0] == '/' ? str_is(s, config_str(c, "server.socket")) : is_loopback(s);
}

/* The server that REEVE_SERVER names has a store somewhere, and it is not this one. */
static int refuse_elsewhere(const char *url, const struct config *c)
{
	const char *server = getenv("REEVE_SERVER");
	struct problem p = {0};

	if (!c || !server || !*server || is_ours(server, c))
		return 0;
	problem_set(&p, ERR_INVALID,
	    "REEVE_SERVER names another server (%.128s) than the one whose store would be copied "
	    "(%.128s)",
	    server, url);
	problem_hint(&p,
	    "run it on that server's machine, or say which store: --store sqlite:PATH, here "
	    "--store %.128s",
	    url);
	return store_explain(&p);
}

static int to_file(const char *url, const char *file, const struct options *o, struct problem *p)
{
	struct copy_talk talk;
	struct store_copying how = copy_talk_begin(&talk, o);
	struct store_copy copy;

	if (store_backup(url, file, &how, &copy, p) != 0)
		return copy_talk_failed(&talk, "there is no backup", p);
	return copy_talk_done(&talk, stdout, file, url, &copy);
}

#define ASK_MS 200 /* whether to stop */

/* As write(), but no wait is long, whoever reads: a signal that came just before it is heard soon,
 * too. A pipe that can be written takes so many bytes at once. 0: nothing was written. */
static ssize_t write_soon(int fd, const char *bytes, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int ready = poll(&p, 1, ASK_MS);
	ssize_t w = ready > 0 ? write(fd, bytes, n < PIPE_BUF ? n : PIPE_BUF) : ready;

	return w < 0 && errno == EINTR ? 0 : w;
}

static int pour(int from, int64_t of, const struct store_copying *how, struct problem *p)
{
	char bytes[65536];
	int64_t poured = 0;
	ssize_t n, w = 0;

	while ((n = read(from, bytes, sizeof bytes)) > 0)
		for (ssize_t at = 0; at < n; at += w) {
			w = write_soon(STDOUT_FILENO, bytes + at, (size_t)(n - at));
			if (w < 0)
				return problem_set(p, ERR_IO,
				    "standard output cannot be written: %s", strerror(errno));
			poured += w;
			if (!how->copied(how->arg, poured, of))
				return ERR_TIMEOUT;
		}
	return n < 0 ? problem_set(p, ERR_IO, "the copy cannot be read: %s", strerror(errno)) : 0;
}

/* A copy in `dir` is whole and checked before its first byte leaves, and however slow the reader
 * is, nobody waits for it. Its name is gone before that, too. */
static int through_folder(
    const char *url, const char *dir, const struct options *o, struct problem *p)
{
	AUTO(free_cstr) char *file = xasprintf("%s/reeve.db", dir);
	struct copy_talk talk;
	struct store_copying how = copy_talk_begin(&talk, o);
	struct store_copy copy;
	int e, fd = -1;

	e = store_backup(url, file, &how, &copy, p);
	if (e == 0 && (fd = open(file, O_RDONLY | O_CLOEXEC)) < 0)
		e = problem_set(p, ERR_IO, "%s cannot be read: %s", file, strerror(errno));
	unlink(file);
	rmdir(dir);
	if (e == 0)
		e = pour(fd, copy.bytes, &how, p);
	if (fd >= 0)
		close(fd);
	if (e)
		return copy_talk_failed(&talk, "there is no backup", p);
	if (isatty(STDERR_FILENO) || talk.n_damaged)
		return copy_talk_done(&talk, stderr, "standard output", url, &copy);
	return 0;
}

static int to_stdout(const char *url, const struct options *o, struct problem *p)
{
	const char *tmp = getenv("TMPDIR");
	AUTO(free_cstr)
	char *dir = xasprintf("%s/reeve-backup-XXXXXX", tmp && *tmp ? tmp : "/var/tmp");

	if (isatty(STDOUT_FILENO)) {
		problem_set(p, ERR_INVALID, "a backup is nothing for a terminal");
		problem_hint(p, "name a file, or pipe it: reeve backup - | zstd >FILE");
		return store_explain(p);
	}
	if (!mkdtemp(dir)) {
		problem_set(p, ERR_IO, "%s cannot be made: %s", dir, strerror(errno));
		problem_hint(p, "TMPDIR names a place with room for a copy of the store");
		return store_explain(p);
	}
	return through_folder(url, dir, o, p);
}

static int backup(
    const char *url, const struct options *o, const struct config *c, struct problem *p)
{
	const char *file = o->args[0];
	int code = refuse_elsewhere(url, c);

	if (code)
		return code;
	return strcmp(file, "-") ? to_file(url, file, o, p) : to_stdout(url, o, p);
}

/* -- restore */

static int open_source(const char *file, struct store_source *ret, struct problem *p)
{
	AUTO(free_cstr) char *log = xasprintf("%s-wal", file);
	struct stat st;

	*ret = (struct store_source){.from = STDIN_FILENO};
	if (strcmp(file, "-") == 0 && isatty(STDIN_FILENO)) {
		problem_set(p, ERR_INVALID, "a backup does not come from a terminal");
		return problem_hint(p, "name a file, or pipe it: zstd -dc FILE | reeve restore -");
	}
	if (strcmp(file, "-") == 0)
		return 0;
	ret->from = open(file, O_RDONLY | O_CLOEXEC);
	if (ret->from < 0)
		return problem_set(
		    p, ERR_NOT_FOUND, "%s cannot be read: %s", file, strerror(errno));
	ret->bytes = fstat(ret->from, &st) == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
	if (stat(log, &st) < 0 || st.st_size == 0)
		return 0;
	close(ret->from);
	problem_set(p, ERR_CONFLICT, "%s is a store in use, or was: %s belongs to it", file, log);
	return problem_hint(p, "make a backup of it: reeve backup FILE --store sqlite:%s", file);
}

static int restore(
    const char *url, const struct options *o, const struct config *c, struct problem *p)
{
	struct copy_talk talk;
	struct store_copying how = copy_talk_begin(&talk, o);
	struct store_source source;
	struct store_copy copy;
	int e = open_source(o->args[0], &source, p);

	if (e)
		return store_explain(p);
	e = store_restore(url, &source, &how, &copy, p);
	if (source.from != STDIN_FILENO)
		close(source.from);
	if (e)
		return copy_talk_failed(&talk, "the store is as it was", p);
	if (copy_talk_done(&talk, stdout, url, o->args[0], &copy)) /* --damaged: as it was asked */
		fputs("reeve: the backup is in the place of the store, with what is damaged in it\n"
		      "  hint: what becomes of that: docs/OPERATIONS.md, Is the store whole?\n",
		    stderr);
	return 0;
}

/* -- commands */

struct copy_way {
	const char *program;
	const struct option_def *options;
	bool makes_state_dir; /* as the server would */
	int (*run)(
	    const char *url, const struct options *o, const struct config *c, struct problem *p);
};

static int run_on(
    const struct copy_way *k, const struct options *o, const struct config *c, const char *url)
{
	struct problem p = {0};

	if (c && k->makes_state_dir && paths_make_dir(config_str(c, "server.state_dir"), &p) != 0)
		return store_explain(&p);
	return k->run(url, o, c, &p);
}

static int with_url(const struct copy_way *k, const struct options *o)
{
	struct problem p = {0};
	struct config *c;
	int code = 1;
	const char *url;

	if (o->n_args != 1) {
		problem_set(&p, ERR_INVALID, "%s needs one argument: FILE, or -", k->program);
		problem_hint(&p, "`%s --help` shows examples", k->program);
		return store_explain(&p);
	}
	url = store_url(o, &c, &code);
	if (!url)
		return code;
	code = run_on(k, o, c, url);
	config_free(c);
	return code;
}

static int copy_command(const struct copy_way *k, int argc, char **argv)
{
	struct options o = {.program = k->program};
	struct problem p = {0};
	int code;

	options_add_table(&o, k->options);
	if (options_parse(&o, OPTIONS_ANYWHERE, argc, argv, &p) != 0)
		code = store_explain(&p);
	else
		code = with_url(k, &o);
	options_release(&o);
	return code;
}

int backup_command(int argc, char **argv)
{
	static const struct copy_way way = {"reeve backup", backup_options, false, backup};

	return copy_command(&way, argc, argv);
}

int restore_command(int argc, char **argv)
{
	static const struct copy_way way = {"reeve restore", restore_options, true, restore};

	return copy_command(&way, argc, argv);
}
