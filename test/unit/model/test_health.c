/* SPDX-License-Identifier: Apache-2.0 */
/* Health, where server and worker could come to think differently of the same worker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../walk.h"
#include "model/link/health.h"

static const struct timeouts limits = {
    .heartbeat_ms = 7000,
    .heartbeat_grace_ms = 15000,
    .check_period_ms = 8000,
    .check_grace_ms = 20000,
    .lose_after_ms = 10000,
    .margin_ms = 2000,
};
#define CHECK_LIMIT_MS 30000

static struct health welcomed(const struct timeouts *t, bool is_worker)
{
	struct health h;

	health_init(&h, 0);
	h.known = true;
	h.doubted = is_worker;
	health_step(&h, t, 0);
	return h;
}

/* The check that both were waiting for is heard of: its mark is of the welcome. */
static void check_counts(struct health *h, const struct timeouts *t, int64_t now_ms)
{
	h->beat_ms = now_ms;
	h->check_ms = 0;
	health_step(h, t, now_ms);
}

static int64_t dies_at(const struct health *h, const struct timeouts *t)
{
	return health_next_ms(h, t);
}

static void a_newcomer_is_given_the_shorter_limit(void **state)
{
	struct health h = welcomed(&limits, false);

	assert_int_equal(h.state, WORKER_UNHEALTHY);
	assert_int_equal(dies_at(&h, &limits), 22000 + 10000 + 1);
}

static void who_lacks_only_consensus_is_not_counted_down(void **state)
{
	struct timeouts own = timeouts_of_worker(&limits);
	struct health server = welcomed(&limits, false), worker = welcomed(&own, true);

	check_counts(&server, &limits, 5000);
	check_counts(&worker, &own, 5000);
	assert_int_equal(dies_at(&server, &limits), 5000 + 22000 + 10000 + 1);
	assert_int_equal(dies_at(&worker, &own), 5000 + 22000 + 8000 + 1);
}

/* By the server's clock the check is too old already, by the worker's it is not: both are right. */
static void near_a_limit_the_worker_does_not_begin_anew(void **state)
{
	struct timeouts own = timeouts_of_worker(&limits);
	struct health server = welcomed(&limits, false), worker = welcomed(&own, true);

	check_counts(&server, &limits, CHECK_LIMIT_MS + 100);
	assert_int_equal(health_lack(&server, &limits, CHECK_LIMIT_MS + 100), LACK_CHECK);
	check_counts(&worker, &own, CHECK_LIMIT_MS - 100);
	assert_int_equal(health_lack(&worker, &own, CHECK_LIMIT_MS - 100), LACK_CONSENSUS);
	assert_true(dies_at(&worker, &own) < dies_at(&server, &limits));
}

static void who_gave_up_stays_so(void **state)
{
	struct timeouts own = timeouts_of_worker(&limits);
	struct health h = welcomed(&own, true);

	h.beat_ms = CHECK_LIMIT_MS - 100;
	h.check_ms = 0;
	assert_true(health_step(&h, &own, 22000 + 8000 + 1));
	assert_int_equal(h.state, WORKER_MUST_DIE);
	h.doubted = false;
	h.permitted = true;
	h.beat_ms = h.check_ms = 40000;
	assert_false(health_step(&h, &own, 40000));
	assert_int_equal(h.state, WORKER_MUST_DIE);
}

static unsigned moved(unsigned from, unsigned to)
{
	struct health h = {.state = from};

	health_move(&h, to);
	if (h.has_been_healthy != (to == WORKER_HEALTHY))
		_exit(4);
	return h.state;
}

static void what_the_table_allows_goes_through_the_door(void **state)
{
	walk(&worker_moves, moved);
	for (unsigned i = 0; i < N_WORKER_STATES; i++)
		assert_string_equal(worker_moves.states[i], worker_state_names[i]);
}

static void whoever_is_declared_lost_must_die(void **state)
{
	struct health h;

	health_init(&h, 0);
	health_lose(&h);
	assert_int_equal(h.state, WORKER_MUST_DIE);
	assert_int_equal(health_lack(&h, &limits, 0), LACK_LIFE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_newcomer_is_given_the_shorter_limit),
	    cmocka_unit_test(who_lacks_only_consensus_is_not_counted_down),
	    cmocka_unit_test(near_a_limit_the_worker_does_not_begin_anew),
	    cmocka_unit_test(who_gave_up_stays_so),
	    cmocka_unit_test(what_the_table_allows_goes_through_the_door),
	    cmocka_unit_test(whoever_is_declared_lost_must_die),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
