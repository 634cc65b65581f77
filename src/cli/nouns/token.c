/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: `token create`, which says a secret once. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"

static const struct setting settings[] = {
    {"queue", SETTING_NAMES, .member = "queues"},
    {"expires", SETTING_TEXT},
    {"zone", SETTING_TEXT},
    {"once", SETTING_SWITCH},
    {NULL},
};

const struct noun token_noun = {
    .word = "token", .path = "/v1/tokens", .list = &token_list, .gone = "revoked"};

static int add_labels(struct cli *c, json_t *body)
{
	AUTO(json_drop) json_t *labels = json_object();
	const char *text, *value;
	size_t at = 0;

	while ((text = options_next(&c->options, "label", &at))) {
		AUTO(free_cstr) char *key = NULL;

		value = strchr(text, '=');
		if (!value || value == text) {
			problem_set(&c->problem, ERR_INVALID, "\"%.64s\" is not a label", text);
			return problem_hint(&c->problem, "write --label KEY=VALUE");
		}
		key = xasprintf("%.*s", (int)(value - text), text);
		if (body_add_text(c, labels, key, value + 1) < 0)
			return c->problem.code;
	}
	if (json_object_size(labels))
		json_object_set(body, "labels", labels);
	return 0;
}

static int choose_role(struct cli *c, json_t *body)
{
	const char *role = options_get(&c->options, "role");
	bool join = options_switch(&c->options, "join", false);

	if (!role == join)
		return body_add_text(c, body, "role", join ? "join" : role);
	problem_set(&c->problem, ERR_INVALID,
	    role ? "--role and --join exclude each other" : "a token needs a role");
	return problem_hint(
	    &c->problem, "--role read, logs, submit, operate or admin; or --join for workers");
}

static int one_name(struct cli *c, json_t *body)
{
	if (c->options.n_args != 1) {
		problem_set(&c->problem, ERR_INVALID, "a token has one name");
		return problem_hint(&c->problem, "reeve token create ci --role submit");
	}
	return body_add_text(c, body, "name", c->options.args[0]);
}

static void show_made(struct cli *c, const json_t *token)
{
	if (!*js(token, "token")) {
		cli_note(c, "%s was made before; its secret is not shown again", js(token, "name"));
		return;
	}
	say(stdout, "%s", js(token, "token"));
	cli_note(c, "this is shown once: keep it where only its bearer can read it");
}

int cmd_token_create(struct cli *c)
{
	AUTO(json_drop) json_t *body = json_object(), *token = NULL;
	int r;

	if (one_name(c, body) < 0 || choose_role(c, body) < 0 || add_labels(c, body) < 0 ||
	    body_add(c, settings, NULL, body) < 0)
		return c->problem.code;
	r = cli_call(c, "POST", token_noun.path, body, &token);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, token);
	else
		show_made(c, token);
	return EXIT_OK;
}
