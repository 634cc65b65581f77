/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/write/json_text.h"

static void escape(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"': buf_add(b, "\\\"", 2); return;
	case '\\': buf_add(b, "\\\\", 2); return;
	case '\n': buf_add(b, "\\n", 2); return;
	case '\t': buf_add(b, "\\t", 2); return;
	default: buf_printf(b, "\\u%04x", c);
	}
}

static bool is_special(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f || c == '"' || c == '\\';
}

void json_text(struct buf *b, struct str s)
{
	size_t from = 0;

	buf_add_char(b, '"');
	for (size_t i = 0; i < s.n; i++)
		if (is_special(s.p[i])) {
			buf_add(b, s.p + from, i - from);
			escape(b, (unsigned char)s.p[i]);
			from = i + 1;
		}
	buf_add(b, s.p + from, s.n - from);
	buf_add_char(b, '"');
}

void json_next(struct buf *b)
{
	size_t n = b->n;

	while (n && (b->p[n - 1] == ' ' || b->p[n - 1] == '\n'))
		n--;
	if (n && b->p[n - 1] != '[' && b->p[n - 1] != '{')
		buf_add_char(b, ',');
}

void json_key(struct buf *b, const char *name)
{
	json_next(b);
	buf_add_char(b, '"');
	buf_add_cstr(b, name);
	buf_add(b, "\":", 2);
}

void json_key_text(struct buf *b, const char *name, struct str s)
{
	json_key(b, name);
	json_text(b, s);
}

void json_key_i64(struct buf *b, const char *name, int64_t n)
{
	json_key(b, name);
	buf_add_i64(b, n);
}
