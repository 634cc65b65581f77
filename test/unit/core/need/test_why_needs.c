/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of needs that are not met: every shortage, and nothing that holds up nobody. */
#include "needs_story.h"

STORY(every_shortage_is_named)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;

	joins(w, 1, "w1", "cpu=1000\n", "disk=ssd\n", "x86_64-linux");
	joins(w, 2, "w2", "cpu=1000\n", "disk=hdd\n", "arm64-linux");
	a = submit(w, q, "+disk=ssd\n@arm64-linux\n");
	assert_string_equal(said(w, a, WHY_NEED_PLACE),
	    "of 2 workers for the queue none may run it: it needs the label disk=ssd and the "
	    "target "
	    "arm64-linux");
	b = submit(w, q, "+disk=tape\n-disk=hdd\ncpu=500\ngpu=2\n");
	assert_string_equal(said(w, b, WHY_NEED_PLACE),
	    "of 2 workers for the queue none may run it: it needs the label disk=tape and one "
	    "without the label disk=hdd");
	assert_string_equal(said(w, b, WHY_NEED_TOO_MUCH),
	    "it needs 2 of gpu: no worker offers so much; the largest has 0");
	assert_string_equal(said(w, b, WHY_NEED_SHORT), "");
	world_free(w);
}

STORY(who_lacks_something_is_not_behind_others)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", 0, ORDER_FIFO), plain, tape, more, last;

	joins(w, 1, "w1", "cpu=1000\n", NULL, NULL);
	plain = submit(w, q, NULL);
	tape = submit(w, q, "+disk=tape\n");
	more = submit(w, q, "+disk=tape\n");
	last = submit(w, q, NULL);
	assert_string_equal(said(w, plain, WHY_BEHIND_OTHERS), ""); /* it is the first */
	assert_string_equal(said(w, tape, WHY_BEHIND_OTHERS), "");  /* a worker has to come */
	assert_string_equal(said(w, more, WHY_BEHIND_OTHERS), "");  /* nor has it a turn */
	assert_string_equal(
	    said(w, last, WHY_BEHIND_OTHERS), "3 others of its queue can start, in the order fifo");
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_shortage_is_named),
	    cmocka_unit_test(who_lacks_something_is_not_behind_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
