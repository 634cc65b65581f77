/* SPDX-License-Identifier: Apache-2.0 */
/* Groups without a file: of a kept graph's packages that have changed, and of what is left of
   another group. */
#include <string.h>

#include "base/mem.h"
#include "cli/group/group.h"
#include "cli/nouns/noun.h"
#include "graph/limits.h"

static int add_names(struct cli *c, const char *option, json_t *body)
{
	json_t *names = json_array();
	size_t at = 0;

	json_object_set_new(body, option, names);
	for (const char *v; (v = options_next(&c->options, option, &at));) {
		struct str list = str_of(v), word;

		while (list.n && str_next(&list, ',', &word))
			if (word.n &&
			    json_array_append_new(names, json_stringn(word.p, word.n)) < 0)
				return problem_set(
				    &c->problem, ERR_INVALID, "--%s is not valid UTF-8", option);
	}
	return 0;
}

static int add_texts(struct cli *c, const char *const *options, size_t n, json_t *body)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = options_get(&c->options, options[i]);

		if (value && body_add_text(c, body, options[i], value) < 0)
			return c->problem.code;
	}
	return 0;
}

int group_trigger_body(struct cli *c, const char *graph, size_t n_names, json_t *body)
{
	static const char *const texts[] = {"policy", "series"};
	int64_t rounds = 0;
	json_t *task = NULL;

	if (!graph) {
		problem_set(&c->problem, ERR_INVALID, "a trigger needs a graph: --graph NAME");
		return problem_hint(&c->problem,
		    "reeve group trigger --graph core --touched core/gcc -- ./build {package}");
	}
	if (body_add_text(c, body, "graph", graph) < 0 ||
	    add_texts(c, texts, N_OF(texts), body) < 0 ||
	    (options_given(&c->options, "touched") && add_names(c, "touched", body) < 0) ||
	    (options_given(&c->options, "unbuildable") && add_names(c, "unbuildable", body) < 0) ||
	    options_i64(&c->options, "rounds", 1, PLAN_ROUNDS_MAX, &rounds, &c->problem) < 0 ||
	    task_from_options(c, n_names, true, &task) < 0)
		return c->problem.code;
	if (rounds)
		json_object_set_new(body, "rounds", json_integer(rounds));
	json_object_del(task, "name"); /* the name is the group's */
	directory_put_here(c, false, task);
	return json_object_set_new(body, "job", task);
}

int cmd_group_trigger(struct cli *c)
{
	const char *name = options_get(&c->options, "name");
	AUTO(json_drop) json_t *body = json_object(), *group = NULL;
	int r = group_check_wait(c);

	if (r == 0)
		r = group_trigger_body(c, options_get(&c->options, "graph"), 0, body);
	if (r == 0 && options_switch(&c->options, "reuse", false))
		json_object_set_new(body, "reuse", json_true());
	if (r == 0 && name)
		r = body_add_text(c, body, "name", name);
	if (r == 0)
		r = cli_call(c, "POST", group_noun.path, body, &group);
	return r < 0 ? r : group_submitted(c, group);
}

int cmd_group_retry(struct cli *c)
{
	const char *from = options_get(&c->options, "from");
	const char *name = options_get(&c->options, "name");
	AUTO(json_drop) json_t *body = json_object(), *group = NULL;
	int r = noun_alone(c);

	if (r == 0)
		r = group_check_wait(c);
	if (r == 0 && from && options_switch(&c->options, "failed", false))
		return problem_set(
		    &c->problem, ERR_INVALID, "--failed and --from exclude each other");
	if (r == 0)
		r = body_add_text(c, body, "what", from ? "from" : "failed");
	if (r == 0 && from)
		r = body_add_text(c, body, "job", from);
	if (r == 0 && name)
		r = body_add_text(c, body, "name", name);
	if (r == 0)
		r = noun_call(c, "POST", &group_noun, c->options.args[0], "retry", body, &group);
	return r < 0 ? r : group_submitted(c, group);
}
