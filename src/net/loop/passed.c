/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop/passed.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/str.h"
#include "net/loop/address.h"

#define FIRST_FD 3

static int refuse(struct problem *p, int fd, const char *why)
{
	problem_set(p, ERR_INVALID, "the descriptor %d that was passed to us %s", fd, why);
	return problem_hint(
	    p, "give us sockets by ListenStream=, with Accept=no; LISTEN_FDS says how many");
}

static bool option_is(int fd, int name, int wanted)
{
	int value = 0;
	socklen_t n = sizeof value;

	return getsockopt(fd, SOL_SOCKET, name, &value, &n) == 0 && value == wanted;
}

/* A path, or "@name" for one that is no file. */
static void unix_text(const struct sockaddr_un *sun, socklen_t n, struct passed *s)
{
	size_t most = n - offsetof(struct sockaddr_un, sun_path);

	if (most == 0)
		return;
	snprintf(s->address, sizeof s->address, "%s%.*s", sun->sun_path[0] ? "" : "@",
	    (int)(sun->sun_path[0] ? most : most - 1), sun->sun_path + !sun->sun_path[0]);
}

static int look_at(struct passed *s, struct problem *p)
{
	struct sockaddr_storage ss = {0};
	socklen_t n = sizeof ss;
	int one = 1;

	if (fcntl(s->fd, F_GETFD) < 0)
		return refuse(p, s->fd, "is not open");
	if (getsockname(s->fd, (struct sockaddr *)&ss, &n) != 0)
		return refuse(p, s->fd, "is no socket");
	if (!option_is(s->fd, SO_TYPE, SOCK_STREAM))
		return refuse(p, s->fd, "is no stream socket");
	if (!option_is(s->fd, SO_ACCEPTCONN, 1))
		return refuse(p, s->fd, "does not listen");
	s->is_unix = ss.ss_family == AF_UNIX;
	if (!s->is_unix && ss.ss_family != AF_INET && ss.ss_family != AF_INET6)
		return refuse(p, s->fd, "is neither of TCP nor a unix socket");
	s->is_loopback = address_is_loopback((struct sockaddr *)&ss);
	if (s->is_unix)
		unix_text((struct sockaddr_un *)&ss, n, s);
	else
		address_text((struct sockaddr *)&ss, s->address, sizeof s->address);
	if (!s->is_unix)
		setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (fcntl(s->fd, F_SETFD, FD_CLOEXEC) != 0 || fcntl(s->fd, F_SETFL, O_NONBLOCK) != 0)
		return refuse(p, s->fd, strerror(errno));
	return 0;
}

static int take_all(struct passed *all, size_t n, struct str names, struct problem *p)
{
	struct str name;
	int e = 0;

	for (size_t i = 0; i < n && e == 0; i++) {
		all[i] = (struct passed){.fd = FIRST_FD + (int)i};
		if (str_next(&names, ':', &name))
			snprintf(all[i].name, sizeof all[i].name, STR_FMT, STR_ARG(name));
		e = look_at(&all[i], p);
	}
	return e;
}

/* What is for another process is nobody's business here. */
static bool is_for_us(const char *pid)
{
	int64_t n;

	return pid && str_to_i64(str_of(pid), 1, INT32_MAX, &n) && n == getpid();
}

int passed_take(struct passed *ret, size_t *ret_n, struct problem *ret_problem)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int64_t n = 0;
	int e = 0;

	if (fds && is_for_us(pid) && !str_to_i64(str_of(fds), 0, PASSED_MAX, &n)) {
		problem_set(ret_problem, ERR_INVALID,
		    "LISTEN_FDS is \"%.40s\", which is no number of sockets", fds);
		e = problem_hint(ret_problem, "at most %d can be passed", PASSED_MAX);
	} else if (n > 0) {
		e = take_all(ret, (size_t)n, str_of(getenv("LISTEN_FDNAMES")), ret_problem);
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (e == 0)
		*ret_n = (size_t)n;
	return e;
}
