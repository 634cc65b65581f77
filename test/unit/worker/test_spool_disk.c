/* SPDX-License-Identifier: Apache-2.0 */
/* Spools on disks that are full, limited, without holes, or not there. */
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

static void limit_files(int64_t bytes)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes < 0 ? r.rlim_max : (rlim_t)bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* The disk takes some 16 KiB: nothing is lost, the task waits, and goes on through memory. */
static void assert_slow_disk_full(struct world *w)
{
	int64_t written = 0, taken = 0;

	for (int i = 0; i < 200; i++) {
		size_t n = 4 * KIB;

		for (size_t b = 0; b < n; b++)
			scratch[b] = byte_at(written + (int64_t)b);
		if (write(w->pipe[1], scratch, n) == (ssize_t)n)
			written += (int64_t)n;
		while (spool_fill(&w->s, w->pipe[0], 3000) > 0)
			;
		if (errno == EFBIG) {
			n = (size_t)spool_unread(&w->s);
			assert_true(n > 0);
			assert_stream(w, taken, n);
			taken += (int64_t)n;
		}
	}
	while (spool_fill(&w->s, w->pipe[0], 3000) > 0 || spool_unread(&w->s)) {
		size_t n = (size_t)spool_unread(&w->s);

		assert_stream(w, taken, n);
		taken += (int64_t)n;
	}
	assert_true(written > 500 * KIB && taken == written);
}

static void assert_drop_disk_full(struct world *w)
{
	size_t n;

	pour(w, 0, 100 * KIB);
	assert_true(w->s.dropped > 0);
	end_pipe(w);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 10), 0);
	n = (size_t)(100 * KIB - w->s.dropped);
	assert_stream(w, 0, n);
	n = spool_take(&w->s, scratch, sizeof scratch - 1);
	scratch[n] = 0;
	assert_non_null(strstr(scratch, "bytes of output were dropped here]\n"));
	assert_int_equal(strtoll(scratch + strlen("\n[reeve: "), NULL, 10), w->s.dropped);
}

static void test_file_size_limit(void **state)
{
	struct world *w = *state;

	for (int variant = 0; variant < 4; variant++) {
		open_spool(w, variant & 1, MIB, OUTPUT_SLOW);
		w->s.no_splice = variant & 2;
		limit_files(16 * KIB);
		assert_slow_disk_full(w);
		limit_files(-1);
		spool_close(&w->s, true);
	}
	limit_files(16 * KIB);
	open_spool(w, false, MIB, OUTPUT_DROP);
	assert_drop_disk_full(w);
	limit_files(-1);
}

static void test_full_disk(void **state)
{
	struct world *w = *state;

	open_spool(w, false, MIB, OUTPUT_SLOW); /* makes the directory */
	spool_close(&w->s, false);
	if (mount("none", w->dir, "tmpfs", 0, "size=16k") < 0)
		skip(); /* not without rights; the limit above is the same in small */
	for (int variant = 0; variant < 4; variant++) {
		open_spool(w, variant & 1, MIB, OUTPUT_SLOW);
		w->s.no_splice = variant & 2;
		assert_slow_disk_full(w);
		spool_close(&w->s, true);
	}
	open_spool(w, false, MIB, OUTPUT_DROP);
	assert_drop_disk_full(w);
	spool_close(&w->s, true);
	assert_int_equal(umount(w->dir), 0);
}

/* No holes can be punched there: space comes back once everything was taken. */
static void test_a_file_system_without_holes(void **state)
{
	struct world *w = *state;

	open_spool(w, false, MIB, OUTPUT_SLOW); /* makes the directory */
	spool_close(&w->s, false);
	if (mount("none", w->dir, "ramfs", 0, "") < 0)
		skip();
	for (int keep = 0; keep < 2; keep++) {
		int64_t at = 0;

		open_spool(w, keep, 16 * KIB, OUTPUT_SLOW);
		for (int round = 0; round < 10; round++) {
			pour(w, at, 16 * KIB);
			assert_stream(w, at, 15 * KIB);
			spool_need(&w->s, at + 15 * KIB, INT64_MAX);
			if (!keep) {
				write_pipe(w, "x", 1);
				assert_int_equal(spool_fill(&w->s, w->pipe[0], 1), -1);
				assert_int_equal(errno, EFBIG);
				assert_int_equal(read(w->pipe[0], scratch, 1), 1);
			}
			assert_stream(w, at + 15 * KIB, KIB);
			at += 16 * KIB;
			spool_need(&w->s, at, INT64_MAX);
		}
		pour(w, at, 10);
		if (keep) {
			crash(w);
			reopen(w, 16 * KIB);
			assert_int_equal(spool_position(&w->s), at);
		}
		assert_stream(w, at, 10);
		spool_close(&w->s, true);
	}
	assert_int_equal(umount(w->dir), 0);
}

/* The directory has gone: as a full disk, output goes on. */
static void test_no_disk_at_all(void **state)
{
	struct world *w = *state;

	open_spool(w, false, MIB, OUTPUT_SLOW);
	assert_int_equal(rmdir(w->dir), 0);
	write_pipe(w, "through memory", 14);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), 14);
	write_pipe(w, "!", 1);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), -1);
	assert_int_equal(errno, EFBIG);
	assert_int_equal(spool_take(&w->s, scratch, 7), 7);
	assert_text(w, " memory");
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 100), 1);
	assert_text(w, "!");
	assert_int_equal(spool_position(&w->s), 15);
}

/* Bytes that the disk does not give back are said to be missing. */
static void test_a_file_that_was_cut_behind_our_back(void **state)
{
	struct world *w = *state;

	open_spool(w, false, MIB, OUTPUT_SLOW);
	pour(w, 0, 1000);
	assert_int_equal(ftruncate(w->s.fd, 400), 0);
	assert_stream(w, 0, 400);
	assert_text(w, "\n[reeve: 600 bytes of output were dropped here]\n");
	pour(w, 0, 100);
	assert_stream(w, 0, 100);
}

/* -- the directory */

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPOOL_TEST(test_file_size_limit),
	    SPOOL_TEST(test_full_disk),
	    SPOOL_TEST(test_a_file_system_without_holes),
	    SPOOL_TEST(test_no_disk_at_all),
	    SPOOL_TEST(test_a_file_that_was_cut_behind_our_back),
	};

	return cmocka_run_group_tests_name("spool-disk", tests, NULL, NULL);
}
