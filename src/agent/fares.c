/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How instances of services fare. The server is told of each change, and nothing answers that: so
 * it is said again, some with each beat, in turn, and all of it in each hello.
 */
#include <stdlib.h>

#include "agent/internal.h"
#include "base/mem.h"

#define SAID_WITH_A_BEAT 32

static struct str copy(struct str s)
{
	return s.p ? (struct str){xstrndup(s.p, s.n), s.n} : STR_NULL;
}

static void put(struct str *at, struct str s)
{
	char *old = (char *)at->p;

	*at = copy(s);
	free(old);
}

void fares_add(struct agent *a, struct held *h, const struct link_run *run)
{
	struct held_instance *i;

	if (!run->instance.service.p)
		return;
	i = h->instance = xcalloc(1, sizeof *i);
	i->held = h;
	i->is = run->instance;
	i->is.service = copy(run->instance.service);
	i->is.domain = copy(run->instance.domain);
	i->is.need = copy(run->instance.need);
	i->queue = copy(run->queue);
	TAILQ_INSERT_TAIL(&a->instances, i, turn);
}

static void free_one(struct held_instance *i)
{
	free((char *)i->is.service.p);
	free((char *)i->is.domain.p);
	free((char *)i->is.need.p);
	free((char *)i->queue.p);
	free((char *)i->fares.address.p);
	free((char *)i->fares.ports.p);
	free(i);
}

void fares_drop(struct agent *a, struct held *h)
{
	if (!h->instance)
		return;
	TAILQ_REMOVE(&a->instances, h->instance, turn);
	free_one(h->instance);
	h->instance = NULL;
}

/* What the attempt's process has become, as containers count it. */
void fares_follow(struct held *h)
{
	struct container *c = h->instance ? &h->instance->container : NULL;

	if (!c)
		return;
	if (h->state == HELD_STARTING) {
		container_move(c, CONTAINER_INITIALIZING);
	} else if (h->state == HELD_RUNNING) {
		if (c->state == CONTAINER_RESERVED) /* adopted: an earlier worker has made it */
			container_move(c, CONTAINER_INITIALIZING);
		container_move(c, CONTAINER_CREATED);
	} else if (h->state == HELD_ENDED && c->state != CONTAINER_RESERVED) {
		container_move(c, CONTAINER_COMPLETED);
		c->was_told = h->stopping;
		h->instance->fares.is_up = h->instance->fares.is_ready = false;
	}
	h->instance->fares.container = (int32_t)c->state;
}

static bool is_told(const struct held_instance *i)
{
	return i->held->state == HELD_RUNNING;
}

static void say(struct agent *a, struct held_instance *i, struct agent_effects *out)
{
	i->is_unsaid = a->link != LINK_WELCOME;
	if (i->is_unsaid || !is_told(i))
		return;
	agent_effects_add(out, AF_HEALTH)->health =
	    (struct link_health){i->held->task, i->held->token, i->fares};
}

/* At once, and again with the next beat. */
static void say_first(struct agent *a, struct held_instance *i, struct agent_effects *out)
{
	TAILQ_REMOVE(&a->instances, i, turn);
	TAILQ_INSERT_HEAD(&a->instances, i, turn);
	say(a, i, out);
}

int on_fares(struct agent *a, const struct agent_event *in, struct agent_effects *out)
{
	struct held *h = held_find(a, in->task, in->token);
	struct held_instance *i = h ? h->instance : NULL;

	if (!i || h->state != HELD_RUNNING)
		return 0; /* over already */
	put(&i->fares.address, in->fares.address);
	put(&i->fares.ports, in->fares.ports);
	i->fares.is_up = in->fares.is_up;
	i->fares.is_ready = in->fares.is_up && in->fares.is_ready && !h->stopping;
	if (i->fares.is_up && i->container.state == CONTAINER_CREATED)
		container_move(&i->container, CONTAINER_RUNNING);
	i->fares.container = (int32_t)i->container.state;
	say_first(a, i, out);
	return 0;
}

/* What is being ended gets no more traffic. */
void fares_stopping(struct agent *a, struct held *h, struct agent_effects *out)
{
	if (!h->instance || !h->instance->fares.is_ready)
		return;
	h->instance->fares.is_ready = false;
	say_first(a, h->instance, out);
}

void fares_in_hello(const struct held *h, struct link_held *ret)
{
	if (!h->instance)
		return;
	h->instance->is_unsaid = false;
	ret->instance = h->instance->is;
	ret->queue = h->instance->queue;
	ret->fares = h->instance->fares;
}

/* What changed between the hello and the welcome. */
void fares_welcomed(struct agent *a, struct agent_effects *out)
{
	struct held_instance *i;

	TAILQ_FOREACH (i, &a->instances, turn)
		if (i->is_unsaid)
			say(a, i, out);
}

void fares_with_beat(struct agent *a, struct agent_effects *out)
{
	struct held_instance *i, *last = TAILQ_LAST(&a->instances, held_instances), *at = NULL;
	int n = 0;

	while (last && at != last && n < SAID_WITH_A_BEAT) {
		at = i = TAILQ_FIRST(&a->instances);
		TAILQ_REMOVE(&a->instances, i, turn);
		TAILQ_INSERT_TAIL(&a->instances, i, turn);
		if (is_told(i)) {
			say(a, i, out);
			n++;
		}
	}
}
