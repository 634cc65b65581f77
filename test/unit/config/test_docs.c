/* SPDX-License-Identifier: Apache-2.0 */
/* The table itself, what is shown of it, the reference in the docs, and the example file. */
#include "config_test.h"

#include <ctype.h>

#include "base/mem.h"

static char *source_path(const char *name)
{
	const char *root = getenv("REEVE_SOURCE_ROOT");

	return xasprintf("%s/%s", root ? root : ".", name);
}

static void slurp(const char *name, struct buf *b)
{
	char *path = source_path(name), bytes[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(bytes, 1, sizeof bytes, f)) > 0)
		buf_add(b, bytes, n);
	fclose(f);
	free(path);
}

static void assert_env_name(const struct config_key *k)
{
	char *name = xasprintf("REEVE_%s", k->name);

	for (char *p = name; *p; p++)
		*p = (char)(*p == '.' ? '_' : toupper((unsigned char)*p));
	/* what everybody types is short: REEVE_SERVER, REEVE_TOKEN, REEVE_OUTPUT */
	if (!strncmp(k->name, "cli.", 4))
		memmove(name + 6, name + 10, strlen(name + 10) + 1);
	assert_string_equal(k->env, name);
	free(name);
}

static void test_rows(void **state)
{
	for (size_t i = 0; i < n_config_keys; i++) {
		const struct config_key *k = &config_keys[i];
		size_t n = strlen(k->help);

		assert_true(strchr(k->name, '.') != NULL);
		assert_ptr_equal(config_key_find(str_of(k->name)), k);
		assert_env_name(k);
		assert_true(n > 10 && k->help[n - 1] == '.' && !strchr(k->help, '\n'));
		assert_true(k->users != 0);
		assert_true((k->type == KEY_ENUM) == (k->choices != NULL));
		if (k->type == KEY_INT || k->type == KEY_SIZE || k->type == KEY_DURATION)
			assert_true(k->min < k->max);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(config_keys[j].env, k->env);
		if (k->type == KEY_TOKEN) { /* a flag would show it to every ps */
			char *file = xasprintf("%s_file", k->name);

			assert_null(k->flag);
			assert_non_null(config_key_find(str_of(file)));
			free(file);
		}
	}
}

static void test_defaults_are_valid(void **state)
{
	struct config_sources src = {0};
	struct config *c;

	src.etc_dir = "/nonexistent";
	c = test_load_good(&src);
	assert_int_equal(config_problem_count(c), 0);
	for (size_t i = 0; i < n_config_keys; i++)
		assert_int_equal(
		    config_is_set(c, config_keys[i].name), config_keys[i].value != NULL);
	assert_int_equal(config_duration_ms(c, "server.lose_unhealthy_after"), 500000);
	assert_int_equal(config_duration_ms(c, "server.lost_task_hold"), 66000);
	assert_int_equal(config_enum(c, "server.dispatch"), 0);
	assert_false(config_is_set(c, "server.caution_startup_wait_for_workers"));
	assert_int_equal(config_enum(c, "worker.when_lost"), 0);
	assert_int_equal(config_int(c, "server.limits.body_max"), 64 << 20);
	assert_int_equal(config_int(c, "server.socket_mode"), 0600);
	assert_int_equal(config_enum(c, "log.level"), 2);
	assert_true(config_bool(c, "worker.allow_commands"));
	assert_true(config_int(c, "worker.maxthreads") > 0);
	assert_string_equal(config_str(c, "server.store"), "sqlite:/var/lib/reeve/reeve.db");
	assert_string_equal(config_str(c, "server.socket"), "/var/lib/reeve/reeve.sock");
	config_free(c);
}

static void test_flags(void **state)
{
	static const struct {
		const char *flag;
		unsigned users;
		const char *key;
	} flags[] = {{"state-dir", CONFIG_FOR_SERVER, "server.state_dir"},
	    {"state-dir", CONFIG_FOR_WORKER, "worker.state_dir"},
	    {"state-dir", CONFIG_FOR_CLI, NULL}, {"server", CONFIG_FOR_CLI, "cli.server"},
	    {"token-file", CONFIG_FOR_CLI, "cli.token_file"},
	    {"token-file", CONFIG_FOR_WORKER, "worker.token_file"},
	    {"log-level", CONFIG_FOR_WORKER, "log.level"}, {"join", CONFIG_FOR_SERVER, NULL}};

	for (size_t i = 0; i < COUNT(flags); i++) {
		const struct config_key *k = config_key_by_flag(flags[i].flag, flags[i].users);

		if (flags[i].key)
			assert_string_equal(k->name, flags[i].key);
		else
			assert_null(k);
	}
}

static void test_show_hides_secrets(void **state)
{
	struct config_sources src =
	    test_text("{\"server\": {\"token\": \"hush-hush-hush-hush\", \"store\": "
	              "\"postgres://u:hush@h/d\"}, \"worker\": {\"plugins\": {\"p\": {\"exec\": "
	              "\"x\", \"env\": {\"PASSWORD\": \"hush\"}}}}, \"cli\": {\"server\": "
	              "\"https://u:hush@h\"}}");
	struct config *c = test_load_good(&src);
	struct buf text = {0}, json = {0};

	config_show(c, true, &text);
	config_show_json(c, &json);
	assert_null(strstr(text.p, "hush"));
	assert_null(strstr(json.p, "hush"));
	assert_non_null(strstr(text.p, "reeve.json:1"));
	assert_non_null(strstr(text.p, "(set)\n"));
	assert_non_null(strstr(json.p, "\"origin\": \"reeve.json:1\""));
	config_free(c);
	buf_release(&text);
	buf_release(&json);
}

static void test_loopback(void **state)
{
	static const char *const yes[] = {"127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "localhost:1"};
	static const char *const no[] = {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "127.0.0.1.example:1",
	    "localhost.example.com:1", "[::ffff:10.0.0.1]:1", "nonsense", ""};

	for (size_t i = 0; i < COUNT(yes); i++)
		assert_true(config_address_is_loopback(yes[i]));
	for (size_t i = 0; i < COUNT(no); i++)
		assert_false(config_address_is_loopback(no[i]));
}

/* When this fails, put the output of `reeve gen config-doc` between the docs' two marks. */
static void test_reference_is_in_the_docs(void **state)
{
	struct buf docs = {0}, reference = {0};

	slurp("docs/CONFIGURATION.md", &docs);
	buf_add_cstr(&reference, "<!-- reference: begin -->\n");
	config_write_reference(&reference);
	buf_add_cstr(&reference, "<!-- reference: end -->\n");
	assert_non_null(strstr(docs.p, reference.p));
	buf_release(&docs);
	buf_release(&reference);
}

/* Every key of Disbatch's configuration has its row in the docs. */
static void test_seed_keys_are_mapped(void **state)
{
	static const char *const keys[] = {"mongohost", "database", "attributes", "auth", "plugins",
	    "monitoring", "balance", "web_extensions", "task_runner", "gfs", "web_root",
	    "views_dir", "log4perl", "activequeues", "ignorequeues"};
	struct buf docs = {0};

	slurp("docs/coming-from/disbatch.md", &docs);
	for (size_t i = 0; i < COUNT(keys); i++) {
		char *row = xasprintf("\n| `%s` |", keys[i]);

		assert_non_null(strstr(docs.p, row));
		free(row);
	}
	buf_release(&docs);
}

static void test_example_is_valid(void **state)
{
	struct config_sources src = {.uid = 1000, .environment = test_environment};
	struct config *c;

	src.file = source_path("examples/reeve.json");
	c = test_load_good(&src);
	assert_int_equal(config_problem_count(c), 0);
	assert_true(config_plugin_count(c) > 0);
	config_free(c);
	free((char *)src.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_defaults_are_valid),
	    cmocka_unit_test(test_flags),
	    cmocka_unit_test(test_show_hides_secrets),
	    cmocka_unit_test(test_loopback),
	    cmocka_unit_test(test_reference_is_in_the_docs),
	    cmocka_unit_test(test_seed_keys_are_mapped),
	    cmocka_unit_test(test_example_is_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
