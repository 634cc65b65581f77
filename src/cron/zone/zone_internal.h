/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a zone lies in memory: a table of listed transitions in one block with the struct, and the
 * rule that holds from the last of them on. Nobody outside zone.c, tzif.c and posix.c looks here.
 */
#ifndef CRON_ZONE_INTERNAL_H
#define CRON_ZONE_INTERNAL_H

#include "cron/zone/zone.h"

struct zone_type {
	int32_t offset;
	bool dst;
	char abbrev[CRON_ABBREV_MAX];
};

enum rule_kind {
	RULE_NO_LEAP_DAY, /* Jn: 1 to 365, 29 February is never counted */
	RULE_DAY,         /* n: 0 to 365, it is counted */
	RULE_WEEKDAY,     /* Mm.w.d: the w-th weekday d of month m, 5 is the last */
};

/* When in a year the clock changes: a day, and seconds from its midnight by the clock before. */
struct rule_date {
	enum rule_kind kind;
	int32_t month, week, day;
	int32_t time;
};

struct zone_rule {
	bool changes;   /* false: `standard` for ever */
	bool end_first; /* in a calendar year: the southern hemisphere */
	struct zone_type standard, daylight;
	struct rule_date start, end; /* of `daylight` */
	/* [leap year][weekday of 1 January]: seconds from the year's beginning in UTC */
	int32_t start_in[2][7], end_in[2][7];
};

/* A POSIX TZ string. Errors name the byte. */
int zone_rule_parse(struct str tz, struct zone_rule *ret_rule, struct problem *p);
/* Works out the years, and which change comes first in one. ERR_INVALID: not always the same one.
 */
int zone_rule_order(struct zone_rule *rule, struct problem *p);
void zone_rule_span(const struct zone_rule *rule, int64_t t, struct cron_span *ret_span);

struct cron_zone {
	size_t bytes;
	uint32_t n;              /* transitions */
	bool has_rule;           /* from the last transition on; always, if there is none */
	int64_t *at;             /* [n], rising */
	uint8_t *type_after;     /* [n], index of types */
	struct zone_type *types; /* [0] also holds before the first transition */
	struct zone_rule rule;
};

struct cron_zone *zone_alloc(uint32_t n_transitions, uint32_t n_types);
/* One offset for ever. */
struct cron_zone *zone_constant(int32_t offset, const char *abbrev);

#endif
