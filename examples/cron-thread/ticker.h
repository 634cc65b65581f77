/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread around libreeve-cron's stateful engine, and a queue of what is due. Copy both files into
 * a program of your own, and change them as you like.
 *
 * The queue is bounded. When it is full the thread waits, and loses nothing: what was not put into
 * the queue is due again at the next look, late by then, or skipped when the policy says so.
 */
#ifndef TICKER_H
#define TICKER_H

#include <reeve-cron.h>

struct ticker;

struct ticker_options {
	const struct reeve_cron *cron; /* must live until ticker_free() */
	struct reeve_cron_zone *zone;  /* taken over; NULL: the pattern needs none */
	struct reeve_cron_policy policy;
	struct reeve_cron_state state; /* that the last event left; zeroed: begin now */
	int64_t (*system_s)(void *arg);
	int64_t (*monotonic_ms)(void *arg);
	void *arg;
	int look_ms; /* at the latest so often; a clock that is set is noticed then */
};

/* What is due, and the state that this event leaves. Whoever stores the state together with what
 * the event has caused begins again behind it, whatever dies in between. */
struct ticker_event {
	struct reeve_cron_event event;
	struct reeve_cron_state state;
};

struct ticker *ticker_new(const struct ticker_options *o); /* NULL: errno says why */
/* Waits for the next event, in any thread. False: it was stopped, or nothing is ever due again. */
bool ticker_take(struct ticker *t, struct ticker_event *ret_event);
/* From now on: the computer was moved, or the zone's file has changed. The zone is taken over. */
void ticker_set_zone(struct ticker *t, struct reeve_cron_zone *zone);
void ticker_stop(struct ticker *t); /* whoever waits in ticker_take() is told */
void ticker_free(struct ticker *t); /* after the last ticker_take() has returned */

#endif
