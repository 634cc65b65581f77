/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/file/json_events.h"

#include <string.h>

#include "graph/limits.h"

/* Longer names of members than this are refused by libyaml, in its own words. */
#define KEY_PLAIN_MAX 1000

static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '.' || c == '+' || c == '-';
}

/* -- is it plain? */

struct check {
	struct str text;
	size_t at, depth;
	bool in_map[PLAN_FILE_DEPTH_MAX + 1];
};

static void skip_blanks(struct check *k)
{
	while (k->at < k->text.n && is_blank(k->text.p[k->at]))
		k->at++;
}

static bool take(struct check *k, char c)
{
	if (k->at >= k->text.n || k->text.p[k->at] != c)
		return false;
	k->at++;
	return true;
}

static bool check_string(struct check *k, size_t max)
{
	size_t begin = k->at;

	if (!take(k, '"'))
		return false;
	while (k->at < k->text.n) {
		unsigned char c = (unsigned char)k->text.p[k->at++];

		if (c == '"')
			return k->at - begin <= max;
		if (c < 0x20 || c >= 0x7f)
			return false;
		if (c == '\\' && (k->at >= k->text.n || !strchr("\"\\/bfnrt", k->text.p[k->at++]) ||
		                     !k->text.p[k->at - 1]))
			return false;
	}
	return false;
}

/* JSON's numbers, by their beginning and their letters: whoever takes one looks closely. */
static bool check_word(struct check *k)
{
	const char *word = k->text.p + k->at;
	size_t n = 0;

	while (k->at + n < k->text.n && is_word(word[n]))
		n++;
	k->at += n;
	if ((n == 4 && (memcmp(word, "true", 4) == 0 || memcmp(word, "null", 4) == 0)) ||
	    (n == 5 && memcmp(word, "false", 5) == 0))
		return true;
	for (size_t i = 0; i < n; i++)
		if ((word[i] < '0' || word[i] > '9') && !strchr(".+-eE", word[i]))
			return false;
	return n > 1 ? word[0] != '+' && word[0] != '.' && word[1] >= '.'
	             : n == 1 && word[0] >= '0' && word[0] <= '9';
}

/* A value, or the beginning of one: *ret_open says that its members follow. */
static bool check_value(struct check *k, bool *ret_open)
{
	char c = k->at < k->text.n ? k->text.p[k->at] : 0;

	*ret_open = c == '{' || c == '[';
	if (!*ret_open)
		return c == '"' ? check_string(k, SIZE_MAX) : check_word(k);
	if (k->depth > PLAN_FILE_DEPTH_MAX)
		return false;
	k->in_map[k->depth++] = c == '{';
	k->at++;
	return true;
}

static bool check_member(struct check *k, bool *ret_open)
{
	if (k->in_map[k->depth - 1]) {
		if (!check_string(k, KEY_PLAIN_MAX) || !take(k, ':'))
			return false;
		skip_blanks(k);
	}
	return check_value(k, ret_open);
}

/* Ends of maps and lists, then a comma unless the whole has ended. */
static bool check_between(struct check *k)
{
	skip_blanks(k);
	while (k->depth && take(k, k->in_map[k->depth - 1] ? '}' : ']')) {
		k->depth--;
		skip_blanks(k);
	}
	if (!k->depth)
		return true;
	if (!take(k, ','))
		return false;
	skip_blanks(k);
	return true;
}

bool json_is_plain(struct str text)
{
	struct check k = {.text = text};
	bool opened;

	skip_blanks(&k);
	if (k.at >= text.n || text.p[k.at] != '{' || !check_value(&k, &opened))
		return false;
	while (k.depth) {
		skip_blanks(&k);
		if (opened && take(&k, k.in_map[k.depth - 1] ? '}' : ']')) {
			k.depth--;
			opened = false;
		} else if (!check_member(&k, &opened)) {
			return false;
		}
		if (!opened && !check_between(&k))
			return false;
	}
	skip_blanks(&k);
	return k.at == text.n;
}

/* -- its events */

static bool skip(struct json_events *j)
{
	for (; j->at < j->text.n; j->at++) {
		char c = j->text.p[j->at];

		j->line += c == '\n';
		if (!is_blank(c) && c != ',' && c != ':')
			return true;
	}
	return false;
}

static char meant(char escaped)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const char *at = strchr(from, escaped);

	return at ? to[at - from] : escaped;
}

/* Behind the quote: up to the one that ends it. */
static struct str unquote(struct json_events *j)
{
	const char *p = j->text.p + j->at;
	size_t n = 0;

	while (p[n] != '"' && p[n] != '\\')
		n++;
	if (p[n] == '"') {
		j->at += n + 1;
		return (struct str){p, n};
	}
	buf_reset(&j->unquoted);
	for (n = 0; p[n] != '"'; n++)
		buf_add_char(&j->unquoted, p[n] == '\\' ? meant(p[++n]) : p[n]);
	j->at += n + 1;
	return buf_str(&j->unquoted);
}

static struct str word(struct json_events *j)
{
	const char *p = j->text.p + j->at;
	size_t n = 0;

	while (j->at + n < j->text.n && is_word(p[n]))
		n++;
	j->at += n;
	return (struct str){p, n};
}

static void scalar(struct json_events *j, bool is_quoted, yaml_event_t *e)
{
	struct str s = is_quoted ? unquote(j) : word(j);

	e->type = YAML_SCALAR_EVENT;
	e->data.scalar.value = (yaml_char_t *)s.p;
	e->data.scalar.length = s.n;
	e->data.scalar.style =
	    is_quoted ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_PLAIN_SCALAR_STYLE;
}

static void inside(struct json_events *j, char c, yaml_event_t *e)
{
	switch (c) {
	case '{': e->type = YAML_MAPPING_START_EVENT; break;
	case '[': e->type = YAML_SEQUENCE_START_EVENT; break;
	case '}': e->type = YAML_MAPPING_END_EVENT; break;
	case ']': e->type = YAML_SEQUENCE_END_EVENT; break;
	default:
		j->at += c == '"';
		scalar(j, c == '"', e);
		return;
	}
	j->at++;
}

void json_next_event(struct json_events *j, yaml_event_t *ret_event)
{
	static const yaml_event_type_t framing[] = {YAML_STREAM_START_EVENT,
	    YAML_DOCUMENT_START_EVENT, YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT};

	*ret_event = (yaml_event_t){0};
	if (j->n_framing < 2 || !skip(j)) {
		ret_event->type = framing[j->n_framing < 3 ? j->n_framing++ : 3];
		ret_event->start_mark.line = j->line;
		return;
	}
	ret_event->start_mark.line = j->line;
	inside(j, j->text.p[j->at], ret_event);
}
