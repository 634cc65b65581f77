/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker says once it is let in: it arrives whole, and nothing out of bounds gets through.
 */
#include "link_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "model/run/settings.h"
#include "wire/text.h"

static void test_reports(void **state)
{
	struct link_started s = {1, 2, 3, 4};
	struct link_ended e = good_ended();
	struct output_row o = {5, 6, STDERR, OUTPUT_CHUNK_BYTES, 4, 0, {"\0\1\2\3", 4}};
	struct link_to_server in = {.started = &s,
	                          .n_started = 1,
	                          .output = &o,
	                          .n_output = 1,
	                          .ended = &e,
	                          .n_ended = 1},
	                      got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_true(!got.has_beat && !got.hello && !got.clock.p);
	assert_int_equal(got.started[0].pid, 4);
	assert_int_equal(got.output[0].offset, OUTPUT_CHUNK_BYTES);
	assert_memory_equal(got.output[0].data.p, "\0\1\2\3", 4);
	assert_int_equal(got.ended[0].exit_code, 3);
	assert_int_equal(got.ended[0].output[STDOUT].n, 3);
	assert_memory_equal(got.ended[0].output[STDOUT].p, "a\0b", 3);
	assert_null(got.ended[0].output[STDERR].p);
	assert_int_equal(got.ended[0].output_dropped[STDERR], 7);
	assert_str(got.ended[0].reason, "exit code 3");
	assert_true(usage_equal(&got.ended[0].usage, &e.usage));
	assert_int_equal(got.ended[0].result.n, 3);
	assert_memory_equal(got.ended[0].result.p, "r\0\n", 3);
	e.usage = (struct usage){0};
	e.result = STR_NULL;
	assert_int_equal(to_server(&in, &got), 0);
	assert_false(got.ended[0].usage.known);
	assert_null(got.ended[0].result.p);
}

static void test_largest_result(void **state)
{
	AUTO(free_cstr) char *text = xcalloc(1, RESULT_FILE_MAX + 1);
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

	e.result = (struct str){text, RESULT_FILE_MAX};
	assert_int_equal(to_server(&in, &got), 0);
	assert_int_equal(got.ended[0].result.n, RESULT_FILE_MAX);
	e.result.n++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
}

static void test_health_reports(void **state)
{
	struct link_checked c[] = {{7, true, STR_NULL}, {8, false, STR("exec: no")}};
	struct link_held held[] = {{1, 2, false, 9}, {3, 4, true, 0}}, absent = {5, 6, false, 0};
	struct link_notified n = {11, held, &absent, 2, 1};
	struct link_to_server in = {.clock = {"\0c", 2},
	                          .has_beat = true,
	                          .beat = {99, true, WORKER_HEALTHY, {1, 2, {3, 4, 5}}},
	                          .checked = c,
	                          .n_checked = 2,
	                          .notified = &n,
	                          .n_notified = 1},
	                      got;

	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.has_beat && got.beat.leaving && got.beat.number == 99);
	assert_int_equal(got.beat.own, WORKER_HEALTHY);
	assert_set(&got.beat.set, &in.beat.set);
	assert_int_equal(got.n_checked, 2);
	assert_true(got.checked[0].ok && got.checked[0].number == 7 && !got.checked[0].reason.p);
	assert_false(got.checked[1].ok);
	assert_str(got.checked[1].reason, "exec: no");
	assert_int_equal(got.notified[0].seq, 11);
	assert_int_equal(got.notified[0].n_held, 2);
	assert_true(got.notified[0].held[1].ended && got.notified[0].held[0].started_ms == 9);
	assert_int_equal(got.notified[0].n_absent, 1);
	assert_int_equal(got.notified[0].absent[0].token, 6);
	assert_int_equal(got.clock.n, 2);
	assert_memory_equal(got.clock.p, "\0c", 2);
}

static void test_bad_health_reports(void **state)
{
	static struct link_held many[LINK_NOTIFY_MAX + 1];
	static char clock[LINK_CLOCK_MAX + 1];
	struct link_checked c = {0, true, STR_NULL};
	struct link_notified n = {0};
	struct link_to_server in = {.checked = &c, .n_checked = 1}, got;

	for (size_t i = 0; i <= LINK_NOTIFY_MAX; i++)
		many[i] = (struct link_held){i + 1, 1, false, 0};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.notified = &n, .n_notified = 1};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	n = (struct link_notified){1, many, many, LINK_NOTIFY_MAX, LINK_NOTIFY_MAX};
	assert_int_equal(to_server(&in, &got), 0);
	n.n_absent++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	n.n_absent = 1;
	many[0].token = 0;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.has_beat = true, .beat = {1, false, N_WORKER_STATES, {0}}};
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in.beat.own = WORKER_NEW;
	assert_int_equal(to_server(&in, &got), 0);
	in.beat.number = 0;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
	in = (struct link_to_server){.clock = {clock, LINK_CLOCK_MAX}};
	assert_int_equal(to_server(&in, &got), 0);
	in.clock.n++;
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL);
}

static void test_bad_reports(void **state)
{
	struct link_ended e;
	struct output_row o;
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

#define BAD(member, value)  \
	e = good_ended();   \
	e.member = (value); \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(task, 0);
	BAD(task, 1ull << 60);
	BAD(token, 0);
	BAD(status, TASK_QUEUED);
	BAD(status, 0);
	BAD(exit_code, 256);
	BAD(signal, -1);
	BAD(ended_ms, 0);
	BAD(output_where, 3);
	BAD(output_dropped[0], -1);
	BAD(usage.user_us, -1);
	BAD(usage.system_us, -1);
	BAD(usage.peak_memory, -1);
	BAD(usage.oom_kills, -1);
#undef BAD
	in = (struct link_to_server){.output = &o, .n_output = 1};
#define BAD(member, value)                                           \
	o = (struct output_row){5, 6, STDERR, 0, 4, 0, {"1234", 4}}; \
	o.member = (value);                                          \
	assert_int_equal(to_server(&in, &got), ERR_PROTOCOL)
	BAD(stream, 2);
	BAD(offset, 1);
	BAD(offset, -OUTPUT_CHUNK_BYTES);
	BAD(raw_bytes, 3);
	BAD(raw_bytes, 0);
	BAD(raw_bytes, OUTPUT_CHUNK_BYTES + 1);
	BAD(codec, 2);
	BAD(codec, 1); /* "1234" is nothing that can be unpacked */
	BAD(data, STR_NULL);
#undef BAD
}

/* What nobody can have measured is cut: adding to it must not overflow. */
static void test_absurd_numbers(void **state)
{
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;

	e.usage = (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, 3, true};
	e.output_bytes[STDOUT] = e.output_dropped[STDERR] = INT64_MAX;
	assert_int_equal(to_server(&in, &got), 0);
	assert_true(got.ended[0].usage.user_us == 1LL << 53);
	assert_true(got.ended[0].usage.system_us == 1LL << 53);
	assert_true(got.ended[0].usage.peak_memory == 1LL << 53);
	assert_true(got.ended[0].output_bytes[STDOUT] == 1LL << 53);
	assert_true(got.ended[0].output_dropped[STDERR] == 1LL << 53);
}

/* Text is for people: it is made fit to be shown, and cut where it is too long. */
static void test_text(void **state)
{
	struct link_ended e = good_ended();
	struct link_to_server in = {.ended = &e, .n_ended = 1}, got;
	char longer[REASON_MAX_BYTES + 10];

	e.reason = STR("a\nb\xff");
	assert_int_equal(to_server(&in, &got), 0);
	assert_str(got.ended[0].reason, "a b?");
	memset(longer, 'x', sizeof longer);
	memcpy(longer + REASON_MAX_BYTES - 1, "\xc3\xa4", 2);
	e.reason = (struct str){longer, sizeof longer};
	assert_int_equal(to_server(&in, &got), 0);
	assert_int_equal(got.ended[0].reason.n, REASON_MAX_BYTES - 1);
	assert_true(text_is_name(STR("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x8e\x89"), 99));
	assert_false(text_is_name(STR("\xc0\x80"), 99));
	assert_false(text_is_name(STR("\xed\xa0\x80"), 99));
	assert_false(text_is_name(STR("\xe2\x82"), 99));
	assert_false(text_is_name(STR_NULL, 99));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_reports, setup),
	    cmocka_unit_test_setup(test_largest_result, setup),
	    cmocka_unit_test_setup(test_bad_reports, setup),
	    cmocka_unit_test_setup(test_absurd_numbers, setup),
	    cmocka_unit_test_setup(test_health_reports, setup),
	    cmocka_unit_test_setup(test_bad_health_reports, setup),
	    cmocka_unit_test_setup(test_text, setup),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
