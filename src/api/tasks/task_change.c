/* SPDX-License-Identifier: Apache-2.0 */
/* Changing one task: cancel, retry, hold, release, priority. The answer is the task after it. */
#include "api/objects/show.h"
#include "api/tasks/task_shapes.h"
#include "model/limits.h"
#include "wire/json/fields.h"
#include "words/words.h"

#define HOLD_STATUS (-10)

static void show_after(struct call *c)
{
	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	show_task(&c->out, c->api, &c->row, SHOW_FULL);
	call_json(c, 200);
}

static void changed(struct call *c, const struct reply *r)
{
	char text[ID_TEXT];

	if (call_refused(c, r))
		return;
	if (r->n && r->outcomes[0].code) {
		const struct outcome *o = &r->outcomes[0];

		problem_set(&c->problem, o->code, "task %s: " STR_FMT,
		    id_format(c->host->ids, c->about, text), STR_ARG(words_outcome(&c->arena, o)));
		problem_hint(&c->problem, "reeve task show %s shows how it stands", text);
		call_problem(c);
		return;
	}
	call_read_task(c, show_after);
}

#define NOT_GIVEN INT32_MIN
struct change {
	struct str reason;
	int32_t priority, status;
};

#define REASON                                                               \
	FIELD("reason", FIELD_TEXT, change, reason, .max = REASON_MAX_BYTES, \
	    .flags = FIELD_GIVEN | FIELD_NULL_GIVEN, .about = "for the record")
const struct field reason_fields[] = {REASON, {NULL}};
const struct field task_change_fields[] = {
    FIELD("priority", FIELD_I32, change, priority, -PRIORITY_MAX, PRIORITY_MAX,
        .flags = FIELD_GIVEN, .about = "higher first, in queues ordered by priority"),
    FIELD("status", FIELD_I32, change, status, HELD_STATUS_MIN, PLUGIN_STATUS_MAX,
        .flags = FIELD_GIVEN, .about = "-2 releases it; -10, -4 or any from -7 down holds it"),
    REASON,
    {NULL},
};

static int check_status(int32_t status, struct problem *p)
{
	if (status == NOT_GIVEN || status == TASK_QUEUED || task_is_held(status))
		return 0;
	problem_set(p, ERR_INVALID, "the status cannot be set to %d", status);
	problem_hint(p,
	    "-2 releases a held task, %d (or -4, or any from -7 down) holds a queued one; "
	    "to end one use POST …/cancel",
	    HOLD_STATUS);
	return problem_field(p, "status");
}

static void change(struct call *c, enum event_kind kind, const struct field *fields)
{
	struct change k = {STR_NULL, NOT_GIVEN, NOT_GIVEN};
	const struct fields_in r = {.arena = &c->arena, .into = &k, .problem = &c->problem};
	struct event ev = {.kind = kind, .tasks = {.ids = &c->about, .n = 1}};

	if (!call_path_id(c, &c->about) || !call_fields(c, &r, fields))
		return;
	ev.tasks.reason = k.reason;
	ev.tasks.has_priority = k.priority != NOT_GIVEN;
	ev.tasks.priority = ev.tasks.has_priority ? k.priority : 0;
	ev.tasks.has_status = k.status != NOT_GIVEN;
	ev.tasks.status = ev.tasks.has_status ? k.status : 0;
	if (check_status(k.status, &c->problem))
		call_problem(c);
	else if (kind == EV_TASK_SET && !ev.tasks.has_status && !ev.tasks.has_priority)
		call_fail(c, ERR_INVALID, "nothing to change: give \"priority\" or \"status\"");
	else
		call_command(c, &ev, changed);
}

void task_cancel(struct call *c)
{
	change(c, EV_CANCEL, reason_fields);
}

void task_retry(struct call *c)
{
	change(c, EV_RETRY, reason_fields);
}

void task_patch(struct call *c)
{
	change(c, EV_TASK_SET, task_change_fields);
}
