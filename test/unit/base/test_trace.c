/* SPDX-License-Identifier: Apache-2.0 */
/* The trace's lines, read back from a real file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/world/trace.h"
#include "log_file.h"

static char path[64];
static struct trace *file;

static int setup(void **state)
{
	int fd;

	snprintf(path, sizeof path, "/tmp/reeve-trace-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return trace_open(path, false, &file, NULL);
}

static int teardown(void **state)
{
	trace_close(file);
	file = NULL;
	unlink(path);
	return 0;
}

static void assert_file(const char *wanted)
{
	struct buf b = {0};

	read_log(path, &b);
	assert_string_equal(b.p, wanted);
	buf_release(&b);
}

static void test_a_message(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a")), *b = trace_host_new(file, STR("b"));
	struct str clock;

	trace_local(a, STR("thinks"));
	clock = trace_send(a, STR("says hello"));
	trace_local(b, STR("begins"));
	trace_receive(b, clock, STR("hears hello"));
	clock = trace_send(b, STR("answers"));
	trace_receive(a, clock, STR("hears the answer"));
	assert_file("a {\"a\":1}\nthinks\n"
	            "a {\"a\":2}\nsays hello\n"
	            "b {\"b\":1}\nbegins\n"
	            "b {\"a\":2,\"b\":2}\nhears hello\n"
	            "b {\"a\":2,\"b\":3}\nanswers\n"
	            "a {\"a\":3,\"b\":3}\nhears the answer\n");
	trace_host_free(a);
	trace_host_free(b);
}

static void test_a_file_is_kept_or_begun_anew(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a"));
	struct trace *again;

	trace_local(a, STR("one"));
	assert_int_equal(trace_open(path, false, &again, NULL), 0);
	trace_close(again);
	assert_file("a {\"a\":1}\none\n");
	assert_int_equal(trace_open(path, true, &again, NULL), 0);
	trace_close(again);
	assert_file("");
	trace_host_free(a);
}

static void test_text_stays_on_its_line(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a b\n{c}"));

	assert_string_equal(trace_host_name(a), "a_b__c_");
	trace_local(a, STR("one\ntwo\r\\ \x1b[31m \x7f äö"));
	trace_local(a, (struct str){NULL, 0});
	assert_file("a_b__c_ {\"a_b__c_\":1}\none\\ntwo\\x0d\\\\ \\x1b[31m \\x7f äö\n"
	            "a_b__c_ {\"a_b__c_\":2}\n\n");
	trace_host_free(a);
}

static void test_long_text_is_cut_between_characters(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a"));
	struct buf text = {0}, b = {0};

	buf_add_char(&text, 'x');
	while (text.n < 2 * TRACE_TEXT_MAX)
		buf_add_cstr(&text, "ä");
	trace_local(a, buf_str(&text));
	read_log(path, &b);
	assert_true(b.n < TRACE_TEXT_MAX + 40);
	assert_string_equal(b.p + b.n - 7, "ä …\n");
	buf_release(&text);
	buf_release(&b);
	trace_host_free(a);
}

/* A peer may send anything: nothing of it may break our own counting. */
static void test_bad_clocks(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a"));

	trace_receive(a,
	    STR("\x01\x01"
	        "a\x64\x01"
	        "b\x02"),
	    STR("from the future"));
	trace_receive(a, STR("garbage"), STR("garbage"));
	trace_receive(a, STR_NULL, STR("no clock"));
	assert_file("a {\"a\":1}\nbegins\n"
	            "a {\"a\":2,\"b\":2}\nfrom the future\n"
	            "a {\"a\":3,\"b\":2}\ngarbage\n"
	            "a {\"a\":4,\"b\":2}\nno clock\n");
	trace_host_free(a);
}

static void test_too_many_processes(void **state)
{
	struct trace_host *a = trace_host_new(file, STR("a"));
	struct buf clock = {0}, b = {0};

	buf_add_char(&clock, 1);
	for (int i = 0; i < VCLOCK_NAMES_MAX; i++)
		buf_printf(&clock, "%c%05d%c", 5, i, 1);
	trace_receive(a, buf_str(&clock), STR("hears"));
	trace_receive(a, buf_str(&clock), STR("hears"));
	assert_true(trace_send(a, STR("says")).n <= VCLOCK_BYTES_MAX);
	read_log(path, &b);
	assert_non_null(strstr(b.p, "\"a\":5}"));
	assert_null(strstr(b.p, "\"a\":6"));
	assert_ptr_equal(strstr(strstr(b.p, "too many") + 1, "too many"), NULL);
	buf_release(&b);
	buf_release(&clock);
	trace_host_free(a);
}

static void test_names_of_processes(void **state)
{
	struct buf b = {0};
	char name[200];

	trace_process_name(STR("w1"), 0x3f2a91bc, &b);
	assert_string_equal(b.p, "w1.3f2a91bc");
	buf_reset(&b);
	memset(name, 'n', sizeof name);
	trace_process_name((struct str){name, sizeof name}, UINT64_MAX - 7, &b);
	assert_int_equal(b.n, VCLOCK_NAME_MAX);
	buf_release(&b);
}

static void test_failures(void **state)
{
	struct trace *t;
	struct trace_host *h;
	struct problem p = {0};

	assert_int_equal(trace_open("/nonexistent/trace", false, &t, &p), ERR_IO);
	assert_null(t);
	assert_non_null(strstr(p.what, "/nonexistent/trace"));
	assert_int_equal(trace_open("/dev/full", false, &t, &p), 0);
	h = trace_host_new(t, STR("a"));
	trace_local(h, STR("lost"));
	assert_int_not_equal(trace_error(t), 0);
	assert_int_equal(trace_send(h, STR("not told")).n, 0);
	trace_host_free(h);
	trace_close(t);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
	    TEST(test_a_message),
	    TEST(test_a_file_is_kept_or_begun_anew),
	    TEST(test_text_stays_on_its_line),
	    TEST(test_long_text_is_cut_between_characters),
	    TEST(test_bad_clocks),
	    TEST(test_too_many_processes),
	    TEST(test_names_of_processes),
	    TEST(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
