/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: driven by drains, to clients that read, stop reading, or leave; and HTTPS. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "certs.h"
#include "client.h"

#define PIECE 100000
#define PIECES 50

struct world {
	struct served served;
	struct http_request *stream;
	int left;
	int closes;
	size_t pending;
	bool set_on_close;
};

static void on_close(void *arg)
{
	struct world *w = arg;

	w->closes++;
	w->stream = NULL;
}

static void on_drain(void *arg)
{
	static char piece[PIECE];
	struct world *w = arg;

	assert_int_equal(http_stream_pending(w->stream), 0);
	if (w->left-- > 0) {
		memset(piece, 'a' + w->left % 26, sizeof piece);
		http_stream_write(w->stream, (struct str){piece, sizeof piece});
		return;
	}
	http_stream_end(w->stream);
	w->stream = NULL;
}

static void on_request(struct http_request *r, void *arg)
{
	struct world *w = arg;

	if (str_is(http_path(r), "/plain")) {
		http_reply(r, 200, "text/plain", STR("plain"));
		return;
	}
	w->stream = r;
	if (w->set_on_close)
		http_on_close(r, on_close, w);
	http_stream_start(r, 200, "text/event-stream");
	if (str_is(http_path(r), "/drain")) {
		w->left = PIECES;
		http_stream_on_drain(r, on_drain, w);
		http_stream_write(r, STR("begin\n"));
	} else {
		http_stream_write(r, STR("event\n"));
	}
}

static struct world *begin(bool set_on_close, struct tls *tls)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->set_on_close = set_on_close;
	served_start(
	    &w->served, &(struct http_options){.output_max = 256u << 20}, tls, on_request, w);
	return w;
}

static void end(struct world *w)
{
	served_stop(&w->served);
	free(w);
}

static void test_drain_drives_a_stream(void **state)
{
	struct world *w = begin(true, NULL);
	struct buf b = {0};
	size_t pieces = 0;
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /drain HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "\r\n0\r\n\r\n"));
	assert_non_null(strstr(b.p, "Transfer-Encoding: chunked"));
	assert_non_null(strstr(b.p, "6\r\nbegin\n\r\n"));
	for (const char *p = b.p; (p = strstr(p, "\r\n186a0\r\n")); p++)
		pieces++;
	assert_int_equal(pieces, PIECES);
	buf_reset(&b);
	client_send_text(fd, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n"); /* the connection goes on */
	assert_true(client_read_until(fd, &b, "\r\n\r\nplain"));
	assert_int_equal(w->closes, 0);
	close(fd);
	buf_release(&b);
	end(w);
}

static void test_http_1_0_and_head(void **state)
{
	struct world *w = begin(true, NULL);
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /drain HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
	assert_false(client_read_until(fd, &b, "never"));
	assert_null(strstr(b.p, "chunked"));
	assert_non_null(strstr(b.p, "Connection: close\r\n"));
	assert_non_null(strstr(b.p, "\r\n\r\nbegin\n"));
	assert_true(b.n > PIECES * PIECE);
	close(fd);
	fd = client_connect(w->served.port);
	buf_reset(&b);
	client_send_text(fd, "HEAD /drain HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "\r\n\r\n"));
	client_send_text(fd, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "\r\n\r\nplain"));
	assert_null(strstr(b.p, "begin"));
	close(fd);
	buf_release(&b);
	end(w);
}

static void fill(void *arg)
{
	struct world *w = arg;
	char *block = xcalloc(1, 16u << 20);

	http_stream_write(w->stream, (struct str){block, 16u << 20});
	w->pending = http_stream_pending(w->stream);
	free(block);
}

static void probe_closes(void *arg)
{
	struct world **p = arg;

	if ((*p)->closes == 0)
		*p = NULL;
}

static bool is_closed(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, probe_closes, &probe);
	return probe != NULL;
}

static void test_client_that_stops_reading_then_leaves(void **state)
{
	struct world *w = begin(true, NULL);
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "event\n"));
	for (int i = 0; i < 3; i++)
		served_call(&w->served, fill, w);
	assert_true(w->pending > 16u << 20);
	close(fd);
	assert_true(wait_until(is_closed, w));
	assert_int_equal(w->closes, 1);
	buf_release(&b);
	end(w);
}

static void probe_count(void *arg)
{
	struct world **p = arg;

	if (http_connections((*p)->served.server) > 0)
		*p = NULL;
}

static bool nobody_connected(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, probe_count, &probe);
	return probe != NULL;
}

static void write_and_end(void *arg)
{
	struct world *w = arg;

	http_stream_write(w->stream, STR("into the void"));
	assert_int_equal(http_stream_pending(w->stream), 0);
	http_stream_end(w->stream);
}

static void test_stream_to_nobody_is_safe(void **state)
{
	struct world *w = begin(false, NULL);
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "event\n"));
	close(fd);
	assert_true(wait_until(nobody_connected, w));
	served_call(&w->served, write_and_end, w);
	buf_release(&b);
	end(w);
}

static void test_stream_ends_with_the_server(void **state)
{
	struct world *w = begin(true, NULL);
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "event\n"));
	served_stop(&w->served);
	assert_int_equal(w->closes, 1);
	assert_true(client_wait_closed(fd));
	close(fd);
	buf_release(&b);
	free(w);
}

static void ask_tls(SSL *ssl, const char *request, const char *needle)
{
	static char got[PIECE * (PIECES + 1)];
	size_t n = 0;
	int k;

	assert_true(SSL_write(ssl, request, (int)strlen(request)) > 0);
	while (!memmem(got, n, needle, strlen(needle))) {
		assert_true(n < sizeof got);
		k = SSL_read(ssl, got + n, (int)(sizeof got - n));
		assert_true(k > 0);
		n += (size_t)k;
	}
}

static void test_https(void **state)
{
	struct certs certs;
	struct problem p = {0};
	struct tls *tls;
	struct world *w;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl = SSL_new(ctx);
	int fd, silent;

	certs_init(&certs);
	tls = tls_server(&(struct tls_files){certs.server_cert, certs.server_key, NULL}, &p);
	assert_non_null(tls);
	w = begin(true, tls);
	silent = client_connect(w->served.port); /* never shakes hands; must not matter */
	fd = client_connect(w->served.port);
	SSL_set_fd(ssl, fd);
	assert_int_equal(SSL_connect(ssl), 1);
	for (int i = 0; i < 3; i++)
		ask_tls(ssl, "GET /plain HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n\r\nplain");
	ask_tls(ssl, "GET /drain HTTP/1.1\r\nHost: x\r\n\r\n", "\r\n0\r\n\r\n");
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
	close(silent);
	end(w);
	tls_free(tls);
	certs_release(&certs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_drain_drives_a_stream),
	    cmocka_unit_test(test_http_1_0_and_head),
	    cmocka_unit_test(test_client_that_stops_reading_then_leaves),
	    cmocka_unit_test(test_stream_to_nobody_is_safe),
	    cmocka_unit_test(test_stream_ends_with_the_server),
	    cmocka_unit_test(test_https),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
