/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing, printing and listening on "host:port". */
#include "net/loop/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static int bad_address(struct problem *p, const char *text)
{
	problem_set(p, ERR_INVALID, "\"%.100s\" is not an address", text);
	problem_hint(p, "Write host:port, [v6]:port, or :port for every interface.");
	return ERR_INVALID;
}

static bool port_ok(const char *s)
{
	int64_t n;

	return strlen(s) < 8 && str_to_i64(str_of(s), 0, 65535, &n);
}

int address_parse(const char *text, struct address *ret_a, struct problem *ret_problem)
{
	const char *colon = strrchr(text, ':'), *host = text;
	size_t n = colon ? (size_t)(colon - text) : 0;

	if (!colon || !port_ok(colon + 1))
		return bad_address(ret_problem, text);
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
	} else if (memchr(host, ':', n)) {
		return bad_address(ret_problem, text);
	}
	if (n == 1 && host[0] == '*')
		n = 0;
	if (n >= sizeof ret_a->host || memchr(host, '[', n) || memchr(host, ' ', n))
		return bad_address(ret_problem, text);
	memcpy(ret_a->host, host, n);
	ret_a->host[n] = 0;
	snprintf(ret_a->port, sizeof ret_a->port, "%s", colon + 1);
	return 0;
}

bool address_is_loopback(const struct sockaddr *sa)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	switch (sa->sa_family) {
	case AF_UNIX: return true;
	case AF_INET: return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	case AF_INET6:
		if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
			return v6->sin6_addr.s6_addr[12] == 127;
		return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	default: return false;
	}
}

void address_host(const struct sockaddr *sa, char *ret_text, size_t size)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	snprintf(ret_text, size, "?");
	if (sa->sa_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, ret_text, (socklen_t)size);
	else if (sa->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &v6->sin6_addr, ret_text, (socklen_t)size);
}

void address_text(const struct sockaddr *sa, char *ret_text, size_t size)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;
	char host[INET6_ADDRSTRLEN] = "?";

	if (sa->sa_family == AF_INET) {
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
		snprintf(ret_text, size, "%s:%d", host, ntohs(v4->sin_port));
	} else if (sa->sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
		snprintf(ret_text, size, "[%s]:%d", host, ntohs(v6->sin6_port));
	} else {
		snprintf(ret_text, size, "%s", sa->sa_family == AF_UNIX ? "unix" : "?");
	}
}

static int listen_on(const struct addrinfo *ai)
{
	int one = 1, fd, saved;

	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, 4096) == 0)
		return fd;
	saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

int address_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof ss;

	if (getsockname(fd, (struct sockaddr *)&ss, &n) != 0)
		return 0;
	if (ss.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&ss)->sin6_port);
	return ntohs(((struct sockaddr_in *)&ss)->sin_port);
}

int address_listen(const char *text, int *ret_fd, int *ret_port, struct problem *ret_problem)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *list = NULL;
	struct address a;
	int e, fd = -1, saved = 0;

	if (address_parse(text, &a, ret_problem) != 0)
		return ERR_INVALID;
	e = getaddrinfo(a.host[0] ? a.host : NULL, a.port, &hints, &list);
	if (e != 0)
		return problem_set(
		    ret_problem, ERR_INVALID, "Cannot listen on %s: %s", text, gai_strerror(e));
	for (struct addrinfo *ai = list; ai && fd < 0; ai = ai->ai_next) {
		fd = listen_on(ai);
		if (fd < 0)
			saved = errno;
	}
	freeaddrinfo(list);
	if (fd < 0) {
		problem_set(ret_problem, ERR_IO, "Cannot listen on %s: %s", text, strerror(saved));
		if (saved == EADDRINUSE)
			problem_hint(ret_problem,
			    "Another process has this port; stop it or choose another one.");
		return ERR_IO;
	}
	*ret_fd = fd;
	if (ret_port)
		*ret_port = address_port(fd);
	return 0;
}
