/* SPDX-License-Identifier: Apache-2.0 */
#include "api/objects/resource.h"

#include <stdio.h>
#include <string.h>

#include "api/objects/show.h"
#include "model/limits.h"
#include "wire/json/fields.h"

#define NAMES_FOR_HINT 512

const struct resource *resource_at(const char *tag)
{
	const struct section *p;

	for (size_t i = 0; (p = section_at(i)); i++)
		if (p->tag && strcmp(p->tag, tag) == 0)
			return p->resource;
	return NULL;
}

const struct resource *resource_of(enum kind kind)
{
	const struct section *p;

	for (size_t i = 0; (p = section_at(i)); i++)
		if (p->resource && p->resource->kind == kind)
			return p->resource;
	return NULL;
}

const struct resource *resource_asked(enum query q)
{
	const struct section *p;

	for (size_t i = 0; (p = section_at(i)); i++)
		if (p->resource && p->resource->owner && p->resource->owner->query == q)
			return p->resource;
	return NULL;
}

int resource_owner(struct call *c, struct owner *ret_owner)
{
	*ret_owner = (struct owner){0};
	for (int q = 0; q < N_QUERY; q++)
		if (Q_OWNERS & Q(q) && c->query[q].p) {
			ret_owner->kind = (int32_t)resource_asked((enum query)q)->kind;
			ret_owner->id = find_object(c, (enum kind)ret_owner->kind, c->query[q],
			    query_infos[q].name, &c->problem);
			if (!ret_owner->id)
				return c->problem.code;
		}
	return 0;
}

static const struct resource *of_route(const struct call *c)
{
	const struct resource *r = resource_at(c->route->tag);

	MUST(r);
	return r;
}

static const char *nearest(
    const struct call *c, const struct resource *r, struct str text, struct arena *a)
{
	const char *names[NAMES_FOR_HINT];
	size_t n = 0, looked = 0;
	rid id = 0;

	while (looked++ < NAMES_FOR_HINT && (id = core_next(c->host->core, r->kind, id)))
		if (!r->covers || r->covers(c, id))
			names[n++] = arena_str(a, core_name(c->host->core, r->kind, id)).p;
	return str_nearest(text, names, n);
}

static void not_there(const struct call *c, const struct resource *r, struct str text,
    const char *field, struct problem *p)
{
	AUTO(arena_release) struct arena a = {0};
	const char *near = nearest(c, r, text, &a), *word = kind_names[r->kind];

	problem_set(p, ERR_NOT_FOUND, "there is no %s \"%.*s\"", word,
	    text.n > NAME_MAX_BYTES ? NAME_MAX_BYTES : (int)text.n, text.p ? text.p : "");
	if (near)
		problem_hint(
		    p, "reeve %s ls shows the %ss; did you mean \"%s\"?", word, word, near);
	else if (r->hint)
		r->hint(c, text, p);
	else
		problem_hint(p, "reeve %s ls shows the %ss", word, word);
	problem_field(p, field);
}

rid find_object(
    const struct call *c, enum kind kind, struct str text, const char *field, struct problem *p)
{
	const struct resource *r = resource_of(kind);
	rid id = core_find(c->host->core, kind, text);

	if (!id &&
	    (!id_parse(c->host->ids, text, &id) || !id || !core_name(c->host->core, r->kind, id).p))
		id = 0;
	if (id && r->covers && !r->covers(c, id))
		id = 0;
	if (!id)
		not_there(c, r, text, field, p);
	return id;
}

static bool seek(struct call *c)
{
	enum kind kind = of_route(c)->kind;

	c->about = find_object(c, kind, c->arg, kind_names[kind], &c->problem);
	if (c->about)
		return true;
	call_problem(c);
	return false;
}

/* A replay may come after somebody has moved it out of the caller's limits. */
static void answer(struct call *c, rid id, int status)
{
	const struct resource *r = of_route(c);
	const struct core *core = c->host->core;
	int64_t version;

	if (!core_name(core, r->kind, id).p || (r->covers && !r->covers(c, id))) {
		problem_set(&c->problem, ERR_NOT_FOUND, "the %s was %s in the meantime",
		    kind_names[r->kind], r->gone);
		call_problem(c);
		return;
	}
	version = core_version(core, r->kind, id);
	if (version && call_etag(c, version))
		return;
	r->show(c, id);
	call_json(c, status);
}

static bool state_bit(
    struct call *c, const struct state_words *r, struct str name, unsigned *states)
{
	AUTO(buf_release) struct buf all = {0};
	const char *near;

	for (int i = 0; i < r->n; i++) {
		if (str_is(name, r->names[i])) {
			*states |= 1u << i;
			return true;
		}
		buf_printf(&all, "%s%s", i == 0 ? "" : i + 1 < r->n ? ", " : " and ", r->names[i]);
	}
	near = name.n <= 64 ? str_nearest(name, r->names, (size_t)r->n) : NULL;
	problem_set(&c->problem, ERR_INVALID, "\"%.*s\" is not a state of a %s",
	    name.n > 64 ? 64 : (int)name.n, name.p, r->of);
	if (near)
		problem_hint(&c->problem, "did you mean \"%s\"?", near);
	else
		problem_hint(&c->problem, "states are %s", all.p);
	problem_field(&c->problem, "state");
	call_problem(c);
	return false;
}

bool call_states(struct call *c, const struct state_words *words, unsigned *ret_states)
{
	struct str list, one;

	*ret_states = 0;
	for (size_t i = 0; i < c->req.n_params; i++) {
		list = c->req.params[i].value;
		if (!str_is(c->req.params[i].key, "state"))
			continue;
		while (str_next(&list, ',', &one))
			if (!state_bit(c, words, one, ret_states))
				return false;
	}
	return true;
}

bool resource_states(struct call *c, unsigned *ret_states)
{
	const struct resource *r = of_route(c);
	const struct state_words words = {r->states, r->n_states, kind_names[r->kind]};

	return call_states(c, &words, ret_states);
}

bool resource_begin(struct call *c, struct event *ev)
{
	enum kind kind = of_route(c)->kind;
	int64_t version;

	if (!seek(c))
		return false;
	ev->object.kind = kind;
	ev->object.id = c->about;
	version = core_version(c->host->core, kind, c->about);
	if (version)
		ev->object.if_version = call_if_match(c, version);
	return ev->object.if_version >= 0;
}

void resource_made(struct call *c, const struct reply *r)
{
	char path[64];

	if (call_refused(c, r))
		return;
	snprintf(path, sizeof path, "/v1/%s/", c->route->tag);
	call_location(c, path, r->id);
	answer(c, r->id, 201);
}

void resource_changed(struct call *c, const struct reply *r)
{
	if (!call_refused(c, r))
		answer(c, c->about, 200);
}

static void resource_gone(struct call *c, const struct reply *r)
{
	if (!call_refused(c, r))
		call_empty(c, 204);
}

void resource_get(struct call *c)
{
	if (seek(c))
		answer(c, c->about, 200);
}

const struct field pause_fields[] = {
    FIELD("reason", FIELD_TEXT, pause, reason, .max = REASON_MAX_BYTES,
        .flags = FIELD_GIVEN | FIELD_NULL_GIVEN, .about = "why, for everybody to see"),
    FIELD("until", FIELD_TIME, pause, until_ms, .flags = FIELD_GIVEN | FIELD_NULL_GIVEN,
        .about = "a time, or a duration from now; null: until resumed"),
    {NULL},
};
static const struct field no_fields[] = {{NULL}};

static void pause_or_resume(struct call *c, bool pause)
{
	struct event ev = {.kind = pause ? EV_PAUSE : EV_RESUME};
	struct pause k = {0};
	const struct fields_in r = {.arena = &c->arena,
	    .into = &k,
	    .problem = &c->problem,
	    .now_ms = c->host->wall_ms(c->host->arg)};

	if (!resource_begin(c, &ev) || !call_fields(c, &r, pause ? pause_fields : no_fields))
		return;
	if (k.until_ms && k.until_ms <= r.now_ms) {
		problem_set(&c->problem, ERR_INVALID, "\"until\" lies in the past");
		problem_field(&c->problem, "until");
		call_problem(c);
		return;
	}
	ev.object.reason = k.reason;
	ev.object.until_ms = k.until_ms;
	call_command(c, &ev, resource_changed);
}

void resource_pause(struct call *c)
{
	pause_or_resume(c, true);
}

void resource_resume(struct call *c)
{
	pause_or_resume(c, false);
}

/* `force` of queues and `lost` of workers mean the same: though something would be lost. */
void resource_delete(struct call *c)
{
	struct event ev = {.kind = EV_DELETE};
	bool force, lost;

	if (!resource_begin(c, &ev) || !call_bool(c, Q_FORCE, &force) ||
	    !call_bool(c, Q_LOST, &lost))
		return;
	ev.object.force = force || lost;
	call_command(c, &ev, resource_gone);
}

void resource_do(struct call *c, enum verb verb)
{
	struct event ev = {.kind = EV_DO, .object.verb = verb};

	if (resource_begin(c, &ev))
		call_command(c, &ev, resource_changed);
}
