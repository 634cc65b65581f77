/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of a task's output as it comes: said when the first comes and when the last goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "server/engine/hub.h"

static struct buf told;

static void on_follow(rid task, bool is_followed, void *arg)
{
	buf_printf(&told, "%s%d ", is_followed ? "+" : "-", (int)task);
}

static void nothing(void *arg)
{
}

static void test_first_and_last(void **state)
{
	struct hub *h = hub_new();
	void *a, *b, *c;

	hub_on_follow(h, on_follow, NULL);
	assert_false(hub_is_followed(h, 1));
	a = hub_watch_output(h, 1, nothing, NULL);
	b = hub_watch_output(h, 1, nothing, NULL);
	c = hub_watch_output(h, 2, nothing, NULL);
	assert_true(hub_is_followed(h, 1) && hub_is_followed(h, 2) && !hub_is_followed(h, 3));
	assert_int_equal(hub_each_followed(h, on_follow, NULL), 2);
	hub_unwatch_output(h, a);
	assert_true(hub_is_followed(h, 1));
	hub_unwatch_output(h, c);
	hub_unwatch_output(h, b);
	assert_int_equal(hub_each_followed(h, on_follow, NULL), 0);
	assert_string_equal(told.p, "+1 +2 +1 +2 -2 -1 ");
	hub_free(h);
	buf_release(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_and_last)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
