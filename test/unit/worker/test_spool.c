/* SPDX-License-Identifier: Apache-2.0 */
/* Output through a bounded file: order, bounds, marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "spool_world.h"

static void test_no_byte_no_file(void **state)
{
	struct world *w = *state;

	open_spool(w, true, MIB, OUTPUT_SLOW);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), -1);
	assert_int_equal(errno, EAGAIN);
	end_pipe(w);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), 0);
	assert_int_equal(w->s.fd, -1);
	assert_int_equal(files_in(w->dir), 0);
	assert_int_equal(spool_take(&w->s, scratch, 10), 0);
}

static void test_in_order_with_nuls_and_without_newline(void **state)
{
	struct world *w = *state;

	for (int splice_or_not = 0; splice_or_not < 2; splice_or_not++) {
		open_spool(w, false, MIB, OUTPUT_SLOW);
		w->s.no_splice = splice_or_not;
		write_pipe(w, "a\0b\n\0", 5);
		assert_int_equal(spool_fill(&w->s, w->pipe[0], 3), 3);
		assert_int_equal(spool_fill(&w->s, w->pipe[0], 300), 2);
		write_pipe(w, "tail", 4);
		assert_int_equal(spool_fill(&w->s, w->pipe[0], 300), 4);
		assert_int_equal(spool_fill(&w->s, w->pipe[0], 300), -1);
		assert_int_equal(errno, EAGAIN);
		assert_int_equal(spool_unread(&w->s), 9);
		assert_int_equal(spool_take(&w->s, scratch, 2), 2);
		assert_memory_equal(scratch, "a", 2);
		assert_int_equal(spool_position(&w->s), 2);
		assert_int_equal(spool_take(&w->s, scratch, 100), 7);
		assert_memory_equal(scratch, "b\n\0tail", 7);
		assert_int_equal(spool_unread(&w->s), 0);
		assert_int_equal(files_in(w->dir), 0); /* it has no name */
		spool_close(&w->s, false);
	}
}

static void test_slow_is_full_at_its_bound(void **state)
{
	struct world *w = *state;

	open_spool(w, false, 1, OUTPUT_SLOW); /* raised to the least */
	pour(w, 0, SPOOL_LEAST - 1);
	write_pipe(w, "12", 2);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 2), 1);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 2), -1);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(spool_unread(&w->s), SPOOL_LEAST);
	assert_stream(w, 0, 1);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 2), 1);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 2), -1);
	assert_int_equal(errno, EFBIG);
	assert_stream(w, 1, SPOOL_LEAST - 2);
	assert_text(w, "12");
	assert_int_equal(w->s.dropped, 0);
}

static void test_drop_leaves_one_mark_per_gap(void **state)
{
	struct world *w = *state;

	open_spool(w, false, 8 * KIB, OUTPUT_DROP);
	pour(w, 0, 8 * KIB);
	pour(w, 0, 3);
	pour(w, 0, 1000);
	assert_int_equal(spool_unread(&w->s), 8 * KIB); /* the gap has not ended */
	assert_stream(w, 0, 1000);
	pour(w, 0, 10); /* hardly any room yet: still the same gap */
	assert_stream(w, 1000, 7000);
	write_pipe(w, "back", 4);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), 4);
	assert_stream(w, 8000, 8 * KIB - 8000);
	assert_text(w, "\n[reeve: 1013 bytes of output were dropped here]\nback");
	pour(w, 0, 8 * KIB);
	pour(w, 0, 1);
	assert_int_equal(w->s.dropped, 1014);
	end_pipe(w);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), 0);
	assert_stream(w, 0, 8 * KIB);
	assert_text(w, "\n[reeve: 1 byte of output was dropped here]\n");
	assert_int_equal(spool_unread(&w->s), 0);
}

/* Somebody else still holds the pipe: the mark comes with spool_end(). */
static void test_drop_ends_without_the_pipes_end(void **state)
{
	struct world *w = *state;

	open_spool(w, false, 4 * KIB, OUTPUT_DROP);
	pour(w, 0, 4 * KIB);
	pour(w, 0, 2);
	spool_end(&w->s);
	assert_stream(w, 0, 4 * KIB);
	assert_text(w, "\n[reeve: 2 bytes of output were dropped here]\n");
}

static void assert_much_goes_through_little(struct world *w, int64_t total, int64_t max)
{
	int64_t written = 0, taken = 0, most_disk = 0;
	static char piece[64 * KIB];

	while (taken < total) {
		int64_t left = total - written;
		size_t want = left < (int64_t)sizeof piece ? (size_t)left : sizeof piece;
		ssize_t n;

		for (size_t i = 0; i < want; i++)
			piece[i] = byte_at(written + (int64_t)i);
		n = want ? write(w->pipe[1], piece, want) : 0;
		written += n > 0 ? n : 0;
		while (spool_fill(&w->s, w->pipe[0], MIB) > 0)
			;
		assert_true(spool_unread(&w->s) <= max);
		if (errno == EFBIG || written == total) {
			/* not all: the file shall never be empty until the end */
			n = (ssize_t)(spool_unread(&w->s) / (written == total ? 1 : 2));
			assert_stream(w, taken, (size_t)n);
			taken += n;
			spool_need(&w->s, taken, taken);
		}
		most_disk = disk_bytes(&w->s) > most_disk ? disk_bytes(&w->s) : most_disk;
	}
	assert_true(most_disk > 0 && most_disk <= max + 512 * KIB);
	assert_int_equal(w->s.dropped, 0);
}

static void test_much_goes_through_little(void **state)
{
	struct world *w = *state;

	open_spool(w, false, MIB, OUTPUT_SLOW);
	assert_much_goes_through_little(w, 100LL * MIB, MIB);
	assert_false(w->s.no_splice);
	assert_true(disk_bytes(&w->s) <= 64 * KIB); /* empty: given back */
	spool_close(&w->s, false);
	open_spool(w, true, MIB, OUTPUT_SLOW);
	assert_much_goes_through_little(w, 10LL * MIB, MIB);
	spool_close(&w->s, false);
	open_spool(w, false, MIB, OUTPUT_SLOW);
	w->s.no_splice = true;
	assert_much_goes_through_little(w, 10LL * MIB, MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPOOL_TEST(test_no_byte_no_file),
	    SPOOL_TEST(test_in_order_with_nuls_and_without_newline),
	    SPOOL_TEST(test_slow_is_full_at_its_bound),
	    SPOOL_TEST(test_drop_leaves_one_mark_per_gap),
	    SPOOL_TEST(test_drop_ends_without_the_pipes_end),
	    SPOOL_TEST(test_much_goes_through_little),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
