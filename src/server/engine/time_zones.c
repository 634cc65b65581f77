/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/time_zones.h"

#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/log.h"

#define REFRESH_MS 60000
#define FAR_AWAY_S 8000000000 /* the year 2223: only its being cancelled matters */

/* A zone that the brain was told of. */
struct told {
	struct str name;      /* owned */
	struct zone_ref *ref; /* NULL: there is no such zone, so far */
};

struct time_zones {
	struct time_zones_options o;
	struct zones *zones;
	struct told *told; /* sorted by name */
	size_t n, cap;
	size_t n_stale; /* files that could not be read at the last look */
	struct loop_timer *timer;
	int clock_fd; /* readable when the wall clock was set; -1: the system cannot tell */
	struct loop_watch *clock;
};

static size_t index_of(const struct time_zones *t, struct str name)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_cmp(t->told[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct told *find(struct time_zones *t, struct str name)
{
	size_t at = index_of(t, name);

	return at < t->n && str_eq(t->told[at].name, name) ? &t->told[at] : NULL;
}

static struct told *add(struct time_zones *t, struct str name)
{
	size_t at = index_of(t, name);

	GROW(t->told, t->cap, t->n + 1);
	memmove(&t->told[at + 1], &t->told[at], (t->n - at) * sizeof *t->told);
	t->n++;
	t->told[at] = (struct told){.name = {xstrndup(name.p, name.n), name.n}};
	if (t->n == 1)
		loop_timer_set(t->timer, t->o.refresh_ms);
	return &t->told[at];
}

/* The one before lives until the brain has the new one. */
static void tell(struct time_zones *t, struct told *z, struct zone_ref *now)
{
	struct zone_ref *before = z->ref;
	struct event ev = {.kind = EV_ZONE, .zone = {.name = z->name, .zone = now->zone}};

	z->ref = now;
	t->o.feed(&ev, t->o.arg);
	if (before)
		zone_ref_drop(before);
}

int time_zones_get(
    struct time_zones *t, struct str name, struct zone_ref **ret_ref, struct problem *p)
{
	return zones_get(t->zones, name, ret_ref, p);
}

int time_zones_need(struct time_zones *t, struct str name, struct problem *p)
{
	struct told *z = find(t, name);
	struct zone_ref *ref;
	int e;

	if (z && z->ref)
		return 0;
	e = zones_get(t->zones, name, &ref, p);
	if (!z && name.n <= ZONE_NAME_MAX)
		z = add(t, name);
	if (e == 0)
		tell(t, z, ref);
	return e;
}

static void changed(struct str name, struct zone_ref *now, void *arg)
{
	struct time_zones *t = arg;
	struct told *z = find(t, name);

	if (!z || !z->ref)
		return;
	log_info("the time zone " STR_FMT " was changed: what goes by it follows", STR_ARG(name));
	now->refs++;
	tell(t, z, now);
}

static void look_again(struct time_zones *t)
{
	struct problem ignored = {0};
	struct zone_ref *ref;

	for (size_t i = 0; i < t->n; i++) {
		struct told *z = &t->told[i];

		if (z->ref || zones_get(t->zones, z->name, &ref, &ignored) != 0)
			continue;
		log_info("the time zone " STR_FMT " is known now", STR_ARG(z->name));
		tell(t, z, ref);
	}
}

/* The brain lets go of it first. */
static void take_back(struct time_zones *t, struct told *z)
{
	struct event ev = {.kind = EV_ZONE, .zone = {.name = z->name}};

	t->o.feed(&ev, t->o.arg);
	if (z->ref)
		zone_ref_drop(z->ref);
	free((char *)z->name.p);
}

/* Names come from whoever makes objects: those that nobody is in any more must not add up. */
static void forget_unneeded(struct time_zones *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (t->o.needs(t->told[i].name, t->o.arg))
			t->told[kept++] = t->told[i];
		else
			take_back(t, &t->told[i]);
	}
	t->n = kept;
}

size_t time_zones_count(const struct time_zones *t)
{
	return t->n;
}

/* Once when it begins and once when it is over, not at every look. */
static void tell_stale(struct time_zones *t)
{
	struct problem last = {0};
	size_t n = zones_stale(t->zones, &last);

	if (n > t->n_stale)
		log_warn("%s: the time zone stays as it was, and is looked at again (%zu zone%s "
		         "like this)",
		    last.what, n, n == 1 ? "" : "s");
	else if (n == 0 && t->n_stale)
		log_info("all files of time zones can be read again");
	t->n_stale = n;
}

static void on_timer(void *arg)
{
	struct time_zones *t = arg;

	zones_refresh(t->zones, changed, t);
	tell_stale(t);
	look_again(t);
	forget_unneeded(t);
	loop_timer_set(t->timer, t->o.refresh_ms);
}

static bool watch_clock(int fd)
{
	struct itimerspec far = {.it_value.tv_sec = FAR_AWAY_S};

	return timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL) == 0;
}

/* The brain compares the clocks itself: it only has to look. */
static void on_clock(int fd, bool readable, bool writable, void *arg)
{
	struct time_zones *t = arg;
	uint64_t expired;
	ssize_t got = read(fd, &expired, sizeof expired);

	if (got < 0)
		log_info(
		    "the wall clock was set, or the machine slept: every time is looked at anew");
	if (!watch_clock(fd))
		loop_watch_set(t->clock, false, false);
	t->o.feed(&(struct event){.kind = EV_WAKE}, t->o.arg);
}

static void open_clock(struct time_zones *t, struct loop *l)
{
	t->clock_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (t->clock_fd >= 0 && !watch_clock(t->clock_fd)) {
		close(t->clock_fd);
		t->clock_fd = -1;
	}
	if (t->clock_fd < 0)
		return;
	t->clock = loop_watch_new(l, t->clock_fd, on_clock, t);
	loop_watch_set(t->clock, true, false);
}

struct time_zones *time_zones_new(struct loop *l, const struct time_zones_options *o)
{
	struct time_zones *t = xcalloc(1, sizeof *t);

	t->o = *o;
	if (!t->o.refresh_ms)
		t->o.refresh_ms = REFRESH_MS;
	t->zones = zones_new(o->dir);
	t->timer = loop_timer_new(l, on_timer, t);
	open_clock(t, l);
	return t;
}

void time_zones_free(struct time_zones *t)
{
	if (t->clock)
		loop_watch_free(t->clock);
	if (t->clock_fd >= 0)
		close(t->clock_fd);
	loop_timer_free(t->timer);
	for (size_t i = 0; i < t->n; i++) {
		free((char *)t->told[i].name.p);
		if (t->told[i].ref)
			zone_ref_drop(t->told[i].ref);
	}
	free(t->told);
	zones_free(t->zones);
	free(t);
}
