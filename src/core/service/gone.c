/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How services go, and who goes on remembering them: those who follow changes by tags hear of the
 * last ones that went. A tag never comes again, so the highest is written down with them.
 */
#include <stdlib.h>

#include "core/service/unit.h"
#include "core/state.h"

#define META_SERVICES_TAG "services_tag"

static void remember(struct services *all, const struct service *s)
{
	struct gone_service *g = &all->gone[all->n_gone % GONE_SERVICES];

	if (all->n_gone >= GONE_SERVICES) {
		all->gone_floor = g->tag;
		free((char *)g->name.p);
	}
	all->n_gone++;
	*g = (struct gone_service){
	    all->tag, {xstrndup(s->object.name.p, s->object.name.n), s->object.name.n}};
}

void gone_services_release(struct services *all)
{
	size_t n = all->n_gone < GONE_SERVICES ? all->n_gone : GONE_SERVICES;

	while (n)
		free((char *)all->gone[--n].name.p);
}

static void save_tag(struct core *c, struct effects *out)
{
	struct meta_row *m;

	if (MUTANT(SERVICE_TAG_AGAIN))
		return;
	m = arena_zalloc(&out->batch.arena, sizeof *m);

	m->name = STR(META_SERVICES_TAG);
	m->value = arena_strf(&out->batch.arena, "%llu", (unsigned long long)services_of(c)->tag);
	batch_put(&out->batch, &meta_table, m);
}

void services_load_meta(struct core *c, const struct meta_row *m)
{
	int64_t tag;

	if (str_is(m->name, META_SERVICES_TAG) && str_to_i64(m->value, 0, INT64_MAX, &tag) &&
	    (uint64_t)tag > services_of(c)->tag)
		services_of(c)->tag = (uint64_t)tag;
}

void service_delete(struct core *c, struct service *s, struct effects *out)
{
	struct services *all = services_of(c);
	struct notice *n = effects_notice(out, "service.gone");

	all->tag++;
	n->seq = ++c->last_event;
	n->time_ms = c->now_ms;
	n->owner = (struct owner){KIND_SERVICE, s->object.id, 0};
	n->exit_code = -1;
	n->subject = arena_str(&out->batch.arena, s->object.name);
	remember(all, s);
	save_tag(c, out);
	batch_delete(&out->batch, &service_table, s->object.id);
	service_forget(c, s);
}
