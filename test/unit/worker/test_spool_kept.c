/* SPDX-License-Identifier: Apache-2.0 */
/* Spools that outlive their worker: crashes, garbage, what is left behind. */
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

static void test_kept_over_a_crash(void **state)
{
	struct world *w = *state;

	open_spool(w, true, 64 * KIB, OUTPUT_SLOW);
	pour(w, 0, 30000);
	assert_stream(w, 0, 20000);
	crash(w);
	reopen(w, 64 * KIB);
	assert_int_equal(spool_position(&w->s), 0); /* what was taken is still there */
	assert_int_equal(spool_unread(&w->s), 30000);
	pour(w, 30000, 5000);
	assert_stream(w, 0, 35000);
	assert_int_equal(spool_seek(&w->s, 34000), 34000);
	assert_stream(w, 34000, 1000);
	assert_int_equal(spool_seek(&w->s, 99000), 35000);
	pour(w, 35000, 50000); /* more than the bound in all, not of what was not taken */
	crash(w);
	reopen(w, 64 * KIB);
	assert_int_equal(spool_position(&w->s), 0);
	assert_stream(w, 0, 85000);
	spool_close(&w->s, true);
	assert_int_equal(files_in(w->dir), 0);
	reopen(w, 64 * KIB); /* no file: nothing was ever written */
	assert_int_equal(spool_unread(&w->s), 0);
	pour(w, 0, 10);
	assert_stream(w, 0, 10);
}

/* What nobody will ask for is given back, and only that. */
static void test_what_is_not_needed_any_more(void **state)
{
	struct world *w = *state;

	open_spool(w, true, MIB, OUTPUT_SLOW);
	pour(w, 0, MIB);
	for (int i = 0; i < 16; i++)
		assert_stream(w, i * 64 * KIB, 64 * KIB);
	spool_need(&w->s, 64 * KIB, MIB); /* not worth it yet */
	spool_need(&w->s, 512 * KIB, MIB);
	assert_true(disk_bytes(&w->s) < 640 * KIB);
	pour(w, MIB, MIB);
	for (int i = 16; i < 32; i++)
		assert_stream(w, i * 64 * KIB, 64 * KIB);
	spool_need(&w->s, 512 * KIB, MIB); /* what follows was dropped by whoever took it */
	assert_true(disk_bytes(&w->s) < 640 * KIB);
	crash(w);
	reopen(w, MIB);
	assert_int_equal(spool_position(&w->s), 512 * KIB);
	assert_int_equal(spool_unread(&w->s), 2 * MIB - 512 * KIB);
	for (int i = 8; i < 16; i++)
		assert_stream(w, i * 64 * KIB, 64 * KIB);
}

static void test_a_new_attempt_does_not_see_the_old_file(void **state)
{
	struct world *w = *state;

	open_spool(w, true, 64 * KIB, OUTPUT_SLOW);
	pour(w, 0, 10);
	crash(w);
	open_spool(w, true, 64 * KIB, OUTPUT_SLOW);
	crash(w);
	reopen(w, 64 * KIB);
	assert_int_equal(spool_unread(&w->s), 0);
}

/* Killed within a gap, and killed in the middle of its mark: the mark is there once. */
static void test_gap_over_a_crash(void **state)
{
	struct world *w = *state;

	open_spool(w, true, 4 * KIB, OUTPUT_DROP);
	pour(w, 0, 4 * KIB);
	pour(w, 0, 7);
	assert_int_equal(pwrite(w->s.fd, "\n[reeve: 7 by", 13, 2 * 4 * KIB), 13);
	crash(w);
	reopen(w, 4 * KIB);
	spool_policy(&w->s, OUTPUT_DROP);
	pour(w, 0, 3);
	assert_stream(w, 0, 4 * KIB);
	write_pipe(w, "on", 2);
	assert_int_equal(spool_fill(&w->s, w->pipe[0], 10), 2);
	crash(w);
	reopen(w, 4 * KIB);
	assert_stream(w, 0, 4 * KIB);
	assert_text(w, "\n[reeve: 10 bytes of output were dropped here]\non");
}

/* Killed at any moment of real work, by a real signal: what the file has is a piece of the stream.
 */
static void test_killed_while_moving(void **state)
{
	struct world *w = *state;
	int status;

	for (int round = 0; round < 8; round++) {
		int64_t first, n, moved = 0;
		pid_t child = fork();

		if (child == 0) {
			open_spool(w, true, 256 * KIB, OUTPUT_SLOW);
			for (int64_t at = 0;; at += 4 * KIB) {
				pour(w, at, 4 * KIB);
				if (spool_unread(&w->s) > 200 * KIB)
					spool_take(&w->s, scratch, 150 * KIB);
				spool_need(&w->s, spool_position(&w->s), INT64_MAX);
			}
		}
		while (moved < 1000 * (round + 1)) { /* until it has done something */
			struct stat st;
			char path[128];

			snprintf(path, sizeof path, "%s/a.out", w->dir);
			moved = stat(path, &st) == 0 ? st.st_size : 0;
		}
		kill(child, SIGKILL);
		assert_int_equal(waitpid(child, &status, 0), child);
		while (read(w->pipe[0], scratch, sizeof scratch) > 0)
			;
		reopen(w, 256 * KIB);
		first = spool_position(&w->s);
		n = spool_unread(&w->s);
		assert_true(n <= 256 * KIB + 64 * KIB); /* and what was not worth giving back yet */
		assert_stream(w, first, (size_t)n);
		spool_close(&w->s, true);
	}
}

static void assert_refused(struct world *w, const char *why)
{
	struct problem p;

	assert_int_equal(spool_reopen(&w->s, w->dir, "a.out", MIB, &p), ERR_IO);
	if (!strstr(p.what, why))
		fail_msg("\"%s\" does not say \"%s\"", p.what, why);
	assert_null(w->s.path);
}

static void test_garbage_is_refused(void **state)
{
	struct world *w = *state;
	char path[128];
	int fd;

	open_spool(w, true, 64 * KIB, OUTPUT_SLOW);
	pour(w, 0, 20000);
	assert_stream(w, 0, 20000);
	spool_need(&w->s, 20000, 20000);
	pour(w, 20000, 60000);
	crash(w);
	snprintf(path, sizeof path, "%s/a.out", w->dir);
	assert_int_equal(truncate(path, 5000), 0);
	assert_refused(w, "shorter than its header says");
	assert_int_equal(truncate(path, 20), 0);
	assert_refused(w, "ends within its header");
	assert_int_equal(truncate(path, 0), 0);
	reopen(w, MIB); /* killed at its very birth */
	assert_int_equal(spool_unread(&w->s), 0);
	crash(w);
	fd = open(path, O_WRONLY | O_TRUNC);
	for (int i = 0; i < 100; i++)
		assert_int_equal(write(fd, "garbage garbage ", 16), 16);
	assert_refused(w, "does not begin as one");
	for (unsigned seed = 0; seed < 200; seed++) { /* the right word, then anything */
		struct problem p;
		int64_t words[5];

		memcpy(words, "RVSPOOL1", 8);
		for (int i = 1; i < 5; i++)
			words[i] =
			    ((int64_t)rand_r(&seed) << (rand_r(&seed) % 33)) - (rand_r(&seed) % 3);
		assert_int_equal(pwrite(fd, words, sizeof words, 0), sizeof words);
		if (spool_reopen(&w->s, w->dir, "a.out", MIB, &p) == 0)
			spool_take(&w->s, scratch, sizeof scratch);
		spool_close(&w->s, false);
	}
	close(fd);
	unlink(path);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_refused(w, "symbolic link");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(w, "not a plain file");
}

/* -- full disks */

static bool is_wanted(const char *name, void *arg)
{
	return strcmp(name, arg) == 0;
}

static void test_sweep(void **state)
{
	static const char *const names[] = {"kept", "old", "old.err", ".spool-AbCdEf"};
	struct world *w = *state;
	char path[160], outside[128];
	struct problem p;
	struct stat st;

	snprintf(outside, sizeof outside, "%s/outside", w->root);
	close(open(outside, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(mkdir(w->dir, 0755), 0);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", w->dir, names[i]);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	snprintf(path, sizeof path, "%s/link", w->dir);
	assert_int_equal(symlink(outside, path), 0);
	snprintf(path, sizeof path, "%s/folder", w->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(spool_sweep(w->dir, is_wanted, (void *)"kept", &p), 4);
	assert_int_equal(files_in(w->dir), 2);
	assert_int_equal(stat(w->dir, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(access(outside, F_OK), 0);
	snprintf(path, sizeof path, "%s/aside", w->root);
	assert_int_equal(symlink(w->dir, path), 0);
	assert_int_equal(spool_sweep(path, is_wanted, (void *)"", &p), ERR_IO);
	assert_int_equal(files_in(w->dir), 2);
	snprintf(path, sizeof path, "%s/new", w->root);
	assert_int_equal(spool_sweep(path, is_wanted, (void *)"", &p), 0);
	assert_int_equal(access(path, X_OK), 0);
}

static void test_names_that_lead_elsewhere(void **state)
{
	static const char *const names[] = {"", ".", "..", "../x", "a/b", ".hidden"};
	struct world *w = *state;
	struct problem p;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		assert_int_equal(spool_open(&w->s, w->dir, names[i], true, MIB, &p), ERR_INVALID);
		assert_int_equal(spool_reopen(&w->s, w->dir, names[i], MIB, &p), ERR_INVALID);
	}
	assert_int_equal(spool_open(&w->s, "/proc/no/such", "a", true, MIB, &p), ERR_IO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPOOL_TEST(test_kept_over_a_crash),
	    SPOOL_TEST(test_what_is_not_needed_any_more),
	    SPOOL_TEST(test_a_new_attempt_does_not_see_the_old_file),
	    SPOOL_TEST(test_gap_over_a_crash),
	    SPOOL_TEST(test_killed_while_moving),
	    SPOOL_TEST(test_garbage_is_refused),
	    SPOOL_TEST(test_sweep),
	    SPOOL_TEST(test_names_that_lead_elsewhere),
	};

	return cmocka_run_group_tests_name("spool-kept", tests, NULL, NULL);
}
