/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding, and the random keys that make requests repeatable. */
#include <stdio.h>
#include <string.h>

#include "base/world/clock.h"
#include "cli/reach/client.h"

static void add_encoded(struct buf *url, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
		    (*at >= '0' && *at <= '9') || strchr("-._~", *at)) {
			buf_add_char(url, (char)*at);
			continue;
		}
		buf_add_char(url, '%');
		buf_add_char(url, hex[*at >> 4]);
		buf_add_char(url, hex[*at & 15]);
	}
}

void url_add(struct buf *url, const char *key, const char *value)
{
	buf_add_char(url, url->p && strchr(url->p, '?') ? '&' : '?');
	buf_add_cstr(url, key);
	buf_add_char(url, '=');
	add_encoded(url, value);
}

void url_add_path(struct buf *url, const char *segment)
{
	buf_add_char(url, '/');
	add_encoded(url, segment);
}

void idempotency_key(char out[33])
{
	snprintf(out, 33, "%016llx%016llx", (unsigned long long)clock_random(),
	    (unsigned long long)clock_random());
}
