/* SPDX-License-Identifier: Apache-2.0 */
/* Times as text: RFC 3339 in UTC, and durations for people. Pure: no clock, no time zone. */
#ifndef BASE_TIMEFMT_H
#define BASE_TIMEFMT_H

#include "base/str.h"

#define TIME_TEXT_MAX 32

/* "2026-11-15T21:08:45.123Z"; returns `out`. */
const char *time_format_ms(int64_t ms, char out[TIME_TEXT_MAX]);
/* RFC 3339 with any offset ("2026-11-15T21:08:45Z", "…+01:00"). */
bool time_parse(struct str s, int64_t *ret_ms);
/* "250ms", "3.2s", "4m10s", "2h05m", "3d4h" for people; returns `out`. */
const char *time_human_ms(int64_t ms, char out[TIME_TEXT_MAX]);
/* days since 1970-01-01 of a proleptic Gregorian date */
int64_t time_days(int64_t year, int month, int day);

#endif
