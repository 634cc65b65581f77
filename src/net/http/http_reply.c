/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. The head is put together in one buffer and goes out with the body in one system call;
 * what the kernel does not take at once is left to libevent.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "net/http/http_internal.h"

#define PAGES_FROM 32768

static const char *phrase(int status)
{
	static const struct {
		int status;
		const char *text;
	} table[] = {{200, "OK"}, {201, "Created"}, {202, "Accepted"}, {204, "No Content"},
	    {206, "Partial Content"}, {207, "Multi-Status"}, {301, "Moved Permanently"},
	    {302, "Found"}, {303, "See Other"}, {304, "Not Modified"}, {307, "Temporary Redirect"},
	    {308, "Permanent Redirect"}, {400, "Bad Request"}, {401, "Unauthorized"},
	    {403, "Forbidden"}, {404, "Not Found"}, {405, "Method Not Allowed"},
	    {406, "Not Acceptable"}, {408, "Request Timeout"}, {409, "Conflict"}, {410, "Gone"},
	    {411, "Length Required"}, {412, "Precondition Failed"}, {413, "Content Too Large"},
	    {414, "URI Too Long"}, {415, "Unsupported Media Type"}, {417, "Expectation Failed"},
	    {422, "Unprocessable Content"}, {428, "Precondition Required"},
	    {429, "Too Many Requests"}, {431, "Request Header Fields Too Large"},
	    {500, "Internal Server Error"}, {501, "Not Implemented"}, {502, "Bad Gateway"},
	    {503, "Service Unavailable"}, {504, "Gateway Timeout"}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].status == status)
			return table[i].text;
	return "Unknown";
}

static const char *date_text(struct http_server *s)
{
	int64_t now = clock_wall_ms() / 1000;
	time_t t = (time_t)now;
	struct tm tm;

	if (now != s->date_s) {
		s->date_s = now;
		gmtime_r(&t, &tm);
		strftime(s->date, sizeof s->date, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	}
	return s->date;
}

/* Tasks write what they like into logs and names: no browser may take an answer for a page. */
#define NO_PAGE                               \
	"\r\nX-Content-Type-Options: nosniff" \
	"\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"

static void http_head_begin(struct http_server *s, struct buf *b, int status)
{
	buf_add(b, "HTTP/1.1 ", 9);
	buf_add_u64(b, (uint64_t)status);
	buf_add_char(b, ' ');
	buf_add_cstr(b, phrase(status));
	buf_add(b, "\r\nDate: ", 8);
	buf_add_cstr(b, date_text(s));
	buf_add(b, NO_PAGE, sizeof NO_PAGE - 1);
}

static int code_of(int status)
{
	switch (status) {
	case 408: return ERR_TIMEOUT;
	case 413: return ERR_TOO_LARGE;
	case 501: return ERR_METHOD;
	case 503: return ERR_BUSY;
	default: return status < 500 ? ERR_INVALID : ERR_INTERNAL;
	}
}

static const char *detail_of(int status)
{
	switch (status) {
	case 413:
		return "The body is larger than this server accepts "
		       "(server.limits.body_max); send it in parts, or where it must be whole, "
		       "compact or with a higher limit.";
	case 417: return "The only expectation that is understood is 100-continue.";
	case 501: return "This method is not known here.";
	default: return "This is not a well-formed HTTP/1.1 request, or its headers are too long.";
	}
}

static int problem_text(int status, const char *detail, size_t size, char *ret)
{
	int code = code_of(status);

	return snprintf(ret, size,
	    "{\"type\":\"urn:reeve:error:%s\",\"title\":\"%s\",\"status\":%d,\"detail\":\"%s\"}\n",
	    err_name(code), err_title(code), status, detail ? detail : detail_of(status));
}

/* A whole answer for what never reached the handler; the connection closes after it. */
void http_problem(struct http_server *s, struct buf *b, int status, const char *detail)
{
	char body[512];
	int n = problem_text(status, detail, sizeof body, body);

	http_head_begin(s, b, status);
	buf_printf(b,
	    "Content-Type: application/problem+json\r\nContent-Length: %d\r\n"
	    "Connection: close\r\n\r\n",
	    n);
	buf_add(b, body, (size_t)n);
}

void http_reply_header(struct http_request *r, const char *name, const char *value)
{
	struct buf *b = &r->headers;
	size_t from;

	buf_add_cstr(b, name);
	buf_add(b, ": ", 2);
	from = b->n;
	buf_add_cstr(b, value);
	/* A line break inside a value would end the header for whoever chose the value. */
	for (size_t i = from; i < b->n; i++)
		if (b->p[i] == '\r' || b->p[i] == '\n')
			b->p[i] = ' ';
	buf_add(b, "\r\n", 2);
}

static void connection_header(const struct evhttp_request *ev, struct buf *b)
{
	const char *wish = evhttp_find_header(ev->input_headers, "Connection");

	if (evhttp_find_header(ev->output_headers, "Connection"))
		wish = "close";
	if (wish && strcasecmp(wish, "close") == 0)
		buf_add_cstr(b, "Connection: close\r\n");
	else if (wish && ev->minor == 0 && strncasecmp(wish, "keep-alive", 10) == 0)
		buf_add_cstr(b, "Connection: keep-alive\r\n");
}

struct buf *http_reply_head(struct http_request *r, int status, const char *content_type)
{
	struct buf *b = &r->server->scratch;

	buf_reset(b);
	http_head_begin(r->server, b, status);
	if (content_type) {
		buf_add(b, "Content-Type: ", 14);
		buf_add_cstr(b, content_type);
		buf_add(b, "\r\n", 2);
	}
	connection_header(r->ev, b);
	buf_add(b, r->headers.p, r->headers.n);
	return b;
}

static size_t send_now(struct http_conn *c, struct str head, struct str body)
{
	struct iovec v[2] = {{(char *)head.p, head.n}, {(char *)body.p, body.n}};
	struct msghdr m = {.msg_iov = v, .msg_iovlen = body.n ? 2 : 1};
	ssize_t n;

	if (c->peer.is_tls || evbuffer_get_length(bufferevent_get_output(c->bev)) > 0)
		return 0;
	n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* A broken connection is libevent's to notice, on its own write. */
	return n > 0 ? (size_t)n : 0;
}

static void unmap(const void *p, size_t n, void *arg)
{
	munmap((void *)p, n);
}

/*
 * What is long and has to wait lies in pages of its own: libevent rounds its blocks up to powers
 * of two, and among those of malloc it leaves holes, which together cost three times as much.
 */
void http_conn_queue(struct http_conn *c, struct str s)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	char *pages = MAP_FAILED;

	if (s.n >= PAGES_FROM)
		pages = mmap(NULL, s.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED) {
		evbuffer_add(out, s.p, s.n);
		return;
	}
	memcpy(pages, s.p, s.n);
	MUST(evbuffer_add_reference(out, pages, s.n, unmap, NULL) == 0);
}

static void queue_kept(struct http_conn *c, struct str s)
{
	MUST(evbuffer_add_reference(bufferevent_get_output(c->bev), s.p, s.n, NULL, NULL) == 0);
}

typedef void queue_fn(struct http_conn *c, struct str s);

static void write_both(struct http_conn *c, struct str head, struct str body, queue_fn *queue)
{
	size_t sent = send_now(c, head, body);

	if (sent < head.n) {
		http_conn_queue(c, (struct str){head.p + sent, head.n - sent});
		sent = head.n;
	}
	if (sent - head.n < body.n)
		queue(c, (struct str){body.p + (sent - head.n), body.n - (sent - head.n)});
}

void http_conn_write(struct http_conn *c, struct str head, struct str body)
{
	write_both(c, head, body, http_conn_queue);
}

void http_conn_finish(struct http_conn *c)
{
	http_conn_move(c, CONN_WRITING);
	c->active_ms = clock_mono_ms();
	c->ev->chunked = 0; /* of the request; evhttp would end the answer with a last chunk */
	if (evbuffer_get_length(bufferevent_get_output(c->bev)) > 0) {
		bufferevent_setcb(c->bev, NULL, c->write_cb, c->event_cb, c->evcon);
		bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	}
	evhttp_send_reply_end(c->ev);
}

static void reply(
    struct http_request *r, int status, const char *content_type, struct str body, queue_fn *queue)
{
	struct http_conn *c = r->conn;
	struct buf *b;

	if (!c) {
		if (r->server)
			TAILQ_REMOVE(&r->server->gone, r, entry);
		http_request_free(r);
		return;
	}
	b = http_reply_head(r, status, content_type);
	if (status >= 200 && status != 204 && status != 304) {
		buf_add(b, "Content-Length: ", 16);
		buf_add_u64(b, body.n);
		buf_add(b, "\r\n", 2);
	} else {
		body.n = 0;
	}
	buf_add(b, "\r\n", 2);
	if (r->ev->type == EVHTTP_REQ_HEAD)
		body.n = 0;
	write_both(c, buf_str(b), body, queue);
	c->request = NULL;
	http_request_free(r);
	http_conn_finish(c);
}

void http_reply(struct http_request *r, int status, const char *content_type, struct str body)
{
	reply(r, status, content_type, body, http_conn_queue);
}

void http_reply_kept(struct http_request *r, int status, const char *content_type, struct str body)
{
	reply(r, status, content_type, body, queue_kept);
}

void http_refuse(struct http_request *r, const char *detail)
{
	char body[512];
	int n = problem_text(400, detail, sizeof body, body);

	r->conn->linger = true;
	evhttp_add_header(r->ev->output_headers, "Connection", "close"); /* evhttp obeys it */
	http_reply(r, 400, "application/problem+json", (struct str){body, (size_t)n});
}
