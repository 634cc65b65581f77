/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ticker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define ROOM 16 /* events that wait to be taken */

struct ticker {
	struct ticker_options o;
	struct reeve_cron_state state; /* behind the last event in the queue */
	pthread_t thread;
	pthread_mutex_t lock; /* over all that follows, and the zone */
	pthread_cond_t filled, drained;
	struct ticker_event queue[ROOM];
	unsigned first, n;
	bool stopped, over; /* over: nothing will be due again */
};

/* One event, if one is due; its state is the queue's from then on. Events that were fired before a
 * clock was set back are only passed by. */
static bool put_one(
    struct ticker *t, const struct reeve_cron_reading *now, bool *ret_wakes, int64_t *ret_wake_s)
{
	struct ticker_event *e = &t->queue[(t->first + t->n) % ROOM];
	struct reeve_cron_run *run;
	bool is_due;

	if (reeve_cron_begin(t->o.cron, &t->o.policy, now, &t->state, &run, NULL) < 0)
		return *ret_wakes = false;
	is_due = reeve_cron_take(run, &e->event);
	*ret_wakes = reeve_cron_wake(run, ret_wake_s);
	reeve_cron_end(run, &t->state);
	if (!is_due)
		return false;
	if (e->event.label != REEVE_CRON_ALREADY_FIRED) {
		e->state = t->state;
		t->n++;
		pthread_cond_signal(&t->filled);
	}
	return true;
}

/* The wall clock may be set while we sleep, so nobody sleeps longer than until the next look. */
static void sleep_until(struct ticker *t, int64_t system_s, int64_t wake_s)
{
	int64_t ms =
	    wake_s - system_s < t->o.look_ms / 1000 ? (wake_s - system_s) * 1000 : t->o.look_ms;
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_sec += (time_t)(ms / 1000);
	at.tv_nsec += (long)(ms % 1000) * 1000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_sec++;
		at.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&t->drained, &t->lock, &at);
}

static void *run(void *arg)
{
	struct ticker *t = arg;

	pthread_mutex_lock(&t->lock);
	while (!t->stopped && !t->over) {
		struct reeve_cron_reading now = {
		    t->o.system_s(t->o.arg), t->o.monotonic_ms(t->o.arg), t->o.zone};
		int64_t wake_s = now.system;
		bool wakes = true;

		while (t->n < ROOM && put_one(t, &now, &wakes, &wake_s))
			;
		t->over = !wakes;
		if (t->n == ROOM)
			while (t->n == ROOM && !t->stopped)
				pthread_cond_wait(&t->drained, &t->lock);
		else if (wakes)
			sleep_until(t, now.system, wake_s);
	}
	pthread_cond_broadcast(&t->filled);
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

struct ticker *ticker_new(const struct ticker_options *o)
{
	struct ticker *t = calloc(1, sizeof *t);
	pthread_condattr_t monotonic;

	if (!t)
		return NULL;
	t->o = *o;
	t->state = o->state;
	pthread_mutex_init(&t->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&t->filled, NULL);
	pthread_cond_init(&t->drained, &monotonic);
	pthread_condattr_destroy(&monotonic);
	errno = pthread_create(&t->thread, NULL, run, t);
	if (errno) {
		free(t);
		return NULL;
	}
	return t;
}

bool ticker_take(struct ticker *t, struct ticker_event *ret_event)
{
	bool found;

	pthread_mutex_lock(&t->lock);
	while (!t->n && !t->stopped && !t->over)
		pthread_cond_wait(&t->filled, &t->lock);
	found = t->n && !t->stopped;
	if (found) {
		*ret_event = t->queue[t->first];
		t->first = (t->first + 1) % ROOM;
		if (t->n-- == ROOM)
			pthread_cond_signal(&t->drained);
	}
	pthread_mutex_unlock(&t->lock);
	return found;
}

void ticker_set_zone(struct ticker *t, struct reeve_cron_zone *zone)
{
	pthread_mutex_lock(&t->lock);
	reeve_cron_zone_free(t->o.zone);
	t->o.zone = zone;
	pthread_cond_signal(&t->drained); /* look at once */
	pthread_mutex_unlock(&t->lock);
}

void ticker_stop(struct ticker *t)
{
	pthread_mutex_lock(&t->lock);
	t->stopped = true;
	pthread_cond_signal(&t->drained);
	pthread_cond_broadcast(&t->filled);
	pthread_mutex_unlock(&t->lock);
}

void ticker_free(struct ticker *t)
{
	ticker_stop(t);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->filled);
	pthread_cond_destroy(&t->drained);
	pthread_mutex_destroy(&t->lock);
	reeve_cron_zone_free(t->o.zone);
	free(t);
}
