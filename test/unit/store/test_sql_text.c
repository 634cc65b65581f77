/* SPDX-License-Identifier: Apache-2.0 */
/* The statements that stores share, as two kinds of databases want them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "model/objects/schedule.h"
#include "store/sql/text.h"

static const struct sql_dialect lite = {.replaces = true, .hints = true};
static const struct sql_dialect dollars = {.dollars = true};

static void assert_text(const struct sql_dialect *d, const char *text, const char *expected)
{
	AUTO(sql_text_release) struct sql_text s = {.dialect = d};

	sql_add(&s, text);
	assert_string_equal(s.out.p, expected);
}

static void assert_verb(const struct sql_dialect *d, const struct row_table *t, enum sql_verb verb,
    const char *expected)
{
	AUTO(sql_text_release) struct sql_text s = {.dialect = d};

	assert_true(sql_add_verb(&s, t, verb));
	assert_string_equal(s.out.p, expected);
}

static void test_parameters_and_hints(void **state)
{
	static const char text[] = "SELECT id FROM task {task_due} WHERE a = ? AND b = ?";

	assert_text(&lite, text, "SELECT id FROM task INDEXED BY task_due WHERE a = ? AND b = ?");
	assert_text(&dollars, text, "SELECT id FROM task WHERE a = $1 AND b = $2");
	assert_text(&lite, "FROM task {} WHERE x = ?2", "FROM task NOT INDEXED WHERE x = ?2");
	assert_text(&dollars, "FROM task {} WHERE x = ?2", "FROM task WHERE x = $2");
}

static void test_put(void **state)
{
	assert_verb(&lite, &meta_table, SQL_PUT,
	    "INSERT OR REPLACE INTO meta (name, value, sum) VALUES (?, ?, ?)");
	assert_verb(&dollars, &meta_table, SQL_PUT,
	    "INSERT INTO meta (name, value, sum) VALUES ($1, $2, $3)"
	    " ON CONFLICT (name) DO UPDATE SET value = excluded.value, sum = excluded.sum");
}

static void test_state_is_only_of_those_that_have_one(void **state)
{
	AUTO(sql_text_release) struct sql_text s = {.dialect = &lite};

	assert_verb(&dollars, &queue_table, SQL_STATE,
	    "UPDATE queue SET n_succeeded = $1, n_failed = $2, n_other = $3, state_sum = $4"
	    " WHERE id = $5");
	assert_false(sql_add_verb(&s, &meta_table, SQL_STATE));
}

static void test_delete_is_by_id_or_owner(void **state)
{
	AUTO(sql_text_release) struct sql_text s = {.dialect = &lite};

	assert_verb(&lite, &worker_table, SQL_DELETE, "DELETE FROM worker WHERE id = ?");
	assert_verb(&lite, &tick_table, SQL_DELETE, "DELETE FROM tick WHERE schedule = ?");
	assert_false(sql_add_verb(&s, &event_table, SQL_DELETE));
}

static void test_expiry(void **state)
{
	AUTO(sql_text_release) struct sql_text s = {.dialect = &lite};

	assert_verb(&lite, &tick_table, SQL_EXPIRE,
	    "DELETE FROM tick WHERE (schedule, tick_s, offset_s) IN"
	    " (SELECT schedule, tick_s, offset_s FROM tick INDEXED BY tick_time"
	    " WHERE time_ms < ? ORDER BY time_ms LIMIT 1000)");
	assert_verb(&dollars, &idem_table, SQL_EXPIRE,
	    "DELETE FROM idem WHERE (idem_key) IN (SELECT idem_key FROM idem"
	    " WHERE time_ms < $1 ORDER BY time_ms LIMIT 1000)");
	assert_false(sql_add_verb(&s, &event_table, SQL_EXPIRE)); /* a chain */
	assert_false(sql_add_verb(&s, &queue_table, SQL_EXPIRE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_parameters_and_hints),
	    cmocka_unit_test(test_put),
	    cmocka_unit_test(test_state_is_only_of_those_that_have_one),
	    cmocka_unit_test(test_delete_is_by_id_or_owner),
	    cmocka_unit_test(test_expiry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
