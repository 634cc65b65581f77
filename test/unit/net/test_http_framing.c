/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that two readers could take for different ones: refused, and nothing after them is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "net/http/http_internal.h"

#define NEXT "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

struct world {
	struct served served;
	int smuggled;
};

static void on_request(struct http_request *r, void *arg)
{
	struct world *w = arg;

	w->smuggled += str_is(http_path(r), "/smuggled");
	http_reply(r, 200, "text/plain", STR("fine"));
}

static int start(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);

	served_start(&w->served, NULL, NULL, on_request, w);
	*state = w;
	return 0;
}

static int stop(void **state)
{
	struct world *w = *state;

	served_stop(&w->served);
	free(w);
	return 0;
}

static void refused_on(struct world *w, int fd, const char *p, size_t n, const char *words)
{
	struct buf head = {0}, body = {0};
	int status;

	client_send(fd, p, n);
	client_send_text(fd, NEXT);
	status = client_read_answer(fd, &head, &body);
	if (status != 400)
		fail_msg("%.*s\nis answered with %d", (int)n, p, status);
	assert_non_null(strstr(head.p, "application/problem+json"));
	assert_non_null(strstr(head.p, "Connection: close"));
	if (words && !strstr(body.p, words))
		fail_msg("%.*s\nis refused without \"%s\": %s", (int)n, p, words, body.p);
	assert_true(client_wait_closed(fd));
	assert_int_equal(w->smuggled, 0);
	close(fd);
	buf_release(&head);
	buf_release(&body);
}

static void refused(struct world *w, const char *request, const char *words)
{
	refused_on(w, client_connect(w->served.port), request, strlen(request), words);
	refused_on(w, client_connect_unix(w->served.socket_path), request, strlen(request), words);
}

static void fine(struct world *w, const char *request)
{
	struct buf b = {0};

	assert_int_equal(client_ask(w->served.port, request, &b), 200);
	assert_string_equal(b.p, "fine");
	buf_release(&b);
}

#define POST "POST / HTTP/1.1\r\nHost: x\r\n"

static void test_lengths(void **state)
{
	refused(
	    *state, POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "more than once");
	refused(
	    *state, POST "Content-Length: 0\r\ncontent-length: 6\r\n\r\nhello!", "more than once");
	refused(*state, POST "Content-Length: +5\r\n\r\nhello", "not a number");
	refused(*state, POST "Content-Length: 5, 5\r\n\r\nhello", NULL);
	refused(*state, POST "Content-Length : 5\r\n\r\nhello", "name");
	fine(*state, POST "Content-Length: 005\r\n\r\nhello");
}

static void test_transfer_encodings(void **state)
{
	/* Some releases of libevent refuse some of these by themselves, in general words. */
	refused(
	    *state, POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", NULL);
	refused(
	    *state, POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", NULL);
	refused(*state, POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "understood");
	refused(*state, POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "understood");
	refused(*state, POST "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n", "understood");
	refused(*state,
	    POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	    NULL);
	refused(
	    *state, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "understood");
	fine(*state, POST "transfer-encoding: Chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
}

static void test_head_with_a_body(void **state)
{
	struct world *w = *state;
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "HEAD / HTTP/1.1\r\nHost: x\r\nContent-Length: 37\r\n\r\n" NEXT);
	assert_false(client_read_until(fd, &b, "no such thing"));
	assert_true(str_starts(buf_str(&b), "HTTP/1.1 400 "));
	assert_null(strstr(b.p, "fine"));
	assert_int_equal(w->smuggled, 0);
	close(fd);
	buf_release(&b);
}

static void test_host(void **state)
{
	refused(*state, "GET / HTTP/1.1\r\n\r\n", "Host");
	refused(*state, "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "Host");
	fine(*state, "GET / HTTP/1.0\r\n\r\n");
	fine(*state, "GET / HTTP/1.1\r\nhost:\r\n\r\n");
}

static void test_nul_bytes(void **state)
{
	static const char value[] = "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n";
	static const char cut[] = "GET / HTTP/1.1\r\nHost: x\0.evil\r\n\r\n";
	static const char body[] = POST "Content-Length: 3\r\n\r\na\0b";
	struct world *w = *state;
	struct buf head = {0}, answer = {0};
	int fd;

	refused_on(w, client_connect(w->served.port), value, sizeof value - 1, "NUL");
	refused_on(w, client_connect(w->served.port), cut, sizeof cut - 1, "NUL");
	/* A body may hold what it likes; and the second request on a connection is looked at too.
	 */
	fd = client_connect(w->served.port);
	client_send(fd, body, sizeof body - 1);
	client_send(fd, body, sizeof body - 1);
	assert_int_equal(client_read_answer(fd, &head, &answer), 200);
	assert_int_equal(client_read_answer(fd, &head, &answer), 200);
	refused_on(w, fd, value, sizeof value - 1, "NUL");
	buf_release(&head);
	buf_release(&answer);
}

/* Both in one piece: what came with the first request is the second one's beginning. */
static void test_nul_byte_in_a_pipelined_request(void **state)
{
	static const char two[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	                          "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n";
	struct world *w = *state;
	struct buf head = {0}, body = {0};
	int fd = client_connect(w->served.port);

	client_send(fd, two, sizeof two - 1);
	assert_int_equal(client_read_answer(fd, &head, &body), 200);
	assert_int_equal(client_read_answer(fd, &head, &body), 400);
	assert_non_null(strstr(body.p, "NUL"));
	assert_true(client_wait_closed(fd));
	close(fd);
	buf_release(&head);
	buf_release(&body);
}

#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"

/* What RFC 9112 does not allow, and what is said about it. */
static const struct {
	const char *request, *words;
} bad_requests[] = {
    /* 7.1: a chunk's size is hexadecimal digits and nothing else */
    {CHUNKED "zz\r\n", "chunk"},
    {CHUNKED "-5\r\n", "chunk"},
    {CHUNKED "+5\r\nhello\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "0x5\r\nhello\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "0x2\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED " 2\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "\t2\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2 \r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2 zz\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2;a=b\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "fffffffffffffffff\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "00000000000000002\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "\r\n2\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2\r\nhe\r\n\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2\r\nhe0\r\n\r\n", "chunk"},
    {CHUNKED "2\r\nhello\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "2\r\nhe\n0\r\n\r\n", "chunk"},
    {CHUNKED "2\nhe\r\n0\r\n\r\n", "CR LF"},
    {CHUNKED "2\r\r\nhe\r\n0\r\n\r\n", "chunk"},
    {CHUNKED "5\r\nhello\r\nnonsense\r\n", "chunk"},
    /* 7.1.2: evhttp takes trailers for headers, so none are allowed */
    {CHUNKED "0\r\nHost: evil\r\n\r\n", "railer"},
    {CHUNKED "0\r\nAuthorization: Bearer x\r\n\r\n", "railer"},
    {CHUNKED "0\r\nX-Sum: 5\r\n\r\n", "railer"},
    {CHUNKED "0\r\n folded\r\n\r\n", "railer"},
    {CHUNKED "0\r\n\n", "CR LF"},
    /* 5.2: folded lines; 2.2: line ends */
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n", "blank"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n\tb\r\n\r\n", "blank"},
    {"GET / HTTP/1.1\r\n Host: x\r\nHost: y\r\n\r\n", "blank"},
    {"GET / HTTP/1.1\nHost: x\r\n\r\n", "CR LF"},
    {"GET / HTTP/1.1\r\nHost: x\n\r\n", "CR LF"},
    {"GET / HTTP/1.1\r\nHost: x\r\n\n", "CR LF"},
    {"GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n", "control"},
    {"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", "control"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\x01z\r\n\r\n", "control"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\x7fz\r\n\r\n", "control"},
    /* 3: the request line */
    {"GET /\ta HTTP/1.1\r\nHost: x\r\n\r\n", "control"},
    {"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET /  HTTP/1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "request line"},
    {" GET / HTTP/1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/1.1x\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/01.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/+1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET / http/1.1\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "request line"},
    {"GET / HTTP/1.2\r\nHost: x\r\n\r\n", "request line"},
    {"GET /\r\nHost: x\r\n\r\n", "request line"},
    {"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "request line"},
    /* 3.2: targets */
    {"GET a HTTP/1.1\r\nHost: x\r\n\r\n", "target"},
    {"GET * HTTP/1.1\r\nHost: x\r\n\r\n", "target"},
    {"GET ?a HTTP/1.1\r\nHost: x\r\n\r\n", "target"},
    {"GET http://evil/ HTTP/1.1\r\nHost: x\r\n\r\n", "Host"},
    {"GET http://x.evil/ HTTP/1.1\r\nHost: x\r\n\r\n", "Host"},
    {"GET http://x:80/ HTTP/1.1\r\nHost: x\r\n\r\n", "Host"},
    {"GET http://evil@x/ HTTP/1.1\r\nHost: x\r\n\r\n", "Host"},
    {"GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n", "Host"},
    {"GET ftp://x/a HTTP/1.1\r\nHost: x\r\n\r\n", "target"},
    {"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"GET /# HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"GET /a?b=c#d HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"GET http://x/a#b HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"GET http://x#b HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"OPTIONS *#a HTTP/1.1\r\nHost: x\r\n\r\n", "target holds a #"},
    {"GET http://x/ HTTP/1.0\r\n\r\n", "Host"},
    /* given twice: which one counts? */
    {"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n", "Host"},
    {"GET / HTTP/1.1\r\nHost: x\r\nOrigin: a\r\norigin: b\r\n\r\n", "Origin"},
    {"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAUTHORIZATION: a\r\n\r\n", "Authorization"},
    {POST "Content-Type: a\r\nContent-Type: b\r\nContent-Length: 0\r\n\r\n", "Content-Type"},
    {POST "Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Length: 0\r\n\r\n",
        "Idempotency-Key"},
    {"GET / HTTP/1.1\r\nHost: x\r\nLast-Event-ID: 1\r\nLast-Event-ID: 2\r\n\r\n", "Last-Event-ID"},
};

static void test_what_is_not_allowed(void **state)
{
	for (size_t i = 0; i < sizeof bad_requests / sizeof bad_requests[0]; i++)
		refused(*state, bad_requests[i].request, bad_requests[i].words);
}

static void test_what_is_allowed(void **state)
{
	fine(*state, CHUNKED "5\r\nhello\r\n0\r\n\r\n");
	fine(*state, CHUNKED "00A\r\n0123456789\r\n000\r\n\r\n");
	fine(*state, "GET / HTTP/1.1\r\nHost: x\r\nX: a\tb\xc3\xa9\r\n\r\n");
	fine(*state, "GET /a%23b?c=%23 HTTP/1.1\r\nHost: x\r\n\r\n");
	fine(*state, "GET http://X/a?b HTTP/1.1\r\nHost: x\r\n\r\n");
	fine(*state, "GET https://x:1/a?b HTTP/1.1\r\nHost: x:1\r\n\r\n");
	fine(*state, "GET HTTP://x HTTP/1.1\r\nHost: x\r\n\r\n");
	fine(*state, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n");
	fine(*state, "GET / HTTP/1.1\r\nHost: x\r\nAccept: a\r\nAccept: b\r\nX: 1\r\nX: 2\r\n\r\n");
}

/* Whichever method has a body: it is read, or refused, and never taken for the next request. */
static void test_bodies_are_never_requests(void **state)
{
	static const char *const methods[] = {
	    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "BREW"};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		int fd = client_connect(w->served.port);
		char *s = xasprintf("%s /x HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n" NEXT
		                    "GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		    methods[i], strlen(NEXT));

		client_send_text(fd, s);
		assert_true(client_wait_closed(fd));
		assert_int_equal(w->smuggled, 0);
		close(fd);
		free(s);
	}
}

/* The connection is somebody else's from here on, if the other side thinks that it was granted. */
static void test_nothing_is_read_after_a_refused_method(void **state)
{
	static const char *const methods[] = {"CONNECT x:80", "CONNECT /", "TRACE /", "BREW /"};
	struct world *w = *state;

	for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
		struct buf b = {0};
		int fd = client_connect(w->served.port);
		char *s = xasprintf("%s HTTP/1.1\r\nHost: x:80\r\n\r\n" NEXT, methods[i]);

		client_send_text(fd, s);
		assert_false(client_read_until(fd, &b, "fine"));
		assert_true(str_starts(buf_str(&b), "HTTP/1.1 4") ||
		            str_starts(buf_str(&b), "HTTP/1.1 501 "));
		assert_int_equal(w->smuggled, 0);
		close(fd);
		free(s);
		buf_release(&b);
	}
}

static struct http_scan scanned(const char *p, size_t n, size_t piece)
{
	struct http_scan s = {0};

	for (size_t i = 0; i < n; i += piece)
		http_scan(&s, p + i, n - i < piece ? n - i : piece);
	return s;
}

/* However the bytes are cut into pieces, the scan sees the same. */
static void test_scan_in_pieces(void **state)
{
	static const char good[] =
	    POST "X: y\r\nTRANSFER-encoding:  chunked \r\n\r\n5\r\na\0\r\nb\r\n"
	         "00a\r\n0123456789\r\n0\r\n\r\n";
	static const char bad[] = POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5g\r\n";

	for (size_t piece = 1; piece < sizeof good; piece++) {
		struct http_scan s = scanned(good, sizeof good - 1, piece);

		assert_true(s.at == SCAN_DONE && s.chunked && !s.fault);
		s = scanned(bad, sizeof bad - 1, piece);
		assert_true(s.at == SCAN_DONE && s.fault && strstr(s.fault, "chunk"));
		s = scanned("GET / HTTP/1.1\r\nX: \0\r\n\r\n", 24, piece);
		assert_true(s.at == SCAN_DONE && s.fault && strstr(s.fault, "NUL"));
		s = scanned("GET / HTTP/1.1\r\nX: y\rz\r\n\r\n", 26, piece);
		assert_true(s.at == SCAN_DONE && s.fault && strstr(s.fault, "control"));
		s = scanned("GET  / HTTP/1.1\r\nX: y\r\n\r\n", 25, piece);
		assert_true(s.at == SCAN_DONE && s.fault && strstr(s.fault, "request line"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_lengths, start, stop),
	    cmocka_unit_test_setup_teardown(test_transfer_encodings, start, stop),
	    cmocka_unit_test_setup_teardown(test_head_with_a_body, start, stop),
	    cmocka_unit_test_setup_teardown(test_host, start, stop),
	    cmocka_unit_test_setup_teardown(test_nul_bytes, start, stop),
	    cmocka_unit_test_setup_teardown(test_nul_byte_in_a_pipelined_request, start, stop),
	    cmocka_unit_test_setup_teardown(test_what_is_not_allowed, start, stop),
	    cmocka_unit_test_setup_teardown(test_what_is_allowed, start, stop),
	    cmocka_unit_test_setup_teardown(test_bodies_are_never_requests, start, stop),
	    cmocka_unit_test_setup_teardown(
	        test_nothing_is_read_after_a_refused_method, start, stop),
	    cmocka_unit_test(test_scan_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
