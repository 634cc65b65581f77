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
#include "net/http_internal.h"

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

	client_send(fd, p, n);
	client_send_text(fd, NEXT);
	assert_int_equal(client_read_answer(fd, &head, &body), 400);
	assert_non_null(strstr(head.p, "application/problem+json"));
	assert_non_null(strstr(head.p, "Connection: close"));
	if (words && !strstr(body.p, words))
		fail_msg("\"%s\" is not in %s", words, body.p);
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

static void test_chunk_sizes(void **state)
{
	static const char *const bad[] = {"zz\r\n", "-5\r\n", "0x5\r\nhello\r\n",
	    "5;a=b\r\nhello\r\n", "5\r\nhello\r\nnonsense\r\n", "+5\r\nhello\r\n"};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *s = xasprintf(POST "Transfer-Encoding: chunked\r\n\r\n%s", bad[i]);

		refused(*state, s, NULL);
		free(s);
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
	    POST "X: y\nTRANSFER-encoding:  chunked \r\n\r\n5\r\na\0\r\nb\r\n"
	         "00a \r\n0123456789\r\n0\r\n\r\n";
	static const char bad[] = POST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5g\r\n";

	for (size_t piece = 1; piece < sizeof good; piece++) {
		struct http_scan s = scanned(good, sizeof good - 1, piece);

		assert_true(s.at == SCAN_DONE && s.chunked && !s.bad_chunk && !s.nul);
		s = scanned(bad, sizeof bad - 1, piece);
		assert_true(s.at == SCAN_DONE && s.bad_chunk);
		s = scanned("GET / HTTP/1.1\r\nX: \0\r\n\r\n", 24, piece);
		assert_true(s.at == SCAN_DONE && s.nul);
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
	    cmocka_unit_test_setup_teardown(test_chunk_sizes, start, stop),
	    cmocka_unit_test(test_scan_in_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
