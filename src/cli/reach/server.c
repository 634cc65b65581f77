/* SPDX-License-Identifier: Apache-2.0 */
/* Which server: as it was typed, or the socket of one on this machine. */
#include "cli/reach/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/mem.h"

static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool state_dir(struct buf *ret_dir)
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

int server_normalise(const char *given, struct buf *ret_url, struct problem *ret_problem)
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

int server_find(const char *configured, struct buf *ret_url, struct problem *ret_problem)
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
	if (state_dir(&path)) {
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
