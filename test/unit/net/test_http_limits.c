/* SPDX-License-Identifier: Apache-2.0 */
/* Bad and slow clients: each gets its answer or its end, and the others do not notice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "client.h"

struct world {
	struct served served;
	struct http_request *held;
	int want_connections;
	uint64_t want_cut, cut;
	size_t output;
};

static void on_request(struct http_request *r, void *arg)
{
	struct world *w = arg;
	char *block;

	if (str_is(http_path(r), "/hold")) {
		w->held = r;
	} else if (str_is(http_path(r), "/huge")) {
		block = xcalloc(1, 32u << 20);
		http_reply(r, 200, "text/plain", (struct str){block, 32u << 20});
		free(block);
	} else {
		http_reply(r, 200, "text/plain", STR("fine"));
	}
}

static struct world *begin(struct http_options o)
{
	struct world *w = xcalloc(1, sizeof *w);

	served_start(&w->served, &o, NULL, on_request, w);
	return w;
}

static void end(struct world *w)
{
	served_stop(&w->served);
	free(w);
}

static void expect_fine(struct world *w)
{
	struct buf b = {0};

	assert_int_equal(client_ask(w->served.port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", &b), 200);
	assert_string_equal(b.p, "fine");
	buf_release(&b);
}

static void expect_problem(int fd, int status, const char *type)
{
	struct buf head = {0}, body = {0};

	assert_int_equal(client_read_answer(fd, &head, &body), status);
	assert_non_null(strstr(head.p, "application/problem+json"));
	assert_non_null(strstr(head.p, "Connection: close"));
	assert_non_null(strstr(body.p, type));
	assert_true(client_wait_closed(fd));
	buf_release(&head);
	buf_release(&body);
}

static void probe_connections(void *arg)
{
	struct world **p = arg;

	if (http_connections((*p)->served.server) < (*p)->want_connections)
		*p = NULL;
}

static bool all_connected(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, probe_connections, &probe);
	return probe != NULL;
}

static void probe_none(void *arg)
{
	struct world **p = arg;

	if (http_connections((*p)->served.server) > 0)
		*p = NULL;
}

static bool none_connected(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, probe_none, &probe);
	return probe != NULL;
}

static void refused(struct world *w, const char *request, size_t more, int status, const char *type)
{
	int fd = client_connect(w->served.port);
	char *block = xcalloc(1, more + 1);

	client_send_text(fd, request);
	client_send(fd, block, more); /* like clients that only read when all is sent */
	expect_problem(fd, status, type);
	close(fd);
	free(block);
	expect_fine(w);
}

static void test_too_large_bodies(void **state)
{
	struct world *w = begin((struct http_options){.body_max = 1000});

	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n", 1001, 413,
	    "too-large");
	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n", 8000000, 413,
	    "\"status\":413");
	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999999\r\n\r\n", 100, 413,
	    "too-large");
	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4000\r\n", 100,
	    413, "too-large");
	refused(w,
	    "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000\r\n\r\n", 0,
	    413, "too-large");
	end(w);
}

static void test_malformed_requests(void **state)
{
	struct world *w = begin((struct http_options){.header_max = 2000});
	char *long_request = xasprintf("GET / HTTP/1.1\r\nHost: x\r\nX: %02000d\r\n\r\n", 7);

	refused(w, "nonsense\r\n\r\n", 0, 400, "invalid");
	refused(w, "GET / HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n", 0, 400, "invalid");
	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 0, 400, "invalid");
	refused(w, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5x\r\n\r\n", 0, 400, "invalid");
	refused(w, "BREW /pot HTTP/1.1\r\nHost: x\r\n\r\n", 0, 501, "method-not-allowed");
	refused(w, long_request, 0, 400, "invalid");
	free(long_request);
	end(w);
}

static void test_continue_is_answered(void **state)
{
	struct world *w = begin((struct http_options){0});
	struct buf b = {0};
	int fd = client_connect(w->served.port);

	client_send_text(
	    fd, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	assert_true(client_read_until(fd, &b, "100 Continue\r\n\r\n"));
	client_send_text(fd, "ab");
	assert_true(client_read_until(fd, &b, "fine"));
	close(fd);
	buf_release(&b);
	end(w);
}

/* A few bytes now and then: never idle, never done. */
static void test_trickling_client_is_ended(void **state)
{
	struct world *w = begin((struct http_options){.idle_ms = 5000, .request_ms = 200});
	int64_t start = clock_mono_ms();
	int fd = client_connect(w->served.port), fine = 0;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	client_send_text(fd, "POST / HTTP/1.1\r\nHost: x\r\nX-Slow: ");
	while (poll(&p, 1, 10) == 0) {
		assert_int_equal(send(fd, "z", 1, MSG_NOSIGNAL), 1);
		expect_fine(w);
		fine++;
		assert_true(clock_mono_ms() - start < 10000);
	}
	expect_problem(fd, 408, "timeout");
	assert_true(clock_mono_ms() - start >= 200);
	assert_true(fine > 0);
	close(fd);
	end(w);
}

static void test_idle_and_stalled_clients_are_ended(void **state)
{
	struct world *w = begin((struct http_options){.idle_ms = 60});
	int idle = client_connect(w->served.port), stalled = client_connect(w->served.port);
	int deaf = client_connect(w->served.port);

	client_send_text(stalled, "GET / HTTP/1.1\r\nHost: x\r\n");
	client_send_text(deaf, "GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(client_wait_closed(idle));
	expect_problem(stalled, 408, "timeout");
	close(idle);
	close(stalled);
	/* Nothing is read from `deaf`: the server must give it up by itself. */
	assert_true(wait_until(none_connected, w));
	close(deaf);
	end(w);
}

static void probe_held(void *arg)
{
	struct world **p = arg;

	if (!(*p)->held)
		*p = NULL;
}

static bool is_held(void *arg)
{
	struct world *w = arg, *probe = w;

	served_call(&w->served, probe_held, &probe);
	return probe != NULL;
}

static void reply_held(void *arg)
{
	struct world *w = arg;

	http_reply(w->held, 200, "text/plain", STR("at last"));
}

/* A client that waits for us is not idle, however long we take. */
static void test_waiting_clients_are_not_ended(void **state)
{
	struct world *w = begin((struct http_options){.idle_ms = 40, .request_ms = 40});
	struct buf head = {0}, body = {0};
	int fd = client_connect(w->served.port), other;

	client_send_text(fd, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_true(wait_until(is_held, w));
	other = client_connect(w->served.port);
	assert_true(client_wait_closed(other)); /* so at least one sweep found it waiting */
	served_call(&w->served, reply_held, w);
	assert_int_equal(client_read_answer(fd, &head, &body), 200);
	close(fd);
	close(other);
	buf_release(&head);
	buf_release(&body);
	end(w);
}

static void test_past_the_limit_connections_wait(void **state)
{
	struct world *w = begin((struct http_options){.connections_max = 2});
	struct buf head = {0}, body = {0};
	int a = client_connect(w->served.port), b = client_connect(w->served.port), c;
	struct pollfd p = {.events = POLLIN};

	client_send_text(a, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(client_read_answer(a, &head, &body), 200);
	client_send_text(b, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	assert_int_equal(client_read_answer(b, &head, &body), 200);
	c = client_connect(w->served.port);
	client_send_text(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
	p.fd = c;
	assert_int_equal(poll(&p, 1, 50), 0);
	close(a);
	assert_int_equal(client_read_answer(c, &head, &body), 200);
	close(b);
	close(c);
	buf_release(&head);
	buf_release(&body);
	end(w);
}

static void look_at_output(void *arg)
{
	struct world *w = arg;

	w->cut = http_cut_off(w->served.server);
	w->output = http_output(w->served.server);
}

static bool were_cut(void *arg)
{
	struct world *w = arg;

	served_call(&w->served, look_at_output, w);
	return w->cut == w->want_cut && w->output <= 80u << 20;
}

static bool nothing_waits(void *arg)
{
	struct world *w = arg;

	served_call(&w->served, look_at_output, w);
	return w->output == 0;
}

static void test_buffered_input_is_bounded(void **state)
{
	struct world *w = begin((struct http_options){.body_max = 900000, .buffered_max = 1000000});
	int small = client_connect(w->served.port), large = client_connect(w->served.port);
	struct buf head = {0}, body = {0};
	char *block = xcalloc(1, 900000);

	client_send_text(small, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 400000\r\n\r\n");
	client_send(small, block, 300000);
	expect_fine(w);
	client_send_text(large, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
	client_send(large, block, 800000);
	expect_problem(large, 503, "busy");
	client_send(small, block, 100000);
	assert_int_equal(client_read_answer(small, &head, &body), 200);
	close(small);
	close(large);
	free(block);
	buf_release(&head);
	buf_release(&body);
	end(w);
}

/* The client that holds most of what waits to be read goes; the others do not notice. */
static void test_unread_answers_are_bounded(void **state)
{
	struct world *w = begin((struct http_options){.output_max = 80u << 20});
	int fds[4];

	for (int i = 0; i < 4; i++) {
		fds[i] = client_connect_unix(w->served.socket_path);
		client_send_text(fds[i], "GET /huge HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	w->want_cut = 2;
	assert_true(wait_until(were_cut, w));
	expect_fine(w);
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	w->want_cut = 2;
	assert_true(wait_until(nothing_waits, w));
	assert_true(were_cut(w));
	end(w);
}

static void test_thousands_of_idle_connections(void **state)
{
	struct world *w = begin((struct http_options){0});
	struct rlimit r;
	int *fds, n = 5000;

	getrlimit(RLIMIT_NOFILE, &r); /* both ends are ours here */
	if (r.rlim_cur < 2 * 5000 + 100)
		n = (int)(r.rlim_cur - 100) / 2;
	fds = xcalloc((size_t)n, sizeof *fds);
	for (int i = 0; i < n; i++)
		fds[i] = client_connect(w->served.port);
	w->want_connections = n;
	assert_true(wait_until(all_connected, w));
	expect_fine(w);
	for (int i = 0; i < n; i++)
		close(fds[i]);
	expect_fine(w);
	free(fds);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_too_large_bodies),
	    cmocka_unit_test(test_malformed_requests),
	    cmocka_unit_test(test_continue_is_answered),
	    cmocka_unit_test(test_trickling_client_is_ended),
	    cmocka_unit_test(test_idle_and_stalled_clients_are_ended),
	    cmocka_unit_test(test_waiting_clients_are_not_ended),
	    cmocka_unit_test(test_past_the_limit_connections_wait),
	    cmocka_unit_test(test_buffered_input_is_bounded),
	    cmocka_unit_test(test_unread_answers_are_bounded),
	    cmocka_unit_test(test_thousands_of_idle_connections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
