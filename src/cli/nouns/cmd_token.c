/* SPDX-License-Identifier: Apache-2.0 */
/* token create, ls, revoke. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/frame/cmds.h"
#include "cli/output/output.h"
#include "model/token.h"

static void add_text(struct cli *c, json_t *body, const char *option, const char *member)
{
	const char *text = options_get(&c->options, option);

	if (text)
		json_object_set_new(body, member, json_string(text));
}

static void add_queues(struct cli *c, json_t *body)
{
	json_t *queues = json_array();
	const char *name;
	size_t at = 0;

	while ((name = options_next(&c->options, "queue", &at)))
		json_array_append_new(queues, json_string(name));
	if (json_array_size(queues))
		json_object_set(body, "queues", queues);
	json_decref(queues);
}

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
		json_object_set_new(labels, key, json_string(value + 1));
	}
	if (json_object_size(labels))
		json_object_set(body, "labels", labels);
	return 0;
}

static int choose_role(struct cli *c, json_t *body)
{
	const char *role = options_get(&c->options, "role");
	bool join = options_switch(&c->options, "join", false);

	if (!role == join) {
		json_object_set_new(body, "role", json_string(join ? "join" : role));
		return 0;
	}
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
	json_object_set_new(body, "name", json_string(c->options.args[0]));
	return 0;
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

	if (one_name(c, body) < 0 || choose_role(c, body) < 0 || add_labels(c, body) < 0)
		return c->problem.code;
	add_queues(c, body);
	add_text(c, body, "expires", "expires");
	add_text(c, body, "zone", "zone");
	if (options_switch(&c->options, "once", false))
		json_object_set_new(body, "once", json_true());
	r = cli_call(c, "POST", "/v1/tokens", body, &token);
	if (r < 0)
		return r;
	if (wants_machine(c))
		print_json(c, token);
	else
		show_made(c, token);
	return EXIT_OK;
}

static const struct column columns[] = {{"NAME", 0}, {"ROLE", 0}, {"QUEUES", COLUMN_STRETCH},
    {"LABELS", COLUMN_STRETCH}, {"ZONE", 0}, {"EXPIRES", 0}, {"CREATED", 0}, {"BY", COLUMN_WIDE},
    {"ID", COLUMN_WIDE}};

static void add_names(struct table *t, const json_t *names)
{
	AUTO(buf_release) struct buf text = {0};
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
	    buf_printf(&text, "%s%s", i ? "," : "", json_string_value(name));
	table_add(t, text.n ? text.p : "all");
}

static void add_token(struct table *t, const json_t *token)
{
	char time[TIME_TEXT_MAX];
	AUTO(buf_release) struct buf labels = {0};

	table_add(t, js(token, "name"));
	table_addf(t, "%s%s", jb(token, "damaged") ? "damaged" : js(token, "role"),
	    jb(token, "once") ? " (once)" : "");
	if (jb(token, "damaged"))
		table_add(t, "none");
	else
		add_names(t, json_object_get(token, "queues"));
	add_pairs(&labels, json_object_get(token, "labels"));
	table_add(t, labels.p);
	table_add(t, js(token, "zone"));
	table_add(t, jb(token, "expired")     ? "expired"
	             : jhas(token, "expires") ? jago(token, "expires", time)
	                                      : "never");
	table_add(t, jago(token, "created", time));
	table_add(t, js(token, "creator"));
	table_add(t, js(token, "id"));
}

static int draw_tokens(struct cli *c)
{
	AUTO(json_drop) json_t *list = NULL;
	int64_t limit = 0;
	struct table t;
	json_t *token;
	size_t i;
	int r;

	if (options_i64(&c->options, "limit", 0, 1000000, &limit, &c->problem) < 0)
		return c->problem.code;
	r = cli_get_list(c, "/v1/tokens", (size_t)limit, &list);
	if (r < 0)
		return r;
	if (wants_machine(c)) {
		print_json(c, list);
		return EXIT_OK;
	}
	table_init(&t, columns, sizeof columns / sizeof columns[0]);
	json_array_foreach(json_object_get(list, "items"), i, token) add_token(&t, token);
	if (i == 0)
		cli_note(
		    c, "there are no tokens but the server's own; `reeve token create` makes one");
	else
		table_print(&t, c);
	table_release(&t);
	return EXIT_OK;
}

int cmd_token_ls(struct cli *c)
{
	return watch_loop(c, draw_tokens);
}

int cmd_token_revoke(struct cli *c)
{
	for (size_t i = 0; i < c->options.n_args; i++) {
		AUTO(json_drop) json_t *reply = NULL;
		AUTO(buf_release) struct buf path = {0};
		int r;

		buf_add_cstr(&path, "/v1/tokens");
		url_add_path(&path, c->options.args[i]);
		r = cli_call(c, "DELETE", path.p, NULL, &reply);
		if (r < 0)
			return r;
		say(stdout, "token %s revoked", c->options.args[i]);
	}
	return EXIT_OK;
}
