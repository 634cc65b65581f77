/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads write and rotate at once: every line arrives whole, exactly once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log_file.h"

#define THREADS 4
#define LINES 500

static void *write_lines(void *arg)
{
	int me = *(int *)arg;

	for (int i = 0; i < LINES; i++)
		log_info("thread=%d line=%d %s", me, i, "padpadpadpadpadpadpadpadpadpad.");
	return NULL;
}

static void count_lines(struct str all, bool seen[THREADS][LINES])
{
	struct str line;
	int thread, number;

	while (str_next(&all, '\n', &line) && line.n) {
		char text[256];
		const char *at;

		snprintf(text, sizeof text, STR_FMT, STR_ARG(line));
		at = strstr(text, "thread=");
		assert_non_null(at);
		assert_int_equal(sscanf(at, "thread=%d line=%d", &thread, &number), 2);
		assert_in_range(thread, 0, THREADS - 1);
		assert_in_range(number, 0, LINES - 1);
		assert_int_equal(line.p[line.n - 1], '.');
		assert_false(seen[thread][number]);
		seen[thread][number] = true;
	}
}

static void test_whole_lines(void **state)
{
	static bool seen[THREADS][LINES];
	pthread_t threads[THREADS];
	int names[THREADS];
	struct buf b = {0};

	assert_int_equal(log_to_file(LOG_HUMAN, LOG_FILE, LOG_INFO), 0);
	for (int i = 0; i < THREADS; i++) {
		names[i] = i;
		assert_int_equal(pthread_create(&threads[i], NULL, write_lines, &names[i]), 0);
	}
	for (int i = 0; i < 20; i++)
		assert_int_equal(log_reopen(), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	read_log(log_path, &b);
	count_lines(buf_str(&b), seen);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < LINES; k++)
			assert_true(seen[i][k]);
	buf_release(&b);
	log_done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_whole_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
