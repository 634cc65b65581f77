/* SPDX-License-Identifier: Apache-2.0 */
/* What people read: tables, amounts, progress, and text that must not drive the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/output/output.h"
#include "cli/tasks/work.h"

static struct term plain;

static int setup(void **state)
{
	term_init(&plain, false);
	plain.utf8 = true;
	plain.out_colour = false;
	return 0;
}

static void test_widths(void **state)
{
	assert_int_equal(text_width(STR("abc")), 3);
	assert_int_equal(text_width(STR("é")), 1);
	assert_int_equal(text_width(STR("日本")), 4);
	assert_int_equal(text_width(STR("e\xcc\x81")), 1); /* a combining accent */
	assert_int_equal(text_width(STR("\x1b[2J\xff")), 5);
	assert_int_equal(text_width(STR_NULL), 0);
}

static void test_clean(void **state)
{
	struct buf b = {0};

	text_add_clean(&b, STR("a\x1b[31mb\n\xff\xc2\x9bz\x7f"));
	assert_string_equal(b.p, "a?[31mb ??z?");
	buf_release(&b);
}

static void assert_cut(const char *text, size_t width, const char *want)
{
	struct buf b = {0};

	text_add_cut(&b, str_of(text), width, true);
	assert_string_equal(b.p ? b.p : "", want);
	buf_release(&b);
}

static void test_cut(void **state)
{
	assert_cut("abc", 3, "abc");
	assert_cut("abcd", 3, "ab…");
	assert_cut("日本語", 4, "日…");
	assert_cut("abcd", 1, "…");
	assert_cut("abcd", 0, "");
}

static const struct heading columns[] = {{"NAME", HEADING_STRETCH}, {"STATE", HEADING_STATE},
    {"N", HEADING_RIGHT}, {"MORE", HEADING_WIDE}, {"LAST", HEADING_STRETCH}};

static void fill(struct table *t)
{
	table_init(t, columns, 5);
	table_add(t, "a rather long name");
	table_add(t, "running");
	table_add(t, "5");
	table_add(t, "wide");
	table_add(t, "end");
	table_add(t, "é");
	table_add(t, "failed");
	table_add(t, "1234");
	table_add(t, NULL);
	table_add(t, "");
}

static void assert_table(int width, bool wide, const char *want)
{
	struct table t;
	struct buf b = {0};

	fill(&t);
	table_render(&t, &plain, width, wide, &b);
	assert_string_equal(b.p, want);
	buf_release(&b);
	table_release(&t);
}

static void test_table(void **state)
{
	assert_table(0, false,
	    "NAME                STATE         N  LAST\n"
	    "a rather long name  ▶ running     5  end\n"
	    "é                   ✗ failed   1234  -\n");
	assert_table(0, true,
	    "NAME                STATE         N  MORE  LAST\n"
	    "a rather long name  ▶ running     5  wide  end\n"
	    "é                   ✗ failed   1234  -     -\n");
	assert_table(36, false, /* the last columns go, and names stay whole */
	    "NAME                STATE         N\n"
	    "a rather long name  ▶ running     5\n"
	    "é                   ✗ failed   1234\n");
	assert_table(26, false, /* until nothing else is left */
	    "NAME             STATE\n"
	    "a rather long …  ▶ running\n"
	    "é                ✗ failed\n");
	assert_table(5, false, /* the first one and states stay, whatever happens */
	    "NAME      STATE\n"
	    "a rathe…  ▶ running\n"
	    "é         ✗ failed\n");
}

static const struct heading task_columns[] = {{"ID"}, {"NAME", HEADING_STRETCH | HEADING_NAME},
    {"STATE", HEADING_STATE}, {"TRY", HEADING_RIGHT | HEADING_SPARE}, {"AGE", HEADING_RIGHT}};

static void assert_names(int width, const char *want)
{
	struct table t;
	struct buf b = {0};

	table_init(&t, task_columns, 5);
	table_add(&t, "6afa2dfafbc7c9eb57000001");
	table_add(&t, "nightly-backup-of-home");
	table_add(&t, "queued");
	table_add(&t, "1");
	table_add(&t, "5m");
	table_render(&t, &plain, width, false, &b);
	assert_string_equal(b.p, want);
	buf_release(&b);
	table_release(&t);
}

static void test_names_stay_whole(void **state)
{
	assert_names(64, /* what is spare goes first, although it stands before what stays */
	    "ID                        NAME                    STATE     AGE\n"
	    "6afa2dfafbc7c9eb57000001  nightly-backup-of-home  ○ queued   5m\n");
	assert_names(58, "ID                        NAME                    STATE\n"
	                 "6afa2dfafbc7c9eb57000001  nightly-backup-of-home  ○ queued\n");
	assert_names(50, "ID                        NAME            STATE\n"
	                 "6afa2dfafbc7c9eb57000001  nightly-backu…  ○ queued\n");
	assert_names(36, "ID                        STATE\n"
	                 "6afa2dfafbc7c9eb57000001  ○ queued\n");
}

static void test_colour_is_never_alone(void **state)
{
	struct buf b = {0};

	add_state(&b, &plain, true, "failed");
	assert_string_equal(b.p, "\033[31m✗ failed\033[0m");
	buf_reset(&b);
	add_state(&b, &plain, false, "something new");
	assert_string_equal(b.p, "· something new");
	buf_release(&b);
	assert_string_equal(state_glyph("succeeded", false), "+");
}

static void test_times(void **state)
{
	char t[TIME_TEXT_MAX];

	assert_string_equal(human_ago(100000, 97000, t), "3s ago");
	assert_string_equal(human_ago(100000, 100000, t), "0s ago");
	assert_string_equal(human_ago(10000000, 10000000 - 3600000 * 2, t), "2h ago");
	assert_string_equal(human_ago(100000, 400000, t), "in 5m");
	assert_string_equal(human_ago(100000, 100500, t), "0s ago");
	assert_string_equal(human_ago(100000, 0, t), "-");
	assert_string_equal(human_short(59999, t), "59s");
	assert_string_equal(human_short(86400000ll * 400, t), "400d");
}

static void test_amounts(void **state)
{
	char t[TIME_TEXT_MAX];

	assert_string_equal(human_count(0, t), "0");
	assert_string_equal(human_count(999, t), "999");
	assert_string_equal(human_count(1234567, t), "1,234,567");
	assert_string_equal(human_count(-123456, t), "-123,456");
	assert_string_equal(human_count(INT64_MIN, t), "-9,223,372,036,854,775,808");
	assert_string_equal(human_rate(0, t), "0/s");
	assert_string_equal(human_rate(1234.4, t), "1234/s");
	assert_string_equal(human_rate(2.34, t), "2.3/s");
	assert_string_equal(human_rate(0.05, t), "3.0/min");
	assert_string_equal(human_bytes(1023, t), "1023 B");
	assert_string_equal(human_bytes(1536, t), "1.5 KiB");
	assert_string_equal(human_bytes(INT64_MAX, t), "8.0 EiB");
}

static void test_eta(void **state)
{
	assert_int_equal(eta_ms(10, 10, 0), 0);
	assert_int_equal(eta_ms(5, 10, 0), -1);
	assert_int_equal(eta_ms(5, 10, 2), 2500);
	assert_int_equal(eta_ms(0, INT64_MAX, 1e-9), -1);
}

static void test_speed_follows_the_work(void **state)
{
	struct progress p = {0};
	struct counts n = {.total = 1000};

	progress_sample(&p, &n, 1000);
	n.done = 100;
	progress_sample(&p, &n, 2000);
	assert_true(p.per_s > 99 && p.per_s < 101);
	progress_sample(&p, &n, 2050); /* too soon to say anything */
	assert_true(p.per_s > 99 && p.per_s < 101);
	for (int64_t now = 3000; now < 33000; now += 1000) { /* it gets slower */
		n.done += 10;
		progress_sample(&p, &n, now);
	}
	assert_true(p.per_s > 9 && p.per_s < 12);
}

static void assert_line(const struct progress *p, struct counts n, int width, const char *want)
{
	struct buf b = {0};

	progress_line(p, &n, width, false, &b);
	assert_string_equal(b.p, want);
	buf_release(&b);
}

static void test_progress_line(void **state)
{
	struct progress p = {.begin_ms = 1, .sampled_ms = 5001, .now_ms = 5001, .per_s = 10};

	assert_line(&p, (struct counts){1000, 250, 0, 8}, 80,
	    "[#######.......................] 250/1,000 25%  10/s  ETA 1m15s  8 running");
	assert_line(
	    &p, (struct counts){1000, 250, 2, 0}, 50, "250/1,000 25%  10/s  ETA 1m15s  2 failed");
	assert_line(&p, (struct counts){4, 4, 0, 0}, 80,
	    "[##############################] 4/4 100%  10/s  in 5.0s");
	assert_line(&p, (struct counts){1000, 250, 0, 8}, 12, "250/1,000 2~");
	p.per_s = 0;
	assert_line(&p, (struct counts){4, 1, 0, 0}, 20, "1/4 25%  ETA ?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_widths),
	    cmocka_unit_test(test_clean),
	    cmocka_unit_test(test_cut),
	    cmocka_unit_test(test_table),
	    cmocka_unit_test(test_names_stay_whole),
	    cmocka_unit_test(test_colour_is_never_alone),
	    cmocka_unit_test(test_times),
	    cmocka_unit_test(test_amounts),
	    cmocka_unit_test(test_eta),
	    cmocka_unit_test(test_speed_follows_the_work),
	    cmocka_unit_test(test_progress_line),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
