/* SPDX-License-Identifier: Apache-2.0 */
#include "api/objects/resource.h"

#include <stdio.h>
#include <string.h>

static const struct resource resources[] = {
    {"queues", KIND_QUEUE, queue_seek, queue_answer},
    {"schedules", KIND_SCHEDULE, schedule_seek, schedule_answer},
    {"workers", KIND_WORKER, worker_seek, worker_answer},
};

static const struct resource *of_route(const struct call *c)
{
	for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++)
		if (strcmp(resources[i].tag, c->route->tag) == 0)
			return &resources[i];
	MUST(!"a resource's route");
	return NULL;
}

bool resource_begin(struct call *c, struct event *ev)
{
	const struct resource *r = of_route(c);
	int64_t version;

	if (!r->seek(c, &version))
		return false;
	ev->object.kind = r->kind;
	ev->object.id = c->about;
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
	of_route(c)->answer(c, r->id, 201);
}

void resource_changed(struct call *c, const struct reply *r)
{
	if (!call_refused(c, r))
		of_route(c)->answer(c, c->about, 200);
}

void resource_gone(struct call *c, const struct reply *r)
{
	if (!call_refused(c, r))
		call_empty(c, 204);
}

void resource_get(struct call *c)
{
	int64_t version;

	if (of_route(c)->seek(c, &version))
		of_route(c)->answer(c, c->about, 200);
}

static void pause_or_resume(struct call *c, bool pause)
{
	struct event ev = {.kind = pause ? EV_PAUSE : EV_RESUME};
	struct pause_in k = {0};
	json_t *body;

	if (!resource_begin(c, &ev) || !call_body(c, &body))
		return;
	if (pause_in_read(c, body, pause, &k)) {
		call_problem(c);
	} else {
		ev.object.reason = k.reason;
		ev.object.until_ms = k.until_ms;
		call_command(c, &ev, resource_changed);
	}
	json_decref(body);
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
