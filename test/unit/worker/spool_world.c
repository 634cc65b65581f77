/* SPDX-License-Identifier: Apache-2.0 */
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

char scratch[2 * MIB];

int set_up(void **state)
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

int tear_down(void **state)
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

void open_spool(struct world *w, bool keep, int64_t max, enum output_policy policy)
{
	struct problem p;

	assert_int_equal(spool_open(&w->s, w->dir, "a.out", keep, max, &p), 0);
	spool_policy(&w->s, policy);
}

/* The n-th byte of the test's stream: a wrong order or a missing piece shows. */
char byte_at(int64_t n)
{
	return (char)(n ^ (n >> 8) ^ (n >> 16));
}

void write_pipe(struct world *w, const char *p, size_t n)
{
	assert_int_equal(write(w->pipe[1], p, n), n);
}

/* Bytes [from, from + n) of the stream into the spool, which has room for them. */
void pour(struct world *w, int64_t from, size_t n)
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

void assert_stream(struct world *w, int64_t from, size_t n)
{
	assert_true(n <= sizeof scratch);
	assert_int_equal(spool_take(&w->s, scratch, n), n);
	for (size_t i = 0; i < n; i++)
		if (scratch[i] != byte_at(from + (int64_t)i))
			fail_msg("byte %zu of %zu from %lld is wrong", i, n, (long long)from);
}

void assert_text(struct world *w, const char *wanted)
{
	size_t n = spool_take(&w->s, scratch, sizeof scratch - 1);

	scratch[n] = 0;
	assert_string_equal(scratch, wanted);
	assert_int_equal(n, strlen(wanted));
}

void end_pipe(struct world *w)
{
	close(w->pipe[1]);
	w->pipe[1] = -1;
}

int64_t disk_bytes(const struct spool *s)
{
	struct stat st;

	if (s->fd < 0)
		return 0;
	assert_int_equal(fstat(s->fd, &st), 0);
	return (int64_t)st.st_blocks * 512;
}

int files_in(const char *dir)
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

/* As if killed: nothing is said to the spool, the file stays as it is. */
void crash(struct world *w)
{
	close(w->s.fd);
	buf_release(&w->s.held);
	free(w->s.path);
	memset(&w->s, 0, sizeof w->s);
}

void reopen(struct world *w, int64_t max)
{
	struct problem p;

	if (spool_reopen(&w->s, w->dir, "a.out", max, &p) < 0)
		fail_msg("%s", p.what);
}
