/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting and decoding request targets; lengths throughout, since %00 is a byte like others. */
#include "net/http/url.h"

#include <string.h>
#include <strings.h>

static struct str cut_authority(struct str t)
{
	const char *p = memmem(t.p, t.n, "://", 3), *slash;
	size_t skip;

	if (t.n == 0 || t.p[0] == '/' || !p)
		return t;
	skip = (size_t)(p - t.p) + 3;
	slash = memchr(t.p + skip, '/', t.n - skip);
	if (!slash)
		return STR("/");
	return (struct str){slash, t.n - (size_t)(slash - t.p)};
}

bool url_authority(struct str target, struct str *ret)
{
	static const char *const schemes[] = {"http://", "https://"};
	size_t skip, n = 0;

	for (int i = 0; i < 2; i++) {
		skip = strlen(schemes[i]);
		if (target.n < skip || strncasecmp(target.p, schemes[i], skip) != 0)
			continue;
		while (skip + n < target.n && !memchr("/?#", target.p[skip + n], 3))
			n++;
		*ret = (struct str){target.p + skip, n};
		return true;
	}
	return false;
}

void url_split(struct str target, struct str *ret_path, struct str *ret_query)
{
	struct str t = cut_authority(target);
	const char *p = t.n ? memchr(t.p, '#', t.n) : NULL;

	if (p)
		t.n = (size_t)(p - t.p);
	*ret_path = t;
	*ret_query = STR_NULL;
	p = t.n ? memchr(t.p, '?', t.n) : NULL;
	if (!p)
		return;
	ret_path->n = (size_t)(p - t.p);
	*ret_query = (struct str){p + 1, t.n - ret_path->n - 1};
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void url_decode(struct buf *b, struct str s, bool plus)
{
	buf_reserve(b, s.n + 1);
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (c == '%' && s.n - i > 2 && hex(s.p[i + 1]) >= 0 && hex(s.p[i + 2]) >= 0) {
			c = (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		b->p[b->n++] = c;
	}
	b->p[b->n] = 0;
}

bool url_query_next(struct str *rest, struct str *ret_key, struct str *ret_value)
{
	struct str part;
	const char *eq;

	do {
		if (!str_next(rest, '&', &part))
			return false;
	} while (part.n == 0);
	eq = memchr(part.p, '=', part.n);
	*ret_key = part;
	*ret_value = (struct str){part.p + part.n, 0};
	if (eq) {
		ret_key->n = (size_t)(eq - part.p);
		*ret_value = (struct str){eq + 1, part.n - ret_key->n - 1};
	}
	return true;
}
