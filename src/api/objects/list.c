/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of one kind of object, for all kinds. All of them are in memory, so looking needs no
 * store. A page is over when it is full and one more would be on it, or when many were looked at;
 * its `next` is the last one that was looked at.
 */
#include <string.h>

#include "api/objects/resource.h"
#include "api/objects/show.h"

struct list {
	const struct resource *r;
	rid at;           /* the last one that was looked at, where they are in order of ids … */
	struct str after; /* … or of names; NULL: none was */
	uint32_t limit;
	struct str prefix; /* of its name */
	rid queue;         /* 0: any */
	unsigned states;   /* bits; 0: any */
	bool full;
};

static bool read_place(struct call *c, struct list *l)
{
	if (!l->r->by_name)
		return call_page(c, &l->at, &l->limit);
	l->after = c->query[Q_CURSOR].n ? c->query[Q_CURSOR] : STR_NULL;
	return call_limit(c, &l->limit);
}

static bool read_queue(struct call *c, struct list *l)
{
	if (!c->query[Q_QUEUE].p)
		return true;
	l->queue = find_object(c, KIND_QUEUE, c->query[Q_QUEUE], "queue", &c->problem);
	if (!l->queue)
		call_problem(c);
	return l->queue;
}

static bool read_list(struct call *c, struct list *l)
{
	l->prefix = c->query[Q_NAME];
	return read_place(c, l) && resource_states(c, &l->states) && read_queue(c, l) &&
	       call_bool(c, Q_FULL, &l->full) && (!l->full || access_may(c, RIGHT_LOGS));
}

static bool has_prefix(struct str name, struct str prefix)
{
	return !prefix.n || (name.n >= prefix.n && memcmp(name.p, prefix.p, prefix.n) == 0);
}

/* Names in order: before the prefix there is nothing to look for, but it may be a name itself. */
static rid first(const struct core *core, const struct list *l)
{
	bool behind = l->after.p && str_cmp(l->after, l->prefix) >= 0;
	rid id;

	if (!l->r->by_name)
		return core_next(core, l->r->kind, l->at);
	if (behind || !l->prefix.n)
		return core_next_name(core, l->r->kind, l->after);
	id = core_find(core, l->r->kind, l->prefix);
	return id ? id : core_next_name(core, l->r->kind, l->prefix);
}

static rid following(const struct core *core, struct list *l, rid id)
{
	l->at = id;
	l->after = core_name(core, l->r->kind, id); /* not copied: no step comes between */
	return l->r->by_name ? core_next_name(core, l->r->kind, l->after)
	                     : core_next(core, l->r->kind, id);
}

/* Names in order: behind the last one with the prefix there is nothing to look for, either. */
static bool is_past(const struct core *core, const struct list *l, rid id)
{
	struct str name = l->r->by_name ? core_name(core, l->r->kind, id) : STR_NULL;

	return name.p && !has_prefix(name, l->prefix) && str_cmp(name, l->prefix) > 0;
}

static unsigned states_of(const struct call *c, const struct resource *r, rid id)
{
	return 1u << r->state(c, id) | (r->also ? r->also(c, id) : 0);
}

static bool fits(const struct call *c, const struct list *l, rid id)
{
	const struct resource *r = l->r;

	return (!r->covers || r->covers(c, id)) &&
	       has_prefix(core_name(c->host->core, r->kind, id), l->prefix) &&
	       (!l->queue || r->queue(c, id) == l->queue) &&
	       (!l->states || l->states & states_of(c, r, id)) && (!r->fits || r->fits(c, id));
}

static void add(struct call *c, const struct list *l, rid id)
{
	if (l->r->show_listed)
		l->r->show_listed(c, id, l->full);
	else
		l->r->show(c, id);
}

/* False: there is no more. */
static bool add_page(struct call *c, struct list *l)
{
	const struct core *core = c->host->core;
	int looked = 0;

	for (rid id = first(core, l); id && !is_past(core, l, id); id = following(core, l, id)) {
		if (looked++ == LOOKED_AT_MAX)
			return true;
		if (!fits(c, l, id))
			continue;
		if (l->limit-- == 0 || c->out.n > PAGE_BYTES)
			return true;
		add(c, l, id);
	}
	return false;
}

void resource_list(struct call *c)
{
	struct list l = {.r = resource_at(c->route->tag)};
	struct buf *b = &c->out;
	bool more;

	MUST(l.r && (!l.r->states || l.r->state));
	if (!read_list(c, &l))
		return;
	show_page_begin(c);
	more = add_page(c, &l);
	if (!l.r->by_name) {
		show_page_end(c, more ? l.at : 0);
		return;
	}
	jw_close(b, ']');
	jw_mstr_null(b, "next", more ? l.after : STR_NULL);
	jw_close(b, '}');
	call_json(c, 200);
}
