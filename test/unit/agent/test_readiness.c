/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does it want traffic? Stories as in test_monitor.c: "up", "up ready", "tick", "ok N" and
 * "bad N REASON" go in; "", "check N", "ready" and "unready: WHY" come out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/readiness.h"

struct line {
	int64_t at_ms;
	const char *event, *wanted;
	int64_t wake; /* 0: never */
};

/* Every 5 s, with 1 s for an answer. */
static struct run_check usual(void)
{
	struct run_settings r;

	run_settings_default(&r);
	r.checks.readiness.kind = CHECK_HTTP;
	return r.checks.readiness;
}

static struct monitor_event event_of(const char *text)
{
	struct monitor_event ev = {.kind = MONITOR_RESULT};
	char *rest;

	if (text[0] == 'u' || text[0] == 't') {
		ev.kind = text[0] == 'u' ? MONITOR_STARTED : MONITOR_WAKE;
		ev.ok = strcmp(text, "up ready") == 0;
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
	case MONITOR_IS_READY: snprintf(text, size, "ready"); break;
	case MONITOR_IS_UNREADY: snprintf(text, size, "unready: %s", e->why); break;
	default: text[0] = 0;
	}
}

static void tell(struct run_check c, const struct line *story, size_t n)
{
	struct monitor_effect effect;
	struct readiness r;
	char got[512];

	readiness_init(&r, &c);
	assert_true(readiness_wake_ms(&r) == INT64_MAX);
	for (size_t i = 0; i < n; i++) {
		struct monitor_event ev = event_of(story[i].event);
		int64_t wake = story[i].wake ? story[i].wake : INT64_MAX;

		readiness_step(&r, &ev, story[i].at_ms, &effect);
		effect_text(&effect, got, sizeof got);
		if (strcmp(got, story[i].wanted) || readiness_wake_ms(&r) != wake)
			fail_msg("line %zu, %s: got \"%s\" and %lld, wanted \"%s\" and %lld", i,
			    story[i].event, got, (long long)readiness_wake_ms(&r), story[i].wanted,
			    (long long)wake);
	}
}

#define TELL(check, ...)                                               \
	do {                                                           \
		const struct line story_[] = {__VA_ARGS__};            \
		tell(check, story_, sizeof story_ / sizeof story_[0]); \
	} while (0)

static void test_what_is_up_is_ready(void **state)
{
	struct run_check c = usual();

	c.kind = CHECK_NONE;
	TELL(
	    c, {0, "tick", "", 0}, {5, "up", "ready", 0}, {5, "up", "", 0}, {99, "bad 1 x", "", 0});
}

static void test_it_comes_and_goes(void **state)
{
	TELL(usual(), {0, "tick", "", 0}, {100, "up", "check 1", 1100},
	    {150, "bad 1 HTTP status 503", "", 5150}, {5150, "tick", "check 2", 6150},
	    {5160, "ok 2", "ready", 10160}, {10160, "tick", "check 3", 11160},
	    {10170, "ok 3", "", 15170}, {15170, "tick", "check 4", 16170},
	    {16170, "tick", "unready: timed out after 1s", 21170},
	    {21170, "tick", "check 5", 22170}, {21171, "ok 5", "ready", 26171});
}

static void test_only_after_so_many_in_a_row(void **state)
{
	struct run_check c = usual();

	c.healthy_after = 2;
	c.unhealthy_after = 2;
	TELL(c, {0, "up", "check 1", 1000}, {0, "ok 1", "", 5000}, {5000, "tick", "check 2", 6000},
	    {5000, "bad 2 a", "", 10000}, {10000, "tick", "check 3", 11000},
	    {10000, "ok 3", "", 15000}, {15000, "tick", "check 4", 16000},
	    {15000, "ok 4", "ready", 20000}, {20000, "tick", "check 5", 21000},
	    {20000, "bad 5 b", "", 25000}, {25000, "tick", "check 6", 26000},
	    {25000, "ok 6", "", 30000}, {30000, "tick", "check 7", 31000},
	    {30000, "bad 7 c", "", 35000}, {35000, "tick", "check 8", 36000},
	    {35000, "bad 8 d", "unready: d", 40000});
}

/* So it stays until a look says otherwise: nobody takes it out of the traffic for nothing. */
static void test_what_was_ready_goes_on(void **state)
{
	TELL(usual(), {1, "up ready", "ready", 1}, {1, "tick", "check 1", 1001},
	    {2, "ok 1", "", 5002});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_up_is_ready),
	    cmocka_unit_test(test_it_comes_and_goes),
	    cmocka_unit_test(test_only_after_so_many_in_a_row),
	    cmocka_unit_test(test_what_was_ready_goes_on),
	};

	return cmocka_run_group_tests_name("readiness", tests, NULL, NULL);
}
