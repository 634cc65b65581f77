/* SPDX-License-Identifier: Apache-2.0 */
/* A record of an instance in a file: what it says, and that it can be true. */
#include "service/file/life_values.h"
#include "service/limits.h"

static int set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

static int set_state(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;
	unsigned state = 0;
	int rc = node_choice(v, "state", instance_state_names, N_INSTANCE_STATES, &state, p);

	r->instance.state = (enum instance_state)state;
	return rc;
}

static int set_presence(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;
	unsigned presence = 0;
	int rc = node_choice(v, "presence", presence_names, N_PRESENCES, &presence, p);

	r->instance.presence = (enum presence)presence;
	return rc;
}

static int set_worker(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_name(v, "worker", &r->worker, p);
}

static int set_domain(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_name(v, "domain", &r->domain, p);
}

static int set_since(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_time(v, "since", &r->instance.since_ms, p);
}

static int set_age(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	r->has_age = true;
	return node_span(v, "age", &r->instance.since_ms, p);
}

static int set_asked(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	r->has_asked = true;
	return node_time(v, "asked", &r->instance.asked_ms, p);
}

static int set_crash_count(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_count(v, "crash_count", 0, SERVICE_CRASHES_MAX, &r->instance.crash_count, p);
}

static int set_crashed_at(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	r->has_crashed_at = true;
	return node_time(v, "crashed_at", &r->instance.crashed_at_ms, p);
}

static int set_stopping(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_flag(v, "stopping", &r->instance.is_stopping, p);
}

static int set_id(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;
	int64_t id = 0;
	int rc = node_number(v, "id", 1, INT64_MAX, STR_NULL, &id, p);

	r->instance.id = (uint64_t)id;
	return rc;
}

static int set_revision(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_number(
	    v, "revision", 1, SERVICE_REVISION_MAX, STR_NULL, &r->instance.revision, p);
}

static int set_ready(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_flag(v, "ready", &r->instance.is_ready, p);
}

static int set_surge(const struct node *v, void *arg, struct problem *p)
{
	struct record_values *r = arg;

	return node_flag(v, "surge", &r->instance.is_surge, p);
}

static const struct member record_members[] = {
    {"instance", set_known},
    {"state", set_state},
    {"presence", set_presence},
    {"worker", set_worker},
    {"domain", set_domain},
    {"since", set_since},
    {"age", set_age},
    {"asked", set_asked},
    {"crash_count", set_crash_count},
    {"crashed_at", set_crashed_at},
    {"stopping", set_stopping},
    {"id", set_id},
    {"revision", set_revision},
    {"ready", set_ready},
    {"surge", set_surge},
};

static int record_check(const struct record_values *r, uint32_t line, struct problem *p)
{
	const struct instance *i = &r->instance;
	bool is_on_worker = i->state == INSTANCE_CLAIMED || i->state == INSTANCE_RUNNING;

	if (is_on_worker && !r->worker.n)
		return wrong_at(p, line, r->key, "a record that is %s names its worker",
		    instance_state_names[i->state]);
	if (!is_on_worker && r->worker.n)
		return wrong_at(p, line, r->key, "a record that is %s has no worker",
		    instance_state_names[i->state]);
	if (i->presence != PRESENCE_ORDINARY && !is_on_worker)
		return wrong_at(p, line, r->key, "a record that is %s is CLAIMED or RUNNING",
		    presence_names[i->presence]);
	if (i->is_ready && i->state != INSTANCE_RUNNING)
		return wrong_at(p, line, r->key, "a record that is ready is RUNNING");
	if (i->state == INSTANCE_CRASHED && i->crash_count == 0)
		return wrong_at(
		    p, line, r->key, "a record that is CRASHED has a crash_count of 1 or more");
	return 0;
}

int record_read(const struct node *v, struct record_values *ret, struct problem *p)
{
	const struct node *key = map_find(v, "instance");
	int rc;

	*ret = (struct record_values){.instance = {.worker = NO_WORKER}};
	if (!key)
		return wrong_at(p, v->line, STR_NULL,
		    "this has no instance, such as {\"instance\": \"web/0\"}");
	if ((rc = node_instance(key, "instance", &ret->service, &ret->instance.index, p)) < 0)
		return rc;
	ret->key = key->text;
	if (map_find(v, "since") && map_find(v, "age"))
		return wrong_at(p, v->line, ret->key, "give either since or age");
	rc = members_read(
	    v, record_members, sizeof record_members / sizeof *record_members, ret, ret->key, p);
	return rc < 0 ? rc : record_check(ret, v->line, p);
}

void record_settle(struct record_values *r, int64_t now_ms)
{
	struct instance *i = &r->instance;

	if (r->has_age)
		i->since_ms = now_ms - i->since_ms;
	if (!r->has_asked)
		i->asked_ms = i->since_ms;
	i->ready_ms = i->is_ready ? i->since_ms : 0;
	if (!r->has_crashed_at)
		i->crashed_at_ms = i->crash_count ? i->since_ms : 0;
}
