/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

void hex_put(char *out, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*out++ = "0123456789abcdef"[bytes[i] >> 4];
		*out++ = "0123456789abcdef"[bytes[i] & 15];
	}
	*out = 0;
}

int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool hex_take(struct str text, uint8_t *ret_bytes, size_t n)
{
	if (text.n != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(text.p[2 * i]), low = hex_digit(text.p[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret_bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}
