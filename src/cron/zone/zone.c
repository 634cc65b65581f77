/* SPDX-License-Identifier: Apache-2.0 */
/* Looking a time up in a zone: by binary search while transitions are listed, then by the rule. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cron/zone/civil.h"
#include "cron/zone/zone_internal.h"

#define CYCLE_SECONDS (INT64_C(146097) * DAY_SECONDS) /* 400 years: then weekdays repeat, too */

struct cron_zone *zone_alloc(uint32_t n_transitions, uint32_t n_types)
{
	size_t n = n_transitions, types = n_types * sizeof(struct zone_type);
	size_t bytes = sizeof(struct cron_zone) + n * sizeof(int64_t) + types + n;
	struct cron_zone *z = xcalloc(1, bytes);

	z->bytes = bytes;
	z->n = n_transitions;
	z->at = (int64_t *)(z + 1);
	z->types = (struct zone_type *)(z->at + n);
	z->type_after = (uint8_t *)(z->types + n_types);
	return z;
}

struct cron_zone *zone_constant(int32_t offset, const char *abbrev)
{
	struct cron_zone *z = zone_alloc(0, 1);

	MUST(strlen(abbrev) < CRON_ABBREV_MAX);
	z->types[0].offset = offset;
	memcpy(z->types[0].abbrev, abbrev, strlen(abbrev) + 1);
	return z;
}

struct cron_zone *cron_zone_utc(void)
{
	return zone_constant(0, "UTC");
}

int cron_zone_posix(struct str tz, struct cron_zone **ret_zone, struct problem *p)
{
	struct zone_rule rule = {0};
	int rc = zone_rule_parse(tz, &rule, p);

	if (rc < 0)
		return rc;
	*ret_zone = zone_alloc(0, 0);
	(*ret_zone)->has_rule = true;
	(*ret_zone)->rule = rule;
	return 0;
}

void cron_zone_free(struct cron_zone *z)
{
	free(z);
}

size_t cron_zone_bytes(const struct cron_zone *z)
{
	return z->bytes;
}

/* How many transitions are at or before t. Without a branch that depends on the data. */
static uint32_t count_until(const struct cron_zone *z, int64_t t)
{
	const int64_t *base = z->at;
	uint32_t n = z->n;

	while (n > 1) {
		uint32_t half = n / 2;

		base += base[half - 1] <= t ? half : 0;
		n -= half;
	}
	return (uint32_t)(base - z->at) + (*base <= t);
}

static void span_fill(struct cron_span *s, int64_t begin, int64_t end, const struct zone_type *type)
{
	*s = (struct cron_span){begin, end, type->offset, type->dst, type->abbrev};
}

void cron_zone_at(const struct cron_zone *z, int64_t t, struct cron_span *ret_span)
{
	int64_t last = z->n ? z->at[z->n - 1] : INT64_MIN;

	if (z->n && t < last) {
		uint32_t i = count_until(z, t);

		span_fill(ret_span, i ? z->at[i - 1] : INT64_MIN, z->at[i],
		    &z->types[i ? z->type_after[i - 1] : 0]);
	} else if (z->has_rule) {
		zone_rule_span(&z->rule, t, ret_span);
		if (ret_span->begin < last)
			ret_span->begin = last;
	} else {
		span_fill(ret_span, last, INT64_MAX, &z->types[z->n ? z->type_after[z->n - 1] : 0]);
	}
}

int32_t cron_zone_offset(const struct cron_zone *z, int64_t t)
{
	struct cron_span s;

	cron_zone_at(z, t, &s);
	return s.offset;
}

/* Where nothing is listed any more and one cycle of the rule has been seen from there. */
static int64_t equal_until(const struct cron_zone *a, const struct cron_zone *b)
{
	int64_t last_a = a->n ? a->at[a->n - 1] : 0, last_b = b->n ? b->at[b->n - 1] : 0;
	int64_t last = last_a > last_b ? last_a : last_b;

	if (last < 0)
		last = 0;
	return last > INT64_MAX - CYCLE_SECONDS ? INT64_MAX : last + CYCLE_SECONDS;
}

bool cron_zone_equal(const struct cron_zone *a, const struct cron_zone *b)
{
	int64_t until = equal_until(a, b), t = CRON_SAME_SINCE;
	struct cron_span x, y;

	do {
		cron_zone_at(a, t, &x);
		cron_zone_at(b, t, &y);
		if (x.offset != y.offset || x.dst != y.dst || strcmp(x.abbrev, y.abbrev) != 0)
			return false;
		t = x.end < y.end ? x.end : y.end;
	} while (t < until);
	return true;
}
