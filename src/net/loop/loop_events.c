/* SPDX-License-Identifier: Apache-2.0 */
/* The loop's timers, signals and watched descriptors. */
#include <event2/event.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "net/loop/loop_internal.h"

struct loop_timer {
	struct loop *loop;
	struct event *event;
	loop_fn *fn;
	void *arg;
	int64_t due_us;
};

struct loop_signal {
	struct event *event;
	loop_signal_fn *fn;
	void *arg;
};

struct loop_watch {
	struct loop *loop;
	struct event *event;
	int fd;
	short wanted;
	loop_fd_fn *fn;
	void *arg;
};

static void timer_arm(struct loop_timer *t, int64_t ms)
{
	struct timeval tv = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};

	evtimer_add(t->event, &tv);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct loop_timer *t = arg;
	int64_t left_us = t->due_us - clock_mono_us();

	loop_share_is_used(t->loop);
	/* libevent reads a coarse clock and may be early; whoever set us compares exact ones. */
	if (left_us > 0)
		timer_arm(t, (left_us + 999) / 1000);
	else
		t->fn(t->arg);
}

struct loop_timer *loop_timer_new(struct loop *l, loop_fn *fn, void *arg)
{
	struct loop_timer *t = xcalloc(1, sizeof *t);

	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	t->event = evtimer_new(loop_base(l), on_timer, t);
	MUST(t->event);
	return t;
}

void loop_timer_set(struct loop_timer *t, int64_t ms)
{
	static const int64_t year_ms = 366ll * 86400 * 1000;

	if (ms < 0) {
		evtimer_del(t->event);
		return;
	}
	if (ms > year_ms)
		ms = year_ms;
	t->due_us = clock_mono_us() + ms * 1000;
	timer_arm(t, ms);
}

void loop_timer_free(struct loop_timer *t)
{
	if (!t)
		return;
	event_free(t->event);
	free(t);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
	struct loop_signal *s = arg;

	s->fn((int)signo, s->arg);
}

struct loop_signal *loop_signal_new(struct loop *l, int signo, loop_signal_fn *fn, void *arg)
{
	struct loop_signal *s = xcalloc(1, sizeof *s);

	s->fn = fn;
	s->arg = arg;
	s->event = evsignal_new(loop_base(l), signo, on_signal, s);
	MUST(s->event && evsignal_add(s->event, NULL) == 0);
	return s;
}

void loop_signal_free(struct loop_signal *s)
{
	if (!s)
		return;
	event_free(s->event);
	free(s);
}

static void on_watch(evutil_socket_t fd, short what, void *arg)
{
	struct loop_watch *w = arg;

	loop_share_is_used(w->loop);
	w->fn((int)fd, what & EV_READ, what & EV_WRITE, w->arg);
}

struct loop_watch *loop_watch_new(struct loop *l, int fd, loop_fd_fn *fn, void *arg)
{
	struct loop_watch *w = xcalloc(1, sizeof *w);

	w->loop = l;
	w->fd = fd;
	w->fn = fn;
	w->arg = arg;
	w->event = event_new(loop_base(l), fd, EV_PERSIST, on_watch, w);
	MUST(w->event);
	return w;
}

void loop_watch_set(struct loop_watch *w, bool read, bool write)
{
	short wanted = (short)((read ? EV_READ : 0) | (write ? EV_WRITE : 0));

	if (wanted == w->wanted)
		return;
	event_del(w->event);
	w->wanted = wanted;
	event_assign(
	    w->event, loop_base(w->loop), w->fd, (short)(wanted | EV_PERSIST), on_watch, w);
	if (wanted)
		MUST(event_add(w->event, NULL) == 0);
}

void loop_watch_free(struct loop_watch *w)
{
	if (!w)
		return;
	event_free(w->event);
	free(w);
}
