/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an HTTP reply out of bytes that nobody vouches for: pure, so that it is fuzzed. */
#include <string.h>

#include "base/mem.h"
#include "worker/checks/probe.h"

#define STATUS_LINE_LEAST 12 /* "HTTP/1.1 200" */

static const char no_http[] = "the answer is not HTTP";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* As much of "HTTP/x.y sss" as is there must fit: garbage is not waited for. */
static bool begins_well(struct str line)
{
	static const char shape[] = "HTTP/0.0 000";

	for (size_t i = 0; i < line.n && i < STATUS_LINE_LEAST; i++)
		if (shape[i] == '0' ? !is_digit(line.p[i]) : line.p[i] != shape[i])
			return false;
	return line.n <= STATUS_LINE_LEAST || strchr(" \r\n", line.p[STATUS_LINE_LEAST]);
}

static int status_of(struct str line)
{
	return (line.p[9] - '0') * 100 + (line.p[10] - '0') * 10 + (line.p[11] - '0');
}

/* The length of the block of lines up to and with the empty one, or 0 while that is missing. */
static size_t block_length(struct str s)
{
	size_t line = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '\n')
			continue;
		if (i == line || (i == line + 1 && s.p[line] == '\r'))
			return i + 1;
		line = i + 1;
	}
	return 0;
}

int probe_scan(struct str rest, int *ret_status, const char **ret_why)
{
	for (;;) {
		size_t n = block_length(rest);
		int status;

		if (!begins_well(rest) || memchr(rest.p ? rest.p : "", 0, n ? n : rest.n)) {
			*ret_why = no_http;
			return -1;
		}
		if (n == 0)
			return 0;
		MUST(n > STATUS_LINE_LEAST); /* no line end fits into its shape */
		status = status_of(rest);
		if (status < 100 || status >= 200 || status == 101) {
			*ret_status = status;
			return 1;
		}
		rest = (struct str){rest.p + n, rest.n - n};
	}
}
