/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `service apply`: a file of services, each as it shall be. All of them are tried before the first
 * one is changed, so that a file with a mistake changes nothing.
 */
#include <stdio.h>

#include "base/mem.h"
#include "cli/service/services.h"
#include "cli/tasks/work.h"
#include "graph/file/node.h"
#include "graph/file/reader.h"
#include "service/limits.h"

/* The services of a file, and what is said of each. */
struct applied {
	json_t *services; /* an array */
	json_t *plans;    /* the same, of what each would change */
};

static void applied_release(struct applied *a)
{
	json_decref(a->services);
	json_decref(a->plans);
}

static json_t *json_of(const struct node *v)
{
	AUTO(buf_release) struct buf text = {0};

	node_json(v, &text);
	return json_loadb(text.p, text.n, JSON_DECODE_ANY, NULL);
}

static int add_service(struct applied *a, const struct node *v, struct problem *p)
{
	json_t *one = json_of(v);

	if (!json_is_object(one) || !*js(one, "name")) {
		json_decref(one);
		wrong_at(p, v->line, STR_NULL, "a service needs a \"name\"");
		return problem_hint(
		    p, "write it like {name: web, instances: 2, task: {command: [httpd]}}");
	}
	return json_array_append_new(a->services, one);
}

static int read_list(struct reader *r, struct applied *a, struct problem *p)
{
	struct node *v;
	int rc = reader_list(r, p);

	while (rc >= 0 && (rc = reader_item(r, &v, p)) > 0)
		if (add_service(a, v, p) < 0)
			return p->code;
	return rc;
}

static int read_member(struct reader *r, struct str name, json_t *alone, struct problem *p)
{
	struct node *v;
	int rc = reader_value(r, &v, p);
	json_t *value = rc < 0 ? NULL : json_of(v);

	if (rc < 0)
		return rc;
	if (!value)
		return wrong_at(p, v->line, name, "is no value");
	return json_object_setn_new(alone, name.p, name.n, value);
}

static int add_alone(struct applied *a, json_t *alone, struct problem *p)
{
	if (*js(alone, "name"))
		return json_array_append(a->services, alone);
	problem_set(p, ERR_INVALID, "the file names no service");
	return problem_hint(
	    p, "it has the members of one, with a \"name\", or a list \"services\"");
}

/* One service, or a list of them. */
static int read_file(struct str text, struct applied *a, struct problem *p)
{
	AUTO(json_drop) json_t *alone = json_object();
	struct reader *r;
	struct str name;
	uint32_t line;
	int rc = reader_open_as(text, "a service", "name: web", &r, p);

	if (rc < 0)
		return rc;
	while ((rc = reader_member(r, &name, &line, p)) > 0) {
		char *kept = xstrndup(name.p, name.n); /* the reader's is its next token's */

		rc = str_is(name, "services")
		         ? read_list(r, a, p)
		         : read_member(r, (struct str){kept, name.n}, alone, p);
		free(kept);
		if (rc < 0)
			break;
	}
	reader_free(r);
	if (rc < 0)
		return rc;
	if (!json_array_size(a->services))
		return add_alone(a, alone, p);
	if (!json_object_size(alone))
		return 0;
	problem_set(p, ERR_INVALID, "the file has \"services\" and \"%s\"",
	    json_object_iter_key(json_object_iter(alone)));
	return problem_hint(p, "each service has its members itself");
}

/* What is wrong is wrong with this service. */
static int about(struct cli *c, const char *name)
{
	struct problem p = c->problem;

	problem_set(&c->problem, p.code, "service %.128s: %s", name, p.what);
	problem_field(&c->problem, p.field);
	return p.hint[0] ? problem_hint(&c->problem, "%s", p.hint) : p.code;
}

static int put(struct cli *c, json_t *service, bool is_draft, json_t **ret_answer)
{
	AUTO(buf_release) struct buf path = {0};
	int r;

	noun_path(c, &service_noun, js(service, "name"), NULL, &path);
	if (is_draft)
		url_add(&path, "dry_run", "true");
	r = cli_call(c, "PUT", path.p, service, ret_answer);
	return r < 0 ? about(c, js(service, "name")) : 0;
}

static int plan(struct cli *c, struct applied *a)
{
	json_t *one;
	size_t i;

	json_array_foreach(a->services, i, one)
	{
		json_t *answer = NULL;
		int r = put(c, one, true, &answer);

		if (r < 0)
			return r;
		json_array_append_new(a->plans, answer);
	}
	return 0;
}

static const char *word(const json_t *plan, bool is_done)
{
	if (!jb(plan, "exists"))
		return is_done ? "added" : "would be added";
	if (!json_array_size(json_object_get(plan, "changes")))
		return is_done ? "is as it shall be" : "would stay as it is";
	if (jb(plan, "revision"))
		return is_done ? "changed: a new revision" : "would change: a new revision";
	return is_done ? "changed, nothing starts anew" : "would change, nothing starts anew";
}

static void say_plan(struct cli *c, const json_t *plan, bool is_done)
{
	say(stdout, "service %s %s", js(plan, "name"), word(plan, is_done));
	if (!is_done && jb(plan, "exists"))
		changes_print(c, json_object_get(plan, "changes"));
}

static int carry_out(struct cli *c, struct applied *a)
{
	AUTO(json_drop) json_t *made = json_array();
	json_t *one;
	size_t i;

	json_array_foreach(a->services, i, one)
	{
		json_t *answer = NULL;
		int r = put(c, one, false, &answer);

		if (r < 0)
			return r;
		json_array_append_new(made, answer);
		if (!c->quiet && !wants_machine(c))
			say_plan(c, json_array_get(a->plans, i), true);
	}
	if (wants_machine(c))
		print_json(c, made);
	return EXIT_OK;
}

static int show(struct cli *c, const struct applied *a)
{
	const json_t *one;
	size_t i;

	if (wants_machine(c)) {
		print_json(c, a->plans);
		return EXIT_OK;
	}
	json_array_foreach(a->plans, i, one)
	{
		say_plan(c, one, false);
	}
	cli_note(c, "nothing was changed");
	return EXIT_OK;
}

int cmd_service_apply(struct cli *c)
{
	AUTO(applied_release) struct applied a = {json_array(), json_array()};
	const char *file = options_get(&c->options, "file");
	AUTO(buf_release) struct buf text = {0};
	int r;

	if (!file) {
		problem_set(&c->problem, ERR_INVALID, "no file is named");
		return problem_hint(&c->problem, "as in: reeve service apply -f web.yaml");
	}
	if ((r = input_read(c, file, SERVICE_FILE_MAX, &text)) < 0 ||
	    (r = read_file(buf_str(&text), &a, &c->problem)) < 0 || (r = plan(c, &a)) < 0)
		return r;
	return options_switch(&c->options, "plan", false) ? show(c, &a) : carry_out(c, &a);
}
