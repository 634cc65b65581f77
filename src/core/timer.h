/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything in the brain that waits for a time: one structure for all of it. Whoever waits embeds
 * a timer and says what is to be done; EV_WAKE serves those that are due, and core_wake_ms() says
 * when it is wanted.
 */
#ifndef CORE_TIMER_H
#define CORE_TIMER_H

#include "base/data/heap.h"
#include "model/id.h"

struct core;
struct effects;
struct timer;

/* The timer is out of the heap while it is served, and may be set again. */
typedef void timer_fn(struct core *c, struct timer *t, struct effects *out);

/* A wall timer follows the clock wherever that is set; a monotonic one measures a length of time.
 */
enum timer_clock { TIMER_WALL, TIMER_MONO, N_TIMER_CLOCKS };

struct timer {
	struct heap_node node;
	timer_fn *fire;
};

struct timers {
	struct heap heaps[N_TIMER_CLOCKS];
	size_t budget;           /* of wall timers, and of what they do, that this step has left */
	int64_t now_ms, mono_ms; /* at the step before: see timers_clock_was_set() */
};

/* `owner` breaks ties, so that the order never depends on addresses. */
void timer_set(struct core *c, enum timer_clock clock, struct timer *t, int64_t at_ms, rid owner,
    timer_fn *fire);
void timer_clear(struct core *c, enum timer_clock clock, struct timer *t);
static inline bool timer_is_set(const struct timer *t)
{
	return heap_has(&t->node);
}

void timers_run(struct core *c, struct effects *out);
/* When the first one is due, monotonic; INT64_MAX: none is set. */
int64_t timers_next_ms(const struct core *c);
/* The wall clock was set, or the machine slept, since the step before; or this is the first. */
bool timers_clock_was_set(struct core *c);
void timers_release(struct core *c);

#endif
