/* SPDX-License-Identifier: Apache-2.0 */
/* A client's request as the command that reaches the brain: names are looked up by the surface. */
#include <stdio.h>
#include <string.h>

#include "sim/judge/judge.h"
#include "sim/load/load_internal.h"

/* As a surface does it with what is long: everything in one arena, which is given away. */
static void give_away(struct event *ev, struct command_parts *c)
{
	struct submit_task *tasks = arena_memdup(&c->arena, c->tasks, ev->submit.n * sizeof *tasks);

	for (size_t i = 0; i < ev->submit.n; i++) {
		tasks[i].spec.body = arena_str(&c->arena, tasks[i].spec.body);
		tasks[i].spec.need = arena_str(&c->arena, tasks[i].spec.need);
		tasks[i].spec.key = arena_str(&c->arena, tasks[i].spec.key);
	}
	ev->submit.tasks = tasks;
	ev->submit.arena = &c->arena;
}

static void submit_of(
    struct world *w, const struct request *r, rid queue, struct event *ev, struct command_parts *c)
{
	for (int i = 0; i < r->n; i++) {
		struct task_spec *s = &c->tasks[i].spec;

		snprintf(c->bodies[i], sizeof c->bodies[i], "{\"r\":%u,\"i\":%d,\"k\":%d}",
		    r->number, i, r->idem);
		*s = (struct task_spec){
		    .queue = queue,
		    .priority = r->priority,
		    .max_attempts = r->max_attempts,
		    .timeout_ms = r->timeout_ms,
		    .backoff_ms = -1,
		    .backoff_max_ms = -1,
		    .need = r->need,
		    .body = str_of(c->bodies[i]),
		    .is_streamed = load_is_streamed(r),
		};
		if (r->delay_ms)
			s->run_after_ms = sim_server_wall_ms(w) + r->delay_ms;
		if (r->key) {
			snprintf(c->key, sizeof c->key, "key%d", r->key);
			s->key = str_of(c->key);
		}
		c->tasks[i].status = r->status;
	}
	if (r->idem) {
		snprintf(c->idem, sizeof c->idem, "idem%u", r->number);
		ev->idem_key = str_of(c->idem);
		ev->idem_fingerprint = r->number;
	}
	ev->submit.tasks = c->tasks;
	ev->submit.n = (size_t)r->n;
	ev->submit.batch = r->batch;
	ev->submit.makes_batch = r->n > 1 && !r->makes;
	if (r->makes)
		sim_kind_of(r->of)->submit(w, r, ev, &c->arena);
	if (w->o.submit_slice && ev->submit.n > w->o.submit_slice)
		give_away(ev, c);
}

bool load_event_of(
    struct world *w, const struct request *r, struct event *ev, struct command_parts *c)
{
	const struct queue_row *q;

	memset(c, 0, sizeof *c);
	snprintf(c->name, sizeof c->name, "q%d", r->queue);
	q = core_queue(sim_core(w), core_find(sim_core(w), KIND_QUEUE, str_of(c->name)));
	switch (r->kind) {
	case EV_SUBMIT:
		if (!q)
			return false;
		submit_of(w, r, q->id, ev, c);
		return true;
	case EV_CANCEL:
	case EV_RETRY:
	case EV_TASK_SET:
		ev->tasks.ids = r->ids;
		ev->tasks.n = r->n_ids;
		ev->tasks.fails = r->kind == EV_CANCEL && r->flag;
		ev->tasks.has_status = !r->flag;
		ev->tasks.has_priority = r->flag;
		ev->tasks.status = r->status;
		ev->tasks.priority = r->priority;
		return true;
	default:
		ev->object.kind = r->of;
		ev->object.verb = r->verb;
		return sim_kind_of(r->of)->command(w, r, q ? q->id : 0, ev, c);
	}
}

static const char *verb_name(const struct request *r)
{
	switch (r->kind) {
	case EV_SUBMIT: return "submit";
	case EV_CANCEL: return r->flag ? "fail" : "cancel";
	case EV_RETRY: return "retry";
	case EV_TASK_SET: return "set tasks";
	case EV_CREATE: return "create";
	case EV_SET: return "set";
	case EV_PAUSE: return "pause";
	case EV_RESUME: return "resume";
	case EV_DELETE: return "delete";
	default: return r->word;
	}
}

static bool is_of_object(const struct request *r)
{
	return r->kind >= EV_CREATE && r->kind <= EV_DO;
}

void load_judge(struct world *w, struct request *r, const struct reply *reply)
{
	struct event ev = {.kind = r->kind};
	bool is_tasks = r->kind == EV_CANCEL || r->kind == EV_RETRY || r->kind == EV_TASK_SET;

	world_tell(w, "client: request %u (%s%s%s) is answered: %s", r->number, verb_name(r),
	    is_of_object(r) ? " " : "", is_of_object(r) ? kind_names[r->of] : "",
	    err_name(reply->code));
	world_mix(w, (uint64_t)r->number << 32 | (uint32_t)reply->code);
	if (is_tasks) {
		ev.tasks.ids = r->ids;
		ev.tasks.n = r->n_ids;
		ev.tasks.fails = r->kind == EV_CANCEL && r->flag;
	}
	if (is_of_object(r)) {
		ev.object.kind = r->of;
		ev.object.id = r->made;
		ev.object.verb = r->verb;
	}
	if (reply->ticket)
		judge_answered(w, &ev, reply);
	if (r->kind != EV_SUBMIT || reply->code != 0)
		return;
	if (reply->ticket && !r->makes)
		judge_batch_answered(w, r->batch, reply);
	if (r->acked && r->idem && r->made != reply->id)
		world_fail(w, 2, "request %u: what it made is another one now", r->number);
	r->made = reply->id;
	for (size_t i = 0; i < reply->n && i < SUBMIT_MOST; i++) {
		world_mix(w, reply->outcomes[i].id);
		if (r->acked && r->idem && r->ids[i] != reply->outcomes[i].id)
			world_fail(w, 2, "request %u: its %zu. task was %u, now it is %u",
			    r->number, i, judge_number(w, r->ids[i]),
			    judge_number(w, reply->outcomes[i].id));
		r->ids[i] = reply->outcomes[i].id;
	}
	r->n_ids = reply->n < SUBMIT_MOST ? reply->n : SUBMIT_MOST;
	r->acked = true;
}
