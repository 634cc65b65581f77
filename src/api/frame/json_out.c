/* SPDX-License-Identifier: Apache-2.0 */
/* Answers are written, not built: this file knows how JSON is spelt. */
#include "api/frame/json_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/timefmt.h"
#include "model/lines.h"
#include "model/task/need.h"

static void separate(struct buf *b)
{
	char last = b->n ? b->p[b->n - 1] : '[';

	if (last != '{' && last != '[' && last != ':')
		buf_add_char(b, ',');
}

void jw_open(struct buf *b, char bracket)
{
	if (b->n)
		separate(b);
	buf_add_char(b, bracket);
}

void jw_close(struct buf *b, char bracket)
{
	buf_add_char(b, bracket);
}

void jw_key(struct buf *b, const char *key)
{
	separate(b);
	buf_add_char(b, '"');
	buf_add_cstr(b, key);
	buf_add(b, "\":", 2);
}

/* How many bytes form the UTF-8 character at `p`; 0: none that is well formed. */
static size_t utf8_length(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t len = p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
	uint32_t code;

	if (len == 0 || len > n)
		return 0;
	code = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[len] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return len;
}

static void escape(struct buf *b, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	switch (c) {
	case '"': buf_add(b, "\\\"", 2); return;
	case '\\': buf_add(b, "\\\\", 2); return;
	case '\n': buf_add(b, "\\n", 2); return;
	case '\t': buf_add(b, "\\t", 2); return;
	case '\r': buf_add(b, "\\r", 2); return;
	default: buf_add(b, text, sizeof text);
	}
}

static void add_text(struct buf *b, const unsigned char *p, size_t n)
{
	size_t plain = 0, at = 0, len;

	while (at < n) {
		if (p[at] >= 0x20 && p[at] < 0x7f && p[at] != '"' && p[at] != '\\') {
			at++;
			continue;
		}
		len = p[at] < 0x80 ? 0 : utf8_length(p + at, n - at);
		if (len) {
			at += len;
			continue;
		}
		buf_add(b, p + plain, at - plain);
		if (p[at] < 0x80)
			escape(b, p[at]);
		else
			buf_add(b, "\xef\xbf\xbd", 3);
		plain = ++at;
	}
	buf_add(b, p + plain, n - plain);
}

void jw_text(struct buf *b, struct str s)
{
	if (s.n)
		add_text(b, (const unsigned char *)s.p, s.n);
}

void jw_str(struct buf *b, struct str s)
{
	separate(b);
	buf_add_char(b, '"');
	jw_text(b, s);
	buf_add_char(b, '"');
}

void jw_i64(struct buf *b, int64_t n)
{
	separate(b);
	buf_add_i64(b, n);
}

void jw_bool(struct buf *b, bool v)
{
	separate(b);
	buf_add_cstr(b, v ? "true" : "false");
}

void jw_null(struct buf *b)
{
	separate(b);
	buf_add(b, "null", 4);
}

void jw_raw(struct buf *b, struct str json)
{
	separate(b);
	buf_add_str(b, json);
}

void jw_time(struct buf *b, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	separate(b);
	buf_add_char(b, '"');
	buf_add_cstr(b, time_format_ms(ms, text));
	buf_add_char(b, '"');
}

void jw_id(struct buf *b, const struct id_space *ids, rid id)
{
	char text[ID_TEXT + 1];

	separate(b);
	text[0] = '"';
	id_format(ids, id, text + 1);
	text[ID_TEXT] = '"';
	buf_add(b, text, sizeof text);
}

/* The shortest text that reads back as the same number. */
static void real_value(struct buf *b, const json_t *v)
{
	char text[64];
	size_t n;

	for (size_t digits = 15; digits <= 17; digits++) {
		n = json_dumpb(
		    v, text, sizeof text - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(digits));
		n = n < sizeof text - 1 ? n : 0;
		text[n] = 0;
		if (strtod(text, NULL) == json_real_value(v))
			break;
	}
	separate(b);
	buf_add(b, text, n);
}

static void object_value(struct buf *b, const json_t *v)
{
	json_t *object = (json_t *)v, *member; /* jansson walks only what it might change */
	const char *key;

	jw_open(b, '{');
	json_object_foreach(object, key, member)
	{
		jw_str(b, str_of(key));
		buf_add_char(b, ':');
		jw_value(b, member);
	}
	jw_close(b, '}');
}

void jw_value(struct buf *b, const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT: object_value(b, v); break;
	case JSON_ARRAY:
		jw_open(b, '[');
		for (size_t i = 0; i < json_array_size(v); i++)
			jw_value(b, json_array_get(v, i));
		jw_close(b, ']');
		break;
	case JSON_STRING:
		jw_str(b, (struct str){json_string_value(v), json_string_length(v)});
		break;
	case JSON_INTEGER: jw_i64(b, json_integer_value(v)); break;
	case JSON_REAL: real_value(b, v); break;
	case JSON_TRUE: jw_bool(b, true); break;
	case JSON_FALSE: jw_bool(b, false); break;
	default: jw_null(b);
	}
}

void jw_mstr(struct buf *b, const char *key, struct str s)
{
	jw_key(b, key);
	jw_str(b, s);
}

void jw_mstr_null(struct buf *b, const char *key, struct str s)
{
	jw_key(b, key);
	if (s.p)
		jw_str(b, s);
	else
		jw_null(b);
}

void jw_mcstr(struct buf *b, const char *key, const char *s)
{
	jw_mstr_null(b, key, str_of(s));
}

void jw_mi64(struct buf *b, const char *key, int64_t n)
{
	jw_key(b, key);
	jw_i64(b, n);
}

void jw_mi64_null(struct buf *b, const char *key, int64_t n, bool present)
{
	jw_key(b, key);
	if (present)
		jw_i64(b, n);
	else
		jw_null(b);
}

void jw_mbool(struct buf *b, const char *key, bool v)
{
	jw_key(b, key);
	jw_bool(b, v);
}

void jw_mtime_null(struct buf *b, const char *key, int64_t ms)
{
	jw_key(b, key);
	if (ms)
		jw_time(b, ms);
	else
		jw_null(b);
}

void jw_mid_null(struct buf *b, const char *key, const struct id_space *ids, rid id)
{
	jw_key(b, key);
	if (id)
		jw_id(b, ids, id);
	else
		jw_null(b);
}

void jw_mlines(struct buf *b, const char *key, struct str lines)
{
	struct str item;

	jw_key(b, key);
	jw_open(b, '[');
	while (lines_next(&lines, &item))
		jw_str(b, item);
	jw_close(b, ']');
}

void jw_mlabels(struct buf *b, const char *key, struct str lines)
{
	struct str item, name;

	jw_key(b, key);
	jw_open(b, '{');
	while (lines_next(&lines, &item)) {
		if (!str_next(&item, '=', &name))
			continue;
		jw_str(b, name);
		buf_add_char(b, ':');
		jw_str(b, item.p ? item : STR(""));
	}
	jw_close(b, '}');
}

void jw_mamount(struct buf *b, struct str name, int64_t n)
{
	jw_str(b, name);
	buf_add_char(b, ':');
	if (amount_unit(name) == AMOUNT_MILLI)
		amount_add(b, name, n);
	else
		buf_add_i64(b, n);
}

/* Labels that it wants, or does not; the member is there only if there are any. */
static void add_labels(struct buf *b, const char *key, char sign, struct str need)
{
	struct str line, name;
	bool any = false;

	while (lines_next(&need, &line)) {
		struct str value = {line.p + 1, line.n - 1};

		if (line.p[0] != sign || !str_next(&value, '=', &name))
			continue;
		if (!any) {
			jw_key(b, key);
			jw_open(b, '{');
		}
		any = true;
		jw_str(b, name);
		buf_add_char(b, ':');
		jw_str(b, value.p ? value : STR(""));
	}
	if (any)
		jw_close(b, '}');
}

static void add_amounts(struct buf *b, bool pieces, struct str need)
{
	struct amount at;

	while (amount_next(&need, &at))
		if ((amount_unit(at.name) == AMOUNT_PIECES) == pieces)
			jw_mamount(b, at.name, at.n);
}

static bool has_pieces(struct str need)
{
	struct amount at;

	while (amount_next(&need, &at))
		if (amount_unit(at.name) == AMOUNT_PIECES)
			return true;
	return false;
}

static void add_throttles(struct buf *b, struct str need)
{
	struct amount at;
	bool any = false;

	while (throttle_next(&need, &at)) {
		if (!any) {
			jw_key(b, "throttles");
			jw_open(b, '{');
		}
		any = true;
		jw_str(b, at.name);
		buf_add_char(b, ':');
		buf_add_i64(b, at.n);
	}
	if (any)
		jw_close(b, '}');
}

void jw_mneed(struct buf *b, const char *key, struct str need)
{
	struct str rest = need, line;

	jw_key(b, key);
	if (!need.n) {
		jw_null(b);
		return;
	}
	jw_open(b, '{');
	add_amounts(b, false, need);
	while (lines_next(&rest, &line))
		if (line.p[0] == '@')
			jw_mstr(b, "target", (struct str){line.p + 1, line.n - 1});
	add_labels(b, "labels", '+', need);
	add_labels(b, "not_labels", '-', need);
	if (has_pieces(need)) {
		jw_key(b, "resources");
		jw_open(b, '{');
		add_amounts(b, true, need);
		jw_close(b, '}');
	}
	add_throttles(b, need);
	jw_close(b, '}');
}
