/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptions of rows: what every table promises, and what goes by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/objects/schedule.h"
#include "model/rows/batch.h"
#include "model/rows/pack.h"

static void check_columns(const struct row_table *t)
{
	int names = 0, sums = 0;

	for (int i = 0; i < t->n; i++) {
		const struct column *c = &t->columns[i];

		assert_ptr_equal(row_column(t, c->name), c); /* no name twice */
		names += (c->flags & COLUMN_NAME) != 0;
		sums += c->type == COLUMN_SUM;
		assert_true(c->type == COLUMN_SUM || c->offset < t->row_size);
		if (c->type == COLUMN_SUM) /* behind its whole group */
			for (int j = i + 1; j < t->n; j++)
				assert_true((t->columns[j].flags & COLUMN_SET) != c->flags);
	}
	assert_true(names <= 1);
	assert_true(sums >= 1);
}

static void test_tables_hold_what_they_promise(void **state)
{
	for (int i = 0; i < N_TABLES; i++) {
		const struct row_table *t = row_tables[i];

		assert_int_equal(t->number, i);
		assert_true(t->n <= COLUMNS_MAX);
		assert_true(t->n_key >= 1 && t->n_key < t->n);
		check_columns(t);
		if (t->has_id || t->belongs_to) { /* stores read it as an id */
			assert_int_equal(t->columns[0].offset, 0);
			assert_int_equal(t->columns[0].type, COLUMN_I64);
		}
		if (t->expires)
			assert_int_equal(row_column(t, "time_ms")->type, COLUMN_I64);
		if (t->is_loaded &&
		    t->quarantine) { /* by a name or an id, and with words for people */
			assert_true(row_name_column(t) || t->has_id || t->belongs_to);
			assert_non_null(t->quarantined);
		}
		if (t->belongs_to)
			assert_true(t->belongs_to->has_id);
	}
}

static void fill(struct task_row *t)
{
	*t = (struct task_row){.id = 7,
	    .spec = {.queue = 3, .priority = 4, .body = STR("{}")},
	    .state = {.status = 1,
	        .reason = STR("why"),
	        .history = STR("then"),
	        .usage = {1, 2, 3, 4, true}}};
}

static void test_copies_own_their_strings(void **state)
{
	AUTO(arena_release) struct arena a = {0};
	struct task_row t, bare, *copy, *dup;

	fill(&t);
	copy = row_new(&a, &task_table, &t);
	dup = row_dup(&task_table, &t);
	row_copy(&task_table, &a, &t, COLUMN_BULKY, &bare);
	assert_null(row_differs(&task_table, &t, copy));
	assert_null(row_differs(&task_table, &t, dup));
	assert_ptr_not_equal(copy->state.reason.p, t.state.reason.p);
	assert_ptr_not_equal(dup->state.reason.p, t.state.reason.p);
	assert_null(copy->spec.key.p);
	assert_null(bare.spec.body.p);
	assert_null(bare.state.history.p);
	assert_string_equal(bare.state.reason.p, "why");
	copy->state.usage.system_us++;
	assert_string_equal(row_differs(&task_table, &t, copy)->name, "usage");
	free(dup);
}

static void test_state_is_taken_and_nothing_else(void **state)
{
	struct task_row from, to;

	fill(&from);
	fill(&to);
	from.spec.priority = 9; /* written with the state */
	from.spec.queue = 8;
	from.state.status = 2;
	from.state.reason = STR("other");
	row_take_state(&task_table, &to, &from);
	assert_int_equal(to.spec.priority, 9);
	assert_int_equal(to.spec.queue, 3);
	assert_int_equal(to.state.status, 2);
	assert_ptr_equal(to.state.reason.p, from.state.reason.p);
}

static void test_keys_compare_column_by_column(void **state)
{
	struct tick_row x = {.schedule = 1, .tick_s = 5, .offset_s = -3600}, y = x;
	struct idem_row a = {.key = STR("a")}, b = {.key = STR("b")};

	y.time_ms = 7;
	assert_int_equal(row_compare(&tick_table, 3, &x, &y), 0);
	y.offset_s = 0;
	assert_true(row_compare(&tick_table, 3, &x, &y) < 0);
	assert_int_equal(row_compare(&tick_table, 2, &x, &y), 0);
	y.schedule = 0;
	assert_true(row_compare(&tick_table, 3, &x, &y) > 0);
	assert_true(row_compare(&idem_table, 1, &a, &b) < 0);
}

/* A damaged row, whatever it says, has the name that it was given and does nothing. */
static void test_quarantine_does_no_harm(void **state)
{
	const struct quarantine_facts f = {.damage = 1, .name = STR("q"), .now_ms = 1000};
	struct queue_row q = {.id = 5, .ctime_ms = 2000};
	struct schedule_row s = {.id = 6, .items = STR("[]"), .ctime_ms = 900};
	struct token_row t = {.id = 7, .hash = STR("h"), .role = ROLE_ADMIN};
	struct worker_row w = {.id = 8, .facts = {.key = STR("k")}};

	queue_table.quarantine(&q, &f);
	assert_true(q.id == 5 && q.paused && str_is(q.name, "q"));
	assert_true(str_is(q.plugin, ROW_DAMAGED) && q.pause.reason.p);
	assert_int_equal(q.ctime_ms, 1000); /* that lay ahead */
	schedule_table.quarantine(&s, &f);
	assert_true(s.id == 6 && s.state == SCHEDULE_PAUSED && !s.items.p);
	assert_int_equal(s.ctime_ms, 900);
	token_table.quarantine(&t, &f);
	assert_false(token_admits(&t, 0));
	worker_table.quarantine(&w, &f);
	assert_true(str_is(w.facts.key, WORKER_KEY_UNKNOWN));
	assert_int_equal(w.facts.instance, 8);
	assert_null(meta_table.quarantine);
}

static void test_a_queue_whose_numbers_are_damaged_keeps_its_settings(void **state)
{
	const struct quarantine_facts f = {.damage = 1u << COLUMN_STATE, .now_ms = 1000};
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("p"), .n_failed = -3};

	queue_table.quarantine(&q, &f);
	assert_true(q.paused && str_is(q.plugin, "p") && str_is(q.name, "q"));
	assert_int_equal(q.n_failed, 0);
}

static struct schedule_row widest(void)
{
	struct schedule_row r = {0};

	for (int i = 0; i < schedule_table.n; i++) {
		const struct column *c = &schedule_table.columns[i];
		void *at = column_at(c, &r);

		switch (c->type) {
		case COLUMN_I32: *(int32_t *)at = i % 2 ? INT32_MIN : INT32_MAX; break;
		case COLUMN_I64: *(int64_t *)at = i % 2 ? INT64_MIN : INT64_MAX; break;
		case COLUMN_TEXT: *(struct str *)at = i % 2 ? STR("words") : STR(""); break;
		default: break;
		}
	}
	return r;
}

/* All columns that there are: the widest numbers, empty strings, none, and what is left out. */
static void test_a_packed_row_comes_back_whole(void **state)
{
	uint64_t without = ROW_BIT(schedule_table, schedule_row, name);
	struct schedule_row rows[] = {widest(), {.id = 7, .zone = STR("UTC")}}, got;
	struct arena a = {0};
	void *packed = NULL;
	uint32_t n = 0;

	for (int i = 0; i < 2; i++) {
		row_pack(&schedule_table, without, &rows[i], &packed, &n);
		got = (struct schedule_row){.name = rows[i].name};
		row_unpack(&schedule_table, without, packed, &a, &got);
		assert_null(row_differs(&schedule_table, &rows[i], &got));
		got.name = STR_NULL;
		row_unpack(&schedule_table, without, packed, NULL, &got);
		assert_null(got.name.p);
		assert_true(str_eq(got.zone, rows[i].zone));
	}
	assert_true(n < 64); /* nearly all of it is zero */
	free(packed);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_tables_hold_what_they_promise),
	    cmocka_unit_test(test_copies_own_their_strings),
	    cmocka_unit_test(test_state_is_taken_and_nothing_else),
	    cmocka_unit_test(test_keys_compare_column_by_column),
	    cmocka_unit_test(test_quarantine_does_no_harm),
	    cmocka_unit_test(test_a_packed_row_comes_back_whole),
	    cmocka_unit_test(test_a_queue_whose_numbers_are_damaged_keeps_its_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
