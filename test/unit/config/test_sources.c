/* SPDX-License-Identifier: Apache-2.0 */
/* Where values come from: precedence, origins, conf.d, the usual places, secrets in files. */
#include "config_test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

struct tree {
	char dir[64];
};

static int setup(void **state)
{
	struct tree *t = xcalloc(1, sizeof *t);

	strcpy(t->dir, "/tmp/reeve-config-XXXXXX");
	assert_non_null(mkdtemp(t->dir));
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char *command = xasprintf("rm -rf '%s'", t->dir);
	int err = system(command);

	free(command);
	free(t);
	return err;
}

/* Writes a file below the tree, with its folders; returns its path, which the caller frees. */
static char *put(struct tree *t, const char *name, const char *text, mode_t mode)
{
	char *path = xasprintf("%s/%s", t->dir, name);
	FILE *f;

	for (char *p = path + strlen(t->dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
	return path;
}

static void put_away(struct tree *t, const char *name, const char *text)
{
	free(put(t, name, text, 0644));
}

static void assert_origin(struct config *c, const char *key, const char *value, const char *origin)
{
	struct buf b = {0};

	config_write_value(c, key, &b);
	assert_string_equal(b.p, value);
	assert_non_null(strstr(config_origin(c, key), origin));
	buf_release(&b);
}

static void test_precedence(void **state)
{
	struct tree *t = *state;
	static const char *const env[] = {"REEVE_LOG_LEVEL=error", "REEVE_WORKER_ZONE=env",
	    "REEVE_LOG_FORMAT=", "REEVE_SERVER=unix:/s", NULL};
	static const struct config_flag flags[] = {{"log.level", "debug"}};
	struct config_sources src = {.environment = env, .flags = flags, .n_flags = 1};
	struct config *c;

	src.file = put(t, "reeve.json",
	    "{\n\"log\": {\"level\": \"warn\",\n\"format\": \"json\"},\n"
	    "\"worker\": {\"zone\": \"file\",\n\"name\": \"file\", \"target\": \"t\"}}",
	    0644);
	put_away(t, "conf.d/10.json", "{\"worker\": {\n\n\"zone\": \"part\", \"name\": \"part\"}}");
	c = test_load_good(&src);
	assert_origin(c, "log.level", "\"debug\"", "--log-level");
	assert_origin(c, "worker.zone", "\"env\"", "REEVE_WORKER_ZONE");
	assert_origin(c, "worker.name", "\"part\"", "/conf.d/10.json:3");
	assert_origin(c, "worker.target", "\"t\"", "/reeve.json:5");
	assert_origin(c, "log.format", "\"json\"", "/reeve.json:3");
	assert_origin(c, "log.output", "\"stderr\"", "default");
	assert_origin(c, "cli.server", "\"unix:/s\"", "REEVE_SERVER");
	assert_string_equal(config_origin(c, "log.file"), "");
	assert_true(config_is_given(c, "log.level"));
	assert_false(config_is_given(c, "log.output"));
	assert_true(config_is_set(c, "log.output"));
	assert_string_equal(config_file(c), src.file);
	config_free(c);
	free((char *)src.file);
}

static void test_conf_d_order_and_merge(void **state)
{
	struct tree *t = *state;
	struct config_sources src = {0};
	struct buf b = {0};
	struct config *c;

	src.file = put(t, "reeve.json",
	    "{\"worker\": {\"plugins\": {\"a\": {\"exec\": \"a0\"}, \"b\": {\"exec\": \"b0\"}},"
	    "\"activequeues\": [\"x\", \"y\"]}}",
	    0644);
	put_away(t, "conf.d/20.json", "{\"worker\": {\"name\": \"twenty\"}}");
	put_away(t, "conf.d/10.json",
	    "{\"worker\": {\"name\": \"ten\", \"plugins\": {\"b\": {\"exec\": \"b1\"},"
	    "\"c\": {\"exec\": \"c1\"}}, \"activequeues\": [\"z\"]}}");
	put_away(t, "conf.d/30.txt", "not read");
	put_away(t, "conf.d/.40.json", "not read");
	c = test_load_good(&src);
	assert_origin(c, "worker.name", "\"twenty\"", "conf.d/20.json:1");
	assert_origin(c, "worker.activequeues", "[\"z\"]", "conf.d/10.json:1");
	config_json(c, "worker.plugins", &b);
	assert_string_equal(
	    b.p, "{\"a\":{\"exec\":\"a0\"},\"b\":{\"exec\":\"b1\"},\"c\":{\"exec\":\"c1\"}}");
	assert_int_equal(config_plugin_count(c), 3);
	buf_release(&b);
	config_free(c);
	put_away(t, "conf.d/99.json", "{\n\"log\": {\"lvel\": 1}}");
	assert_int_equal(config_load(&src, &c, NULL), ERR_INVALID);
	assert_int_equal(config_problem_count(c), 1);
	assert_non_null(strstr(config_problem_at(c, 0)->place, "conf.d/99.json"));
	assert_int_equal(config_problem_at(c, 0)->line, 2);
	config_free(c);
	free((char *)src.file);
}

static void test_flags_add_up(void **state)
{
	static const struct config_flag flags[] = {{"server.listen", "127.0.0.1:1"},
	    {"server.listen", "127.0.0.1:2, 127.0.0.1:3"}, {"worker.labels", "a=1,b=2"},
	    {"worker.labels", "a=3"}, {"worker.maxthreads", "7"}, {"worker.maxthreads", "8"}};
	struct config_sources src = test_text(
	    "{\"server\": {\"listen\": \"127.0.0.1:9\"}, \"worker\": {\"labels\": {\"z\": \"\"}}}");
	struct buf b = {0};
	struct config *c;

	src.flags = flags;
	src.n_flags = COUNT(flags);
	c = test_load_good(&src);
	assert_origin(
	    c, "server.listen", "[\"127.0.0.1:1\", \"127.0.0.1:2\", \"127.0.0.1:3\"]", "--listen");
	assert_origin(c, "worker.maxthreads", "8", "--maxthreads");
	config_lines(c, "worker.labels", &b);
	assert_string_equal(b.p, "a=3\nb=2\n");
	buf_release(&b);
	config_free(c);
}

static void test_bad_variables_and_flags(void **state)
{
	static const char *const env[] = {"REEVE_LOG_LEVEL=loud", "REEVE_WORKER_MAXTREADS=1",
	    "REEVE_TASK_ID=7", "REEVE_SERVER_LOSE_AFTER=60s", "REEVE_WORKER_LOCK=x",
	    "REEVE_WORKER_LABELS=a", NULL};
	static const struct config_flag flags[] = {{"worker.maxthreads", "many"}};
	struct config_sources src = {
	    .environment = env, .flags = flags, .n_flags = 1, .text = STR("{}")};
	struct config *c;
	char *problems;

	assert_int_equal(config_load(&src, &c, NULL), ERR_INVALID);
	problems = test_problems(c);
	assert_string_equal(problems,
	    "REEVE_WORKER_LABELS: worker.labels is \"a\", which is not an object of strings such "
	    "as {\"key\": \"value\"}\n"
	    "REEVE_LOG_LEVEL: log.level is \"loud\"; it must be one of error|warn|info|debug\n"
	    "REEVE_SERVER_LOSE_AFTER: this variable is now REEVE_SERVER_LOSE_UNHEALTHY_AFTER; it "
	    "counts from when a worker is unhealthy, not from its last word: 565s are now 500s\n"
	    "REEVE_WORKER_MAXTREADS: warning: there is no such setting; did you mean "
	    "REEVE_WORKER_MAXTHREADS?\n"
	    "--maxthreads: worker.maxthreads is \"many\", which is not a whole number\n");
	free(problems);
	config_free(c);
}

static void test_usual_places(void **state)
{
	struct tree *t = *state;
	char *home = xasprintf("HOME=%s/home", t->dir), *xdg;
	char *etc = xasprintf("%s/etc", t->dir);
	const char *env[] = {home, NULL, NULL};
	struct config_sources src = {.environment = env, .etc_dir = etc, .uid = 1000};
	struct config *c = test_load_good(&src);

	assert_null(config_file(c)); /* nothing there: defaults */
	config_free(c);
	put_away(t, "etc/reeve.json", "{\"worker\": {\"zone\": \"etc\"}}");
	c = test_load_good(&src);
	assert_origin(c, "worker.zone", "\"etc\"", "/etc/reeve.json:1");
	config_free(c);
	put_away(t, "home/.config/reeve/reeve.json",
	    "{\"worker\": {\"zone\": \"home\", \"state_dir\": \"here\"}}");
	c = test_load_good(&src);
	assert_origin(c, "worker.zone", "\"home\"", "/.config/reeve/reeve.json:1");
	/* relative to the file */
	assert_non_null(strstr(config_str(c, "worker.state_dir"), "/.config/reeve/here"));
	config_free(c);
	src.uid = 0; /* root looks at /etc first */
	c = test_load_good(&src);
	assert_origin(c, "worker.zone", "\"etc\"", "/etc/reeve.json:1");
	assert_string_equal(config_str(c, "server.state_dir"), "/var/lib/reeve");
	config_free(c);
	src.uid = 1000;
	xdg = xasprintf("XDG_CONFIG_HOME=%s/xdg", t->dir);
	env[1] = xdg;
	put_away(t, "xdg/reeve/conf.d/1.json", "{\"worker\": {\"zone\": \"part\"}}");
	c = test_load_good(&src); /* conf.d alone is enough */
	assert_origin(c, "worker.zone", "\"part\"", "/xdg/reeve/conf.d/1.json:1");
	config_free(c);
	free(home);
	free(xdg);
	free(etc);
}

static void test_named_file_must_exist(void **state)
{
	static const char *const env[] = {"REEVE_CONFIG=/nonexistent/r.json", NULL};
	struct config_sources src = {.file = "/nonexistent/x.json"};
	struct problem p = {0};
	struct config *c;

	assert_int_equal(config_load(&src, &c, &p), ERR_NOT_FOUND);
	assert_string_equal(
	    p.what, "/nonexistent/x.json: cannot be read: No such file or directory");
	config_free(c);
	src = (struct config_sources){.environment = env};
	assert_int_equal(config_load(&src, &c, &p), ERR_NOT_FOUND);
	assert_string_equal(p.hint, "REEVE_CONFIG names it");
	config_free(c);
	src = (struct config_sources){.file = "/tmp"};
	assert_int_equal(config_load(&src, &c, &p), ERR_INVALID);
	assert_string_equal(p.what, "/tmp: cannot be read: Is a directory");
	config_free(c);
	src = (struct config_sources){.file = "/dev/null"};
	config_free(test_load_good(&src));
}

static void test_huge_and_deep(void **state)
{
	struct tree *t = *state;
	struct config_sources src = {0};
	char *text = xmalloc(CONFIG_FILE_MAX + 2);
	struct problem p = {0};
	struct config *c;

	memset(text, ' ', CONFIG_FILE_MAX + 1);
	text[CONFIG_FILE_MAX + 1] = '\0';
	src.file = put(t, "huge.json", text, 0644);
	assert_int_equal(config_load(&src, &c, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "larger than 1048576 bytes"));
	config_free(c);
	free((char *)src.file);
	text[CONFIG_FILE_MAX] = '\0';
	src.file = put(t, "full.json", text, 0644);
	config_free(test_load_good(&src));
	free((char *)src.file);
	memset(text, '[', 100000);
	src.file = put(t, "deep.json", text, 0644);
	assert_int_equal(config_load(&src, &c, &p), ERR_INVALID);
	assert_non_null(strstr(p.what, "deep.json:1: nested more than 32 deep"));
	config_free(c);
	free((char *)src.file);
	free(text);
}

static void test_readable_secret_is_warned_of(void **state)
{
	struct tree *t = *state;
	static const char text[] = "{\"cli\": {\"token\": \"0123456789abcdef\"}}";
	struct config_sources src = {.file = put(t, "r.json", text, 0644)};
	struct config *c = test_load_good(&src);

	assert_int_equal(config_problem_count(c), 1);
	assert_true(config_problem_at(c, 0)->is_warning);
	assert_string_equal(config_problem_at(c, 0)->what,
	    "holds a secret, and everybody on this machine can read it");
	config_free(c);
	assert_int_equal(chmod(src.file, 0640), 0);
	c = test_load_good(&src);
	assert_int_equal(config_problem_count(c), 0);
	config_free(c);
	free((char *)src.file);
}

static void test_secrets(void **state)
{
	struct tree *t = *state;
	char *path = put(t, "token", "from-the-file-0123\n", 0600);
	char *variable = xasprintf("REEVE_SERVER_TOKEN_FILE=%s", path);
	const char *const env[] = {variable, NULL};
	struct config_sources src = test_text("{\"server\": {\"token\": \"in-the-config-0123\"}}");
	struct problem p = {0};
	struct buf b = {0};
	struct config *c = test_load_good(&src);

	assert_int_equal(config_secret(c, "server.token", &b, &p), 0);
	assert_string_equal(b.p, "in-the-config-0123");
	buf_reset(&b);
	assert_int_equal(config_secret(c, "server.join_token", &b, &p), 0);
	assert_int_equal(b.n, 0);
	config_free(c);
	src.environment = env; /* higher precedence */
	c = test_load_good(&src);
	assert_int_equal(config_secret(c, "server.token", &b, &p), 0);
	assert_string_equal(b.p, "from-the-file-0123");
	free(put(t, "token", "two words\n", 0600));
	assert_int_equal(config_secret(c, "server.token", &b, &p), ERR_INVALID);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(config_secret(c, "server.token", &b, &p), ERR_NOT_FOUND);
	assert_non_null(strstr(p.hint, "openssl rand"));
	config_free(c);
	buf_release(&b);
	free(variable);
	free(path);
}

static void test_differs(void **state)
{
	struct config_sources one = test_text("{\"log\": {\"level\": \"warn\"},"
	                                      "\"server\": {\"allow_hosts\": [\"a\", \"b\"]}}");
	struct config_sources two = test_text("{\"log\": {\"level\": \"debug\"},"
	                                      "\"server\": {\"allow_hosts\": [\"a\", \"c\"]},"
	                                      "\"worker\": {\"labels\": {\"a\": \"b\"}}}");
	struct config *a = test_load_good(&one), *b = test_load_good(&two);

	assert_true(config_differs(a, b, "log.level"));
	assert_true(config_differs(a, b, "server.allow_hosts"));
	assert_true(config_differs(a, b, "worker.labels"));
	assert_false(config_differs(a, b, "log.format"));
	assert_false(config_differs(a, a, "server.allow_hosts"));
	config_free(a);
	config_free(b);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_precedence),
	    TEST(test_conf_d_order_and_merge),
	    TEST(test_flags_add_up),
	    TEST(test_bad_variables_and_flags),
	    TEST(test_usual_places),
	    TEST(test_named_file_must_exist),
	    TEST(test_huge_and_deep),
	    TEST(test_readable_secret_is_warned_of),
	    TEST(test_secrets),
	    TEST(test_differs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
