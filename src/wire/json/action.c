/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an action: which kind a node is, how deep and how many, and where an error lies. */
#include "wire/json/action.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "wire/json/action_internal.h"
#include "wire/text.h"

#define KEY_SHOWN 64
#define NAMES_MAX 16

const char *const action_kind_names[N_ACTION_KINDS] = {"run", "serial", "parallel", "codependent",
    "with_sidecars", "timeout", "try", "emit_progress", "download", "upload"};

void action_down(struct action_parser *s, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(s->where + s->n, sizeof s->where - s->n, fmt, ap);
	va_end(ap);
	s->n += n < 0 ? 0 : (size_t)n;
	if (s->n > sizeof s->where - 1)
		s->n = sizeof s->where - 1;
}

void action_back(struct action_parser *s, size_t n)
{
	s->n = n;
	s->where[n] = 0;
}

/* A problem's field is short: of a long path the end says more than the beginning. */
static void name_field(struct action_parser *s)
{
	size_t room = s->p ? sizeof s->p->field - 1 : 0, at = 0;
	char field[sizeof s->p->field];

	if (!s->p)
		return;
	if (s->n > room)
		at = s->n - (room - 3);
	while (at && ((unsigned char)s->where[at] & 0xc0) == 0x80)
		at++;
	if (at)
		snprintf(field, sizeof field, "...%.*s", (int)room - 3, s->where + at);
	else
		snprintf(field, sizeof field, "%.*s", (int)room, s->where);
	problem_field(s->p, field);
}

int action_wrong(struct action_parser *s, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	problem_set(s->p, ERR_INVALID, "%s", what);
	name_field(s);
	return ERR_INVALID;
}

static const char *type_of(const json_t *v)
{
	static const char *const names[] = {"an object", "an array", "a string", "an integer",
	    "a number with a fraction", "true", "false", "null"};

	return names[json_typeof(v)];
}

/* The last two steps of the path: "run.path". The whole of it is the problem's field. */
static const char *short_where(const struct action_parser *s)
{
	const char *at = s->where + s->n;

	for (int dots = 0; at > s->where; at--)
		if (at[-1] == '.' && ++dots == 2)
			break;
	return at;
}

int action_wrong_type(struct action_parser *s, const json_t *v, const char *expected)
{
	return action_wrong(
	    s, "\"%.128s\" is %s; %s is expected", short_where(s), type_of(v), expected);
}

/* A member that the table does not have. */
static int action_unknown(
    struct action_parser *s, const char *key, const char *const *names, size_t n)
{
	struct str shown = text_head(str_of(key), KEY_SHOWN);
	const char *near = strlen(key) <= KEY_SHOWN ? str_nearest(str_of(key), names, n) : NULL;
	AUTO(buf_release) struct buf all = {0};

	action_down(s, ".%.*s", (int)shown.n, shown.p);
	action_wrong(s, "there is no member \"%.*s\" here", (int)shown.n, shown.p);
	for (size_t i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	if (near)
		problem_hint(s->p, "did you mean \"%s\"?", near);
	else
		problem_hint(s->p, "understood here: %s", all.p ? all.p : "nothing");
	return ERR_INVALID;
}

static int read_member(struct action_parser *s, const struct action_form *form, const char *key,
    const json_t *v, struct action *a)
{
	const char *names[NAMES_MAX];
	size_t n = 0, before = s->n;
	int r;

	for (; form->members[n].name; n++) {
		MUST(n < NAMES_MAX);
		names[n] = form->members[n].name;
		if (strcmp(key, names[n]) != 0)
			continue;
		action_down(s, ".%s", key);
		r = form->members[n].set(s, v, a);
		if (r == 0)
			action_back(s, before);
		return r;
	}
	return action_unknown(s, key, names, n);
}

/* {"run": …}: the one member is the kind. */
static int read_kind(struct action_parser *s, const json_t *v, struct action *a, json_t **ret_body)
{
	const char *key;

	if (!json_is_object(v))
		return action_wrong_type(s, v, "an object like {\"run\": {…}}");
	if (json_object_size(v) != 1) {
		action_wrong(s, "an action has exactly one member, its kind; here are %zu",
		    json_object_size(v));
		problem_hint(s->p, "to do several things write "
		                   "{\"serial\": {\"actions\": [{…}, {…}]}}");
		return ERR_INVALID;
	}
	key = json_object_iter_key(json_object_iter((json_t *)v));
	for (int i = 0; i < N_ACTION_KINDS; i++)
		if (strcmp(key, action_kind_names[i]) == 0) {
			a->kind = i;
			*ret_body = json_object_get(v, key);
			action_down(s, ".%s", key);
			return 0;
		}
	return action_unknown(s, key, action_kind_names, N_ACTION_KINDS);
}

static int read_body(struct action_parser *s, json_t *body, struct action *a)
{
	const struct action_form *form = &action_forms[a->kind];
	const char *key;
	json_t *v;
	int r;

	if (!json_is_object(body))
		return action_wrong_type(s, body, "an object");
	if (a->kind == ACTION_DOWNLOAD || a->kind == ACTION_UPLOAD)
		a->transfer = (struct action_transfer){.mode = ACTION_MODE_UNSET,
		    .max_bytes = ACTION_BYTES_DEFAULT,
		    .connect_ms = ACTION_CONNECT_DEFAULT_MS,
		    .idle_ms = ACTION_IDLE_DEFAULT_MS};
	json_object_foreach(body, key, v)
	{
		r = read_member(s, form, key, v, a);
		if (r < 0)
			return r;
	}
	return form->check ? form->check(s, body, a) : 0;
}

static int count_node(struct action_parser *s)
{
	if (s->depth >= ACTION_DEPTH_MAX) {
		action_wrong(s, "the action is nested deeper than %d levels", ACTION_DEPTH_MAX);
		problem_hint(s->p, "let a script do the innermost steps");
		return ERR_INVALID;
	}
	if (++s->n_nodes > ACTION_NODES_MAX) {
		action_wrong(s, "the action has more than %d parts", ACTION_NODES_MAX);
		problem_hint(s->p, "submit several tasks, or let a script do some of the steps");
		return ERR_INVALID;
	}
	return 0;
}

static int read_action(struct action_parser *s, const json_t *v, struct action **ret)
{
	struct action *a = arena_zalloc(s->arena, sizeof *a);
	size_t before = s->n;
	json_t *body = NULL;
	int r = count_node(s);

	if (r == 0)
		r = read_kind(s, v, a, &body);
	if (r < 0)
		return r;
	s->depth++;
	r = read_body(s, body, a);
	if (r < 0)
		return r;
	s->depth--;
	action_back(s, before);
	*ret = a;
	return 0;
}

int action_set_one(struct action_parser *s, const json_t *v, struct action *a)
{
	a->inner = arena_zalloc(s->arena, sizeof *a->inner);
	a->n_inner = 1;
	return read_action(s, v, &a->inner[0]);
}

int action_set_list(struct action_parser *s, const json_t *v, struct action *a)
{
	size_t before = s->n;
	int r;

	if (!json_is_array(v))
		return action_wrong_type(s, v, "an array of actions");
	if (json_array_size(v) > ACTION_NODES_MAX) /* before memory is taken for them */
		return action_wrong(s, "the action has more than %d parts", ACTION_NODES_MAX);
	a->n_inner = json_array_size(v);
	a->inner = arena_zalloc(s->arena, (a->n_inner + 1) * sizeof *a->inner);
	for (size_t i = 0; i < a->n_inner; i++) {
		action_down(s, "[%zu]", i);
		r = read_action(s, json_array_get(v, i), &a->inner[i]);
		if (r < 0)
			return r;
		action_back(s, before);
	}
	return 0;
}

int action_parse(const json_t *object, struct arena *a, struct action **ret, struct problem *p)
{
	struct action_parser s = {.arena = a, .p = p};

	action_down(&s, "action");
	return read_action(&s, object, ret);
}
