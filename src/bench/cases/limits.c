/* SPDX-License-Identifier: Apache-2.0 */
/* What this machine does at most, without Reeve: the yardstick beside every figure. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"
#include "store/sqlite/limit.h"

#define BLOCK 4096

/* Appends grow the file, which costs the file system more; a write-ahead log is overwritten. */
static int sync_loop(struct bench *b, int fd, int64_t n, bool append, struct samples *to)
{
	static const char block[BLOCK];

	for (int64_t i = 0; i < n; i++) {
		int64_t begun = bench_ns();

		if (pwrite(fd, block, BLOCK, append ? i * BLOCK : i % 256 * BLOCK) != BLOCK ||
		    fdatasync(fd) < 0)
			return problem_set(&b->problem, ERR_IO, "%s: %s", b->dir, strerror(errno));
		samples_add(to, bench_ns() - begun);
	}
	return 0;
}

static int limit_sync(struct bench *b, bool append, json_t *to)
{
	AUTO(free_cstr) char *path = xasprintf("%s/sync", b->dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), r;
	int64_t n = bench_scaled(b, 2000, 256);
	struct samples s = {0};
	double start = bench_seconds();
	json_t *json;

	if (fd < 0)
		return problem_set(&b->problem, ERR_IO, "%s: %s", path, strerror(errno));
	r = sync_loop(b, fd, n, append, &s);
	close(fd);
	json = samples_json(&s);
	json_object_set_new(json, "per_s", figure((double)n / (bench_seconds() - start)));
	json_object_set_new(to, append ? "fdatasync_4k_append" : "fdatasync_4k_overwrite", json);
	samples_release(&s);
	return r;
}

double limit_sync_now(struct bench *b)
{
	AUTO(free_cstr) char *path = xasprintf("%s/sync", b->dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	int64_t n = bench_scaled(b, 500, 64);
	struct samples s = {0};
	double start = bench_seconds(), rate = NAN;

	if (fd >= 0 && sync_loop(b, fd, n, false, &s) == 0)
		rate = (double)n / (bench_seconds() - start);
	close(fd);
	samples_release(&s);
	return rate;
}

int limits_disk(struct bench *b, json_t *to)
{
	int64_t rows = bench_scaled(b, 500000, 2000);
	double seconds = 0;
	int r = limit_sync(b, true, to);

	if (r == 0)
		r = limit_sync(b, false, to);
	if (r == 0)
		r = store_limit_insert(b->dir, rows, 1000, &seconds, &b->problem);
	if (r == 0)
		json_object_set_new(to, "sqlite_insert_1000_rows_per_commit",
		    json_pack("{s:I,s:o}", "rows", (json_int_t)rows, "rows_per_s",
		        figure((double)rows / seconds)));
	return r;
}

static void echo(int fd)
{
	char text[512];
	ssize_t n;

	while ((n = read(fd, text, sizeof text)) > 0)
		if (write(fd, text, (size_t)n) != n)
			break;
	_exit(0);
}

int limits_ping(struct bench *b, json_t *to)
{
	char text[256] = {0};
	int64_t n = bench_scaled(b, 20000, 100), begun;
	struct samples s = {0};
	json_t *json;
	int fd[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return problem_set(&b->problem, ERR_IO, "socketpair: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(fd[0]);
		echo(fd[1]);
	}
	close(fd[1]);
	for (int64_t i = 0; i < n; i++) {
		begun = bench_ns();
		if (write(fd[0], text, sizeof text) <= 0 || read(fd[0], text, sizeof text) <= 0)
			break;
		samples_add(&s, bench_ns() - begun);
	}
	close(fd[0]);
	waitpid(pid, NULL, 0);
	json = samples_json(&s);
	json_object_set_new(to, "unix_ping_256_bytes", json);
	samples_release(&s);
	return 0;
}
