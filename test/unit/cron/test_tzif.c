/* SPDX-License-Identifier: Apache-2.0 */
/* TZif files made by hand: what each version says, and everything that can be wrong with one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tzif_help.h"
#include "zone_help.h"

#define NAMES "LMT\0AAA\0BBB"
#define T1 1000
#define T2 500000000

/* LMT until T1, AAA until T2, then BBB (daylight saving). */
static void add_tables(struct buf *b, int time_bytes)
{
	add_be(b, T1, time_bytes);
	add_be(b, T2, time_bytes);
	buf_add(b, "\1\2", 2);
	add_type(b, 100, 0, 0);
	add_type(b, 3600, 0, 4);
	add_type(b, 7200, 1, 8);
	buf_add(b, NAMES, sizeof NAMES);
}

static const struct tzif_counts three = {.times = 2, .types = 3, .chars = sizeof NAMES};

static void make_v2(struct buf *b, char version, const char *footer)
{
	add_empty_v1(b, version);
	add_header(b, version, three);
	add_tables(b, 8);
	buf_add_cstr(b, footer);
}

static struct cron_zone *zone_of(struct buf *b)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	if (cron_zone_tzif(b->p, b->n, &z, &p) < 0)
		fail_msg("the file was refused: %s", p.what);
	buf_release(b);
	return z;
}

static void expect_refused(struct buf *b, const char *what)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	if (cron_zone_tzif(b->p, b->n, &z, &p) != ERR_INVALID)
		fail_msg("accepted, though: %s", what);
	if (!strstr(p.what, what))
		fail_msg("%s, not: %s", p.what, what);
	assert_null(z);
	buf_release(b);
}

static void expect_three(struct cron_zone *z, int64_t end)
{
	expect_span(z, INT64_MIN, INT64_MIN, T1, 100, false, "LMT");
	expect_span(z, T1 - 1, INT64_MIN, T1, 100, false, "LMT");
	expect_span(z, T1, T1, T2, 3600, false, "AAA");
	expect_span(z, T2 - 1, T1, T2, 3600, false, "AAA");
	expect_span(z, T2, T2, end, 7200, true, "BBB");
}

static void test_version_1(void **state)
{
	struct buf b = {0};
	struct cron_zone *z;

	add_header(&b, 0, three);
	add_tables(&b, 4);
	z = zone_of(&b);
	expect_three(z, INT64_MAX);
	expect_span(z, INT64_MAX, T2, INT64_MAX, 7200, true, "BBB");
	cron_zone_free(z);
}

static void test_version_1_before_1970(void **state)
{
	struct buf b = {0};
	struct cron_zone *z;

	add_header(&b, 0, (struct tzif_counts){.times = 1, .types = 2, .chars = 8});
	add_be(&b, (uint32_t)INT32_MIN, 4);
	buf_add(&b, "\1", 1);
	add_type(&b, -60, 0, 0);
	add_type(&b, 60, 0, 4);
	buf_add(&b, NAMES, 8);
	z = zone_of(&b);
	expect_span(z, INT64_C(-2147483649), INT64_MIN, INT32_MIN, -60, false, "LMT");
	expect_span(z, INT32_MIN, INT32_MIN, INT64_MAX, 60, false, "AAA");
	cron_zone_free(z);
}

static void test_later_versions(void **state)
{
	for (char version = '2'; version <= '4'; version++) {
		struct buf b = {0};
		struct cron_zone *z;

		make_v2(&b, version, "\n\n");
		z = zone_of(&b);
		expect_three(z, INT64_MAX);
		assert_true(cron_zone_bytes(z) < 1024);
		cron_zone_free(z);
	}
}

static void test_footer_follows_the_last_transition(void **state)
{
	struct buf b = {0};
	struct cron_zone *z;
	int64_t autumn = utc(1985, 11, 30, 22, 0), spring = utc(1986, 5, 31, 23, 0);

	make_v2(&b, '3', "\nAAA-1BBB,M6.1.0/0,M12.1.0/0\n");
	z = zone_of(&b);
	expect_three(z, autumn); /* BBB began in the table and ends by the rule */
	expect_span(z, autumn, autumn, spring, 3600, false, "AAA");
	expect_span(z, utc(2100, 7, 1, 0, 0), utc(2100, 6, 5, 23, 0), utc(2100, 12, 4, 22, 0), 7200,
	    true, "BBB");
	expect_chain(z, -100000, utc(2500, 1, 1, 0, 0));
	cron_zone_free(z);
}

static void test_footer_alone(void **state)
{
	struct buf b = {0};
	struct cron_zone *z;

	add_empty_v1(&b, '2');
	add_header(&b, '2', (struct tzif_counts){.types = 1, .chars = 4});
	add_type(&b, 5, 0, 0);
	buf_add(&b, "ABC", 4);
	buf_add_cstr(&b, "\n<+07>-7\n");
	z = zone_of(&b);
	expect_span(z, 0, INT64_MIN, INT64_MAX, 25200, false, "+07");
	cron_zone_free(z);
}

/* Files that were cut with `zic -r` say "-00" where they know nothing. */
static void test_truncated(void **state)
{
	struct buf b = {0};
	struct cron_zone *z;

	add_empty_v1(&b, '4');
	add_header(&b, '4', (struct tzif_counts){.times = 2, .types = 2, .chars = 8});
	add_be(&b, 0, 8);
	add_be(&b, T2, 8);
	buf_add(&b, "\1\0", 2);
	add_type(&b, 0, 0, 0);
	add_type(&b, 3600, 0, 4);
	buf_add(&b, "-00\0CET", 8);
	buf_add_cstr(&b, "\n\n");
	z = zone_of(&b);
	expect_span(z, -1, INT64_MIN, 0, 0, false, "-00");
	expect_span(z, 0, 0, T2, 3600, false, "CET");
	expect_span(z, T2, T2, INT64_MAX, 0, false, "-00");
	cron_zone_free(z);
}

static void test_every_cut_is_refused(void **state)
{
	struct buf b = {0};
	struct cron_zone *z = NULL;

	make_v2(&b, '2', "\nAAA-1\n");
	for (size_t n = 0; n < b.n; n++) {
		char *exact = xmalloc(n + 1); /* so that the sanitizer sees a byte too far */

		memcpy(exact, b.p, n);
		exact = xrealloc(exact, n ? n : 1);
		assert_int_equal(cron_zone_tzif(exact, n, &z, NULL), ERR_INVALID);
		free_cstr(&exact);
	}
	buf_release(&b);
	assert_null(z);
}

static void test_huge_counts(void **state)
{
	static const struct tzif_counts rows[] = {
	    {.times = UINT32_MAX, .types = 1, .chars = 1},
	    {.times = 1, .types = UINT32_MAX, .chars = 1},
	    {.times = 1, .types = 1, .chars = UINT32_MAX},
	    {.leaps = UINT32_MAX, .types = 1, .chars = 1},
	    {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct buf first = {0}, second = {0};

		add_header(&first, '2', rows[i]);
		add_empty_v1(&first, '2');
		expect_refused(&first, "longer than the file");
		add_empty_v1(&second, '2');
		add_header(&second, '2', rows[i]);
		add_tables(&second, 8);
		expect_refused(&second, "longer than the file");
	}
}

static void test_counts_that_lie(void **state)
{
	static const struct {
		struct tzif_counts counts;
		const char *what;
	} rows[] = {
	    {{.types = 0, .chars = 1}, "no local time types"},
	    {{.types = 257, .chars = 1}, "more than 256"},
	    {{.types = 1, .chars = 1, .leaps = 27}, "leap seconds"},
	    {{.times = 4097, .types = 1, .chars = 4}, "4097 transitions"},
	    {{.types = 2, .chars = 4, .std = 1}, "indicators"},
	    {{.types = 2, .chars = 4, .ut = 3}, "indicators"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct buf b = {0};

		add_header(&b, 0, rows[i].counts);
		for (int j = 0; j < 30000; j++)
			buf_add_char(&b, 0);
		expect_refused(&b, rows[i].what);
	}
}

/* A file with one type and one transition, one byte of which is replaced. */
static void test_wrong_bytes(void **state)
{
	enum { TIME_0 = 44, TIME_1 = 48, INDEX_0 = 52, TYPE = 54, NAME = 66 };
	static const struct {
		size_t at;
		char byte;
		const char *what;
	} rows[] = {
	    {0, 'X', "no zone file"}, {4, '5', "version byte 53"}, {4, 1, "version byte 1"},
	    {TIME_0, 1, "not in order"}, {TIME_1 + 3, 1, "not in order"}, /* the same time twice */
	    {INDEX_0, 2, "type that is not there"}, {TYPE, 1, "26 hours"},
	    {TYPE, (char)0x80, "26 hours"}, {TYPE + 4, 2, "neither 0 nor 1"},
	    {TYPE + 5, 4, "abbreviation"}, {TYPE + 5, (char)255, "abbreviation"},
	    {TYPE + 5, 3, "abbreviation"}, {NAME, '\n', "abbreviation"},
	    {NAME, (char)0xc3, "abbreviation"},
	    {NAME + 3, 'D', "abbreviation"}, /* no NUL any more */
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct buf b = {0};

		add_header(&b, 0, (struct tzif_counts){.times = 2, .types = 2, .chars = 4});
		add_be(&b, 1, 4);
		add_be(&b, 2, 4);
		buf_add(&b, "\0\1", 2);
		add_type(&b, 0, 0, 0);
		add_type(&b, 60, 1, 0);
		buf_add(&b, "ABC", 4);
		b.p[rows[i].at] = rows[i].byte;
		expect_refused(&b, rows[i].what);
	}
}

static void test_long_abbreviation(void **state)
{
	struct buf b = {0};

	add_header(&b, 0, (struct tzif_counts){.types = 1, .chars = 17});
	add_type(&b, 0, 0, 0);
	buf_add(&b, "ABCDEFGHIJKLMNOP", 17);
	expect_refused(&b, "abbreviation");
}

static void test_wrong_footers(void **state)
{
	static const struct {
		const char *footer, *what;
	} rows[] = {
	    {"", "last line is missing"},
	    {"AAA-1\n", "last line is missing"},
	    {"\nAAA-1", "no end"},
	    {"\nAAA-1BBB\n", "dates of the two changes"},
	    {"\nnonsense\n", "TZ string is not valid"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct buf b = {0};

		make_v2(&b, '2', rows[i].footer);
		expect_refused(&b, rows[i].what);
	}
}

static void test_too_large(void **state)
{
	struct buf b = {0};

	buf_reserve(&b, CRON_TZIF_MAX + 1);
	memset(b.p, 0, CRON_TZIF_MAX + 1);
	b.n = CRON_TZIF_MAX + 1;
	expect_refused(&b, "more than 1048576 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_version_1),
	    cmocka_unit_test(test_version_1_before_1970),
	    cmocka_unit_test(test_later_versions),
	    cmocka_unit_test(test_footer_follows_the_last_transition),
	    cmocka_unit_test(test_footer_alone),
	    cmocka_unit_test(test_truncated),
	    cmocka_unit_test(test_every_cut_is_refused),
	    cmocka_unit_test(test_huge_counts),
	    cmocka_unit_test(test_counts_that_lie),
	    cmocka_unit_test(test_wrong_bytes),
	    cmocka_unit_test(test_long_abbreviation),
	    cmocka_unit_test(test_wrong_footers),
	    cmocka_unit_test(test_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
