/* SPDX-License-Identifier: Apache-2.0 */
/* What stories of services share. */
#ifndef TEST_SERVICE_STORY_H
#define TEST_SERVICE_STORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "base/mem.h"
#include "core/service/view.h"
#include "service/deploy/deploy.h"

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

static inline rid story_create(
    struct service_story *s, const struct service_row *row, uint64_t fields)
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

/* --- workers and what they say */

static inline void story_hello_with(struct service_story *s, uint64_t link, const char *name,
    uint64_t instance, const char *offer, const struct link_held *held, size_t n)
{
	struct event ev = {.kind = EV_HELLO, .link = link};

	ev.hello.facts = (struct worker_facts){.shard = str_of(name),
	    .instance = instance,
	    .started_ms = (int64_t)instance,
	    .start = (int64_t)instance,
	    .lock = str_of(name),
	    .key = str_of(name),
	    .host = str_of(name),
	    .zone = STR("a"),
	    .plugins = STR("command\n"),
	    .offer = str_of(offer),
	    .maxthreads = -1};
	ev.hello.tasks = held;
	ev.hello.n_tasks = n;
	ev.hello.takes_needs = ev.hello.takes_services = true;
	world_step(s->w, &ev);
}

/* "w3" on link 3, as its first process, with room for so many instances. */
static inline void story_worker(struct service_story *s, int n, int room)
{
	char name[16], offer[64];

	snprintf(name, sizeof name, "w%d", n);
	snprintf(offer, sizeof offer, "instances=%d\nmemory=1000\nports=10\n", room);
	story_hello_with(s, (uint64_t)n, arena_strdup(&s->a, name), 100 + (uint64_t)n,
	    arena_strdup(&s->a, offer), NULL, 0);
}

static inline void story_fares(
    struct service_story *s, uint64_t link, rid task, int64_t token, bool up, bool ready)
{
	struct event ev = {.kind = EV_HEALTH, .link = link};

	ev.health.task = task;
	ev.health.token = token;
	ev.health.fares = (struct link_fares){.container = up ? 3 : 2,
	    .is_up = up,
	    .is_ready = ready,
	    .address = STR("10.0.0.1"),
	    .ports = STR("31001\n")};
	world_step(s->w, &ev);
}

/* Messages of a kind are taken; those of the others stay. Returns how many. */
static inline size_t story_take(
    struct service_story *s, enum message_kind kind, struct message *ret, size_t max)
{
	size_t n = world_count_sent(s->w, kind), kept = 0;

	assert_true(n <= max && s->w->n_sent <= WORLD_TASKS);
	for (size_t i = 0; i < n; i++)
		ret[i] = *world_sent(s->w, kind, i);
	for (size_t i = 0; i < s->w->n_sent; i++)
		if (s->w->sent[i].kind != kind)
			s->w->sent[kept++] = s->w->sent[i];
	s->w->n_sent = kept;
	return n;
}

/* Every order is carried out, and what was started is ready. Returns how many there were. */
static inline size_t story_obey(struct service_story *s)
{
	struct message runs[64];
	size_t n = story_take(s, MSG_RUN, runs, 64);

	for (size_t i = 0; i < n; i++) {
		world_started(s->w, runs[i].link, runs[i].run.task, runs[i].run.token);
		story_fares(s, runs[i].link, runs[i].run.task, runs[i].run.token, true, true);
	}
	return n;
}

/* Everybody who was told to stop has. Returns how many. */
static inline size_t story_stop(struct service_story *s)
{
	struct message kills[64];
	size_t n = story_take(s, MSG_KILL, kills, 64);

	for (size_t i = 0; i < n; i++) {
		struct event ev = {.kind = EV_ENDED, .link = kills[i].link};

		ev.ended = (struct link_ended){.task = kills[i].kill.task,
		    .token = kills[i].kill.token,
		    .status = TASK_CANCELLED,
		    .exit_code = -1,
		    .killed = true,
		    .started_ms = s->w->now_ms,
		    .ended_ms = s->w->now_ms};
		world_step(s->w, &ev);
	}
	return n;
}

static inline struct instance_view story_instance(struct service_story *s, rid id, int64_t index)
{
	struct instance_view v;

	if (!core_instance(s->w->core, id, index, &s->a, &v))
		fail_msg("there is no instance %d", (int)index);
	return v;
}

static inline size_t story_records(struct service_story *s, rid id)
{
	struct instance_view *v;

	return core_service_instances(s->w->core, id, 0, 0, 1000, &s->a, &v);
}

/* The instance crashes. */
static inline void story_crash(struct service_story *s, rid id, int64_t index)
{
	struct instance_view v = story_instance(s, id, index);
	uint64_t link = (uint64_t)(v.worker.p[1] - '0');

	world_ended(s->w, link, v.row.task, v.row.token, TASK_FAILED);
}

static inline void assert_counts(struct service_story *s, rid id, uint32_t unclaimed,
    uint32_t claimed, uint32_t running, uint32_t crashed)
{
	struct service_counts n;

	assert_true(core_service_counts(s->w->core, id, &n));
	if (n.in[0] != unclaimed || n.in[1] != claimed || n.in[2] != running || n.in[3] != crashed)
		fail_msg("%u unclaimed, %u claimed, %u running, %u crashed", n.in[0], n.in[1],
		    n.in[2], n.in[3]);
}

#endif
