/* SPDX-License-Identifier: Apache-2.0 */
/* Changing one task: cancel, retry, hold, release, priority. The answer is the task after it. */
#include "api/objects/show.h"
#include "model/limits.h"
#include "wire/json_in.h"
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

static int set_reason(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct event *ev = arg;

	if (json_is_null(v))
		return 0;
	return json_in_str(v, field, REASON_MAX_BYTES, &ev->tasks.reason, p);
}

static const struct json_member reason_members[] = {{"reason", set_reason}};

static int set_priority(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct event *ev = arg;
	int64_t n = 0;
	int rc = json_in_int(v, field, -PRIORITY_MAX, PRIORITY_MAX, &n, p);

	ev->tasks.has_priority = true;
	ev->tasks.priority = (int32_t)n;
	return rc;
}

static int set_status(json_t *v, const char *field, void *arg, struct problem *p)
{
	struct event *ev = arg;
	int64_t n = 0;

	if (json_in_int(v, field, HELD_STATUS_MIN, PLUGIN_STATUS_MAX, &n, p))
		return ERR_INVALID;
	ev->tasks.has_status = true;
	ev->tasks.status = (int32_t)n;
	if (n == TASK_QUEUED || task_is_held((int)n))
		return 0;
	problem_set(p, ERR_INVALID, "the status can not be set to %lld", (long long)n);
	problem_hint(p,
	    "-2 releases a held task, %d (or -4, or any from -7 down) holds a queued one; "
	    "to end one use POST …/cancel",
	    HOLD_STATUS);
	return problem_field(p, field);
}

static const struct json_member patch_members[] = {
    {"priority", set_priority}, {"status", set_status}, {"reason", set_reason}};

static void change(
    struct call *c, enum event_kind kind, const struct json_member *members, size_t n_members)
{
	struct event ev = {.kind = kind};
	json_t *body;

	if (!call_path_id(c, &c->about) || !call_body(c, &body))
		return;
	ev.tasks.ids = &c->about;
	ev.tasks.n = 1;
	if (json_in_members(body, "", members, n_members, &ev, &c->problem))
		call_problem(c);
	else if (kind == EV_TASK_SET && !ev.tasks.has_status && !ev.tasks.has_priority)
		call_fail(c, ERR_INVALID, "nothing to change: give \"priority\" or \"status\"");
	else
		call_command(c, &ev, changed);
	json_decref(body);
}

void task_cancel(struct call *c)
{
	change(c, EV_CANCEL, reason_members, 1);
}

void task_retry(struct call *c)
{
	change(c, EV_RETRY, reason_members, 1);
}

void task_patch(struct call *c)
{
	change(c, EV_TASK_SET, patch_members, 3);
}
