/* SPDX-License-Identifier: Apache-2.0 */
/* Zones by name: what names mean, what is refused, what the cache holds and forgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "zone_folder.h"

static void expect_get(struct zones *z, const char *name, int32_t offset, const char *abbrev)
{
	struct zone_ref *ref = get(z, name);
	struct cron_span s;

	cron_zone_at(ref->zone, 1000, &s);
	if (s.offset != offset || strcmp(s.abbrev, abbrev) != 0)
		fail_msg("%s is %d %s", name, s.offset, s.abbrev);
	zone_ref_drop(ref);
}

static void expect_refused(
    struct zones *z, const char *name, int code, const char *what, const char *hint)
{
	struct zone_ref *ref = NULL;
	struct problem p = {0};
	int rc = zones_get(z, str_of(name), &ref, &p);

	if (rc != code || p.code != code)
		fail_msg("%s gave %s: %s", name, err_name(rc), p.what);
	if (!strstr(p.what, what) || !strstr(p.hint, hint))
		fail_msg("%s: %s (%s)", name, p.what, p.hint);
	assert_null(ref);
}

static void test_names(void **state)
{
	struct folder *f = *state;

	folder_put(f, "Here/There", 3600, "HER");
	folder_put(f, "Here/Inn/Room", 7200, "INN");
	folder_put(f, "EST5EDT", -18000, "FIL");
	folder_put(f, "GMT0", 0, "GM0");
	expect_get(f->zones, "Here/There", 3600, "HER");
	expect_get(f->zones, ":Here/There", 3600, "HER");
	expect_get(f->zones, "posix/Here/There", 3600, "HER");
	expect_get(f->zones, "Here/Inn/Room", 7200, "INN");
	expect_get(f->zones, "EST5EDT", -18000, "FIL");
	expect_get(f->zones, "GMT0", 0, "GM0");
	expect_get(f->zones, "UTC", 0, "UTC");
	expect_get(f->zones, "z", 0, "UTC");
	expect_get(f->zones, "+02:00", 7200, "+02");
	expect_get(f->zones, "UTC+5", 18000, "+05");
	expect_get(f->zones, "EST5", -18000, "EST");
	expect_get(f->zones, "EST+5", -18000, "EST");
	expect_get(f->zones, "<UTC>5", -18000, "UTC");
	expect_get(f->zones, "<+03>-3", 10800, "+03");
	expect_get(f->zones, "CET-1CEST,M3.5.0,M10.5.0/3", 3600, "CET");
}

static void test_refused(void **state)
{
	struct folder *f = *state;
	struct zones *z = f->zones;
	char longest[ZONE_NAME_MAX + 2];

	memset(longest, 'a', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	folder_put(f, "Here/There", 3600, "HER");
	expect_refused(
	    z, "Here/Their", ERR_NOT_FOUND, "no time zone \"Here/Their\"", "\"Here/There\"?");
	expect_refused(z, "here/there", ERR_NOT_FOUND, "no time zone", "\"Here/There\"?");
	expect_refused(z, ":Nowhere", ERR_NOT_FOUND, "no time zone \"Nowhere\"", "Europe/Berlin");
	expect_refused(z, "Here/There/Not", ERR_NOT_FOUND, "no time zone", "");
	expect_refused(z, "Here", ERR_INVALID, "not a regular file", "");
	expect_refused(z, "right/Here/There", ERR_INVALID, "leap seconds", "use \"Here/There\"");
	expect_refused(z, "UTC5", ERR_INVALID, "east or west", "UTC+5 for east");
	expect_refused(z, "EST5EDT", ERR_INVALID, "dates", "M3.2.0");
	expect_refused(z, "+99", ERR_INVALID, "no offset", "+02:00");
	expect_refused(z, "", ERR_INVALID, "1 to 255", "");
	expect_refused(z, longest, ERR_INVALID, "1 to 255", "");
	expect_refused(z, "Here There", ERR_INVALID, "without spaces", "");
	expect_refused(z, "Here\x1b[m", ERR_INVALID, "plain", "");
	assert_int_equal(
	    zones_get(z, STR("Here\0There"), &(struct zone_ref *){NULL}, NULL), ERR_INVALID);
}

static void test_no_way_out(void **state)
{
	static const char *const rows[] = {"/etc/localtime", "../x", "Here/../There",
	    "Here/./There", "Here//There", "Here/", "/", ".", "..", ".hidden", "Here/.hidden", ":",
	    ":/etc/localtime", ":../x", "posix//x", "a\\b", "a*b", "a\"b"};
	struct folder *f = *state;

	folder_put(f, "x", 0, "OUT");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_refused(
		    f->zones, rows[i], ERR_INVALID, "cannot be the name", "Europe/Berlin");
	/* what is left of them after the prefix is looked at, too */
	expect_refused(f->zones, "posix/../x", ERR_INVALID, "cannot be the name", "");
}

static void test_bad_files(void **state)
{
	struct folder *f = *state;

	folder_write(f, "tab", "hello", 5);
	folder_write(f, "Empty", "", 0);
	folder_pipe(f, "Pipe");
	folder_grow(f, "Big", CRON_TZIF_MAX + 1);
	expect_refused(f->zones, "tab", ERR_INVALID, "ends inside a header", "");
	expect_refused(f->zones, "Empty", ERR_INVALID, "ends inside a header", "");
	expect_refused(f->zones, "Pipe", ERR_INVALID, "not a regular file", "");
	expect_refused(f->zones, "Big", ERR_INVALID, "more than 1048576", "");
	/* and a refusal is not remembered */
	folder_put(f, "Empty", 60, "OKK");
	expect_get(f->zones, "Empty", 60, "OKK");
}

static void test_local(void **state)
{
	struct folder *f = *state;

	expect_get(f->zones, "local", 0, "UTC"); /* no such file */
	folder_put(f, "Here/There", 3600, "HER");
	folder_link(f, "Here/There", "localtime");
	assert_int_equal(zones_refresh(f->zones, NULL, NULL), 1);
	expect_get(f->zones, "local", 3600, "HER");
}

static void test_one_zone_a_name(void **state)
{
	struct folder *f = *state;
	struct zone_ref *a, *b;

	folder_put(f, "Here/There", 3600, "HER");
	a = get(f->zones, "Here/There");
	b = get(f->zones, "Here/There");
	assert_ptr_equal(a, b);
	assert_int_equal(a->refs, 3);
	zone_ref_drop(b);
	assert_int_equal(a->refs, 2);
	zones_free(f->zones);
	f->zones = NULL;
	assert_int_equal(a->refs, 1);
	assert_int_equal(cron_zone_offset(a->zone, 1000), 3600);
	zone_ref_drop(a);
	zone_ref_drop(NULL);
}

static void ask_for_many(struct zones *z)
{
	char name[32];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "BBB%d:%02d:%02d", i / 3600, i / 60 % 60, i % 60);
		zone_ref_drop(get(z, name));
	}
}

/* A stranger may ask for as many names as he likes. */
static void test_forgets_what_nobody_holds(void **state)
{
	struct folder *f = *state;
	struct zone_ref *held = get(f->zones, "AAA1:00:01"), *other = get(f->zones, "AAA1:00:02"),
	                *again;

	zone_ref_drop(other); /* the cache still has it */
	again = get(f->zones, "AAA1:00:02");
	assert_ptr_equal(again, other);
	zone_ref_drop(again);
	ask_for_many(f->zones);
	assert_int_equal(held->refs, 2);
	again = get(f->zones, "AAA1:00:01");
	assert_ptr_equal(again, held);
	zone_ref_drop(again);
	zone_ref_drop(held);
	ask_for_many(f->zones);
	assert_true(zones_count(f->zones) <= 512);
}

static void test_name_lists(void **state)
{
	static const char zi[] =
	    "# version\nR x 1 2\nZ Here/There 1\n2 x\nZ ../bad 1\nL Here/There Old\n";
	static const char tab[] = "# a\tb\tno\nXX\t+1\tFrom/Tab\tcomment\nYY\t+2\tFrom/Two\n";
	struct folder *f = *state;
	const char *const *names;

	assert_int_equal(zones_names(f->zones, &names), 0);
	folder_write(f, "zone1970.tab", tab, sizeof tab - 1);
	zones_refresh(f->zones, NULL, NULL);
	assert_int_equal(zones_names(f->zones, &names), 2);
	assert_string_equal(names[0], "From/Tab");
	assert_string_equal(names[1], "From/Two");
	folder_write(f, "tzdata.zi", zi, sizeof zi - 1);
	assert_int_equal(zones_names(f->zones, &names), 2);
	zones_refresh(f->zones, NULL, NULL);
	assert_int_equal(zones_names(f->zones, &names), 2);
	assert_string_equal(names[0], "Here/There");
	assert_string_equal(names[1], "Old");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_names, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_refused, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_no_way_out, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_bad_files, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_local, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_one_zone_a_name, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(
	        test_forgets_what_nobody_holds, folder_setup, folder_teardown),
	    cmocka_unit_test_setup_teardown(test_name_lists, folder_setup, folder_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
