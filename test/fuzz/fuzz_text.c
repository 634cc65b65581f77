/* SPDX-License-Identifier: Apache-2.0 */
/* The parsers of base (numbers, durations, times, misspelt names) against arbitrary bytes. */
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/timefmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_number(struct str s)
{
	struct buf b = {0};
	int64_t n, back;

	if (!str_to_i64(s, INT64_MIN, INT64_MAX, &n))
		return;
	buf_add_i64(&b, n);
	MUST(str_to_i64(buf_str(&b), n, n, &back));
	buf_release(&b);
}

static void check_time(struct str s)
{
	char text[TIME_TEXT_MAX];
	int64_t ms, back;

	if (!time_parse(s, &ms))
		return;
	time_format_ms(ms, text);
	if (text[4] == '-') /* an offset may lead out of the four-digit years */
		MUST(time_parse(str_of(text), &back) && back == ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"threads", "timeout", "max_attempts", "priority"};
	struct str s = {(const char *)data, size}, rest = s, part;
	char text[TIME_TEXT_MAX];
	int64_t ms;

	check_number(s);
	check_time(s);
	if (str_to_duration_ms(s, &ms)) {
		MUST(ms >= 0);
		time_human_ms(ms, text);
	}
	if (str_to_bytes(s, &ms))
		MUST(ms >= 0);
	(void)str_nearest(s, names, sizeof names / sizeof names[0]);
	while (str_next(&rest, ',', &part))
		MUST(part.n <= size);
	return 0;
}
