/* SPDX-License-Identifier: Apache-2.0 */
/* Server and token selection, and the memory of the last submission. */
#include "cli/reach/place.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"

#define TOKEN_MAX 4096

static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool place_state_dir(struct buf *ret_dir)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");

	if (state && state[0] == '/')
		buf_printf(ret_dir, "%s/reeve", state);
	else if (home && home[0] == '/')
		buf_printf(ret_dir, "%s/.local/state/reeve", home);
	else
		return false;
	return true;
}

static int unix_url(const char *path, struct buf *ret_url, struct problem *p)
{
	if (path[0] != '/') {
		problem_set(p, ERR_INVALID,
		    "the server's socket must be an absolute path: \"%.128s\"", path);
		return problem_hint(p, "write unix:/run/reeve/reeve.sock");
	}
	if (strlen(path) >= sizeof((struct sockaddr_un){0}).sun_path)
		return problem_set(p, ERR_INVALID,
		    "the path of a unix socket has at most 107 bytes: \"%.128s\"", path);
	buf_printf(ret_url, "unix:%s", path);
	return 0;
}

static bool is_host_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	int64_t port;

	return colon && colon > text && !strchr(text, '/') &&
	       str_to_i64(str_of(colon + 1), 1, 65535, &port);
}

int place_normalise(const char *given, struct buf *ret_url, struct problem *ret_problem)
{
	struct str s = str_of(given);

	if (str_starts(s, "unix:"))
		return unix_url(
		    str_starts(s, "unix://") ? given + 7 : given + 5, ret_url, ret_problem);
	if (given[0] == '/')
		return unix_url(given, ret_url, ret_problem);
	if ((str_starts(s, "http://") && s.n > 7) || (str_starts(s, "https://") && s.n > 8)) {
		while (s.n > 0 && s.p[s.n - 1] == '/')
			s.n--;
		buf_add_str(ret_url, s);
		return 0;
	}
	if (is_host_port(given)) {
		buf_printf(ret_url, "http://%s", given);
		return 0;
	}
	problem_set(ret_problem, ERR_INVALID, "\"%.128s\" does not name a server", given);
	return problem_hint(
	    ret_problem, "write unix:/run/reeve/reeve.sock, http://host:port or https://host:port");
}

static int no_server(struct problem *p)
{
	problem_set(p, ERR_UNREACHABLE, "no server was found on this machine");
	return problem_hint(
	    p, "`reeve dev` starts one; or name one with --server URL or REEVE_SERVER");
}

int place_find(const char *configured, struct buf *ret_url, struct problem *ret_problem)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	AUTO(buf_release) struct buf path = {0};

	if (configured && is_socket(configured))
		return unix_url(configured, ret_url, ret_problem);
	if (runtime && runtime[0] == '/') {
		buf_printf(&path, "%s/reeve/reeve.sock", runtime);
		if (is_socket(path.p))
			return unix_url(path.p, ret_url, ret_problem);
		buf_reset(&path);
	}
	if (place_state_dir(&path)) {
		buf_add_cstr(&path, "/reeve.sock");
		if (is_socket(path.p))
			return unix_url(path.p, ret_url, ret_problem);
	}
	/* as a service, and as root without one */
	if (is_socket("/run/reeve/reeve.sock"))
		return unix_url("/run/reeve/reeve.sock", ret_url, ret_problem);
	if (is_socket("/var/lib/reeve/reeve.sock"))
		return unix_url("/var/lib/reeve/reeve.sock", ret_url, ret_problem);
	return no_server(ret_problem);
}

static int read_token(const char *file, struct buf *ret_token, struct problem *p)
{
	char text[TOKEN_MAX];
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return problem_set(
		    p, ERR_IO, "the token file %s can not be read: %s", file, strerror(errno));
	n = read(fd, text, sizeof text);
	close(fd);
	if (n < 0)
		return problem_set(
		    p, ERR_IO, "the token file %s can not be read: %s", file, strerror(errno));
	for (ssize_t i = 0; i < n && text[i] != '\n' && text[i] != '\r'; i++)
		buf_add_char(ret_token, text[i]);
	if (ret_token->n == 0)
		return problem_set(p, ERR_INVALID, "the token file %s is empty", file);
	return 0;
}

int place_token(
    const char *given, const char *file, struct buf *ret_token, struct problem *ret_problem)
{
	if (given)
		buf_add_cstr(ret_token, given);
	else if (file && read_token(file, ret_token, ret_problem) < 0)
		return ret_problem->code;
	for (size_t i = 0; i < ret_token->n; i++)
		if ((unsigned char)ret_token->p[i] <= 0x20 || ret_token->p[i] == 0x7f)
			return problem_set(ret_problem, ERR_INVALID,
			    "a token can not hold blanks or control characters");
	return 0;
}

static void make_dirs(char *path)
{
	for (char *at = path + 1; *at; at++)
		if (*at == '/') {
			*at = 0;
			mkdir(path, 0700);
			*at = '/';
		}
}

void last_save(enum last_kind kind, const char *id)
{
	AUTO(buf_release) struct buf path = {0}, temporary = {0};
	FILE *f;

	if (!place_state_dir(&path))
		return;
	buf_add_cstr(&path, "/last");
	make_dirs(path.p);
	buf_printf(&temporary, "%s.%ld", path.p, (long)getpid());
	f = fopen(temporary.p, "we");
	if (!f)
		return;
	fprintf(f, "%s %s\n", kind == LAST_BATCH ? "batch" : "task", id);
	if (fclose(f) != 0 || rename(temporary.p, path.p) != 0)
		unlink(temporary.p);
}

static int nothing_yet(struct problem *p)
{
	problem_set(p, ERR_NOT_FOUND, "@last: nothing was submitted from here yet");
	return problem_hint(p, "`reeve task ls` shows the newest tasks");
}

int last_load(enum last_kind *ret_kind, char ret_id[25], struct problem *ret_problem)
{
	AUTO(buf_release) struct buf path = {0};
	char kind[8] = "", id[32] = "";
	FILE *f;
	int n;

	if (!place_state_dir(&path))
		return nothing_yet(ret_problem);
	buf_add_cstr(&path, "/last");
	f = fopen(path.p, "re");
	if (!f)
		return nothing_yet(ret_problem);
	n = fscanf(f, "%7s %31s", kind, id);
	fclose(f);
	if (n != 2 || !is_id(id))
		return nothing_yet(ret_problem);
	*ret_kind = strcmp(kind, "batch") ? LAST_TASK : LAST_BATCH;
	memcpy(ret_id, id, 25);
	return 0;
}

bool is_id(const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return n == 24;
}

static int not_an_id(const char *typed, const char *what, struct problem *p)
{
	problem_set(p, ERR_INVALID, "\"%.64s\" is not the id of a %s", typed, what);
	return problem_hint(p, "an id has 24 hexadecimal digits; `reeve task ls` shows them, and "
	                       "@last is the last one");
}

int id_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	enum last_kind kind;

	if (is_id(typed)) {
		memcpy(ret_id, typed, 25);
		return 0;
	}
	if (strcmp(typed, "@last"))
		return not_an_id(typed, "task", ret_problem);
	if (last_load(&kind, ret_id, ret_problem) < 0)
		return ret_problem->code;
	if (kind == LAST_TASK)
		return 0;
	problem_set(
	    ret_problem, ERR_INVALID, "@last is a batch of tasks, and one task is wanted here");
	return problem_hint(ret_problem, "`reeve task ls --batch @last` shows them");
}

int batch_resolve(const char *typed, char ret_id[25], struct problem *ret_problem)
{
	enum last_kind kind;

	if (is_id(typed)) {
		memcpy(ret_id, typed, 25);
		return 0;
	}
	if (strcmp(typed, "@last"))
		return not_an_id(typed, "batch", ret_problem);
	if (last_load(&kind, ret_id, ret_problem) < 0)
		return ret_problem->code;
	if (kind == LAST_BATCH)
		return 0;
	problem_set(ret_problem, ERR_INVALID, "@last is a single task, and a batch is wanted here");
	return problem_hint(ret_problem, "name the task itself: `reeve task show @last`");
}
