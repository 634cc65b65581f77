/* SPDX-License-Identifier: Apache-2.0 */
/* Nouns as tables: values for people, requests from options, and rows that fit their commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"
#include "model/objects/graph.h"
#include "model/objects/group.h"
#include "model/objects/queue.h"
#include "model/objects/schedule.h"
#include "wire/json/task.h"

#define OBJECT                                                                                    \
	"{\"name\":\"a\",\"empty\":\"\",\"null\":null,\"n\":1234567,\"zero\":0,\"in\":{\"x\":7}," \
	"\"list\":[\"a\",\"b\"],\"pairs\":{\"k\":\"v\"},\"none\":{},\"command\":[\"echo\",\"a "   \
	"b\"]}"

static void assert_value(struct value v, const char *want)
{
	AUTO(json_drop) json_t *object = json_loads(OBJECT, 0, NULL);
	AUTO(free_cstr) char *text = value_text(NULL, &v, object);

	if (want)
		assert_string_equal(text, want);
	else
		assert_null(text);
}

static void test_values(void **state)
{
	assert_value((struct value){SHOWN_TEXT, "name"}, "a");
	assert_value((struct value){SHOWN_TEXT, "empty"}, NULL);
	assert_value((struct value){SHOWN_TEXT, "null", "nobody"}, "nobody");
	assert_value((struct value){SHOWN_TEXT, "absent.deeper"}, NULL);
	assert_value((struct value){SHOWN_NUMBER, "in.x"}, "7");
	assert_value((struct value){SHOWN_NUMBER, "in.y", "0"}, "0");
	assert_value((struct value){SHOWN_COUNT, "n"}, "1,234,567");
	assert_value((struct value){SHOWN_COARSE, "n"}, "20m");
	assert_value((struct value){SHOWN_AGE, "n"}, "20m ago");
	assert_value((struct value){SHOWN_AGE, "zero"}, "now");
	assert_value((struct value){SHOWN_SPAN_IF, "zero"}, NULL);
	assert_value((struct value){SHOWN_NAMES, "list"}, "a,b");
	assert_value((struct value){SHOWN_PAIRS, "pairs"}, "k=v");
	assert_value((struct value){SHOWN_COMMAND, "command"}, "echo 'a b'");
	assert_value((struct value){SHOWN_JSON, "none"}, "{}");
	assert_value((struct value){SHOWN_OBJECT, "none"}, NULL);
}

static const struct option_def options[] = {
    {"text", 0, "TEXT", ""},
    {"other-text", 0, "TEXT", ""},
    {"at", 0, "TIME", ""},
    {"number", 0, "N", ""},
    {"on", 0, NULL, ""},
    {"queue", 0, "NAME", "", NULL, OPTION_REPEAT},
    {"env", 0, "KEY=VALUE", "", NULL, OPTION_REPEAT},
    {"yes", 'y', NULL, ""},
    {NULL},
};

static const struct setting settings[] = {
    {"text", SETTING_TEXT, .none = true},
    {"other-text", SETTING_TEXT},
    {"at", SETTING_MOMENT},
    {"number", SETTING_NUMBER, .max = 9, .instead = "worker", .hint = "up to nine"},
    {"on", SETTING_SWITCH, .member = "is_on"},
    {"queue", SETTING_NAMES, .member = "queues"},
    {"env", SETTING_PAIRS},
    {"elsewhere", SETTING_TEXT},
    {NULL},
};

static void line_parse(struct cli *c, const char *line)
{
	static char words[256];
	char *argv[16], *save = NULL;
	int argc = 0;

	*c = (struct cli){0};
	snprintf(words, sizeof words, "%s", line);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	options_add_table(&c->options, options);
	options_add_table(&c->options, process_options);
	assert_int_equal(options_parse(&c->options, OPTIONS_ANYWHERE, argc, argv, &c->problem), 0);
}

/* `old`: what is there already; "": a new body, "=": the body itself is changed. */
static void assert_body(const char *line, const char *old, const char *want)
{
	bool whole = *old == '=';
	AUTO(json_drop) json_t *was = json_loads(whole ? old + 1 : old, 0, NULL);
	AUTO(json_drop) json_t *body = whole ? json_incref(was) : json_object();
	AUTO(json_drop) json_t *wanted = want ? json_loads(want, 0, NULL) : NULL;
	struct cli c;
	int r;

	line_parse(&c, line);
	r = body_add(&c, settings, was, body);
	assert_int_equal(r, want ? 0 : ERR_INVALID);
	if (want)
		assert_true(json_equal(body, wanted));
	options_release(&c.options);
}

static void test_bodies(void **state)
{
	assert_body("", "", "{}");
	assert_body("--text x --other-text y", "", "{\"text\":\"x\",\"other_text\":\"y\"}");
	assert_body("--text none --other-text none", "", "{\"text\":null,\"other_text\":\"none\"}");
	assert_body("--other-text none", "={\"other_text\":\"y\",\"z\":1}", "{\"z\":1}");
	assert_body("--at 0", "", "{\"at\":\"1970-01-01T00:00:00.000Z\"}");
	assert_body("--at 5m", "", "{\"at\":\"5m\"}");
	assert_body("--number 9", "", "{\"number\":9}");
	assert_body("--number worker", "", "{\"number\":\"worker\"}");
	assert_body("--number 10", "", NULL);
	assert_body("--number none", "", NULL);
	assert_body("--on", "", "{\"is_on\":true}");
	assert_body("--no-on", "", "{\"is_on\":false}");
	assert_body("--queue a --queue b", "", "{\"queues\":[\"a\",\"b\"]}");
	assert_body("--env A=1", "", "{\"env\":{\"A\":\"1\"}}");
	assert_body("--env A= --env C=3", "{\"env\":{\"A\":\"1\",\"B\":\"2\"}}",
	    "{\"env\":{\"B\":\"2\",\"C\":\"3\"}}");
	assert_body("--env A", "", NULL);
}

/* JSON cannot hold other bytes: what was asked for must not be dropped without a word. */
static void test_text_that_is_not_utf8_is_refused(void **state)
{
	assert_body("--text \xff", "", NULL);
	assert_body("--at \xff", "", NULL);
	assert_body("--queue \xff", "", NULL);
	assert_body("--env A=\xff", "", NULL);
	assert_body("--env \xff=1", "", NULL);
}

static void test_what_is_put_over_must_be_read_first(void **state)
{
	struct made_settings made;
	struct cli c;

	line_parse(&c, "--text x --queue a");
	assert_false(body_needs_old(&c, settings));
	options_release(&c.options);
	line_parse(&c, "--env A=1");
	assert_true(body_needs_old(&c, settings));
	options_release(&c.options);
	line_parse(&c, "--nice 3");
	assert_false(body_needs_old(&c, settings));
	assert_true(body_needs_old(&c, noun_settings(&queue_noun, &made)));
	options_release(&c.options);
}

static void test_options_are_parameters(void **state)
{
	struct buf url = {0};
	struct cli c;

	line_parse(&c, "--queue a --text x/y --queue b --on --yes");
	query_add(&c, options, &url);
	assert_string_equal(url.p, "?text=x%2Fy&on=true&queue=a&queue=b");
	buf_release(&url);
	options_release(&c.options);
}

static bool has_option(const struct command *cmd, const char *name)
{
	for (size_t i = 0; i < COMMAND_TABLES_MAX && cmd->options[i]; i++)
		for (const struct option_def *d = cmd->options[i]; d->name; d++)
			if (!strcmp(d->name, name))
				return true;
	return false;
}

/* Some command of the noun has the option that each setting speaks of. */
static void assert_settings(const struct noun *n, const struct setting *table)
{
	for (const struct setting *s = table; s && s->option; s++) {
		bool found = false;

		for (size_t i = 0; command_at(i); i++) {
			const struct command *cmd = command_at(i);

			found |= strcspn(cmd->path, " ") == strlen(n->word) &&
			         !strncmp(cmd->path, n->word, strlen(n->word)) &&
			         has_option(cmd, s->option);
		}
		assert_true(found);
	}
}

/* Every option of the command's own tables is a setting: none is understood and then forgotten. */
static void assert_all_set(const struct command *cmd, const struct setting *table)
{
	for (size_t i = 0; i < COMMAND_TABLES_MAX && cmd->options[i]; i++) {
		if (cmd->options[i] == output_options || cmd->options[i] == process_options)
			continue;
		for (const struct option_def *o = cmd->options[i]; o->name; o++) {
			const struct setting *s = table;

			while (s->option && strcmp(s->option, o->name))
				s++;
			if (!s->option)
				fail_msg("%s --%s sets nothing", cmd->path, o->name);
		}
	}
}

static void test_rows_fit_their_commands(void **state)
{
	struct made_settings made;
	size_t n_found = 0;

	assert_settings(&schedule_noun, settings_make(schedule_fields, &made));
	for (size_t i = 0; command_at(i); i++) {
		const struct command *cmd = command_at(i);
		const struct noun *n = noun_find(cmd->path, strcspn(cmd->path, " "));

		if (cmd->run == noun_ls)
			assert_non_null(n->list);
		if (cmd->run == noun_show)
			assert_non_null(n->view);
		if (cmd->run == noun_create || cmd->run == noun_set) {
			assert_non_null(noun_settings(n, &made));
			assert_all_set(cmd, noun_settings(n, &made));
		}
		if (cmd->run == noun_pause) {
			assert_non_null(n->pause);
			assert_all_set(cmd, n->pause);
		}
		if (cmd->run == noun_rm)
			assert_non_null(n->gone);
		if (!n)
			continue;
		n_found++;
		assert_settings(n, noun_settings(n, &made));
		assert_settings(n, n->pause);
	}
	assert_true(n_found > 20);
}

static const struct option_def *option_of(const char *command, const char *option)
{
	for (size_t i = 0; command_at(i); i++)
		for (size_t k = 0; k < COMMAND_TABLES_MAX && command_at(i)->options[k]; k++)
			for (const struct option_def *d = command_at(i)->options[k]; d->name; d++)
				if (!strcmp(command_at(i)->path, command) &&
				    !strcmp(d->name, option))
					return d;
	fail_msg("%s has no --%s", command, option);
	return NULL;
}

static void assert_help(const char *command, const char *option, const char *want)
{
	const struct command *cmd = NULL;

	for (size_t i = 0; command_at(i); i++)
		if (!strcmp(command_at(i)->path, command))
			cmd = command_at(i);
	assert_string_equal(option_help(cmd, option_of(command, option)), want);
}

static const char *about(const struct field *f, const char *name)
{
	while (strcmp(f->name, name))
		assert_non_null((++f)->name);
	return f->about;
}

/* An option says what it does, or its member does. */
static void test_every_option_has_its_words(void **state)
{
	for (size_t i = 0; command_at(i); i++)
		for (size_t k = 0; k < COMMAND_TABLES_MAX && command_at(i)->options[k]; k++)
			for (const struct option_def *d = command_at(i)->options[k]; d->name; d++)
				if (!*option_help(command_at(i), d))
					fail_msg(
					    "%s --%s says nothing", command_at(i)->path, d->name);
	assert_help("queue set", "max-attempts", about(queue_fields, "max_attempts"));
	assert_help("queue create", "output-mode", about(queue_fields, "output"));
	assert_help("submit", "max-attempts", about(task_given_fields, "max_attempts"));
	assert_help("schedule set", "jitter", about(schedule_fields, "jitter"));
	assert_help("schedule set", "backoff", about(task_given_fields, "backoff"));
}

/* "counts.queued", "timeout_ms": as answers call what the table has as "timeout". */
static bool is_shown(const struct field *fields, const char *path)
{
	size_t n = strcspn(path, ".");

	for (const struct field *f = fields; f->name; f++) {
		bool is_span = f->kind == FIELD_DURATION || f->kind == FIELD_SECONDS;
		size_t length = strlen(f->name);

		if (!(f->flags & FIELD_SHOWN) || n != length + (is_span ? 3 : 0) ||
		    strncmp(path, f->name, length) || (is_span && strncmp(path + length, "_ms", 3)))
			continue;
		return !path[n] || !f->table || is_shown(f->table, path + n + 1);
	}
	return false;
}

static void assert_shown(const struct field *fields, const struct value *v)
{
	/* what commands find out beside the object: `group show`, `schedule ls` */
	static const char *const found[] = {"states", "taken", "eta", "waits", "last.state"};
	bool is_found = v->words != NULL;

	for (size_t i = 0; i < N_OF(found) && !is_found; i++)
		is_found = !strcmp(v->member, found[i]);
	if (!is_found && !is_shown(fields, v->member))
		fail_msg("nobody answers with %s", v->member);
}

/* A column or a line of an object speaks of a member that answers have. */
static void test_columns_and_lines_are_members(void **state)
{
	static const struct {
		const struct noun *noun;
		const struct field *fields;
	} all[] = {{&queue_noun, queue_fields}, {&schedule_noun, schedule_fields},
	    {&group_noun, group_fields}, {&graph_noun, graph_fields}};

	for (size_t i = 0; i < N_OF(all); i++) {
		const struct listing *l = all[i].noun->list;
		const struct view *view = all[i].noun->view;

		for (size_t k = 0; k < l->n_columns; k++)
			assert_shown(all[i].fields, &l->columns[k].value);
		for (size_t k = 0; view && k < view->n_facts; k++)
			assert_shown(all[i].fields, &view->facts[k].value);
	}
	assert_true(is_shown(queue_fields, "counts.queued"));
	assert_false(is_shown(queue_fields, "counts.waiting"));
	assert_false(is_shown(queue_fields, "timeout"));
}

/* All that a task may be given can be said on the command line, and nothing else is sent. */
static void test_options_of_a_task_are_its_members(void **state)
{
	static const char line[] =
	    "--queue q --priority 1 --env A=1 --cwd / --label a=b --need cpu=1 --timeout 1m "
	    "--max-attempts 2 --backoff 1s --backoff-max 2s --name n --key k --run-after 5m --hold "
	    "--nice 1 --params {} --action {}";
	static const char *const elsewhere[] = {"queue", "cwd_machine", "stdin", "command"};
	AUTO(json_drop) json_t *task = json_object();
	char words[512], *argv[48], *save = NULL;
	struct cli c = {0};
	const char *key;
	json_t *value;
	int argc = 0;

	snprintf(words, sizeof words, "%s", line);
	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	options_add_table(&c.options, task_options);
	options_add_table(&c.options, once_options);
	options_add_table(&c.options, process_options);
	assert_int_equal(options_parse(&c.options, OPTIONS_ANYWHERE, argc, argv, &c.problem), 0);
	for (const struct option_def *d = task_options; d->name; d++)
		assert_true(options_given(&c.options, d->name));
	for (const struct option_def *d = once_options; d->name; d++)
		assert_true(options_given(&c.options, d->name));
	assert_int_equal(task_put_options(&c, 0, false, task), 0);
	for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
		json_object_set_new(task, elsewhere[i], json_null());
	json_object_foreach(task, key, value) about(task_given_fields, key);
	for (const struct field *f = task_given_fields; f->name; f++)
		if (!json_object_get(task, f->name))
			fail_msg("no option gives \"%s\"", f->name);
	options_release(&c.options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_values),
	    cmocka_unit_test(test_bodies),
	    cmocka_unit_test(test_text_that_is_not_utf8_is_refused),
	    cmocka_unit_test(test_what_is_put_over_must_be_read_first),
	    cmocka_unit_test(test_options_are_parameters),
	    cmocka_unit_test(test_rows_fit_their_commands),
	    cmocka_unit_test(test_every_option_has_its_words),
	    cmocka_unit_test(test_columns_and_lines_are_members),
	    cmocka_unit_test(test_options_of_a_task_are_its_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
