/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP connection: what evhttp does not do for us. It is counted, timed from a request's first
 * byte to its last, its unanswered input is added up, error pages become problem documents, and
 * a client that is refused while it still sends gets to read why.
 */
#include <event2/bufferevent_ssl.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "net/http/http_internal.h"
#include "net/loop/address.h"
#include "net/loop/read_ahead.h"
#include "net/loop/tls_internal.h"

#define LINGER_MS 10000
#define WORK_US 2000 /* at a time, for what concerns many connections at once */

const struct moves http_conn_moves = {
    "HTTP connection",
    {[CONN_READING] = "reading",
        [CONN_WAITING] = "waiting",
        [CONN_WRITING] = "writing",
        [CONN_STREAMING] = "streaming",
        [CONN_LINGERING] = "lingering"},
    {
        {CONN_READING, CONN_WAITING, "a whole request has come: the handler has it"},
        {CONN_WAITING, CONN_WRITING, "the handler answers"},
        {CONN_WRITING, CONN_READING, "the answer is written"},
        {CONN_WAITING, CONN_STREAMING, "the handler begins an answer without an end"},
        {CONN_STREAMING, CONN_WRITING, "the handler ends it"},
        {CONN_READING, CONN_LINGERING, "too slow or malformed, and told so"},
        {CONN_WAITING, CONN_LINGERING, "too much unanswered input, or shutdown, and told so"},
        {CONN_WRITING, CONN_LINGERING, "refused, or too much unanswered input, and told so"},
    },
};

void http_conn_move(struct http_conn *c, enum http_conn_state to)
{
	c->state = moves_make(&http_conn_moves, c->state, to);
}

static void check_soon(struct http_conn *c)
{
	if (c->checking)
		return;
	c->checking = true;
	TAILQ_INSERT_TAIL(&c->server->checks, c, check_entry);
	http_server_wake(c->server);
}

/* The last n bytes of the input: they have just come, or belong to a request that begins. */
static void scan_tail(struct http_conn *c, struct evbuffer *b, size_t n)
{
	struct evbuffer_iovec v[8];
	struct evbuffer_ptr at;
	size_t take;
	int k;

	while (n > 0 && c->scan.at != SCAN_DONE) {
		evbuffer_ptr_set(b, &at, evbuffer_get_length(b) - n, EVBUFFER_PTR_SET);
		k = evbuffer_peek(b, (ev_ssize_t)n, &at, v, 8);
		for (int i = 0; i < k && i < 8 && n > 0; i++, n -= take) {
			take = v[i].iov_len < n ? v[i].iov_len : n;
			http_scan(&c->scan, v[i].iov_base, take);
		}
	}
	/* evhttp may wait for more, or present it: then http_check() finds the same. */
	if (c->scan.fault)
		check_soon(c);
}

static void on_input(struct evbuffer *b, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conn *c = arg;
	struct http_server *s = c->server;

	if (info->n_added == 0)
		return;
	loop_share_is_used(s->loop);
	if (c->state == CONN_READING)
		scan_tail(c, b, info->n_added); /* before anything is read behind it */
	if (c->state == CONN_READING && !c->peer.is_tls)
		read_ahead(b, info, c->fd, &c->reading_ahead);
	c->active_ms = clock_mono_ms();
	if (!c->first_ms)
		c->first_ms = c->active_ms;
	c->held += info->n_added;
	s->held += info->n_added;
	if (s->held > s->o.buffered_max)
		http_server_wake(s);
	/* While an answer is awaited we read only to notice a hang-up, not to hoard. */
	if (c->state != CONN_READING && evbuffer_get_length(b) > HTTP_PIPELINED_MAX)
		bufferevent_disable(c->bev, EV_READ);
}

static void on_output(struct evbuffer *b, const struct evbuffer_cb_info *info, void *arg)
{
	struct http_conn *c = arg;
	struct http_server *s = c->server;

	if (info->n_deleted)
		c->active_ms = clock_mono_ms();
	c->output += info->n_added - info->n_deleted;
	s->output += info->n_added - info->n_deleted;
	if (s->output > s->o.output_max)
		http_server_wake(s);
	if (info->n_added && c->state == CONN_READING)
		check_soon(c);
}

struct bufferevent *http_conn_accept(struct event_base *base, void *listener)
{
	struct http_listener *hl = listener;
	struct http_server *s = hl->server;
	struct http_conn *c = xcalloc(1, sizeof *c);

	if (hl->tls) {
		c->bev = bufferevent_openssl_socket_new(base, -1, tls_session(hl->tls, NULL),
		    BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);
		MUST(c->bev);
		bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
	} else {
		c->bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
		MUST(c->bev);
	}
	bufferevent_incref(c->bev);
	c->server = s;
	c->fd = -1;
	c->peer.is_tls = hl->tls != NULL;
	c->peer.is_unix = hl->is_unix;
	c->active_ms = clock_mono_ms();
	TAILQ_INSERT_TAIL(&s->fresh, c, entry);
	s->count++;
	http_server_room(s);
	http_server_wake(s);
	if (loop_share_is_used(s->loop)) {
		evconnlistener_disable(hl->listener);
		s->resting = true; /* the rest waits in the backlog for the work's turn */
	}
	return c->bev;
}

void http_conn_release(struct http_conn *c)
{
	bufferevent_decref(c->bev);
	c->server->count--;
	free(c);
}

/* A peer that is not known is nobody, and not the uid 0 of an empty answer. */
static void unix_peer(int fd, struct http_peer *p)
{
	struct ucred cred = {0};
	socklen_t n = sizeof cred;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) != 0 || n != sizeof cred)
		cred = (struct ucred){.pid = 0, .uid = (uid_t)-1, .gid = (gid_t)-1};
	p->uid = cred.uid;
	p->gid = cred.gid;
	p->pid = cred.pid;
	p->is_loopback = true;
	snprintf(p->text, sizeof p->text, "unix:uid=%u", (unsigned)cred.uid);
}

void http_peer_read(int fd, struct http_peer *p)
{
	struct sockaddr_storage ss = {0};
	socklen_t n = sizeof ss;

	if (p->is_unix) {
		unix_peer(fd, p);
	} else if (getpeername(fd, (struct sockaddr *)&ss, &n) == 0) {
		p->is_loopback = address_is_loopback((struct sockaddr *)&ss);
		address_text((struct sockaddr *)&ss, p->text, sizeof p->text);
	}
}

/* evhttp lets go of the connection (it is inside its own clean-up: the rest comes later). */
static void on_conn_close(struct evhttp_connection *evcon, void *arg)
{
	struct http_conn *c = arg;
	struct http_server *s = c->server;
	struct http_request *r = c->request;

	loop_share_is_used(s->loop);
	evbuffer_remove_cb_entry(bufferevent_get_input(c->bev), c->input_cb);
	evbuffer_remove_cb_entry(bufferevent_get_output(c->bev), c->output_cb);
	s->held -= c->held;
	s->output -= c->output;
	s->by_fd[c->fd] = NULL;
	if (c->checking)
		TAILQ_REMOVE(&s->checks, c, check_entry);
	TAILQ_REMOVE(&s->conns, c, entry);
	TAILQ_INSERT_TAIL(&s->dead, c, entry);
	c->evcon = NULL;
	if (r && r->gathering)
		http_body_forget(r);
	if (r) {
		r->peer_copy = c->peer;
		r->conn = NULL;
		TAILQ_INSERT_TAIL(&s->gone, r, entry);
		c->request = NULL;
		c->ev = NULL; /* the request keeps it */
	}
	http_server_wake(s);
}

/* By now evhttp has put its connection behind the bufferevent that we made for it. */
static void adopt(struct http_conn *c)
{
	struct http_server *s = c->server;
	void *evcon = NULL;

	TAILQ_REMOVE(&s->fresh, c, entry);
	bufferevent_getcb(c->bev, NULL, &c->write_cb, &c->event_cb, &evcon);
	c->fd = bufferevent_getfd(c->bev);
	if (!evcon || c->fd < 0) {
		http_conn_release(c);
		return;
	}
	c->evcon = evcon;
	TAILQ_INSERT_TAIL(&s->conns, c, entry);
	if ((size_t)c->fd >= s->by_fd_cap) {
		size_t old = s->by_fd_cap;

		GROW(s->by_fd, s->by_fd_cap, (size_t)c->fd + 1);
		memset(s->by_fd + old, 0, (s->by_fd_cap - old) * sizeof *s->by_fd);
	}
	s->by_fd[c->fd] = c;
	http_peer_read(c->fd, &c->peer);
	c->input_cb = evbuffer_add_cb(bufferevent_get_input(c->bev), on_input, c);
	c->output_cb = evbuffer_add_cb(bufferevent_get_output(c->bev), on_output, c);
	bufferevent_set_max_single_read(c->bev, 65536);
	bufferevent_set_max_single_write(c->bev, 262144);
	evhttp_connection_set_closecb(c->evcon, on_conn_close, c);
}

struct http_conn *http_conn_of(struct http_server *s, struct evhttp_request *ev)
{
	struct evhttp_connection *evcon = evhttp_request_get_connection(ev);
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(evcon));

	MUST(fd >= 0 && (size_t)fd < s->by_fd_cap && s->by_fd[fd]);
	return s->by_fd[fd];
}

/* evhttp has written the whole answer and goes on to the next request. */
void http_conn_complete(struct http_conn *c)
{
	size_t left = evbuffer_get_length(bufferevent_get_input(c->bev));

	c->ev = NULL;
	http_conn_move(c, CONN_READING);
	c->active_ms = clock_mono_ms();
	c->first_ms = left ? c->active_ms : 0;
	c->server->held = c->server->held - c->held + left;
	c->held = left;
	memset(&c->scan, 0, sizeof c->scan);
	scan_tail(c, bufferevent_get_input(c->bev), left);
}

static void drop_output(struct http_conn *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);

	evbuffer_unfreeze(out, 1);
	evbuffer_drain(out, evbuffer_get_length(out));
	evbuffer_freeze(out, 1);
}

/* Last words, past evhttp: written if the kernel takes them, and if not, then not. */
static void say(struct http_conn *c, const char *p, size_t n)
{
	SSL *ssl = c->peer.is_tls ? bufferevent_openssl_get_ssl(c->bev) : NULL;

	if (evbuffer_get_length(bufferevent_get_output(c->bev)) > 0)
		return;
	if (!ssl)
		(void)!send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	else if (SSL_is_init_finished(ssl))
		SSL_write(ssl, p, (int)n);
}

void http_conn_abort(struct http_conn *c, int status, const char *detail)
{
	struct http_server *s = c->server;

	if (status) {
		buf_reset(&s->scratch);
		http_problem(s, &s->scratch, status, detail);
		say(c, s->scratch.p, s->scratch.n);
		c->linger = true;
	}
	evhttp_connection_free(c->evcon);
}

/* The status of an error page that evhttp wrote by itself, in HTML; 0: it is none. */
static int page_status(struct evbuffer *out)
{
	char line[16] = "";
	int64_t status;

	if (evbuffer_copyout(out, line, 12) < 12 || strncmp(line, "HTTP/1.", 7) != 0)
		return 0;
	if (!str_to_i64((struct str){line + 9, 3}, 400, 599, &status))
		return 0; /* 100 Continue */
	return (int)status;
}

/*
 * What we find wrong, or evhttp does, is said as a problem document; and since nobody knows where
 * the next request would begin, the connection ends.
 */
static void check(struct http_conn *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	int status = c->scan.fault ? 400 : page_status(out);

	TAILQ_REMOVE(&c->server->checks, c, check_entry);
	c->checking = false;
	if (c->state != CONN_READING || !status)
		return;
	drop_output(c);
	http_conn_abort(c, status, c->scan.fault);
}

static void on_linger_read(struct bufferevent *bev, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(bev);

	evbuffer_drain(in, evbuffer_get_length(in));
}

static void on_linger_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *c = arg;

	TAILQ_REMOVE(&c->server->lingering, c, entry);
	bufferevent_setcb(bev, NULL, NULL, NULL, NULL);
	http_conn_release(c);
}

/*
 * Closing a socket with unread input resets it, and the client may lose the answer that says why.
 * So the sending side is shut, and the rest of what the client sends goes nowhere for a while.
 */
static void linger(struct http_conn *c)
{
	http_conn_move(c, CONN_LINGERING);
	c->active_ms = clock_mono_ms();
	TAILQ_INSERT_TAIL(&c->server->lingering, c, entry);
	bufferevent_setcb(c->bev, on_linger_read, NULL, on_linger_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, 0);
	on_linger_read(c->bev, c);
	drop_output(c);
	bufferevent_disable(c->bev, EV_WRITE);
	bufferevent_enable(c->bev, EV_READ);
}

/* Many may be cut in a moment: one line a second says it for all. */
static void log_cut(struct http_server *s, const struct http_conn *c, const char *what, size_t own,
    size_t all, size_t max)
{
	int64_t now = clock_mono_ms();

	s->cut_off++;
	if (now - s->cut_logged_ms < 1000)
		return;
	s->cut_logged_ms = now;
	log_warn("%s is cut off: %s hold %zu bytes, its own %zu (limit %zu); %llu cut off by now",
	    c->peer.text, what, all, own, max, (unsigned long long)s->cut_off);
}

static void cut_largest(struct http_server *s)
{
	struct http_conn *c, *largest = TAILQ_FIRST(&s->conns);

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->held > largest->held)
			largest = c;
	log_cut(s, largest, "unanswered requests", largest->held, s->held, s->o.buffered_max);
	http_conn_abort(largest, largest->state == CONN_STREAMING ? 0 : 503,
	    "Too much unanswered input is waiting; send less at once, or later.");
}

/* The connection's answer has begun, so that nothing can be said any more. */
static void cut_greediest(struct http_server *s)
{
	struct http_conn *c, *greediest = TAILQ_FIRST(&s->conns);

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->output > greediest->output)
			greediest = c;
	log_cut(s, greediest, "answers that nobody reads", greediest->output, s->output,
	    s->o.output_max);
	http_conn_abort(greediest, 0, NULL);
}

/* on_close and the end of what evhttp has let go of; false: there is more. */
static bool bury(struct http_server *s, int64_t until_us)
{
	struct http_conn *c;
	struct http_request *r, *next;

	while ((c = TAILQ_FIRST(&s->dead))) {
		if (clock_mono_us() >= until_us)
			return false;
		TAILQ_REMOVE(&s->dead, c, entry);
		if (c->ev)
			evhttp_request_free(c->ev);
		if (c->linger)
			linger(c);
		else
			http_conn_release(c);
	}
	for (r = TAILQ_FIRST(&s->gone); r; r = next) {
		loop_fn *fn = r->on_close;

		next = TAILQ_NEXT(r, entry);
		if (!fn)
			continue;
		if (clock_mono_us() >= until_us)
			return false;
		TAILQ_REMOVE(&s->gone, r, entry);
		fn(r->on_close_arg);
		http_request_free(r);
		next = TAILQ_FIRST(&s->gone); /* fn may have let go of others */
	}
	return true;
}

/* Down to the limits; false: that takes longer. */
static bool cut_down(struct http_server *s, int64_t until_us)
{
	while (s->held > s->o.buffered_max && !TAILQ_EMPTY(&s->conns)) {
		if (clock_mono_us() >= until_us)
			return false;
		cut_largest(s);
	}
	while (s->output > s->o.output_max && !TAILQ_EMPTY(&s->conns)) {
		if (clock_mono_us() >= until_us)
			return false;
		cut_greediest(s);
	}
	return true;
}

static void work_until(struct http_server *s, int64_t until_us)
{
	struct http_conn *c;

	while ((c = TAILQ_FIRST(&s->fresh)))
		adopt(c);
	while ((c = TAILQ_FIRST(&s->checks)))
		check(c);
	if (!cut_down(s, until_us) || !bury(s, until_us))
		http_server_wake(s);
	http_server_room(s);
}

void http_conn_work(struct http_server *s)
{
	work_until(s, clock_mono_us() + WORK_US);
	loop_share_is_used(s->loop);
}

void http_conn_work_all(struct http_server *s)
{
	work_until(s, INT64_MAX);
}

static void sweep_one(struct http_conn *c, int64_t now)
{
	const struct http_options *o = &c->server->o;

	switch (c->state) {
	case CONN_READING:
		if (c->first_ms && now - c->first_ms > o->request_ms)
			http_conn_abort(c, 408, "The request took too long to arrive.");
		else if (now - c->active_ms > o->idle_ms)
			http_conn_abort(
			    c, c->first_ms ? 408 : 0, "The rest of the request did not arrive.");
		break;
	case CONN_WRITING:
		if (now - c->active_ms > o->idle_ms)
			http_conn_abort(c, 0, NULL);
		break;
	case CONN_LINGERING:
		if (now - c->active_ms > LINGER_MS)
			on_linger_event(c->bev, 0, c);
		break;
	case CONN_WAITING:
	case CONN_STREAMING: break;
	}
}

void http_conn_sweep(struct http_server *s, int64_t now)
{
	struct http_conn *c, *next;

	TAILQ_FOREACH_SAFE (c, &s->conns, entry, next)
		sweep_one(c, now);
	TAILQ_FOREACH_SAFE (c, &s->lingering, entry, next)
		sweep_one(c, now);
}
