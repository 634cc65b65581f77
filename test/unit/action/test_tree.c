/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the inner nodes of an action mean, with hands that only write down what they were told.
 * Leaves are runs, known by the name of their program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../walk.h"
#include "action/tree.h"
#include "base/mem.h"
#include "wire/json/action.h"

#define LEAVES_MAX ACTION_NODES_MAX

static struct tree tree;
static struct arena arena;
static struct buf
    story; /* "+a" started, "-a" told to end, "'text'" said, "!text" said as an error */
static struct node *leaves[LEAVES_MAX];
static size_t n_leaves;
static bool fail_at_start;
static int64_t now;

static void on_start(void *arg, struct node *leaf)
{
	buf_printf(&story, "+%s ", leaf->action->run.argv[0]);
	leaves[n_leaves++] = leaf;
	if (fail_at_start)
		tree_leaf_over(&tree, leaf, (struct outcome){OUTCOME_FAILED, 7, "x", NULL});
}

static void on_end(void *arg, struct node *leaf)
{
	buf_printf(&story, "-%s ", leaf->action->run.argv[0]);
}

static void on_say(void *arg, const struct node *n, bool is_error, const char *text)
{
	buf_printf(&story, is_error ? "!%s! " : "'%s' ", text);
}

static bool is_monitored;

static void begin(const char *text)
{
	static const struct tree_hands hands = {on_start, on_end, on_say, NULL};
	json_t *v = json_loads(text, 0, NULL);
	struct problem p = {0};
	struct action *root;

	assert_non_null(v);
	if (action_parse(v, &arena, &root, &p) < 0)
		fail_msg("%s", p.what);
	json_decref(v);
	tree_init(&tree, root, &hands);
	tree.is_monitored = is_monitored;
	tree_start(&tree, now = 1000);
}

/* The leaf ends by itself with this exit code. */
static void leaf_over(const char *name, int code)
{
	for (size_t i = 0; i < n_leaves; i++)
		if (strcmp(leaves[i]->action->run.argv[0], name) == 0) {
			struct outcome o = {OUTCOME_FAILED, code, NULL, NULL};
			AUTO(free_cstr) char *text = xasprintf("%s failed", name);

			o.text = text;
			if (code == 0)
				o.kind = OUTCOME_GOOD;
			tree_leaf_over(&tree, leaves[i], o);
			tree_step(&tree, now);
			return;
		}
	fail_msg("%s was not started", name);
}

static void told(const char *expected)
{
	assert_string_equal(story.p ? story.p : "", expected);
	buf_reset(&story);
	buf_add_cstr(&story, "");
}

static void ends_with(enum outcome_kind kind, const char *text)
{
	assert_true(tree.is_over);
	assert_int_equal(tree_outcome(&tree).kind, kind);
	if (text)
		assert_string_equal(tree_outcome(&tree).text, text);
}

static int clean(void **state)
{
	tree_release(&tree);
	tree = (struct tree){0};
	arena_reset(&arena);
	buf_release(&story);
	n_leaves = 0;
	fail_at_start = is_monitored = false;
	return 0;
}

/* What the task's reason says: the failure, and the step's place in the action's JSON. */
static void is_told_as(const char *text)
{
	struct outcome o = tree_outcome(&tree);

	assert_string_equal(o.told ? o.told : o.text, text);
}

#define RUN(name) "{\"run\":{\"path\":\"" name "\"}}"

static void test_run(void **state)
{
	begin(RUN("a"));
	told("+a ");
	assert_int_equal(tree_due_ms(&tree), -1);
	leaf_over("a", 3);
	told("!a failed! ");
	ends_with(OUTCOME_FAILED, "a failed");
	assert_int_equal(tree_outcome(&tree).exit_code, 3);
}

static void test_serial_goes_on_until_the_first_failure(void **state)
{
	begin("{\"serial\":{\"actions\":[" RUN("a") "," RUN("b") "," RUN("c") "]}}");
	told("+a ");
	leaf_over("a", 0);
	told("+b ");
	leaf_over("b", 1);
	told("!b failed! ");
	ends_with(OUTCOME_FAILED, "b failed");
}

static void test_serial_succeeds(void **state)
{
	begin("{\"serial\":{\"actions\":[" RUN("a") "," RUN("b") "]}}");
	leaf_over("a", 0);
	assert_false(tree.is_over);
	leaf_over("b", 0);
	ends_with(OUTCOME_GOOD, NULL);
}

static void test_parallel_waits_for_all_and_merges(void **state)
{
	begin("{\"parallel\":{\"actions\":[" RUN("a") "," RUN("b") "," RUN("c") "]}}");
	told("+a +b +c ");
	leaf_over("c", 1);
	assert_false(tree.is_over);
	leaf_over("b", 0);
	leaf_over("a", 2);
	told("!c failed! !a failed! "); /* nobody was told to end */
	ends_with(OUTCOME_FAILED, "a failed; c failed");
}

static void test_codependent_ends_all_with_the_first(void **state)
{
	begin("{\"codependent\":{\"actions\":[" RUN("a") "," RUN("b") "," RUN("c") "]}}");
	told("+a +b +c ");
	leaf_over("b", 0);
	told("-a -c ");
	assert_false(tree.is_over);
	leaf_over("a", 143); /* it was told to: no failure of its own */
	leaf_over("c", 0);
	ends_with(OUTCOME_FAILED, "Codependent step exited");
}

static void test_codependent_tells_the_failure(void **state)
{
	begin("{\"codependent\":{\"actions\":[" RUN("a") "," RUN("b") "]}}");
	leaf_over("a", 5);
	leaf_over("b", 0);
	ends_with(OUTCOME_FAILED, "a failed");
}

#define SIDECARS(setup)              \
	"{\"with_sidecars\":{" setup \
	"\"sidecars\":[" RUN("x") "," RUN("y") "],\"action\":" RUN("m") "}}"
#define SETUP "\"setup\":" RUN("s") ","

static void test_sidecars_begin_after_setup(void **state)
{
	begin(SIDECARS(SETUP));
	told("+s ");
	leaf_over("s", 0);
	told("+m +x +y ");
	leaf_over("m", 3);
	told("!m failed! -x -y ");
	leaf_over("x", 143);
	assert_false(tree.is_over);
	leaf_over("y", 0);
	ends_with(OUTCOME_FAILED, "m failed");
}

static void test_sidecars_without_setup(void **state)
{
	begin(SIDECARS(SETUP));
	told("+s ");
	leaf_over("s", 1);
	told("!s failed! ");
	ends_with(OUTCOME_FAILED, "s failed");
	clean(NULL);
	begin(SIDECARS(SETUP));
	told("+s ");
	tree_cancel(&tree);
	told("-s ");
	leaf_over("s", 0);
	ends_with(OUTCOME_FAILED, "Cancelled");
}

/* The main action's end is that of all, and how it ended is how all has. */
static void test_main_ends_its_sidecars(void **state)
{
	begin(SIDECARS(""));
	told("+m +x +y ");
	leaf_over("m", 0);
	told("-x -y ");
	leaf_over("x", 1);
	leaf_over("y", 1);
	ends_with(OUTCOME_GOOD, NULL);
}

/* Nothing goes on without one of them, even if it ended well. */
static void test_a_sidecar_ends_all(void **state)
{
	is_monitored = true;
	begin(SIDECARS(""));
	told("+m +x +y ");
	leaf_over("y", 0);
	told("-m -x ");
	leaf_over("m", 0);
	leaf_over("x", 0);
	ends_with(OUTCOME_FAILED, "Sidecar exited");
	is_told_as("Sidecar exited (action.with_sidecars.sidecars[1].run)");
	clean(NULL);
	begin(SIDECARS(SETUP));
	leaf_over("s", 0);
	leaf_over("x", 7);
	leaf_over("m", 0);
	leaf_over("y", 0);
	ends_with(OUTCOME_FAILED, "x failed");
	is_told_as("x failed (action.with_sidecars.sidecars[0].run)");
	clean(NULL);
	begin(SIDECARS(SETUP));
	leaf_over("s", 1);
	is_told_as("s failed (action.with_sidecars.setup.run)");
}

static void test_a_monitored_daemon_goes_on(void **state)
{
	is_monitored = true;
	begin(SIDECARS(SETUP));
	assert_false(tree_may_detach(&tree, leaves[0]));
	leaf_over("s", 0);
	assert_true(tree_may_detach(&tree, leaves[1]));
	assert_false(tree_may_detach(&tree, leaves[2]));
	told("+s +m +x +y ");
	leaf_over("m", 0);
	told("");
	leaf_over("x", 0);
	told("-y ");
	leaf_over("y", 0);
	ends_with(OUTCOME_FAILED, "Sidecar exited");
}

static void test_a_daemon_alone(void **state)
{
	is_monitored = true;
	begin("{\"serial\":{\"actions\":[{\"with_sidecars\":{\"action\":{\"try\":{\"action\":" RUN(
	    "m") "}}}}," RUN("b") "]}}");
	assert_true(tree_may_detach(&tree, leaves[0]));
	leaf_over("m", 0);
	told("+m ");
	assert_false(tree.is_over);
	tree_cancel(&tree);
	tree_step(&tree, now);
	ends_with(OUTCOME_FAILED, "Cancelled");
	clean(NULL);
	is_monitored = true;
	begin("{\"timeout\":{\"timeout\":\"30s\",\"action\":{\"with_sidecars\":{\"action\":" RUN(
	    "m") "}}}}");
	leaf_over("m", 0);
	assert_int_equal(tree_due_ms(&tree), 31000);
	tree_step(&tree, now = 31000);
	ends_with(OUTCOME_FAILED, "exceeded 30s timeout");
}

static void test_no_daemon_where_nobody_looks(void **state)
{
	begin("{\"with_sidecars\":{\"action\":" RUN("m") "}}");
	assert_false(tree_may_detach(&tree, leaves[0]));
	leaf_over("m", 0);
	ends_with(OUTCOME_GOOD, NULL);
}

static void test_timeout(void **state)
{
	begin("{\"timeout\":{\"timeout\":\"30s\",\"action\":{\"serial\":{\"actions\":[" RUN(
	    "a") "," RUN("b") "]}}}}");
	told("+a ");
	assert_int_equal(tree_due_ms(&tree), 31000);
	tree_step(&tree, now = 30999);
	told("");
	tree_step(&tree, now = 31000);
	told("-a ");
	assert_int_equal(tree_due_ms(&tree), -1);
	leaf_over("a", 0);
	told("!exceeded 30s timeout! "); /* and b never starts */
	ends_with(OUTCOME_FAILED, "exceeded 30s timeout");
}

static void test_timeout_is_not_late_for_what_is_over(void **state)
{
	begin("{\"timeout\":{\"timeout\":1.5,\"action\":" RUN("a") "}}");
	now = 9000; /* both are true when we wake up */
	leaf_over("a", 0);
	ends_with(OUTCOME_GOOD, NULL);
}

static void test_try_swallows(void **state)
{
	begin("{\"serial\":{\"actions\":[{\"try\":{\"action\":{\"timeout\":{\"timeout\":\"1s\","
	      "\"action\":" RUN("a") "}}}}," RUN("b") "]}}");
	tree_step(&tree, now = 2000);
	leaf_over("a", 1);
	told("+a -a !exceeded 1s timeout! !Ignored: exceeded 1s timeout! +b ");
	leaf_over("b", 0);
	ends_with(OUTCOME_GOOD, NULL);
}

static void test_progress(void **state)
{
	begin("{\"serial\":{\"actions\":[{\"emit_progress\":{\"action\":" RUN(
	    "a") ",\"start_message\":\"begin\",\"success_message\":\"done\"}},"
	         "{\"emit_progress\":{\"action\":" RUN(
	             "b") ",\"success_message\":\"never\",\"failure_message_prefix\":\"Oh\"}}]}}");
	leaf_over("a", 0);
	told("'begin' +a 'done' +b ");
	leaf_over("b", 1);
	told("!b failed! !Oh: b failed! ");
	ends_with(OUTCOME_FAILED, "b failed");
}

static void test_cancel_ends_everything(void **state)
{
	begin("{\"parallel\":{\"actions\":[" RUN("a") ",{\"serial\":{\"actions\":[" RUN(
	    "b") "," RUN("c") "]}},{\"try\":{\"action\":" RUN("d") "}}]}}");
	leaf_over("a", 1);
	told("+a +b +d !a failed! ");
	tree_cancel(&tree);
	told("-b -d ");
	tree_cancel(&tree);
	told("");
	leaf_over("b", 0);
	leaf_over("d", 1);
	told(""); /* c does not start, d is not ignored */
	ends_with(OUTCOME_FAILED, "Cancelled");
	assert_int_equal(tree_outcome(&tree).exit_code, 1);
}

static void test_cancel_too_late(void **state)
{
	begin(RUN("a"));
	tree_leaf_over(&tree, leaves[0], (struct outcome){.kind = OUTCOME_GOOD});
	tree_cancel(&tree);
	tree_step(&tree, now);
	told("+a ");
	ends_with(OUTCOME_GOOD, NULL);
}

/* Log sources are those of the nearest node around that has one. */
static void test_log_source(void **state)
{
	begin("{\"serial\":{\"log_source\":\"out\",\"actions\":[" RUN(
	    "a") ",{\"try\":{\"log_source\":\"in\",\"action\":" RUN("b") "}}]}}");
	leaf_over("a", 0);
	assert_true(str_is(leaves[0]->log_source, "out"));
	assert_true(str_is(leaves[1]->log_source, "in"));
}

static void test_the_failed_step_is_named(void **state)
{
	begin(RUN("a"));
	leaf_over("a", 1);
	is_told_as("a failed");
	clean(state);
	begin("{\"serial\":{\"actions\":[" RUN("a") "," RUN("b") "]}}");
	leaf_over("a", 0);
	leaf_over("b", 1);
	told("+a +b !b failed! ");
	ends_with(OUTCOME_FAILED, "b failed");
	is_told_as("b failed (action.serial.actions[1].run)");
}

static void test_each_failed_step_is_named(void **state)
{
	begin("{\"parallel\":{\"actions\":[" RUN("a") "," RUN(
	    "b") ",{\"timeout\":{\"timeout\":\"1s\","
	         "\"action\":" RUN("c") "}}]}}");
	leaf_over("a", 1);
	leaf_over("b", 0);
	tree_step(&tree, now += 1000);
	leaf_over("c", 0);
	ends_with(OUTCOME_FAILED, "a failed; exceeded 1s timeout");
	is_told_as("a failed (action.parallel.actions[0].run); "
	           "exceeded 1s timeout (action.parallel.actions[2].timeout)");
}

static void test_the_codependent_step_that_ended_is_named(void **state)
{
	begin("{\"codependent\":{\"actions\":[" RUN("a") "," RUN("b") "]}}");
	leaf_over("b", 0);
	leaf_over("a", 0);
	ends_with(OUTCOME_FAILED, "Codependent step exited");
	is_told_as("Codependent step exited (action.codependent.actions[1].run)");
}

static void begin_many(const char *kind)
{
	struct buf b = {0};

	buf_printf(&b, "{\"%s\":{\"actions\":[", kind);
	for (int i = 0; i < (ACTION_NODES_MAX - 1) / 2; i++)
		buf_printf(&b, "%s{\"try\":{\"action\":" RUN("a") "}}", i ? "," : "");
	buf_add_cstr(&b, "]}}");
	begin(b.p);
	buf_release(&b);
}

/* Failures at the start are no recursion, and what they say stays short. */
static void test_many_that_fail_at_once(void **state)
{
	fail_at_start = true;
	begin_many("serial");
	ends_with(OUTCOME_GOOD, NULL);
	assert_int_equal(n_leaves, (ACTION_NODES_MAX - 1) / 2);
}

static void test_merged_failures_are_bounded(void **state)
{
	struct buf b = {0};

	buf_add_cstr(&b, "{\"parallel\":{\"actions\":[");
	for (int i = 0; i < ACTION_NODES_MAX - 1; i++)
		buf_printf(&b, "%s" RUN("program"), i ? "," : "");
	buf_add_cstr(&b, "]}}");
	begin(b.p);
	buf_release(&b);
	for (size_t i = 0; i < n_leaves; i++)
		tree_leaf_over(&tree, leaves[i],
		    (struct outcome){OUTCOME_FAILED, 1, "Exited with signal 9 (SIGKILL)", NULL});
	tree_step(&tree, now);
	ends_with(OUTCOME_FAILED, NULL);
	assert_in_range(strlen(tree_outcome(&tree).text), 1000, 3000);
}

static unsigned node(unsigned from, unsigned to)
{
	struct node n = {.state = from};

	node_move(&n, to);
	return n.state;
}

static void test_what_the_table_allows_goes_through_the_door(void **state)
{
	walk(&node_moves, node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(test_run, clean),
	    cmocka_unit_test_teardown(test_serial_goes_on_until_the_first_failure, clean),
	    cmocka_unit_test_teardown(test_serial_succeeds, clean),
	    cmocka_unit_test_teardown(test_parallel_waits_for_all_and_merges, clean),
	    cmocka_unit_test_teardown(test_codependent_ends_all_with_the_first, clean),
	    cmocka_unit_test_teardown(test_codependent_tells_the_failure, clean),
	    cmocka_unit_test_teardown(test_sidecars_begin_after_setup, clean),
	    cmocka_unit_test_teardown(test_sidecars_without_setup, clean),
	    cmocka_unit_test_teardown(test_main_ends_its_sidecars, clean),
	    cmocka_unit_test_teardown(test_a_sidecar_ends_all, clean),
	    cmocka_unit_test_teardown(test_a_monitored_daemon_goes_on, clean),
	    cmocka_unit_test_teardown(test_a_daemon_alone, clean),
	    cmocka_unit_test_teardown(test_no_daemon_where_nobody_looks, clean),
	    cmocka_unit_test_teardown(test_timeout, clean),
	    cmocka_unit_test_teardown(test_timeout_is_not_late_for_what_is_over, clean),
	    cmocka_unit_test_teardown(test_try_swallows, clean),
	    cmocka_unit_test_teardown(test_progress, clean),
	    cmocka_unit_test_teardown(test_cancel_ends_everything, clean),
	    cmocka_unit_test_teardown(test_cancel_too_late, clean),
	    cmocka_unit_test_teardown(test_log_source, clean),
	    cmocka_unit_test_teardown(test_the_failed_step_is_named, clean),
	    cmocka_unit_test_teardown(test_each_failed_step_is_named, clean),
	    cmocka_unit_test_teardown(test_the_codependent_step_that_ended_is_named, clean),
	    cmocka_unit_test_teardown(test_many_that_fail_at_once, clean),
	    cmocka_unit_test_teardown(test_merged_failures_are_bounded, clean),
	    cmocka_unit_test(test_what_the_table_allows_goes_through_the_door),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	arena_release(&arena);
	return failed;
}
