/* SPDX-License-Identifier: Apache-2.0 */
/* Names of packages, and which version is the newer one. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

static void test_parts(void **state)
{
	struct ident id;
	struct problem p = {0};

	assert_int_equal(ident_parse(STR("core/gcc/9.1/2020"), &id, &p), 0);
	assert_true(str_is(id.key, "core/gcc"));
	assert_true(str_is(id.origin, "core") && str_is(id.name, "gcc"));
	assert_true(str_is(id.version, "9.1") && str_is(id.release, "2020"));
	assert_int_equal(ident_parse(STR("core/gcc"), &id, &p), 0);
	assert_int_equal(id.version.n + id.release.n, 0);
	assert_int_equal(ident_parse(STR("..core/g..cc/.5/1~rc"), &id, &p), 0);
	assert_int_equal(ident_parse_full(STR("core/gcc/9"), &id, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "core/gcc has no release"));
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
	    {"", "origin/name"},
	    {"gcc", "origin/name"},
	    {"/gcc", "origin of a package is empty"},
	    {"core/", "name of a package is empty"},
	    {"core//1/1", "name of a package is empty"},
	    {"a/b/c/d/e", "four parts"},
	    {"core/g cc", "at its byte 2"},
	    {"core/gcc#1", "at its byte 4"},
	    {"core/gcc,core/make", "at its byte 4"},
	    {"core/gcc/1/1/", "four parts"},
	    {"c\033[31m/gcc", "at its byte 2"},
	    {"../gcc", "origin of a package is . or .."},
	    {"core/..", "name of a package is . or .."},
	    {"./gcc/1/1", "origin of a package is . or .."},
	    {"core/-rf", "begins with - or ~"},
	    {"~root/gcc", "begins with - or ~"},
	    {"core/gcc/../1", "version of a package is . or .."},
	    {"core/gcc/1/-1", "release of a package is . or .."},
	};
	struct ident id;

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct problem p = {0};

		assert_int_equal(ident_parse(str_of(rows[i].text), &id, &p), ERR_INVALID);
		if (!strstr(p.what, rows[i].says))
			fail_msg("'%s': %s", rows[i].text, p.what);
	}
}

static void test_a_name_of_a_megabyte(void **state)
{
	struct buf b = {0};
	struct ident id;
	struct problem p = {0};

	buf_add_cstr(&b, "core/");
	for (int i = 0; i < 1 << 20; i++)
		buf_add_char(&b, 'x');
	assert_int_equal(ident_parse(buf_str(&b), &id, &p), ERR_TOO_LARGE);
	assert_string_equal(p.what, "the name of a package has 1048576 bytes; it may have 255");
	buf_release(&b);
}

/* Each is older than the next. */
static const char *const ages[] = {"0", "0.9", "1.0-alpha", "1.0-rc1", "1.0~rc1", "1.0-rc2",
    "1.0-rc10", "1.0", "1.0a", "1.0b", "1.0.0", "1.0.1", "1.0.9", "1.0.10", "1.2", "1.10", "2", "9",
    "10", "20200101", "99999999999999999999998", "99999999999999999999999",
    "100000000000000000000000"};

static void test_versions_compare_as_versions(void **state)
{
	size_t n = sizeof ages / sizeof *ages;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			int order = version_cmp(str_of(ages[i]), str_of(ages[j]));

			if ((order > 0) - (order < 0) != (i > j) - (i < j))
				fail_msg("%s against %s: %d", ages[i], ages[j], order);
		}
}

static struct str random_version(struct rng *r, char *buf)
{
	static const char some[] = "0019ab.-~_+";
	size_t n = rng_below(r, 6);

	for (size_t i = 0; i < n; i++)
		buf[i] = some[rng_below(r, sizeof some - 1)];
	return (struct str){buf, n};
}

/* Any texts have an order, in which only the same text is equal. */
static void test_versions_have_one_order(void **state)
{
	struct rng r = {3};
	char x[8], y[8], z[8];

	for (int i = 0; i < 200000; i++) {
		struct str a = random_version(&r, x), b = random_version(&r, y),
		           c = random_version(&r, z);
		int ab = version_cmp(a, b), bc = version_cmp(b, c);

		assert_int_equal(ab == 0, str_eq(a, b));
		assert_int_equal(ab<0, version_cmp(b, a)> 0);
		if (ab < 0 && bc < 0)
			assert_true(version_cmp(a, c) < 0);
	}
}

static void test_age_is_version_then_release(void **state)
{
	struct ident a, b;

	assert_int_equal(ident_parse(STR("o/a/9/20"), &a, NULL), 0);
	assert_int_equal(ident_parse(STR("o/a/10/3"), &b, NULL), 0);
	assert_true(ident_cmp_age(&a, &b) < 0);
	assert_int_equal(ident_parse(STR("o/a/9/100"), &b, NULL), 0);
	assert_true(ident_cmp_age(&a, &b) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parts),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_a_name_of_a_megabyte),
	    cmocka_unit_test(test_versions_compare_as_versions),
	    cmocka_unit_test(test_versions_have_one_order),
	    cmocka_unit_test(test_age_is_version_then_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
