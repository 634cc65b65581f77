/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are found as evhttp finds them, at LF; the rest is as RFC 9112 has it. */
#include "net/http/http_scan.h"

#include <string.h>
#include <strings.h>

#include "base/hex.h"
#include "base/str.h"

#define CHUNK_DIGITS 15 /* more do not fit into evhttp's number either */

static const char bad_size[] = "A chunk's size is not a hexadecimal number.";
static const char a_trailer[] = "Trailers are not understood; send everything as headers.";

static void fault(struct http_scan *s, const char *words)
{
	s->fault = words;
	s->at = SCAN_DONE;
}

static void keep(struct http_scan *s, const char *p, size_t n)
{
	size_t room = HTTP_SCAN_LINE - s->line_n;

	if (n > 0)
		s->last = p[n - 1];
	if (s->line_n > HTTP_SCAN_LINE)
		return;
	memcpy(s->line + s->line_n, p, n < room ? n : room);
	s->line_n = n <= room ? (unsigned char)(s->line_n + n) : HTTP_SCAN_LINE + 1;
}

/* Of the request line, what stands behind its last blank is kept: the version. */
static void keep_version(struct http_scan *s, const char *p, size_t n)
{
	const char *blank;

	while (n > 0 && (blank = memchr(p, ' ', n))) {
		if (blank == p && s->line_n == 0)
			s->blanks = 3; /* two in a row, or one in front */
		s->blanks = s->blanks < 3 ? s->blanks + 1 : 3;
		s->line_n = 0;
		s->last = ' ';
		n -= (size_t)(blank - p) + 1;
		p = blank + 1;
	}
	keep(s, p, n);
}

static struct str line_of(const struct http_scan *s)
{
	if (s->line_n > HTTP_SCAN_LINE)
		return (struct str){s->line, HTTP_SCAN_LINE};
	return (struct str){s->line, s->line_n ? s->line_n - 1u : 0}; /* without its CR */
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

static void end_of_size(struct http_scan *s, struct str line)
{
	uint64_t size = 0;
	size_t i = 0;

	for (; i < line.n && hex_digit(line.p[i]) >= 0 && i < CHUNK_DIGITS; i++)
		size = size << 4 | (uint64_t)hex_digit(line.p[i]);
	if (i == 0 || i < line.n) {
		fault(s, bad_size);
		return;
	}
	s->skip = size;
	s->at = size ? SCAN_CHUNK_DATA : SCAN_TRAILERS;
}

static void end_of_header(struct http_scan *s, struct str line)
{
	if (line.n == 0)
		s->at = s->chunked ? SCAN_CHUNK_SIZE : SCAN_DONE;
	else if (line.p[0] == ' ' || line.p[0] == '\t')
		fault(s, "A header line begins with a blank: folded lines are not understood.");
	else
		s->chunked |= says_chunked(line);
}

static void end_of_line(struct http_scan *s)
{
	struct str line = line_of(s);

	if (s->last != '\r') {
		fault(s, "A line does not end with CR LF.");
	} else if (s->at == SCAN_FIRST) {
		s->at = SCAN_HEADERS;
		if (s->blanks != 2 || !(str_is(line, "HTTP/1.1") || str_is(line, "HTTP/1.0")))
			fault(s, "The request line is not METHOD TARGET HTTP/1.1.");
	} else if (s->at == SCAN_HEADERS) {
		end_of_header(s, line);
	} else if (s->at == SCAN_CHUNK_SIZE) {
		end_of_size(s, line);
	} else if (line.n == 0) {
		s->at = SCAN_DONE;
	} else {
		fault(s, a_trailer);
	}
	s->line_n = 0;
	s->last = 0;
}

/* What no line of a head holds: control characters, the tab between words excepted. */
static void look_for_controls(struct http_scan *s, const char *p, size_t n)
{
	bool tab_too = s->at == SCAN_FIRST, found = false;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		found |= (c < 0x20 && (c != '\t' || tab_too)) || c == 0x7f;
	}
	if (!found)
		return;
	if (memchr(p, 0, n))
		fault(s, "The request's head holds a NUL byte.");
	else
		fault(s, "The request's head holds a control character.");
}

/* A CR may only be a line's last byte; whether this one is shows when the next piece comes. */
static void look(struct http_scan *s, const char *p, size_t n)
{
	if (n > 0 && s->last == '\r')
		fault(s, "The request's head holds a control character.");
	else if (n > 0)
		look_for_controls(s, p, p[n - 1] == '\r' ? n - 1 : n);
}

/* Lines that are known to be wrong before they end: evhttp would wait for theirs without limit. */
static void look_for_end(struct http_scan *s)
{
	if (s->at == SCAN_CHUNK_SIZE && s->line_n > CHUNK_DIGITS + 1)
		fault(s, bad_size);
	else if (s->at == SCAN_TRAILERS && s->line_n > 1)
		fault(s, a_trailer);
}

/* Up to the end of the line, or of what there is. */
static size_t scan_line(struct http_scan *s, const char *p, size_t n)
{
	const char *end = memchr(p, '\n', n);
	size_t part = end ? (size_t)(end - p) : n;

	if (s->at != SCAN_CHUNK_SIZE)
		look(s, p, part);
	if (s->at == SCAN_FIRST)
		keep_version(s, p, part);
	else
		keep(s, p, part);
	if (!end)
		look_for_end(s);
	else if (!s->fault)
		end_of_line(s);
	return end ? part + 1 : n;
}

static size_t skip_data(struct http_scan *s, size_t n)
{
	size_t part = s->skip < n ? (size_t)s->skip : n;

	s->skip -= part;
	if (s->skip == 0)
		s->at = SCAN_CHUNK_END;
	return part;
}

static size_t scan_chunk_end(struct http_scan *s, char c)
{
	if (c == '\r' && s->last == 0) {
		s->last = c;
	} else if (c == '\n' && s->last == '\r') {
		s->last = 0;
		s->at = SCAN_CHUNK_SIZE;
	} else {
		fault(s, "A chunk is not followed by CR LF where its size says it ends.");
	}
	return 1;
}

void http_scan(struct http_scan *s, const char *p, size_t n)
{
	size_t used;

	while (n > 0 && s->at != SCAN_DONE) {
		if (s->at == SCAN_CHUNK_DATA)
			used = skip_data(s, n);
		else if (s->at == SCAN_CHUNK_END)
			used = scan_chunk_end(s, *p);
		else
			used = scan_line(s, p, n);
		p += used;
		n -= used;
	}
}
