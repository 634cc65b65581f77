/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and plain answers: what arrives at the handler, what arrives at the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "client.h"
#include "net/http/http_internal.h"

struct world {
	struct served served;
	struct http_request *held; /* on the server's thread */
	int closes;
	int requests;
	bool no_on_close;
};

static void on_close(void *arg)
{
	struct world *w = arg;

	w->closes++;
	w->held = NULL;
}

static void describe(struct http_request *r)
{
	struct buf b = {0};
	struct str key, value;
	const struct http_peer *p = http_peer(r);
	struct str path = http_path(r); /* before the query is read: it must hold afterwards */

	(void)http_query_at(r, 0, &key, &value);
	buf_printf(&b, "%s %zu:", http_method_name(r), path.n);
	buf_add_str(&b, path);
	for (size_t i = 0; http_query_at(r, i, &key, &value); i++)
		buf_printf(&b, " [" STR_FMT "=" STR_FMT "]", STR_ARG(key), STR_ARG(value));
	buf_printf(
	    &b, " x=" STR_FMT " body=%zu", STR_ARG(http_header(r, "X-Test")), http_body(r).n);
	buf_printf(&b, " unix=%d loopback=%d uid=%d", p->is_unix, p->is_loopback, (int)p->uid);
	http_reply_header(r, "X-Echo", "a\r\nX-Evil: b");
	http_reply(r, 200, "text/plain", buf_str(&b));
	buf_release(&b);
}

static void on_request(struct http_request *r, void *arg)
{
	struct world *w = arg;

	w->requests++;
	if (str_is(http_path(r), "/hold")) {
		w->held = r;
		if (!w->no_on_close)
			http_on_close(r, on_close, w);
	} else if (str_is(http_path(r), "/empty")) {
		http_reply(r, 204, NULL, STR_NULL);
	} else if (str_is(http_path(r), "/echo")) {
		http_reply(r, 200, "text/plain", http_body(r));
	} else {
		describe(r);
	}
}

static int start(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);

	served_start(
	    &w->served, &(struct http_options){.output_max = 64u << 20}, NULL, on_request, w);
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

static void expect(struct world *w, const char *request, int status, const char *body)
{
	struct buf b = {0};

	assert_int_equal(client_ask(w->served.port, request, &b), status);
	assert_non_null(strstr(b.p ? b.p : "", body));
	buf_release(&b);
}

static void test_simple(void **state)
{
	expect(*state, "GET /v1/tasks HTTP/1.1\r\nHost: x\r\nx-test: yes\r\n\r\n", 200,
	    "GET 9:/v1/tasks x=yes body=0 unix=0 loopback=1");
	expect(*state, "PATCH //a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 200,
	    "PATCH 3://a x= body=3");
	expect(*state,
	    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
	    "chunked\r\n\r\n4\r\nwiki\r\n3\r\nabc\r\n0\r\n\r\n",
	    200, "POST 1:/ x= body=7");
	expect(*state, "DELETE /x HTTP/1.0\r\n\r\n", 200, "DELETE 2:/x");
}

static void test_query_is_decoded(void **state)
{
	expect(*state, "GET /p%20q?a=1&b=x%26y+z&&c HTTP/1.1\r\nHost: x\r\n\r\n", 200,
	    "GET 4:/p q [a=1] [b=x&y z] [c=]");
}

/* What the handler has in hand stays where it is, however long the rest of the target is. */
static void test_path_holds_while_the_query_is_read(void **state)
{
	static const char *const queries[] = {"&", "a=b&", "%41=%42&", "+"};

	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
		struct buf b = {0};

		buf_add_cstr(&b, "GET /v1/queues/my%20queue?");
		for (int k = 0; k < 3000; k++)
			buf_add_cstr(&b, queries[i]);
		buf_add_cstr(&b, " HTTP/1.1\r\nHost: x\r\n\r\n");
		expect(*state, b.p, 200, "GET 19:/v1/queues/my queue ");
		buf_release(&b);
	}
}

static void test_nul_in_path_stays_visible(void **state)
{
	struct world *w = *state;
	struct buf b = {0};

	assert_int_equal(
	    client_ask(w->served.port, "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n", &b), 200);
	assert_memory_equal(b.p, "GET 4:/a\0b x=", 13);
	buf_release(&b);
}

static void test_headers_can_not_be_split(void **state)
{
	struct world *w = *state;
	struct buf head = {0}, body = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(client_read_answer(fd, &head, &body), 200);
	assert_non_null(strstr(head.p, "X-Echo: a  X-Evil: b\r\n"));
	assert_non_null(strstr(head.p, "\r\nDate: "));
	close(fd);
	buf_release(&head);
	buf_release(&body);
}

static void test_head_has_no_body(void **state)
{
	struct world *w = *state;
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "\r\n\r\n"));
	assert_non_null(strstr(b.p, "Content-Length: "));
	assert_null(strstr(b.p, "Content-Length: 0"));
	client_send_text(fd, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_read_until(fd, &b, "204 No Content"));
	assert_null(strstr(b.p, "HEAD 1:/"));
	close(fd);
	buf_release(&b);
}

static void test_pipelined_keep_alive(void **state)
{
	struct world *w = *state;
	struct buf all = {0}, head = {0}, body = {0};
	int fd = client_connect(w->served.port);
	char text[8];

	for (int i = 0; i < 50; i++)
		buf_printf(
		    &all, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n%02d", i);
	client_send(fd, all.p, all.n);
	for (int i = 0; i < 50; i++) {
		assert_int_equal(client_read_answer(fd, &head, &body), 200);
		snprintf(text, sizeof text, "%02d", i);
		assert_string_equal(body.p, text);
	}
	client_send_text(fd, "GET /empty HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	assert_int_equal(client_read_answer(fd, &head, &body), 204);
	assert_non_null(strstr(head.p, "Connection: close"));
	assert_true(client_wait_closed(fd));
	close(fd);
	buf_release(&all);
	buf_release(&head);
	buf_release(&body);
}

static void test_large_round_trip(void **state)
{
	struct world *w = *state;
	size_t n = 20u << 20;
	char *block = xmalloc(n), head_text[100];
	struct buf got = {0};
	int fd = client_connect(w->served.port);

	for (size_t i = 0; i < n; i++)
		block[i] = (char)('a' + i % 26);
	snprintf(head_text, sizeof head_text,
	    "POST /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n",
	    n);
	client_send_text(fd, head_text);
	client_send(fd, block, n);
	assert_true(client_read_until(fd, &got, "\r\n\r\n"));
	buf_reserve(&got, n);
	for (ssize_t k = 1; k > 0; got.n += (size_t)k) {
		buf_reserve(&got, 65536);
		k = read(fd, got.p + got.n, 65536);
		assert_true(k >= 0);
	}
	assert_true(got.n > n);
	assert_memory_equal(got.p + got.n - n, block, n);
	close(fd);
	free(block);
	buf_release(&got);
}

static void get_held(void *arg)
{
	struct world **p = arg;

	if (!(*p)->held)
		*p = NULL;
}

static bool is_held(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, get_held, &probe);
	return probe != NULL;
}

static void reply_held(void *arg)
{
	struct world *w = arg;

	http_reply(w->held, 201, "text/plain", http_raw_target(w->held));
	w->held = NULL;
}

static void test_deferred_reply(void **state)
{
	struct world *w = *state;
	struct buf head = {0}, body = {0};
	int fd = client_connect(w->served.port);

	client_send_text(fd, "POST /hold HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx"
	                     "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wait_until(is_held, w));
	expect(w, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n", 204, ""); /* others go on */
	served_call(&w->served, reply_held, w);
	assert_int_equal(client_read_answer(fd, &head, &body), 201);
	assert_string_equal(body.p, "/hold");
	assert_int_equal(client_read_answer(fd, &head, &body), 204); /* the pipelined one */
	close(fd);
	assert_int_equal(w->closes, 0);
	buf_release(&head);
	buf_release(&body);
}

static void get_closes(void *arg)
{
	struct world **p = arg;

	if ((*p)->closes == 0)
		*p = NULL;
}

static bool is_closed(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, get_closes, &probe);
	return probe != NULL;
}

static void test_disconnect_before_reply(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wait_until(is_held, w));
	close(fd);
	assert_true(wait_until(is_closed, w));
	assert_int_equal(w->closes, 1);
	expect(w, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n", 204, "");
}

/* What it had sent beyond the request must not hide that it left. */
static void test_disconnect_behind_pipelined_bytes(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w->served.port);

	client_send_text(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\nGET /hold HT");
	assert_true(wait_until(is_held, w));
	close(fd);
	assert_true(wait_until(is_closed, w));
	assert_int_equal(w->closes, 1);
}

/* Sixteen megabytes are put together over many turns: whoever leaves in between leaves nothing. */
static void test_disconnect_while_a_body_is_put_together(void **state)
{
	struct world *w = *state;
	size_t n = 16u << 20;
	char *body = xcalloc(1, n);

	for (int i = 0; i < 4; i++) {
		int fd = client_connect(w->served.port);

		client_send_text(
		    fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 16777216\r\n\r\n");
		client_send(fd, body, n);
		close(fd);
	}
	free(body);
	expect(w, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n", 204, "");
}

static void get_count(void *arg)
{
	struct world **p = arg;

	if (http_connections((*p)->served.server) > 0)
		*p = NULL;
}

static bool nobody_connected(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, get_count, &probe);
	return probe != NULL;
}

static void test_reply_to_nobody_is_safe(void **state)
{
	struct world *w = *state;
	int fd = client_connect(w->served.port);

	w->no_on_close = true;
	client_send_text(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wait_until(is_held, w));
	close(fd);
	assert_true(wait_until(nobody_connected, w));
	served_call(&w->served, reply_held, w);
	expect(w, "GET /empty HTTP/1.1\r\nHost: x\r\n\r\n", 204, "");
}

static void test_shutdown_answers_503(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);
	struct buf head = {0}, body = {0};
	int fd;

	served_start(&w->served, NULL, NULL, on_request, w);
	fd = client_connect(w->served.port);
	client_send_text(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wait_until(is_held, w));
	served_stop(&w->served);
	assert_int_equal(w->closes, 1);
	assert_int_equal(client_read_answer(fd, &head, &body), 503);
	assert_non_null(strstr(body.p, "shutting down"));
	assert_int_equal(access(w->served.socket_path, F_OK), -1);
	close(fd);
	buf_release(&head);
	buf_release(&body);
	free(w);
}

static void test_unix_peer(void **state)
{
	struct world *w = *state;
	struct buf head = {0}, body = {0};
	int fd = client_connect_unix(w->served.socket_path);
	char want[64];
	struct stat st;

	snprintf(want, sizeof want, "unix=1 loopback=1 uid=%d", (int)getuid());
	for (int i = 0; i < 3; i++) {
		client_send_text(fd, "GET /u HTTP/1.1\r\nHost: x\r\n\r\n");
		assert_int_equal(client_read_answer(fd, &head, &body), 200);
		assert_non_null(strstr(body.p, want));
	}
	assert_int_equal(stat(w->served.socket_path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close(fd);
	buf_release(&head);
	buf_release(&body);
}

static void test_unix_socket_taken_or_stale(void **state)
{
	struct loop *loop = loop_new();
	struct http_server *a = http_server_new(loop, NULL, on_request, NULL);
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	struct problem p = {0};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *too_long = xcalloc(1, 300);

	snprintf(sun.sun_path, sizeof sun.sun_path, "/tmp/reeve-stale-%d", getpid());
	assert_int_equal(bind(fd, (struct sockaddr *)&sun, sizeof sun), 0);
	close(fd); /* the file stays, nobody listens */
	assert_int_equal(http_listen_unix(a, sun.sun_path, 0660, &p), 0);
	assert_int_equal(http_listen_unix(a, sun.sun_path, 0660, &p), ERR_CONFLICT);
	assert_non_null(strstr(p.what, "Another process"));
	assert_int_equal(http_listen_unix(a, "/etc/passwd", 0660, &p), ERR_CONFLICT);
	assert_int_equal(http_listen_unix(a, "/nonexistent/x", 0660, &p), ERR_IO);
	memset(too_long, 'x', 200);
	assert_int_equal(http_listen_unix(a, too_long, 0660, &p), ERR_INVALID);
	free(too_long);
	http_server_free(a);
	loop_free(loop);
}

/* When the kernel does not say who it is, it must not be taken for root. */
static void test_unknown_peer_is_nobody(void **state)
{
	struct http_peer p = {.is_unix = true};
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	http_peer_read(fd[0], &p);
	assert_true(p.uid == (uid_t)-1 && p.gid == (gid_t)-1);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_unknown_peer_is_nobody),
	    cmocka_unit_test_setup_teardown(test_simple, start, stop),
	    cmocka_unit_test_setup_teardown(test_query_is_decoded, start, stop),
	    cmocka_unit_test_setup_teardown(test_path_holds_while_the_query_is_read, start, stop),
	    cmocka_unit_test_setup_teardown(test_nul_in_path_stays_visible, start, stop),
	    cmocka_unit_test_setup_teardown(test_headers_can_not_be_split, start, stop),
	    cmocka_unit_test_setup_teardown(test_head_has_no_body, start, stop),
	    cmocka_unit_test_setup_teardown(test_pipelined_keep_alive, start, stop),
	    cmocka_unit_test_setup_teardown(test_large_round_trip, start, stop),
	    cmocka_unit_test_setup_teardown(test_deferred_reply, start, stop),
	    cmocka_unit_test_setup_teardown(test_disconnect_before_reply, start, stop),
	    cmocka_unit_test_setup_teardown(test_disconnect_behind_pipelined_bytes, start, stop),
	    cmocka_unit_test_setup_teardown(
	        test_disconnect_while_a_body_is_put_together, start, stop),
	    cmocka_unit_test_setup_teardown(test_reply_to_nobody_is_safe, start, stop),
	    cmocka_unit_test(test_shutdown_answers_503),
	    cmocka_unit_test_setup_teardown(test_unix_peer, start, stop),
	    cmocka_unit_test(test_unix_socket_taken_or_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
