/* SPDX-License-Identifier: Apache-2.0 */
/* A request as the handler sees it. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/http_internal.h"
#include "net/http/url.h"

#define SPARE_MAX 256
#define SPARE_BYTES 16384

static struct http_request *http_request_new(struct http_server *s)
{
	struct http_request *r = TAILQ_FIRST(&s->spare);

	if (r) {
		TAILQ_REMOVE(&s->spare, r, entry);
		s->spare_n--;
	} else {
		r = xcalloc(1, sizeof *r);
	}
	r->server = s;
	return r;
}

/* Requests come by the ten thousand a second: their memory goes round. */
void http_request_free(struct http_request *r)
{
	struct http_server *s = r->server;
	struct buf decoded = r->decoded, headers = r->headers;

	if (!r->conn && r->ev)
		evhttp_request_free(r->ev);
	free(r->pairs);
	http_body_free(r);
	if (!s || s->spare_n >= SPARE_MAX || decoded.cap + headers.cap > SPARE_BYTES) {
		buf_release(&r->decoded);
		buf_release(&r->headers);
		free(r);
		return;
	}
	memset(r, 0, sizeof *r);
	buf_reset(&decoded);
	buf_reset(&headers);
	r->decoded = decoded;
	r->headers = headers;
	r->server = s;
	TAILQ_INSERT_HEAD(&s->spare, r, entry);
	s->spare_n++;
}

static void on_complete(struct evhttp_request *ev, void *arg)
{
	http_conn_complete(arg);
}

/*
 * What is decoded is never longer than the target, for which there is room from the start: so no
 * string that the handler was given ever moves, whatever it asks for next.
 */
static struct str decode(struct http_request *r, struct str s, bool plus)
{
	const char *start = r->decoded.p;
	size_t at = r->decoded.n;

	url_decode(&r->decoded, s, plus);
	MUST(r->decoded.p == start);
	return (struct str){start + at, r->decoded.n - at};
}

static void split_target(struct http_request *r)
{
	struct str target = str_of(r->ev->uri);
	bool escaped;

	url_split(target, &r->path, &r->query);
	escaped = r->path.n && memchr(r->path.p, '%', r->path.n);
	if (escaped || r->query.n)
		buf_reserve(&r->decoded, target.n + 1); /* and the NUL behind the last one */
	if (escaped)
		r->path = decode(r, r->path, false);
}

/* evhttp stops reading during a request; without reading a hang-up would go unnoticed. */
static void watch_for_close(struct http_conn *c)
{
	bufferevent_setcb(c->bev, NULL, c->write_cb, c->event_cb, c->evcon);
	if (evbuffer_get_length(bufferevent_get_input(c->bev)) <= HTTP_PIPELINED_MAX)
		bufferevent_enable(c->bev, EV_READ);
}

/* evhttp's callback: a whole request has arrived. */
void http_request_present(struct evhttp_request *ev, void *listener)
{
	struct http_server *s = ((struct http_listener *)listener)->server;
	struct http_conn *c = http_conn_of(s, ev);
	struct http_request *r = http_request_new(s);
	const char *wrong;

	loop_share_is_used(s->loop);
	evhttp_request_own(ev); /* the handler's view may outlive the connection */
	evhttp_request_set_on_complete_cb(ev, on_complete, c);
	r->conn = c;
	r->ev = ev;
	c->ev = ev;
	c->request = r;
	http_conn_move(c, CONN_WAITING);
	wrong = http_check(c, ev);
	if (wrong) {
		http_refuse(r, wrong);
		return;
	}
	split_target(r);
	/* First, so that nothing of the connection needs to be touched after an answer. */
	watch_for_close(c);
	if (http_body_is_long(r))
		http_body_gather(r);
	else
		s->fn(r, s->arg);
}

enum http_method http_method(const struct http_request *r)
{
	switch (r->ev->type) {
	case EVHTTP_REQ_GET: return HTTP_GET;
	case EVHTTP_REQ_HEAD: return HTTP_HEAD;
	case EVHTTP_REQ_POST: return HTTP_POST;
	case EVHTTP_REQ_PUT: return HTTP_PUT;
	case EVHTTP_REQ_PATCH: return HTTP_PATCH;
	case EVHTTP_REQ_DELETE: return HTTP_DELETE;
	case EVHTTP_REQ_OPTIONS: return HTTP_OPTIONS;
	default: return HTTP_OTHER;
	}
}

const char *http_method_name(const struct http_request *r)
{
	static const char *const names[] = {[HTTP_GET] = "GET",
	    [HTTP_HEAD] = "HEAD",
	    [HTTP_POST] = "POST",
	    [HTTP_PUT] = "PUT",
	    [HTTP_PATCH] = "PATCH",
	    [HTTP_DELETE] = "DELETE",
	    [HTTP_OPTIONS] = "OPTIONS",
	    [HTTP_OTHER] = "OTHER"};

	return names[http_method(r)];
}

struct str http_path(const struct http_request *r)
{
	return r->path;
}

struct str http_raw_target(const struct http_request *r)
{
	return str_of(r->ev->uri);
}

static void parse_query(struct http_request *r)
{
	struct str rest = r->query, key, value;

	r->query_parsed = true;
	while (url_query_next(&rest, &key, &value)) {
		GROW(r->pairs, r->pairs_cap, r->pairs_n + 1);
		r->pairs[r->pairs_n++] =
		    (struct query_pair){decode(r, key, true), decode(r, value, true)};
	}
}

bool http_query_at(
    const struct http_request *cr, size_t i, struct str *ret_key, struct str *ret_value)
{
	struct http_request *r =
	    (struct http_request *)cr; /* decoding is put off until asked for */

	if (!r->query_parsed)
		parse_query(r);
	if (i >= r->pairs_n)
		return false;
	*ret_key = r->pairs[i].key;
	*ret_value = r->pairs[i].value;
	return true;
}

struct str http_header(const struct http_request *r, const char *name)
{
	return str_of(evhttp_find_header(r->ev->input_headers, name));
}

const struct http_peer *http_peer(const struct http_request *r)
{
	return r->conn ? &r->conn->peer : &r->peer_copy;
}

void http_on_close(struct http_request *r, loop_fn *fn, void *arg)
{
	r->on_close = fn;
	r->on_close_arg = arg;
	if (!r->conn && r->server)
		http_server_wake(r->server); /* the close has happened already */
}
