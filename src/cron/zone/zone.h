/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time zone: spans of constant offset from UTC that follow each other without gap. Immutable once
 * made, so that any number of readers may share it; who made it frees it.
 */
#ifndef CRON_ZONE_H
#define CRON_ZONE_H

#include "base/err.h"
#include "base/str.h"

#define CRON_OFFSET_MAX 93599 /* 25:59:59, RFC 8536's bound to either side */
#define CRON_ABBREV_MAX 16    /* with its NUL */
#define CRON_TZIF_MAX 1048576 /* bytes of a file */
#define CRON_SAME_SINCE 0     /* cron_zone_equal() looks at what holds from 1970 on */

struct cron_zone;

/* The bytes of a TZif file, versions 1 to 4. Leap second ("right/") files are refused. */
int cron_zone_tzif(const void *bytes, size_t n, struct cron_zone **ret_zone, struct problem *p);
/* A POSIX TZ string with POSIX's own sign: "EST5EDT,M3.2.0,M11.1.0" is west of Greenwich. A second
 * name without dates ("EST5EDT") is refused: its meaning would be a guess. */
int cron_zone_posix(struct str tz, struct cron_zone **ret_zone, struct problem *p);
/* "UTC", "Z", "+02:00", "-0330", "UTC+5", "GMT-3": east is positive, as people write it. */
int cron_zone_fixed(struct str text, struct cron_zone **ret_zone, struct problem *p);
struct cron_zone *cron_zone_utc(void);
void cron_zone_free(struct cron_zone *z);
/* The same offset, dst and name at every time from CRON_SAME_SINCE on. */
bool cron_zone_equal(const struct cron_zone *a, const struct cron_zone *b);
size_t cron_zone_bytes(const struct cron_zone *z); /* of memory */

/* [begin, end): INT64_MIN and INT64_MAX where there is no earlier or later span. */
struct cron_span {
	int64_t begin, end;
	int32_t offset; /* local = UTC + offset */
	bool dst;
	const char *abbrev; /* lives as long as the zone */
};
/* Neighbours with the same offset may be separate spans (only name or dst differ). */
void cron_zone_at(const struct cron_zone *z, int64_t t, struct cron_span *ret_span);
int32_t cron_zone_offset(const struct cron_zone *z, int64_t t);

#endif
