/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/tasks: one task, an array, or NDJSON. Many are parsed in slices of a few milliseconds,
 * so that a hundred thousand lines do not keep other clients waiting, and then become one command.
 */
#include "api/tasks/submit.h"

#include <stdlib.h>
#include <string.h>

#include "api/objects/show.h"
#include "model/limits.h"
#include "wire/json/json_array.h"
#include "wire/json/json_in.h"

#define SLICE_MS 4
#define SLICE_LINES 256
#define SLICE_BYTES (64u << 10)
#define BLANKS_MAX 65536 /* in front of a body */
#define ARRAY_MAX_BYTES (8u << 20)

static call_fn submit_more;

static void submit_over(struct call *c)
{
	struct submit *s = c->state;

	if (s->timer)
		c->host->cancel_timer(c->host->arg, s->timer);
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

/* The next line without the blanks around it, of which it may consist. */
static bool next_line(struct submit *s, struct str *ret_line)
{
	if (!str_next(&s->rest, '\n', ret_line))
		return false;
	s->line++;
	if (ret_line->n > TASK_TEXT_MAX)
		return true; /* too long, whatever it is: do not even look at it */
	while (ret_line->n && is_blank(ret_line->p[ret_line->n - 1]))
		ret_line->n--;
	while (ret_line->n && is_blank(ret_line->p[0]))
		ret_line->p++, ret_line->n--;
	return true;
}

/* The next task's text, of whatever form the body has. 1: there is one; 0: no; < 0: it is none. */
static int next_text(struct submit *s, struct str *ret_text)
{
	int rc;

	if (s->array) {
		rc = json_array_next(&s->rest, s->line == 0, ret_text, &s->problem);
		s->line += rc == 1;
		return rc;
	}
	if (s->many)
		return next_line(s, ret_text);
	*ret_text = s->rest;
	return s->line++ == 0;
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
static const struct queue_row *named_queue(struct call *c, struct str name, int *ret_rc)
{
	struct submit *s = c->state;

	*ret_rc = 0;
	if (s->last_queue && str_eq(name, s->last_name))
		return s->last_queue;
	s->last_name = name;
	s->last_queue = core_queue(c->host->core, core_find(c->host->core, KIND_QUEUE, name));
	if (s->last_queue || (str_is(name, "default") && !s->made_default))
		return s->last_queue;
	s->last_queue = find_queue(c, name, "queue", &s->problem);
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
	struct queue_row row;
	struct event ev = {.kind = EV_CREATE, .object = {.kind = KIND_QUEUE, .row = &row}};

	queue_defaults(&row);
	row.name = STR("default");
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

/* And only one that the caller may use. */
static const struct queue_row *task_queue(struct call *c, struct str labels, int *ret_rc)
{
	struct submit *s = c->state;
	struct str name = s->in.queue.p ? s->in.queue : STR("default");
	const struct queue_row *q = named_queue(c, name, ret_rc);

	if (scope_covers_named(c, q ? q->name : name, labels))
		return q;
	*ret_rc = scope_problem(c, name, &s->problem);
	s->last_queue = NULL; /* the core has made a step: it wrote that down */
	return NULL;
}

enum step { STEP_GO_ON, STEP_END, STEP_TOO_MANY, STEP_NEED_DEFAULT, STEP_PARSE, STEP_NOT_JSON };

/* The task's queue, and whether the task fits there. False: `default` must be made first. */
static bool task_place(struct call *c, struct submit_task *task, int *rc)
{
	struct submit *s = c->state;
	const struct queue_row *q = task_queue(c, task->spec.labels, rc);

	if (!q)
		return *rc != 0;
	task->spec.queue = q->id;
	task->spec.batch = s->batch;
	*rc = task_in_fits(&s->in, q, &s->problem);
	return true;
}

static enum step take_text(struct call *c, struct str text)
{
	struct submit *s = c->state;
	struct submit_task task = {0};
	int rc = task_in_size(text, &s->problem);
	json_t *v = NULL;

	if (!rc && parse_is_long(text) && !c->away.text)
		return STEP_PARSE;
	if (!rc) {
		rc = call_parsed(c, text, &v, &s->problem);
		if (rc && s->array)
			return STEP_NOT_JSON; /* then the whole of it is none */
	}
	if (!rc)
		rc = task_in_value(&s->in, v, &task, &s->problem);
	json_decref(v);
	if (!rc && !task_place(c, &task, &rc))
		return STEP_NEED_DEFAULT;
	keep(s, &task, rc);
	return STEP_GO_ON;
}

static enum step take_next(struct call *c, struct str *ret_text)
{
	struct submit *s = c->state;
	struct str rest = s->rest;
	size_t line = s->line;
	enum step step;
	int rc = next_text(s, ret_text);

	if (rc <= 0)
		return rc ? STEP_NOT_JSON : STEP_END;
	if (ret_text->n == 0 && s->many)
		return STEP_GO_ON; /* a blank line */
	if (s->n_entries >= TASKS_PER_SUBMIT)
		return STEP_TOO_MANY;
	step = take_text(c, *ret_text);
	if (step == STEP_NEED_DEFAULT || step == STEP_PARSE) { /* this text will be taken again */
		s->rest = rest;
		s->line = line;
	}
	return step;
}

static void not_json(struct call *c)
{
	struct submit *s = c->state;

	problem_set(&c->problem, s->problem.code, "element %zu of the array: %s", s->n_entries + 1,
	    s->problem.what);
	problem_hint(&c->problem, "%s", s->problem.hint);
	call_problem(c);
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

/* Whether it is the others' turn; the clock is asked after so many lines, or bytes. */
static bool slice_is_over(struct call *c, int64_t begun, size_t lines, size_t *bytes)
{
	if (lines % SLICE_LINES && *bytes < SLICE_BYTES)
		return false;
	*bytes = 0;
	return c->host->mono_ms(c->host->arg) - begun >= SLICE_MS;
}

/* Slice by slice, as the body is read. */
static void hash_on(struct call *c)
{
	struct submit *s = c->state;

	if (s->rest.n)
		call_hash(c, (size_t)(s->rest.p - c->req.body.p));
}

static void submit_more(struct call *c)
{
	struct submit *s = c->state;
	int64_t begun = c->host->mono_ms(c->host->arg);
	struct str text, rest = s->rest;
	size_t bytes = 0;
	enum step step;

	s->last_queue = NULL; /* rows are only valid until the next step of the core */
	for (size_t n = 1; (step = take_next(c, &text)) == STEP_GO_ON; n++) {
		bytes += rest.n - s->rest.n;
		rest = s->rest;
		if (slice_is_over(c, begun, n, &bytes)) {
			hash_on(c);
			s->timer = c->host->timer(c->host->arg, 0, next_slice, c);
			return;
		}
	}
	hash_on(c);
	switch (step) {
	case STEP_NEED_DEFAULT: call_make_default(c, default_made); break;
	case STEP_PARSE: call_parse(c, text, submit_more); break;
	case STEP_TOO_MANY: too_many(c); break;
	case STEP_NOT_JSON: not_json(c); break;
	default: submit_send(c);
	}
}

static bool body_form(struct call *c, struct submit *s)
{
	struct str type = c->req.content_type, body = c->req.body;
	bool lines = type.p && (media_is(type, "application/x-ndjson") ||
	                           media_is(type, "application/ndjson") ||
	                           media_is(type, "application/jsonl"));

	for (int i = 0; i < BLANKS_MAX && body.n && (is_blank(body.p[0]) || body.p[0] == '\n'); i++)
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
	s->array = true;
	return true;
}

static int take_batch(struct call *c, struct submit *s)
{
	struct str id = c->query[Q_BATCH], name = c->query[Q_BATCH_NAME];

	if (id.p && name.p) {
		problem_set(&c->problem, ERR_INVALID,
		    "\"batch\" joins a batch that has its name, if any: no \"batch_name\" beside "
		    "it");
		return problem_field(&c->problem, "batch_name");
	}
	if (id.p)
		return find_id(c->api, id, "batch", &s->batch, &c->problem);
	if (!name.p)
		return 0;
	s->batch_name = arena_str(&c->arena, name);
	return name_check(s->batch_name, "batch_name", &c->problem);
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
	if (take_batch(c, s) || !body_form(c, s))
		call_problem(c);
	else
		scope_check_batch(c, s->batch, submit_more);
}
