/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/crash_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/file/life_values.h"
#include "service/limits.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])
#define EVENTS_MAX 1000000

const char *const crash_event_names[N_CRASH_EVENTS] = {
#define X(kind, name) [kind] = name,
    CRASH_EVENTS(X)
#undef X
};

void crash_file_release(struct crash_file *f)
{
	arena_release(&f->arena);
	names_release(&f->services);
	names_release(&f->keys);
	free(f->policies);
	free(f->has_policy);
	free(f->instances);
	free(f->lines);
	free(f->events);
	*f = (struct crash_file){0};
}

static uint32_t service_put(struct crash_file *f, struct str name)
{
	uint32_t n = names_put(&f->services, name);
	size_t was = f->has_cap;

	GROW(f->policies, f->policy_cap, n + 1);
	GROW(f->has_policy, f->has_cap, n + 1);
	if (f->has_cap > was)
		memset(f->has_policy + was, 0, (f->has_cap - was) * sizeof *f->has_policy);
	return n;
}

/* The instance of that key; one that is new waits for a worker. */
static int instance_put(
    struct crash_file *f, const struct node *v, uint32_t *ret_instance, struct problem *p)
{
	struct str service;
	uint32_t index, n;
	size_t known = f->keys.n;
	int rc = node_instance(v, "instance", &service, &index, p);

	if (rc < 0)
		return rc;
	n = names_put(&f->keys, arena_strf(&f->arena, STR_FMT "/%u", STR_ARG(service), index));
	*ret_instance = n;
	if (n < known)
		return 0;
	if (n >= SERVICE_INSTANCES_MAX)
		return wrong_at(p, v->line, STR_NULL, "there are more than %d instances",
		    SERVICE_INSTANCES_MAX);
	GROW(f->instances, f->instance_cap, n + 1);
	GROW(f->lines, f->line_cap, n + 1);
	f->lines[n] = 0;
	f->instances[n] = (struct instance){
	    .service = service_put(f, service), .index = index, .worker = NO_WORKER};
	return 0;
}

/* --- instances --- */

static int set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

static int set_state(const struct node *v, void *arg, struct problem *p)
{
	struct instance *i = arg;
	unsigned state = 0;
	int rc = node_choice(v, "state", instance_state_names, N_INSTANCE_STATES, &state, p);

	i->state = (enum instance_state)state;
	return rc;
}

static int set_since(const struct node *v, void *arg, struct problem *p)
{
	struct instance *i = arg;

	return node_time(v, "since", &i->since_ms, p);
}

static int set_crash_count(const struct node *v, void *arg, struct problem *p)
{
	struct instance *i = arg;

	return node_count(v, "crash_count", 0, SERVICE_CRASHES_MAX, &i->crash_count, p);
}

static int set_crashed_at(const struct node *v, void *arg, struct problem *p)
{
	struct instance *i = arg;

	return node_time(v, "crashed_at", &i->crashed_at_ms, p);
}

static const struct member instance_members[] = {
    {"instance", set_known},
    {"state", set_state},
    {"since", set_since},
    {"crash_count", set_crash_count},
    {"crashed_at", set_crashed_at},
};

static int key_of(struct crash_file *f, const struct node *v, uint32_t *ret_n, struct problem *p)
{
	const struct node *key = map_find(v, "instance");

	if (!key)
		return wrong_at(p, v->line, STR_NULL,
		    "this has no instance, such as {\"instance\": \"web/0\"}");
	return instance_put(f, key, ret_n, p);
}

static int read_instance(const struct node *v, void *arg, struct problem *p)
{
	struct crash_file *f = arg;
	struct instance *i;
	uint32_t n;
	int rc = key_of(f, v, &n, p);

	if (rc < 0)
		return rc;
	i = &f->instances[n];
	if (f->lines[n])
		return wrong_at(p, v->line, f->keys.texts[n],
		    "it is here twice; the first is in line %u", f->lines[n]);
	f->lines[n] = v->line;
	rc = members_read(v, instance_members, N_OF(instance_members), i, f->keys.texts[n], p);
	if (rc == 0 && i->state == INSTANCE_CRASHED && i->crashed_at_ms == 0)
		i->crashed_at_ms = i->since_ms;
	if (rc == 0 && i->state == INSTANCE_CRASHED && i->crash_count == 0)
		return wrong_at(p, v->line, f->keys.texts[n],
		    "an instance that is CRASHED has a crash_count of 1 or more");
	return rc;
}

/* --- events --- */

static int set_at(const struct node *v, void *arg, struct problem *p)
{
	struct crash_event *e = arg;

	return node_time(v, "at", &e->at_ms, p);
}

static int set_event(const struct node *v, void *arg, struct problem *p)
{
	struct crash_event *e = arg;
	unsigned kind = 0;
	int rc = node_choice(v, "event", crash_event_names, CRASH_DUE, &kind, p);

	e->kind = (enum crash_event_kind)kind;
	return rc;
}

static const struct member event_members[] = {
    {"instance", set_known}, {"at", set_at}, {"event", set_event}};

static int read_event(const struct node *v, void *arg, struct problem *p)
{
	struct crash_file *f = arg;
	struct crash_event e = {.nth = (uint32_t)f->n_events};
	int rc = key_of(f, v, &e.instance, p);

	if (rc == 0)
		rc = members_read(
		    v, event_members, N_OF(event_members), &e, f->keys.texts[e.instance], p);
	if (rc == 0 && (!map_find(v, "at") || !map_find(v, "event")))
		rc = wrong_at(p, v->line, f->keys.texts[e.instance],
		    "an event has an instance, a time (at) and what happens (event)");
	if (rc == 0 && f->n_events >= EVENTS_MAX)
		rc = wrong_at(p, v->line, STR_NULL, "there are more than %d events", EVENTS_MAX);
	if (rc < 0)
		return rc;
	GROW(f->events, f->event_cap, f->n_events + 1);
	f->events[f->n_events++] = e;
	return 0;
}

/* --- services and policies --- */

struct service_taking {
	struct crash_policy policy;
};

static int set_policy(const struct node *v, void *arg, struct problem *p)
{
	struct service_taking *t = arg;

	return policy_read(v, &t->policy, p);
}

static const struct member service_members[] = {{"name", set_known}, {"policy", set_policy}};

static int read_service(const struct node *v, void *arg, struct problem *p)
{
	struct crash_file *f = arg;
	struct service_taking t = {f->policy};
	struct str name;
	uint32_t n;
	int rc = map_name(v, "name", &f->arena, &name, p);

	if (rc == 0)
		rc = members_read(v, service_members, N_OF(service_members), &t, name, p);
	if (rc < 0)
		return rc;
	n = service_put(f, name);
	if (f->has_policy[n])
		return wrong_at(p, v->line, name, "there is a service of this name before");
	f->policies[n] = t.policy;
	f->has_policy[n] = true;
	return 0;
}

static int read_policy(const struct node *v, void *arg, struct problem *p)
{
	struct crash_file *f = arg;

	if (f->services.n)
		return wrong_at(p, v->line, STR_NULL,
		    "policy must stand before services, instances and events");
	return policy_read(v, &f->policy, p);
}

static int read_until(const struct node *v, void *arg, struct problem *p)
{
	struct crash_file *f = arg;

	f->has_until = true;
	return node_time(v, "until", &f->until_ms, p);
}

static const struct file_member file_members[] = {
    {"policy", false, read_policy},
    {"services", true, read_service},
    {"instances", true, read_instance},
    {"events", true, read_event},
    {"until", false, read_until},
};

int crash_file_read(struct str text, struct crash_file *ret_file, struct problem *p)
{
	struct crash_file f = {.policy = crash_policy_default};
	int rc = input_parse(text, file_members, N_OF(file_members),
	    "a file begins {\"instances\": [ or {\"events\": [", &f, p);

	if (rc < 0)
		crash_file_release(&f);
	else
		*ret_file = f;
	return rc;
}
