/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation helpers, and that a broken MUST really ends the process with its place named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static void test_zero_sizes(void **state)
{
	void *p = xmalloc(0), *q = xcalloc(0, 0);

	assert_non_null(p);
	assert_non_null(q);
	p = xrealloc(p, 0);
	assert_non_null(p);
	free(p);
	free(q);
}

static void test_strings(void **state)
{
	AUTO(free_cstr) char *a = xstrdup("one");
	AUTO(free_cstr) char *b = xstrndup("two three", 3);
	AUTO(free_cstr) char *c = xasprintf("%s+%s", a, b);

	assert_string_equal(c, "one+two");
}

static void test_grow_keeps_contents(void **state)
{
	int *v = NULL;
	size_t cap = 0;

	for (size_t i = 0; i < 10000; i++) {
		GROW(v, cap, i + 1);
		assert_true(cap > i);
		v[i] = (int)i;
	}
	for (size_t i = 0; i < 10000; i++)
		assert_int_equal(v[i], (int)i);
	free(v);
}

static char *make(void)
{
	AUTO(free_cstr) char *s = xstrdup("handed over");

	return TAKE(s);
}

static void test_take(void **state)
{
	char *s = make();

	assert_string_equal(s, "handed over");
	free(s);
}

static void break_must(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	MUST(1 + 1 == 3);
}

/* Runs break_must in a child with its stderr in a pipe. */
static void test_must_says_where(void **state)
{
	char text[512] = "";
	int fds[2], status;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		break_must();
		_exit(0);
	}
	close(fds[1]);
	while ((got = read(fds[0], text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)got;
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	assert_non_null(strstr(text, "test_mem.c:"));
	assert_non_null(strstr(text, "1 + 1 == 3"));
	assert_non_null(strstr(text, "break_must"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_zero_sizes),
	    cmocka_unit_test(test_strings),
	    cmocka_unit_test(test_grow_keeps_contents),
	    cmocka_unit_test(test_take),
	    cmocka_unit_test(test_must_says_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
