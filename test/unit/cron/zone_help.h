/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of zones share; include after cmocka.h. */
#ifndef TEST_CRON_ZONE_HELP_H
#define TEST_CRON_ZONE_HELP_H

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "cron/zone/civil.h"
#include "cron/zone/zone.h"

static inline int64_t utc(int32_t year, int32_t month, int32_t day, int32_t hour, int32_t minute)
{
	struct civil c = {year, month, day, hour, minute, 0};

	return civil_seconds(&c);
}

static inline struct cron_zone *posix(const char *tz)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	if (cron_zone_posix(str_of(tz), &z, &p) < 0)
		fail_msg("%s was refused: %s", tz, p.what);
	return z;
}

static inline void expect_span(const struct cron_zone *z, int64_t t, int64_t begin, int64_t end,
    int32_t offset, bool dst, const char *abbrev)
{
	struct cron_span s;

	cron_zone_at(z, t, &s);
	if (s.begin != begin || s.end != end || s.offset != offset || s.dst != dst ||
	    strcmp(s.abbrev, abbrev) != 0)
		fail_msg("at %" PRId64 ": [%" PRId64 ", %" PRId64 ") %d %d %s, not [%" PRId64
		         ", %" PRId64 ") %d %d %s",
		    t, s.begin, s.end, s.offset, s.dst, s.abbrev, begin, end, offset, dst, abbrev);
	assert_int_equal(cron_zone_offset(z, t), offset);
}

/* Spans follow each other without gap, and every second of one gives the same span. */
static inline void expect_chain(const struct cron_zone *z, int64_t from, int64_t until)
{
	struct cron_span s, other;

	for (int64_t t = from; t < until; t = s.end) {
		cron_zone_at(z, t, &s);
		assert_true(s.begin <= t && t < s.end);
		cron_zone_at(z, s.end - 1, &other);
		assert_true(
		    other.begin == s.begin && other.end == s.end && other.abbrev == s.abbrev);
		assert_true(t == from || s.begin == t);
	}
}

#endif
