/* SPDX-License-Identifier: Apache-2.0 */
/*
 * getaddrinfo() knows the machine's own rules for names (nsswitch, hosts, search domains) but
 * blocks, so each question gets a short-lived thread. Literal addresses do not need one.
 */
#include "net/loop/resolve.h"

#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/loop/loop_internal.h"

struct resolve {
	struct address address;
	struct loop_door *door;
	resolve_fn *fn; /* NULL when cancelled; the loop's thread alone looks at it */
	void *arg;
	struct addrinfo *list;
	int error;
};

static void resolve_free(void *arg)
{
	struct resolve *r = arg;

	if (r->list)
		freeaddrinfo(r->list);
	loop_door_drop(r->door);
	free(r);
}

static void deliver(void *arg)
{
	struct resolve *r = arg;

	if (r->fn)
		r->fn(TAKE(r->list), r->error ? gai_strerror(r->error) : NULL, r->arg);
	resolve_free(r);
}

static void ask(struct resolve *r, int flags)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};

	r->error = getaddrinfo(
	    r->address.host[0] ? r->address.host : NULL, r->address.port, &hints, &r->list);
	if (r->error)
		r->list = NULL;
}

static void *resolve_thread(void *arg)
{
	struct resolve *r = arg;

	ask(r, AI_ADDRCONFIG);
	if (!loop_door_post(r->door, deliver, resolve_free, r))
		resolve_free(r);
	return NULL;
}

/* Signals are the loop thread's business. */
static int thread_start(struct resolve *r)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int e;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	e = pthread_create(&thread, &attr, resolve_thread, r);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return e;
}

struct resolve *resolve_start(struct loop *loop, const struct address *a, resolve_fn *fn, void *arg)
{
	struct resolve *r = xcalloc(1, sizeof *r);

	r->address = *a;
	r->door = loop_door_take(loop);
	r->fn = fn;
	r->arg = arg;
	if (strcmp(a->host, "localhost") == 0)
		ask(r, 0);
	else
		ask(r, AI_NUMERICHOST);
	if (r->error && thread_start(r) == 0)
		return r;
	if (r->error)
		r->error = EAI_AGAIN;
	loop_door_post(r->door, deliver, resolve_free, r);
	return r;
}

void resolve_cancel(struct resolve *r)
{
	r->fn = NULL;
}
