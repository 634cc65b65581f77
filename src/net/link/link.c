/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link's traffic and its end. Frames are handed out where they lie in the input buffer; only
 * one that straddles two of libevent's chunks is moved. The end always comes from the loop, once.
 */
#include "net/link/link.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent_ssl.h>
#include <openssl/x509v3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"
#include "net/link/frame.h"
#include "net/link/link_internal.h"
#include "net/loop/loop_internal.h"
#include "net/loop/read_ahead.h"
#include "net/loop/tls_internal.h"

/* The last words before a close (a refusal, say) should still reach the peer if they can. */
static void flush_once(struct link *l)
{
	struct evbuffer *out = bufferevent_get_output(l->bev);
	SSL *ssl = l->tls ? bufferevent_openssl_get_ssl(l->bev) : NULL;
	size_t n = evbuffer_get_length(out);
	int fd = bufferevent_getfd(l->bev);

	if (!l->open || l->lost || n == 0)
		return;
	if (n > 65536)
		n = 65536;
	if (ssl)
		SSL_write(ssl, evbuffer_pullup(out, (ev_ssize_t)n), (int)n);
	else
		(void)!write(fd, evbuffer_pullup(out, (ev_ssize_t)n), n);
	shutdown(fd, SHUT_WR);
}

void link_free(struct link *l)
{
	quota_leave(l);
	if (l->in_handshake)
		LIST_REMOVE(l, handshake_entry);
	if (l->bev)
		bufferevent_free(l->bev);
	link_dial_release(l);
	evbuffer_free(l->early);
	event_free(l->timer);
	event_free(l->close_event);
	free(l);
}

void link_end(struct link *l)
{
	if (l->bev)
		flush_once(l);
	link_free(l);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;

	if (l->bev) {
		flush_once(l);
		fault_let_alert_out(l);
		bufferevent_free(l->bev);
		l->bev = NULL;
	}
	if (l->announced)
		l->ev.on_close(l, l->why, l->arg);
	else if (l->ev.on_stranger)
		l->ev.on_stranger(l, l->why, l->accept_arg);
	else
		log_debug("%s: refused: %s", l->peer, l->why);
	link_free(l);
}

void link_close(struct link *l, const char *why)
{
	if (l->closing)
		return;
	l->closing = true;
	quota_leave(l);
	snprintf(l->why, sizeof l->why, "%s", why);
	event_del(l->timer);
	if (l->bev)
		bufferevent_disable(l->bev, EV_READ | EV_WRITE);
	event_active(l->close_event, EV_TIMEOUT, 0);
}

void link_fail(struct link *l, const char *fmt, ...)
{
	char why[sizeof l->why];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	link_close(l, why);
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
	struct link *l = arg;

	l->fault = fault_of_silence(l);
	if (!l->open)
		link_fail(l, "no connection within %lld ms", (long long)l->o.open_ms);
	else
		link_fail(l, "no frame within %lld ms of connecting", (long long)l->o.first_ms);
}

void link_limit(struct link *l, int64_t ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	event_add(l->timer, &tv);
}

struct link *link_new(struct loop *loop, const struct link_options *o, const struct link_events *ev,
    struct tls *tls, void *arg)
{
	static const struct link_options none;
	struct link *l = xcalloc(1, sizeof *l);

	l->loop = loop;
	l->o = o ? *o : none;
	if (!l->o.frame_max)
		l->o.frame_max = LINK_FRAME_MAX;
	l->frame_max = l->o.frame_max;
	if (!l->o.open_ms)
		l->o.open_ms = 10000;
	if (!l->o.send_max)
		l->o.send_max = 64u << 20;
	l->ev = *ev;
	l->tls = tls;
	l->arg = arg;
	l->connect_fd = -1;
	l->early = evbuffer_new();
	l->timer = evtimer_new(loop_base(loop), on_limit, l);
	l->close_event = event_new(loop_base(loop), -1, 0, on_end, l);
	MUST(l->early && l->timer && l->close_event);
	return l;
}

/* Hands out the frames that lie whole in the first `span` bytes; false when it must stop. */
static bool deliver(struct link *l, struct str span, size_t *ret_used, size_t *ret_need)
{
	struct str rest = span, payload;

	for (;;) {
		*ret_used = span.n - rest.n;
		switch (frame_next(&rest, l->frame_max, &payload, ret_need)) {
		case FRAME_MORE: return true;
		case FRAME_TOO_LARGE:
			if (!l->got_frame && fault_looks_like_tls(rest))
				l->fault = LINK_FAULT_IS_TLS;
			link_fail(l, "a frame of %zu bytes came; at most %zu are allowed",
			    *ret_need, l->frame_max);
			return false;
		case FRAME_OK: break;
		}
		if (!l->got_frame) {
			l->got_frame = true;
			event_del(l->timer);
		}
		l->ev.on_frame(l, payload, l->arg);
		if (l->closing || l->paused) {
			*ret_used = span.n - rest.n;
			return false;
		}
	}
}

static void on_input(struct evbuffer *b, const struct evbuffer_cb_info *info, void *arg)
{
	struct link *l = arg;

	loop_share_is_used(l->loop);
	if (!l->tls)
		read_ahead(b, info, bufferevent_getfd(l->bev), &l->reading_ahead);
	quota_count(l, evbuffer_get_length(b));
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct link *l = arg;
	struct evbuffer *in = bufferevent_get_input(bev);
	size_t need = FRAME_HEAD, used = 0, have;

	while (!l->closing && !l->paused && (have = evbuffer_get_length(in)) >= need) {
		size_t contiguous = evbuffer_get_contiguous_space(in);
		struct str span;
		bool more;

		if (contiguous < need)
			contiguous = need;
		span.p = (char *)evbuffer_pullup(in, (ev_ssize_t)contiguous);
		span.n = contiguous;
		more = deliver(l, span, &used, &need);
		evbuffer_drain(in, used);
		if (!more)
			return;
	}
	/* Wake up again when the next frame is whole, not for every piece of it. */
	bufferevent_setwatermark(bev, EV_READ, need, 0);
}

static void on_write(struct bufferevent *bev, void *arg)
{
	struct link *l = arg;

	if (!l->above_half || l->closing || link_pending(l) >= l->o.send_max / 2)
		return;
	l->above_half = false;
	if (l->ev.on_drain)
		l->ev.on_drain(l, l->arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct link *l = arg;
	int saved = errno;
	unsigned long e = l->tls ? bufferevent_get_openssl_error(bev) : 0;
	const char *doubt;
	char text[160];

	if (what & BEV_EVENT_CONNECTED) {
		link_opened(l);
		return;
	}
	if (l->open)
		l->lost = true;
	if (e && !(what & BEV_EVENT_EOF)) {
		l->fault = fault_of_tls(l, e);
		doubt = fault_in_certificate(l);
		tls_error_text(e, text, sizeof text);
		link_fail(l, "TLS: %s%s%s", text, doubt ? ": " : "", doubt ? doubt : "");
		return;
	}
	if (!l->accepted)
		l->fault = fault_of_silence(l);
	if ((what & BEV_EVENT_ERROR) && saved && !l->tls)
		link_fail(l, "link lost: %s", strerror(saved));
	else
		link_fail(l, "link lost: the peer closed the connection");
}

void link_adopt(struct link *l, int fd)
{
	struct event_base *base = loop_base(l->loop);

	if (l->tls) {
		l->bev =
		    bufferevent_openssl_socket_new(base, fd, tls_session(l->tls, l->address.host),
		        l->accepted ? BUFFEREVENT_SSL_ACCEPTING : BUFFEREVENT_SSL_CONNECTING,
		        BEV_OPT_CLOSE_ON_FREE);
		MUST(l->bev);
		/* A process that was killed sends no close_notify: that is an end like any other.
		 */
		bufferevent_openssl_set_allow_dirty_shutdown(l->bev, 1);
	} else {
		l->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
		MUST(l->bev);
	}
	evbuffer_add_cb(bufferevent_get_input(l->bev), on_input, l);
	bufferevent_set_max_single_read(l->bev, 65536);
	bufferevent_set_max_single_write(l->bev, 262144);
	bufferevent_setcb(l->bev, on_read, on_write, on_event, l);
	bufferevent_setwatermark(l->bev, EV_READ, FRAME_HEAD, 0);
	bufferevent_setwatermark(l->bev, EV_WRITE, l->o.send_max / 2, 0);
	bufferevent_enable(l->bev, EV_READ | EV_WRITE);
	if (!l->tls)
		link_opened(l);
}

void link_opened(struct link *l)
{
	if (l->open || l->closing)
		return;
	l->open = true;
	event_del(l->timer);
	if (l->accepted && !l->o.first_ms)
		l->o.first_ms = 10000;
	if (l->o.first_ms)
		link_limit(l, l->o.first_ms);
	if (l->accepted) {
		l->announced = true;
		LIST_REMOVE(l, handshake_entry);
		l->in_handshake = false;
		l->arg = l->on_accept(l, l->peer, l->accept_arg);
	}
	evbuffer_add_buffer(bufferevent_get_output(l->bev), l->early);
	if (!l->accepted && l->ev.on_open)
		l->ev.on_open(l, l->arg);
}

void link_send(struct link *l, struct str payload)
{
	struct evbuffer *out = l->open && l->bev ? bufferevent_get_output(l->bev) : l->early;
	unsigned char small[1024];
	size_t pending;

	if (l->closing)
		return;
	MUST(payload.n <= UINT32_MAX);
	frame_head((uint32_t)payload.n, small);
	if (payload.n <= sizeof small - FRAME_HEAD) {
		if (payload.n)
			memcpy(small + FRAME_HEAD, payload.p, payload.n);
		evbuffer_add(out, small, FRAME_HEAD + payload.n);
	} else {
		evbuffer_add(out, small, FRAME_HEAD);
		evbuffer_add(out, payload.p, payload.n);
	}
	pending = evbuffer_get_length(out);
	if (pending > l->o.send_max)
		link_fail(
		    l, "the peer does not read: more than %zu bytes wait for it", l->o.send_max);
	else if (pending > l->o.send_max / 2)
		l->above_half = true;
}

size_t link_pending(const struct link *l)
{
	size_t n = evbuffer_get_length(l->early);

	return l->bev ? n + evbuffer_get_length(bufferevent_get_output(l->bev)) : n;
}

void link_pause(struct link *l, bool pause)
{
	if (l->paused == pause)
		return;
	l->paused = pause;
	if (!l->bev || l->closing)
		return;
	if (pause) {
		bufferevent_disable(l->bev, EV_READ);
		return;
	}
	bufferevent_enable(l->bev, EV_READ);
	/* Frames that came before the pause lie in the buffer already: no read will announce them.
	 */
	bufferevent_trigger(l->bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

void link_expect(struct link *l)
{
	l->got_frame = false;
	link_limit(l, l->o.first_ms);
}

void link_admit(struct link *l)
{
	quota_admit(l);
	l->frame_max = l->o.frame_max;
}

/* A name that begins with a dot would fit every host below it. */
bool link_peer_may_be(const struct link *l, struct str name)
{
	SSL *ssl = l->tls && l->bev ? bufferevent_openssl_get_ssl(l->bev) : NULL;
	X509 *cert = ssl ? SSL_get0_peer_certificate(ssl) : NULL;
	const unsigned flags = X509_CHECK_FLAG_ALWAYS_CHECK_SUBJECT | X509_CHECK_FLAG_NO_WILDCARDS;

	return !cert || (name.n && name.p[0] != '.' &&
	                    X509_check_host(cert, name.p, name.n, flags, NULL) == 1);
}

enum link_fault link_fault(const struct link *l)
{
	return l->fault;
}

const char *link_peer(const struct link *l)
{
	return l->peer;
}

bool link_own_host(const struct link *l, char *ret_text, size_t size)
{
	struct sockaddr_storage ss;
	socklen_t n = sizeof ss;

	if (!l->bev || getsockname(bufferevent_getfd(l->bev), (struct sockaddr *)&ss, &n) != 0)
		return false;
	address_host((struct sockaddr *)&ss, ret_text, size);
	return true;
}

bool link_is_local(const struct link *l)
{
	return l->local;
}
