/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fold.h"

#include <stdbool.h>
#include <stdint.h>

/* Capitals from `first` to `last`, each `step`-th: the small letter lies so far behind. All of them
 * have two bytes in UTF-8, and so have the small ones. */
static const struct {
	uint16_t first, last;
	int8_t by, step;
} capitals[] = {
    {0xc0, 0xd6, 32, 1},                       /* Latin: À … Ö */
    {0xd8, 0xde, 32, 1}, {0x100, 0x12e, 1, 2}, /* Ā ā Ă ă … */
    {0x132, 0x136, 1, 2}, {0x139, 0x147, 1, 2}, {0x14a, 0x176, 1, 2},
    {0x178, 0x178, -121, 1},                     /* Ÿ */
    {0x179, 0x17d, 1, 2}, {0x386, 0x386, 38, 1}, /* Greek, with its accents */
    {0x388, 0x38a, 37, 1}, {0x38c, 0x38c, 64, 1}, {0x38e, 0x38f, 63, 1}, {0x391, 0x3a1, 32, 1},
    {0x3a3, 0x3ab, 32, 1}, {0x3c2, 0x3c2, 1, 1}, /* a sigma that ends a word is a sigma */
    {0x400, 0x40f, 80, 1},                       /* Cyrillic */
    {0x410, 0x42f, 32, 1}, {0x460, 0x480, 1, 2}, {0x48a, 0x4be, 1, 2}, {0x4c1, 0x4cd, 1, 2},
    {0x4d0, 0x52e, 1, 2}, {0x531, 0x556, 48, 1}, /* Armenian */
};

static unsigned fold_point(unsigned point)
{
	for (size_t i = 0; i < sizeof capitals / sizeof capitals[0]; i++)
		if (point >= capitals[i].first && point <= capitals[i].last)
			return (point - capitals[i].first) % (unsigned)capitals[i].step
			           ? point
			           : (unsigned)((int)point + capitals[i].by);
	return point;
}

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* How many bytes the character has that begins so; 1 also for what cannot begin one. */
static size_t length_of(unsigned char c)
{
	return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
}

void fold_case(char *text, size_t n)
{
	unsigned char *p = (unsigned char *)text;
	size_t len;

	for (size_t i = 0; i < n; i += len) {
		len = length_of(p[i]);
		if (len == 1 && p[i] >= 'A' && p[i] <= 'Z') {
			p[i] = (unsigned char)(p[i] - 'A' + 'a');
		} else if (len == 2 && i + 1 < n && is_tail(p[i + 1])) {
			unsigned point = fold_point((p[i] & 0x1fu) << 6 | (p[i + 1] & 0x3fu));

			p[i] = (unsigned char)(0xc0 | point >> 6);
			p[i + 1] = (unsigned char)(0x80 | (point & 0x3f));
		}
		/* What claims to go on and does not is passed over byte by byte. */
		for (size_t k = 1; k < len; k++)
			if (i + k >= n || !is_tail(p[i + k]))
				len = 1;
	}
}
