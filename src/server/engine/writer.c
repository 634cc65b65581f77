/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/writer.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"

#define REST_AFTER_S 5               /* without anything to write the store's cache is of no use */
#define TRIM_BYTES ((size_t)8 << 20) /* of a batch that is over */

struct writer {
	struct loop *loop;
	struct store *store;
	writer_done_fn *fn;
	void *arg;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	const struct batch *batch; /* to be committed, or being committed */
	struct arena trash;        /* to be freed here, where nobody waits for it */
	bool expire, stop;
	bool warm; /* something was written since the last rest */
	int64_t idem_before_ms, events_before_ms;
	struct commit_result result;
};

static void tell_loop(void *arg)
{
	struct writer *w = arg;

	w->fn(&w->result, w->arg);
}

static void commit(struct writer *w, const struct batch *b)
{
	int64_t begun = clock_mono_us();

	w->result = (struct commit_result){0};
	w->result.code = store_commit(w->store, b, &w->result.problem);
	w->result.seconds = (double)(clock_mono_us() - begun) / 1e6;
}

static void expire(struct writer *w, int64_t idem_before_ms, int64_t events_before_ms)
{
	struct problem p = {0};

	if (store_expire(w->store, idem_before_ms, events_before_ms, &p) != 0)
		log_warn("old records could not be removed: %s", p.what);
}

static bool has_work(const struct writer *w)
{
	return w->batch || w->expire || w->stop || w->trash.blocks;
}

/* Under the lock, until there is work. */
static void wait_for_work(struct writer *w)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += REST_AFTER_S;
	while (!has_work(w) && w->warm)
		if (pthread_cond_timedwait(&w->wake, &w->lock, &until) == ETIMEDOUT)
			break;
	if (!has_work(w) && w->warm) {
		w->warm = false;
		pthread_mutex_unlock(&w->lock);
		store_rest(w->store);
		malloc_trim(0); /* what lies between used memory does not go back by itself */
		pthread_mutex_lock(&w->lock);
	}
	while (!has_work(w))
		pthread_cond_wait(&w->wake, &w->lock);
	w->warm = true;
}

/* What a long submit leaves lies between used memory, too, and does not go back by itself. */
static void throw_away(struct arena *trash)
{
	bool is_much = trash->total >= TRIM_BYTES;

	arena_release(trash);
	if (is_much)
		malloc_trim(0);
}

/* One round under the lock: what there is to do, then unlocked, done. False: to stop. */
static bool round_of_work(struct writer *w)
{
	const struct batch *b;
	struct arena trash;
	bool ex;

	wait_for_work(w);
	b = w->batch;
	ex = w->expire && !b;
	trash = w->trash;
	if (!b && !ex && !trash.blocks)
		return false;
	w->trash = (struct arena){0};
	pthread_mutex_unlock(&w->lock);
	if (b)
		commit(w, b);
	else if (ex)
		expire(w, w->idem_before_ms, w->events_before_ms);
	pthread_mutex_lock(&w->lock);
	if (b) {
		w->batch = NULL;
		loop_post(w->loop, tell_loop, w);
	} else if (ex) {
		w->expire = false;
	}
	pthread_mutex_unlock(&w->lock);
	throw_away(&trash);
	pthread_mutex_lock(&w->lock);
	return true;
}

static void *run(void *arg)
{
	struct writer *w = arg;

	pthread_mutex_lock(&w->lock);
	while (round_of_work(w))
		;
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct writer *writer_new(struct loop *l, struct store *s, writer_done_fn *fn, void *arg)
{
	struct writer *w = xcalloc(1, sizeof *w);
	pthread_condattr_t monotonic;

	w->loop = l;
	w->store = s;
	w->fn = fn;
	w->arg = arg;
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&w->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	MUST(pthread_create(&w->thread, NULL, run, w) == 0);
	return w;
}

void writer_commit(struct writer *w, const struct batch *b)
{
	pthread_mutex_lock(&w->lock);
	MUST(!w->batch);
	w->batch = b;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void writer_expire(struct writer *w, int64_t idem_before_ms, int64_t events_before_ms)
{
	pthread_mutex_lock(&w->lock);
	if (!w->expire) {
		w->idem_before_ms = idem_before_ms;
		w->events_before_ms = events_before_ms;
		w->expire = true;
		pthread_cond_signal(&w->wake);
	}
	pthread_mutex_unlock(&w->lock);
}

void writer_discard(struct writer *w, struct arena *a)
{
	pthread_mutex_lock(&w->lock);
	arena_adopt(&w->trash, a);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

void writer_free(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->wake);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
