/* SPDX-License-Identifier: Apache-2.0 */
/* A whole worker, a process of its own, against a server that the test plays. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "fake_server.h"
#include "model/lines.h"
#include "model/objects/queue.h"

static struct fake f;
static struct plugin_options plugins[8];
static const char *argvs[8][2];
static char paths[8][512];
static size_t n_plugins;
static int64_t hello_wait_ms; /* 0: as usual */
static int64_t spool_bytes;

static void add_plugin(const char *variable, const char *file, enum plugin_mode mode)
{
	const char *dir = getenv(variable);

	assert_non_null(dir);
	snprintf(paths[n_plugins], sizeof paths[0], "%s/%s", dir, file);
	argvs[n_plugins][0] = paths[n_plugins];
	plugins[n_plugins] = (struct plugin_options){
	    .name = file, .exec = argvs[n_plugins], .mode = mode, .processes = 1};
	n_plugins++;
}

static int setup(void **state)
{
	fake_open(&f);
	n_plugins = 0;
	hello_wait_ms = 0;
	spool_bytes = 0;
	add_plugin("PLUGINS", "once.py", PLUGIN_ONCE);
	add_plugin("PLUGINS", "persistent.py", PLUGIN_PERSISTENT);
	add_plugin("PLUGINS", "broken.py", PLUGIN_PERSISTENT);
	add_plugin("BUILT_PLUGINS", "plugin-noop", PLUGIN_PERSISTENT);
	add_plugin("BUILT_PLUGINS", "plugin-once", PLUGIN_ONCE);
	add_plugin("BUILT_PLUGINS", "plugin-persistent", PLUGIN_PERSISTENT);
	return 0;
}

static void start_worker(void)
{
	static const char *const labels[] = {"b=2", "a=1", NULL};
	struct worker_options o = {.plugins = plugins,
	    .n_plugins = n_plugins,
	    .labels = labels,
	    .term_wait_ms = 300,
	    .hello_wait_ms = hello_wait_ms,
	    .spool_bytes = spool_bytes};

	fake_worker(&f, o);
	f.n_checked = 0;
	fake_until(&f, has_hellos, 1);
	fake_until(&f, has_checked, 1); /* it is healthy once it hears the answer to that */
}

static void stop_worker(int want)
{
	kill(f.worker, SIGTERM);
	if (f.link)
		fake_until(&f, is_leaving, 0);
	while (f.link) /* its acknowledgements */
		loop_run(f.loop);
	assert_int_equal(fake_wait_worker(&f), want);
}

static int teardown(void **state)
{
	fake_close(&f);
	return 0;
}

static void run_sh(rid task, const char *script)
{
	char *body =
	    xasprintf("{\"command\":[\"sh\",\"-c\",\"%s\"],\"env\":{\"B\":\"task\"}}", script);

	fake_run(&f, (struct link_run){.task = task,
	                 .body = str_of(body),
	                 .env = STR("{\"A\":\"queue\",\"B\":\"queue\"}")});
	free(body);
}

static void run_plugin(rid task, const char *plugin, const char *params)
{
	char *body = xasprintf("{\"params\":%s}", params);

	fake_run(
	    &f, (struct link_run){.task = task, .body = str_of(body), .plugin = str_of(plugin)});
	free(body);
}

static void assert_str(struct str got, const char *want)
{
	char *text = xstrndup(got.p ? got.p : "", got.n);

	assert_string_equal(text, want);
	free(text);
}

static void test_commands(void **state)
{
	struct link_ended *e;

	start_worker();
	assert_str(f.hello->facts.shard, "tested");
	assert_str(f.hello->facts.labels, "a=1\nb=2\n");
	assert_true(lines_has(f.hello->facts.plugins, STR("command")));
	assert_true(lines_has(f.hello->facts.plugins, STR("once.py")));
	assert_int_equal(f.hello->n_tasks, 0);
	run_sh(1,
	    "echo $A $B $REEVE_TASK_ID $REEVE_ATTEMPT $REEVE_TASK_QUEUE $REEVE_WORKER; echo no "
	    ">&2; exit 3");
	fake_until(&f, has_ends, 1);
	e = fake_end(&f, 1);
	assert_int_equal(e->status, TASK_FAILED);
	assert_int_equal(e->exit_code, 3);
	assert_str(e->reason, "exit code 3");
	assert_int_equal(e->output_where, OUTPUT_INLINE);
	assert_str(e->output[STDOUT], "queue task 000000000102030405000001 1 q tested\n");
	assert_str(e->output[STDERR], "no\n");
	assert_true(e->started_ms > 0 && e->ended_ms >= e->started_ms);
	fake_run(&f, (struct link_run){.task = 2, .body = STR("{\"command\":[\"/nope\"]}")});
	fake_run(&f, (struct link_run){.task = 3, .body = STR("{\"command\":\"ls\"}")});
	fake_run(&f, (struct link_run){.task = 4, .body = STR("{}")});
	fake_run(&f, (struct link_run){.task = 5, .plugin = STR("other"), .body = STR("{}")});
	fake_run(&f, (struct link_run){
	                 .task = 6, .body = STR("{\"command\":[\"true\"],\"cwd\":\"/gone\"}")});
	fake_run(&f, (struct link_run){.task = 7,
	                 .body = STR("{\"command\":[\"./x\"],\"cwd\":\"/gone\",\"cwd_machine\":"
	                             "\"another\"}")});
	fake_until(&f, has_ends, 7);
	assert_int_equal(fake_end(&f, 2)->exit_code, 127);
	assert_str(fake_end(&f, 2)->reason, "exec /nope: No such file or directory");
	assert_str(fake_end(&f, 3)->reason, "the task's command is not a list of strings");
	assert_str(fake_end(&f, 4)->reason, "the task has no command");
	assert_str(fake_end(&f, 5)->reason, "this worker does not allow the plugin other");
	assert_int_equal(fake_end(&f, 5)->exit_code, 126);
	assert_str(fake_end(&f, 6)->reason, "working directory /gone: No such file or directory");
	assert_str(fake_end(&f, 7)->reason, "exec ./x in /: No such file or directory");
	stop_worker(0);
}

static void test_big_output(void **state)
{
	struct link_ended *e;

	start_worker();
	run_sh(1, "seq 1 1000000");
	fake_until(&f, has_ends, 1);
	e = fake_end(&f, 1);
	assert_int_equal(e->status, TASK_SUCCEEDED);
	assert_int_equal(e->output_where, OUTPUT_CHUNKS);
	assert_int_equal(e->output_bytes[STDOUT], 6888896);
	assert_int_equal(f.output[STDOUT].n, 6888896);
	assert_memory_equal(f.output[STDOUT].p, "1\n2\n3\n", 6);
	assert_memory_equal(f.output[STDOUT].p + 6888896 - 8, "1000000\n", 8);
	stop_worker(0);
}

/* Nothing is acknowledged: the task has to wait, and the worker's memory does not grow. */
static void test_back_pressure(void **state)
{
	f.ack_output = false;
	start_worker();
	run_sh(1, "head -c 50000000 /dev/zero");
	fake_until(&f, has_output, 1 << 20);
	usleep(200000);
	assert_true(f.output[STDOUT].n < 2 << 20);
	assert_int_equal(f.n_ends, 0);
	f.ack_output = true; /* what is sent again after the next hello is acknowledged */
	fake_drop_link(&f);
	fake_until(&f, has_ends, 1);
	assert_int_equal(fake_end(&f, 1)->output_bytes[STDOUT], 50000000);
	assert_int_equal(f.output[STDOUT].n, 50000000);
	stop_worker(0);
}

static bool is_put_aside(struct fake *s, long n)
{
	char path[96];

	snprintf(path, sizeof path, "%s/written", s->state_dir);
	return access(path, F_OK) == 0;
}

/* What waits on the disk goes on when the server takes output again: as much as it takes. */
static void test_back_pressure_with_a_spool(void **state)
{
	char *script;

	f.ack_output = false;
	spool_bytes = 64 << 20;
	start_worker();
	script = xasprintf("head -c 50000000 /dev/zero; : >%s/written", f.state_dir);
	run_sh(1, script);
	free(script);
	fake_until(&f, is_put_aside, 0);
	assert_true(f.output[STDOUT].n < 2 << 20);
	f.ack_output = true;
	fake_drop_link(&f);
	fake_until(&f, has_ends, 1);
	assert_int_equal(fake_end(&f, 1)->output_bytes[STDOUT], 50000000);
	assert_int_equal(f.output[STDOUT].n, 50000000);
	assert_in_range(f.most_output, 1, 4 << 20);
	stop_worker(0);
}

static void test_live_output(void **state)
{
	start_worker();
	run_sh(1, "echo first; sleep 1000");
	fake_until(&f, has_output, 6); /* while it runs */
	assert_int_equal(f.n_ends, 0);
	fake_kill(&f, 1, 1, false);
	fake_until(&f, has_ends, 1);
	assert_int_equal(fake_end(&f, 1)->status, TASK_TERMINATED);
	assert_true(fake_end(&f, 1)->killed);
	assert_str(fake_end(&f, 1)->reason, "the test wants it");
	stop_worker(0);
}

static void test_time_limit(void **state)
{
	start_worker();
	fake_run(&f,
	    (struct link_run){.task = 1,
	        .timeout_ms = 100,
	        .body = STR(
	            "{\"command\":[\"sh\",\"-c\",\"trap '' TERM; while :; do sleep 1; done\"]}")});
	fake_until(&f, has_ends, 1);
	assert_int_equal(fake_end(&f, 1)->status, TASK_TERMINATED);
	assert_int_equal(fake_end(&f, 1)->signal, SIGKILL);
	assert_str(fake_end(&f, 1)->reason, "time limit of 100ms reached");
	stop_worker(0);
}

static void test_reconnect(void **state)
{
	f.ack_ends = false;
	start_worker();
	run_sh(1, "exit 0");
	fake_until(&f, has_ends, 1);
	run_sh(2, "sleep 1000");
	fake_until(&f, has_starts, 1);
	fake_drop_link(&f);
	fake_until(&f, has_hellos, 2);
	assert_int_equal(f.hello->n_tasks, 2);
	assert_true(f.hello->tasks[0].ended && !f.hello->tasks[1].ended);
	fake_until(&f, has_ends, 2); /* said again */
	assert_int_equal(f.ends[1].task, 1);
	fake_ack(&f, 1, 1);
	f.ack_ends = true;
	fake_kill(&f, 2, 1, false);
	fake_until(&f, has_ends, 3);
	stop_worker(0);
}

static void test_drain(void **state)
{
	start_worker();
	run_sh(1, "sleep 1000");
	run_sh(2, "trap '' TERM; echo on; while :; do sleep 1; done");
	fake_until(&f, has_starts, 2);
	fake_until(&f, has_output, 3); /* the trap is set */
	stop_worker(0);
	assert_int_equal(f.n_ends, 2);
	assert_str(fake_end(&f, 1)->reason, "the worker was stopped");
	assert_int_equal(fake_end(&f, 2)->status, TASK_FAILED);
}

/* The server is gone for good: the worker ends its tasks and itself, in time. */
static void test_lease(void **state)
{
	f.timeouts = (struct timeouts){500, 4000, 500, 4000, 500, 100, 100};
	start_worker();
	run_sh(1, "sleep 1000");
	fake_until(&f, has_starts, 1);
	f.answer_hello = f.ack_beats = false;
	fake_drop_link(&f);
	assert_int_equal(fake_wait_worker(&f), 1);
}

static bool is_gone(pid_t pid)
{
	for (int i = 0; i < 5000; i++) {
		if (kill(pid, 0) < 0)
			return true;
		usleep(1000);
	}
	return false;
}

static void test_killed(void **state)
{
	pid_t task;
	uint64_t instance;

	start_worker();
	instance = f.hello->facts.instance;
	run_sh(1, "exec sleep 1000");
	fake_until(&f, has_starts, 1);
	task = f.starts[0].pid;
	assert_true(task > 0);
	kill(f.worker, SIGKILL);
	assert_int_equal(fake_wait_worker(&f), -SIGKILL);
	assert_true(is_gone(task));
	f.n_hellos = 0;
	start_worker();
	assert_int_equal(f.hello->n_tasks, 0);
	assert_true(f.hello->facts.instance != instance);
	stop_worker(0);
}

static void test_lock(void **state)
{
	pid_t first;

	start_worker();
	first = f.worker;
	fake_worker(&f, (struct worker_options){0});
	assert_int_equal(fake_wait_worker(&f), 1); /* the same state directory */
	f.worker = first;
	stop_worker(0);
}

static void test_once(void **state)
{
	start_worker();
	run_plugin(1, "once.py", "{\"text\":\"abc\"}");
	run_plugin(2, "once.py", "{\"text\":\"\"}");
	run_plugin(3, "once.py", "{}");
	run_plugin(4, "plugin-once", "{\"any\":1}");
	fake_until(&f, has_ends, 4);
	assert_int_equal(fake_end(&f, 1)->status, TASK_SUCCEEDED);
	assert_str(fake_end(&f, 1)->output[STDOUT], "3 letters, attempt 1 in queue q\n");
	assert_int_equal(fake_end(&f, 2)->status, 3);
	assert_str(fake_end(&f, 2)->reason, "the text is empty");
	assert_int_equal(fake_end(&f, 3)->status, TASK_FAILED);
	assert_int_equal(fake_end(&f, 3)->exit_code, 2);
	assert_int_equal(fake_end(&f, 4)->status, TASK_SUCCEEDED);
	assert_non_null(strstr(fake_end(&f, 4)->output[STDOUT].p, "task 000000000102030405000004"));
	stop_worker(0);
}

static void test_persistent(void **state)
{
	start_worker();
	run_plugin(1, "persistent.py", "{\"numbers\":[1,2,3]}");
	run_plugin(2, "persistent.py", "{\"numbers\":[\"x\"]}");
	run_plugin(3, "plugin-persistent", "{\"text\":\"quiet\"}");
	run_plugin(4, "plugin-persistent", "{\"text\":7}");
	fake_until(&f, has_ends, 4);
	assert_int_equal(fake_end(&f, 1)->status, TASK_SUCCEEDED);
	assert_str(fake_end(&f, 1)->output[STDOUT], "adding 1\nadding 2\nadding 3\nsum 6\n");
	assert_int_equal(fake_end(&f, 2)->status, TASK_FAILED);
	assert_non_null(strstr(fake_end(&f, 2)->reason.p, "TypeError"));
	assert_str(fake_end(&f, 3)->output[STDOUT], "QUIET");
	assert_str(fake_end(&f, 4)->reason, "params.text must be a string");
	stop_worker(0);
}

static void test_noop(void **state)
{
	plugins[3].recycle_after = 700; /* several processes, one after another */
	start_worker();
	for (rid t = 1; t <= 2000; t++)
		run_plugin(t, "plugin-noop", "{\"n\":[1,{\"a\":\"}\"}]}");
	fake_until(&f, has_ends, 2000);
	for (rid t = 1; t <= 2000; t++) {
		if (fake_end(&f, t)->status != TASK_SUCCEEDED)
			print_error(
			    "task %d: " STR_FMT "\n", (int)t, STR_ARG(fake_end(&f, t)->reason));
		assert_int_equal(fake_end(&f, t)->status, TASK_SUCCEEDED);
	}
	assert_int_equal(f.n_ends, 2000);
	stop_worker(0);
}

/* Each of them is larger than that: after every task a new one comes. */
static void test_recycled_for_its_size(void **state)
{
	plugins[3].recycle_after = 0;
	plugins[3].recycle_memory = 1;
	start_worker();
	for (rid t = 1; t <= 20; t++) {
		run_plugin(t, "plugin-noop", "{}");
		fake_until(&f, has_ends, (int)t);
		assert_int_equal(fake_end(&f, t)->status, TASK_SUCCEEDED);
	}
	for (size_t i = 1; i < f.n_starts; i++)
		assert_int_not_equal(f.starts[i].pid, f.starts[i - 1].pid);
	plugins[3].recycle_memory = 0;
	stop_worker(0);
}

static void test_broken(void **state)
{
	static const struct {
		const char *kind, *reason;
	} kinds[] = {
	    {"bad-length", "plugin broken.py: it wrote garbage: a frame of more than 1 MiB"},
	    {"empty-frame", "plugin broken.py: it wrote garbage: an empty frame"},
	    {"bad-json", "plugin broken.py: it wrote garbage: something that is not JSON"},
	    {"not-an-object",
	        "plugin broken.py: it wrote garbage: something that is not a JSON object"},
	    {"wrong-id",
	        "plugin broken.py: it wrote garbage: the id of a task that it does not have"},
	    {"wrong-token",
	        "plugin broken.py: it wrote garbage: the id of a task that it does not have"},
	    {"bad-status", "plugin broken.py: it wrote garbage: a reply whose \"status\" is not a "
	                   "positive number"},
	    {"huge-frame", "plugin broken.py: it wrote garbage: a frame of more than 1 MiB"},
	    {"second-hello", "plugin broken.py: it wrote garbage: a second hello"},
	    {"text", "plugin broken.py: it wrote garbage: a frame of more than 1 MiB"},
	    {"exit", "plugin crashed: broken.py left with exit code 3"},
	    {"abort", "plugin crashed: broken.py was ended by signal 6 (SIGABRT)"},
	    {"close", "plugin broken.py: it closed its stdout"},
	    {"fine", NULL},
	};
	size_t n = sizeof kinds / sizeof kinds[0];

	start_worker();
	for (size_t i = 0; i < n; i++) {
		char *params = xasprintf("{\"kind\":\"%s\"}", kinds[i].kind);

		run_plugin(i + 1, "broken.py", params);
		run_plugin(100 + i, "broken.py", "{}"); /* a good one, in the line behind it */
		free(params);
		fake_until(&f, has_ends, (long)(i + 1) * 2);
		assert_int_equal(fake_end(&f, 100 + i)->status, TASK_SUCCEEDED);
		if (!kinds[i].reason)
			continue;
		assert_int_equal(fake_end(&f, i + 1)->status, TASK_FAILED);
		assert_str(fake_end(&f, i + 1)->reason, kinds[i].reason);
	}
	stop_worker(0);
}

/* A plugin that knows how to drop one task keeps its process, and its other tasks. */
static void test_cancel(void **state)
{
	add_plugin("TEST_PLUGINS", "cancellable.py", PLUGIN_PERSISTENT);
	start_worker();
	run_plugin(1, "cancellable.py", "{}");
	run_plugin(2, "cancellable.py", "{}");
	fake_until(&f, has_starts, 2);
	fake_kill(&f, 1, 1, false);
	fake_until(&f, has_ends, 1);
	assert_int_equal(f.ends[0].task, 1);
	assert_int_equal(f.ends[0].status, TASK_TERMINATED);
	assert_true(f.ends[0].killed);
	run_plugin(3, "cancellable.py", "{}");
	fake_until(&f, has_starts, 3);
	assert_int_equal(f.starts[2].pid, f.starts[0].pid);
	assert_int_equal(f.n_ends, 1);
	stop_worker(0);
	assert_int_equal(f.n_ends, 3);
}

static void test_silent_plugin(void **state)
{
	start_worker();
	fake_run(&f, (struct link_run){.task = 1,
	                 .plugin = STR("broken.py"),
	                 .timeout_ms = 300,
	                 .body = STR("{\"params\":{\"kind\":\"silence\"}}")});
	run_plugin(2, "broken.py", "{}");
	fake_until(&f, has_ends, 2);
	assert_int_equal(fake_end(&f, 1)->status, TASK_TERMINATED);
	assert_int_equal(fake_end(&f, 2)->status, TASK_SUCCEEDED);
	stop_worker(0);
}

/* A plugin that never says hello must not keep its tasks: neither without a time limit nor with. */
static void test_no_hello(void **state)
{
	add_plugin("TEST_PLUGINS", "mute.py", PLUGIN_PERSISTENT);
	hello_wait_ms = 600;
	start_worker();
	run_plugin(1, "mute.py", "{}");
	fake_run(&f, (struct link_run){.task = 2,
	                 .plugin = STR("mute.py"),
	                 .timeout_ms = 100,
	                 .body = STR("{\"params\":{}}")});
	fake_until(&f, has_ends, 2);
	assert_int_equal(f.ends[0].task, 2);
	assert_int_equal(f.ends[0].status, TASK_TERMINATED);
	assert_true(f.ends[0].started_ms > 0); /* or the server would send it again, for ever */
	assert_str(
	    f.ends[0].reason, "time limit of 100ms reached before plugin mute.py said hello");
	assert_int_equal(f.ends[1].task, 1);
	assert_int_equal(f.ends[1].status, TASK_FAILED);
	assert_true(f.ends[1].started_ms > 0);
	assert_str(f.ends[1].reason, "plugin mute.py: it did not say hello within 600ms");
	assert_int_equal(f.n_starts, 0);
	run_plugin(3, "mute.py", "{}"); /* each says why, however many there were */
	fake_until(&f, has_ends, 3);
	assert_str(f.ends[2].reason, "plugin mute.py: it did not say hello within 600ms");
	stop_worker(0);
}

/* Waiting for a process that is busy does not count: the limit is for the task's own work. */
static void test_limit_while_waiting(void **state)
{
	add_plugin("TEST_PLUGINS", "cancellable.py", PLUGIN_PERSISTENT);
	start_worker();
	for (rid t = 1; t <= 4; t++) /* as many as it takes, and it never ends one by itself */
		run_plugin(t, "cancellable.py", "{}");
	fake_until(&f, has_starts, 4);
	fake_run(&f, (struct link_run){.task = 5,
	                 .plugin = STR("cancellable.py"),
	                 .timeout_ms = 200,
	                 .body = STR("{\"params\":{}}")});
	run_sh(6, "sleep 0.4"); /* longer than the limit */
	fake_until(&f, has_ends, 1);
	assert_int_equal(f.ends[0].task, 6);
	fake_kill(&f, 1, 1, false);
	fake_until(&f, has_starts, 6);
	assert_int_equal(f.starts[5].task, 5);
	fake_until(&f, has_ends, 3);
	assert_str(fake_end(&f, 5)->reason, "time limit of 200ms reached");
	stop_worker(0);
}

static void test_missing_plugin(void **state)
{
	static const char *const argv[] = {"/no/such/plugin", NULL}, *const quits[] = {
	                                                                 "/bin/true", NULL};

	plugins[0] =
	    (struct plugin_options){.name = "gone", .exec = argv, .mode = PLUGIN_PERSISTENT};
	plugins[1] =
	    (struct plugin_options){.name = "quits", .exec = quits, .mode = PLUGIN_PERSISTENT};
	start_worker();
	run_plugin(1, "gone", "{}");
	run_plugin(2, "quits", "{}");
	fake_until(&f, has_ends, 2);
	assert_int_equal(fake_end(&f, 1)->exit_code, 127);
	assert_str(fake_end(&f, 1)->reason,
	    "plugin gone: exec /no/such/plugin: No such file or directory");
	assert_str(fake_end(&f, 2)->reason, "plugin quits does not start: see the worker's log");
	stop_worker(0);
}

int main(void)
{
#define T(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_commands),
	    T(test_big_output),
	    T(test_back_pressure),
	    T(test_back_pressure_with_a_spool),
	    T(test_live_output),
	    T(test_time_limit),
	    T(test_reconnect),
	    T(test_drain),
	    T(test_lease),
	    T(test_killed),
	    T(test_lock),
	    T(test_once),
	    T(test_persistent),
	    T(test_noop),
	    T(test_recycled_for_its_size),
	    T(test_broken),
	    T(test_cancel),
	    T(test_silent_plugin),
	    T(test_no_hello),
	    T(test_limit_while_waiting),
	    T(test_missing_plugin),
	};

	cmocka_set_test_filter(getenv("REEVE_TEST_ONLY")); /* all of them when unset */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
