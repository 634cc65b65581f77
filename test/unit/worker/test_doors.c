/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin's process: what its table allows goes through its door, nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../walk.h"
#include "worker/plugins/pool.h"

static unsigned process(unsigned from, unsigned to)
{
	struct pool p = {.n_starting = 1};
	struct plug g = {.pool = &p, .state = from};

	plug_move(&g, to);
	if (p.n_starting != (from != PLUG_GREETING)) /* the next one may be started now */
		_exit(4);
	return g.state;
}

static void test_a_plugins_process(void **state)
{
	walk(&plug_moves, process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_plugins_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
