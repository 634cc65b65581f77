/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/tasks: one task, an array, or NDJSON. Many are parsed in slices of a few milliseconds,
 * so that a hundred thousand lines do not keep other clients waiting, and then become one command.
 */
#include "api/submit.h"

#include <stdlib.h>
#include <string.h>

#include "api/show.h"
#include "model/limits.h"
#include "wire/json_in.h"

#define SLICE_MS 4
#define SLICE_LINES 256
#define ARRAY_MAX_BYTES (8u << 20)

static call_fn submit_more;

static void submit_over(struct call *c)
{
	struct submit *s = c->state;

	if (s->timer)
		c->host->cancel_timer(c->host->arg, s->timer);
	json_decref(s->array);
	arena_release(&s->arena);
	buf_release(&s->in.text);
	buf_release(&s->errors);
	free(s->tasks);
	free(s->entries);
	s->tasks = NULL;
	s->entries = NULL;
}

/* Not strchr(), for which a NUL is part of every set. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool next_line(struct submit *s, struct str *ret_line)
{
	struct str line;

	while (str_next(&s->rest, '\n', &line)) {
		s->line++;
		while (line.n && is_blank(line.p[line.n - 1]))
			line.n--;
		while (line.n && is_blank(line.p[0]))
			line.p++, line.n--;
		if (line.n) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

/* The next task of whatever form the body has. False at the end. */
static bool next_task(struct submit *s, struct submit_task *ret_task, int *ret_rc)
{
	struct str line;

	if (s->array) {
		if (s->line >= json_array_size(s->array))
			return false;
		*ret_rc = task_in_value(
		    &s->in, json_array_get(s->array, s->line++), ret_task, &s->problem);
		return true;
	}
	if (!s->many) {
		if (s->line++)
			return false;
		*ret_rc = task_in_text(&s->in, s->rest, ret_task, &s->problem);
		return true;
	}
	if (!next_line(s, &line))
		return false;
	*ret_rc = task_in_text(&s->in, line, ret_task, &s->problem);
	return true;
}

void submit_error(struct submit *s, size_t line, const struct problem *p)
{
	struct buf *b = &s->errors;

	jw_open(b, '{');
	jw_mi64(b, "line", (int64_t)line);
	jw_key(b, "type");
	buf_printf(b, "\"urn:reeve:error:%s\"", err_name(p->code));
	jw_mcstr(b, "detail", p->what);
	if (p->hint[0])
		jw_mcstr(b, "hint", p->hint);
	if (p->field[0])
		jw_mcstr(b, "field", p->field);
	jw_close(b, '}');
	s->n_errors++;
}

/* The queue of the task just parsed. NULL with *ret_rc 0: `default` must be made first. */
static const struct queue_row *task_queue(struct call *c, int *ret_rc)
{
	struct submit *s = c->state;
	struct str name = s->in.queue.p ? s->in.queue : STR("default");

	*ret_rc = 0;
	if (s->last_queue && str_eq(name, s->last_name))
		return s->last_queue;
	s->last_name = name;
	s->last_queue = core_queue_by_name(c->host->core, name);
	if (s->last_queue || (str_is(name, "default") && !s->made_default))
		return s->last_queue;
	s->last_queue = find_queue(c->api, name, "queue", &s->problem);
	if (!s->last_queue)
		*ret_rc = s->problem.code;
	return s->last_queue;
}

static void default_made(struct call *c, const struct reply *r)
{
	struct submit *s = c->state;

	c->no_idem = false;
	s->made_default = true; /* a conflict: somebody else was quicker, which is as good */
	if (r->code && r->code != ERR_CONFLICT)
		call_refused(c, r);
	else
		submit_more(c);
}

void call_make_default(struct call *c, call_reply_fn *fn)
{
	struct queue_change change = {.fields = 1u << QF_NAME};
	struct event ev = {.kind = EV_QUEUE_CREATE, .queue = {.change = &change}};

	queue_defaults(&change.row);
	change.row.name = STR("default");
	c->no_idem = true;
	call_command(c, &ev, fn);
}

static void keep(struct submit *s, const struct submit_task *task, int rc)
{
	GROW(s->entries, s->cap_entries, s->n_entries + 1);
	s->entries[s->n_entries++] = (struct submit_entry){
	    (uint32_t)s->line, rc != 0, task->spec.queue, task->spec.run_after_ms};
	if (rc) {
		if (s->many)
			submit_error(s, s->line, &s->problem);
		return;
	}
	GROW(s->tasks, s->cap_tasks, s->n_tasks + 1);
	s->tasks[s->n_tasks++] = *task;
}

enum step { STEP_GO_ON, STEP_END, STEP_TOO_MANY, STEP_NEED_DEFAULT };

static enum step submit_one(struct call *c)
{
	struct submit *s = c->state;
	struct str rest = s->rest;
	size_t line = s->line;
	const struct queue_row *q;
	struct submit_task task = {0};
	int rc;

	if (!next_task(s, &task, &rc))
		return STEP_END;
	if (s->n_entries >= TASKS_PER_SUBMIT)
		return STEP_TOO_MANY;
	if (!rc) {
		q = task_queue(c, &rc);
		if (!q && !rc) {
			s->rest = rest; /* it will be parsed again */
			s->line = line;
			return STEP_NEED_DEFAULT;
		}
		if (q) {
			task.spec.queue = q->id;
			task.spec.batch = s->batch;
			rc = task_in_fits(&s->in, q, &s->problem);
		}
	}
	keep(s, &task, rc);
	return STEP_GO_ON;
}

static void too_many(struct call *c)
{
	problem_set(
	    &c->problem, ERR_TOO_LARGE, "the request holds more than %d tasks", TASKS_PER_SUBMIT);
	problem_hint(&c->problem,
	    "split it and join the parts with ?batch=ID; reeve submit does so by itself");
	call_problem(c);
}

static void next_slice(void *arg)
{
	struct call *c = arg;

	((struct submit *)c->state)->timer = NULL;
	submit_more(c);
}

static void submit_more(struct call *c)
{
	struct submit *s = c->state;
	int64_t begun = c->host->mono_ms(c->host->arg);
	enum step step;

	s->last_queue = NULL; /* rows are only valid until the next step of the core */
	for (size_t n = 1; (step = submit_one(c)) == STEP_GO_ON; n++)
		if (n % SLICE_LINES == 0 && c->host->mono_ms(c->host->arg) - begun >= SLICE_MS) {
			s->timer = c->host->timer(c->host->arg, 0, next_slice, c);
			return;
		}
	if (step == STEP_NEED_DEFAULT)
		call_make_default(c, default_made);
	else if (step == STEP_TOO_MANY)
		too_many(c);
	else
		submit_send(c);
}

static bool body_form(struct call *c, struct submit *s)
{
	struct str type = c->req.content_type, body = c->req.body;
	bool lines = type.p && (media_is(type, "application/x-ndjson") ||
	                           media_is(type, "application/ndjson") ||
	                           media_is(type, "application/jsonl"));

	while (body.n && (is_blank(body.p[0]) || body.p[0] == '\n'))
		body.p++, body.n--;
	s->rest = lines ? c->req.body : body;
	s->many = lines || (body.n && body.p[0] == '[');
	if (type.p && !lines && !media_is(type, "application/json")) {
		problem_set(&c->problem, ERR_MEDIA, "the content type is \"%.*s\"",
		    type.n > 64 ? 64 : (int)type.n, type.p);
		problem_hint(&c->problem,
		    "send application/json, or application/x-ndjson with a task a line");
		return false;
	}
	if (body.n == 0) {
		problem_set(&c->problem, ERR_INVALID, "the body holds no task");
		problem_hint(&c->problem, "send for example {\"command\":[\"echo\",\"hello\"]}");
		return false;
	}
	if (lines || !s->many)
		return true;
	if (body.n > ARRAY_MAX_BYTES) {
		problem_set(&c->problem, ERR_TOO_LARGE, "an array of tasks may have %u bytes",
		    ARRAY_MAX_BYTES);
		problem_hint(&c->problem, "send longer ones as application/x-ndjson");
		return false;
	}
	return json_in_parse(body, &s->array, &c->problem) == 0;
}

void tasks_submit(struct call *c)
{
	struct submit *s = call_state(c, sizeof *s);

	c->on_over = submit_over;
	s->in.arena = &s->arena;
	s->in.now_ms = c->host->wall_ms(c->host->arg);
	jw_open(&s->errors, '[');
	if (!call_bool(c, Q_ATOMIC, &s->atomic))
		return;
	if (c->query[Q_BATCH].p &&
	    find_id(c->api, c->query[Q_BATCH], "batch", &s->batch, &c->problem))
		call_problem(c);
	else if (!body_form(c, s))
		call_problem(c);
	else
		submit_more(c);
}
