/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting links. With TLS the user hears of a link only once its handshake has succeeded. */
#include <errno.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "net/link/link_internal.h"
#include "net/loop/loop_internal.h"

struct link_listener {
	struct loop *loop;
	struct evconnlistener *listener;
	struct event *retry;
	struct tls *tls;
	struct link_options o;
	struct link_events ev;
	link_accept_fn *on_accept;
	void *arg;
	int port;
	LIST_HEAD(, link) handshakes;
	struct link_quota quota;
};

static void on_accept(
    struct evconnlistener *lev, evutil_socket_t fd, struct sockaddr *sa, int n, void *arg)
{
	struct link_listener *ll = arg;
	struct link *l = link_new(ll->loop, &ll->o, &ll->ev, ll->tls, NULL);

	l->accepted = true;
	l->on_accept = ll->on_accept;
	l->accept_arg = ll->arg;
	l->in_handshake = true;
	LIST_INSERT_HEAD(&ll->handshakes, l, handshake_entry);
	l->local = address_is_loopback(sa);
	address_text(sa, l->peer, sizeof l->peer);
	if (l->o.stranger_frame)
		l->frame_max = l->o.stranger_frame;
	link_limit(l, l->o.open_ms);
	quota_enter(&ll->quota, l);
	link_adopt(l, (int)fd);
}

/* Out of descriptors: waiting connections keep the socket readable, so look away for a while. */
static void on_accept_error(struct evconnlistener *lev, void *arg)
{
	static const struct timeval pause = {0, 200000};
	struct link_listener *ll = arg;

	log_warn("cannot accept a link: %s", strerror(errno));
	evconnlistener_disable(lev);
	event_add(ll->retry, &pause);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct link_listener *ll = arg;

	evconnlistener_enable(ll->listener);
}

struct link_listener *link_listen(struct loop *loop, const char *address, struct tls *tls,
    const struct link_options *o, const struct link_events *ev, link_accept_fn *accept_fn,
    void *arg, struct problem *ret_problem)
{
	static const struct link_options none;
	struct link_listener *ll;
	int fd = o ? o->passed_fd : 0, port;

	if (fd > 0)
		port = address_port(fd);
	else if (address_listen(address, &fd, &port, ret_problem) != 0)
		return NULL;
	ll = xcalloc(1, sizeof *ll);
	ll->loop = loop;
	ll->tls = tls;
	ll->o = o ? *o : none;
	ll->ev = *ev;
	ll->on_accept = accept_fn;
	ll->arg = arg;
	ll->port = port;
	LIST_INIT(&ll->handshakes);
	quota_init(&ll->quota, &ll->o);
	ll->retry = evtimer_new(loop_base(loop), on_retry, ll);
	ll->listener = evconnlistener_new(
	    loop_base(loop), on_accept, ll, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	MUST(ll->retry && ll->listener);
	evconnlistener_set_error_cb(ll->listener, on_accept_error);
	return ll;
}

int link_listener_port(const struct link_listener *ll)
{
	return ll->port;
}

void link_listener_free(struct link_listener *ll)
{
	struct link *l;

	if (!ll)
		return;
	while ((l = LIST_FIRST(&ll->handshakes)))
		link_free(l);
	quota_release(&ll->quota);
	evconnlistener_free(ll->listener);
	event_free(ll->retry);
	free(ll);
}
