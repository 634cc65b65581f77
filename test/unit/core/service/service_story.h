/* SPDX-License-Identifier: Apache-2.0 */
/* What stories of services share. */
#ifndef TEST_SERVICE_STORY_H
#define TEST_SERVICE_STORY_H

#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "base/mem.h"
#include "core/service/view.h"

#define SERVICE_BIT(member) ROW_BIT(service_table, service_row, member)
#define DOMAIN_BIT(member) ROW_BIT(domain_table, domain_row, member)

struct service_story {
	struct world *w;
	struct arena a;
};

static inline void story_begin(struct service_story *s, const struct core_options *o)
{
	*s = (struct service_story){.w = world_new(o)};
}

static inline void story_end(struct service_story *s)
{
	arena_release(&s->a);
	world_free(s->w);
}

static inline const struct reply *story_object(struct service_story *s, enum event_kind kind,
    enum kind of, rid id, enum verb verb, const void *row, uint64_t fields, int64_t number)
{
	struct event ev = {.kind = kind, .ticket = ++s->w->last_ticket, .actor = STR("ann")};

	ev.object.kind = of;
	ev.object.id = id;
	ev.object.verb = verb;
	ev.object.row = row;
	ev.object.fields = fields;
	ev.object.number = number;
	world_step(s->w, &ev);
	return world_reply(s->w);
}

static inline rid story_create(struct service_story *s, const struct service_row *row,
    uint64_t fields)
{
	const struct reply *r =
	    story_object(s, EV_CREATE, KIND_SERVICE, 0, VERB_NONE, row, fields, 0);

	if (r->code)
		fail_msg("create: %s", r->problem->what);
	return r->id;
}

/* A service that only has a name and a number of instances. */
static inline rid story_service(struct service_story *s, const char *name, int32_t instances)
{
	struct service_row row = {
	    .name = str_of(name), .instances = instances, .spec = {.body = STR("{\"c\":1}")}};

	return story_create(
	    s, &row, SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(spec.body));
}

static inline const struct reply *story_set(
    struct service_story *s, rid id, const struct service_row *row, uint64_t fields)
{
	return story_object(s, EV_SET, KIND_SERVICE, id, VERB_NONE, row, fields, 0);
}

static inline const struct reply *story_do(
    struct service_story *s, rid id, enum verb verb, int64_t number)
{
	return story_object(s, EV_DO, KIND_SERVICE, id, verb, NULL, 0, number);
}

static inline struct service_view story_view(struct service_story *s, rid id)
{
	struct service_view v;

	assert_true(core_service(s->w->core, id, &s->a, &v));
	return v;
}

#endif
