/* SPDX-License-Identifier: Apache-2.0 */
#include "service/file/rollout_file.h"

#include <stdlib.h>

#include "base/mem.h"
#include "service/file/life_values.h"
#include "service/limits.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

const char *const rollout_event_names[N_ROLLOUT_EVENTS] = {
#define X(kind, name) [kind] = name,
    ROLLOUT_EVENTS(X)
#undef X
};

void rollout_file_release(struct rollout_file *f)
{
	arena_release(&f->arena);
	free(f->records.v);
	free(f->events);
	*f = (struct rollout_file){0};
}

static int set_known(const struct node *v, void *arg, struct problem *p)
{
	return 0; /* read before the others */
}

static int read_number(const struct node *v, const char *name, int64_t *ret_n, struct problem *p)
{
	return node_number(v, name, 1, SERVICE_REVISION_MAX, STR_NULL, ret_n, p);
}

/* --- the service --- */

static int set_instances(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	return node_count(v, "instances", 0, ROLLOUT_INSTANCES_MAX, &f->wanted, p);
}

static int set_singleton(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	return node_flag(v, "singleton", &f->is_singleton, p);
}

static const struct member service_members[] = {
    {"name", set_known}, {"instances", set_instances}, {"singleton", set_singleton}};

static int read_service(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;
	int rc = map_name(v, "name", &f->arena, &f->name, p);

	f->has_service = true;
	return rc < 0 ? rc : members_read(v, service_members, N_OF(service_members), f, f->name, p);
}

/* --- where the deploy is --- */

static int set_state(const struct node *v, void *arg, struct problem *p)
{
	struct deploy *d = arg;
	unsigned state = 0;
	int rc = node_choice(v, "state", deploy_state_names, N_DEPLOY_STATES, &state, p);

	d->state = (enum deploy_state)state;
	return rc;
}

static int set_target(const struct node *v, void *arg, struct problem *p)
{
	struct deploy *d = arg;

	return read_number(v, "revision", &d->target, p);
}

static int set_stable(const struct node *v, void *arg, struct problem *p)
{
	struct deploy *d = arg;

	return read_number(v, "stable", &d->stable, p);
}

static const struct member deploy_members[] = {
    {"state", set_state}, {"revision", set_target}, {"stable", set_stable}};

/* What is steady is of the stable revision. */
static int read_deploy(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;
	int rc;

	f->deploy = (struct deploy){.target = 0};
	rc = map_read(
	    v, "deploy", deploy_members, N_OF(deploy_members), &f->deploy, STR("deploy"), p);
	if (rc < 0)
		return rc;
	if (f->deploy.target == 0)
		return wrong_at(p, v->line, STR("deploy"), "this has no revision");
	if (f->deploy.state == DEPLOY_STEADY && f->deploy.stable == 0)
		f->deploy.stable = f->deploy.target;
	return 0;
}

/* --- how revisions behave --- */

static int set_number(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;

	return read_number(v, "revision", &r->number, p);
}

static int set_starts(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;

	return node_span(v, "starts", &r->starts_ms, p);
}

static int set_ready(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;

	return node_span(v, "ready", &r->ready_ms, p);
}

static int set_stops(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;

	return node_span(v, "stops", &r->stops_ms, p);
}

static int set_crashes(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;

	return node_duration(v, "crashes", SERVICE_WAIT_MAX_MS, STR_NULL, &r->crash_ms, p);
}

static int set_healthy(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_revision *r = arg;
	bool healthy = true;
	int rc = node_flag(v, "healthy", &healthy, p);

	r->is_sick = !healthy;
	return rc;
}

static const struct member revision_members[] = {
    {"revision", set_number},
    {"starts", set_starts},
    {"ready", set_ready},
    {"stops", set_stops},
    {"crashes", set_crashes},
    {"healthy", set_healthy},
};

static int read_revision(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;
	struct rollout_revision r = {.line = v->line};
	int rc =
	    map_read(v, "a revision", revision_members, N_OF(revision_members), &r, STR_NULL, p);

	if (rc < 0)
		return rc;
	if (r.number == 0)
		return wrong_at(p, v->line, STR_NULL, "this has no revision, which is a number");
	for (size_t i = 0; i < f->n_revisions; i++)
		if (f->revisions[i].number == r.number)
			return wrong_at(p, v->line, STR_NULL,
			    "revision %lld is here twice; the first is in line %u",
			    (long long)r.number, f->revisions[i].line);
	if (f->n_revisions == ROLLOUT_REVISIONS_MAX)
		return wrong_at(p, v->line, STR_NULL, "there are more than %d revisions",
		    ROLLOUT_REVISIONS_MAX);
	f->revisions[f->n_revisions++] = r;
	return 0;
}

/* --- records --- */

static int check_service(
    const struct rollout_file *f, struct str service, uint32_t line, struct problem *p)
{
	if (!f->has_service)
		return wrong_at(
		    p, line, STR_NULL, "service must stand before instances and events");
	if (!str_eq(service, f->name))
		return wrong_at(
		    p, line, service, "this file is about the service " STR_FMT, STR_ARG(f->name));
	return 0;
}

static int read_record(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;
	struct record_values r;
	int rc = record_read(v, &r, p);

	f->has_records = true;
	if (rc == 0)
		rc = check_service(f, r.service, v->line, p);
	if (rc < 0)
		return rc;
	if (r.instance.presence != PRESENCE_ORDINARY)
		return wrong_at(p, v->line, r.key,
		    "a deploy is played with ordinary records, on workers that are present");
	if (f->records.n >= 2 * ROLLOUT_INSTANCES_MAX)
		return wrong_at(p, v->line, STR_NULL, "there are more than %d records",
		    2 * ROLLOUT_INSTANCES_MAX);
	if (!f->has_now && r.has_age)
		return wrong_at(p, v->line, r.key, "now must stand before an age");
	record_settle(&r, f->now_ms);
	r.instance.worker = r.worker.n ? 0 : NO_WORKER;
	GROW(f->records.v, f->records.cap, f->records.n + 1);
	f->records.v[f->records.n++] = r.instance;
	return 0;
}

/* --- events --- */

struct event_taking {
	struct rollout_file *file;
	struct rollout_event e;
	bool has_at, has_kind, has_instance;
};

static int set_at(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;

	t->has_at = true;
	return node_time(v, "at", &t->e.at_ms, p);
}

static int set_after(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;
	int rc = node_span(v, "after", &t->e.at_ms, p);

	if (rc == 0 && (t->has_at || !t->file->has_now))
		return wrong_at(p, v->line, STR_NULL,
		    "give either at or after, and that behind now at the beginning");
	t->has_at = true;
	t->e.at_ms += t->file->now_ms;
	return rc;
}

static int set_event(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;
	unsigned kind = 0;
	int rc = node_choice(v, "event", rollout_event_names, N_ROLLOUT_EVENTS, &kind, p);

	t->has_kind = true;
	t->e.kind = (enum rollout_event_kind)kind;
	return rc;
}

static int set_event_revision(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;

	return read_number(v, "revision", &t->e.revision, p);
}

static int set_event_instances(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;

	t->has_instance = true;
	return node_count(v, "instances", 0, ROLLOUT_INSTANCES_MAX, &t->e.n, p);
}

static int set_event_instance(const struct node *v, void *arg, struct problem *p)
{
	struct event_taking *t = arg;
	struct str service;
	int rc = node_instance(v, "instance", &service, &t->e.n, p);

	t->has_instance = true;
	return rc < 0 ? rc : check_service(t->file, service, v->line, p);
}

static const struct member event_members[] = {
    {"at", set_at},
    {"after", set_after},
    {"event", set_event},
    {"revision", set_event_revision},
    {"instances", set_event_instances},
    {"instance", set_event_instance},
};

static int check_event(const struct event_taking *t, uint32_t line, struct problem *p)
{
	const struct rollout_event *e = &t->e;

	if (!t->has_at || !t->has_kind)
		return wrong_at(p, line, STR_NULL,
		    "an event has a time (at or after) and what happens (event)");
	if (e->kind == ROLLOUT_DEPLOY && e->revision == 0)
		return wrong_at(p, line, STR_NULL, "this has no revision");
	if ((e->kind == ROLLOUT_SCALE || e->kind == ROLLOUT_CRASHED) && !t->has_instance)
		return wrong_at(p, line, STR_NULL, "this has no %s",
		    e->kind == ROLLOUT_SCALE ? "instances" : "instance, such as web/0");
	return 0;
}

static int read_event(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;
	struct event_taking t = {.file = f, .e.nth = (uint32_t)f->n_events};
	int rc = map_read(v, "an event", event_members, N_OF(event_members), &t, STR_NULL, p);

	if (rc == 0)
		rc = check_event(&t, v->line, p);
	if (rc == 0 && f->n_events >= ROLLOUT_EVENTS_MAX)
		rc = wrong_at(
		    p, v->line, STR_NULL, "there are more than %d events", ROLLOUT_EVENTS_MAX);
	if (rc < 0)
		return rc;
	GROW(f->events, f->event_cap, f->n_events + 1);
	f->events[f->n_events++] = t.e;
	return 0;
}

/* --- settings --- */

static int read_now(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	f->has_now = true;
	return node_time(v, "now", &f->now_ms, p);
}

static int read_until(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	f->has_until = true;
	return node_time(v, "until", &f->until_ms, p);
}

static int read_strategy(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	return strategy_read(v, &f->strategy, p);
}

static int read_policy(const struct node *v, void *arg, struct problem *p)
{
	struct rollout_file *f = arg;

	return policy_read(v, &f->policy, p);
}

static const struct file_member file_members[] = {
    {"now", false, read_now},
    {"service", false, read_service},
    {"strategy", false, read_strategy},
    {"policy", false, read_policy},
    {"deploy", false, read_deploy},
    {"revisions", true, read_revision},
    {"instances", true, read_record},
    {"events", true, read_event},
    {"until", false, read_until},
};

/* --- the whole --- */

static int check_records(const struct rollout_file *f, struct problem *p)
{
	for (size_t i = 1; i < f->records.n; i++)
		if (f->records.v[i].index == f->records.v[i - 1].index)
			return problem_set(p, ERR_INVALID, STR_FMT "/%u has two records",
			    STR_ARG(f->name), f->records.v[i].index);
	return 0;
}

/* A file without records begins with all of them ready for a long time. */
static void settle(struct rollout_file *f)
{
	int64_t revision = f->deploy.stable ? f->deploy.stable : f->deploy.target;

	for (uint32_t i = 0; !f->has_records && revision && i < f->wanted; i++) {
		GROW(f->records.v, f->records.cap, i + 1);
		f->records.v[f->records.n++] = (struct instance){
		    .index = i, .state = INSTANCE_RUNNING, .revision = revision, .is_ready = true};
	}
	for (size_t i = 0; i < f->records.n; i++)
		if (f->records.v[i].revision == 0)
			f->records.v[i].revision = revision;
	if (f->records.n)
		qsort(f->records.v, f->records.n, sizeof *f->records.v, instance_by_key);
}

static int check(const struct rollout_file *f, struct problem *p)
{
	if (!f->has_now)
		return problem_set(p, ERR_INVALID, "the file does not say what time it is (now)");
	if (!f->has_service)
		return problem_set(p, ERR_INVALID, "the file has no service");
	for (size_t i = 0; i < f->n_events; i++)
		if (f->events[i].at_ms < f->now_ms)
			return problem_set(
			    p, ERR_INVALID, "an event is before now, which is where it begins");
	return 0;
}

int rollout_file_read(struct str text, struct rollout_file *ret_file, struct problem *p)
{
	struct rollout_file f = {.policy = crash_policy_default,
	    .strategy = deploy_strategy_default,
	    .wanted = 1,
	    .deploy = {.state = DEPLOY_STEADY, .target = 1, .stable = 1}};
	int rc = input_parse(text, file_members, N_OF(file_members),
	    "a file begins {\"now\": \"2026-11-18T14:00:00Z\", \"service\": {", &f, p);

	if (rc == 0)
		rc = check(&f, p);
	if (rc == 0) {
		settle(&f);
		rc = check_records(&f, p);
	}
	if (rc < 0)
		rollout_file_release(&f);
	else
		*ret_file = f;
	return rc;
}
