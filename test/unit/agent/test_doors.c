/* SPDX-License-Identifier: Apache-2.0 */
/* The worker's machines: what their tables allow goes through their doors, nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../walk.h"
#include "agent/internal.h"
#include "agent/readiness.h"

static unsigned attempt(unsigned from, unsigned to)
{
	struct held h = {.state = from};

	held_move(&h, to);
	return h.state;
}

static unsigned phase(unsigned from, unsigned to)
{
	struct agent a = {.phase = from};

	agent_move(&a, to);
	return a.phase;
}

static unsigned link_of(unsigned from, unsigned to)
{
	struct agent a = {.link = from};

	link_move(&a, to);
	return a.link;
}

static unsigned monitor(unsigned from, unsigned to)
{
	struct monitor m = {.state = from, .look = {.is_under_way = true}, .row = 3};

	monitor_move(&m, to);
	if (m.row != 0 || m.look.is_under_way != (to != MONITOR_FAILED))
		_exit(4);
	return m.state;
}

static unsigned readiness(unsigned from, unsigned to)
{
	struct readiness r = {.state = from, .row = 3};

	readiness_move(&r, to);
	if (r.row != 0)
		_exit(4);
	return r.state;
}

static void test_an_attempt(void **state)
{
	walk(&held_moves, attempt);
}

static void test_the_worker(void **state)
{
	walk(&agent_moves, phase);
}

static void test_its_link(void **state)
{
	walk(&link_moves, link_of);
}

static void test_a_monitor(void **state)
{
	walk(&monitor_moves, monitor);
}

static void test_its_readiness(void **state)
{
	walk(&readiness_moves, readiness);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_an_attempt),
	    cmocka_unit_test(test_the_worker),
	    cmocka_unit_test(test_its_link),
	    cmocka_unit_test(test_a_monitor),
	    cmocka_unit_test(test_its_readiness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
