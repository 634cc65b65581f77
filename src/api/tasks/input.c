/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/tasks/{id}/input: more of a task's streamed standard input. The offset says where the
 * body belongs, so the same request said twice adds nothing twice: no key is kept for it.
 */
#include "api/frame/call.h"
#include "model/limits.h"

static void show(struct call *c, const struct reply *r)
{
	jw_open(&c->out, '{');
	jw_key(&c->out, "id");
	jw_id(&c->out, c->host->ids, r->id);
	jw_mi64(&c->out, "size", r->input.size);
	jw_mi64(&c->out, "taken", r->input.taken);
	jw_mbool(&c->out, "ended", r->input.is_ended);
	jw_mi64(&c->out, "silence_ms", r->input.silence_ms);
	jw_close(&c->out, '}');
	call_json(c, 200);
}

static void refused_after_read(struct call *c)
{
	const struct problem *why = c->state;

	if (call_read_failed(c)) /* there is no such task at all */
		return;
	c->problem = *why;
	call_problem(c);
}

static void appended(struct call *c, const struct reply *r)
{
	if (r->code == 0) {
		show(c, r);
		return;
	}
	if (r->code != ERR_CONFLICT) {
		call_refused(c, r);
		return;
	}
	*(struct problem *)call_state(c, sizeof *r->problem) = *r->problem;
	call_read_task(c, refused_after_read);
}

static bool body_ok(struct call *c)
{
	const struct api_request *q = &c->req;

	if (q->body.n > INPUT_APPEND_MAX) {
		problem_set(&c->problem, ERR_TOO_LARGE,
		    "the body has %zu bytes; at most %u are appended at once", q->body.n,
		    INPUT_APPEND_MAX);
		problem_hint(&c->problem, "send it in several requests, one after the other");
	} else if (q->body.n && q->content_type.p &&
	           !media_is(q->content_type, "application/octet-stream")) {
		problem_set(&c->problem, ERR_MEDIA, "the content type is \"%.*s\"",
		    q->content_type.n > 64 ? 64 : (int)q->content_type.n, q->content_type.p);
		problem_hint(&c->problem, "send bytes as application/octet-stream");
	} else {
		return true;
	}
	call_problem(c);
	return false;
}

void task_input(struct call *c)
{
	struct event ev = {.kind = EV_INPUT};
	bool end = false;

	ev.input.offset = -1;
	if (!call_path_id(c, &c->about) || !body_ok(c) || !call_bool(c, Q_END, &end) ||
	    !call_int(c, Q_OFFSET, 0, INT64_MAX, &ev.input.offset))
		return;
	if (ev.input.offset < 0 && (c->req.body.n > 0 || end)) {
		problem_set(&c->problem, ERR_INVALID, "the offset of what is appended is missing");
		problem_hint(&c->problem, "?offset=N, where N is how much there is so far");
		problem_field(&c->problem, "offset");
		call_problem(c);
		return;
	}
	ev.input.task = c->about;
	ev.input.data = c->req.body;
	ev.input.end = end;
	c->no_idem = true;
	call_command(c, &ev, appended);
}
