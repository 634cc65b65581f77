/* SPDX-License-Identifier: Apache-2.0 */
/* A table of moves: what it has is allowed, what it has not ends the process with its name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../walk.h"

enum lamp_state { LAMP_OFF, LAMP_ON, LAMP_BROKEN };

static const struct moves lamp_moves = {
    "lamp",
    {[LAMP_OFF] = "off", [LAMP_ON] = "on", [LAMP_BROKEN] = "broken"},
    {
        {LAMP_OFF, LAMP_ON, "the switch"},
        {LAMP_ON, LAMP_OFF, "the switch"},
        {LAMP_ON, LAMP_ON, "more of it"},
        {LAMP_ON, LAMP_BROKEN, "age"},
    },
};

static unsigned lamp_move(unsigned from, unsigned to)
{
	return moves_make(&lamp_moves, from, to);
}

static void test_allowed_is_what_the_table_has(void **state)
{
	assert_int_equal(moves_count(&lamp_moves), 3);
	assert_true(moves_allowed(&lamp_moves, LAMP_OFF, LAMP_ON));
	assert_true(moves_allowed(&lamp_moves, LAMP_ON, LAMP_OFF));
	assert_true(moves_allowed(&lamp_moves, LAMP_ON, LAMP_ON));
	assert_true(moves_allowed(&lamp_moves, LAMP_ON, LAMP_BROKEN));
	assert_false(moves_allowed(&lamp_moves, LAMP_OFF, LAMP_BROKEN));
	assert_false(moves_allowed(&lamp_moves, LAMP_BROKEN, LAMP_OFF));
}

static void test_numbers_that_are_no_states_lead_nowhere(void **state)
{
	assert_false(moves_allowed(&lamp_moves, 3, LAMP_OFF));
	assert_false(moves_allowed(&lamp_moves, MOVES_STATES_MAX, LAMP_OFF));
	assert_false(moves_allowed(&lamp_moves, UINT32_MAX, LAMP_OFF));
	assert_false(moves_allowed(&lamp_moves, LAMP_ON, 3));
	assert_false(moves_allowed(&lamp_moves, LAMP_ON, UINT32_MAX));
}

static void test_a_move_is_made_or_ends_the_process(void **state)
{
	walk(&lamp_moves, lamp_move);
}

/* The child's stderr is read through a pipe. */
static void test_the_end_names_the_machine_and_both_states(void **state)
{
	char text[256] = "";
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = {0, 0};

		setrlimit(RLIMIT_CORE, &none);
		dup2(fds[1], STDERR_FILENO);
		lamp_move(LAMP_BROKEN, LAMP_ON);
		_exit(0);
	}
	close(fds[1]);
	for (size_t n = 0; n < sizeof text - 1; n++)
		if (read(fds[0], text + n, 1) != 1)
			break;
	close(fds[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_non_null(strstr(text, "lamp: from broken (2) to on (1) is no move"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_allowed_is_what_the_table_has),
	    cmocka_unit_test(test_numbers_that_are_no_states_lead_nowhere),
	    cmocka_unit_test(test_a_move_is_made_or_ends_the_process),
	    cmocka_unit_test(test_the_end_names_the_machine_and_both_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
