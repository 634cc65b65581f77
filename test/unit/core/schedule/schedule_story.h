/* SPDX-License-Identifier: Apache-2.0 */
/* What the stories about schedules share. */
#ifndef TEST_CORE_SCHEDULE_STORY_H
#define TEST_CORE_SCHEDULE_STORY_H

#include "../world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cron/zone/zone.h"

#define STORY(name) static void name(void **state)
#define MINUTE INT64_C(60000)
#define HOUR (60 * MINUTE)

static const char every_minute[] = "{\"epoch\":{\"period\":60}}";

struct asked {
	const char *items;
	int overlap, missed;
	int64_t max_shift_s, jitter_ms, start_ms, end_ms;
	const char *zone;
};

static inline const struct reply *command(struct world *w, struct event *ev)
{
	ev->ticket = ++w->last_ticket;
	ev->actor = STR("test");
	world_step(w, ev);
	return world_reply(w);
}

static inline rid add(struct world *w, const char *name, struct asked a)
{
	struct schedule_change ch = {.fields = row_settable(&schedule_table),
	    .row = {.name = str_of(name),
	        .items = str_of(a.items ? a.items : every_minute),
	        .source = STR("a test"),
	        .zone = str_of(a.zone),
	        .queue = w->queues[0].id,
	        .backoff_ms = -1,
	        .backoff_max_ms = -1,
	        .body = STR("{\"command\":[\"true\"]}"),
	        .overlap = a.overlap,
	        .missed = a.missed,
	        .max_shift_s = a.max_shift_s ? a.max_shift_s : 7200,
	        .jitter_ms = a.jitter_ms,
	        .start_ms = a.start_ms,
	        .end_ms = a.end_ms}};
	const struct reply *r =
	    command(w, &(struct event){.kind = EV_CREATE,
	                   .object = {.kind = KIND_SCHEDULE, .row = &ch.row, .fields = ch.fields}});

	assert_int_equal(r->code, 0);
	return r->id;
}

static inline const struct reply *act(struct world *w, enum event_kind kind, rid id)
{
	return command(
	    w, &(struct event){.kind = kind, .object = {.kind = KIND_SCHEDULE, .id = id}});
}

static inline const struct reply *run(struct world *w, rid id)
{
	return command(w, &(struct event){.kind = EV_DO,
	                      .object = {.kind = KIND_SCHEDULE, .verb = SCHEDULE_RUN, .id = id}});
}

/* A world whose clock stands half a minute past a full one, with a queue that nobody serves. */
static inline struct world *quiet_world(void)
{
	struct world *w = world_new(NULL);

	w->now_ms = 1800000000000 + MINUTE / 2;
	world_queue(w, "q", 100, ORDER_FIFO);
	return w;
}

static inline size_t count_ticks(const struct world *w, int outcome)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_ticks; i++)
		n += w->ticks[i].outcome == outcome;
	return n;
}

static inline const struct tick_row *last_tick(const struct world *w)
{
	return &w->ticks[w->n_ticks - 1];
}

static inline void end_task(struct world *w, rid id)
{
	world_tasks(w, EV_CANCEL, &id, 1);
}

/* What the wall clock does and the monotonic one does not. */
static inline void set_clock(struct world *w, int64_t by_ms)
{
	w->now_ms += by_ms;
	world_step(w, &(struct event){.kind = EV_WAKE});
	world_advance(w, 0);
}

/* Down for an hour and a bit: 60 ticks were missed, of which the last is called on time. */
static inline struct world *after_downtime(struct asked a)
{
	struct world *w = quiet_world();

	add(w, "s", a);
	w->now_ms += HOUR + MINUTE / 2 + 90000;
	w->mono_ms += 5; /* another boot, perhaps */
	world_restart(w);
	world_advance(w, 0);
	return w;
}

static inline struct cron_zone *posix(const char *text)
{
	struct cron_zone *z;
	struct problem p = {0};

	assert_int_equal(cron_zone_posix(str_of(text), &z, &p), 0);
	return z;
}

static inline void tell_zone(struct world *w, const struct cron_zone *z)
{
	w->zone_name = "Some/Where";
	w->zone = z;
	world_step(w, &(struct event){.kind = EV_ZONE,
	                  .zone = {.name = str_of(w->zone_name), .zone = w->zone}});
	world_advance(w, 0);
}

static const char daily[] =
    "{\"hour\":8,\"minute\":30,\"dst_fixes\":[\"skip\",\"repeat_use_both\"]}";

static inline const struct reply *backfill(struct world *w, rid id, int64_t from_s, int64_t to_s)
{
	return command(w, &(struct event){.kind = EV_DO,
	                      .object = {.kind = KIND_SCHEDULE,
	                          .verb = SCHEDULE_BACKFILL,
	                          .id = id,
	                          .from_s = from_s,
	                          .to_s = to_s}});
}

/* How often a tick has got a task, by the tasks that there are. */
static inline size_t count_tasks_of(const struct world *w, int64_t tick_s)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_tasks; i++)
		n += w->tasks[i].spec.owner.part == tick_s;
	return n;
}

static inline void assert_no_tick_ran_twice(const struct world *w)
{
	for (size_t i = 0; i < w->n_tasks; i++)
		assert_int_equal(count_tasks_of(w, w->tasks[i].spec.owner.part), 1);
}

#endif
