/* SPDX-License-Identifier: Apache-2.0 */
/* Good and bad configurations: each bad one with its exact messages, lines and hints. */
#include "config_test.h"

#include "base/mem.h"

static const struct {
	const char *text, *key, *shown;
} good[] = {
    {"", "log.level", "\"info\""},
    {" // nothing\n", "log.level", "\"info\""},
    {"{\"log\": {\"level\": \"debug\",},}", "log.level", "\"debug\""},
    {"{\"server\": {\"heartbeat\": \"0.5m\"}}", "server.heartbeat", "\"30s\""},
    {"{\"server\": {\"heartbeat\": 20}}", "server.heartbeat", "\"20s\""},
    {"{\"server\": {\"retention\": {\"age\": 0}}}", "server.retention.age", "0"},
    {"{\"server\": {\"limits\": {\"body_max\": \"2MB\"}}}", "server.limits.body_max",
        "\"2000000B\""},
    {"{\"server\": {\"limits\": {\"body_max\": 8388608}}}", "server.limits.body_max", "\"8MiB\""},
    {"{\"server\": {\"listen\": \"[::1]:80\"}}", "server.listen", "[\"[::1]:80\"]"},
    {"{\"server\": {\"listen\": []}}", "server.listen", "[]"},
    {"{\"server\": {\"listen\": [\"localhost:1\", \"127.9.9.9:0\"]}}", "server.listen",
        "[\"localhost:1\", \"127.9.9.9:0\"]"},
    {"{\"server\": {\"socket_mode\": \"600\"}}", "server.socket_mode", "\"600\""},
    {"{\"server\": {\"base_path\": \"/reeve\"}}", "server.base_path", "\"/reeve\""},
    {"{\"server\": {\"state_dir\": \"~/r\"}}", "server.store", "\"sqlite:/home/me/r/reeve.db\""},
    {"{\"server\": {\"store\": \"postgres://me:s3:c@t@db/x\"}}", "server.store",
        "\"postgres://me:***@db/x\""},
    {"{\"server\": {\"store\": \"postgres://me@db/x?a=b:c@d\"}}", "server.store",
        "\"postgres://me@db/x?a=b:c@d\""},
    {"{\"server\": {\"token\": \"0123456789abcdef\"}}", "server.token", "(set)"},
    {"{\"worker\": {\"maxthreads\": -1}}", "worker.maxthreads", "-1"},
    {"{\"worker\": {\"allow_commands\": false, \"plugins\": {\"p\": {\"exec\": \"x\"}}}}",
        "worker.allow_commands", "false"},
    {"{\"worker\": {\"labels\": {\"gpu\": \"a100\"}}}", "worker.labels", "{\"gpu\": \"a100\"}"},
    {"{\"worker\": {\"labels\": {\"note\": \"// not a comment, }\"}}}", "worker.labels",
        "{\"note\": \"// not a comment, }\"}"},
    {"{\"worker\": {\"plugins\": {\"p\": {\"exec\": [\"/x\"], \"env\": {\"KEY\": \"s3cret\"}}}}}",
        "worker.plugins", "{\"p\": {\"exec\": [\"/x\"], \"env\": {\"KEY\": \"(set)\"}}}"},
    {"{\"cli\": {\"server\": \"https://r.example.com/reeve\"}}", "cli.server",
        "\"https://r.example.com/reeve\""},
    {"{}", "server.socket", "\"/home/me/.local/state/reeve/reeve.sock\""},
    {"{}", "cli.server", "(not set)"},
    {"{}", "worker.state_dir", "\"/home/me/.local/state/reeve-worker\""},
    {"{}", "server.token", "(not set)"},
    {"{\"log\": {\"file\": \"r.log\"}}", "log.file", "\"r.log\""},
};

static void test_good(void **state)
{
	for (size_t i = 0; i < COUNT(good); i++) {
		struct config_sources src = test_text(good[i].text);
		struct config *c = test_load_good(&src);
		char *problems = test_problems(c);
		struct buf b = {0};

		config_write_value(c, good[i].key, &b);
		assert_string_equal(b.p, good[i].shown);
		assert_string_equal(problems, "");
		free(problems);
		buf_release(&b);
		config_free(c);
	}
}

#define F "reeve.json:"
static const struct {
	const char *text, *problems;
} bad[] = {
    /* keys */
    {"{\n\"worker\": {\n\"max_thread\": 4}}",
        F "3: unknown key \"max_thread\" in worker; did you mean \"maxthreads\"?\n"},
    {"{\"sever\": {}}", F "1: unknown key \"sever\"; did you mean \"server\"?\n"},
    {"{\n\n\"maxthreads\": 4}",
        F "3: unknown key \"maxthreads\"; did you mean \"worker.maxthreads\"?\n"},
    {"{\"server.listen\": []}",
        F "1: unknown key \"server.listen\"; write it in sections: {\"server\": {\"…\": …}}\n"},
    {"{\"server\": {\"tls.cert\": \"x\"}}", F "1: unknown key \"tls.cert\" in server\n"},
    {"{\"server\": {\"tls\": {\"crt\": \"x\"}}}",
        F "1: unknown key \"crt\" in server.tls; did you mean \"cert\"?\n"},
    {"{\"mongohost\": \"mongodb://x\"}",
        F "1: unknown key \"mongohost\"; a key of Disbatch: see docs/coming-from/disbatch.md\n"},
    {"{\"\": 1, \"a\\u0007b\": 1}", F "1: unknown key \"\"\n" F "1: unknown key \"a\\x07b\"\n"},
    {"{\"log\": {\n\"l\\u0065vil\": 1}}",
        F "2: unknown key \"levil\" in log; did you mean \"level\"?\n"},
    {"{\"server\": 1}", F "1: server must be an object: {\"key\": value, …}\n"},
    {"{\"server\": {\"tls\": []}}", F "1: server.tls must be an object: {\"key\": value, …}\n"},
    /* all of them, not the first only */
    {"{\"log\": {\n\"level\": \"inof\",\n\"fromat\": 1,\n\"output\": null}}",
        F "2: log.level is \"inof\"; it must be one of error|warn|info|debug; "
          "did you mean \"info\"?\n" F "3: unknown key \"fromat\" in log; did you mean "
          "\"format\"?\n" F "4: log.output must be one of a few words, not null; leave the key "
          "out to have its default\n"},
    /* types */
    {"{\"server\": {\"heartbeat\": \"5 parsecs\"}}",
        F "1: server.heartbeat is \"5 parsecs\", which is not a duration such as \"30s\", "
          "\"15m\", \"2d\", or a number of seconds\n"},
    {"{\"server\": {\"heartbeat\": 1.5}}",
        F "1: server.heartbeat must be a duration such as \"30s\", \"15m\", \"2d\", or a number "
          "of seconds, not a fraction\n"},
    {"{\"worker\": {\"maxthreads\": \"4\"}}",
        F "1: worker.maxthreads must be a whole number, not a string\n"},
    {"{\"worker\": {\"allow_commands\": \"yes\"}}",
        F "1: worker.allow_commands must be true or false, not a string\n"},
    {"{\"server\": {\"socket_mode\": 660}}",
        F "1: server.socket_mode must be octal permissions in quotes, such as \"0660\", not a "
          "number\n"},
    {"{\"server\": {\"socket_mode\": \"0880\"}}",
        F "1: server.socket_mode is \"0880\", which is not octal permissions in quotes, such as "
          "\"0660\"\n"},
    {"{\"server\": {\"allow_hosts\": [\"a\",\n1,\n{}]}}",
        F "2: server.allow_hosts must be a list of strings, but item 2 is a number\n" F
          "3: server.allow_hosts must be a list of strings, but item 3 is an object\n"},
    {"{\"server\": {\"allow_hosts\": [\"a,b\"]}}",
        F "1: server.allow_hosts: item 1 is not one value: \"a,b\"\n"},
    {"{\"server\": {\"store\": \"mysql://x\"}}",
        F "1: server.store is \"mysql://x\", which is not \"sqlite:PATH\", "
          "\"postgres://user@host/database\" or \"memory:\"\n"},
    {"{\"server\": {\"token\": \"not a token, really\"}}",
        F "1: server.token is not a token: up to 512 visible characters without spaces\n"},
    {"{\"worker\": {\"name\": \"a b\"}}",
        F "1: worker.name is \"a b\", which is not a name of letters, digits and any of "
          ". _ - : @ +\n"},
    {"{\"server\": {\"base_path\": \"/x/\"}}",
        F "1: server.base_path is \"/x/\", which is not a path such as \"/reeve\", or \"\"; "
          "begin with a slash and end without one\n"},
    {"{\"cli\": {\"server\": \"ftp://x\"}}",
        F "1: cli.server is \"ftp://x\", which is not \"unix:PATH\", \"http://host:port\" or "
          "\"https://host:port\"\n"},
    /* ranges */
    {"{\"worker\": {\"maxthreads\": -2}}",
        F "1: worker.maxthreads is -2; it must be at least -1\n"},
    {"{\"server\": {\"heartbeat\": 0}}", F "1: server.heartbeat is 0; it must be at least 100ms\n"},
    {"{\"server\": {\"limits\": {\"request\": 9223372036854775807}}}",
        F "1: server.limits.request is 9223372036854775807ms; it must be at most 1d\n"},
    {"{\"server\": {\"limits\": {\"body_max\": \"1K\"}}}",
        F "1: server.limits.body_max is 1KiB; it must be at least 1MiB\n"},
    {"{\"server\": {\"limits\": {\"body_max\": \"99999999999G\"}}}",
        F "1: server.limits.body_max is \"99999999999G\", which is not a size such as "
          "\"64MiB\", or a number of bytes\n"},
    /* addresses */
    {"{\"server\": {\"listen\": [\"127.0.0.1:1\",\n\":7400\"]}}",
        F "2: server.listen: \":7400\" is not an address; write 0.0.0.0:port (or [::]:port) for "
          "every interface\n"},
    {"{\"worker\": {\"server\": \"host:70000\"}}",
        F "1: worker.server: \"host:70000\" is not an address; the port is a number from 0 to "
          "65535\n"},
    {"{\"worker\": {\"server\": \"::1:80\"}}",
        F "1: worker.server: \"::1:80\" is not an address; write host:port, or [address]:port "
          "for IPv6\n"},
    {"{\"worker\": {\"server\": \"http://h:80\"}}",
        F "1: worker.server: \"http://h:80\" is not an address; write host:port, or "
          "[address]:port for IPv6\n"},
    /* objects */
    {"{\"worker\": {\"labels\": {\n\"gpu\": 1,\n\"a b\": \"x\"}}}",
        F "2: worker.labels: \"gpu\" must be a string, not a number; put it in quotes\n" F
          "3: worker.labels: \"a b\" does not fit; no spaces, commas or = in a key; together "
          "at most 256 bytes\n"},
    {"{\"worker\": {\"plugins\": {\n\"p\": {\"exec\": [\"/x\"],\n\"process\": 1,\n\"mode\": "
     "\"twice\"},\n\"command\": {},\n\"q\": {}}}}",
        F "3: unknown key \"process\" in plugin \"p\"; did you mean \"processes\"?\n" F
          "4: worker.plugins: mode of \"p\" must be \"once\" or \"persistent\"\n" F
          "5: worker.plugins: \"command\" is the built-in plugin; allow or forbid it by "
          "worker.allow_commands\n" F "6: worker.plugins: \"q\" does not say what to run; write "
          "{\"exec\": [\"/path/to/program\"]}\n"},
    {"{\"worker\": {\"plugins\": {\"p\": {\"exec\": [\"bin/x\"],\n\"processes\": 0,\n"
     "\"recycle_after\": -1,\n\"env\": {\"A=\": \"\"}}}}}",
        F "1: worker.plugins: exec of \"p\" must be an absolute path, or a bare name that PATH "
          "finds\n" F "2: worker.plugins: processes of \"p\" must be a whole number from 1 to "
          "4096\n" F "3: worker.plugins: recycle_after of \"p\" must be a number of tasks; 0: "
          "never\n" F "4: worker.plugins: env of \"p\" must be an object of strings, with no = in "
          "the names\n"},
    /* rules between keys */
    {"{\n\"server\": {\n\"listen\": [\"127.0.0.1:1\", \"0.0.0.0:2\"]}}",
        F "3: server.listen is \"0.0.0.0:2\", which others can reach, but there is no token; set "
          "server.token_file (make one: openssl rand -hex 32), or listen on 127.0.0.1\n"},
    {"{\"server\": {\"link_listen\": \"[::]:1\"}}",
        F "1: server.link_listen is \"[::]:1\", which others can reach, but there is no token; "
          "set server.join_token_file (make one: openssl rand -hex 32), or listen on 127.0.0.1\n"},
    {"{\"server\": {\"token\": \"0123456789abcdef\", \"token_file\": \"/t\"}}",
        F "1: both server.token and server.token_file are set; keep one of them\n"},
    {"{\"server\": {\"tls\": {\"cert\": \"/c\"}}}",
        F "1: server.tls.cert is set, but server.tls.key is not; set both, or neither\n"},
    {"{\"server\": {\n\"lose_after\": \"565s\"}}", F
        "2: server.lose_after is now server.lose_unhealthy_after; it counts from when a worker is "
        "unhealthy, not from its last word: 565s are now 500s\n"},
    {"{\"server\": {\"lose_unhealthy_after\": \"2s\",\n\"worker_margin\": \"2s\"}}",
        F "2: server.worker_margin must be less than server.lose_unhealthy_after; else a worker "
          "gives itself up as soon as it is unhealthy\n"},
    {"{\"server\": {\"heartbeat\": \"50ms\",\n\"worker_margin\": 0,\n\"dispatch\": \"hasty\"}}",
        F "1: server.heartbeat is 50ms; it must be at least 100ms\n" F
          "2: server.worker_margin is 0; it must be at least 10ms\n" F
          "3: server.dispatch is \"hasty\"; it must be one of durable|volatile\n"},
    {"{\"log\": {\"output\": \"file\"}}",
        F "1: log.output is \"file\", but log.file is not set; set log.file to the path of the "
          "file\n"},
    /* not JSON */
    {"{\n\"a\": 1\n\"b\": 2}", F "3: not valid JSON: '}' expected near '\"b\"'\n"},
    {"{\"log\": {},\n\"log\": {}}", F "2: not valid JSON: duplicate object key near '\"log\"'\n"},
    {"{} {}", F "1: not valid JSON: end of file expected near '{'\n"},
    {"[]", F "1: a configuration is one object: {\"server\": {…}, …}\n"},
    {"{\n/* x", F "2: this comment never ends; close it with */\n"},
    {"{\"log\": {,}}", F "1: not valid JSON: string or '}' expected near ','\n"},
};

static void test_bad(void **state)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct config_sources src = test_text(bad[i].text);
		struct problem p = {0};
		struct config *c;
		char *problems;

		assert_int_equal(config_load(&src, &c, &p), ERR_INVALID);
		problems = test_problems(c);
		assert_string_equal(problems, bad[i].problems);
		assert_int_equal(p.code, ERR_INVALID);
		assert_true(!strncmp(p.what, bad[i].problems, strlen(p.what)));
		free(problems);
		config_free(c);
	}
}

static const struct {
	const char *text, *problems;
} warned[] = {
    {"{\"server\": {\"token\": \"short\"}}",
        F "1: warning: server.token has only 5 characters; make a long one: openssl rand -hex "
          "32\n"},
    {"{\"server\": {\"listen\": \"0.0.0.0:1\", \"token_file\": \"/t\"}}",
        F "1: warning: server.listen is \"0.0.0.0:1\" without TLS: the token can be overheard; "
          "set server.tls.cert, or let a proxy or tunnel encrypt it\n"},
    {"{\"worker\": {\"server\": \"other:1\"}}",
        F "1: warning: worker.server is another machine, but there is no token; put the server's "
          "join token into worker.token_file\n"},
    {"{\"worker\": {\"activequeues\": [\"a\"],\n\"ignorequeues\": [\"b\"]}}",
        F "2: warning: worker.ignorequeues is not used, because worker.activequeues is set\n"},
    {"{\"worker\": {\"allow_commands\": false}}",
        F "1: warning: this worker allows no plugin, so it will run nothing; set worker.plugins, "
          "or worker.allow_commands to true\n"},
    {"{\"server\": {\"heartbeat_grace\": 14,\n\"healthcheck_grace\": 0}}",
        F "1: warning: server.heartbeat_grace is shorter than server.heartbeat; one late heartbeat "
          "makes a good worker unhealthy for a while\n" F
          "2: warning: server.healthcheck_grace is shorter than server.heartbeat; one late "
          "healthcheck makes a good worker unhealthy for a while\n"},
    {"{\"server\": {\"task_kill_wait\": \"1m\",\n\"lost_task_hold\": \"64s\"}}",
        F "2: warning: server.lost_task_hold is less than server.worker_margin and "
          "server.task_kill_wait together; a lost worker's task may still be dying when it is "
          "tried again\n"},
    {"{\"server\": {\"caution_startup_wait_for_workers\": 0}}",
        F "1: warning: server.caution_startup_wait_for_workers is not used, because "
          "server.dispatch is durable\n"},
    {"{\"server\": {\"dispatch\": \"volatile\",\n\"caution_startup_wait_for_workers\": \"10s\"}}",
        F "2: warning: server.caution_startup_wait_for_workers replaces the safe wait: copies of "
          "running tasks may be started; leave it out, unless you are certain that no worker runs "
          "anything\n"},
};

static void test_warnings(void **state)
{
	for (size_t i = 0; i < COUNT(warned); i++) {
		struct config_sources src = test_text(warned[i].text);
		struct config *c = test_load_good(&src);
		char *problems = test_problems(c);

		assert_string_equal(problems, warned[i].problems);
		free(problems);
		config_free(c);
	}
}

/* What the command line does not use must not stop it. */
static void test_others_mistakes_are_warnings(void **state)
{
	struct config_sources src =
	    test_text("{\"worker\": {\"maxthread\": 1}, \"server\": {\"listen\": \"*:1\"}}");
	struct config *c;
	char *problems;

	src.users = CONFIG_FOR_CLI;
	c = test_load_good(&src);
	problems = test_problems(c);
	assert_non_null(strstr(problems, "1: warning: unknown key \"maxthread\""));
	assert_non_null(strstr(problems, "1: warning: server.listen"));
	free(problems);
	config_free(c);
	src.text = STR("{\"cli\": {\"output\": \"xml\"}}");
	assert_int_equal(config_load(&src, &c, NULL), ERR_INVALID);
	config_free(c);
}

static void test_many_problems_are_bounded(void **state)
{
	struct config_sources src;
	struct buf b = {0};
	struct config *c;

	buf_add_char(&b, '{');
	for (int i = 0; i < 5000; i++)
		buf_printf(&b, "\"bad%d\": 1,\n", i);
	buf_add_char(&b, '}');
	src = test_text(b.p);
	assert_int_equal(config_load(&src, &c, NULL), ERR_INVALID);
	assert_int_equal(config_problem_count(c), 101);
	assert_string_equal(config_problem_at(c, 100)->what, "further problems are not shown");
	assert_string_equal(config_problem_at(c, 99)->what, "unknown key \"bad99\"");
	config_free(c);
	buf_release(&b);
}

static void test_plugins(void **state)
{
	struct config_sources src = test_text(
	    "{\"worker\": {\"plugins\": {"
	    "\"thumb\": {\"exec\": [\"/opt/thumb\", \"-q\"], \"mode\": \"persistent\", "
	    "\"processes\": 4, \"recycle_after\": 1000, \"env\": {\"A\": \"1\", \"B\": \"\"}},"
	    "\"mail\": {\"exec\": \"sendmail\"}}}}");
	struct config *c = test_load_good(&src);
	const struct config_plugin *p = config_plugin_at(c, 0);

	assert_int_equal(config_plugin_count(c), 2);
	assert_string_equal(p->name, "thumb");
	assert_int_equal(p->argc, 2);
	assert_string_equal(p->argv[1], "-q");
	assert_null(p->argv[2]);
	assert_true(p->is_persistent);
	assert_int_equal(p->processes, 4);
	assert_int_equal(p->recycle_after, 1000);
	assert_int_equal(p->n_env, 2);
	assert_string_equal(p->env[1], "B=");
	p = config_plugin_at(c, 1);
	assert_string_equal(p->argv[0], "sendmail");
	assert_false(p->is_persistent);
	assert_null(p->env[0]);
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_good),
	    cmocka_unit_test(test_bad),
	    cmocka_unit_test(test_warnings),
	    cmocka_unit_test(test_others_mistakes_are_warnings),
	    cmocka_unit_test(test_many_problems_are_bounded),
	    cmocka_unit_test(test_plugins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
