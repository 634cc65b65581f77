/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/jobs/ports.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

static bool is_held(const struct ports *p, uint16_t port)
{
	return p->held[port / 64] >> port % 64 & 1;
}

void ports_keep(struct ports *p, uint16_t port)
{
	p->held[port / 64] |= UINT64_C(1) << port % 64;
}

int ports_open(struct ports *p, const char *range, struct problem *problem)
{
	struct str rest = str_of(range), from;
	int64_t first, last;

	*p = (struct ports){0};
	if (!range)
		return 0;
	if (!str_next(&rest, '-', &from) || !str_to_i64(from, 1, 65535, &first) ||
	    !str_to_i64(rest, first, 65535, &last)) {
		problem_set(problem, ERR_INVALID, "worker.ports is no range of ports: %s", range);
		return problem_hint(problem, "write the first and the last, as 20000-29999");
	}
	p->first = p->next = (uint16_t)first;
	p->last = (uint16_t)last;
	return 0;
}

size_t ports_total(const struct ports *p)
{
	return p->first ? (size_t)(p->last - p->first) + 1 : 0;
}

/* 0, or the error. */
static int try_bind(const struct sockaddr *sa, socklen_t size, bool reuse)
{
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, e = 0;

	if (fd < 0)
		return errno;
	if (reuse)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(fd, sa, size) < 0 || listen(fd, 1) < 0)
		e = errno;
	close(fd);
	return e;
}

/* On every address of both families; a machine without the newer one has the older. */
static bool is_free(uint16_t port, bool reuse)
{
	struct sockaddr_in6 v6 = {
	    .sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = in6addr_any};
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};

	return try_bind((struct sockaddr *)&v6, sizeof v6, reuse) != EADDRINUSE &&
	       try_bind((struct sockaddr *)&v4, sizeof v4, reuse) == 0;
}

/* One round over the range, beginning after the port that was given last. */
static size_t look(struct ports *p, size_t n, bool reuse, size_t got, uint16_t *ret)
{
	size_t total = ports_total(p);

	for (size_t i = 0; i < total && got < n; i++) {
		uint16_t port = p->next;

		p->next = port == p->last ? p->first : (uint16_t)(port + 1);
		if (is_held(p, port) || !is_free(port, reuse))
			continue;
		ports_keep(p, port);
		ret[got++] = port;
	}
	return got;
}

bool ports_take(struct ports *p, size_t n, uint16_t *ret)
{
	size_t got = look(p, n, false, 0, ret);

	if (got < n) /* of the others most only wait for their last connections to be forgotten */
		got = look(p, n, true, got, ret);
	if (got < n)
		ports_give_back(p, ret, got);
	return got == n;
}

void ports_give_back(struct ports *p, const uint16_t *ports, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p->held[ports[i] / 64] &= ~(UINT64_C(1) << ports[i] % 64);
}
