/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin that does nothing. It copies the id and the token, which are always a task's first two
 * members, without parsing the rest, and answers all that one read brought with one write: what is
 * measured is Reeve. A task whose params hold "t0" (nanoseconds of the monotonic clock) is
 * answered with the time that has passed since, on its stdout; one with "gap" with the time since
 * this process wrote its last answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "bench/internal.h"

#define BUFFER ((size_t)8 << 20)
#define HEAD_MAX 128
#define ANSWER_MAX (HEAD_MAX + 128)

static void write_all(const char *p, size_t n)
{
	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, p, n);

		if (done <= 0)
			exit(1);
		p += done;
		n -= (size_t)done;
	}
}

static size_t put_frame(char *to, const char *text, size_t n)
{
	to[0] = (char)(n >> 24);
	to[1] = (char)(n >> 16);
	to[2] = (char)(n >> 8);
	to[3] = (char)n;
	memcpy(to + 4, text, n);
	return n + 4;
}

static int64_t last_answer_ns;

/* How long ago the task was sent, if it says when; or what was before it answered. */
static int64_t age_ns(const char *task, size_t n)
{
	static const char mark[] = "\"t0\":", gap[] = "\"gap\":";
	const char *at = memmem(task, n, mark, sizeof mark - 1);
	int64_t t0 = 0;

	if (!at)
		return memmem(task, n, gap, sizeof gap - 1) ? bench_ns() - last_answer_ns : -1;
	for (at += sizeof mark - 1; at < task + n && *at >= '0' && *at <= '9'; at++)
		t0 = t0 * 10 + (*at - '0');
	return bench_ns() - t0;
}

static size_t answer(const char *task, size_t n, char *to)
{
	const char *comma = memchr(task, ',', n);
	char text[ANSWER_MAX];
	size_t head, tail;
	int64_t age;

	comma = comma ? memchr(comma + 1, ',', n - (size_t)(comma + 1 - task)) : NULL;
	head = comma ? (size_t)(comma - task) : 0;
	if (head == 0 || head > HEAD_MAX)
		exit(1);
	if (n - head > 9 && memcmp(comma, ",\"cancel\"", 9) == 0)
		return 0; /* answered before the word came */
	age = age_ns(comma, n - head);
	memcpy(text, task, head);
	tail = (size_t)snprintf(text + head, sizeof text - head,
	    age < 0 ? ",\"status\":1}" : ",\"status\":1,\"stdout\":\"%lld\"}", (long long)age);
	return put_frame(to, text, head + tail);
}

/* Answers every whole frame; returns how many bytes were used. */
static size_t answer_all(const char *in, size_t have, char *out)
{
	size_t at = 0, n_out = 0;

	while (have - at >= 4) {
		const unsigned char *p = (const unsigned char *)in + at;
		size_t n = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

		if (n + 4 > BUFFER)
			exit(1);
		if (have - at < n + 4)
			break;
		n_out += answer(in + at + 4, n, out + n_out);
		at += n + 4;
		if (n_out > BUFFER - 2 * ANSWER_MAX) {
			write_all(out, n_out);
			n_out = 0;
		}
	}
	if (n_out)
		last_answer_ns =
		    bench_ns(); /* before it is written: from there on the next may come */
	write_all(out, n_out);
	return at;
}

int noop_plugin_command(int argc, char **argv)
{
	char *in, *out, hello[96];
	int64_t at_once = 64;
	size_t have = 0, used;
	ssize_t got;
	int n;

	if (argc > 0 && !str_to_i64(str_of(argv[0]), 1, 1024, &at_once))
		return 2;
	in = xmalloc(BUFFER);
	out = xmalloc(BUFFER);
	n = snprintf(
	    hello, sizeof hello, "{\"reeve\":1,\"concurrency\":%d,\"cancel\":true}", (int)at_once);

	write_all(out, put_frame(out, hello, (size_t)n));
	while ((got = read(STDIN_FILENO, in + have, BUFFER - have)) > 0) {
		have += (size_t)got;
		used = answer_all(in, have, out);
		memmove(in, in + used, have - used);
		have -= used;
	}
	free(in);
	free(out);
	return 0;
}
