/* SPDX-License-Identifier: Apache-2.0 */
/* Shorthands of stories: what people and workers say, and what is looked at. */
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"

const struct reply *world_reply(struct world *w)
{
	const struct reply *r;

	assert_true(w->n_replies > 0);
	r = &w->replies[(w->n_replies - 1) % 256];
	assert_int_equal(r->ticket, w->last_ticket);
	return r;
}

rid world_queue(struct world *w, const char *name, int threads, enum queue_order order)
{
	struct queue_change ch = {.fields = QUEUE_BIT(name) | QUEUE_BIT(threads) | QUEUE_BIT(order),
	    .row = {.name = str_of(name), .threads = threads, .order = (int32_t)order}};
	struct event ev = {
	    .kind = EV_CREATE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
	return world_reply(w)->id;
}

const struct reply *world_submit(struct world *w, const struct submit_task *tasks, size_t n)
{
	struct event ev = {.kind = EV_SUBMIT, .ticket = ++w->last_ticket};

	ev.submit.tasks = tasks;
	ev.submit.n = n;
	world_step(w, &ev);
	return w->hold ? NULL : world_reply(w);
}

static struct submit_task plain(rid queue)
{
	return (struct submit_task){.status = TASK_QUEUED,
	    .spec = {.queue = queue,
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .body = STR("{\"command\":[\"true\"]}")}};
}

rid world_submit_one(struct world *w, rid queue)
{
	struct submit_task t = plain(queue);
	const struct reply *r = world_submit(w, &t, 1);

	return r ? r->outcomes[0].id : 0;
}

rid world_submit_key(struct world *w, rid queue, const char *key)
{
	struct submit_task t = plain(queue);
	const struct reply *r;

	t.spec.key = str_of(key);
	r = world_submit(w, &t, 1);
	return r ? r->outcomes[0].id : 0;
}

const struct reply *world_tasks(struct world *w, enum event_kind kind, const rid *ids, size_t n)
{
	struct event ev = {.kind = kind, .ticket = ++w->last_ticket};

	ev.tasks.ids = ids;
	ev.tasks.n = n;
	world_step(w, &ev);
	return world_reply(w);
}

void world_hello(struct world *w, uint64_t link, const char *shard, uint64_t instance,
    int maxthreads, const struct link_held *held, size_t n)
{
	struct worker_facts f = {.shard = str_of(shard),
	    .instance = instance,
	    .started_ms = (int64_t)instance,
	    .start = (int64_t)instance,
	    .lock = str_of(shard),
	    .key = str_of(shard),
	    .plugins = STR("command\n"),
	    .maxthreads = maxthreads};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	ev.hello.tasks = held;
	ev.hello.n_tasks = n;
	ev.hello.takes_input = !w->takes_no_input;
	ev.hello.takes_needs = !w->takes_no_needs;
	world_step(w, &ev);
}

void world_link_lost(struct world *w, uint64_t link)
{
	struct event ev = {.kind = EV_LINK_LOST};

	ev.link = link;
	world_step(w, &ev);
}

void world_beat_with(struct world *w, uint64_t link, uint64_t number, const struct set_id *set)
{
	struct event ev = {.kind = EV_BEAT};

	ev.link = link;
	ev.beat.number = number;
	if (set)
		ev.beat.set = *set;
	world_step(w, &ev);
}

/* What the server told last on this link. */
void world_beat(struct world *w, uint64_t link, uint64_t number)
{
	struct set_id set = {0};

	for (size_t i = 0; i < w->n_sent && i < WORLD_TASKS; i++) {
		if (w->sent[i].link != link)
			continue;
		if (w->sent[i].kind == MSG_WELCOME)
			set = w->sent[i].welcome.news.set;
		if (w->sent[i].kind == MSG_BEAT_ACK)
			set = w->sent[i].beat_ack.news.set;
	}
	world_beat_with(w, link, number, &set);
}

void world_started(struct world *w, uint64_t link, rid task, int64_t token)
{
	struct event ev = {.kind = EV_STARTED};

	ev.link = link;
	ev.started.task = task;
	ev.started.token = token;
	ev.started.started_ms = w->now_ms;
	world_step(w, &ev);
}

void world_ended(struct world *w, uint64_t link, rid task, int64_t token, int status)
{
	world_left(w, link, task, token, status, STR_NULL);
}

const struct message *world_sent(struct world *w, enum message_kind kind, size_t i)
{
	for (size_t k = 0; k < w->n_sent; k++)
		if (w->sent[k].kind == kind && i-- == 0)
			return &w->sent[k];
	return NULL;
}

size_t world_count_sent(struct world *w, enum message_kind kind)
{
	size_t n = 0;

	for (size_t k = 0; k < w->n_sent; k++)
		n += w->sent[k].kind == kind;
	return n;
}

void world_forget_sent(struct world *w)
{
	w->n_sent = 0;
}

struct queue_counts world_counts(struct world *w, rid queue)
{
	struct queue_counts c;

	core_queue_counts(w->core, queue, &c);
	return c;
}
