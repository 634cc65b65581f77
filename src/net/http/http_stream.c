/* SPDX-License-Identifier: Apache-2.0 */
/* Answers without a known end: chunked for HTTP/1.1, until the close for HTTP/1.0. */
#include <stdio.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "net/http/http_internal.h"

static void on_stream_written(struct bufferevent *bev, void *arg)
{
	struct http_conn *c = arg;
	struct http_request *r = c->request;

	if (r && r->on_drain && evbuffer_get_length(bufferevent_get_output(bev)) == 0)
		r->on_drain(r->on_drain_arg);
}

static void on_stream_event(struct bufferevent *bev, short what, void *arg)
{
	struct http_conn *c = arg;

	c->event_cb(bev, what, c->evcon);
}

static bool has_body(const struct http_request *r)
{
	return r->ev->type != EVHTTP_REQ_HEAD;
}

void http_stream_start(struct http_request *r, int status, const char *content_type)
{
	struct http_conn *c = r->conn;
	struct buf *b;

	r->streaming = true;
	if (!c)
		return;
	r->chunked = r->ev->minor >= 1;
	/* evhttp closes after the answer when it finds this among its own headers. */
	if (!r->chunked)
		evhttp_add_header(r->ev->output_headers, "Connection", "close");
	b = http_reply_head(r, status, content_type);
	if (r->chunked)
		buf_add_cstr(b, "Transfer-Encoding: chunked\r\n");
	buf_add(b, "\r\n", 2);
	http_conn_move(c, CONN_STREAMING);
	bufferevent_setcb(c->bev, NULL, on_stream_written, on_stream_event, c);
	bufferevent_enable(c->bev, EV_WRITE);
	http_conn_write(c, buf_str(b), STR_NULL);
}

void http_stream_write(struct http_request *r, struct str bytes)
{
	struct evbuffer *out;
	char size[24];
	int n;

	if (!r->conn || bytes.n == 0)
		return;
	if (!has_body(r)) {
		/* As if it had drained: whoever writes on drain must get to the end. */
		bufferevent_trigger(
		    r->conn->bev, EV_WRITE, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
		return;
	}
	out = bufferevent_get_output(r->conn->bev);
	if (r->chunked) {
		n = snprintf(size, sizeof size, "%zx\r\n", bytes.n);
		evbuffer_add(out, size, (size_t)n);
	}
	http_conn_queue(r->conn, bytes);
	if (r->chunked)
		evbuffer_add(out, "\r\n", 2);
}

size_t http_stream_pending(const struct http_request *r)
{
	return r->conn ? evbuffer_get_length(bufferevent_get_output(r->conn->bev)) : 0;
}

void http_stream_on_drain(struct http_request *r, loop_fn *fn, void *arg)
{
	r->on_drain = fn;
	r->on_drain_arg = arg;
}

void http_stream_end(struct http_request *r)
{
	struct http_conn *c = r->conn;

	if (!c) {
		if (r->server)
			TAILQ_REMOVE(&r->server->gone, r, entry);
		http_request_free(r);
		return;
	}
	if (r->chunked && has_body(r))
		http_conn_write(c, STR("0\r\n\r\n"), STR_NULL);
	c->request = NULL;
	http_request_free(r);
	/* From here on evhttp's own callbacks see the rest out. */
	bufferevent_setcb(c->bev, NULL, c->write_cb, c->event_cb, c->evcon);
	http_conn_finish(c);
}
