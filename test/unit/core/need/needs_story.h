/* SPDX-License-Identifier: Apache-2.0 */
/* What the stories about needs share. */
#ifndef TEST_CORE_NEEDS_STORY_H
#define TEST_CORE_NEEDS_STORY_H

#include "../world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "words/words.h"

#define STORY(name) static void name(void **state)

static inline void joins(struct world *w, uint64_t link, const char *shard, const char *offer,
    const char *labels, const char *target)
{
	struct event ev = {.kind = EV_HELLO, .link = link};

	ev.hello.facts = (struct worker_facts){.shard = str_of(shard),
	    .instance = link,
	    .start = (int64_t)link,
	    .lock = str_of(shard),
	    .key = str_of(shard),
	    .plugins = STR("command\n"),
	    .offer = str_of(offer),
	    .labels = str_of(labels),
	    .target = str_of(target),
	    .zone = STR("home"),
	    .maxthreads = 100};
	world_step(w, &ev);
}

static inline rid submit(struct world *w, rid queue, const char *need)
{
	struct submit_task t = {.status = TASK_QUEUED,
	    .spec = {.queue = queue,
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .need = str_of(need),
	        .body = STR("{\"command\":[\"true\"]}")}};

	return world_submit(w, &t, 1)->outcomes[0].id;
}

static inline void set_queue(
    struct world *w, rid queue, const char *need, enum queue_placement placement)
{
	struct queue_change ch = {.fields = QUEUE_BIT(need) | QUEUE_BIT(placement),
	    .row = {.need = str_of(need), .placement = (int32_t)placement}};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	ev.object.id = queue;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
}

/* The link that a task was sent to; 0: to none yet. */
static inline uint64_t link_of(struct world *w, rid task)
{
	for (size_t i = 0; i < w->n_sent; i++)
		if (w->sent[i].kind == MSG_RUN && w->sent[i].run.task == task)
			return w->sent[i].link;
	return 0;
}

static inline void ends(struct world *w, rid task)
{
	world_ended(w, link_of(w, task), task, world_task(w, task)->state.token, TASK_SUCCEEDED);
}

static inline int64_t used(struct world *w, const char *worker, const char *what)
{
	struct worker_view v;

	assert_true(
	    core_worker(w->core, core_find(w->core, KIND_WORKER, str_of(worker)), w->mono_ms, &v));
	for (size_t i = 0; i < v.n_holdings; i++)
		if (strcmp(v.holdings[i].name, what) == 0)
			return v.holdings[i].used;
	return 0;
}

/* The sentence of the reason with that code; empty: it is no reason. */
static inline const char *said(struct world *w, rid task, enum why_code code)
{
	static char text[300];
	struct arena a = {0};
	struct why *whys;
	size_t n = core_why(w->core, world_task(w, task), w->now_ms, w->mono_ms, &a, &whys);

	text[0] = 0;
	for (size_t i = 0; i < n; i++)
		if (whys[i].code == code && words_lift(&a, &whys[i]).n)
			snprintf(text, sizeof text, "%s", words_why(&a, &whys[i]).p);
	arena_release(&a);
	return text;
}

#endif
