/* SPDX-License-Identifier: Apache-2.0 */
/* What stories about volatile dispatch share: a fleet, a restart, who is waited for. */
#ifndef TEST_CORE_VOLATILE_STORY_H
#define TEST_CORE_VOLATILE_STORY_H

#include "world/world.h"

static const struct core_options swift = {.is_volatile = true,
    .server = 1,
    .timeouts = {1000, 4000, 600000, 600000, 20000, 1000, 500},
    .lost_hold_ms = 7000};

static inline rid submit(struct world *w, rid queue, int attempts)
{
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = queue,
	        .max_attempts = attempts,
	        .backoff_ms = 1000,
	        .backoff_max_ms = 1000,
	        .body = STR("{}")}};

	return world_submit(w, &s, 1)->outcomes[0].id;
}

static inline void hello(struct world *w, uint64_t link, const char *name, uint64_t instance,
    const struct set_id *set, const struct link_held *held, size_t n)
{
	struct worker_facts f = {.shard = str_of(name),
	    .instance = instance,
	    .started_ms = (int64_t)instance,
	    .start = (int64_t)instance,
	    .lock = str_of(name),
	    .plugins = STR("command\n"),
	    .maxthreads = 4};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	ev.hello.tasks = held;
	ev.hello.n_tasks = n;
	ev.hello.drops_receipts = w->drops_receipts;
	if (set)
		ev.hello.set = *set;
	world_step(w, &ev);
}

static inline struct set_id present(const struct world *w)
{
	struct set_view v;

	core_set(w->core, w->mono_ms, &v);
	return v.id;
}

static inline bool waiting(const struct world *w)
{
	struct set_view v;

	core_set(w->core, w->mono_ms, &v);
	return v.waiting;
}

static inline void restart(struct world *w)
{
	w->options.server++;
	world_restart(w);
	world_forget_sent(w);
}

/* Hellos, healthchecks, sets told and repeated: w1 .. wn are healthy. */
static inline struct set_id fleet(struct world *w, int n)
{
	char name[8] = "w0";

	for (int i = 1; i <= n; i++) {
		name[1] = (char)('0' + i);
		hello(w, (uint64_t)i, name, (uint64_t)i, NULL, NULL, 0);
	}
	for (int round = 0; round < 3; round++) {
		world_advance(w, 100);
		for (int i = 1; i <= n; i++)
			world_beat(w, (uint64_t)i, (uint64_t)round + 1);
	}
	world_advance(w, 100);
	return present(w);
}

static inline const struct reply *remove_lost(struct world *w, const char *name)
{
	struct event ev = {
	    .kind = EV_DELETE, .object.kind = KIND_WORKER, .ticket = ++w->last_ticket};

	ev.object.id = core_find(w->core, KIND_WORKER, str_of(name));
	ev.object.force = true;
	world_step(w, &ev);
	return world_reply(w);
}

static inline bool told_to_die(struct world *w)
{
	const struct message *m = world_sent(w, MSG_REFUSED, 0);

	return m && m->refused.die;
}

#endif
