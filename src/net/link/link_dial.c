/* SPDX-License-Identifier: Apache-2.0 */
/* Dialling: the name's addresses one after the other until one answers, within one limit. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/link/link_internal.h"
#include "net/loop/loop_internal.h"

static void try_next(struct link *l, int last_error);

static void on_connected(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;
	struct sockaddr_storage ss;
	socklen_t n = sizeof(int);
	int e = 0;

	if (l->closing)
		return;
	getsockopt((int)fd, SOL_SOCKET, SO_ERROR, &e, &n);
	event_free(l->connect_event);
	l->connect_event = NULL;
	l->connect_fd = -1;
	n = sizeof ss;
	if (e == 0 && getpeername((int)fd, (struct sockaddr *)&ss, &n) != 0)
		e = errno;
	if (e != 0) {
		close((int)fd);
		try_next(l, e);
		return;
	}
	l->local = address_is_loopback((struct sockaddr *)&ss);
	link_adopt(l, (int)fd);
}

static void try_next(struct link *l, int last_error)
{
	struct addrinfo *ai = l->next_address;
	int one = 1, fd;

	if (!ai) {
		link_fail(l, "cannot connect to %s: %s", l->peer, strerror(last_error));
		return;
	}
	l->next_address = ai->ai_next;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		link_fail(l, "cannot make a socket: %s", strerror(errno));
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) != 0 && errno != EINPROGRESS) {
		int e = errno;

		close(fd);
		try_next(l, e);
		return;
	}
	l->connect_fd = fd;
	l->connect_event = event_new(loop_base(l->loop), fd, EV_WRITE, on_connected, l);
	MUST(l->connect_event);
	event_add(l->connect_event, NULL);
}

static void on_resolved(struct addrinfo *list, const char *why, void *arg)
{
	struct link *l = arg;

	l->resolve = NULL;
	l->addresses = l->next_address = list;
	if (list)
		try_next(l, 0);
	else
		link_fail(l, "cannot find %s: %s", l->address.host, why);
}

struct link *link_dial(struct loop *loop, const char *address, struct tls *tls,
    const struct link_options *o, const struct link_events *ev, void *arg)
{
	struct link *l = link_new(loop, o, ev, tls, arg);
	struct problem p = {0};

	l->announced = true;
	snprintf(l->peer, sizeof l->peer, "%s", address);
	if (address_parse(address, &l->address, &p) != 0) {
		link_fail(l, "%s. %s", p.what, p.hint);
		return l;
	}
	link_limit(l, l->o.open_ms);
	l->resolve = resolve_start(loop, &l->address, on_resolved, l);
	return l;
}

void link_dial_release(struct link *l)
{
	if (l->resolve)
		resolve_cancel(l->resolve);
	if (l->connect_event)
		event_free(l->connect_event);
	if (l->connect_fd >= 0)
		close(l->connect_fd);
	if (l->addresses)
		freeaddrinfo(l->addresses);
}
