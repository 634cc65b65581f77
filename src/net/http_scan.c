/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are found as evhttp finds them: they end with LF, and a CR before it is no part of them. */
#include "net/http_scan.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

#define CHUNK_DIGITS 15 /* more do not fit into evhttp's number either */

static void keep(struct http_scan *s, const char *p, size_t n)
{
	size_t room = HTTP_SCAN_LINE - s->line_n;

	if (s->line_n > HTTP_SCAN_LINE)
		return;
	memcpy(s->line + s->line_n, p, n < room ? n : room);
	s->line_n = n <= room ? (unsigned char)(s->line_n + n) : HTTP_SCAN_LINE + 1;
}

static struct str line_of(const struct http_scan *s)
{
	size_t n = s->line_n > HTTP_SCAN_LINE ? HTTP_SCAN_LINE : s->line_n;

	if (s->line_n <= HTTP_SCAN_LINE && n > 0 && s->line[n - 1] == '\r')
		n--;
	return (struct str){s->line, n};
}

/* Only what evhttp takes for chunked; any other transfer coding is refused when it is presented. */
static bool says_chunked(struct str line)
{
	static const char name[] = "transfer-encoding:", value[] = "chunked";
	size_t at = sizeof name - 1;

	if (line.n < at || strncasecmp(line.p, name, at) != 0)
		return false;
	while (at < line.n && line.p[at] == ' ')
		at++;
	while (line.n > at && (line.p[line.n - 1] == ' ' || line.p[line.n - 1] == '\t'))
		line.n--;
	return line.n - at == sizeof value - 1 && strncasecmp(line.p + at, value, line.n - at) == 0;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static void end_of_size(struct http_scan *s, struct str line)
{
	uint64_t size = 0;
	size_t i = 0;

	if (line.n == 0)
		return; /* the end of the chunk before */
	for (; i < line.n && digit(line.p[i]) >= 0 && i < CHUNK_DIGITS; i++)
		size = size << 4 | (uint64_t)digit(line.p[i]);
	s->bad_chunk = i == 0 || (i < line.n && i < CHUNK_DIGITS && line.p[i] != ' ');
	s->skip = size;
	s->at = s->bad_chunk || size == 0 ? SCAN_DONE : SCAN_CHUNK_DATA;
}

static void end_of_line(struct http_scan *s)
{
	struct str line = line_of(s);

	if (s->at == SCAN_CHUNK_SIZE)
		end_of_size(s, line);
	else if (s->at == SCAN_FIRST)
		s->at = SCAN_HEADERS;
	else if (line.n == 0)
		s->at = s->chunked ? SCAN_CHUNK_SIZE : SCAN_DONE;
	else
		s->chunked |= says_chunked(line);
	s->line_n = 0;
}

/* Up to the end of the line, or of what there is. */
static size_t scan_line(struct http_scan *s, const char *p, size_t n)
{
	const char *end = memchr(p, '\n', n);
	size_t part = end ? (size_t)(end - p) : n;

	if (s->at <= SCAN_HEADERS && memchr(p, 0, part))
		s->nul = true;
	keep(s, p, part);
	if (!end)
		return n;
	end_of_line(s);
	return part + 1;
}

static size_t skip_data(struct http_scan *s, size_t n)
{
	size_t part = s->skip < n ? (size_t)s->skip : n;

	s->skip -= part;
	if (s->skip == 0)
		s->at = SCAN_CHUNK_SIZE;
	return part;
}

void http_scan(struct http_scan *s, const char *p, size_t n)
{
	size_t used;

	while (n > 0 && s->at != SCAN_DONE) {
		used = s->at == SCAN_CHUNK_DATA ? skip_data(s, n) : scan_line(s, p, n);
		p += used;
		n -= used;
	}
}
