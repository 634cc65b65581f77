/* SPDX-License-Identifier: Apache-2.0 */
/* A log that nobody reads: whoever logs goes on, and the reader who comes back learns the count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/str.h"
#include "base/world/log.h"

#define LINES 3000

static int saved;

/* A write that blocks would hang the test: the alarm makes it fail instead. */
static void stderr_becomes(int fd)
{
	struct log_options o = {.level = LOG_INFO, .format = LOG_HUMAN, .program = "test"};

	saved = dup(STDERR_FILENO);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	assert_int_equal(log_setup(&o), 0);
	alarm(30);
}

static void stderr_back(void)
{
	struct log_options o = {.level = LOG_INFO};

	alarm(0);
	dup2(saved, STDERR_FILENO);
	close(saved);
	log_setup(&o);
}

static void drain(int fd, struct buf *b)
{
	char piece[65536];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	while ((n = read(fd, piece, sizeof piece)) > 0)
		buf_add(b, piece, (size_t)n);
}

/* Every line is whole and in order; returns how many there were of each sort. */
static void count_lines(struct buf *b, int *ret_lines, int *ret_dropped)
{
	char *save, *line;
	int last = -1, i, more;

	*ret_lines = *ret_dropped = 0;
	for (line = strtok_r(b->p, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *at = strstr(line, "test: ");

		assert_non_null(at);
		if (sscanf(at, "test: line %d", &i) == 1) {
			assert_true(i > last);
			assert_string_equal(line + strlen(line) - 3, "end");
			last = i;
			++*ret_lines;
		} else {
			assert_int_equal(sscanf(at, "test: %d log line", &more), 1);
			assert_non_null(strstr(at, " dropped: "));
			*ret_dropped += more; /* a short line may fit where a long one did not */
		}
	}
}

static void check(int reader, int writer, int width)
{
	struct buf b = {0};
	int flags = fcntl(writer, F_GETFL), lines, dropped;

	stderr_becomes(writer);
	for (int i = 0; i < LINES; i++)
		log_info("line %d %0*d end", i, width, 0);
	drain(reader, &b);
	log_info("line %d end", LINES);
	drain(reader, &b);
	/* The flag belongs to everybody who holds the pipe. */
	assert_int_equal(fcntl(writer, F_GETFL), flags);
	stderr_back();
	count_lines(&b, &lines, &dropped);
	assert_true(lines > 1 && dropped > 0);
	assert_int_equal(lines + dropped, LINES + 1);
	buf_release(&b);
	close(reader);
	close(writer);
}

static void test_pipe(void **state)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	check(p[0], p[1], 60);
}

/* Longer than a pipe takes at once: the part that did not fit comes first when there is room. */
static void test_long_lines(void **state)
{
	int p[2];

	assert_int_equal(pipe(p), 0);
	check(p[0], p[1], 7001);
}

static void test_socket(void **state)
{
	int p[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	check(p[0], p[1], 700);
}

/* Before log_setup nothing is known of stderr but that it must not hold us up. */
static void test_before_setup(void **state)
{
	struct buf b = {0};
	int p[2], old = dup(STDERR_FILENO);

	assert_int_equal(pipe(p), 0);
	dup2(p[1], STDERR_FILENO);
	alarm(30);
	for (int i = 0; i < LINES; i++)
		log_info("line %d %06000d", i, 0);
	alarm(0);
	drain(p[0], &b);
	log_info("once more");
	drain(p[0], &b);
	dup2(old, STDERR_FILENO);
	close(old);
	assert_non_null(strstr(b.p, "log lines were dropped"));
	assert_non_null(strstr(b.p, "once more"));
	buf_release(&b);
	close(p[0]);
	close(p[1]);
}

/* With nobody at the other end at all, the log is lost and the program is not. */
static void test_reader_gone(void **state)
{
	int p[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, p), 0);
	close(p[0]);
	stderr_becomes(p[1]);
	log_info("lost");
	stderr_back();
	close(p[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_before_setup), /* first: there is no way back to it */
	    cmocka_unit_test(test_pipe),
	    cmocka_unit_test(test_long_lines),
	    cmocka_unit_test(test_socket),
	    cmocka_unit_test(test_reader_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
