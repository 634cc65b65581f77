/* SPDX-License-Identifier: Apache-2.0 */
/* What a service manager is told, and the sockets that it hands over. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/loop/notify.h"
#include "net/loop/passed.h"

struct manager {
	struct loop *loop;
	struct loop_watch *watch;
	struct loop_timer *stop;
	int fd, pings;
	char heard[2048];
};

static void hear(int fd, bool readable, bool writable, void *arg)
{
	struct manager *m = arg;
	char text[512];
	ssize_t n;

	while ((n = recv(fd, text, sizeof text - 1, MSG_DONTWAIT)) > 0) {
		text[n] = 0;
		m->pings += strstr(text, "WATCHDOG=1\n") != NULL;
		strcat(m->heard, text);
		strcat(m->heard, "--\n");
	}
	if (m->pings >= 3)
		loop_stop(m->loop);
}

static void on_stop(void *arg)
{
	loop_stop(((struct manager *)arg)->loop);
}

static void manager_open(struct manager *m, const char *usec)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	char name[64];
	int n = snprintf(name, sizeof name, "@reeve-test-%d", (int)getpid());

	*m = (struct manager){.loop = loop_new()};
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	memcpy(sun.sun_path + 1, name + 1, (size_t)n - 1);
	assert_int_equal(bind(m->fd, (struct sockaddr *)&sun,
	                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
	    0);
	setenv("NOTIFY_SOCKET", name, 1);
	unsetenv("WATCHDOG_PID");
	if (usec)
		setenv("WATCHDOG_USEC", usec, 1);
	else
		unsetenv("WATCHDOG_USEC");
	m->stop = loop_timer_new(m->loop, on_stop, m);
}

static void manager_hear(struct manager *m, int64_t ms)
{
	if (!m->watch)
		m->watch = loop_watch_new(m->loop, m->fd, hear, m);
	loop_watch_set(m->watch, true, false);
	loop_timer_set(m->stop, ms);
	loop_run(m->loop);
}

static void manager_close(struct manager *m)
{
	if (m->watch)
		loop_watch_free(m->watch);
	loop_timer_free(m->stop);
	loop_free(m->loop);
	close(m->fd);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
}

static void test_states(void **state)
{
	struct manager m;
	struct notify *n;

	manager_open(&m, NULL);
	n = notify_new(m.loop);
	assert_non_null(n);
	notify_status(n, "one\ntwo");
	notify_ready(n);
	notify_stopping(n);
	notify_ready(n); /* too late */
	manager_hear(&m, 50);
	assert_string_equal(m.heard, "STATUS=one two\n--\nREADY=1\nSTATUS=one two\n--\n"
	                             "STOPPING=1\nSTATUS=one two\n--\n");
	notify_free(n);
	manager_close(&m);
}

static void test_reload(void **state)
{
	struct manager m;
	struct notify *n;

	manager_open(&m, NULL);
	n = notify_new(m.loop);
	notify_reloading(n);
	notify_ready(n);
	manager_hear(&m, 50);
	assert_memory_equal(m.heard, "RELOADING=1\nMONOTONIC_USEC=", 27);
	assert_non_null(strstr(m.heard, "--\nREADY=1\n--\n"));
	notify_free(n);
	manager_close(&m);
}

/* Not before we are ready: until then the manager has other limits. */
static void test_watchdog(void **state)
{
	struct manager m;
	struct notify *n;

	manager_open(&m, "40000");
	n = notify_new(m.loop);
	manager_hear(&m, 60);
	assert_int_equal(m.pings, 0);
	notify_ready(n);
	manager_hear(&m, 60000);
	assert_true(m.pings >= 3);
	notify_free(n);
	manager_close(&m);
}

static void test_watchdogs_of_others(void **state)
{
	static const char *const times[] = {"0", "-5", "soon", "99999999999999999999", "40000"};
	struct manager m;
	struct notify *n;

	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		manager_open(&m, times[i]);
		if (i == 4)
			setenv("WATCHDOG_PID", "1", 1);
		n = notify_new(m.loop);
		notify_ready(n);
		manager_hear(&m, 60);
		assert_int_equal(m.pings, 0);
		notify_free(n);
		manager_close(&m);
	}
}

/* The socket's queue is full: nothing waits, nothing is lost that still holds. */
static void test_nobody_reads(void **state)
{
	struct manager m;
	struct notify *n;

	manager_open(&m, NULL);
	n = notify_new(m.loop);
	for (int i = 0; i < 5000; i++)
		notify_status(n, "%d", i);
	notify_ready(n);
	while (recv(m.fd, m.heard, sizeof m.heard, MSG_DONTWAIT) > 0)
		;
	memset(m.heard, 0, sizeof m.heard);
	manager_hear(&m, 2500);
	assert_string_equal(m.heard, "READY=1\nSTATUS=4999\n--\n");
	notify_free(n);
	manager_close(&m);
}

static void test_no_manager(void **state)
{
	char endless[300];
	const char *bad[] = {"", "/", "@", "relative/path", "vsock:2:1", endless};
	struct loop *l = loop_new();
	struct notify *n;

	memset(endless, 'x', sizeof endless);
	endless[0] = '/';
	endless[sizeof endless - 1] = 0;
	unsetenv("NOTIFY_SOCKET");
	assert_null(notify_new(l));
	notify_ready(NULL);
	notify_status(NULL, "nobody");
	notify_stopping(NULL);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		setenv("NOTIFY_SOCKET", bad[i], 1);
		assert_null(notify_new(l));
	}
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	n = notify_new(l);
	notify_ready(n);
	notify_free(n);
	unsetenv("NOTIFY_SOCKET");
	loop_free(l);
}

static int take(const char *pid, const char *fds, const char *names, size_t *ret_n)
{
	struct passed all[PASSED_MAX];
	struct problem p = {0};
	char own[32];
	int e;

	snprintf(own, sizeof own, "%d", (int)getpid());
	setenv("LISTEN_PID", pid ? pid : own, 1);
	setenv("LISTEN_FDS", fds, 1);
	if (names)
		setenv("LISTEN_FDNAMES", names, 1);
	*ret_n = 99;
	e = passed_take(all, ret_n, &p);
	assert_null(getenv("LISTEN_PID"));
	assert_null(getenv("LISTEN_FDS"));
	assert_null(getenv("LISTEN_FDNAMES"));
	assert_true(e == 0 || (p.what[0] && p.hint[0]));
	return e;
}

static void test_passed_numbers(void **state)
{
	static const char *const bad[] = {"", "x", "-1", "1x", "17", "4294967297", "1e9"};
	size_t n;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(take(NULL, bad[i], NULL, &n), ERR_INVALID);
	assert_int_equal(take(NULL, "0", NULL, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(take("1", "3", NULL, &n), 0); /* somebody else's */
	assert_int_equal(n, 0);
	assert_int_equal(take("me", "3", NULL, &n), 0);
	assert_int_equal(n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_states),
	    cmocka_unit_test(test_reload),
	    cmocka_unit_test(test_watchdog),
	    cmocka_unit_test(test_watchdogs_of_others),
	    cmocka_unit_test(test_nobody_reads),
	    cmocka_unit_test(test_no_manager),
	    cmocka_unit_test(test_passed_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
