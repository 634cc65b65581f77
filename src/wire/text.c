/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/text.h"

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

static bool is_tail(const unsigned char *p, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return false;
	return true;
}

/* Length of the well-formed character at p, or 0. Overlong forms and surrogates are not. */
static size_t character(const unsigned char *p, size_t left)
{
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		return left >= 2 && is_tail(p, 2) ? 2 : 0;
	if (p[0] >= 0xe0 && p[0] <= 0xef) {
		if (left < 3 || !is_tail(p, 3))
			return 0;
		if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))
			return 0;
		return 3;
	}
	if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		if (left < 4 || !is_tail(p, 4))
			return 0;
		if ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
			return 0;
		return 4;
	}
	return 0;
}

bool text_is_name(struct str s, size_t max)
{
	const unsigned char *p = (const unsigned char *)s.p;

	if (!s.p || s.n == 0 || s.n > max)
		return false;
	for (size_t i = 0, n; i < s.n; i += n) {
		n = character(p + i, s.n - i);
		if (n == 0 || is_control(p[i]))
			return false;
	}
	return true;
}

void text_clean(char *text, size_t length)
{
	unsigned char *p = (unsigned char *)text;

	for (size_t i = 0, n; i < length; i += n) {
		n = character(p + i, length - i);
		if (n == 0) {
			p[i] = '?';
			n = 1;
		} else if (is_control(p[i])) {
			p[i] = ' ';
		}
	}
}

struct str text_head(struct str s, size_t max)
{
	if (s.n <= max)
		return s;
	s.n = max;
	for (int i = 0; i < 3 && s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80; i++)
		s.n--;
	return s;
}
