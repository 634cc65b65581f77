/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop's life, its posts from other threads and its deferred work, on libevent.
 *
 * Everything runs at one libevent priority, on purpose. Events found ready by one poll are queued
 * before the first of them is handled, so work that is activated meanwhile comes after all of
 * them: that is what "deferred" promises. A lower priority would promise more than that: libevent
 * would poll again and again and run it only once no I/O is ready at all, which under load is
 * never.
 */
#include "net/loop/loop.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "net/loop/loop_internal.h"

struct post {
	loop_fn *fn;
	loop_fn *drop; /* instead of fn, when the loop is freed first */
	void *arg;
};

struct post_list {
	struct post *items;
	size_t n, cap;
};

struct loop_door {
	pthread_mutex_t lock;
	struct loop *loop; /* NULL once it is gone */
	int refs;
};

struct loop_deferred {
	TAILQ_ENTRY(loop_deferred) entry;
	struct loop *loop;
	loop_fn *fn;
	void *arg;
	struct deferred_list *in; /* the list that holds it, NULL while it is not armed */
};
TAILQ_HEAD(deferred_list, loop_deferred);

struct loop {
	struct event_base *base;
	int post_fd;
	struct event *post_event;
	pthread_mutex_t post_lock;
	struct post_list posted;  /* under post_lock */
	struct post_list running; /* the loop's own */
	size_t ran;               /* of these */
	struct event *deferred_event;
	struct deferred_list deferred, deferred_running;
	bool in_deferred;
	bool stopping;
	struct loop_pace pace;
	int64_t share_from_us; /* 0: nothing was handled since the last turn */
	struct loop_door *door;
};

static void on_libevent_log(int severity, const char *msg)
{
	if (severity >= EVENT_LOG_WARN)
		log_debug("libevent: %s", msg);
}

/* Thousands of idle connections are normal; the usual soft limit of 1,024 is not. */
static void raise_file_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0 && r.rlim_cur < r.rlim_max) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

bool loop_share_is_used(struct loop *l)
{
	int64_t now = clock_mono_us();

	if (!l->share_from_us)
		l->share_from_us = now;
	if (now - l->share_from_us < LOOP_SHARE_US)
		return false;
	/* After the present callback: what is active stays so, in its order. */
	event_base_loopbreak(l->base);
	return true;
}

static void take_posted(struct loop *l)
{
	struct post_list empty = l->running;
	uint64_t n;

	while (read(l->post_fd, &n, sizeof n) < 0 && errno == EINTR)
		;
	empty.n = 0;
	pthread_mutex_lock(&l->post_lock);
	l->running = l->posted;
	l->posted = empty;
	pthread_mutex_unlock(&l->post_lock);
	l->ran = 0;
}

static void on_posted(evutil_socket_t fd, short what, void *arg)
{
	struct loop *l = arg;
	struct post p;

	if (l->ran == l->running.n)
		take_posted(l);
	while (l->ran < l->running.n) {
		p = l->running.items[l->ran++];
		p.fn(p.arg);
		if (loop_share_is_used(l))
			break;
	}
	if (l->ran < l->running.n)
		event_active(l->post_event, EV_READ, 0);
}

static void post(struct loop *l, struct post p)
{
	uint64_t one = 1;
	bool first;

	pthread_mutex_lock(&l->post_lock);
	first = l->posted.n == 0;
	GROW(l->posted.items, l->posted.cap, l->posted.n + 1);
	l->posted.items[l->posted.n++] = p;
	pthread_mutex_unlock(&l->post_lock);
	/* A thread that finds the list empty rings; the drain takes everything that is there by
	 * then. */
	if (first)
		while (write(l->post_fd, &one, sizeof one) < 0 && errno == EINTR)
			;
}

void loop_post(struct loop *l, loop_fn *fn, void *arg)
{
	post(l, (struct post){fn, NULL, arg});
}

static void on_deferred(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval now = {0, 0};
	struct loop *l = arg;
	struct loop_deferred *d;

	l->in_deferred = true;
	TAILQ_CONCAT(&l->deferred_running, &l->deferred, entry);
	TAILQ_FOREACH (d, &l->deferred_running, entry)
		d->in = &l->deferred_running;
	while ((d = TAILQ_FIRST(&l->deferred_running))) {
		TAILQ_REMOVE(&l->deferred_running, d, entry);
		d->in = NULL;
		d->fn(d->arg);
	}
	l->in_deferred = false;
	/* What armed itself again waits for the next turn, so that I/O gets its share. */
	if (!TAILQ_EMPTY(&l->deferred))
		event_add(l->deferred_event, &now);
}

struct loop_deferred *loop_deferred_new(struct loop *l, loop_fn *fn, void *arg)
{
	struct loop_deferred *d = xcalloc(1, sizeof *d);

	d->loop = l;
	d->fn = fn;
	d->arg = arg;
	return d;
}

void loop_deferred_arm(struct loop_deferred *d)
{
	struct loop *l = d->loop;

	if (d->in)
		return;
	d->in = &l->deferred;
	TAILQ_INSERT_TAIL(&l->deferred, d, entry);
	if (!l->in_deferred)
		event_active(l->deferred_event, EV_TIMEOUT, 0);
}

void loop_deferred_free(struct loop_deferred *d)
{
	if (!d)
		return;
	if (d->in)
		TAILQ_REMOVE(d->in, d, entry);
	free(d);
}

static struct event_base *base_new(bool at_once)
{
	struct event_config *c = event_config_new();
	struct event_base *base;

	MUST(c);
	/* evhttp turns reading off and on for every request: the list folds that into one call. */
	event_config_set_flag(
	    c, EVENT_BASE_FLAG_NOLOCK | (at_once ? 0 : EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST));
	base = event_base_new_with_config(c);
	event_config_free(c);
	MUST(base);
	return base;
}

static struct loop *new_loop(bool at_once)
{
	struct loop *l = xcalloc(1, sizeof *l);

	event_set_log_callback(on_libevent_log);
	signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	l->base = base_new(at_once);
	TAILQ_INIT(&l->deferred);
	TAILQ_INIT(&l->deferred_running);
	l->deferred_event = event_new(l->base, -1, 0, on_deferred, l);
	pthread_mutex_init(&l->post_lock, NULL);
	l->post_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	MUST(l->post_fd >= 0);
	l->post_event = event_new(l->base, l->post_fd, EV_READ | EV_PERSIST, on_posted, l);
	MUST(l->deferred_event && l->post_event);
	event_add(l->post_event, NULL);
	l->door = xcalloc(1, sizeof *l->door);
	l->door->loop = l;
	l->door->refs = 1;
	pthread_mutex_init(&l->door->lock, NULL);
	return l;
}

struct loop *loop_new(void)
{
	return new_loop(false);
}

struct loop *loop_new_at_once(void)
{
	return new_loop(true);
}

static void drop_posts(const struct post_list *list, size_t from)
{
	for (size_t i = from; i < list->n; i++)
		if (list->items[i].drop)
			list->items[i].drop(list->items[i].arg);
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->door->lock);
	l->door->loop = NULL;
	pthread_mutex_unlock(&l->door->lock);
	drop_posts(&l->running, l->ran);
	drop_posts(&l->posted, 0);
	loop_door_drop(l->door);
	event_free(l->post_event);
	event_free(l->deferred_event);
	event_base_free(l->base);
	close(l->post_fd);
	pthread_mutex_destroy(&l->post_lock);
	free(l->posted.items);
	free(l->running.items);
	free(l);
}

static void note_turn(struct loop *l, int64_t us)
{
	l->pace.turns++;
	l->pace.long_turns += us > LOOP_LONG_US;
	if (us > l->pace.longest_us)
		l->pace.longest_us = us;
}

/*
 * Turn by turn. The poll is counted too: it costs a microsecond, and waiting costs nothing.
 * libevent may poll several times before it comes back, as long as something is active: what was
 * put off, for one. The share ends that.
 */
void loop_run(struct loop *l)
{
	int64_t before = clock_thread_us(), now;

	for (; !l->stopping; before = now) {
		l->share_from_us = 0;
		event_base_loop(l->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
		now = clock_thread_us();
		note_turn(l, now - before);
	}
	l->stopping = false;
}

void loop_stop(struct loop *l)
{
	l->stopping = true;
	event_base_loopexit(l->base, NULL);
}

const struct loop_pace *loop_pace(const struct loop *l)
{
	return &l->pace;
}

struct event_base *loop_base(struct loop *l)
{
	return l->base;
}

struct loop_door *loop_door_take(struct loop *l)
{
	pthread_mutex_lock(&l->door->lock);
	l->door->refs++;
	pthread_mutex_unlock(&l->door->lock);
	return l->door;
}

void loop_door_drop(struct loop_door *d)
{
	int left;

	pthread_mutex_lock(&d->lock);
	left = --d->refs;
	pthread_mutex_unlock(&d->lock);
	if (left > 0)
		return;
	pthread_mutex_destroy(&d->lock);
	free(d);
}

bool loop_door_post(struct loop_door *d, loop_fn *fn, loop_fn *drop, void *arg)
{
	bool open;

	pthread_mutex_lock(&d->lock);
	open = d->loop != NULL;
	if (open)
		post(d->loop, (struct post){fn, drop, arg});
	pthread_mutex_unlock(&d->lock);
	return open;
}
