/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json/json_array.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip(struct str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static char after_blanks(struct str *s)
{
	while (s->n && is_blank(s->p[0]))
		skip(s, 1);
	return s->n ? s->p[0] : 0;
}

/* Where a string ends that begins here: behind its closing quote, or at the end of all. */
static size_t string_end(struct str s)
{
	for (size_t i = 1; i < s.n; i++) {
		if (s.p[i] == '"')
			return i + 1;
		i += s.p[i] == '\\';
	}
	return s.n;
}

/* Up to the comma or the bracket that does not belong to the value at the beginning. */
static size_t value_end(struct str s)
{
	size_t depth = 0, i = 0;

	while (i < s.n) {
		char c = s.p[i];

		if (c == '"') {
			i += string_end((struct str){s.p + i, s.n - i});
			continue;
		}
		if (depth == 0 && (c == ',' || c == ']' || c == '}'))
			break;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		i++;
	}
	return i;
}

static int wrong(const char *what, struct problem *p)
{
	return problem_set(p, ERR_INVALID, "this is not JSON: %s", what);
}

static int ended(struct str *rest, struct problem *p)
{
	skip(rest, 1);
	return after_blanks(rest) || rest->n ? wrong("something follows the array", p) : 0;
}

int json_array_next(struct str *rest, bool first, struct str *ret_element, struct problem *p)
{
	char c = after_blanks(rest);

	if (!first && c == ']')
		return ended(rest, p);
	if (c != (first ? '[' : ','))
		return wrong(rest->n ? "a comma is missing" : "the array is not closed", p);
	skip(rest, 1);
	if (after_blanks(rest) == ']' && first)
		return ended(rest, p);
	*ret_element = (struct str){rest->p, value_end(*rest)};
	skip(rest, ret_element->n);
	while (ret_element->n && is_blank(ret_element->p[ret_element->n - 1]))
		ret_element->n--;
	if (ret_element->n == 0)
		return wrong(rest->n ? "a value is missing" : "the array is not closed", p);
	return 1;
}
