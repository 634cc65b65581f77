/* SPDX-License-Identifier: Apache-2.0 */
/* What a script asks of the server as its users do: submit, cancel, retry, queues, workers. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/rows/row.h"
#include "sim/judge/judge.h"
#include "sim/play/play_internal.h"

#define BIT(member) ROW_BIT(queue_table, queue_row, member)

struct ask { /* until its answer comes, or the play ends */
	struct ask *next;
	struct play *p;
	enum event_kind kind;
	const char *name; /* of the action */
	int task, queue;  /* -1: none */
	rid id;
};

static void note_reply(struct ask *k, const struct reply *r)
{
	const char *result = !r ? "no answer" : r->code ? err_name(r->code) : "ok";
	json_t *j = json_pack("{s:s, s:s}", "result", result, "text",
	    r && r->code && r->problem ? r->problem->what : "");

	/* a command about tasks answers for each of them */
	if (r && !r->code && r->n && r->outcomes[0].code)
		json_object_set_new(j, "result", json_string(err_name(r->outcomes[0].code)));
	world_tell(
	    k->p->w, "client: %s: %s", k->name, json_string_value(json_object_get(j, "result")));
	json_object_set_new(k->p->replies, k->name, j);
}

static void ask_free(struct ask *k)
{
	struct ask **at = &k->p->asks;

	while (*at != k)
		at = &(*at)->next;
	*at = k->next;
	free(k);
}

void asks_release(struct play *p)
{
	while (p->asks)
		ask_free(p->asks);
}

static void on_reply(const struct reply *r, void *arg)
{
	struct ask *k = arg;
	struct event ev = {.kind = k->kind};

	note_reply(k, r);
	if (r && !r->code) {
		if (k->kind == EV_SUBMIT && r->n)
			k->p->tasks[k->task].id = r->outcomes[0].id;
		if (k->kind == EV_CREATE)
			k->p->queues[k->queue].id = r->id;
		if (k->id) {
			ev.tasks.ids = &k->id;
			ev.tasks.n = 1;
		}
		judge_answered(k->p->w, &ev, r);
	}
	ask_free(k);
}

static void command(struct play *p, const char *name, struct event *ev, int task, int queue)
{
	struct ask *k = xmalloc(sizeof *k);

	*k = (struct ask){p->asks, p, ev->kind, name, task, queue, 0};
	p->asks = k;
	if (ev->kind == EV_CANCEL || ev->kind == EV_RETRY)
		k->id = p->tasks[task].id;
	ev->actor = STR("script");
	if (!sim_server_command(p->w, ev, on_reply, k)) {
		note_reply(k, NULL);
		ask_free(k);
	}
}

static bool ready(struct at *a)
{
	if (a->p->server_is_puppet)
		play_wrong(a->p, a->path, "do", "the server is a puppet",
		    "it is asked nothing: let it speak");
	return !is_wrong(a->p) && !a->p->dry;
}

void queue_read(struct at *a, struct queue_row *ret, uint64_t *ret_fields)
{
	*ret_fields = BIT(threads);
	queue_defaults(ret);
	ret->threads = (int32_t)at_int(a, "threads", -1, 1000000, -1);
	if (at_has(a, "max_attempts"))
		*ret_fields |= BIT(max_attempts);
	ret->max_attempts = (int32_t)at_int(a, "max_attempts", 1, 1000, 1);
	if (at_has(a, "backoff"))
		*ret_fields |= BIT(backoff_ms);
	ret->backoff_ms = at_wait(a, "backoff", 0);
	if (at_has(a, "timeout"))
		*ret_fields |= BIT(timeout_ms);
	ret->timeout_ms = at_wait(a, "timeout", 0);
}

/* The queues of the scenario, once the server is up for the first time. */
void ask_queues(struct play *p)
{
	for (size_t i = 0; sim_core(p->w) && i < p->n_queues; i++) {
		struct queue_row row;
		struct event ev = {.kind = EV_CREATE, .object = {.kind = KIND_QUEUE, .row = &row}};
		struct at a = {.p = p, .j = p->queues[i].json};

		if (p->queues[i].id ||
		    core_queue(sim_core(p->w),
		        core_find(sim_core(p->w), KIND_QUEUE, str_of(p->queues[i].name))))
			continue;
		queue_read(&a, &row, &ev.object.fields);
		row.name = str_of(p->queues[i].name);
		command(p, "queue_create", &ev, -1, (int)i);
	}
}

static void do_submit(struct at *a)
{
	int task = at_task(a, "task");
	struct event ev = {.kind = EV_SUBMIT};
	struct submit_task one = {.status = TASK_QUEUED};
	const struct queue_row *q;
	struct play_queue *of;

	if (!ready(a))
		return;
	of = &a->p->queues[a->p->tasks[task].queue];
	q = sim_core(a->p->w) ? core_queue(sim_core(a->p->w),
	                            core_find(sim_core(a->p->w), KIND_QUEUE, str_of(of->name)))
	                      : NULL;
	one.spec = a->p->tasks[task].spec;
	one.spec.queue = q ? q->id : of->id;
	ev.submit.tasks = &one;
	ev.submit.n = 1;
	command(a->p, "submit", &ev, task, -1);
}

/* Nobody could ask that: it has no id. */
static void never_accepted(struct play *p, const char *name)
{
	struct ask k = {.p = p, .name = name};
	struct problem problem = {0};
	struct reply r = {.code = ERR_NOT_FOUND, .problem = &problem};

	problem_set(&problem, ERR_NOT_FOUND, "the task was never accepted");
	note_reply(&k, &r);
}

static void do_task(struct at *a, enum event_kind kind, const char *name)
{
	int task = at_task(a, "task");
	struct event ev = {.kind = kind};

	if (!ready(a))
		return;
	if (!a->p->tasks[task].id) {
		never_accepted(a->p, name);
		return;
	}
	ev.tasks.ids = &a->p->tasks[task].id;
	ev.tasks.n = 1;
	ev.tasks.reason = STR("the script");
	command(a->p, name, &ev, task, -1);
}

static void do_cancel(struct at *a)
{
	do_task(a, EV_CANCEL, "cancel");
}

static void do_retry(struct at *a)
{
	do_task(a, EV_RETRY, "retry");
}

static void do_queue(struct at *a, enum event_kind kind, const char *name)
{
	int queue = at_queue(a, "queue");
	struct queue_row row = {.threads = (int32_t)at_int(a, "threads", -1, 1000000, -1)};
	struct event ev = {.kind = kind, .object = {.kind = KIND_QUEUE, .row = &row}};

	if (!ready(a))
		return;
	ev.object.id = a->p->queues[queue].id;
	ev.object.fields = BIT(threads);
	command(a->p, name, &ev, -1, queue);
}

static void do_queue_pause(struct at *a)
{
	do_queue(a, EV_PAUSE, "queue_pause");
}

static void do_queue_resume(struct at *a)
{
	do_queue(a, EV_RESUME, "queue_resume");
}

static void do_queue_set(struct at *a)
{
	do_queue(a, EV_SET, "queue_set");
}

static void do_worker(struct at *a, struct event *ev, const char *name)
{
	struct actor *x = at_actor(a, "worker");

	if (!ready(a))
		return;
	if (sim_core(a->p->w))
		ev->object.id = core_find(sim_core(a->p->w), KIND_WORKER, str_of(x->shard));
	command(a->p, name, ev, -1, -1);
}

static void do_worker_stop(struct at *a)
{
	bool restart = at_bool(a, "restart", false);
	struct event ev = {.kind = EV_DO,
	    .object = {.kind = KIND_WORKER, .verb = restart ? WORKER_RESTART : WORKER_STOP}};

	do_worker(a, &ev, "worker_stop");
}

static void do_worker_remove(struct at *a)
{
	struct event ev = {.kind = EV_DELETE, .object.kind = KIND_WORKER};

	ev.object.force = at_bool(a, "lost", false);
	do_worker(a, &ev, "worker_remove");
}

static void do_worker_set(struct at *a)
{
	int32_t most = (int32_t)at_int(a, "maxthreads", -2, 1000000, -2);
	struct worker_row row = {.maxthreads_set = most, .maxthreads_is_set = most != -2};
	struct event ev = {.kind = EV_SET, .object = {.kind = KIND_WORKER, .row = &row}};

	ev.object.fields = row_settable(&worker_table);
	do_worker(a, &ev, "worker_set");
}

const struct action ask_actions[] = {
    {"submit", "task", do_submit},
    {"cancel", "task", do_cancel},
    {"retry", "task", do_retry},
    {"queue_pause", "queue", do_queue_pause},
    {"queue_resume", "queue", do_queue_resume},
    {"queue_set", "queue threads", do_queue_set},
    {"worker_stop", "worker restart", do_worker_stop},
    {"worker_remove", "worker lost", do_worker_remove},
    {"worker_set", "worker maxthreads", do_worker_set},
    {0},
};
