/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/checks/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

#define HOST_TEXT_MAX 64 /* the longest numeric address is shorter */
#define PLACES_MAX 2     /* "localhost" is two */

struct probe {
	struct loop *loop;
	probe_done_fn *done;
	void *arg;
	struct loop_timer *limit; /* or, when it is over before it began, the moment to say so */
	struct loop_watch *watch;
	struct sockaddr_storage places[PLACES_MAX];
	int n_places, at;
	int fd;
	bool connected;
	int64_t timeout_ms;
	struct buf request; /* empty: connecting is all */
	size_t sent;
	char *header; /* PROBE_HEADER_MAX */
	size_t got;
	bool over;
	char why[160];
};

static void leave_place(struct probe *p)
{
	if (p->watch)
		loop_watch_free(p->watch); /* before its descriptor */
	p->watch = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void probe_cancel(struct probe *p)
{
	if (!p)
		return;
	leave_place(p);
	loop_timer_free(p->limit);
	buf_release(&p->request);
	free(p->header);
	free(p);
}

static void finish(struct probe *p, bool ok, const char *why)
{
	probe_done_fn *done = p->done;
	void *arg = p->arg;
	char text[sizeof p->why];

	snprintf(text, sizeof text, "%s", why ? why : "");
	probe_cancel(p); /* first: the next look may begin inside done() */
	done(ok, ok ? NULL : text, arg);
}

static void on_limit(void *arg)
{
	struct probe *p = arg;
	char text[64];

	if (p->over) {
		finish(p, false, p->why);
		return;
	}
	if (p->timeout_ms % 1000)
		snprintf(text, sizeof text, "timed out after %" PRId64 "ms", p->timeout_ms);
	else
		snprintf(text, sizeof text, "timed out after %" PRId64 "s", p->timeout_ms / 1000);
	finish(p, false, text);
}

/* -- where to */

static bool add_place(struct probe *p, const char *host, int port)
{
	struct sockaddr_storage *place = &p->places[p->n_places];
	struct sockaddr_in *v4 = (void *)place;
	struct sockaddr_in6 *v6 = (void *)place;

	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)port);
	} else if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)port);
	} else {
		return false;
	}
	p->n_places++;
	return true;
}

static bool find_places(struct probe *p, const struct run_check *c, const char *host)
{
	if (c->port < 1 || c->port > 65535) {
		snprintf(
		    p->why, sizeof p->why, "%d is no port: give one between 1 and 65535", c->port);
		return false;
	}
	if (strcmp(host, "localhost") == 0)
		return add_place(p, "127.0.0.1", c->port) && add_place(p, "::1", c->port);
	if (add_place(p, host, c->port))
		return true;
	snprintf(p->why, sizeof p->why,
	    "\"%s\" is no numeric address: a check's host is one, or \"localhost\"", host);
	return false;
}

/* -- where to go next */

static void on_ready(int fd, bool readable, bool writable, void *arg);

/* Nothing may be told from inside probe_start(): the loop does it at its next turn. */
static void end_soon(struct probe *p, const char *why)
{
	if (why)
		snprintf(p->why, sizeof p->why, "%s", why);
	p->over = true;
	loop_timer_set(p->limit, 0);
}

static bool try_place(struct probe *p)
{
	struct sockaddr_storage *place = &p->places[p->at];
	bool v4 = place->ss_family == AF_INET;
	socklen_t size = v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

	p->fd = socket(place->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return false;
	if (connect(p->fd, (void *)place, size) < 0 && errno != EINPROGRESS && errno != EINTR)
		return false;
	p->watch = loop_watch_new(p->loop, p->fd, on_ready, p);
	loop_watch_set(p->watch, false, true);
	return true;
}

/* From p->at on, the first place that does not refuse at once. */
static void try_places(struct probe *p, int error)
{
	for (; p->at < p->n_places; p->at++) {
		if (try_place(p))
			return;
		error = errno;
		leave_place(p);
	}
	end_soon(p, error == ECONNREFUSED ? "connection refused" : strerror(error));
}

/* -- talking */

static void judge(struct probe *p)
{
	struct str header = {p->header, p->got};
	const char *why;
	char text[64];
	int status, r = probe_scan(header, &status, &why);

	if (r < 0) {
		finish(p, false, why);
	} else if (r > 0) {
		snprintf(text, sizeof text, "HTTP status %03d", status);
		finish(p, status >= 200 && status < 400, text);
	} else if (p->got == PROBE_HEADER_MAX) {
		snprintf(text, sizeof text, "the answer's header is longer than %d bytes",
		    PROBE_HEADER_MAX);
		finish(p, false, text);
	}
}

static void hear(struct probe *p)
{
	ssize_t n = read(p->fd, p->header + p->got, PROBE_HEADER_MAX - p->got);
	char text[sizeof p->why];

	if (n > 0) {
		p->got += (size_t)n;
		judge(p);
	} else if (n == 0) {
		finish(p, false, "the connection was closed before the answer was whole");
	} else if (errno != EAGAIN && errno != EINTR) {
		snprintf(text, sizeof text, "no answer: %s", strerror(errno));
		finish(p, false, text);
	}
}

static void say(struct probe *p)
{
	ssize_t n = send(p->fd, p->request.p + p->sent, p->request.n - p->sent, MSG_NOSIGNAL);

	if (n > 0)
		p->sent += (size_t)n;
	/* A peer that has hung up may have answered before: what there is to read decides. */
	if (p->sent == p->request.n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		p->sent = p->request.n;
		loop_watch_set(p->watch, true, false);
	}
}

static void on_ready(int fd, bool readable, bool writable, void *arg)
{
	struct probe *p = arg;
	socklen_t size = sizeof(int);
	int error = 0;

	if (!p->connected) {
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
			error = errno;
		if (error) {
			leave_place(p);
			p->at++;
			try_places(p, error);
			return;
		}
		p->connected = true;
		if (p->request.n == 0) {
			finish(p, true, NULL);
			return;
		}
	}
	if (p->sent < p->request.n)
		say(p);
	else
		hear(p);
}

/* -- starting */

static bool make_request(struct probe *p, const struct run_check *c, const char *host)
{
	struct str path = c->path.n ? c->path : STR("/");
	bool v6 = strchr(host, ':') != NULL;

	for (size_t i = 0; i < path.n; i++) {
		if (path.p[0] == '/' && path.p[i] > ' ' && path.p[i] != 0x7f)
			continue; /* plain characters only: the path must not end the line */
		snprintf(p->why, sizeof p->why,
		    "a check's path begins with / and holds plain ASCII only, no blanks");
		return false;
	}
	buf_printf(&p->request,
	    "GET " STR_FMT " HTTP/1.1\r\nHost: %s%s%s:%d\r\nUser-Agent: reeve\r\n"
	    "Accept: */*\r\nConnection: close\r\n\r\n",
	    STR_ARG(path), v6 ? "[" : "", host, v6 ? "]" : "", c->port);
	p->header = xmalloc(PROBE_HEADER_MAX);
	return true;
}

struct probe *probe_start(struct loop *l, const struct run_check *c, probe_done_fn *done, void *arg)
{
	struct probe *p = xcalloc(1, sizeof *p);
	struct str given = c->host.n ? c->host : STR("127.0.0.1");
	char host[HOST_TEXT_MAX];

	*p = (struct probe){.loop = l, .done = done, .arg = arg, .fd = -1};
	p->timeout_ms = c->timeout_ms > 0 ? c->timeout_ms : 1;
	snprintf(host, sizeof host, STR_FMT, STR_ARG(given)); /* what is cut is no address */
	p->limit = loop_timer_new(l, on_limit, p);
	loop_timer_set(p->limit, p->timeout_ms);
	if (!find_places(p, c, host) || (c->kind == CHECK_HTTP && !make_request(p, c, host)))
		end_soon(p, NULL);
	else
		try_places(p, 0);
	return p;
}
