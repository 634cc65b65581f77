/* SPDX-License-Identifier: Apache-2.0 */
/* Items in English, and a year's daylight saving; what is said is what the search does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cron/words/words.h"
#include "cron/zone/civil.h"

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define LORD_HOWE "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"
#define DST(fixes) ",\"dst_fixes\":[" fixes "]}"
#define SKIP DST("\"skip\",\"repeat_use_both\"")
#define ONCE DST("\"unskip\",\"repeat_use_only_early\"")
#define LATE DST("\"unskip\",\"repeat_use_only_late\"")

static struct cron_items items_of(const char *json)
{
	struct cron_items items;
	struct problem p = {0};

	if (cron_items_json(str_of(json), &items, &p) < 0)
		fail_msg("%s: %s", json, p.what);
	return items;
}

static void test_items_in_words(void **state)
{
	static const struct {
		const char *json, *words;
	} cases[] = {
	    {"{\"minute\":30,\"hour\":2" SKIP, "at 02:30, every day"},
	    {"{\"day_of_week\":\"Tue\",\"hour\":[10,20],\"minute\":0" SKIP,
	        "at 10:00 and 20:00, every Tuesday"},
	    {"{\"minute\":{\"period\":1}" SKIP, "every minute"},
	    {"{\"minute\":{\"period\":5}" SKIP, "every 5 minutes"},
	    {"{\"minute\":7" SKIP, "at minute 7 of every hour"},
	    {"{\"minute\":[7,8,30]" SKIP, "at minutes 7, 8 and 30 of every hour"},
	    {"{\"minute\":0,\"hour\":{\"period\":2}" SKIP, "at minute 0 of every 2nd hour"},
	    {"{\"minute\":{\"period\":15},\"hour\":{\"start\":9,\"end\":17},"
	     "\"day_of_week\":{\"start\":2,\"end\":6}" SKIP,
	        "every 15 minutes from 09:00 to 17:59, Monday to Friday"},
	    {"{\"minute\":0,\"hour\":0,\"day_of_month\":[1,15]" SKIP,
	        "at 00:00, on the 1st and 15th of the month"},
	    {"{\"minute\":0,\"hour\":0,\"day_of_month\":[2,3,11,22]" SKIP,
	        "at 00:00, on the 2nd, 3rd, 11th and 22nd of the month"},
	    {"{\"minute\":0,\"hour\":9,\"month\":[\"jan\",\"mar\"],\"year\":2027" SKIP,
	        "at 09:00, every day, in January and March 2027"},
	    {"{\"minute\":0,\"hour\":9,\"year\":{\"start\":2027,\"end\":2030}" SKIP,
	        "at 09:00, every day, in 2027 to 2030"},
	    {"{\"minute\":0,\"hour\":9,\"weekday_of_month\":{\"day\":\"Tue\",\"nth\":1}" SKIP,
	        "at 09:00, on the first Tuesday of the month"},
	    {"{\"minute\":0,\"hour\":9,\"iter_day\":{\"period\":3,\"start\":\"2027-01-01\"}" SKIP,
	        "at 09:00, every 3 days from 2027-01-01"},
	    {"{\"minute\":0,\"hour\":9,\"iter_day_of_week\":{\"day\":\"Tue\",\"period\":2,"
	     "\"start\":\"2027-01-05\"}" SKIP,
	        "at 09:00, every 2nd Tuesday from 2027-01-05"},
	    {"{\"minute\":0,\"hour\":9,\"iter_month\":{\"period\":5,\"start\":\"2027-01\"}" SKIP,
	        "at 09:00, every day, in every 5th month from 2027-01"},
	    {"{\"epoch\":{\"period\":300}}", "every 5 minutes, whatever the zone"},
	    {"{\"epoch\":{\"period\":86400}}", "every day, whatever the zone"},
	    {"{\"epoch\":2700}", "once at 1970-01-01T00:45:00Z, whatever the zone"},
	    {"{\"epoch\":{\"period\":90,\"start\":2700,\"end\":1300003200}}",
	        "every 90 seconds from 1970-01-01T00:45:00Z until 2011-03-13T08:00:00Z, whatever "
	        "the "
	        "zone"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cron_items items = items_of(cases[i].json);
		struct buf out = {0};

		cron_describe_item(&items.items[0], &out);
		assert_string_equal(out.p, cases[i].words);
		buf_release(&out);
		cron_items_release(&items);
	}
}

static void test_other_texts_in_words(void **state)
{
	static const struct {
		const char *line, *calendar, *words;
	} cases[] = {
	    {"0 9 13 * Fri", NULL, "at 09:00, on the 13th of the month\nat 09:00, every Friday\n"},
	    {"@hourly", NULL, "at minute 0 of every hour\n"},
	    {NULL, "Mon *-*-* 09:00", "at 09:00, every Monday\n"},
	    {NULL, "*-*~01 00:00", "at 00:00, on the last day of the month\n"},
	    {NULL, "*-*-* *:*:0/10", "every 10 seconds\n"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cron_items items;
		struct problem p = {0};
		struct buf out = {0};
		int r = cases[i].line
		            ? cron_items_crontab(str_of(cases[i].line), NULL, &items, &p)
		            : cron_items_calendar(str_of(cases[i].calendar), NULL, &items, &p);

		if (r < 0)
			fail_msg("case %zu: %s", i, p.what);
		cron_describe(&items, &out);
		assert_string_equal(out.p, cases[i].words);
		buf_release(&out);
		cron_items_release(&items);
	}
}

static void add_line(const struct cron_note *note, void *arg)
{
	cron_note_write(note, arg);
	buf_add_char(arg, '\n');
}

static void test_a_year_in_words(void **state)
{
	static const struct {
		const char *json, *zone, *words;
		int32_t year;
	} cases[] = {
	    {"{\"minute\":30,\"hour\":2" ONCE, BERLIN,
	        "28 Mar 2027: 02:30 does not exist, runs 01:59:59\n"
	        "31 Oct 2027: 02:30 happens twice, runs once, the early one\n",
	        2027},
	    {"{\"minute\":30,\"hour\":2" LATE, BERLIN,
	        "28 Mar 2027: 02:30 does not exist, runs 01:59:59\n"
	        "31 Oct 2027: 02:30 happens twice, runs once, the late one\n",
	        2027},
	    {"{\"minute\":30,\"hour\":2" SKIP, BERLIN,
	        "28 Mar 2027: 02:30 does not exist, does not run\n"
	        "31 Oct 2027: 02:30 happens twice, runs twice\n",
	        2027},
	    {"{\"minute\":{\"period\":5}" SKIP, BERLIN,
	        "28 Mar 2027: 02:00–02:59 does not exist, 12 runs less\n"
	        "31 Oct 2027: 02:00–02:59 happens twice, 12 runs more\n",
	        2027},
	    {"{\"minute\":{\"period\":5}" ONCE, BERLIN,
	        "28 Mar 2027: 02:00–02:59 does not exist, its 12 runs become one at 01:59:59\n"
	        "31 Oct 2027: 02:00–02:59 happens twice, its 12 runs only the first time\n",
	        2027},
	    {"{\"minute\":{\"period\":10}" SKIP, LORD_HOWE,
	        "4 Apr 2027: 01:30–01:59 happens twice, 3 runs more\n"
	        "3 Oct 2027: 02:00–02:29 does not exist, 3 runs less\n",
	        2027},
	    {"{\"minute\":30,\"hour\":12" SKIP, BERLIN, "", 2027},
	    {"{\"minute\":30,\"hour\":2,\"year\":2026" SKIP, BERLIN, "", 2027},
	    {"{\"minute\":30,\"hour\":2" SKIP, "UTC0", "", 2027},
	    {"{\"epoch\":{\"period\":60}}", BERLIN, "", 2027},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cron_items items = items_of(cases[i].json);
		struct buf out = {0};
		struct cron_zone *z;
		struct problem p;

		assert_int_equal(cron_zone_posix(str_of(cases[i].zone), &z, &p), 0);
		cron_explain_year(&items, z, cases[i].year, add_line, &out);
		assert_string_equal(out.p ? out.p : "", cases[i].words);
		buf_release(&out);
		cron_zone_free(z);
		cron_items_release(&items);
	}
}

/* Each run that a note promises is one that the search finds. */
struct promise {
	const struct cron_items *items;
	const struct cron_zone *zone;
	size_t n;
};

static void keep_promise(const struct cron_note *note, void *arg)
{
	struct promise *p = arg;
	int64_t t;

	for (size_t i = 0; i < note->n_fires; i++, p->n++) {
		assert_true(cron_items_next(p->items, p->zone, note->fires[i], &t));
		assert_int_equal(t, note->fires[i]);
	}
	if (note->n_fires == 0) {
		assert_true(cron_items_next(p->items, p->zone, note->at - 1, &t));
		assert_true(t > note->at + 3600);
	}
}

static void test_what_is_said_holds(void **state)
{
	static const char *const fixes[] = {SKIP, ONCE, LATE};
	struct cron_zone *z;
	struct problem problem;

	assert_int_equal(cron_zone_posix(STR(BERLIN), &z, &problem), 0);
	for (size_t i = 0; i < 3; i++) {
		char json[200];
		struct cron_items items;
		struct promise p = {.zone = z};

		snprintf(json, sizeof json, "{\"minute\":30,\"hour\":2%s", fixes[i]);
		items = items_of(json);
		p.items = &items;
		for (int32_t year = 1999; year <= 2040; year++)
			cron_explain_year(&items, z, year, keep_promise, &p);
		assert_int_equal(p.n, 42 * 2);
		cron_items_release(&items);
	}
	cron_zone_free(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_items_in_words),
	    cmocka_unit_test(test_other_texts_in_words),
	    cmocka_unit_test(test_a_year_in_words),
	    cmocka_unit_test(test_what_is_said_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
