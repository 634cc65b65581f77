/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of this machine: given once at a time, and only while nobody else has them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "worker/jobs/ports.h"

static struct ports ports;

/* Somebody who listens, at a port that the kernel chooses. */
static int listen_somewhere(uint16_t *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &n), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

/* A range of one port, which is free. */
static uint16_t open_one(void)
{
	char range[32];
	uint16_t port;

	close(listen_somewhere(&port));
	snprintf(range, sizeof range, "%d-%d", port, port);
	assert_int_equal(ports_open(&ports, range, NULL), 0);
	return port;
}

static void test_ranges(void **state)
{
	static const char *const bad[] = {"", "20000", "20000-", "-1", "20000-19999", "0-5",
	    "1-65536", "20000-29999x", "a-b", "20000 - 29999"};
	struct problem p;

	assert_int_equal(ports_open(&ports, NULL, &p), 0);
	assert_int_equal(ports_total(&ports), 0);
	assert_int_equal(ports_open(&ports, "20000-29999", &p), 0);
	assert_int_equal(ports_total(&ports), 10000);
	assert_int_equal(ports_open(&ports, "7-7", &p), 0);
	assert_int_equal(ports_total(&ports), 1);
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_int_equal(ports_open(&ports, bad[i], &p), ERR_INVALID);
		assert_non_null(strstr(p.what, "worker.ports"));
	}
}

static void test_none_is_given_twice(void **state)
{
	uint16_t all[64], more;
	bool seen[65536] = {false};

	assert_int_equal(ports_open(&ports, "23000-23999", NULL), 0);
	for (int round = 0; round < 4; round++) {
		assert_true(ports_take(&ports, 64, all));
		for (int i = 0; i < 64; i++) {
			assert_in_range(all[i], 23000, 23999);
			assert_false(seen[all[i]]);
			seen[all[i]] = true;
		}
	}
	ports_give_back(&ports, all, 64);
	assert_true(ports_take(&ports, 1, &more));
	assert_false(seen[more]); /* what was given back rests as long as there are others */
}

static void test_all_or_none(void **state)
{
	uint16_t got[2], port = open_one();

	assert_false(ports_take(&ports, 2, got));
	assert_true(ports_take(&ports, 1, got));
	assert_int_equal(got[0], port);
	assert_false(ports_take(&ports, 1, got));
	ports_give_back(&ports, got, 1);
	assert_true(ports_take(&ports, 1, got));
}

static void test_what_others_have(void **state)
{
	uint16_t got, port = open_one();
	char range[32];
	int fd = listen_somewhere(&port);

	snprintf(range, sizeof range, "%d-%d", port, port);
	assert_int_equal(ports_open(&ports, range, NULL), 0);
	assert_false(ports_take(&ports, 1, &got));
	close(fd);
	assert_true(ports_take(&ports, 1, &got));
}

/* The last connection of whoever had it is not forgotten yet: that is no reason. */
static void test_what_was_in_use(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uint16_t got, port;
	char range[32], byte;
	int fd = listen_somewhere(&port), client = socket(AF_INET, SOCK_STREAM, 0), served;

	at.sin_port = htons(port);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof at), 0);
	served = accept(fd, NULL, NULL);
	assert_true(served >= 0);
	close(served); /* first: its end of the connection waits in this port */
	assert_int_equal(read(client, &byte, 1), 0);
	close(client);
	close(fd);
	snprintf(range, sizeof range, "%d-%d", port, port);
	assert_int_equal(ports_open(&ports, range, NULL), 0);
	assert_true(ports_take(&ports, 1, &got));
}

static void test_what_an_earlier_worker_gave(void **state)
{
	uint16_t got, port = open_one();

	ports_keep(&ports, port);
	ports_keep(&ports, 1); /* of another range: no harm */
	assert_false(ports_take(&ports, 1, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_none_is_given_twice),
	    cmocka_unit_test(test_all_or_none),
	    cmocka_unit_test(test_what_others_have),
	    cmocka_unit_test(test_what_was_in_use),
	    cmocka_unit_test(test_what_an_earlier_worker_gave),
	};

	return cmocka_run_group_tests_name("ports", tests, NULL, NULL);
}
