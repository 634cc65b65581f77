/* SPDX-License-Identifier: Apache-2.0 */
/* A task's JSON from the options of every command that describes one. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/nouns/body.h"
#include "cli/reach/settings.h"
#include "cli/tasks/work.h"
#include "model/limits.h"

/* What is to be made, or changed. */
struct spec {
	struct cli *c;
	json_t *task;
	bool changes; /* the task is there already: "none" and KEY= take something away */
};

static int not_text(struct cli *c, const char *what)
{
	return problem_set(&c->problem, ERR_INVALID, "%s is not valid UTF-8", what);
}

/* A script's variable that is not set: the task would lack what it was meant to have. */
static int refuse_empty(const struct spec *s, const char *option)
{
	problem_set(&s->c->problem, ERR_INVALID, "--%s is empty", option);
	return problem_hint(&s->c->problem, "leave it out%s; has a variable of a script no value?",
	    s->changes ? ", or say none to take it away" : "");
}

/* Of those that would not be missed. */
static int check_empty(const struct spec *s)
{
	static const char *const names[] = {"cwd", "env", "need"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		const char *value;
		size_t at = 0;

		while ((value = options_next(&s->c->options, names[i], &at)))
			if (!*value)
				return refuse_empty(s, names[i]);
	}
	return 0;
}

static int set_pair(const struct spec *s, const char *option, const char *pair, json_t *pairs)
{
	const char *equals = strchr(pair, '=');
	AUTO(free_cstr) char *key = NULL;
	const char *value = equals ? equals + 1 : getenv(pair);

	if (equals == pair || (!equals && strcmp(option, "env")))
		return problem_set(&s->c->problem, ERR_INVALID,
		    "--%s wants KEY=VALUE, not \"%.64s\"", option, pair);
	if (!value)
		return 0; /* copies a variable that is not set: nothing to copy */
	key = equals ? xstrndup(pair, (size_t)(equals - pair)) : xstrdup(pair);
	if (s->changes && !*value)
		json_object_del(pairs, key);
	else if (json_object_set_new(pairs, key, json_string(value)) < 0)
		return not_text(s->c, pair);
	return 0;
}

/* "K=V" pairs; for the environment a bare K copies the caller's. */
static int set_pairs(const struct spec *s, const char *option, const char *member)
{
	json_t *pairs = json_object_get(s->task, member);
	const char *pair;
	size_t at = 0;

	if (!json_is_object(pairs)) {
		pairs = json_object();
		json_object_set_new(s->task, member, pairs);
	}
	while ((pair = options_next(&s->c->options, option, &at)))
		if (set_pair(s, option, pair, pairs) < 0)
			return s->c->problem.code;
	if (json_object_size(pairs) == 0)
		json_object_del(s->task, member);
	return 0;
}

static int set_params(const struct spec *s)
{
	const char *text = options_get(&s->c->options, "params");
	json_error_t error;
	json_t *params;

	if (!text)
		return 0;
	params = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(params)) {
		problem_set(&s->c->problem, ERR_INVALID, "--params is not a JSON object%s%s",
		    params ? "" : ": ", params ? "" : error.text);
		json_decref(params);
		return problem_hint(&s->c->problem, "write it like '{\"to\":\"ann\",\"count\":3}'");
	}
	return json_object_set_new(s->task, "params", params);
}

static int set_action(const struct spec *s)
{
	const char *given = options_get(&s->c->options, "action");
	AUTO(buf_release) struct buf text = {0};
	json_error_t error;
	json_t *action;

	if (!given)
		return 0;
	if (given[0] == '@' && input_read(s->c, given + 1, TASK_BODY_MAX, &text) < 0)
		return s->c->problem.code;
	if (given[0] != '@')
		buf_add_cstr(&text, given);
	action = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(action)) {
		problem_set(&s->c->problem, ERR_INVALID, "--action is not a JSON object%s%s",
		    action ? "" : ": ", action ? "" : error.text);
		json_decref(action);
		return problem_hint(
		    &s->c->problem, "write it like '{\"run\":{\"path\":\"./build.sh\"}}'");
	}
	return json_object_set_new(s->task, "action", action);
}

static int set_command(const struct spec *s, size_t n_names)
{
	const struct options *o = &s->c->options;
	json_t *command = json_array();

	for (size_t i = n_names; i < o->n_args; i++)
		if (json_array_append_new(command, json_string(o->args[i])) < 0) {
			json_decref(command);
			return not_text(s->c, "the command");
		}
	return json_object_set_new(s->task, "command", command);
}

/* A task has one kind of content: another kind takes the place of the old one. */
static int set_content(const struct spec *s, size_t n_names)
{
	static const char *const kinds[] = {"command", "params", "action"};
	const struct options *o = &s->c->options;
	bool words = o->n_args > n_names;

	if (words || options_given(o, "params") || options_given(o, "action"))
		for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
			json_object_del(s->task, kinds[i]);
	if (words && set_command(s, n_names) < 0)
		return s->c->problem.code;
	return set_params(s) < 0 ? s->c->problem.code : set_action(s);
}

static int set_directory(const struct spec *s)
{
	const char *given = options_get(&s->c->options, "cwd");

	if (!given)
		return 0;
	if (!s->changes || strcmp(given, "none"))
		return directory_put(s->c, given, s->task);
	json_object_del(s->task, "cwd");
	json_object_del(s->task, "cwd_machine");
	return 0;
}

int content_put_options(struct cli *c, size_t n_names, bool changes, json_t *task)
{
	const struct spec s = {c, task, changes};

	if (set_directory(&s) < 0 || set_pairs(&s, "env", "env") < 0 ||
	    run_from_options(c, json_object_get(task, "run"), task) < 0)
		return c->problem.code;
	return set_content(&s, n_names);
}

int content_missing(struct cli *c, const json_t *task, const char *before)
{
	if (json_object_get(task, "command") || json_object_get(task, "params") ||
	    json_object_get(task, "action"))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "there is nothing to run");
	return problem_hint(&c->problem,
	    "put the command at the end, as in: reeve %s%s -- echo hello", c->command->path,
	    before);
}

static const struct setting queue_setting[] = {{"queue", SETTING_TEXT}, {NULL}};

int task_put_options(struct cli *c, size_t n_names, bool changes, json_t *task)
{
	static const struct setting settings[] = {
	    {"name", SETTING_TEXT},
	    {"key", SETTING_TEXT},
	    {"need", SETTING_TEXT},
	    {"run-after", SETTING_TEXT},
	    {"timeout", SETTING_TEXT},
	    {"backoff", SETTING_TEXT},
	    {"backoff-max", SETTING_TEXT},
	    {"priority", SETTING_NUMBER, .min = -PRIORITY_MAX, .max = PRIORITY_MAX},
	    {"max-attempts", SETTING_NUMBER, .min = 1, .max = ATTEMPTS_MAX},
	    {NULL},
	};
	const struct spec s = {c, task, changes};
	bool negated;

	/* what comes again and again has no such option */
	if (options_find(&c->options, STR("hold"), &negated) &&
	    options_switch(&c->options, "hold", false))
		json_object_set_new(task, "status", json_integer(HELD_STATUS));

	if (check_empty(&s) < 0 || body_add(c, settings, changes ? task : NULL, task) < 0 ||
	    set_pairs(&s, "label", "labels") < 0 ||
	    content_put_options(c, n_names, changes, task) < 0)
		return c->problem.code;
	/* A queue that is only the usual one (from a variable, a file) is not a change. */
	return changes ? body_add(c, queue_setting, task, task) : 0;
}

bool task_given(const struct cli *c, size_t n_names)
{
	bool given = c->options.n_args > n_names || run_given(c);

	for (const struct option_def *d = task_options; d->name && !given; d++)
		given = options_given(&c->options, d->name);
	return given;
}

int task_from_options(struct cli *c, size_t n_names, bool needs_command, json_t **ret_task)
{
	AUTO(json_drop) json_t *task = json_object();
	const char *queue;

	if (cli_setting(c, "queue", &queue) < 0 ||
	    (queue && body_add_text(c, task, "queue", queue) < 0) ||
	    task_put_options(c, n_names, false, task) < 0)
		return c->problem.code;
	if (needs_command && content_missing(c, task, n_names ? " NAME …" : "") < 0)
		return c->problem.code;
	*ret_task = TAKE(task);
	return 0;
}
