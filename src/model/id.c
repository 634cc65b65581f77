/* SPDX-License-Identifier: Apache-2.0 */
#include "model/id.h"

#include <stdio.h>
#include <string.h>

#include "base/hex.h"

#define COUNTER_BITS 24

rid id_next(rid last, int64_t now_ms)
{
	rid now = id_floor(now_ms);

	return last + 1 > now ? last + 1 : now;
}

int64_t id_time_ms(rid id)
{
	return (int64_t)(id >> COUNTER_BITS) * 1000;
}

rid id_floor(int64_t ms)
{
	if (ms <= 0)
		return 0;
	return (rid)(uint32_t)(ms / 1000) << COUNTER_BITS;
}

static void put_hex(char *out, uint64_t n, int digits)
{
	for (int i = digits - 1; i >= 0; i--, n >>= 4)
		out[i] = "0123456789abcdef"[n & 15];
}

const char *id_format(const struct id_space *s, rid id, char out[ID_TEXT])
{
	put_hex(out, id >> COUNTER_BITS, 8);
	for (int i = 0; i < 5; i++)
		put_hex(out + 8 + 2 * i, s->installation[i], 2);
	put_hex(out + 18, id, 6);
	out[24] = 0;
	return out;
}

bool id_space_parse(struct str text, struct id_space *ret_space)
{
	return hex_take(text, ret_space->installation, sizeof ret_space->installation);
}

bool id_parse(const struct id_space *s, struct str text, rid *ret_id)
{
	uint8_t bytes[12];

	if (!hex_take(text, bytes, sizeof bytes))
		return false;
	*ret_id = 0;
	if (memcmp(bytes + 4, s->installation, 5) == 0)
		*ret_id = (rid)bytes[0] << 48 | (rid)bytes[1] << 40 | (rid)bytes[2] << 32 |
		          (rid)bytes[3] << 24 | (rid)bytes[9] << 16 | (rid)bytes[10] << 8 |
		          bytes[11];
	return true;
}
