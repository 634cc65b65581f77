/* SPDX-License-Identifier: Apache-2.0 */
/* A task's JSON from the options of `run` and `submit`. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/settings.h"
#include "cli/work.h"
#include "model/limits.h"

static int not_text(struct cli *c, const char *what)
{
	return problem_set(&c->problem, ERR_INVALID, "%s is not valid UTF-8", what);
}

static int set_text(struct cli *c, json_t *task, const char *member, const char *value)
{
	json_t *text = value ? json_string(value) : NULL;

	if (!value)
		return 0;
	return text ? json_object_set_new(task, member, text), 0 : not_text(c, member);
}

static int set_number(
    struct cli *c, json_t *task, const char *option, const char *member, int64_t min, int64_t max)
{
	int64_t n;

	if (!options_get(&c->options, option))
		return 0;
	if (options_i64(&c->options, option, min, max, &n, &c->problem) < 0)
		return c->problem.code;
	return json_object_set_new(task, member, json_integer(n));
}

/* "K=V" pairs; for the environment a bare K copies the caller's. */
static int set_pairs(struct cli *c, json_t *task, const char *option, const char *member)
{
	json_t *pairs = json_object();
	const char *pair;
	size_t at = 0;

	json_object_set_new(task, member, pairs);
	while ((pair = options_next(&c->options, option, &at))) {
		const char *equals = strchr(pair, '=');
		AUTO(free_cstr) char *key = NULL;
		const char *value = equals ? equals + 1 : getenv(pair);

		if (equals == pair || (!equals && strcmp(option, "env")))
			return problem_set(&c->problem, ERR_INVALID,
			    "--%s wants KEY=VALUE, not \"%.64s\"", option, pair);
		if (!value)
			continue; /* copies a variable that is not set: nothing to copy */
		key = equals ? xstrndup(pair, (size_t)(equals - pair)) : xstrdup(pair);
		if (json_object_set_new(pairs, key, json_string(value)) < 0)
			return not_text(c, pair);
	}
	if (json_object_size(pairs) == 0)
		json_object_del(task, member);
	return 0;
}

static int set_params(struct cli *c, json_t *task)
{
	const char *text = options_get(&c->options, "params");
	json_error_t error;
	json_t *params;

	if (!text)
		return 0;
	params = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(params)) {
		problem_set(&c->problem, ERR_INVALID, "--params is not a JSON object%s%s",
		    params ? "" : ": ", params ? "" : error.text);
		json_decref(params);
		return problem_hint(&c->problem, "write it like '{\"to\":\"ann\",\"count\":3}'");
	}
	return json_object_set_new(task, "params", params);
}

static int set_command(struct cli *c, json_t *task)
{
	json_t *command = json_array();

	json_object_set_new(task, "command", command);
	for (size_t i = 0; i < c->options.n_args; i++)
		if (json_array_append_new(command, json_string(c->options.args[i])) < 0)
			return not_text(c, "the command");
	if (c->options.n_args == 0)
		json_object_del(task, "command");
	return 0;
}

int task_from_options(struct cli *c, bool needs_command, json_t **ret_task)
{
	static const struct {
		const char *option, *member;
	} texts[] = {{"cwd", "cwd"}, {"key", "key"}, {"run-after", "run_after"},
	    {"timeout", "timeout"}, {"backoff", "backoff"}, {"backoff-max", "backoff_max"}};
	AUTO(json_drop) json_t *task = json_object();
	const char *queue;

	if (cli_setting(c, "queue", &queue) < 0 || set_text(c, task, "queue", queue) < 0)
		return c->problem.code;
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (set_text(c, task, texts[i].member, options_get(&c->options, texts[i].option)) <
		    0)
			return c->problem.code;
	if (set_number(c, task, "priority", "priority", -PRIORITY_MAX, PRIORITY_MAX) < 0 ||
	    set_number(c, task, "max-attempts", "max_attempts", 1, ATTEMPTS_MAX) < 0 ||
	    set_pairs(c, task, "env", "env") < 0 || set_pairs(c, task, "label", "labels") < 0 ||
	    set_params(c, task) < 0 || run_from_options(c, NULL, task) < 0 ||
	    set_command(c, task) < 0)
		return c->problem.code;
	if (needs_command && !json_object_get(task, "command") &&
	    !json_object_get(task, "params")) {
		problem_set(&c->problem, ERR_INVALID, "there is nothing to run");
		return problem_hint(&c->problem,
		    "put the command at the end, as in: reeve %s -- echo hello", c->command->path);
	}
	*ret_task = TAKE(task);
	return 0;
}
