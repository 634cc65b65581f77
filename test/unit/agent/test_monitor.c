/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a long runner well? Each story is a table: at this time this happens, and this is wanted.
 * "start", "start well", "tick", "ok N", "bad N REASON" go in; "", "check N", "well", "failed: WHY"
 * come out. `wake` is when the monitor wants to be woken after that; 0: never.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/monitor.h"

struct line {
	int64_t at_ms;
	const char *event, *wanted;
	int64_t wake;
};

/* Small numbers: 2 s while it starts, then 30 s; 1 s for an answer; 60 s to become healthy. */
static struct run_check usual(void)
{
	struct run_settings r;

	run_settings_default(&r);
	r.check.kind = CHECK_TCP;
	return r.check;
}

static struct monitor_event event_of(const char *text)
{
	struct monitor_event ev = {.kind = MONITOR_RESULT};
	char *rest;

	if (text[0] == 's' || strcmp(text, "tick") == 0) {
		ev.kind = text[0] == 's' ? MONITOR_STARTED : MONITOR_WAKE;
		ev.ok = strcmp(text, "start well") == 0;
		return ev;
	}
	ev.ok = text[0] == 'o';
	ev.number = strtoull(strchr(text, ' '), &rest, 10);
	ev.why = str_of(*rest ? rest + 1 : NULL);
	return ev;
}

static void effect_text(const struct monitor_effect *e, char *text, size_t size)
{
	switch (e->kind) {
	case MONITOR_CHECK: snprintf(text, size, "check %d", (int)e->number); break;
	case MONITOR_IS_WELL: snprintf(text, size, "well"); break;
	case MONITOR_HAS_FAILED: snprintf(text, size, "failed: %s", e->why); break;
	default: text[0] = 0;
	}
}

static void tell_of(const struct run_checks *c, const struct line *story, size_t n)
{
	struct monitor_effect effect;
	struct monitor m;
	char got[512];

	monitor_init(&m, c);
	assert_true(monitor_wake_ms(&m) == INT64_MAX);
	for (size_t i = 0; i < n; i++) {
		struct monitor_event ev = event_of(story[i].event);
		int64_t wake = story[i].wake ? story[i].wake : INT64_MAX;

		monitor_step(&m, &ev, story[i].at_ms, &effect);
		effect_text(&effect, got, sizeof got);
		if (strcmp(got, story[i].wanted) || monitor_wake_ms(&m) != wake)
			fail_msg(
			    "line %zu, %s at %lld: got \"%s\" and %lld, wanted \"%s\" and %lld", i,
			    story[i].event, (long long)story[i].at_ms, got,
			    (long long)monitor_wake_ms(&m), story[i].wanted, (long long)wake);
	}
}

/* One check for both. */
static void tell(struct run_check c, const struct line *story, size_t n)
{
	tell_of(&(struct run_checks){.startup = c, .liveness = c}, story, n);
}

#define TELL(check, ...)                                               \
	do {                                                           \
		const struct line story_[] = {__VA_ARGS__};            \
		tell(check, story_, sizeof story_ / sizeof story_[0]); \
	} while (0)
#define TELL_OF(checks, ...)                                                \
	do {                                                                \
		const struct line story_[] = {__VA_ARGS__};                 \
		tell_of(&checks, story_, sizeof story_ / sizeof story_[0]); \
	} while (0)

static void test_nothing_to_look_at(void **state)
{
	struct run_check c = usual();

	c.kind = CHECK_NONE;
	TELL(c, {100, "tick", "", 0}, {200, "start", "well", 0}, {99999, "tick", "", 0},
	    {99999, "start", "", 0}, {99999, "bad 1 x", "", 0});
}

static void test_a_good_life(void **state)
{
	TELL(usual(), {0, "tick", "", 0}, {0, "ok 1", "", 0}, {1000, "start", "check 1", 2000},
	    {1100, "bad 1 connection refused", "", 3100}, {3099, "tick", "", 3100},
	    {3100, "tick", "check 2", 4100}, {3150, "ok 2", "well", 33150},
	    {33149, "tick", "", 33150}, {33150, "tick", "check 3", 34150},
	    {33160, "ok 3", "", 63160}, {99999, "start", "check 4", 100999});
}

static void test_never_healthy(void **state)
{
	struct run_check c = usual();

	c.start_timeout_ms = 5000;
	TELL(c, {0, "start", "check 1", 1000}, {10, "bad 1 refused", "", 2010},
	    {2010, "tick", "check 2", 3010}, {2020, "bad 2 HTTP status 503", "", 4020},
	    {4020, "tick", "check 3", 5000}, {4999, "tick", "", 5000},
	    {5000, "tick", "failed: never healthy after 5s: HTTP status 503", 0},
	    {5001, "ok 3", "", 0}, {5002, "tick", "", 0}, {5003, "start", "", 0});
}

/* The words that users see, with the defaults. */
static void test_the_words_of_the_defaults(void **state)
{
	TELL(usual(), {0, "start", "check 1", 1000}, {5, "bad 1 connection refused", "", 2005},
	    {60000, "tick", "failed: never healthy after 60s: connection refused", 0});
	TELL(usual(), {0, "start", "check 1", 1000}, {5, "ok 1", "well", 30005},
	    {30005, "tick", "check 2", 31005},
	    {31005, "tick", "failed: became unhealthy: timed out after 1s", 0});
}

static void test_good_news_at_the_very_limit_counts(void **state)
{
	struct run_check c = usual();

	c.start_timeout_ms = 1000;
	TELL(c, {0, "start", "check 1", 1000}, {1000, "ok 1", "well", 31000});
	TELL(c, {0, "start", "check 1", 1000},
	    {1000, "tick", "failed: never healthy after 1s: timed out after 1s", 0});
	TELL(c, {0, "start", "check 1", 1000},
	    {1001, "ok 1", "failed: never healthy after 1s: timed out after 1s", 0});
}

static void test_nothing_answered_before_the_limit(void **state)
{
	struct run_check c = usual();

	c.start_timeout_ms = 500;
	TELL(c, {0, "start", "check 1", 500},
	    {500, "tick", "failed: never healthy after 500ms: no check has been answered", 0});
}

static void test_no_start_timeout(void **state)
{
	struct run_check c = usual();

	c.start_timeout_ms = 0;
	TELL(c, {0, "start", "check 1", 1000}, {900, "bad 1 no", "", 2900},
	    {99000000, "tick", "check 2", 99001000}, {99000001, "ok 2", "well", 99030001});
}

static void test_healthy_only_after_so_many_in_a_row(void **state)
{
	struct run_check c = usual();

	c.healthy_after = 3;
	TELL(c, {0, "start", "check 1", 1000}, {0, "ok 1", "", 2000},
	    {2000, "tick", "check 2", 3000}, {2000, "ok 2", "", 4000},
	    {4000, "tick", "check 3", 5000}, {4000, "bad 3 x", "", 6000},
	    {6000, "tick", "check 4", 7000}, {6000, "ok 4", "", 8000},
	    {8000, "tick", "check 5", 9000}, {8000, "ok 5", "", 10000},
	    {10000, "tick", "check 6", 11000}, {10000, "ok 6", "well", 40000});
}

static void test_unhealthy_only_after_so_many_in_a_row(void **state)
{
	struct run_check c = usual();

	c.unhealthy_after = 2;
	TELL(c, {0, "start", "check 1", 1000}, {0, "ok 1", "well", 30000},
	    {30000, "tick", "check 2", 31000}, {30000, "bad 2 a", "", 60000},
	    {60000, "tick", "check 3", 61000}, {60000, "ok 3", "", 90000},
	    {90000, "tick", "check 4", 91000}, {90000, "bad 4 b", "", 120000},
	    {120000, "tick", "check 5", 121000},
	    {120000, "bad 5 c", "failed: became unhealthy: c", 0}, {150000, "tick", "", 0});
}

/* Failures while it starts are no credit against it later. */
static void test_the_count_begins_anew_when_well(void **state)
{
	struct run_check c = usual();

	c.unhealthy_after = 2;
	TELL(c, {0, "start", "check 1", 1000}, {0, "bad 1 a", "", 2000},
	    {2000, "tick", "check 2", 3000}, {2000, "ok 2", "well", 32000},
	    {32000, "tick", "check 3", 33000}, {32000, "bad 3 b", "", 62000});
}

static void test_late_and_foreign_answers(void **state)
{
	struct run_check c = usual();

	c.unhealthy_after = 2;
	TELL(c, {0, "start", "check 1", 1000}, {1000, "tick", "", 3000}, {1001, "ok 1", "", 3000},
	    {3000, "tick", "check 2", 4000}, {3001, "ok 1", "", 4000}, {3001, "ok 3", "", 4000},
	    {3002, "ok 2", "well", 33002}, {3003, "bad 2 twice", "", 33002},
	    {33002, "tick", "check 3", 34002}, {34002, "ok 3", "", 64002},
	    {64002, "tick", "check 4", 65002}, {65003, "ok 4", "", 95003},
	    {95003, "tick", "check 5", 96003},
	    {96003, "tick", "failed: became unhealthy: timed out after 1s", 0});
}

/* The worker was asleep: one look is made up for, not all those that were missed. */
static void test_a_long_sleep(void **state)
{
	struct run_check c = usual();

	c.unhealthy_after = 2;
	TELL(c, {0, "start", "check 1", 1000}, {0, "ok 1", "well", 30000},
	    {500000, "tick", "check 2", 501000}, {900000, "tick", "", 930000},
	    {930000, "tick", "check 3", 931000}, {930001, "ok 3", "", 960001});
}

static void test_a_timeout_longer_than_the_interval(void **state)
{
	struct run_check c = usual();

	c.timeout_ms = 4500;
	TELL(c, {0, "start", "check 1", 4500}, {2000, "tick", "", 4500}, {4500, "tick", "", 6500},
	    {6500, "tick", "check 2", 11000}, {6501, "ok 2", "well", 36501});
}

static void test_what_can_not_be_is_raised(void **state)
{
	struct run_check c = {.kind = CHECK_HTTP, .start_timeout_ms = -1, .timeout_ms = INT64_MAX};

	TELL(c, {7, "start", "check 1", 0}, {8, "ok 1", "well", 18}, {18, "tick", "check 2", 0},
	    {19, "bad 2", "failed: became unhealthy: the check failed", 0});
}

/* Each by its own check, with its own times. */
static void test_startup_and_liveness_apart(void **state)
{
	struct run_checks c = {.startup = usual(), .liveness = usual()};

	c.startup.healthy_after = 2;
	c.startup.timeout_ms = 500;
	c.liveness.interval_ms = 5000;
	c.liveness.unhealthy_after = 2;
	TELL_OF(c, {0, "start", "check 1", 500}, {100, "ok 1", "", 2100},
	    {2100, "tick", "check 2", 2600}, {2200, "ok 2", "well", 7200},
	    {7200, "tick", "check 3", 8200}, {8200, "tick", "", 13200},
	    {13200, "tick", "check 4", 14200},
	    {13300, "bad 4 refused", "failed: became unhealthy: refused", 0});
}

static void test_a_startup_check_alone(void **state)
{
	struct run_checks c = {.startup = usual()};

	TELL_OF(c, {0, "start", "check 1", 1000}, {10, "ok 1", "well", 0}, {999999, "tick", "", 0},
	    {999999, "bad 1 late", "", 0});
}

/* What may not listen yet is looked at only after an interval. */
static void test_a_liveness_check_alone(void **state)
{
	struct run_checks c = {.liveness = usual()};

	TELL_OF(c, {0, "start", "well", 30000}, {30000, "tick", "check 1", 31000},
	    {30010, "bad 1 refused", "failed: became unhealthy: refused", 0});
}

/* An earlier worker has seen it well: no second start timeout. */
static void test_what_was_well_goes_on(void **state)
{
	TELL(usual(), {0, "start well", "well", 30000}, {30000, "tick", "check 1", 31000},
	    {30010, "ok 1", "", 60010});
}

static void test_a_long_reason_is_cut(void **state)
{
	struct run_check c = usual();
	struct monitor_event ev = {.kind = MONITOR_STARTED};
	struct monitor_effect effect;
	struct monitor m;
	char why[1000];

	memset(why, 'x', sizeof why);
	c.start_timeout_ms = 10;
	monitor_init(&m, &(struct run_checks){.startup = c, .liveness = c});
	monitor_step(&m, &ev, 0, &effect);
	ev = (struct monitor_event){.kind = MONITOR_RESULT, .number = 1, .why = {why, sizeof why}};
	monitor_step(&m, &ev, 20, &effect);
	assert_int_equal(effect.kind, MONITOR_HAS_FAILED);
	assert_int_equal(
	    strlen(effect.why), strlen("never healthy after 10ms: ") + LOOK_WHY_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing_to_look_at),
	    cmocka_unit_test(test_a_good_life),
	    cmocka_unit_test(test_never_healthy),
	    cmocka_unit_test(test_the_words_of_the_defaults),
	    cmocka_unit_test(test_good_news_at_the_very_limit_counts),
	    cmocka_unit_test(test_nothing_answered_before_the_limit),
	    cmocka_unit_test(test_no_start_timeout),
	    cmocka_unit_test(test_healthy_only_after_so_many_in_a_row),
	    cmocka_unit_test(test_unhealthy_only_after_so_many_in_a_row),
	    cmocka_unit_test(test_the_count_begins_anew_when_well),
	    cmocka_unit_test(test_late_and_foreign_answers),
	    cmocka_unit_test(test_a_long_sleep),
	    cmocka_unit_test(test_a_timeout_longer_than_the_interval),
	    cmocka_unit_test(test_what_can_not_be_is_raised),
	    cmocka_unit_test(test_startup_and_liveness_apart),
	    cmocka_unit_test(test_a_startup_check_alone),
	    cmocka_unit_test(test_a_liveness_check_alone),
	    cmocka_unit_test(test_what_was_well_goes_on),
	    cmocka_unit_test(test_a_long_reason_is_cut),
	};

	return cmocka_run_group_tests_name("monitor", tests, NULL, NULL);
}
