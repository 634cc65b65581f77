/* SPDX-License-Identifier: Apache-2.0 */
/* The object `run` from the options that `run`, `submit`, `queue create` and `queue set` share. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/output/output.h"
#include "cli/tasks/work.h"

enum value_kind { VALUE_TEXT, VALUE_INTEGER, VALUE_NUMBER, VALUE_SWITCH };

static const struct {
	const char *option, *outer, *member; /* outer NULL: the object itself */
	enum value_kind kind;
} values[] = {
    {"user", NULL, "user", VALUE_TEXT},
    {"nice", NULL, "nice", VALUE_INTEGER},
    {"memory", "limits", "memory", VALUE_TEXT},
    {"cpu", "limits", "cpu", VALUE_NUMBER},
    {"pids", "limits", "pids", VALUE_INTEGER},
    {"kill-method", "kill", "method", VALUE_TEXT},
    {"kill-wait", "kill", "wait", VALUE_TEXT},
    {"sandbox", NULL, "sandbox", VALUE_SWITCH},
    {"result-file", NULL, "result_file", VALUE_TEXT},
};
#define N_VALUES (sizeof values / sizeof values[0])

bool run_given(const struct cli *c)
{
	bool given = options_given(&c->options, "run");

	for (size_t i = 0; i < N_VALUES; i++)
		given |= options_given(&c->options, values[i].option);
	return given;
}

static int base_of(struct cli *c, const json_t *old, json_t **ret_run)
{
	const char *text = options_get(&c->options, "run");
	json_error_t error;

	if (!text) {
		*ret_run = json_is_object(old) ? json_deep_copy(old) : json_object();
		return 0;
	}
	if (!strcmp(text, "none")) {
		*ret_run = json_object();
		return 0;
	}
	*ret_run = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (json_is_object(*ret_run))
		return 0;
	problem_set(&c->problem, ERR_INVALID, "--run is not a JSON object%s%s",
	    *ret_run ? "" : ": ", *ret_run ? "" : error.text);
	return problem_hint(
	    &c->problem, "write it like '{\"user\":\"ann\",\"limits\":{\"memory\":\"1G\"}}'");
}

static int wrong_number(struct cli *c, const char *option, const char *text)
{
	return problem_set(
	    &c->problem, ERR_INVALID, "--%s wants a number, not \"%.64s\"", option, text);
}

static int number_of(struct cli *c, const char *option, const char *text, json_t **ret_value)
{
	char *end;
	double n = strtod(text, &end);

	if (end == text || *end || !isfinite(n))
		return wrong_number(c, option, text);
	*ret_value = json_real(n);
	return 0;
}

static int value_of(struct cli *c, size_t i, json_t **ret_value)
{
	const char *option = values[i].option, *text = options_get(&c->options, option);
	int64_t n;

	if (!strcmp(text, "none")) {
		*ret_value = json_null();
		return 0;
	}
	switch (values[i].kind) {
	case VALUE_SWITCH:
		*ret_value = json_boolean(options_switch(&c->options, option, false));
		return 0;
	case VALUE_NUMBER: return number_of(c, option, text, ret_value);
	case VALUE_INTEGER:
		if (!str_to_i64(str_of(text), INT32_MIN, INT32_MAX, &n))
			return wrong_number(c, option, text);
		*ret_value = json_integer(n);
		return 0;
	default:
		*ret_value = json_string(text);
		return *ret_value ? 0
		                  : problem_set(&c->problem, ERR_INVALID, "--%s is not valid UTF-8",
		                        option);
	}
}

static int put(struct cli *c, json_t *run, size_t i)
{
	json_t *into = run, *value = NULL;
	const char *outer = values[i].outer;

	if (value_of(c, i, &value) < 0)
		return c->problem.code;
	if (outer && !json_is_object(json_object_get(run, outer)))
		json_object_set_new(run, outer, json_object());
	if (outer)
		into = json_object_get(run, outer);
	if (json_is_true(value) && json_is_object(json_object_get(into, values[i].member)))
		json_decref(value); /* a sandbox that is described already is on */
	else
		json_object_set_new(into, values[i].member, value);
	return 0;
}

int run_from_options(struct cli *c, const json_t *old, json_t *body)
{
	AUTO(json_drop) json_t *run = NULL;

	if (!run_given(c))
		return 0;
	if (base_of(c, old, &run) < 0)
		return c->problem.code;
	for (size_t i = 0; i < N_VALUES; i++)
		if (options_given(&c->options, values[i].option) && put(c, run, i) < 0)
			return c->problem.code;
	return json_object_set_new(body, "run", TAKE(run));
}
