/* SPDX-License-Identifier: Apache-2.0 */
#include "model/task/body.h"

#include <string.h>

enum token_kind { TOKEN_END, TOKEN_STRING, TOKEN_MARK, TOKEN_BARE };

struct token {
	enum token_kind kind;
	struct str text; /* a string without its quotes, still escaped */
};

struct scan {
	const char *at, *end;
	int depth;      /* of objects and arrays */
	struct str key; /* the body's member that is being read */
	bool wants_key; /* the next string is the name of one */
};

static struct scan scan_begin(struct str body)
{
	return (struct scan){.at = body.p, .end = body.p ? body.p + body.n : body.p};
}

static struct token take_string(struct scan *s)
{
	struct token t = {TOKEN_STRING, {++s->at, 0}};

	while (s->at < s->end && *s->at != '"')
		s->at += *s->at == '\\' && s->end - s->at > 1 ? 2 : 1;
	t.text.n = (size_t)(s->at - t.text.p);
	if (s->at < s->end)
		s->at++;
	return t;
}

static struct token take_bare(struct scan *s)
{
	struct token t = {TOKEN_BARE, {s->at, 0}};

	while (s->at < s->end && !strchr("{}[]:,\" \t\r\n", *s->at))
		s->at++;
	if (s->at == t.text.p)
		s->at++; /* a NUL, which strchr finds everywhere */
	t.text.n = (size_t)(s->at - t.text.p);
	return t;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct token scan_next(struct scan *s)
{
	while (s->at < s->end && is_blank(*s->at))
		s->at++;
	if (s->at == s->end)
		return (struct token){TOKEN_END, STR_NULL};
	if (*s->at == '"')
		return take_string(s);
	if (*s->at && strchr("{}[]:,", *s->at))
		return (struct token){TOKEN_MARK, {s->at++, 1}};
	return take_bare(s);
}

/* Keeps depth and member; true: the token is a text within a member of the body. */
static bool scan_text(struct scan *s, const struct token *t)
{
	char mark = t->kind == TOKEN_MARK ? t->text.p[0] : 0;

	if (mark == '{' || mark == '[')
		s->depth++;
	else if (mark == '}' || mark == ']')
		s->depth--;
	if ((mark == '{' || mark == ',') && s->depth == 1)
		s->wants_key = true;
	if (mark)
		return false;
	if (s->wants_key) {
		s->key = t->text;
		s->wants_key = false;
		return false;
	}
	return true;
}

static bool is_content(struct str key)
{
	return str_is(key, "command") || str_is(key, "action") || str_is(key, "params");
}

void body_texts(struct str body, body_text_fn *fn, void *arg)
{
	struct scan s = scan_begin(body);
	struct token t;

	while ((t = scan_next(&s)).kind != TOKEN_END)
		if (scan_text(&s, &t) && is_content(s.key) &&
		    !fn(arg, t.text, t.kind == TOKEN_STRING))
			return;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	                              : -1;
}

/* The four digits of \uXXXX; -1: they are not there. */
static int32_t take_unit(struct str *s)
{
	int32_t n = 0;

	if (s->n < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		int digit = hex_digit(s->p[i]);

		if (digit < 0)
			return -1;
		n = n * 16 + digit;
	}
	*s = (struct str){s->p + 4, s->n - 4};
	return n;
}

static void add_utf8(struct buf *out, int32_t c)
{
	if (c < 0x80) {
		buf_add_char(out, (char)c);
	} else if (c < 0x800) {
		buf_add_char(out, (char)(0xc0 | c >> 6));
		buf_add_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		if (c < 0x10000) {
			buf_add_char(out, (char)(0xe0 | c >> 12));
		} else {
			buf_add_char(out, (char)(0xf0 | c >> 18));
			buf_add_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_add_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_add_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

static void add_unit(struct str *rest, struct buf *out)
{
	int32_t high = take_unit(rest), low;
	struct str ahead = *rest;

	if (high >= 0xd800 && high < 0xdc00 && ahead.n >= 6 && ahead.p[0] == '\\' &&
	    ahead.p[1] == 'u') {
		ahead = (struct str){ahead.p + 2, ahead.n - 2};
		low = take_unit(&ahead);
		if (low >= 0xdc00 && low < 0xe000) {
			*rest = ahead;
			high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	if (high <= 0 || (high >= 0xd800 && high < 0xe000))
		high = '?';
	add_utf8(out, high);
}

void body_unescape(struct str inside, size_t max, struct buf *out)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	size_t until = out->n + max;

	while (inside.n && out->n < until) {
		char c = inside.p[0];
		const char *plain;

		inside = (struct str){inside.p + 1, inside.n - 1};
		if (c != '\\' || !inside.n) {
			buf_add_char(out, c);
			continue;
		}
		c = inside.p[0];
		inside = (struct str){inside.p + 1, inside.n - 1};
		plain = c ? strchr(from, c) : NULL;
		if (c == 'u')
			add_unit(&inside, out);
		else
			buf_add_char(out, plain ? to[plain - from] : c);
	}
}

static bool is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] <= ' ' || strchr("'\"\\$`&|;<>()*?[]{}~#!", word.p[i]))
			return false;
	return word.n > 0;
}

static void add_word(struct str word, struct buf *out)
{
	if (is_plain(word)) {
		buf_add_str(out, word);
		return;
	}
	buf_add_char(out, '\'');
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '\'')
			buf_add_cstr(out, "'\\''");
		else
			buf_add_char(out, word.p[i]);
	buf_add_char(out, '\'');
}

static void add_command(struct scan *s, struct buf *out)
{
	struct buf word = {0};
	struct token t;

	while ((t = scan_next(s)).kind != TOKEN_END && out->n <= SUMMARY_MAX_BYTES) {
		if (t.kind == TOKEN_MARK && t.text.p[0] == ']')
			break;
		if (t.kind != TOKEN_STRING)
			continue;
		buf_reset(&word);
		body_unescape(t.text, SUMMARY_MAX_BYTES + 1, &word);
		if (out->n)
			buf_add_char(out, ' ');
		add_word(buf_str(&word), out);
	}
	buf_release(&word);
}

/* The value behind the colon, as it stands. */
static void add_value(struct scan *s, struct buf *out)
{
	const char *from;
	struct token t = scan_next(s);
	int depth = 0;

	from = s->at;
	while ((t = scan_next(s)).kind != TOKEN_END && s->at - from <= SUMMARY_MAX_BYTES) {
		char mark = t.kind == TOKEN_MARK ? t.text.p[0] : 0;

		depth += mark == '{' || mark == '[' ? 1 : mark == '}' || mark == ']' ? -1 : 0;
		if (depth <= 0)
			break;
	}
	buf_add(out, from, (size_t)(s->at - from));
}

/* In whole characters, and said where something is missing. */
static void cut(struct buf *out)
{
	size_t n = SUMMARY_MAX_BYTES - sizeof "…" + 1;

	if (out->n <= SUMMARY_MAX_BYTES)
		return;
	while (n && ((unsigned char)out->p[n] & 0xc0) == 0x80)
		n--;
	out->n = n;
	buf_add_cstr(out, "…");
}

void body_summary(struct str body, struct buf *out)
{
	struct scan s = scan_begin(body);
	struct token t;

	while ((t = scan_next(&s)).kind != TOKEN_END) {
		bool was_key = s.wants_key && t.kind == TOKEN_STRING;

		scan_text(&s, &t);
		if (!was_key || !is_content(s.key))
			continue;
		if (str_is(s.key, "command"))
			add_command(&s, out);
		else
			add_value(&s, out);
		break;
	}
	cut(out);
}
