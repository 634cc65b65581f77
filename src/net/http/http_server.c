/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: its listeners, its limits as a whole, its beginning and its end. */
#include "net/http/http.h"

#include <errno.h>
#include <event2/listener.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "net/http/http_internal.h"
#include "net/loop/address.h"
#include "net/loop/loop_internal.h"

#define METHODS                                                                                   \
	(EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST | EVHTTP_REQ_PUT | EVHTTP_REQ_PATCH | \
	    EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS)

void http_server_wake(struct http_server *s)
{
	event_active(s->work_event, EV_TIMEOUT, 0);
}

static void accept_all(struct http_server *s, bool on)
{
	struct http_listener *hl;

	s->full = !on;
	LIST_FOREACH (hl, &s->listeners, entry) {
		if (on)
			evconnlistener_enable(hl->listener);
		else
			evconnlistener_disable(hl->listener);
	}
}

/* Past the limit new connections wait in the kernel's backlog; they go on when there is room. */
void http_server_room(struct http_server *s)
{
	if (!s->full && s->count >= s->o.connections_max) {
		if (clock_mono_ms() - s->full_logged_ms > 10000) {
			log_warn("%d HTTP connections: no more are accepted for now", s->count);
			s->full_logged_ms = clock_mono_ms();
		}
		accept_all(s, false);
	} else if ((s->full || s->resting) && s->count < s->o.connections_max) {
		s->resting = false;
		accept_all(s, true);
	}
}

/* Out of descriptors: the waiting ones keep the socket readable, so look away until the sweep. */
static void on_accept_error(struct evconnlistener *lev, void *arg)
{
	log_warn("cannot accept an HTTP connection: %s", strerror(errno));
	evconnlistener_disable(lev);
}

static void on_work(evutil_socket_t fd, short what, void *arg)
{
	http_conn_work(arg);
}

static void sweep_arm(struct http_server *s)
{
	int64_t limit = s->o.idle_ms < s->o.request_ms ? s->o.idle_ms : s->o.request_ms;
	int64_t ms = limit / 4 < 10 ? 10 : limit / 4 > 1000 ? 1000 : limit / 4;
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	event_add(s->sweep_event, &tv);
}

static void on_sweep(evutil_socket_t fd, short what, void *arg)
{
	struct http_server *s = arg;

	http_conn_sweep(s, clock_mono_ms());
	if (!s->full)
		accept_all(s, true); /* one of them may have run out of descriptors */
	sweep_arm(s);
}

static void set_defaults(struct http_options *o)
{
	if (!o->body_max)
		o->body_max = 64u << 20;
	if (!o->buffered_max)
		o->buffered_max = 256u << 20;
	if (!o->output_max)
		o->output_max = 16u << 20;
	if (!o->header_max)
		o->header_max = 64u << 10;
	if (!o->idle_ms)
		o->idle_ms = 60000;
	if (!o->request_ms)
		o->request_ms = 120000;
	if (!o->connections_max)
		o->connections_max = 16384;
}

struct http_server *http_server_new(
    struct loop *loop, const struct http_options *o, http_handler *fn, void *arg)
{
	struct http_server *s = xcalloc(1, sizeof *s);

	s->loop = loop;
	if (o)
		s->o = *o;
	set_defaults(&s->o);
	s->fn = fn;
	s->arg = arg;
	LIST_INIT(&s->listeners);
	TAILQ_INIT(&s->fresh);
	TAILQ_INIT(&s->conns);
	TAILQ_INIT(&s->dead);
	TAILQ_INIT(&s->lingering);
	TAILQ_INIT(&s->checks);
	TAILQ_INIT(&s->gone);
	TAILQ_INIT(&s->spare);
	TAILQ_INIT(&s->gathering);
	s->full_logged_ms = s->cut_logged_ms = INT64_MIN / 2;
	s->work_event = event_new(loop_base(loop), -1, 0, on_work, s);
	s->sweep_event = evtimer_new(loop_base(loop), on_sweep, s);
	s->gather_event = evtimer_new(loop_base(loop), http_body_work, s);
	MUST(s->work_event && s->sweep_event && s->gather_event);
	sweep_arm(s);
	return s;
}

static struct http_listener *listener_add(struct http_server *s, int fd, struct tls *tls)
{
	struct http_listener *hl = xcalloc(1, sizeof *hl);

	hl->server = s;
	hl->tls = tls;
	hl->http = evhttp_new(loop_base(s->loop));
	MUST(hl->http);
	evhttp_set_allowed_methods(hl->http, METHODS);
	evhttp_set_max_body_size(hl->http, (ev_ssize_t)s->o.body_max);
	evhttp_set_max_headers_size(hl->http, (ev_ssize_t)s->o.header_max);
	evhttp_set_default_content_type(hl->http, NULL);
	evhttp_set_gencb(hl->http, http_request_present, hl);
	evhttp_set_bevcb(hl->http, http_conn_accept, hl);
	hl->listener = evconnlistener_new(
	    loop_base(s->loop), NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	MUST(hl->listener && evhttp_bind_listener(hl->http, hl->listener));
	evconnlistener_set_error_cb(hl->listener, on_accept_error);
	LIST_INSERT_HEAD(&s->listeners, hl, entry);
	if (s->full)
		evconnlistener_disable(hl->listener);
	return hl;
}

void http_listen_passed(struct http_server *s, int fd, bool is_unix, struct tls *tls)
{
	listener_add(s, fd, tls)->is_unix = is_unix;
}

int http_listen_tcp(struct http_server *s, const char *address, struct tls *tls, int *ret_port,
    struct problem *ret_problem)
{
	int fd, e = address_listen(address, &fd, ret_port, ret_problem);

	if (e == 0)
		listener_add(s, fd, tls);
	return e;
}

/* A socket file that nobody listens on is left from a process that was killed. */
static int remove_stale(const struct sockaddr_un *sun, struct problem *p)
{
	struct stat st;
	int fd, e;

	if (lstat(sun->sun_path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return problem_set(
		    p, ERR_CONFLICT, "%s is in the way: it is not a socket", sun->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return problem_set(p, ERR_IO, "Cannot make a socket: %s", strerror(errno));
	e = connect(fd, (const struct sockaddr *)sun, sizeof *sun) == 0 ? 0 : errno;
	close(fd);
	if (e != ECONNREFUSED) {
		problem_set(p, ERR_CONFLICT, "Another process listens on %s", sun->sun_path);
		problem_hint(p, "Stop it, or choose another socket.");
		return ERR_CONFLICT;
	}
	unlink(sun->sun_path);
	return 0;
}

int http_listen_unix(
    struct http_server *s, const char *path, mode_t mode, struct problem *ret_problem)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct http_listener *hl;
	int fd, e;

	if (strlen(path) >= sizeof sun.sun_path)
		return problem_set(ret_problem, ERR_INVALID,
		    "The socket path \"%s\" is longer than the %zu bytes that are possible", path,
		    sizeof sun.sun_path - 1);
	memcpy(sun.sun_path, path, strlen(path) + 1);
	e = remove_stale(&sun, ret_problem);
	if (e != 0)
		return e;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* The mode is set before the file appears: nobody slips in between. */
	if (fd >= 0 && fchmod(fd, mode) == 0 &&
	    bind(fd, (struct sockaddr *)&sun, sizeof sun) == 0 && chmod(path, mode) == 0 &&
	    listen(fd, 4096) == 0) {
		hl = listener_add(s, fd, NULL);
		hl->is_unix = true;
		hl->unix_path = xstrdup(path);
		return 0;
	}
	problem_set(ret_problem, ERR_IO, "Cannot listen on %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return ERR_IO;
}

int http_connections(const struct http_server *s)
{
	return s->count;
}

size_t http_output(const struct http_server *s)
{
	return s->output;
}

uint64_t http_cut_off(const struct http_server *s)
{
	return s->cut_off;
}

static void listener_free(struct http_listener *hl)
{
	LIST_REMOVE(hl, entry);
	evhttp_free(hl->http); /* the listening socket too */
	if (hl->unix_path)
		unlink(hl->unix_path);
	free(hl->unix_path);
	free(hl);
}

void http_server_free(struct http_server *s)
{
	struct http_conn *c, *next;
	struct http_listener *hl;
	struct http_request *r;

	if (!s)
		return;
	s->o.connections_max = 0; /* nothing is accepted any more */
	accept_all(s, false);
	http_conn_work_all(s);
	TAILQ_FOREACH_SAFE (c, &s->conns, entry, next)
		http_conn_abort(
		    c, c->state == CONN_WAITING ? 503 : 0, "The server is shutting down.");
	while ((hl = LIST_FIRST(&s->listeners)))
		listener_free(hl);
	http_conn_work_all(s);
	while ((c = TAILQ_FIRST(&s->lingering))) {
		TAILQ_REMOVE(&s->lingering, c, entry);
		http_conn_release(c);
	}
	TAILQ_FOREACH (r, &s->gone, entry)
		r->server = NULL;
	while ((r = TAILQ_FIRST(&s->spare))) {
		TAILQ_REMOVE(&s->spare, r, entry);
		r->server = NULL;
		http_request_free(r);
	}
	event_free(s->work_event);
	event_free(s->sweep_event);
	event_free(s->gather_event);
	http_bodies_release(s);
	buf_release(&s->scratch);
	free(s->by_fd);
	free(s);
}
