/* SPDX-License-Identifier: Apache-2.0 */
/* Output through a bounded file: order, bounds, marks, crashes, full disks, and what is left. */
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
#include "worker/spool.h"

#define KIB 1024
#define MIB (1024 * 1024)

struct world {
	char root[64], dir[96];
	int pipe[2];
	struct spool s;
};

static char scratch[2 * MIB];

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof *w);

	snprintf(w->root, sizeof w->root, "/tmp/reeve-spool-XXXXXX");
	assert_non_null(mkdtemp(w->root));
	snprintf(w->dir, sizeof w->dir, "%s/spool", w->root);
	assert_int_equal(pipe2(w->pipe, O_NONBLOCK | O_CLOEXEC), 0);
	signal(SIGXFSZ, SIG_IGN);
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;
	char command[160];

	spool_close(&w->s, true);
	for (int i = 0; i < 2; i++)
		if (w->pipe[i] >= 0)
			close(w->pipe[i]);
	umount2(w->dir, MNT_DETACH); /* of a test that failed */
	snprintf(command, sizeof command, "rm -rf %s", w->root);
	assert_int_equal(system(command), 0);
	free(w);
	return 0;
}

static void open_spool(struct world *w, bool keep, int64_t max, enum output_policy policy)
{
	struct problem p;

	assert_int_equal(spool_open(&w->s, w->dir, "a.out", keep, max, &p), 0);
	spool_policy(&w->s, policy);
}

/* The n-th byte of the test's stream: a wrong order or a missing piece shows. */
static char byte_at(int64_t n)
{
	return (char)(n ^ (n >> 8) ^ (n >> 16));
}

static void write_pipe(struct world *w, const char *p, size_t n)
{
	assert_int_equal(write(w->pipe[1], p, n), n);
}

/* Bytes [from, from + n) of the stream into the spool, which has room for them. */
static void pour(struct world *w, int64_t from, size_t n)
{
	while (n) {
		size_t piece = n < 4 * KIB ? n : 4 * KIB;

		for (size_t i = 0; i < piece; i++)
			scratch[i] = byte_at(from + (int64_t)i);
		write_pipe(w, scratch, piece);
		assert_int_equal(spool_fill(&w->s, w->pipe[0], piece), piece);
		from += (int64_t)piece;
		n -= piece;
	}
}

static void assert_stream(struct world *w, int64_t from, size_t n)
{
	assert_true(n <= sizeof scratch);
	assert_int_equal(spool_take(&w->s, scratch, n), n);
	for (size_t i = 0; i < n; i++)
		if (scratch[i] != byte_at(from + (int64_t)i))
			fail_msg("byte %zu of %zu from %lld is wrong", i, n, (long long)from);
}

static void assert_text(struct world *w, const char *wanted)
{
	size_t n = spool_take(&w->s, scratch, sizeof scratch - 1);

	scratch[n] = 0;
	assert_string_equal(scratch, wanted);
	assert_int_equal(n, strlen(wanted));
}

static void end_pipe(struct world *w)
{
	close(w->pipe[1]);
	w->pipe[1] = -1;
}

static int64_t disk_bytes(const struct spool *s)
{
	struct stat st;

	if (s->fd < 0)
		return 0;
	assert_int_equal(fstat(s->fd, &st), 0);
	return (int64_t)st.st_blocks * 512;
}

static int files_in(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
	closedir(d);
	return n;
}

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

/* -- crashes */

/* As if killed: nothing is said to the spool, the file stays as it is. */
static void crash(struct world *w)
{
	close(w->s.fd);
	buf_release(&w->s.held);
	free(w->s.path);
	memset(&w->s, 0, sizeof w->s);
}

static void reopen(struct world *w, int64_t max)
{
	struct problem p;

	if (spool_reopen(&w->s, w->dir, "a.out", max, &p) < 0)
		fail_msg("%s", p.what);
}

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

#define SPOOL_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    SPOOL_TEST(test_no_byte_no_file),
	    SPOOL_TEST(test_in_order_with_nuls_and_without_newline),
	    SPOOL_TEST(test_slow_is_full_at_its_bound),
	    SPOOL_TEST(test_drop_leaves_one_mark_per_gap),
	    SPOOL_TEST(test_drop_ends_without_the_pipes_end),
	    SPOOL_TEST(test_much_goes_through_little),
	    SPOOL_TEST(test_kept_over_a_crash),
	    SPOOL_TEST(test_what_is_not_needed_any_more),
	    SPOOL_TEST(test_a_new_attempt_does_not_see_the_old_file),
	    SPOOL_TEST(test_gap_over_a_crash),
	    SPOOL_TEST(test_killed_while_moving),
	    SPOOL_TEST(test_garbage_is_refused),
	    SPOOL_TEST(test_file_size_limit),
	    SPOOL_TEST(test_full_disk),
	    SPOOL_TEST(test_a_file_system_without_holes),
	    SPOOL_TEST(test_no_disk_at_all),
	    SPOOL_TEST(test_a_file_that_was_cut_behind_our_back),
	    SPOOL_TEST(test_sweep),
	    SPOOL_TEST(test_names_that_lead_elsewhere),
	};

	return cmocka_run_group_tests_name("spool", tests, NULL, NULL);
}
