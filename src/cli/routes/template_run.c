/* SPDX-License-Identifier: Apache-2.0 */
/* A template with data becomes a text. */
#include <string.h>

#include "base/mem.h"
#include "cli/routes/template.h"

/* What a loop calls its entry. */
struct scope {
	const struct scope *outer;
	const char *name;
	json_t *value;
};

struct running {
	json_t *data;
	struct buf *out;
	size_t began;
	uint32_t steps;
	enum template_target target;
	struct problem *p;
};

static int wrong(const struct running *x, uint32_t line)
{
	char what[sizeof x->p->what];

	snprintf(what, sizeof what, "%s", x->p->what);
	snprintf(x->p->what, sizeof x->p->what, "line %u of the template: %.280s", line, what);
	return x->p->code;
}

/* --- values --- */

static json_t *first_of(const struct running *x, const struct scope *s, const char *name)
{
	for (; s; s = s->outer)
		if (s->name && !strcmp(s->name, name))
			return s->value;
	return json_object_get(x->data, name);
}

/* A list has numbers as names. */
static json_t *inner(json_t *v, const char *name)
{
	int64_t n;

	if (!json_is_array(v))
		return json_object_get(v, name);
	return str_to_i64(str_of(name), 0, UINT32_MAX, &n) ? json_array_get(v, (size_t)n) : NULL;
}

static json_t *value_of(
    const struct running *x, const struct scope *s, const struct template_operand *o)
{
	json_t *v;

	if (o->literal)
		return o->literal;
	v = first_of(x, s, o->names[0]);
	for (size_t i = 1; i < o->n_names; i++)
		v = inner(v, o->names[i]);
	return v;
}

/* Not there, false, 0, empty: no. */
static bool is_true(json_t *v)
{
	if (json_is_string(v))
		return json_string_length(v) > 0;
	if (json_is_array(v))
		return json_array_size(v) > 0;
	if (json_is_object(v))
		return json_object_size(v) > 0;
	return json_is_number(v) ? json_number_value(v) != 0 : json_is_true(v);
}

static bool is_equal(json_t *a, json_t *b)
{
	bool none = !a || json_is_null(a);

	return none || !b || json_is_null(b) ? none == (!b || json_is_null(b)) : json_equal(a, b);
}

static bool term_holds(
    const struct running *x, const struct scope *s, const struct template_term *t)
{
	json_t *left = value_of(x, s, &t->left);
	bool holds;

	if (t->is_compared)
		holds = is_equal(left, value_of(x, s, &t->right)) != t->is_unequal;
	else if (t->test)
		holds = value_passes(left, t->test);
	else
		holds = is_true(left);
	return holds != t->is_negated;
}

static bool holds(const struct running *x, const struct scope *s, const struct template_cond *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (term_holds(x, s, &c->terms[i]) == c->is_or)
			return c->is_or;
	return !c->is_or;
}

/* --- parts --- */

static int run(struct running *x, const struct scope *s, const struct template_part *part);

/* With {{loop.first}}, {{loop.last}} and {{loop.n}}, which counts from 1. */
static int run_once(struct running *x, const struct scope *outer, const struct template_part *part,
    json_t *key, json_t *value, size_t nth, size_t n)
{
	json_t *loop = json_pack(
	    "{s:b,s:b,s:I}", "first", nth == 0, "last", nth + 1 == n, "n", (json_int_t)nth + 1);
	struct scope about = {outer, "loop", loop};
	struct scope keys = {&about, part->key_name, key};
	struct scope values = {&keys, part->name, value};
	int rc = run(x, &values, part->body);

	json_decref(loop);
	return rc;
}

static int run_list(
    struct running *x, const struct scope *s, const struct template_part *part, json_t *list)
{
	size_t n = json_array_size(list);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		json_t *key = json_integer((json_int_t)i);

		rc = run_once(x, s, part, key, json_array_get(list, i), i, n);
		json_decref(key);
	}
	return rc;
}

static int run_map(
    struct running *x, const struct scope *s, const struct template_part *part, json_t *map)
{
	size_t n = json_object_size(map), i = 0;
	const char *name;
	json_t *value;
	int rc = 0;

	json_object_foreach(map, name, value)
	{
		json_t *key = json_string(name);

		rc = run_once(x, s, part, key, value, i++, n);
		json_decref(key);
		if (rc < 0)
			break;
	}
	return rc;
}

/* What is not there has no entries. */
static int run_for(struct running *x, const struct scope *s, const struct template_part *part)
{
	json_t *v = value_of(x, s, &part->value);

	if (!v || json_is_null(v))
		return 0;
	if (json_is_object(v))
		return run_map(x, s, part, v);
	if (json_is_array(v))
		return run_list(x, s, part, v);
	problem_set(x->p, ERR_INVALID, "%.100s is neither a list nor a map", part->value.text);
	return wrong(x, part->line);
}

static int run_value(struct running *x, const struct scope *s, const struct template_part *part)
{
	json_t *v = value_of(x, s, &part->value);
	int rc;

	if ((!v || json_is_null(v)) && part->has_otherwise)
		v = value_of(x, s, &part->otherwise);
	rc = value_write(v, x->target, part->filter, part->value.text, x->out, x->p);
	return rc < 0 ? wrong(x, part->line) : 0;
}

static int run_part(struct running *x, const struct scope *s, const struct template_part *part)
{
	switch (part->kind) {
	case PART_TEXT: buf_add_str(x->out, part->text); return 0;
	case PART_VALUE: return run_value(x, s, part);
	case PART_FOR: return run_for(x, s, part);
	case PART_IF: return run(x, s, holds(x, s, part->cond) ? part->body : part->not );
	case PART_TARGET: x->target = part->target; return 0;
	}
	return 0;
}

/* A target holds to the end of what it stands in. */
static int run(struct running *x, const struct scope *s, const struct template_part *part)
{
	enum template_target target = x->target;
	int rc = 0;

	for (; rc == 0 && part; part = part->next) {
		if (++x->steps > TEMPLATE_STEPS_MAX)
			rc = problem_set(x->p, ERR_TOO_LARGE, "this takes more than %d steps",
			    TEMPLATE_STEPS_MAX);
		else if (x->out->n - x->began > TEMPLATE_OUTPUT_MAX)
			rc = problem_set(x->p, ERR_TOO_LARGE, "this makes more than %u bytes",
			    TEMPLATE_OUTPUT_MAX);
		else {
			rc = run_part(x, s, part);
			continue;
		}
		rc = wrong(x, part->line);
	}
	x->target = target;
	return rc;
}

int template_run(const struct template *t, json_t *data, struct buf *out, struct problem *p)
{
	struct running x = {.data = data, .out = out, .began = out->n, .p = p};
	int rc = run(&x, NULL, t->first);

	if (rc < 0 && out->p) {
		out->n = x.began;
		out->p[out->n] = 0;
	}
	return rc;
}
