/* SPDX-License-Identifier: Apache-2.0 */
/* The pools of plugins, once they are closed: the loop still turns until the link is closed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "worker/plugins/pool.h"

static void test_what_is_flushed_after_the_end_finds_no_pool(void **state)
{
	struct plugin_options plugin = {.name = "p", .processes = 1};
	struct worker_options o = {.plugins = &plugin, .n_plugins = 1};
	struct worker w = {.o = &o, .loop = loop_new()};

	pools_open(&w);
	assert_non_null(pool_find(&w, STR("p")));
	pools_close(&w);
	pools_flush(&w);
	assert_null(pool_find(&w, STR("p")));
	loop_free(w.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_what_is_flushed_after_the_end_finds_no_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
