/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A persistent plugin that does nothing, fast: it takes 64 tasks at a time and answers all that
 * one read brought with one write. It measures what Reeve costs, so it costs nothing itself: the id
 * and the token, which are always a task's first two members, are copied without parsing the rest.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER ((size_t)8 << 20)

static size_t put_frame(char *to, const char *text, size_t n)
{
	to[0] = (char)(n >> 24);
	to[1] = (char)(n >> 16);
	to[2] = (char)(n >> 8);
	to[3] = (char)n;
	memcpy(to + 4, text, n);
	return n + 4;
}

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

/*
 * {"id":"…","token":N,… becomes {"id":"…","token":N,"status":1}. A task to be cancelled was
 * answered before the word came: nothing to do.
 */
static size_t answer(const char *task, size_t n, char *to)
{
	const char *comma = memchr(task, ',', n);
	char text[256];
	size_t head;

	comma = comma ? memchr(comma + 1, ',', n - (size_t)(comma + 1 - task)) : NULL;
	head = comma ? (size_t)(comma - task) : 0;
	if (head == 0 || head > sizeof text - 32)
		exit(1);
	if (n - head > 9 && memcmp(comma, ",\"cancel\"", 9) == 0)
		return 0;
	memcpy(text, task, head);
	memcpy(text + head, ",\"status\":1}", 12);
	return put_frame(to, text, head + 12);
}

int main(void)
{
	static const char hello[] = "{\"reeve\":1,\"concurrency\":64,\"cancel\":true}";
	char *in = malloc(BUFFER), *out = malloc(BUFFER);
	size_t have = 0, at, n_out;
	ssize_t got;

	if (!in || !out)
		return 1;
	write_all(out, put_frame(out, hello, sizeof hello - 1));
	while ((got = read(STDIN_FILENO, in + have, BUFFER - have)) > 0) {
		have += (size_t)got;
		at = n_out = 0;
		while (have - at >= 4) {
			const unsigned char *p = (const unsigned char *)in + at;
			size_t n =
			    (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

			if (n + 4 > BUFFER)
				return 1;
			if (have - at < n + 4)
				break;
			n_out += answer(in + at + 4, n, out + n_out);
			at += n + 4;
			if (n_out > BUFFER / 2) {
				write_all(out, n_out);
				n_out = 0;
			}
		}
		write_all(out, n_out);
		memmove(in, in + at, have - at);
		have -= at;
	}
	return 0;
}
