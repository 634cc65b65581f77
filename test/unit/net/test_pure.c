/* SPDX-License-Identifier: Apache-2.0 */
/* What needs no socket: frames, addresses, request targets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/http/url.h"
#include "net/link/frame.h"
#include "net/loop/address.h"

static void test_frames(void **state)
{
	struct str rest = STR("\0\0\0\2hi\0\0\0\0\0\0\0\5wor"), payload;
	size_t need = 0;

	assert_int_equal(frame_next(&rest, 10, &payload, &need), FRAME_OK);
	assert_true(str_is(payload, "hi"));
	assert_int_equal(frame_next(&rest, 10, &payload, &need), FRAME_OK);
	assert_int_equal(payload.n, 0);
	assert_int_equal(frame_next(&rest, 10, &payload, &need), FRAME_MORE);
	assert_int_equal(need, 9);
	assert_int_equal(rest.n, 7);
	assert_int_equal(frame_next(&rest, 4, &payload, &need), FRAME_TOO_LARGE);
	assert_int_equal(need, 5);
	rest.n = 3;
	assert_int_equal(frame_next(&rest, 10, &payload, &need), FRAME_MORE);
	assert_int_equal(need, FRAME_HEAD);
}

static void test_frame_head_round_trip(void **state)
{
	unsigned char head[FRAME_HEAD];
	struct str rest = {(char *)head, sizeof head}, payload;
	size_t need;

	frame_head(0x01020304, head);
	assert_int_equal(frame_next(&rest, 0x01020303, &payload, &need), FRAME_TOO_LARGE);
	assert_int_equal(need, 0x01020304);
}

static void expect_address(const char *text, const char *host, const char *port)
{
	struct address a;
	struct problem p = {0};

	if (!host) {
		assert_int_equal(address_parse(text, &a, &p), ERR_INVALID);
		assert_non_null(strstr(p.what, "not an address"));
		assert_true(p.hint[0]);
		return;
	}
	assert_int_equal(address_parse(text, &a, &p), 0);
	assert_string_equal(a.host, host);
	assert_string_equal(a.port, port);
}

static void test_addresses(void **state)
{
	char long_host[400];

	expect_address("127.0.0.1:80", "127.0.0.1", "80");
	expect_address("[::1]:0", "::1", "0");
	expect_address(":7420", "", "7420");
	expect_address("*:7420", "", "7420");
	expect_address("example.org:65535", "example.org", "65535");
	expect_address("example.org", NULL, NULL);
	expect_address("example.org:", NULL, NULL);
	expect_address("example.org:65536", NULL, NULL);
	expect_address("example.org:-1", NULL, NULL);
	expect_address("::1:80", NULL, NULL);
	expect_address("[::1:80", NULL, NULL);
	expect_address("", NULL, NULL);
	memset(long_host, 'a', sizeof long_host);
	strcpy(long_host + 390, ":80");
	expect_address(long_host, NULL, NULL);
}

static bool loopback(int family, const char *text)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

	inet_pton(family, text, family == AF_INET ? (void *)&v4.sin_addr : &v6.sin6_addr);
	return address_is_loopback(family == AF_INET ? (void *)&v4 : (void *)&v6);
}

static void test_loopback(void **state)
{
	struct sockaddr un = {.sa_family = AF_UNIX};

	assert_true(loopback(AF_INET, "127.0.0.1"));
	assert_true(loopback(AF_INET, "127.9.9.9"));
	assert_false(loopback(AF_INET, "128.0.0.1"));
	assert_false(loopback(AF_INET, "10.0.0.1"));
	assert_true(loopback(AF_INET6, "::1"));
	assert_true(loopback(AF_INET6, "::ffff:127.0.0.1"));
	assert_false(loopback(AF_INET6, "::ffff:10.0.0.1"));
	assert_false(loopback(AF_INET6, "fe80::1"));
	assert_true(address_is_loopback(&un));
}

static void test_listen_conflict_is_explained(void **state)
{
	struct problem p = {0};
	char text[32];
	int fd, fd2, port;

	assert_int_equal(address_listen("127.0.0.1:0", &fd, &port, &p), 0);
	assert_in_range(port, 1, 65535);
	snprintf(text, sizeof text, "127.0.0.1:%d", port);
	assert_int_equal(address_listen(text, &fd2, NULL, &p), ERR_IO);
	assert_non_null(strstr(p.hint, "port"));
	close(fd);
}

static void test_targets(void **state)
{
	struct str path, query, key, value;

	url_split(STR("/a/b?x=1&&y=%41+z&flag#frag"), &path, &query);
	assert_true(str_is(path, "/a/b"));
	assert_true(url_query_next(&query, &key, &value));
	assert_true(str_is(key, "x") && str_is(value, "1"));
	assert_true(url_query_next(&query, &key, &value));
	assert_true(str_is(key, "y") && str_is(value, "%41+z"));
	assert_true(url_query_next(&query, &key, &value));
	assert_true(str_is(key, "flag") && value.n == 0);
	assert_false(url_query_next(&query, &key, &value));
	url_split(STR("http://host:1/p?q"), &path, &query);
	assert_true(str_is(path, "/p") && str_is(query, "q"));
	url_split(STR("http://host"), &path, &query);
	assert_true(str_is(path, "/") && !query.p);
	url_split(STR("/redirect?to=http://x/y"), &path, &query);
	assert_true(str_is(path, "/redirect") && str_is(query, "to=http://x/y"));
}

static void test_decoding(void **state)
{
	struct buf b = {0};

	url_decode(&b, STR("a%00b%2fc+d%zz%4"), false);
	assert_true(str_eq(buf_str(&b), STR("a\0b/c+d%zz%4")));
	buf_reset(&b);
	url_decode(&b, STR("c+d%"), true);
	assert_true(str_is(buf_str(&b), "c d%"));
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_frames),
	    cmocka_unit_test(test_frame_head_round_trip),
	    cmocka_unit_test(test_addresses),
	    cmocka_unit_test(test_loopback),
	    cmocka_unit_test(test_listen_conflict_is_explained),
	    cmocka_unit_test(test_targets),
	    cmocka_unit_test(test_decoding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
