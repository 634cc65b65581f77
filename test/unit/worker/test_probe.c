/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at real sockets of the loopback, and the scanner of replies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/loop/address.h"
#include "worker/checks/probe.h"

#define PATIENCE_MS 20000

/* A server that answers one connection with `reply`, `step` bytes per turn of the loop. */
struct world {
	struct loop *loop;
	struct loop_watch *listening, *talking;
	struct loop_timer *pace;
	int listener, port, client;
	const char *reply; /* NULL: it is silent */
	size_t size, step, sent;
	bool hang_up; /* after the reply */
	char request[2048];
	size_t n_request;
	int told;
	bool ok;
	char why[256];
};

static void on_pace(void *arg)
{
	struct world *w = arg;
	size_t n = w->size - w->sent < w->step ? w->size - w->sent : w->step;

	if (n && send(w->client, w->reply + w->sent, n, MSG_NOSIGNAL) != (ssize_t)n)
		return; /* the probe knows enough */
	w->sent += n;
	if (w->sent < w->size)
		loop_timer_set(w->pace, 0);
	else if (w->hang_up)
		shutdown(w->client, SHUT_WR);
}

static void on_request(int fd, bool readable, bool writable, void *arg)
{
	struct world *w = arg;
	ssize_t n = read(fd, w->request + w->n_request, sizeof w->request - 1 - w->n_request);

	if (n <= 0) {
		loop_watch_set(w->talking, false, false);
		return;
	}
	w->n_request += (size_t)n;
	if (w->reply && strstr(w->request, "\r\n\r\n"))
		loop_timer_set(w->pace, 0);
}

static void on_connection(int fd, bool readable, bool writable, void *arg)
{
	struct world *w = arg;

	w->client = accept(fd, NULL, NULL);
	if (w->client < 0)
		return;
	loop_watch_set(w->listening, false, false);
	w->talking = loop_watch_new(w->loop, w->client, on_request, w);
	loop_watch_set(w->talking, true, false);
}

static void on_done(bool ok, const char *why, void *arg)
{
	struct world *w = arg;

	w->told++;
	w->ok = ok;
	assert_true(ok ? why == NULL : why != NULL);
	snprintf(w->why, sizeof w->why, "%s", why ? why : "");
	loop_stop(w->loop);
}

static void open_world(struct world *w, const char *address)
{
	struct problem problem;

	*w = (struct world){.loop = loop_new(), .client = -1};
	assert_int_equal(address_listen(address, &w->listener, &w->port, &problem), 0);
	w->listening = loop_watch_new(w->loop, w->listener, on_connection, w);
	loop_watch_set(w->listening, true, false);
	w->pace = loop_timer_new(w->loop, on_pace, w);
}

static void close_world(struct world *w)
{
	loop_timer_free(w->pace);
	if (w->talking)
		loop_watch_free(w->talking);
	if (w->client >= 0)
		close(w->client);
	if (w->listening)
		loop_watch_free(w->listening);
	if (w->listener >= 0)
		close(w->listener);
	loop_free(w->loop);
}

static void deaf_and_gone(struct world *w)
{
	loop_watch_free(w->listening);
	close(w->listener);
	w->listening = NULL;
	w->listener = -1;
}

static struct run_check check_of(const struct world *w, int kind)
{
	return (struct run_check){.kind = kind, .port = w->port, .timeout_ms = PATIENCE_MS};
}

static void look(struct world *w, struct run_check c)
{
	int before = w->told;

	assert_non_null(probe_start(w->loop, &c, on_done, w));
	assert_int_equal(w->told, before); /* never from inside */
	loop_run(w->loop);
	assert_int_equal(w->told, before + 1);
}

static void test_tcp_accepting(void **state)
{
	struct world w;

	open_world(&w, "127.0.0.1:0");
	look(&w, check_of(&w, CHECK_TCP));
	assert_true(w.ok);
	close_world(&w);
}

static void test_tcp_closed_port(void **state)
{
	struct world w;

	open_world(&w, "127.0.0.1:0");
	deaf_and_gone(&w);
	look(&w, check_of(&w, CHECK_TCP));
	assert_false(w.ok);
	assert_string_equal(w.why, "connection refused");
	look(&w, check_of(&w, CHECK_HTTP));
	assert_string_equal(w.why, "connection refused");
	close_world(&w);
}

static void test_localhost_is_both_loopbacks(void **state)
{
	static const char *const addresses[] = {"127.0.0.1:0", "[::1]:0"};
	struct problem problem;
	int fd, port;

	if (address_listen("[::1]:0", &fd, &port, &problem) < 0)
		skip(); /* a machine without IPv6 */
	close(fd);
	for (int i = 0; i < 2; i++) {
		struct run_check c;
		struct world w;

		open_world(&w, addresses[i]);
		c = check_of(&w, CHECK_TCP);
		c.host = STR("localhost");
		look(&w, c);
		assert_true(w.ok);
		deaf_and_gone(&w);
		look(&w, c);
		assert_string_equal(w.why, "connection refused");
		close_world(&w);
	}
}

static void test_what_can_not_be_asked(void **state)
{
	struct {
		const char *host;
		int port;
		const char *path, *why;
	} bad[] = {
	    {"example.com", 80, NULL,
	        "\"example.com\" is no numeric address: a check's host is one, or \"localhost\""},
	    {"127.0.0.1:80", 80, NULL,
	        "\"127.0.0.1:80\" is no numeric address: a check's host is one, or \"localhost\""},
	    {NULL, 0, NULL, "0 is no port: give one between 1 and 65535"},
	    {NULL, 65536, NULL, "65536 is no port: give one between 1 and 65535"},
	    {NULL, 80, "a", "a check's path begins with / and holds plain ASCII only, no blanks"},
	    {NULL, 80, "/a\r\nX: y",
	        "a check's path begins with / and holds plain ASCII only, no blanks"},
	};
	struct world w;

	open_world(&w, "127.0.0.1:0");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct run_check c = check_of(&w, CHECK_HTTP);

		c.host = str_of(bad[i].host);
		c.port = bad[i].port;
		c.path = str_of(bad[i].path);
		look(&w, c);
		assert_false(w.ok);
		assert_string_equal(w.why, bad[i].why);
	}
	close_world(&w);
}

static void test_http_replies(void **state)
{
	struct {
		const char *reply, *why; /* "": it is well */
		bool hang_up;
	} cases[] = {
	    {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "", false},
	    {"HTTP/1.0 204\n\n", "", false},
	    {"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "", false},
	    {"HTTP/1.1 399 x\r\n\r\n", "", false},
	    {"HTTP/1.1 400 x\r\n\r\n", "HTTP status 400", false},
	    {"HTTP/1.1 503 Service Unavailable\r\n\r\n", "HTTP status 503", false},
	    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "HTTP status 101", false},
	    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "", false},
	    {"SSH-2.0-OpenSSH_9.2p1\r\n", "the answer is not HTTP", false},
	    {"HTTP/1.1 2x0 OK\r\n\r\n", "the answer is not HTTP", false},
	    {"HTTP/1.1 2000 OK\r\n\r\n", "the answer is not HTTP", false},
	    {"HTTP/1.1 200 OK\r\nA: b\r\n", "the connection was closed before the answer was whole",
	        true},
	    {"", "the connection was closed before the answer was whole", true},
	};

	for (size_t step = 1; step < 1000; step += 998) {
		for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
			struct world w;

			open_world(&w, "127.0.0.1:0");
			w.reply = cases[i].reply;
			w.size = strlen(w.reply);
			w.step = step;
			w.hang_up = cases[i].hang_up;
			look(&w, check_of(&w, CHECK_HTTP));
			assert_string_equal(w.why, cases[i].why);
			assert_int_equal(w.ok, !*cases[i].why);
			close_world(&w);
		}
	}
}

static void test_http_header_is_bounded(void **state)
{
	char *reply = xmalloc(PROBE_HEADER_MAX + 1);
	struct world w;

	memset(reply, 'a', PROBE_HEADER_MAX + 1);
	memcpy(reply, "HTTP/1.1 200 OK\r\nA: ", 20);
	open_world(&w, "127.0.0.1:0");
	w.reply = reply;
	w.size = w.step = PROBE_HEADER_MAX + 1;
	look(&w, check_of(&w, CHECK_HTTP));
	assert_string_equal(w.why, "the answer's header is longer than 8192 bytes");
	close_world(&w);
	free(reply);
}

static void test_http_request(void **state)
{
	struct run_check c;
	char wanted[256];
	struct world w;

	open_world(&w, "127.0.0.1:0");
	w.reply = "HTTP/1.1 200 OK\r\n\r\n";
	w.size = w.step = strlen(w.reply);
	c = check_of(&w, CHECK_HTTP);
	c.path = STR("/health?deep=1");
	look(&w, c);
	assert_true(w.ok);
	snprintf(wanted, sizeof wanted,
	    "GET /health?deep=1 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: reeve\r\n"
	    "Accept: */*\r\nConnection: close\r\n\r\n",
	    w.port);
	assert_string_equal(w.request, wanted);
	close_world(&w);
}

static void test_silence_times_out(void **state)
{
	struct run_check c;
	struct world w;

	open_world(&w, "127.0.0.1:0");
	c = check_of(&w, CHECK_HTTP);
	c.timeout_ms = 50;
	look(&w, c);
	assert_false(w.ok);
	assert_string_equal(w.why, "timed out after 50ms");
	close_world(&w);
}

static void stop(void *arg)
{
	struct world *w = arg;

	loop_stop(w->loop);
}

/* Cancelled in every stage: before the loop has turned, while it is silent, over before it began.
 */
static void test_cancel(void **state)
{
	struct run_check c;
	struct probe *p;
	struct world w;

	open_world(&w, "127.0.0.1:0");
	c = check_of(&w, CHECK_HTTP);
	p = probe_start(w.loop, &c, on_done, &w);
	while (w.n_request == 0) {
		loop_post(w.loop, stop, &w);
		loop_run(w.loop);
	}
	probe_cancel(p);
	probe_cancel(NULL);
	probe_cancel(probe_start(w.loop, &c, on_done, &w));
	c.port = 0;
	probe_cancel(probe_start(w.loop, &c, on_done, &w));
	for (int i = 0; i < 10; i++) {
		loop_post(w.loop, stop, &w);
		loop_run(w.loop);
	}
	assert_int_equal(w.told, 0);
	close_world(&w);
}

/* A body may hold anything, and may come together with the header. */
static void test_scan_of_a_body_with_nuls(void **state)
{
	static const char good[] = "HTTP/1.1 200 OK\r\n\r\n\0\0\n\n",
	                  bad[] = "HTTP/1.1 200 OK\r\nA\0";
	const char *why = NULL;
	int status = 0;

	assert_int_equal(probe_scan((struct str){good, sizeof good - 1}, &status, &why), 1);
	assert_int_equal(status, 200);
	assert_int_equal(probe_scan((struct str){bad, sizeof bad - 1}, &status, &why), -1);
	assert_string_equal(why, "the answer is not HTTP");
	assert_int_equal(probe_scan(STR_NULL, &status, &why), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tcp_accepting),
	    cmocka_unit_test(test_tcp_closed_port),
	    cmocka_unit_test(test_localhost_is_both_loopbacks),
	    cmocka_unit_test(test_what_can_not_be_asked),
	    cmocka_unit_test(test_http_replies),
	    cmocka_unit_test(test_http_header_is_bounded),
	    cmocka_unit_test(test_http_request),
	    cmocka_unit_test(test_silence_times_out),
	    cmocka_unit_test(test_cancel),
	    cmocka_unit_test(test_scan_of_a_body_with_nuls),
	};

	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
