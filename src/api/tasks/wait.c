/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/tasks/{id}, at once or as a long poll. A waiter is registered before the task is read,
 * so an end that becomes durable in between is not missed.
 */
#include <stdlib.h>

#include "api/objects/show.h"
#include "api/tasks/whole_task.h"

#define WAIT_MAX_MS (3600 * 1000)

struct waiter {
	TAILQ_ENTRY(waiter) link;
	struct waiter_list *others; /* waiters for the same task */
	struct call *c;
	void *timer;
	bool waiting, reading, ended, expired;
};
TAILQ_HEAD(waiter_list, waiter);

static call_fn wait_read;

static void waiter_over(struct call *c)
{
	struct waiter *w = c->state;

	if (w->timer)
		c->host->cancel_timer(c->host->arg, w->timer);
	w->timer = NULL;
	if (!w->others)
		return;
	TAILQ_REMOVE(w->others, w, link);
	if (TAILQ_EMPTY(w->others)) {
		idmap_del(&c->api->waiters, c->about);
		free(w->others);
	}
	w->others = NULL;
}

static void waiter_join(struct call *c)
{
	struct waiter *w = c->state;

	w->others = idmap_get(&c->api->waiters, c->about);
	if (!w->others) {
		w->others = xcalloc(1, sizeof *w->others);
		TAILQ_INIT(w->others);
		idmap_put(&c->api->waiters, c->about, w->others);
	}
	TAILQ_INSERT_TAIL(w->others, w, link);
	c->on_over = waiter_over;
}

static void look(struct call *c)
{
	((struct waiter *)c->state)->reading = true;
	call_read_task(c, wait_read);
}

static void expired(void *arg)
{
	struct call *c = arg;
	struct waiter *w = c->state;

	w->timer = NULL;
	w->expired = true;
	if (!w->reading)
		look(c);
}

void waiters_notice(struct api *a, const struct notice *n)
{
	struct waiter_list *list;
	struct waiter *w, *next;

	if (!n->task || !task_is_ended(n->status))
		return;
	list = idmap_get(&a->waiters, n->task);
	if (!list)
		return;
	for (w = TAILQ_FIRST(list); w; w = next) {
		next = TAILQ_NEXT(w, link); /* before the answer, which may come at once */
		w->ended = true;
		if (!w->reading)
			look(w->c);
	}
}

static void wait_read(struct call *c)
{
	struct waiter *w = c->state;

	w->reading = false;
	if (call_read_failed(c))
		return;
	task_overlay(c->api, &c->row);
	if (w->waiting && !w->expired && !task_is_ended(c->row.state.status)) {
		if (w->ended) {
			/* the task ended after this read began, or ended and was retried since */
			w->ended = false;
			look(c);
		}
		return;
	}
	if (access_sees(c, RIGHT_LOGS) && whole_task_is_large(c)) {
		waiter_over(c);
		whole_task_show(c);
		return;
	}
	show_task(&c->out, c->api, &c->row, access_sees(c, RIGHT_LOGS) ? SHOW_FULL : 0);
	call_json(c, 200);
}

void task_get(struct call *c)
{
	struct waiter *w = call_state(c, sizeof *w);
	int64_t ms = 0;

	w->c = c;
	if (!call_path_id(c, &c->about) || !call_duration(c, Q_WAIT, &ms))
		return;
	if (ms > WAIT_MAX_MS)
		ms = WAIT_MAX_MS;
	w->waiting = ms > 0;
	if (w->waiting) {
		waiter_join(c);
		w->timer = c->host->timer(c->host->arg, ms, expired, c);
	}
	look(c);
}
