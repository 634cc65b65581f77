/* SPDX-License-Identifier: Apache-2.0 */
/* The vocabulary: ids, lists as text, histories, names and moves of task states. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "model/id.h"
#include "model/limits.h"
#include "model/lines.h"
#include "model/objects/queue.h"
#include "model/rows/field.h"
#include "model/rows/row.h"
#include "model/task/history.h"
#include "model/task/task.h"

static void test_ids_rise_even_when_the_clock_does_not(void **state)
{
	rid last = 0, next;
	int64_t now = 1700000000000;

	for (int i = 0; i < 1000; i++) {
		next = id_next(last, i % 3 ? now : now - 86400000);
		assert_true(next > last);
		last = next;
	}
	assert_int_equal(id_time_ms(id_next(last, now + 5000)), now + 5000);
	/* more in a second than the counter holds: the next second is borrowed */
	last = id_floor(now) | 0xffffff;
	assert_int_equal(id_next(last, now), id_floor(now + 1000));
}

static void test_ids_as_text(void **state)
{
	struct id_space ours = {{0xde, 0xad, 0xbe, 0xef, 0x01}}, theirs = {{1, 2, 3, 4, 5}};
	rid id = id_floor(1700000000000) + 0x00abcd, back = 7;
	char text[ID_TEXT];

	id_format(&ours, id, text);
	assert_string_equal(text, "6553f100deadbeef0100abcd");
	assert_true(id_parse(&ours, str_of(text), &back));
	assert_int_equal(back, id);
	assert_true(id_parse(&theirs, str_of(text), &back));
	assert_int_equal(back, 0); /* well-formed, but of another installation */
	assert_true(id_parse(&ours, STR("6553F100DEADBEEF0100ABCD"), &back));
	assert_int_equal(back, id);
	assert_false(id_parse(&ours, STR("6553f100deadbeef0100abc"), &back));
	assert_false(id_parse(&ours, STR("6553f100deadbeef0100abcg"), &back));
	assert_false(id_parse(&ours, STR(""), &back));
}

static void test_lines(void **state)
{
	struct arena a = {0};
	struct str l = lines_sorted(&a, STR("b\na\nb\n\nc"));

	assert_true(str_is(l, "a\nb\nc\n"));
	assert_true(lines_has(l, STR("b")));
	assert_false(lines_has(l, STR("a\nb")));
	assert_false(lines_has(l, STR("")));
	assert_int_equal(lines_count(l), 3);
	assert_null(lines_sorted(&a, STR_NULL).p);
	assert_true(str_is(lines_value(STR("k=v\nkey=x=y\n"), STR("key")), "x=y"));
	assert_null(lines_value(STR("key=x\n"), STR("ke")).p);
	arena_release(&a);
}

static void test_history_round_trip_and_bound(void **state)
{
	struct arena a = {0};
	struct task_state s = {.attempt = 1,
	    .token = 3,
	    .worker = 9,
	    .claimed_ms = 10,
	    .started_ms = 11,
	    .ended_ms = 12,
	    .status = TASK_FAILED,
	    .exit_code = -1,
	    .signal = 9,
	    .reason = STR("tab\there\nand newline")};
	struct attempt back;
	struct str rest;
	int n = 0;

	s.history = history_append(&a, &s);
	rest = s.history;
	assert_true(history_next(&rest, &back));
	assert_int_equal(back.token, 3);
	assert_int_equal(back.exit_code, -1);
	assert_int_equal(back.signal, 9);
	assert_true(str_is(back.reason, "tab here and newline"));
	assert_false(history_next(&rest, &back));
	for (s.attempt = 2; s.attempt <= 1000; s.attempt++)
		s.history = history_append(&a, &s);
	assert_true(s.history.n <= HISTORY_MAX_BYTES);
	for (rest = s.history; history_next(&rest, &back); n++)
		;
	assert_int_equal(back.number, 1000); /* the newest stay */
	assert_true(n > 50);
	rest = STR("nonsense\nmore\n");
	assert_false(history_next(&rest, &back)); /* stored bytes are not trusted */
	arena_release(&a);
}

static void test_every_status_has_a_phase_and_a_name(void **state)
{
	static const struct {
		int status;
		enum task_phase phase;
		const char *name;
	} table[] = {
	    {-100, PHASE_HELD, "held"},
	    {-7, PHASE_HELD, "held"},
	    {-6, PHASE_ENDED, "orphaned"},
	    {-5, PHASE_ENDED, "cancelled"},
	    {-4, PHASE_HELD, "blocked"},
	    {-3, PHASE_ENDED, "terminated"},
	    {-2, PHASE_QUEUED, "queued"},
	    {-1, PHASE_CLAIMED, "claimed"},
	    {0, PHASE_RUNNING, "running"},
	    {1, PHASE_ENDED, "succeeded"},
	    {2, PHASE_ENDED, "failed"},
	    {3, PHASE_ENDED, "finished"},
	    {70000, PHASE_ENDED, "finished"},
	};
	int min, max;

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		assert_int_equal(task_phase(table[i].status), table[i].phase);
		assert_string_equal(task_state_name(table[i].status), table[i].name);
		assert_true(task_state_parse(str_of(table[i].name), &min, &max));
		assert_true(table[i].status >= min && table[i].status <= max);
	}
	assert_true(task_state_parse(STR("-12"), &min, &max) && min == -12 && max == -12);
	assert_false(task_state_parse(STR("done"), &min, &max));
}

static void test_moves(void **state)
{
	assert_true(task_move_allowed(TASK_QUEUED, TASK_CLAIMED));
	assert_true(task_move_allowed(TASK_CLAIMED, TASK_SUCCEEDED));
	assert_true(task_move_allowed(TASK_FAILED, TASK_QUEUED));
	assert_true(task_move_allowed(-9, TASK_QUEUED));
	assert_false(task_move_allowed(TASK_SUCCEEDED, TASK_FAILED));
	assert_false(task_move_allowed(TASK_SUCCEEDED, TASK_RUNNING));
	assert_false(task_move_allowed(TASK_QUEUED, TASK_RUNNING));
	assert_false(task_move_allowed(TASK_RUNNING, TASK_CLAIMED));
	assert_false(task_move_allowed(TASK_RUNNING, -9));
	assert_false(task_move_allowed(-9, TASK_CLAIMED));
}

/* What people may give is what a change may set: two tables that must agree. */
static void test_queue_fields(void **state)
{
	uint64_t given = 0;

	for (const struct field *f = queue_fields; f->name; f++) {
		assert_true(f->flags & (FIELD_GIVEN | FIELD_SHOWN));
		if (f->flags & FIELD_GIVEN)
			given |= row_bit(&queue_table, f->offset);
	}
	assert_true(given == row_settable(&queue_table));
}

static void test_queue_defaults(void **state)
{
	struct queue_row q;

	queue_defaults(&q);
	assert_true(str_is(q.plugin, PLUGIN_COMMAND));
	assert_int_equal(q.threads, -1);
	assert_int_equal(q.max_attempts, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ids_rise_even_when_the_clock_does_not),
	    cmocka_unit_test(test_ids_as_text),
	    cmocka_unit_test(test_lines),
	    cmocka_unit_test(test_history_round_trip_and_bound),
	    cmocka_unit_test(test_every_status_has_a_phase_and_a_name),
	    cmocka_unit_test(test_moves),
	    cmocka_unit_test(test_queue_fields),
	    cmocka_unit_test(test_queue_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
