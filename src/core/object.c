/* SPDX-License-Identifier: Apache-2.0 */
#include "core/object.h"

#include "core/state.h"

static int id_cmp(const struct object *a, const struct object *b)
{
	return a->id < b->id ? -1 : a->id > b->id;
}

static int name_cmp(const struct object *a, const struct object *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(objects_by_name, object, by_name, name_cmp)
RB_PROTOTYPE(objects_by_id, object, by_id, id_cmp)
RB_GENERATE(objects_by_id, object, by_id, id_cmp)
RB_GENERATE(objects_by_name, object, by_name, name_cmp)

static struct objects *all_of(const struct core *c, enum kind kind)
{
	return &((struct core *)c)->objects[kind];
}

void object_add(struct core *c, struct object *o, enum kind kind, rid id, struct str name)
{
	struct objects *all = all_of(c, kind);

	o->kind = kind;
	o->id = id;
	o->name = name;
	MUST(!RB_INSERT(objects_by_id, &all->by_id, o));
	MUST(!RB_INSERT(objects_by_name, &all->by_name, o));
	all->n++;
}

void object_del(struct core *c, struct object *o)
{
	struct objects *all = all_of(c, o->kind);

	RB_REMOVE(objects_by_id, &all->by_id, o);
	RB_REMOVE(objects_by_name, &all->by_name, o);
	all->n--;
}

void object_rename(struct core *c, struct object *o, struct str name)
{
	struct objects *all = all_of(c, o->kind);

	RB_REMOVE(objects_by_name, &all->by_name, o);
	o->name = name;
	MUST(!RB_INSERT(objects_by_name, &all->by_name, o));
}

void *object_find(const struct core *c, enum kind kind, rid id)
{
	struct object probe = {.id = id};

	return RB_FIND(objects_by_id, &all_of(c, kind)->by_id, &probe);
}

void *object_find_name(const struct core *c, enum kind kind, struct str name)
{
	struct object probe = {.name = name};

	return RB_FIND(objects_by_name, &all_of(c, kind)->by_name, &probe);
}

void *object_first(const struct core *c, enum kind kind)
{
	return RB_MIN(objects_by_id, &all_of(c, kind)->by_id);
}

void *object_next(const struct object *o)
{
	return RB_NEXT(objects_by_id, NULL, (struct object *)o);
}

void *object_from(const struct core *c, enum kind kind, rid id)
{
	struct object probe = {.id = id};

	return RB_NFIND(objects_by_id, &all_of(c, kind)->by_id, &probe);
}

void *object_before(const struct core *c, enum kind kind, rid id)
{
	struct object *o = object_from(c, kind, id);

	return o ? RB_PREV(objects_by_id, NULL, o) : RB_MAX(objects_by_id, &all_of(c, kind)->by_id);
}

void *object_after(const struct core *c, enum kind kind, struct str name)
{
	struct objects_by_name *names = &all_of(c, kind)->by_name;
	struct object probe = {.name = name}, *o;

	if (!name.p)
		return RB_MIN(objects_by_name, names);
	o = RB_NFIND(objects_by_name, names, &probe);
	return o && str_eq(o->name, name) ? RB_NEXT(objects_by_name, names, o) : o;
}

void object_audit(struct core *c, const struct object *o, enum object_event what, struct str actor,
    struct str detail, struct effects *out)
{
	audit_object(c, object_kinds[o->kind]->events[what], o, actor, detail, out);
}

/* People see its version as the ETag; not every kind says when it was changed. */
static void touch(const struct core *c, const struct row_table *t, void *row)
{
	const struct column *version = row_column(t, "version");
	const struct column *changed = row_column(t, "mtime_ms");

	++*(int64_t *)column_at(version, row);
	if (changed)
		*(int64_t *)column_at(changed, row) = c->now_ms;
}

void object_changed(struct core *c, struct object *o, void *row, enum object_event what,
    struct str actor, struct str detail, struct effects *out)
{
	const struct object_kind *k = object_kinds[o->kind];

	touch(c, k->table, row);
	k->save(c, o, row, out);
	object_audit(c, o, what, actor, detail, out);
}

void object_paused(struct core *c, struct object *o, void *row, struct pause *in_row,
    const struct event *ev, struct effects *out)
{
	*in_row = (struct pause){ev->object.reason, ev->object.until_ms};
	object_changed(c, o, row, OBJECT_PAUSED, ev->actor,
	    detail_of(&out->batch.arena, "reason", ev->object.reason), out);
}

void object_resumed(struct core *c, struct object *o, void *row, struct pause *in_row,
    struct str actor, struct effects *out)
{
	*in_row = (struct pause){0};
	object_changed(c, o, row, OBJECT_RESUMED, actor, STR_NULL, out);
}

/* -- commands */

static const char *name_of(const struct event *ev)
{
	return kind_names[ev->object.kind];
}

static struct str row_name(const struct event *ev)
{
	return column_str(row_name_column(object_kinds[ev->object.kind]->table), ev->object.row);
}

static int hint(const struct event *ev, struct reply *r, enum hint_code code, struct str name)
{
	r->hint->kind = ev->object.kind;
	return reply_hint(r, code, name);
}

static int name_taken(
    struct core *c, const struct event *ev, const struct object *self, struct reply *r)
{
	struct str name = row_name(ev);
	struct object *other = object_find_name(c, ev->object.kind, name);

	if (!other || other == self)
		return 0;
	r->id = other->id;
	problem_set(r->problem, ERR_CONFLICT, "there is a %s \"" STR_FMT "\" already", name_of(ev),
	    STR_ARG(name));
	return hint(ev, r, object_kinds[ev->object.kind]->taken, name);
}

static int is_full(struct core *c, const struct event *ev, struct reply *r)
{
	const struct object_kind *k = object_kinds[ev->object.kind];

	if (!k->max || c->objects[ev->object.kind].n < k->max)
		return 0;
	problem_set(r->problem, ERR_CONFLICT, "there are %zu %ss already, which is the limit",
	    k->max, name_of(ev));
	return k->full ? problem_hint(r->problem, "%s", k->full) : ERR_CONFLICT;
}

static int create(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	int e = name_taken(c, ev, NULL, r);
	rid id;

	if (!e)
		e = is_full(c, ev, r);
	if (e)
		return e;
	id = c->last_id = id_next(c->last_id, c->now_ms); /* it may make another one of its own */
	e = object_kinds[ev->object.kind]->create(c, ev, id, r, out);
	if (!e)
		r->id = id;
	return e;
}

static int is_outdated(const struct object *o, const struct event *ev, struct reply *r)
{
	int64_t version;

	if (!ev->object.if_version)
		return 0;
	version = object_kinds[o->kind]->version(o);
	if (ev->object.if_version == version)
		return 0;
	problem_set(r->problem, ERR_PRECONDITION, "the %s is at version %lld by now", name_of(ev),
	    (long long)version);
	return problem_hint(r->problem, "read it again, then decide");
}

static bool renames(const struct event *ev)
{
	const struct row_table *t = object_kinds[ev->object.kind]->table;

	return ev->object.fields & row_bit(t, row_name_column(t)->offset);
}

static object_fn *handler_of(const struct event *ev)
{
	const struct object_kind *k = object_kinds[ev->object.kind];

	switch (ev->kind) {
	case EV_SET: return k->set;
	case EV_PAUSE: return k->pause;
	case EV_RESUME: return k->resume;
	case EV_DELETE: return k->remove;
	default: return k->act;
	}
}

int object_command(struct core *c, const struct event *ev, struct reply *r, struct effects *out)
{
	struct object *o;
	int e;

	if (ev->kind == EV_CREATE)
		return create(c, ev, r, out);
	o = object_find(c, ev->object.kind, ev->object.id);
	if (!o) {
		problem_set(r->problem, ERR_NOT_FOUND, "there is no such %s any more", name_of(ev));
		return hint(ev, r, object_kinds[ev->object.kind]->gone, STR_NULL);
	}
	r->id = o->id;
	e = is_outdated(o, ev, r);
	if (!e && ev->kind == EV_SET && renames(ev))
		e = name_taken(c, ev, o, r);
	if (e)
		return e;
	MUST(handler_of(ev));
	return handler_of(ev)(c, o, ev, r, out);
}
