/* SPDX-License-Identifier: Apache-2.0 */
/* Zones as values: fixed offsets, equality, and looking up against a naive walk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tzif_help.h"
#include "zone_help.h"

static void test_fixed(void **state)
{
	static const struct {
		const char *text;
		int32_t offset;
		const char *abbrev;
	} rows[] = {
	    {"UTC", 0, "UTC"},
	    {"utc", 0, "UTC"},
	    {"GMT", 0, "GMT"},
	    {"Z", 0, "UTC"},
	    {"z", 0, "UTC"},
	    {"+00:00", 0, "UTC"},
	    {"-00", 0, "UTC"},
	    {"+02:00", 7200, "+02"},
	    {"+2", 7200, "+02"},
	    {"+02", 7200, "+02"},
	    {"-0330", -12600, "-0330"},
	    {"-3:30", -12600, "-0330"},
	    {"+05:45", 20700, "+0545"},
	    {"+05:45:15", 20715, "+054515"},
	    {"-054515", -20715, "-054515"},
	    {"UTC+5", 18000, "+05"},
	    {"GMT-3", -10800, "-03"},
	    {"utc+05:30", 19800, "+0530"},
	    {"+25:59:59", 93599, "+255959"},
	    {"-255959", -93599, "-255959"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = NULL;

		if (cron_zone_fixed(str_of(rows[i].text), &z, NULL) < 0)
			fail_msg("%s was refused", rows[i].text);
		expect_span(z, 0, INT64_MIN, INT64_MAX, rows[i].offset, false, rows[i].abbrev);
		cron_zone_free(z);
	}
}

static void test_fixed_refused(void **state)
{
	static const char *const rows[] = {"", "+", "-", "5", "UTC5", "Z+5", "+26", "+1:60",
	    "+01:00:60", "+123", "+12345", "+1234567", "+01:0", "+01:", "+:30", "+0100:00",
	    "+01:0000", "+--5", "+ 5", "UT", "+02:00 ", "Europe/Berlin", "EST"};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *z = NULL;
		struct problem p = {0};

		if (cron_zone_fixed(str_of(rows[i]), &z, &p) != ERR_INVALID)
			fail_msg("\"%s\" was accepted", rows[i]);
		assert_non_null(strstr(p.what, "no offset"));
		assert_non_null(strstr(p.hint, "east is plus"));
		assert_null(z);
	}
}

static void test_utc(void **state)
{
	struct cron_zone *z = cron_zone_utc();

	expect_span(z, INT64_MIN, INT64_MIN, INT64_MAX, 0, false, "UTC");
	expect_span(z, INT64_MAX, INT64_MIN, INT64_MAX, 0, false, "UTC");
	assert_true(cron_zone_bytes(z) < 512);
	cron_zone_free(z);
	cron_zone_free(NULL);
}

static void test_equal(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
	    {"EST5EDT,M3.2.0,M11.1.0", "EST5EDT4,M3.2.0/2,M11.1.0/2", true},
	    {"EST5EDT,M3.2.0,M11.1.0", "EST5EDT,M3.2.0,M11.1.0/3", false},
	    {"EST5EDT,M3.2.0,M11.1.0", "EST5", false}, {"EST5", "EST+5:00:00", true},
	    {"EST5", "ABC5", false},
	    {"XXX3EDT4,0/0,J365/23", "EDT4", false}, /* only daylight saving's mark differs */
	    /* the last Thursday of February and the fourth: another day in leap years that have
	       five */
	    {"AAA0BBB,M2.4.4,M11.1.0", "AAA0BBB,M2.5.4,M11.1.0", false},
	    {"AAA0BBB,J59,M11.1.0", "AAA0BBB,58,M11.1.0", true},
	    {"AAA0BBB,J60,M11.1.0", "AAA0BBB,59,M11.1.0", false}, /* in leap years */
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct cron_zone *a = posix(rows[i].a), *b = posix(rows[i].b);

		if (cron_zone_equal(a, b) != rows[i].equal ||
		    cron_zone_equal(b, a) != rows[i].equal)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
		cron_zone_free(a);
		cron_zone_free(b);
	}
}

/* One file lists what the other leaves to its last line, and has another past before 1970. */
static void test_equal_however_it_is_said(void **state)
{
	struct cron_zone *listed = NULL, *ruled = posix("EST5EDT,M3.2.0,M11.1.0");
	struct buf b = {0};

	add_empty_v1(&b, '2');
	add_header(&b, '2', (struct tzif_counts){.times = 3, .types = 3, .chars = 12});
	add_be(&b, (uint64_t)-100000000, 8);
	add_be(&b, (uint64_t)utc(1970, 3, 8, 7, 0), 8);
	add_be(&b, (uint64_t)utc(1970, 11, 1, 6, 0), 8);
	buf_add(&b, "\1\2\1", 3);
	add_type(&b, -17762, 0, 0);
	add_type(&b, -18000, 0, 4);
	add_type(&b, -14400, 1, 8);
	buf_add(&b, "LMT\0EST\0EDT", 12);
	buf_add_cstr(&b, "\nEST5EDT,M3.2.0,M11.1.0\n");
	assert_int_equal(cron_zone_tzif(b.p, b.n, &listed, NULL), 0);
	assert_true(cron_zone_equal(listed, ruled));
	assert_true(cron_zone_equal(ruled, listed));
	expect_span(listed, -1, -100000000, utc(1970, 3, 8, 7, 0), -18000, false, "EST");
	cron_zone_free(listed);
	cron_zone_free(ruled);
	buf_release(&b);
}

#define N_RANDOM 300

static void make_random(struct rng *r, uint32_t n, int64_t at[N_RANDOM], struct buf *b)
{
	int64_t t = -(int64_t)rng_below(r, 1000000);

	add_empty_v1(b, '2');
	add_header(b, '2', (struct tzif_counts){.times = n, .types = 2, .chars = 4});
	for (uint32_t i = 0; i < n; i++) {
		t += 1 + (int64_t)rng_below(r, 1000);
		at[i] = t;
		add_be(b, (uint64_t)t, 8);
	}
	for (uint32_t i = 0; i < n; i++)
		buf_add_char(b, (char)((i + 1) % 2));
	add_type(b, 0, 0, 0);
	add_type(b, 60, 0, 0);
	buf_add(b, "ABC", 4);
	buf_add_cstr(b, "\n\n");
}

static void check_random(const struct cron_zone *z, const int64_t *at, uint32_t n, int64_t t)
{
	uint32_t i = 0;

	while (i < n && at[i] <= t)
		i++;
	expect_span(z, t, i ? at[i - 1] : INT64_MIN, i < n ? at[i] : INT64_MAX, i % 2 ? 60 : 0,
	    false, "ABC");
}

static void test_random_tables(void **state)
{
	struct rng r = {11};
	int64_t at[N_RANDOM];

	for (uint32_t n = 1; n < N_RANDOM; n += 1 + n / 8) {
		struct buf b = {0};
		struct cron_zone *z = NULL;

		make_random(&r, n, at, &b);
		assert_int_equal(cron_zone_tzif(b.p, b.n, &z, NULL), 0);
		for (uint32_t i = 0; i < n; i++)
			for (int64_t near = -1; near <= 1; near++)
				check_random(z, at, n, at[i] + near);
		check_random(z, at, n, INT64_MIN);
		check_random(z, at, n, INT64_MAX);
		cron_zone_free(z);
		buf_release(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fixed),
	    cmocka_unit_test(test_fixed_refused),
	    cmocka_unit_test(test_utc),
	    cmocka_unit_test(test_equal),
	    cmocka_unit_test(test_equal_however_it_is_said),
	    cmocka_unit_test(test_random_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
