/* SPDX-License-Identifier: Apache-2.0 */
/* Comments and trailing commas become spaces; what is left is for a strict JSON parser. */
#include <string.h>

#include "config/config.h"
#include "config/text.h"

struct stripper {
	char *text;
	size_t n, at;
	int line, depth;
	char last; /* last byte that counts, and the one before it */
	char before;
	size_t last_at;
};

static void skip_string(struct stripper *s)
{
	s->at++;
	while (s->at < s->n && s->text[s->at] != '"' && s->text[s->at] != '\n')
		s->at += s->text[s->at] == '\\' && s->at + 1 < s->n && s->text[s->at + 1] != '\n'
		             ? 2
		             : 1;
	if (s->at < s->n && s->text[s->at] == '"')
		s->at++;
}

static void blank_line_comment(struct stripper *s)
{
	while (s->at < s->n && s->text[s->at] != '\n')
		s->text[s->at++] = ' ';
}

static bool blank_block_comment(struct stripper *s)
{
	size_t from = s->at;

	for (s->at += 2; s->at + 1 < s->n; s->at++) {
		if (s->text[s->at] == '\n')
			s->line++;
		if (s->text[s->at] != '*' || s->text[s->at + 1] != '/')
			continue;
		s->at += 2;
		for (size_t i = from; i < s->at; i++)
			if (s->text[i] != '\n')
				s->text[i] = ' ';
		return true;
	}
	return false;
}

/* A comma right after a value and right before a closing bracket. */
static void blank_trailing_comma(struct stripper *s)
{
	if (s->last == ',' && s->before && !strchr("[{,:", s->before))
		s->text[s->last_at] = ' ';
}

static void count(struct stripper *s, char c)
{
	s->before = s->last;
	s->last = c;
	s->last_at = s->at;
}

static void take(struct stripper *s)
{
	char c = s->text[s->at];

	if (c == '\n')
		s->line++;
	if (c == '{' || c == '[')
		s->depth++;
	if (c == '}' || c == ']') {
		s->depth--;
		blank_trailing_comma(s);
	}
	if (!strchr(" \t\r\n", c))
		count(s, c);
	if (c == '"')
		skip_string(s);
	else
		s->at++;
}

static int strip_rest(struct stripper *s, int *ret_line, struct problem *ret_problem)
{
	while (s->at < s->n) {
		char next = s->at + 1 < s->n ? s->text[s->at + 1] : '\0';
		int line = s->line;

		if (s->text[s->at] == '/' && next == '/') {
			blank_line_comment(s);
		} else if (s->text[s->at] == '/' && next == '*') {
			if (!blank_block_comment(s)) {
				*ret_line = line;
				problem_set(ret_problem, ERR_INVALID, "this comment never ends");
				problem_hint(ret_problem, "close it with */");
				return ERR_INVALID;
			}
		} else {
			take(s);
		}
		if (s->depth > CONFIG_DEPTH_MAX) {
			*ret_line = s->line;
			return problem_set(
			    ret_problem, ERR_INVALID, "nested more than %d deep", CONFIG_DEPTH_MAX);
		}
	}
	return 0;
}

int text_strip(char *text, size_t n, int *ret_line, struct problem *ret_problem)
{
	struct stripper s = {.text = text, .n = n, .line = 1};
	const char *nul = n ? memchr(text, '\0', n) : NULL;

	if (nul) {
		for (const char *p = text; p < nul; p++)
			s.line += *p == '\n';
		*ret_line = s.line;
		return problem_set(ret_problem, ERR_INVALID, "a NUL byte: this is not a text file");
	}
	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		memset(text, ' ', 3);
	return strip_rest(&s, ret_line, ret_problem);
}
