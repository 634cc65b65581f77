/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second look at a request's bytes, beside evhttp's, for what can not be known afterwards: evhttp
 * cuts a header line at a NUL byte, and calls a malformed chunk too large. Pure.
 */
#ifndef NET_HTTP_SCAN_H
#define NET_HTTP_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_SCAN_LINE 48 /* the beginning of a line, as far as it matters here */

enum http_scan_at { SCAN_FIRST, SCAN_HEADERS, SCAN_CHUNK_SIZE, SCAN_CHUNK_DATA, SCAN_DONE };

/* All zero at a request's beginning. */
struct http_scan {
	enum http_scan_at at;
	bool nul;       /* in the request line or in a header */
	bool bad_chunk; /* its size is not a hexadecimal number */
	bool chunked;
	unsigned char line_n; /* at most HTTP_SCAN_LINE + 1: longer */
	char line[HTTP_SCAN_LINE];
	uint64_t skip; /* bytes of the chunk that are still to come */
};

void http_scan(struct http_scan *s, const char *p, size_t n);

#endif
