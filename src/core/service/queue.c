/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each start of an instance is a task, and each task has a queue: what its settings say holds. The
 * one of services that name none is made with the first of them. Nothing ever waits in it.
 */
#include "core/service/service.h"
#include "core/state.h"

rid services_queue(struct core *c, struct effects *out)
{
	struct queue *q = object_find_name(c, KIND_QUEUE, STR(SERVICE_QUEUE));
	struct queue_row row = {.name = STR(SERVICE_QUEUE)};
	struct event ev = {
	    .kind = EV_CREATE, .actor = STR("reeve"), .object = {.kind = KIND_QUEUE, .row = &row}};
	struct problem p = {0};
	struct hint hint = {0};
	struct reply r = {.problem = &p, .hint = &hint};

	if (q)
		return q->object.id;
	MUST(object_command(c, &ev, &r, out) == 0);
	return r.id;
}
