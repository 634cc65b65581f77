/* SPDX-License-Identifier: Apache-2.0 */
#include "service/write/write.h"

#include "base/timefmt.h"
#include "graph/write/json_text.h"
#include "service/place/auction.h"

/* Without the zeros at its end: a number of JSON has one form here. */
void json_score(struct buf *b, int64_t score)
{
	int64_t rest = score % SCORE_ONE, unit = SCORE_ONE / 10;

	buf_add_i64(b, score / SCORE_ONE);
	if (rest)
		buf_add_char(b, '.');
	for (; rest; unit /= 10) {
		buf_add_char(b, (char)('0' + rest / unit));
		rest %= unit;
	}
}

void json_key_time(struct buf *b, const char *name, int64_t ms)
{
	char text[TIME_TEXT_MAX];

	json_key_text(b, name, str_of(time_format_ms(ms, text)));
}

void json_key_bool(struct buf *b, const char *name, bool x)
{
	json_key(b, name);
	buf_add_cstr(b, x ? "true" : "false");
}
