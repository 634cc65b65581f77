/* SPDX-License-Identifier: Apache-2.0 */
/* The object `run`: what is said arrives, objects lie over each other, and nothing else passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "wire/json/json_in.h"
#include "wire/json/settings.h"

static struct arena arena;
static struct problem problem;
static struct run_settings got;

static int merge(const char *queue, const char *task)
{
	arena_reset(&arena);
	problem = (struct problem){0};
	return settings_merge(str_of(queue), str_of(task), &arena, &got, &problem);
}

static void good(const char *queue, const char *task)
{
	if (merge(queue, task))
		fail_msg("%s: %s", problem.field, problem.what);
}

static void test_nothing(void **state)
{
	struct run_settings plain;

	run_settings_default(&plain);
	good(NULL, NULL);
	assert_memory_equal(&got, &plain, sizeof plain);
	good("{}", "{}");
	assert_memory_equal(&got, &plain, sizeof plain);
}

static void test_everything(void **state)
{
	good(NULL, "{\"user\":\"alice\",\"group\":\"g\",\"groups\":[\"x\",\"y\"],\"nice\":-5,"
	           "\"umask\":\"027\",\"parent_death_signal\":\"term\",\"process_group\":false,"
	           "\"no_new_privs\":false,\"capabilities\":[\"net_bind_service\"],"
	           "\"result_file\":\"out/result\",\"status_file\":true,\"input\":\"a\\nb\","
	           "\"output\":{\"policy\":\"drop\",\"spool\":\"64M\"}}");
	assert_true(str_is(got.user, "alice") && str_is(got.group, "g"));
	assert_true(got.n_groups == 2 && str_is(got.groups[1], "y"));
	assert_int_equal(got.nice, -5);
	assert_int_equal(got.umask, 027);
	assert_int_equal(got.death_signal, DEATH_TERM);
	assert_true(got.same_group && got.new_privs && got.status_file);
	assert_true(got.n_capabilities == 1 && str_is(got.capabilities[0], "net_bind_service"));
	assert_true(str_is(got.result_file, "out/result") && str_is(got.input, "a\nb"));
	assert_int_equal(got.output_policy, OUTPUT_DROP);
	assert_int_equal(got.spool, 64 << 20);
}

static void test_limits_and_kill(void **state)
{
	good(NULL, "{\"limits\":{\"memory\":\"512M\",\"cpu\":1.5,\"pids\":100,\"open_files\":1024,"
	           "\"file_size\":\"1G\",\"core_size\":0,\"stack_size\":8192,"
	           "\"cpu_time\":\"1500ms\",\"policy\":\"warn\"},"
	           "\"kill\":{\"method\":\"kill\",\"wait\":\"10s\",\"to\":\"group\"}}");
	assert_int_equal(got.limits.memory, 512 << 20);
	assert_int_equal(got.limits.cpu_milli, 1500);
	assert_int_equal(got.limits.pids, 100);
	assert_int_equal(got.limits.open_files, 1024);
	assert_int_equal(got.limits.file_size, 1 << 30);
	assert_int_equal(got.limits.core_size, 0);
	assert_int_equal(got.limits.stack_size, 8192);
	assert_int_equal(got.limits.cpu_seconds, 2);
	assert_int_equal(got.limits.policy, LIMIT_WARN);
	assert_int_equal(got.kill.method, KILL_KILL);
	assert_int_equal(got.kill.wait_ms, 10000);
	assert_int_equal(got.kill.to, KILL_TO_GROUP);
}

static void test_sandbox(void **state)
{
	good(NULL, "{\"sandbox\":true}");
	assert_true(got.sandbox.on && !got.sandbox.network && !got.sandbox.no_seccomp);
	good("{\"sandbox\":{\"network\":true,\"rootfs\":\"/r\",\"writable\":[\"/a\",\"/b\"],"
	     "\"readable\":[\"/c\"],\"seccomp\":false}}",
	    "{\"sandbox\":{\"writable\":[]}}");
	assert_true(got.sandbox.on && got.sandbox.network && got.sandbox.no_seccomp);
	assert_true(str_is(got.sandbox.rootfs, "/r") && str_is(got.sandbox.readable[0], "/c"));
	assert_int_equal(got.sandbox.n_writable, 0);
	good(NULL, "{\"sandbox\":false}");
	assert_false(got.sandbox.on);
}

static void test_checks(void **state)
{
	good(NULL, "{\"check\":{\"http\":8080,\"interval\":\"5s\",\"unhealthy_after\":3}}");
	assert_int_equal(got.check.kind, CHECK_HTTP);
	assert_int_equal(got.check.port, 8080);
	assert_true(str_is(got.check.path, "/") && str_is(got.check.host, "127.0.0.1"));
	assert_int_equal(got.check.interval_ms, 5000);
	assert_int_equal(got.check.unhealthy_after, 3);
	good("{\"check\":{\"tcp\":1,\"timeout\":\"3s\"}}",
	    "{\"check\":{\"command\":[\"ok\",\"\"]}}");
	assert_int_equal(got.check.kind, CHECK_COMMAND);
	assert_true(got.check.n_command == 2 && str_is(got.check.command[0], "ok"));
	assert_int_equal(got.check.timeout_ms, 3000);
	good("{\"check\":{\"http\":1}}", "{\"check\":{\"path\":\"/health\"}}");
	assert_true(str_is(got.check.path, "/health"));
	good("{\"check\":{\"http\":1}}", "{\"check\":null}");
	assert_int_equal(got.check.kind, CHECK_NONE);
	good(NULL, "{\"check\":{\"tcp\":\"$PORT2\"}}");
	assert_true(got.check.port == 0 && got.check.given_port == 3);
	good("{\"check\":{\"tcp\":\"$PORT\"}}", "{\"check\":{\"tcp\":80}}");
	assert_true(got.check.port == 80 && got.check.given_port == 0);
}

static void test_checks_apart(void **state)
{
	struct run_checks c;

	good("{\"check\":{\"http\":1,\"start_timeout\":\"5s\"}}",
	    "{\"checks\":{\"liveness\":{\"tcp\":2,\"interval\":\"7s\"},"
	    "\"readiness\":{\"http\":3,\"path\":\"/ready\",\"healthy_after\":2}}}");
	c = run_checks_of(&got);
	assert_true(c.startup.kind == CHECK_HTTP && c.startup.start_timeout_ms == 5000);
	assert_true(c.liveness.kind == CHECK_TCP && c.liveness.port == 2);
	assert_int_equal(c.liveness.interval_ms, 7000);
	assert_true(c.readiness.kind == CHECK_HTTP && str_is(c.readiness.path, "/ready"));
	assert_true(c.readiness.interval_ms == 5000 && c.readiness.healthy_after == 2);
	good("{\"checks\":{\"startup\":{\"tcp\":1,\"interval\":\"1s\"}}}",
	    "{\"checks\":{\"startup\":{\"start_timeout\":0},\"readiness\":null}}");
	c = run_checks_of(&got);
	assert_true(c.startup.kind == CHECK_TCP && c.startup.start_timeout_ms == 0);
	assert_int_equal(c.startup.start_interval_ms, 1000);
	assert_true(c.liveness.kind == CHECK_NONE && c.readiness.kind == CHECK_NONE);
	good("{\"checks\":{\"startup\":{\"tcp\":1}}}", "{\"checks\":{\"startup\":null}}");
	assert_int_equal(run_checks_of(&got).startup.kind, CHECK_NONE);
	good("{\"checks\":{\"readiness\":{\"tcp\":1}}}", "{\"checks\":null}");
	assert_int_equal(run_checks_of(&got).readiness.kind, CHECK_NONE);
}

/* The task's member wins; what it does not name stays; null takes it back. */
static void test_over_each_other(void **state)
{
	good("{\"user\":\"q\",\"nice\":3,\"limits\":{\"memory\":\"1G\",\"pids\":5},"
	     "\"capabilities\":\"all\",\"output\":{\"spool\":4096}}",
	    "{\"nice\":null,\"limits\":{\"memory\":\"500M\"},\"capabilities\":null,\"output\":"
	    "null}");
	assert_true(str_is(got.user, "q"));
	assert_int_equal(got.nice, NICE_UNSET);
	assert_int_equal(got.limits.memory, 500LL << 20);
	assert_int_equal(got.limits.pids, 5);
	assert_false(got.keep_capabilities);
	assert_int_equal(got.spool, -1);
	good("{\"groups\":[\"x\"]}", "{\"groups\":null}");
	assert_true(got.n_groups == 0 && !got.groups);
	good("{\"kill\":{\"wait\":\"7s\"}}", "{\"kill\":null}");
	assert_int_equal(got.kill.wait_ms, -1);
}

/* A task may ask for less than its queue gives, never for more. */
static void test_limits_bind(void **state)
{
	const char *queue = "{\"limits\":{\"memory\":\"1G\",\"cpu\":2,\"pids\":50,"
	                    "\"open_files\":100,\"core_size\":0,\"cpu_time\":\"1m\"}}";

	good(queue, "{\"limits\":{\"memory\":\"2G\",\"cpu\":0,\"pids\":null,\"open_files\":200,"
	            "\"core_size\":5,\"cpu_time\":\"2m\",\"policy\":\"warn\"}}");
	assert_int_equal(got.limits.memory, 1LL << 30);
	assert_int_equal(got.limits.cpu_milli, 2000);
	assert_int_equal(got.limits.pids, 50);
	assert_int_equal(got.limits.open_files, 100);
	assert_int_equal(got.limits.core_size, 0);
	assert_int_equal(got.limits.cpu_seconds, 60);
	assert_int_equal(got.limits.policy, LIMIT_REFUSE);
	good(queue, "{\"limits\":{\"memory\":\"1M\",\"cpu\":0.5,\"pids\":5,\"file_size\":9}}");
	assert_int_equal(got.limits.memory, 1 << 20);
	assert_int_equal(got.limits.cpu_milli, 500);
	assert_int_equal(got.limits.pids, 5);
	assert_int_equal(got.limits.file_size, 9);
	good(queue, "{\"limits\":null}");
	assert_int_equal(got.limits.memory, 1LL << 30);
	assert_int_equal(got.limits.open_files, 100);
	/* a limit of its own it may have as it likes */
	good("{\"limits\":{\"core_size\":0}}",
	    "{\"limits\":{\"memory\":\"1M\",\"policy\":\"warn\"}}");
	assert_int_equal(got.limits.policy, LIMIT_WARN);
}

static void test_sandbox_binds(void **state)
{
	const char *queue =
	    "{\"sandbox\":{\"rootfs\":\"/r\",\"writable\":[\"/a\",\"/b\"],\"readable\":[\"/c\"]}}";

	good(queue, "{\"sandbox\":false}");
	assert_true(got.sandbox.on && str_is(got.sandbox.rootfs, "/r"));
	assert_int_equal(got.sandbox.n_writable, 2);
	good(queue, "{\"sandbox\":null}");
	assert_true(got.sandbox.on && got.sandbox.n_writable == 2);
	good(queue, "{\"sandbox\":{\"network\":true,\"seccomp\":false,\"rootfs\":null}}");
	assert_true(got.sandbox.on && !got.sandbox.network && !got.sandbox.no_seccomp);
	assert_true(str_is(got.sandbox.rootfs, "/r"));
	good(queue, "{\"sandbox\":{\"writable\":[\"/b\"],\"readable\":[\"/a\"]}}");
	assert_true(got.sandbox.n_writable == 1 && str_is(got.sandbox.writable[0], "/b"));
	assert_true(got.sandbox.n_readable == 1 && str_is(got.sandbox.readable[0], "/a"));
	/* on by the task, off or narrower by the queue's wish for more */
	good("{\"sandbox\":{\"network\":true,\"seccomp\":false}}",
	    "{\"sandbox\":{\"network\":false,\"seccomp\":true}}");
	assert_true(got.sandbox.on && !got.sandbox.network && !got.sandbox.no_seccomp);
	good("{\"sandbox\":false}", "{\"sandbox\":{\"writable\":[\"/x\"]}}");
	assert_true(got.sandbox.on && got.sandbox.n_writable == 1);
}

static void test_sandbox_is_not_widened(void **state)
{
	static const char *const wider[][2] = {{"{\"writable\":[\"/a\",\"/x\"]}", "writable"},
	    {"{\"writable\":[\"/a/below\"]}", "writable"}, {"{\"writable\":[\"/c\"]}", "writable"},
	    {"{\"readable\":[\"/x\"]}", "readable"}, {"{\"rootfs\":\"/x\"}", "rootfs"}};

	for (size_t i = 0; i < sizeof wider / sizeof wider[0]; i++) {
		char task[128], field[64];

		snprintf(task, sizeof task, "{\"sandbox\":%s}", wider[i][0]);
		snprintf(field, sizeof field, "run.sandbox.%s", wider[i][1]);
		assert_int_equal(
		    merge("{\"sandbox\":{\"writable\":[\"/a\"],\"readable\":[\"/c\"]}}", task),
		    ERR_INVALID);
		assert_string_equal(problem.field, field);
		assert_non_null(strstr(problem.what, "wider than the sandbox of the queue"));
	}
}

static void test_no_capabilities(void **state)
{
	good(NULL, "{\"capabilities\":[]}");
	assert_true(got.limit_capabilities && !got.keep_capabilities && got.n_capabilities == 0);
	good("{\"capabilities\":[]}", "{\"capabilities\":null}");
	assert_false(got.limit_capabilities);
	good("{\"capabilities\":[]}", "{\"capabilities\":\"all\"}");
	assert_true(got.keep_capabilities && !got.limit_capabilities);
}

static const struct {
	const char *text, *field;
} bad[] = {
    {"{\"usr\":\"a\"}", "run.usr"},
    {"{\"user\":1}", "run.user"},
    {"{\"user\":\"\"}", "run.user"},
    {"{\"user\":\"a\\nb\"}", "run.user"},
    {"{\"groups\":\"a\"}", "run.groups"},
    {"{\"groups\":[\"a\",1]}", "run.groups[1]"},
    {"{\"groups\":[\"\"]}", "run.groups[0]"},
    {"{\"nice\":20}", "run.nice"},
    {"{\"nice\":1.5}", "run.nice"},
    {"{\"umask\":27}", "run.umask"},
    {"{\"umask\":\"\"}", "run.umask"},
    {"{\"umask\":\"8\"}", "run.umask"},
    {"{\"umask\":\"1777\"}", "run.umask"},
    {"{\"umask\":\"00027\"}", "run.umask"},
    {"{\"parent_death_signal\":\"hup\"}", "run.parent_death_signal"},
    {"{\"process_group\":1}", "run.process_group"},
    {"{\"capabilities\":\"none\"}", "run.capabilities"},
    {"{\"limits\":{\"open_files\":0}}", "run.limits.open_files"},
    {"{\"limits\":{\"open_files\":3}}", "run.limits.open_files"},
    {"{\"output\":{\"spool\":1}}", "run.output.spool"},
    {"{\"output\":{\"spool\":4095}}", "run.output.spool"},
    {"{\"capabilities\":[\"net_bind\"]}", "run.capabilities"},
    {"{\"limits\":[]}", "run.limits"},
    {"{\"limits\":{\"memroy\":1}}", "run.limits.memroy"},
    {"{\"limits\":{\"memory\":\"lots\"}}", "run.limits.memory"},
    {"{\"limits\":{\"memory\":-1}}", "run.limits.memory"},
    {"{\"limits\":{\"memory\":1.5}}", "run.limits.memory"},
    {"{\"limits\":{\"memory\":\"9999999999G\"}}", "run.limits.memory"},
    {"{\"limits\":{\"cpu\":-1}}", "run.limits.cpu"},
    {"{\"limits\":{\"cpu\":1e9}}", "run.limits.cpu"},
    {"{\"limits\":{\"cpu\":\"2\"}}", "run.limits.cpu"},
    {"{\"limits\":{\"pids\":-1}}", "run.limits.pids"},
    {"{\"limits\":{\"cpu_time\":0}}", "run.limits.cpu_time"},
    {"{\"limits\":{\"policy\":\"maybe\"}}", "run.limits.policy"},
    {"{\"kill\":{\"method\":\"hup\"}}", "run.kill.method"},
    {"{\"kill\":{\"wait\":\"soon\"}}", "run.kill.wait"},
    {"{\"kill\":{\"to\":\"group\"},\"process_group\":false}", "run.kill.to"},
    {"{\"sandbox\":1}", "run.sandbox"},
    {"{\"sandbox\":{\"rootfs\":\"r\"}}", "run.sandbox.rootfs"},
    {"{\"sandbox\":{\"writable\":[\"/a\",\"b\"]}}", "run.sandbox.writable[1]"},
    {"{\"sandbox\":{\"on\":true}}", "run.sandbox.on"},
    {"{\"check\":{}}", "run.check"},
    {"{\"check\":true}", "run.check"},
    {"{\"check\":{\"tcp\":1,\"http\":2}}", "run.check"},
    {"{\"check\":{\"tcp\":null}}", "run.check"},
    {"{\"check\":{\"tcp\":0}}", "run.check.tcp"},
    {"{\"check\":{\"tcp\":65536}}", "run.check.tcp"},
    {"{\"check\":{\"tcp\":1,\"path\":\"/\"}}", "run.check"},
    {"{\"check\":{\"command\":[\"x\"],\"host\":\"h\"}}", "run.check"},
    {"{\"check\":{\"command\":[]}}", "run.check.command"},
    {"{\"check\":{\"command\":[\"\"]}}", "run.check.command"},
    {"{\"check\":{\"http\":1,\"path\":\"x\"}}", "run.check.path"},
    {"{\"check\":{\"http\":1,\"path\":\"/a b\"}}", "run.check.path"},
    {"{\"check\":{\"http\":1,\"host\":\"a b\"}}", "run.check.host"},
    {"{\"check\":{\"tcp\":1,\"interval\":0}}", "run.check.interval"},
    {"{\"check\":{\"tcp\":1,\"timeout\":0}}", "run.check.timeout"},
    {"{\"check\":{\"tcp\":1,\"healthy_after\":0}}", "run.check.healthy_after"},
    {"{\"check\":{\"tcp\":\"8080\"}}", "run.check.tcp"},
    {"{\"check\":{\"tcp\":\"$PORT-1\"}}", "run.check.tcp"},
    {"{\"check\":{\"http\":\"$PORT64\"}}", "run.check.http"},
    {"{\"checks\":[]}", "run.checks"},
    {"{\"checks\":{\"alive\":{\"tcp\":1}}}", "run.checks.alive"},
    {"{\"checks\":{\"startup\":{}}}", "run.checks.startup"},
    {"{\"checks\":{\"startup\":{\"tcp\":1,\"unhealthy_after\":2}}}",
        "run.checks.startup.unhealthy_after"},
    {"{\"checks\":{\"liveness\":{\"tcp\":1,\"start_timeout\":2}}}",
        "run.checks.liveness.start_timeout"},
    {"{\"checks\":{\"readiness\":{\"tcp\":1,\"path\":\"/\"}}}", "run.checks.readiness"},
    {"{\"checks\":{\"readiness\":{\"tcp\":0}}}", "run.checks.readiness.tcp"},
    {"{\"result_file\":\"\"}", "run.result_file"},
    {"{\"status_file\":\"yes\"}", "run.status_file"},
    {"{\"input\":7}", "run.input"},
    {"{\"output\":{\"policy\":\"keep\"}}", "run.output.policy"},
    {"{\"output\":{\"spool\":\"-1\"}}", "run.output.spool"},
    {"[]", "run"},
    {"3", "run"},
};

static void test_bad(void **state)
{
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (merge(NULL, bad[i].text) != ERR_INVALID)
			fail_msg("%s was taken", bad[i].text);
		assert_string_equal(problem.field, bad[i].field);
		assert_true(problem.what[0] != 0);
	}
	assert_int_equal(merge("{\"process_group\":false}", "{\"kill\":{\"to\":\"group\"}}"),
	    ERR_INVALID); /* each alone would do */
}

static void test_hints(void **state)
{
	merge(NULL, "{\"limits\":{\"memroy\":1}}");
	assert_string_equal(problem.hint, "did you mean \"memory\"?");
	merge(NULL, "{\"kill\":{\"method\":\"trem\"}}");
	assert_string_equal(problem.hint, "did you mean \"term\"?");
	assert_non_null(strstr(problem.what, "term_wait_kill, term or kill is expected"));
	merge(NULL, "{\"capabilities\":[\"net_bind_servic\"]}");
	assert_string_equal(problem.hint, "did you mean \"net_bind_service\"?");
	merge(NULL, "{\"check\":{\"tcp\":1,\"interval\":\"1ms\"}}");
	assert_non_null(strstr(problem.what, "at least 100ms"));
}

static void test_bounds(void **state)
{
	AUTO(free_cstr) char *text = xcalloc(1, RUN_INPUT_MAX + 2);
	json_t *v = json_object();

	memset(text, 'x', RUN_INPUT_MAX);
	json_object_set_new(v, "input", json_string(text));
	run_settings_default(&got);
	assert_int_equal(settings_parse(v, &arena, &got, &problem), 0);
	assert_int_equal(got.input.n, RUN_INPUT_MAX);
	text[RUN_INPUT_MAX] = 'x';
	json_object_set_new(v, "input", json_string(text));
	assert_int_equal(settings_parse(v, &arena, &got, &problem), ERR_INVALID);
	assert_string_equal(problem.field, "run.input");
	json_object_clear(v);
	json_object_set_new(v, "groups", json_array());
	for (int i = 0; i < 65; i++)
		json_array_append_new(json_object_get(v, "groups"), json_string("g"));
	assert_int_equal(settings_parse(v, &arena, &got, &problem), ERR_INVALID);
	assert_string_equal(problem.field, "run.groups");
	json_decref(v);
}

static int teardown(void **state)
{
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_nothing),
	    cmocka_unit_test(test_everything),
	    cmocka_unit_test(test_limits_and_kill),
	    cmocka_unit_test(test_sandbox),
	    cmocka_unit_test(test_limits_bind),
	    cmocka_unit_test(test_sandbox_binds),
	    cmocka_unit_test(test_sandbox_is_not_widened),
	    cmocka_unit_test(test_no_capabilities),
	    cmocka_unit_test(test_checks),
	    cmocka_unit_test(test_checks_apart),
	    cmocka_unit_test(test_over_each_other),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_hints),
	    cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
