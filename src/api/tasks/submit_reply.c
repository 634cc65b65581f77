/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed submit on its way to the core, and what the submitter is told. */
#include <stdlib.h>
#include <string.h>

#include "api/insight/metrics.h"
#include "api/objects/show.h"
#include "api/tasks/submit.h"

/* More than this is taken in slice by slice. */
#define LONG_TASKS 512
#define LONG_BYTES (512u << 10)

static void outcome_problem(const struct outcome *o, struct problem *p)
{
	problem_set(p, o->code, "%s", o->why ? o->why : err_title(o->code));
	if (o->why != hidden_twin)
		return;
	problem_hint(p, "choose another key, or wait until that task has ended (and send it with "
	                "a fresh Idempotency-Key, if it has one)");
	problem_field(p, "key");
}

/* Whether it is hidden or was pruned since is nothing that a limited token could tell apart. */
static void twin_read(struct call *c)
{
	if (c->hidden || (c->who.limit && c->code == ERR_NOT_FOUND)) {
		outcome_problem(
		    &(struct outcome){.code = ERR_CONFLICT, .why = hidden_twin}, &c->problem);
		call_problem(c);
		return;
	}
	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	show_task(&c->out, c->api, &c->row, SHOW_FULL | SHOW_TWIN);
	call_json(c, 200);
}

static void replay_read(struct call *c)
{
	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	show_task(&c->out, c->api, &c->row, SHOW_FULL);
	call_location(c, "/v1/tasks/", c->about);
	call_json(c, 201);
}

/* What is known suffices: the answer to a new task needs no look into the store. */
static void answer_new(struct call *c, const struct outcome *o)
{
	struct submit *s = c->state;
	struct task_row *t = &c->row;

	*t = (struct task_row){.id = o->id, .ctime_ms = s->ctime_ms, .spec = s->tasks[0].spec};
	t->spec.actor = call_actor(c);
	t->state = (struct task_state){.status = o->status,
	    .exit_code = -1,
	    .due_ms = t->spec.run_after_ms,
	    .mtime_ms = s->ctime_ms};
	show_task(&c->out, c->api, t, SHOW_FULL);
	call_location(c, "/v1/tasks/", t->id);
	call_json(c, 201);
}

/* The core's clock made the tasks, not ours. */
static void take_time(struct submit *s, const struct reply *r)
{
	if (r->time_ms)
		s->ctime_ms = r->time_ms;
}

static void one_done(struct call *c, const struct reply *r)
{
	const struct outcome *o = r->outcomes;

	if (call_refused(c, r))
		return;
	take_time(c->state, r);
	if (r->n == 0) {
		call_fail(c, ERR_INTERNAL, "the submit was answered without a task");
		return;
	}
	c->about = o->id;
	if (r->id)
		((struct submit *)c->state)->tasks[0].spec.batch = r->id;
	if (o->code) {
		outcome_problem(o, &c->problem);
		call_problem(c);
	} else if (o->twin) {
		call_read_task(c, twin_read);
	} else if (r->replayed) {
		call_read_task(c, replay_read);
	} else {
		answer_new(c, o);
	}
}

/* `ids` goes straight to the answer; counts are known only after it. */
static void add_ids(struct call *c, const struct reply *r, size_t *ret_new, size_t *ret_twins)
{
	struct submit *s = c->state;
	struct problem p = {0};
	size_t k = 0;

	buf_reserve(&c->out, s->n_entries * (ID_TEXT + 3));
	jw_key(&c->out, "ids");
	jw_open(&c->out, '[');
	for (size_t i = 0; i < s->n_entries; i++) {
		const struct outcome *o =
		    !s->entries[i].bad && r && k < r->n ? &r->outcomes[k++] : NULL;

		if (o && o->code == 0) {
			jw_id(&c->out, c->host->ids, o->id);
			if (!o->twin && !r->replayed)
				metrics_submitted(c->api->metrics, s->entries[i].queue, o->id,
				    s->ctime_ms, s->entries[i].due_ms);
			(*(o->twin ? ret_twins : ret_new))++;
			continue;
		}
		jw_null(&c->out);
		if (o) {
			outcome_problem(o, &p);
			submit_error(s, s->entries[i].line, &p);
		}
	}
	jw_close(&c->out, ']');
}

/* r NULL: none was good enough to be sent */
static void answer_many(struct call *c, const struct reply *r)
{
	struct submit *s = c->state;
	size_t n_new = 0, n_twins = 0;
	struct buf *b = &c->out;

	jw_open(b, '{');
	jw_mid_null(b, "batch", c->host->ids, r && r->id ? r->id : s->batch);
	add_ids(c, r, &n_new, &n_twins);
	jw_mi64(b, "accepted", (int64_t)n_new);
	jw_mi64(b, "duplicates", (int64_t)n_twins);
	jw_mi64(b, "rejected", (int64_t)(s->n_entries - n_new - n_twins));
	jw_close(&s->errors, ']');
	jw_key(b, "errors");
	jw_raw(b, buf_str(&s->errors));
	jw_close(b, '}');
	call_json(c, 200);
}

static void twins_hidden(struct call *c)
{
	answer_many(c, &((struct submit *)c->state)->reply);
}

static void many_done(struct call *c, const struct reply *r)
{
	if (call_refused(c, r))
		return;
	take_time(c->state, r);
	if (c->who.limit)
		submit_hide_twins(c, r, twins_hidden);
	else
		answer_many(c, r);
}

static void refuse_all(struct call *c)
{
	struct submit *s = c->state;

	problem_set(&c->problem, ERR_INVALID, "%zu of %zu tasks are not valid, so none was taken",
	    s->n_errors, s->n_entries);
	problem_hint(&c->problem, "\"errors\" lists them by line");
	buf_reset(&c->out);
	problem_write(&c->out, &c->problem);
	jw_close(&s->errors, ']');
	jw_key(&c->out, "errors");
	jw_raw(&c->out, buf_str(&s->errors));
	jw_close(&c->out, '}');
	call_text(c, 400, PROBLEM_TYPE, buf_str(&c->out));
}

static void send(struct call *c)
{
	struct submit *s = c->state;
	struct event ev = {.kind = EV_SUBMIT,
	    .submit = {.tasks = s->tasks,
	        .n = s->n_tasks,
	        .batch = s->batch,
	        .makes_batch = s->many || s->batch_name.p,
	        .name = s->batch_name}};

	s->ctime_ms = s->in.now_ms;
	if (s->many && (s->n_tasks > LONG_TASKS || s->arena.total > LONG_BYTES)) {
		arena_own(&s->arena, TAKE(s->tasks)); /* the core gets them, not copies */
		ev.submit.arena = &s->arena;
	}
	call_hold(c);
	call_command(c, &ev, s->many ? many_done : one_done);
	if (s->many) { /* the core has its own: a hundred thousand tasks need not wait */
		arena_release(&s->arena);
		free(s->tasks);
		s->tasks = NULL;
	}
	call_unhold(c);
}

void submit_send(struct call *c)
{
	struct submit *s = c->state;

	if (s->n_entries == 0) {
		call_fail(c, ERR_INVALID, "the body holds no task");
	} else if (!s->many && s->entries[0].bad) {
		c->problem = s->problem;
		call_problem(c);
	} else if (s->atomic && s->n_errors) {
		refuse_all(c);
	} else if (s->n_tasks == 0) {
		answer_many(c, NULL);
	} else {
		send(c);
	}
}
