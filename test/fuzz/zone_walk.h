/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over any zone, whatever it was made from: its spans follow each other, within bounds. */
#ifndef FUZZ_ZONE_WALK_H
#define FUZZ_ZONE_WALK_H

#include <string.h>

#include "base/mem.h"
#include "cron/zone/zone.h"

#define WALK_MAX 64

static inline void zone_check_at(const struct cron_zone *z, int64_t t, struct cron_span *ret_span)
{
	struct cron_span *s = ret_span;

	cron_zone_at(z, t, s);
	MUST(s->begin <= t && (t < s->end || t == INT64_MAX));
	MUST(s->offset >= -CRON_OFFSET_MAX && s->offset <= CRON_OFFSET_MAX);
	MUST(strlen(s->abbrev) > 0 && strlen(s->abbrev) < CRON_ABBREV_MAX);
	MUST(cron_zone_offset(z, t) == s->offset);
}

static inline void zone_walk(const struct cron_zone *z, int64_t from)
{
	struct cron_span s, last;
	int64_t t = from;

	for (int i = 0; i < WALK_MAX; i++) {
		zone_check_at(z, t, &s);
		MUST(i == 0 || s.begin == t);
		if (s.end == INT64_MAX)
			return;
		zone_check_at(z, s.end - 1, &last);
		MUST(last.begin == s.begin && last.end == s.end && last.abbrev == s.abbrev);
		t = s.end;
	}
}

static inline void zone_check(struct cron_zone *z)
{
	static const int64_t froms[] = {INT64_MIN, INT64_C(-62135596800), -1, 0,
	    INT64_C(4102444800), INT64_C(253402300799), INT64_C(31556000) * 1000000, INT64_MAX};

	for (size_t i = 0; i < sizeof froms / sizeof froms[0]; i++)
		zone_walk(z, froms[i]);
	MUST(cron_zone_bytes(z) < 65536);
	MUST(cron_zone_equal(z, z));
	cron_zone_free(z);
}

#endif
