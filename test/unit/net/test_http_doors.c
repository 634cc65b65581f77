/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP connection: what its table allows goes through its door, nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../walk.h"
#include "net/http/http_internal.h"

static unsigned connection(unsigned from, unsigned to)
{
	struct http_conn c = {.state = from};

	http_conn_move(&c, to);
	return c.state;
}

static void test_a_connection(void **state)
{
	walk(&http_conn_moves, connection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
