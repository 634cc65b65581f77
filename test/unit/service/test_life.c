/* SPDX-License-Identifier: Apache-2.0 */
/* The states of instances and containers, by their doors; what crashes lead to. */
#include "support.h"

#include "../walk.h"
#include "service/life/container.h"
#include "service/life/crash.h"

static unsigned move_instance(unsigned from, unsigned to)
{
	struct instance i = {.state = (enum instance_state)from};

	instance_move(&i, (enum instance_state)to, 1);
	return i.state;
}

static unsigned move_container(unsigned from, unsigned to)
{
	struct container c = {.state = (enum container_state)from};

	container_move(&c, (enum container_state)to);
	return c.state;
}

static void test_doors(void **state)
{
	walk(&instance_moves, move_instance);
	walk(&container_moves, move_container);
}

static void test_a_move_keeps_the_record_true(void **state)
{
	struct instance i = {.worker = 3, .id = 7, .tag = 5, .crash_count = 2};

	instance_move(&i, INSTANCE_CLAIMED, 10);
	assert_int_equal(i.since_ms, 10);
	assert_int_equal(i.tag, 6);
	assert_int_equal(i.worker, 3);
	instance_move(&i, INSTANCE_RUNNING, 20);
	i.is_ready = true;
	instance_move(&i, INSTANCE_UNCLAIMED, 30);
	assert_int_equal(i.worker, NO_WORKER);
	assert_int_equal(i.id, 0);
	assert_false(i.is_ready);
	assert_int_equal(i.asked_ms, 30);
	assert_int_equal(i.crash_count, 2);
	assert_int_equal(i.tag, 8);
}

/* The default, number by number. */
static void test_waits(void **state)
{
	static const int64_t seconds[] = {0, 0, 0, 30, 60, 120, 240, 480, 960, 960, 960};
	const struct crash_policy *p = &crash_policy_default;
	int64_t total = 0;

	for (uint32_t n = 0; n < N_OF(seconds); n++)
		assert_int_equal(crash_wait_ms(p, n), seconds[n] * 1000);
	assert_int_equal(crash_wait_ms(p, 199), 960000);
	assert_int_equal(crash_wait_ms(p, 200), CRASH_NEVER);
	assert_int_equal(crash_wait_ms(p, UINT32_MAX), CRASH_NEVER);
	for (uint32_t n = 0; n < 200; n++)
		total += crash_wait_ms(p, n);
	assert_int_equal(total / 3600000, 51); /* hours until it is over */
}

static const struct {
	const char *name;
	struct crash_policy p;
	uint32_t count;
	int64_t wait;
} policies[] = {
    {"nothing at once", {.at_once = 0, .wait_ms = 5, .factor = 3000, .wait_max_ms = 100}, 1, 5},
    {"three times as long each", {.wait_ms = 5, .factor = 3000, .wait_max_ms = 100}, 3, 45},
    {"to the longest", {.wait_ms = 5, .factor = 3000, .wait_max_ms = 100}, 4, 100},
    {"half as long again", {.wait_ms = 1000, .factor = 1500, .wait_max_ms = 90000}, 3, 2250},
    {"always the same", {.wait_ms = 7, .factor = FACTOR_ONE, .wait_max_ms = 9}, 4000000000u, 7},
    {"a first wait above the longest", {.wait_ms = 70, .factor = 2000, .wait_max_ms = 9}, 1, 9},
    {"the first is the last", {.wait_ms = 7, .factor = 2000, .wait_max_ms = 9, .stop_at = 1}, 1,
        CRASH_NEVER},
    {"never over", {.wait_ms = 1, .factor = 1000000, .wait_max_ms = INT64_C(3650) * 86400000},
        4000000000u, INT64_C(3650) * 86400000},
    {"at once for ever", {.at_once = UINT32_MAX}, 4000000000u, 0},
};

static void test_policies(void **state)
{
	for (size_t i = 0; i < N_OF(policies); i++)
		if (crash_wait_ms(&policies[i].p, policies[i].count) != policies[i].wait)
			fail_msg("%s: %lld", policies[i].name,
			    (long long)crash_wait_ms(&policies[i].p, policies[i].count));
}

static void test_the_count_begins_anew(void **state)
{
	const struct crash_policy *p = &crash_policy_default;
	struct instance i = {.state = INSTANCE_RUNNING, .crash_count = 6, .since_ms = 1000};

	instance_crash(&i, p, 1000 + 299999); /* not quite five minutes */
	assert_int_equal(i.crash_count, 7);
	assert_int_equal(i.state, INSTANCE_CRASHED);
	assert_int_equal(crash_due_ms(&i, p), 300999 + 480000);
	i = (struct instance){.state = INSTANCE_RUNNING, .crash_count = 150, .since_ms = 1000};
	instance_crash(&i, p, 1000 + 300000);
	assert_int_equal(i.crash_count, 1);
	assert_int_equal(i.state, INSTANCE_UNCLAIMED);
	i = (struct instance){.state = INSTANCE_CLAIMED, .crash_count = 2, .since_ms = 0};
	instance_crash(&i, p, 9000000); /* it never ran */
	assert_int_equal(i.crash_count, 3);
}

static void test_due(void **state)
{
	const struct crash_policy *p = &crash_policy_default;
	struct instance i = {.state = INSTANCE_CRASHED, .crash_count = 3, .crashed_at_ms = 50000};

	assert_false(crash_is_due(&i, p, 79999));
	assert_true(crash_is_due(&i, p, 80000));
	assert_false(crash_is_due(&i, p, 50000));
	assert_true(crash_is_due(&i, p, 49999)); /* the clock was set back */
	i.crash_count = 200;
	assert_false(crash_is_due(&i, p, INT64_MAX));
	i = (struct instance){.state = INSTANCE_RUNNING, .crash_count = 3};
	assert_false(crash_is_due(&i, p, INT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_doors),
	    cmocka_unit_test(test_a_move_keeps_the_record_true),
	    cmocka_unit_test(test_waits),
	    cmocka_unit_test(test_policies),
	    cmocka_unit_test(test_the_count_begins_anew),
	    cmocka_unit_test(test_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
