/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second look at a request's bytes, beside evhttp's, for what cannot be known afterwards: evhttp
 * forgives line ends, folded lines and chunk sizes that RFC 9112 does not, cuts a header line at a
 * NUL byte, and takes trailers for headers. Pure.
 */
#ifndef NET_HTTP_SCAN_H
#define NET_HTTP_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_SCAN_LINE 48 /* the beginning of a line, as far as it matters here */

/*
 *  FIRST -> HEADERS -> DONE
 *              |                   once per chunk
 *              +-> CHUNK_SIZE -> CHUNK_DATA -> CHUNK_END
 *                   |       ^                      |
 *                   |       +----------------------+
 *                   +-> TRAILERS -> DONE
 * A fault leads from everywhere to DONE.
 */
enum http_scan_at {
	SCAN_FIRST,
	SCAN_HEADERS,
	SCAN_CHUNK_SIZE,
	SCAN_CHUNK_DATA,
	SCAN_CHUNK_END,
	SCAN_TRAILERS,
	SCAN_DONE
};

/* All zero at a request's beginning. */
struct http_scan {
	enum http_scan_at at;
	const char *fault; /* what is wrong with it, in words; NULL: nothing yet */
	bool chunked;
	unsigned char blanks; /* of the request line */
	unsigned char line_n; /* at most HTTP_SCAN_LINE + 1: longer */
	char line[HTTP_SCAN_LINE];
	char last;     /* the line's last byte so far */
	uint64_t skip; /* bytes of the chunk that are still to come */
};

void http_scan(struct http_scan *s, const char *p, size_t n);

#endif
