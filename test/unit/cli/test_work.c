/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked for and how it ends: ranges, patterns, servers, exit codes, events, completions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/frame/complete.h"
#include "cli/frame/help.h"
#include "cli/reach/last.h"
#include "cli/reach/problem.h"
#include "cli/reach/server.h"
#include "cli/reach/sse.h"
#include "cli/tasks/work.h"

static struct problem problem;

static void assert_range(const char *text, int64_t count, int64_t first, int64_t last)
{
	struct range r;

	assert_int_equal(range_parse(text, &r, &problem), 0);
	assert_int_equal(range_count(&r), count);
	assert_int_equal(range_at(&r, 0), first);
	assert_int_equal(range_at(&r, count - 1), last);
}

static void test_ranges(void **state)
{
	static const char *const wrong[] = {"", "-", "a", "1-", "1-b", "1-5:", "1-5:0", "1-5:-1",
	    "1:2:3", "1 - 5", "1-5-9", "99999999999999999999", "1-9223372036854775807"};
	struct range r;

	assert_range("1-100", 100, 1, 100);
	assert_range("0-90:10", 10, 0, 90);
	assert_range("0-95:10", 10, 0, 90);
	assert_range("7", 1, 7, 7);
	assert_range("3-1", 3, 3, 1);
	assert_range("-2-2", 5, -2, 2);
	assert_range("-2--4", 3, -2, -4);
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(range_parse(wrong[i], &r, &problem), ERR_INVALID);
	assert_int_equal(range_parse("1-1000000000", &r, &problem), ERR_TOO_LARGE);
}

static void assert_ranges(const char *text, const int64_t *items, size_t n)
{
	struct array_items r;
	size_t at = 0;

	assert_int_equal(array_parse(text, &r, &problem), 0);
	for (size_t i = 0; i < r.n; i++)
		for (int64_t k = 0; k < range_count(&r.all[i]); k++, at++)
			assert_int_equal(range_at(&r.all[i], k), items[at]);
	assert_int_equal(at, n);
	array_release(&r);
}

static void test_lists_of_ranges(void **state)
{
	static const char *const wrong[] = {"", ",", "1,", ",1", "1,,2", "1-3,x", "1,-", "1%2,3",
	    "1-3%", "1%0", "1%-1", "%4", "1,%4", "1%4%4", "1%99999999999999999999"};
	struct array_items r;
	int64_t limit;

	assert_ranges("1,3,7", (const int64_t[]){1, 3, 7}, 3);
	assert_ranges("1-9:4,20,3-2", (const int64_t[]){1, 5, 9, 20, 3, 2}, 6);
	assert_ranges("5", (const int64_t[]){5}, 1);
	assert_ranges("1,3%2", (const int64_t[]){1, 3}, 2);
	assert_int_equal(array_limit("1,3%2", &limit, &problem), 0);
	assert_int_equal(limit, 2);
	assert_int_equal(array_limit("-%12", &limit, &problem), 0);
	assert_int_equal(limit, 12);
	assert_int_equal(array_limit("1-9", &limit, &problem), 0);
	assert_int_equal(limit, 0);
	assert_int_equal(array_limit("-%x", &limit, &problem), ERR_INVALID);
	assert_true(array_is_stdin("-") && array_is_stdin("-%3"));
	assert_false(array_is_stdin("-3") || array_is_stdin(""));
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_int_equal(array_parse(wrong[i], &r, &problem), ERR_INVALID);
		assert_null(r.all);
	}
	assert_int_equal(array_parse("1-60000000,1-60000000", &r, &problem), ERR_TOO_LARGE);
}

static void assert_pattern(const char *task, const char *item, const char *want)
{
	json_t *j = json_loads(task, 0, NULL), *got, *wanted;
	struct pattern p;
	struct buf b = {0};

	assert_non_null(j);
	pattern_init(&p, j);
	assert_true(pattern_add(&p, str_of(item), 7, &b));
	assert_int_equal(b.p[b.n - 1], '\n');
	got = json_loadb(b.p, b.n, 0, NULL);
	wanted = json_loads(want, 0, NULL);
	assert_true(json_equal(got, wanted));
	json_decref(got);
	json_decref(wanted);
	json_decref(j);
	buf_release(&b);
	pattern_release(&p);
}

static void test_patterns(void **state)
{
	struct pattern p;
	struct buf b = {0};
	json_t *j = json_pack("{s:[s]}", "command", "x");

	assert_pattern("{\"command\":[\"c\",\"{}.in\",\"{}{}\"],\"env\":{},\"key\":\"k-{}\"}",
	    "a\"\\\n",
	    "{\"command\":[\"c\",\"a\\\"\\\\\\n.in\",\"a\\\"\\\\\\na\\\"\\\\\\n\"],\"env\":{"
	    "\"REEVE_ARRAY_INDEX\":\"7\"},"
	    "\"key\":\"k-a\\\"\\\\\\n\"}");
	assert_pattern("{\"command\":[\"c\"],\"priority\":3}", "x",
	    "{\"command\":[\"c\",\"x\"],\"priority\":3,\"env\":{\"REEVE_ARRAY_INDEX\":\"7\"}}");
	assert_pattern(
	    "{\"params\":{\"n\":[\"{}\",1,null]}}", "5", "{\"params\":{\"n\":[\"5\",1,null]}}");
	assert_pattern("{\"command\":[\"{}\"]}", "",
	    "{\"command\":[\"\"],\"env\":{\"REEVE_ARRAY_INDEX\":\"7\"}}");
	assert_pattern("{\"command\":[\"{}\"],\"env\":{\"REEVE_ARRAY_INDEX\":\"mine\"}}", "",
	    "{\"command\":[\"\"],\"env\":{\"REEVE_ARRAY_INDEX\":\"mine\"}}");
	pattern_init(&p, j);
	assert_false(pattern_add(&p, STR("\xff"), 1, &b));
	pattern_release(&p);
	buf_release(&b);
	json_decref(j);
}

static int code_of(const char *task)
{
	json_t *j = json_loads(task, 0, NULL);
	int code;

	assert_non_null(j);
	code = task_exit_code(j);
	json_decref(j);
	return code;
}

static void test_exit_codes(void **state)
{
	assert_int_equal(code_of("{\"status\":1,\"exit_code\":0}"), 0);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":3}"), 3);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":127}"), 127);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":126}"), 126);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":null,\"signal\":9}"), 137);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":null}"), 1);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":0}"), 1);
	assert_int_equal(code_of("{\"status\":2,\"exit_code\":4096}"), 1);
	assert_int_equal(code_of("{\"status\":-3,\"signal\":9}"), 124);
	assert_int_equal(code_of("{\"status\":-5}"), 130);
	assert_int_equal(code_of("{\"status\":-6}"), 125);
	assert_int_equal(code_of("{\"status\":42}"), 42);
	assert_int_equal(code_of("{\"status\":42,\"exit_code\":7}"), 7);
	assert_int_equal(code_of("{\"status\":4200}"), 1);
	assert_int_equal(code_of("{\"status\":0}"), 125);
}

static void assert_server(const char *given, const char *want)
{
	struct buf url = {0};

	assert_int_equal(server_normalise(given, &url, &problem), 0);
	assert_string_equal(url.p, want);
	buf_release(&url);
}

static void test_servers_as_typed(void **state)
{
	static const char *const wrong[] = {"unix:relative", "localhost", "ftp://x", "http://",
	    "a:b", "host:0", "host:70000", ":80", "unix:"};
	struct buf url = {0};

	assert_server("unix:/run/x.sock", "unix:/run/x.sock");
	assert_server("unix:///run/x.sock", "unix:/run/x.sock");
	assert_server("/run/x.sock", "unix:/run/x.sock");
	assert_server("http://h:80//", "http://h:80");
	assert_server("https://h", "https://h");
	assert_server("127.0.0.1:7400", "http://127.0.0.1:7400");
	assert_server("[::1]:7400", "http://[::1]:7400");
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
		assert_int_equal(server_normalise(wrong[i], &url, &problem), ERR_INVALID);
	buf_release(&url);
}

static void make_socket(const char *dir)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(a.sun_path, sizeof a.sun_path, "%s/reeve", dir);
	mkdir(dir, 0700);
	mkdir(a.sun_path, 0700);
	snprintf(a.sun_path, sizeof a.sun_path, "%s/reeve/reeve.sock", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
	close(fd);
}

static void assert_found(const char *configured, const char *want)
{
	struct buf url = {0};

	assert_int_equal(server_find(configured, &url, &problem), 0);
	assert_string_equal(url.p, want);
	buf_release(&url);
}

static void test_first_socket_wins(void **state)
{
	char dir[] = "/tmp/reeve-test-XXXXXX", runtime[64], state_dir[64], want[96], command[64];

	assert_non_null(mkdtemp(dir));
	snprintf(runtime, sizeof runtime, "%s/run", dir);
	snprintf(state_dir, sizeof state_dir, "%s/state", dir);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	setenv("XDG_STATE_HOME", state_dir, 1);
	make_socket(state_dir);
	snprintf(want, sizeof want, "unix:%s/reeve/reeve.sock", state_dir);
	assert_found(NULL, want);
	make_socket(runtime);
	assert_found(want + 5, want);
	snprintf(want, sizeof want, "unix:%s/reeve/reeve.sock", runtime);
	assert_found(NULL, want);
	assert_found("/nonexistent/reeve.sock", want);
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_last(void **state)
{
	char dir[] = "/tmp/reeve-test-XXXXXX", id[25], command[64];
	enum last_kind kind;

	assert_non_null(mkdtemp(dir));
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", dir, 1);
	assert_int_equal(last_load(&kind, id, &problem), ERR_NOT_FOUND);
	last_save(LAST_TASK, "64f0c0de0123456789abcdef");
	assert_int_equal(id_resolve("@last", id, &problem), 0);
	assert_string_equal(id, "64f0c0de0123456789abcdef");
	assert_int_equal(batch_resolve("@last", id, &problem), ERR_INVALID);
	last_save(LAST_BATCH, "64f0c0de0123456789abcdef");
	assert_int_equal(batch_resolve("@last", id, &problem), 0);
	assert_int_equal(id_resolve("@last", id, &problem), ERR_INVALID);
	assert_int_equal(id_resolve("64F0C0DE0123456789ABCDEF", id, &problem), 0);
	assert_int_equal(id_resolve("64f0c0de0123456789abcde", id, &problem), ERR_INVALID);
	assert_int_equal(id_resolve("zzz0c0de0123456789abcdef", id, &problem), ERR_INVALID);
	snprintf(command, sizeof command, "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void test_problems(void **state)
{
	struct problem p = {0};

	assert_int_equal(
	    problem_from_reply(404,
	        STR("{\"type\":\"urn:reeve:error:not-found\",\"detail\":\"there is no queue "
	            "\\\"x\\\"\",\"hint\":\"look\",\"field\":\"queue\"}"),
	        &p),
	    ERR_NOT_FOUND);
	assert_string_equal(p.what, "there is no queue \"x\"");
	assert_string_equal(p.hint, "look");
	assert_string_equal(p.field, "queue");
	assert_int_equal(problem_from_reply(502, STR("<html>Bad gateway"), &p), ERR_UNREACHABLE);
	assert_int_equal(problem_from_reply(500, STR_NULL, &p), ERR_INTERNAL);
	assert_int_equal(problem_from_reply(401, STR("[]"), &p), ERR_UNAUTHORIZED);
	assert_non_null(strstr(p.hint, "REEVE_TOKEN"));
}

static char seen[512];

static void on_event(const char *event, const char *data, void *arg)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof seen - n, "%s=%s;", event, data);
}

static void test_event_stream(void **state)
{
	static const char stream[] = ": hello\r\nid: 5\r\nevent: a\r\ndata: 1\r\ndata:2\r\n\r\n"
	                             "data: x\n\nevent: none\n\nid: 7\ndata\n\ndata: unfinished";
	struct sse s = {.fn = on_event};

	for (size_t step = 1; step < 9; step += 3) { /* however the bytes are cut */
		seen[0] = 0;
		for (size_t i = 0; i < sizeof stream - 1; i += step)
			sse_feed(&s, (struct str){stream + i,
			                 i + step < sizeof stream ? step : sizeof stream - 1 - i});
		assert_string_equal(seen, "a=1\n2;message=x;message=;");
		assert_string_equal(s.last_id, "7");
		sse_reset(&s);
	}
	sse_release(&s);
}

static void no_names(const char *kind, struct buf *out, void *arg)
{
	buf_printf(out, "live-%s\n", kind);
}

#define COMPLETE(...)                                                              \
	({                                                                         \
		const char *words_[] = {__VA_ARGS__};                              \
		buf_reset(&out);                                                   \
		complete_line(&k, words_, sizeof words_ / sizeof words_[0], &out); \
		out.p ? out.p : "";                                                \
	})

static void test_completions(void **state)
{
	const struct completer k = {no_names, NULL};
	struct buf out = {0};

	assert_non_null(strstr(COMPLETE(""), "submit\t"));
	assert_null(strstr(COMPLETE(""), "__complete"));
	assert_string_equal(COMPLETE("qu"), "queue\t…\n");
	assert_string_equal(COMPLETE("queue", "pa"), "pause\tstart nothing more from a queue\n");
	assert_string_equal(COMPLETE("queue", "pause", ""), "live-queue\n");
	assert_string_equal(COMPLETE("--server", "x", "queue", "pause", "liv"), "live-queue\n");
	assert_string_equal(COMPLETE("task", "ls", "--queue", ""), "live-queue\n");
	assert_string_equal(COMPLETE("task", "ls", "--queue=l"), "--queue=live-queue\n");
	assert_string_equal(COMPLETE("task", "ls", "-o", "json"), "json\njsonl\n");
	assert_string_equal(COMPLETE("task", "ls", "--state", "qu"), "queued\n");
	assert_string_equal(COMPLETE("task", "ls", "--token-file", ""), ":file\n");
	assert_string_equal(COMPLETE("submit", "--nd"),
	    "--ndjson\ttasks as JSON, one a line; - for standard input\n");
	assert_string_equal(COMPLETE("run", "make", "-"), ":command\n");
	assert_string_equal(COMPLETE("submit", "--", "x"), ":command\n");
	assert_string_equal(COMPLETE("completion", "z"), "zsh\n");
	assert_string_equal(COMPLETE("queue", "set", "q", "--order", "l"), "lifo\n");
	assert_string_equal(
	    COMPLETE("queue", "create", "--output-mode=i"), "--output-mode=inline\n");
	assert_string_equal(COMPLETE("schedule", "set", "s", "--missed", ""), "skip\nonce\nall\n");
	assert_string_equal(COMPLETE("nonsense", ""), ":command\n");
	buf_release(&out);
}

static void test_every_command_is_documented(void **state)
{
	const struct command *cmd;

	for (size_t i = 0; (cmd = command_at(i)); i++) {
		struct buf page = {0};

		assert_non_null(cmd->summary);
		assert_true(!!cmd->run != !!cmd->shell);
		assert_true(cmd->args || !(cmd->flags & COMMAND_NEEDS_ARG));
		man_command(cmd, &page);
		assert_non_null(strstr(page.p, ".SH SYNOPSIS"));
		assert_null(strstr(page.p, "\n.\n"));
		buf_release(&page);
	}
}

static void test_no_letter_means_two_things(void **state)
{
	const struct command *cmd;

	for (size_t i = 0; (cmd = command_at(i)); i++) {
		char used[256] = {0};

		for (size_t t = 0; t <= COMMAND_TABLES_MAX; t++) {
			const struct option_def *d = t ? cmd->options[t - 1] : global_options;

			for (; d && d->name; d++) {
				if (!d->letter)
					continue;
				if (used[(unsigned char)d->letter]++)
					fail_msg(
					    "reeve %s: -%c means two things", cmd->path, d->letter);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_lists_of_ranges),
	    cmocka_unit_test(test_patterns),
	    cmocka_unit_test(test_exit_codes),
	    cmocka_unit_test(test_servers_as_typed),
	    cmocka_unit_test(test_first_socket_wins),
	    cmocka_unit_test(test_last),
	    cmocka_unit_test(test_problems),
	    cmocka_unit_test(test_event_stream),
	    cmocka_unit_test(test_completions),
	    cmocka_unit_test(test_every_command_is_documented),
	    cmocka_unit_test(test_no_letter_means_two_things),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
