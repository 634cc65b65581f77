/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load generator: keep-alive connections, each with one request on its way, all served by one
 * thread with epoll. The request's bytes are made once (unless each is another), and of a reply
 * only the status and the length are looked at, so that little of the machine goes into making
 * load.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define HEAD_MAX 4096
#define EVENTS 64

struct conn {
	int fd;
	bool busy;
	size_t sent;
	int64_t begun_ns;
	char head[HEAD_MAX + 1];
	size_t n_head;
	size_t body_left; /* once the head is complete */
	bool in_body;
	bool wants_write;
	struct buf own; /* the connection's request, when each is another */
};

struct run {
	const struct load *l;
	int epoll;
	struct conn *conns;
	int64_t begun, done;
	char *sink;
	struct samples *latency;
	struct problem *problem;
};

#define SINK ((size_t)1 << 18)

static int conn_watch(struct run *r, struct conn *c, bool write)
{
	struct epoll_event e = {.events = EPOLLIN | (write ? EPOLLOUT : 0), .data.ptr = c};

	if (c->wants_write == write)
		return 0;
	c->wants_write = write;
	return epoll_ctl(r->epoll, EPOLL_CTL_MOD, c->fd, &e);
}

static int broke(struct run *r, const char *what)
{
	return problem_set(r->problem, ERR_IO, "a client's connection: %s", what);
}

static int conn_send(struct run *r, struct conn *c)
{
	struct str q = r->l->make ? buf_str(&c->own) : r->l->request;

	while (c->sent < q.n) {
		ssize_t n = send(c->fd, q.p + c->sent, q.n - c->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			return conn_watch(r, c, true);
		if (n < 0)
			return broke(r, strerror(errno));
		c->sent += (size_t)n;
	}
	return conn_watch(r, c, false);
}

static int conn_begin(struct run *r, struct conn *c)
{
	c->busy = r->begun < r->l->requests;
	if (!c->busy)
		return 0;
	if (r->l->make) {
		buf_reset(&c->own);
		r->l->make(r->begun, &c->own, r->l->arg);
	}
	r->begun++;
	c->sent = c->n_head = c->body_left = 0;
	c->in_body = false;
	c->begun_ns = bench_ns();
	return conn_send(r, c);
}

static int conn_ended(struct run *r, struct conn *c)
{
	samples_add(r->latency, bench_ns() - c->begun_ns);
	r->done++;
	return conn_begin(r, c);
}

/* Looks whether the head is complete; what came after it belongs to the body. */
static int conn_head(struct run *r, struct conn *c)
{
	char *end, *length;
	size_t behind, total;

	c->head[c->n_head] = 0;
	end = strstr(c->head, "\r\n\r\n");
	if (!end)
		return c->n_head < HEAD_MAX ? 0 : broke(r, "the reply's head does not end");
	length = strcasestr(c->head, "\ncontent-length:");
	if (!length || length > end)
		return broke(r, "the reply has no length");
	if (c->head[9] != '2')
		return problem_set(
		    r->problem, ERR_PROTOCOL, "a request was answered: %.300s", c->head);
	total = strtoull(length + 16, NULL, 10);
	behind = c->n_head - (size_t)(end + 4 - c->head);
	if (behind > total)
		return broke(r, "more came than was asked for");
	c->in_body = true;
	c->body_left = total - behind;
	return 0;
}

static int conn_receive(struct run *r, struct conn *c)
{
	for (;;) {
		char *to = c->in_body ? r->sink : c->head + c->n_head;
		size_t room = c->in_body ? SINK : HEAD_MAX - c->n_head;
		ssize_t n =
		    recv(c->fd, to, c->in_body && c->body_left < room ? c->body_left : room, 0);
		int rc = 0;

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0)
			return broke(r, n == 0 ? "closed by the server" : strerror(errno));
		if (c->in_body) {
			c->body_left -= (size_t)n;
		} else {
			c->n_head += (size_t)n;
			rc = conn_head(r, c);
		}
		if (rc < 0)
			return rc;
		if (c->in_body && c->body_left == 0)
			return conn_ended(r, c);
	}
}

static int open_all(struct bench *b, struct run *r)
{
	for (int i = 0; i < r->l->clients; i++) {
		struct conn *c = &r->conns[i];
		struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};

		c->fd = r->l->tcp ? connect_tcp(b->stand.http_port) : connect_unix(b->stand.socket);
		if (c->fd < 0)
			return broke(r, strerror(errno));
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
		if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, c->fd, &e) < 0)
			return broke(r, strerror(errno));
	}
	return 0;
}

static int turn(struct run *r)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(r->epoll, events, EVENTS, 1000), rc = 0;

	for (int i = 0; i < n && rc == 0; i++) {
		struct conn *c = events[i].data.ptr;

		if (c->busy && events[i].events & EPOLLOUT)
			rc = conn_send(r, c);
		if (rc == 0 && events[i].events & ~(unsigned)EPOLLOUT)
			rc = conn_receive(r, c);
	}
	return rc;
}

static int drive(struct bench *b, struct run *r)
{
	double end = bench_seconds() + (double)b->limit_ms / 1000;
	int rc = 0;

	for (int i = 0; i < r->l->clients && rc == 0; i++)
		rc = conn_begin(r, &r->conns[i]);
	while (rc == 0 && r->done < r->l->requests) {
		rc = turn(r);
		if (rc == 0 && (bench_interrupted() || bench_seconds() > end))
			rc = problem_set(r->problem, ERR_TIMEOUT, "%s with %lld of %lld answered",
			    bench_interrupted() ? "interrupted" : "out of time", (long long)r->done,
			    (long long)r->l->requests);
	}
	return rc;
}

int load_run(struct bench *b, const struct load *l, struct load_result *ret_result)
{
	struct run r = {.l = l, .epoll = epoll_create1(EPOLL_CLOEXEC), .problem = &b->problem};
	double start;
	int rc;

	*ret_result = (struct load_result){0};
	r.latency = &ret_result->latency;
	r.sink = xmalloc(SINK);
	r.conns = xcalloc((size_t)l->clients, sizeof *r.conns);
	for (int i = 0; i < l->clients; i++)
		r.conns[i].fd = -1;
	rc = open_all(b, &r);
	start = bench_seconds();
	if (rc == 0)
		rc = drive(b, &r);
	ret_result->seconds = bench_seconds() - start;
	for (int i = 0; i < l->clients; i++) {
		if (r.conns[i].fd >= 0)
			close(r.conns[i].fd);
		buf_release(&r.conns[i].own);
	}
	close(r.epoll);
	free(r.conns);
	free(r.sink);
	if (rc < 0)
		samples_release(&ret_result->latency);
	return rc;
}
