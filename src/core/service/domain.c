/* SPDX-License-Identifier: Apache-2.0 */
/* Domains: whether the desired set is said to be complete. When that is said, surplus may go. */
#include "core/service/service.h"

#include <stdlib.h>

#include "core/service/view.h"
#include "core/state.h"

static int count_cmp(const struct domain_count *a, const struct domain_count *b)
{
	return str_cmp(a->name, b->name);
}

RB_PROTOTYPE(domain_counts, domain_count, by_name, count_cmp)
RB_GENERATE(domain_counts, domain_count, by_name, count_cmp)

static struct domain_count *count_of(const struct core *c, struct str name)
{
	struct domain_count key = {.name = name};

	return RB_FIND(domain_counts, &services_of(c)->domains, &key);
}

static void count_drop(struct core *c, struct domain_count *d)
{
	if (--d->n)
		return;
	RB_REMOVE(domain_counts, &services_of(c)->domains, d);
	free((char *)d->name.p);
	free(d);
}

static struct domain_count *count_take(struct core *c, struct str name)
{
	struct domain_count *d = count_of(c, name);

	if (!d) {
		d = xcalloc(1, sizeof *d);
		d->name = (struct str){xstrndup(name.p, name.n), name.n};
		RB_INSERT(domain_counts, &services_of(c)->domains, d);
	}
	d->n++;
	return d;
}

void service_name_domain(struct core *c, struct service *s, struct str name)
{
	if (s->domain && str_eq(s->domain->name, name))
		return;
	if (s->domain)
		count_drop(c, s->domain);
	s->domain = name.n ? count_take(c, name) : NULL;
}

size_t core_domain_services(const struct core *c, struct str name)
{
	const struct domain_count *d = name.n ? count_of(c, name) : NULL;

	return d ? d->n : 0;
}

static struct domain *add(struct core *c, const struct domain_row *row)
{
	struct domain *d = xcalloc(1, sizeof *d);

	d->row = *row;
	row_own(&domain_table, &d->row, &d->strings);
	object_add(c, &d->object, KIND_DOMAIN, d->row.id, d->row.name);
	return d;
}

static void load(struct core *c, const void *row)
{
	add(c, row);
}

static void forget(struct core *c, struct domain *d)
{
	object_del(c, &d->object);
	free(d->strings);
	free(d);
}

static void release(struct core *c)
{
	struct domain *d;

	while ((d = object_first(c, KIND_DOMAIN)))
		forget(c, d);
}

static int64_t version(const struct object *o)
{
	return ((const struct domain *)o)->row.version;
}

static void save(struct core *c, struct object *o, void *own, struct effects *out)
{
	struct domain *d = (struct domain *)o;

	row_own(&domain_table, &d->row, &d->strings);
	object_rename(c, o, d->row.name);
	batch_put(&out->batch, &domain_table, row_new(&out->batch.arena, &domain_table, &d->row));
}

static int create(
    struct core *c, const struct event *ev, rid id, struct reply *r, struct effects *out)
{
	const struct domain_row *given = ev->object.row;
	struct domain_row row = {.id = id, .name = given->name, .ctime_ms = c->now_ms};
	struct domain *d;

	row_take(&domain_table, &row, given, ev->object.fields);
	d = add(c, &row);
	object_changed(c, &d->object, &d->row, OBJECT_CREATED, ev->actor, STR_NULL, out);
	return 0;
}

/* Another time to live counts from the next time that its owner speaks. */
static int set(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct domain *d = (struct domain *)o;

	row_take(&domain_table, &d->row, ev->object.row, ev->object.fields);
	object_changed(c, o, &d->row, OBJECT_CHANGED, ev->actor, STR_NULL, out);
	return 0;
}

static int remove_domain(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	batch_delete(&out->batch, &domain_table, o->id);
	object_audit(c, o, OBJECT_DELETED, ev->actor, STR_NULL, out);
	forget(c, (struct domain *)o);
	return 0;
}

static int act(
    struct core *c, struct object *o, const struct event *ev, struct reply *r, struct effects *out)
{
	struct domain *d = (struct domain *)o;
	bool fresh = ev->object.verb == DOMAIN_FRESH;

	d->row.fresh_until_ms = !fresh          ? 0
	                        : d->row.ttl_ms ? c->now_ms + d->row.ttl_ms
	                                        : DOMAIN_FOR_EVER;
	object_changed(c, o, &d->row, OBJECT_CHANGED, ev->actor,
	    fresh ? STR("{\"fresh\":true}") : STR("{\"fresh\":false}"), out);
	if (fresh)
		services_note_domain(c, d->row.name);
	return 0;
}

const struct object_kind domain_kind = {
    .table = &domain_table,
    .events = {[OBJECT_CREATED] = "domain.created",
        [OBJECT_CHANGED] = "domain.changed",
        [OBJECT_DELETED] = "domain.deleted"},
    .max = DOMAINS_MAX,
    .full = "remove those that nobody names",
    .taken = HINT_CHANGE,
    .gone = HINT_LIST,
    .load = load,
    .version = version,
    .save = save,
    .create = create,
    .set = set,
    .remove = remove_domain,
    .act = act,
    .release = release,
};
