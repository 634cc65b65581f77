/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random items in random zones against an oracle that knows nothing of bits, spans or months: it
 * looks at every label of some days, asks the JSON itself whether it matches, and tries every
 * offset for the instants that show it. All zones that the system has take their turns.
 *
 * The long form, with other cases for every seed:
 *   REEVE_CRON_CASES=50000 REEVE_CRON_SEED=7 build-check/test/unit/cron/test_cron_search_random
 */
#include <time.h>

#include <jansson.h>

#include "base/rng.h"
#include "support.h"
#include "zones/zones.h"

#define DAY 86400
#define CASES 1400    /* every zone twice; some twenty seconds under the sanitizers */
#define ZONES_MIN 400 /* of tzdata there are about 600 names */
#define FIRED_MAX 40000
#define OFFSETS_MAX 16

/* ---- the oracle ---- */

static bool in_selector(const json_t *sel, int64_t v, int64_t min, int64_t max)
{
	const json_t *part;
	int64_t start = min, end = max, period = 1;

	if (!sel)
		return true;
	if (json_is_integer(sel))
		return json_integer_value(sel) == v;
	if (json_is_array(sel)) {
		for (size_t i = 0; i < json_array_size(sel); i++)
			if (in_selector(json_array_get(sel, i), v, min, max))
				return true;
		return false;
	}
	if ((part = json_object_get(sel, "start")))
		start = json_integer_value(part);
	if ((part = json_object_get(sel, "end")))
		end = json_integer_value(part);
	if ((part = json_object_get(sel, "period")))
		period = json_integer_value(part);
	return v >= start && v <= end && (v - start) % period == 0;
}

static bool matches(const json_t *item, int64_t label)
{
	time_t time = label;
	struct tm tm;

	if (label > CRON_TIME_MAX) /* the calendar's end, on any wall clock */
		return false;
	gmtime_r(&time, &tm);
	return in_selector(json_object_get(item, "minute"), tm.tm_min, 0, 59) &&
	       in_selector(json_object_get(item, "hour"), tm.tm_hour, 0, 23) &&
	       in_selector(json_object_get(item, "day_of_month"), tm.tm_mday, 1, 31) &&
	       in_selector(json_object_get(item, "day_of_week"), tm.tm_wday + 1, 1, 7) &&
	       in_selector(json_object_get(item, "month"), tm.tm_mon + 1, 1, 12) &&
	       (json_object_get(item, "second")
	               ? in_selector(json_object_get(item, "second"), tm.tm_sec, 0, 59)
	               : tm.tm_sec == 0);
}

struct oracle {
	const struct cron_zone *zone;
	int64_t begin, end; /* what is known about */
	int32_t offsets[OFFSETS_MAX];
	size_t n_offsets;
	int64_t fired[FIRED_MAX];
	size_t n;
};

static void learn_offsets(struct oracle *o)
{
	o->n_offsets = 0;
	for (int64_t t = o->begin - 4 * DAY; t < o->end + 4 * DAY; t += 60) {
		int32_t offset = cron_zone_offset(o->zone, t);
		size_t i = 0;

		while (i < o->n_offsets && o->offsets[i] != offset)
			i++;
		if (i == o->n_offsets) {
			assert_true(o->n_offsets < OFFSETS_MAX);
			o->offsets[o->n_offsets++] = offset;
		}
	}
}

/* One second before the clock jumps over the label. */
static int64_t before_jump(const struct oracle *o, int64_t label)
{
	int64_t t = label - 3 * DAY;

	while (t + cron_zone_offset(o->zone, t) <= label)
		t += 60;
	while (t + cron_zone_offset(o->zone, t) > label)
		t--;
	return t;
}

static void fire(struct oracle *o, int64_t t)
{
	if (t < o->begin || t > o->end || t < 0 || t > CRON_TIME_MAX)
		return;
	assert_true(o->n < FIRED_MAX);
	o->fired[o->n++] = t;
}

static void fire_label(struct oracle *o, int64_t label, bool unskip, const char *repeated)
{
	int64_t found[OFFSETS_MAX], first = INT64_MAX, last = INT64_MIN;
	size_t n = 0;

	for (size_t i = 0; i < o->n_offsets; i++) {
		int64_t t = label - o->offsets[i];

		if (cron_zone_offset(o->zone, t) != o->offsets[i])
			continue;
		found[n++] = t;
		first = t < first ? t : first;
		last = t > last ? t : last;
	}
	if (n == 0 && unskip)
		fire(o, before_jump(o, label));
	for (size_t i = 0; i < n; i++)
		if (strcmp(repeated, "repeat_use_both") == 0 ||
		    found[i] == (strcmp(repeated, "repeat_use_only_early") == 0 ? first : last))
			fire(o, found[i]);
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void oracle_run(struct oracle *o, const json_t *item)
{
	const json_t *dst = json_object_get(item, "dst_fixes");
	bool unskip = strcmp(json_string_value(json_array_get(dst, 0)), "unskip") == 0;
	int step = json_object_get(item, "second") ? 1 : 60;
	int64_t begin = o->begin - 3 * DAY;

	o->n = 0;
	learn_offsets(o);
	for (int64_t label = begin - ((begin % 60) + 60) % 60; label < o->end + 3 * DAY;
	     label += step)
		if (matches(item, label))
			fire_label(o, label, unskip, json_string_value(json_array_get(dst, 1)));
	qsort(o->fired, o->n, sizeof *o->fired, by_time);
}

/* ---- random items ---- */

static void random_range(struct rng *r, struct buf *b, int min, int max)
{
	int start = min + (int)rng_below(r, (uint64_t)(max - min + 1));
	int end = start + (int)rng_below(r, (uint64_t)(max - start + 1));
	const char *comma = "";

	buf_add_char(b, '{');
	if (rng_below(r, 2)) {
		buf_printf(b, "\"start\": %d", start);
		comma = ", ";
	}
	if (rng_below(r, 2)) {
		buf_printf(b, "%s\"end\": %d", comma, end);
		comma = ", ";
	}
	if (rng_below(r, 2) || !*comma)
		buf_printf(b, "%s\"period\": %d", comma,
		    1 + (int)rng_below(r, max - min < 20 ? (uint64_t)(max - min + 1) : 20));
	buf_add_char(b, '}');
}

static void random_selector(struct rng *r, struct buf *b, const char *key, int min, int max)
{
	uint64_t kind = rng_below(r, 4), n = 1 + rng_below(r, 4);

	buf_printf(b, ", \"%s\": ", key);
	if (kind == 0) {
		random_range(r, b, min, max);
		return;
	}
	if (kind == 1)
		buf_add_char(b, '[');
	for (uint64_t i = 0; i < (kind == 1 ? n : 1); i++)
		buf_printf(
		    b, "%s%d", i ? ", " : "", min + (int)rng_below(r, (uint64_t)(max - min + 1)));
	if (kind == 1)
		buf_add_char(b, ']');
}

static void random_item(struct rng *r, struct buf *b)
{
	static const char *const skipped[] = {"skip", "unskip"};
	static const char *const repeated[] = {
	    "repeat_use_both", "repeat_use_only_early", "repeat_use_only_late"};

	buf_reset(b);
	buf_printf(b, "{\"dst_fixes\": [\"%s\", \"%s\"]", skipped[rng_below(r, 2)],
	    repeated[rng_below(r, 3)]);
	random_selector(r, b, "minute", 0, 59);
	if (rng_below(r, 4))
		random_selector(r, b, "hour", 0, rng_below(r, 2) ? 4 : 23);
	if (rng_below(r, 5) == 0)
		random_selector(r, b, "day_of_month", 1, 28);
	else if (rng_below(r, 4) == 0)
		random_selector(r, b, "day_of_week", 1, 7);
	if (rng_below(r, 6) == 0)
		random_selector(r, b, "month", 1, 12);
	if (rng_below(r, 20) == 0)
		random_selector(r, b, "second", 0, 59);
	buf_add_char(b, '}');
}

/* Mostly near a change of the zone, where things go wrong. */
static int64_t random_time(struct rng *r, const struct cron_zone *z)
{
	int64_t t = (int64_t)rng_below(r, (uint64_t)131 * 365 * DAY);
	struct cron_span s;

	if (rng_below(r, 15) == 0)
		return -(int64_t)rng_below(r, 2 * DAY);
	if (rng_below(r, 30) == 0)
		return CRON_TIME_MAX - (int64_t)rng_below(r, 3 * DAY);
	cron_zone_at(z, t, &s);
	if (rng_below(r, 10) == 0 || s.end > INT64_C(4200000000))
		return t;
	return s.end - DAY - (int64_t)rng_below(r, DAY / 2);
}

/* ---- zones that no government has thought of yet ---- */

static void put_be32(struct buf *b, int64_t v)
{
	uint32_t u = (uint32_t)v;
	char bytes[] = {(char)(u >> 24), (char)(u >> 16), (char)(u >> 8), (char)u};

	buf_add(b, bytes, sizeof bytes);
}

#define WILD_TYPES 5
#define WILD_CHANGES 12

/* A zone file with changes minutes or hours apart, by anything up to a day and two hours. */
static struct cron_zone *wild_zone(struct rng *r, int64_t *ret_first)
{
	static const char header[20] = "TZif";
	struct buf b = {0};
	struct cron_zone *z = NULL;
	struct problem p = {0};
	int64_t t = 60 * (int64_t)rng_below(r, 2000000);

	*ret_first = t;
	buf_add(&b, header, sizeof header);
	for (int i = 0; i < 3; i++)
		put_be32(&b, 0);
	put_be32(&b, WILD_CHANGES);
	put_be32(&b, WILD_TYPES);
	put_be32(&b, 4);
	for (int i = 0; i < WILD_CHANGES; i++) {
		put_be32(&b, t);
		t += 60 * (1 + (int64_t)rng_below(r, rng_below(r, 2) ? 60 : 1200));
	}
	for (int i = 0; i < WILD_CHANGES; i++)
		buf_add_char(&b, (char)rng_below(r, WILD_TYPES));
	for (int i = 0; i < WILD_TYPES; i++) {
		int64_t limit = rng_below(r, 2) ? 120 : 1550;

		put_be32(&b, 60 * ((int64_t)rng_below(r, (uint64_t)limit * 2) - limit));
		buf_add(&b, "\0\0", 2);
	}
	buf_add(&b, "WLD", 4);
	if (cron_zone_tzif(b.p, b.n, &z, &p))
		fail_msg("%s", p.what);
	buf_release(&b);
	return z;
}

/* ---- both sides ---- */

static void check_at(
    const struct oracle *o, const struct cron_items *items, int64_t t, const char *text)
{
	int64_t next = INT64_MAX, last = INT64_MIN, want_next = INT64_MAX, want_last = INT64_MIN;

	if (t < o->begin || t > o->end)
		return;
	for (size_t i = o->n; i-- > 0;)
		if (o->fired[i] >= t)
			want_next = o->fired[i];
		else
			break;
	for (size_t i = 0; i < o->n && o->fired[i] <= t; i++)
		want_last = o->fired[i];
	if (!cron_items_next(items, o->zone, t, &next) || next > o->end)
		next = INT64_MAX;
	if (!cron_items_last(items, o->zone, t, &last) || last < o->begin)
		last = INT64_MIN;
	if (next != want_next || last != want_last)
		fail_msg("%s\nat %lld: next %lld, wanted %lld; last %lld, wanted %lld", text,
		    (long long)t, (long long)next, (long long)want_next, (long long)last,
		    (long long)want_last);
}

static void check_around(
    struct rng *r, struct oracle *o, const struct cron_items *items, const char *text)
{
	struct cron_span s;

	for (int i = 0; i < 8; i++)
		check_at(o, items, o->begin + (int64_t)rng_below(r, (uint64_t)(o->end - o->begin)),
		    text);
	for (int i = 0; i < 8 && o->n; i++) {
		int64_t t = o->fired[rng_below(r, o->n)];

		for (int64_t d = -1; d <= 1; d++)
			check_at(o, items, t + d, text);
	}
	for (int64_t d = -1; d <= 1; d++) { /* the calendar's ends */
		check_at(o, items, d, text);
		check_at(o, items, CRON_TIME_MAX + d, text);
	}
	cron_zone_at(o->zone, o->begin, &s);
	for (int64_t d = -61; s.end < o->end && d <= 61; d += d > -3 && d < 2 ? 1 : 29)
		check_at(o, items, s.end + d, text);
}

static void one_case(
    struct rng *r, struct oracle *o, const char *zone, int64_t begin, struct buf *b)
{
	struct cron_items items;
	json_t *item;
	char *text;

	random_item(r, b);
	items = json_items(b->p);
	assert_round_trip(&items);
	item = json_loads(b->p, 0, NULL);
	o->begin = begin;
	o->end = o->begin + (json_object_get(item, "second") ? DAY / 2 : 3 * DAY);
	oracle_run(o, item);
	assert_true(asprintf(&text, "%s in %s", b->p, zone) > 0);
	check_around(r, o, &items, text);
	free(text);
	json_decref(item);
	cron_items_release(&items);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : otherwise;
}

static struct oracle the_oracle;

static void test_every_zone(void **state)
{
	struct oracle *o = &the_oracle;
	uint64_t cases = number_from("REEVE_CRON_CASES", CASES);
	struct rng r = {number_from("REEVE_CRON_SEED", 1)};
	struct zones *zones = zones_new(NULL);
	const char *const *names;
	size_t n = zones_names(zones, &names);
	struct buf b = {0};

	if (n < ZONES_MIN)
		fail_msg("only %zu zones are on this machine (package tzdata)", n);
	for (uint64_t i = 0; i < cases; i++) {
		struct zone_ref *ref;
		struct problem p = {0};

		if (zones_get(zones, str_of(names[i % n]), &ref, &p))
			fail_msg("%s: %s", names[i % n], p.what);
		o->zone = ref->zone;
		one_case(&r, o, names[i % n], random_time(&r, o->zone), &b);
		zone_ref_drop(ref);
	}
	zones_free(zones);
	buf_release(&b);
}

static void test_wild_zones(void **state)
{
	uint64_t cases = number_from("REEVE_CRON_CASES", CASES);
	struct rng r = {number_from("REEVE_CRON_SEED", 1)};
	struct buf b = {0};

	for (uint64_t i = 0; i < cases; i++) {
		int64_t first;
		struct cron_zone *z = wild_zone(&r, &first);

		the_oracle.zone = z;
		one_case(&r, &the_oracle, "a wild zone",
		    first - DAY / 2 + (int64_t)rng_below(&r, DAY), &b);
		cron_zone_free(z);
	}
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_zone), cmocka_unit_test(test_wild_zones)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
