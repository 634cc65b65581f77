/* SPDX-License-Identifier: Apache-2.0 */
/* The keeper's machines: what their tables allow goes through their doors, nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../walk.h"
#include "keeper/internal.h"

/* What the keeper's main.c has; no move needs any of it. */
int64_t keeper_now_ms(void)
{
	return 0;
}

void keeper_watch(struct keeper *k, int fd, struct watch *w, uint32_t events)
{
}

void keeper_unwatch(struct keeper *k, int fd)
{
}

void keeper_listen(struct keeper *k)
{
}

static unsigned ward(unsigned from, unsigned to)
{
	struct keeper k = {.n_live = 1};
	struct ward w = {.state = from};

	ward_move(&k, &w, to);
	if (k.n_live != (from != WARD_EMPTYING)) /* it lives until it is over */
		_exit(4);
	return w.state;
}

static unsigned phase(unsigned from, unsigned to)
{
	struct keeper k = {.phase = from};

	keeper_move(&k, to);
	return k.phase;
}

static void test_a_job(void **state)
{
	walk(&ward_moves, ward);
}

static void test_the_keeper(void **state)
{
	walk(&keeper_moves, phase);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_job),
	    cmocka_unit_test(test_the_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
