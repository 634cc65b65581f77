/* SPDX-License-Identifier: Apache-2.0 */
#include "server/engine/readers.h"

#include <bsd/sys/queue.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/world/clock.h"

#define SLICE_US 4000
/* Answers that wait for the loop: they are memory, and a busy loop is not read ahead of. */
#define ANSWERED_MAX 4
#define ANSWERED_LONG_MAX 2

struct read_job {
	STAILQ_ENTRY(read_job) entry;
	void (*work)(struct store_reader *, void *);
	void (*done)(void *);
	void *job;
	bool is_long;
};

struct reader_thread {
	struct readers *readers;
	struct store_reader *reader;
	pthread_t thread;
};

struct readers {
	struct loop *loop;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	STAILQ_HEAD(read_jobs, read_job) quick, slow, answered;
	int n_slow, most_slow; /* being run, and how many may be */
	size_t n_answered, n_answered_slow;
	bool stop;
	bool delivering; /* deliver() is under way: posted, and never twice */
	struct reader_thread *threads;
	int n;
};

static struct read_job *next_answer(struct readers *r)
{
	struct read_job *j;

	pthread_mutex_lock(&r->lock);
	j = STAILQ_FIRST(&r->answered);
	if (j) {
		STAILQ_REMOVE_HEAD(&r->answered, entry);
		r->n_answered--;
		r->n_answered_slow -= j->is_long;
		pthread_cond_broadcast(&r->wake);
	}
	pthread_mutex_unlock(&r->lock);
	return j;
}

/* Whether deliver() is to come again; if not, the next answer calls it. */
static bool wants_delivery(struct readers *r)
{
	bool wants;

	pthread_mutex_lock(&r->lock);
	wants = r->delivering = !STAILQ_EMPTY(&r->answered);
	pthread_mutex_unlock(&r->lock);
	return wants;
}

/* Until all are delivered, or others on the loop have waited long enough. */
static void deliver_for(struct readers *r, int64_t us)
{
	int64_t begun = clock_mono_us();
	struct read_job *j;

	while ((j = next_answer(r))) {
		j->done(j->job);
		free(j);
		if (clock_mono_us() - begun > us)
			return;
	}
}

/* On the loop, once per turn: a slice of answers for all that have come. */
static void deliver(void *arg)
{
	struct readers *r = arg;

	deliver_for(r, SLICE_US);
	if (wants_delivery(r))
		loop_post(r->loop, deliver, r);
}

static void answer(struct readers *r, struct read_job *j)
{
	bool first;

	pthread_mutex_lock(&r->lock);
	first = !r->delivering;
	r->delivering = true;
	STAILQ_INSERT_TAIL(&r->answered, j, entry);
	r->n_answered++;
	r->n_answered_slow += j->is_long;
	r->n_slow -= j->is_long;
	pthread_cond_broadcast(&r->wake);
	pthread_mutex_unlock(&r->lock);
	if (first)
		loop_post(r->loop, deliver, r);
}

/* The line whose turn it is; NULL: neither's. Long ones come first while none is being run, and
 * never take the last thread. */
static struct read_jobs *next_line(struct readers *r)
{
	bool slow = !STAILQ_EMPTY(&r->slow) && r->n_slow < r->most_slow &&
	            r->n_answered_slow < ANSWERED_LONG_MAX;

	if (slow && (r->n_slow == 0 || STAILQ_EMPTY(&r->quick)))
		return &r->slow;
	return !STAILQ_EMPTY(&r->quick) && r->n_answered < ANSWERED_MAX ? &r->quick : NULL;
}

/* The jobs that are left when the threads are to stop, in any order. */
static struct read_jobs *last_line(struct readers *r)
{
	return !STAILQ_EMPTY(&r->quick) ? &r->quick : !STAILQ_EMPTY(&r->slow) ? &r->slow : NULL;
}

static struct read_job *next_job(struct readers *r)
{
	struct read_jobs *line;
	struct read_job *j = NULL;

	pthread_mutex_lock(&r->lock);
	while (!(line = next_line(r)) && !r->stop)
		pthread_cond_wait(&r->wake, &r->lock);
	if (!line)
		line = last_line(r);
	if (line) {
		j = STAILQ_FIRST(line);
		STAILQ_REMOVE_HEAD(line, entry);
		r->n_slow += j->is_long;
	}
	pthread_mutex_unlock(&r->lock);
	return j;
}

static void *run(void *arg)
{
	struct reader_thread *t = arg;
	struct read_job *j;

	while ((j = next_job(t->readers))) {
		j->work(t->reader, j->job);
		answer(t->readers, j);
	}
	return NULL;
}

struct readers *readers_new(
    struct loop *l, struct store *s, int threads, struct problem *ret_problem)
{
	struct readers *r = xcalloc(1, sizeof *r);

	r->loop = l;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->wake, NULL);
	STAILQ_INIT(&r->quick);
	STAILQ_INIT(&r->slow);
	r->most_slow = threads > 1 ? threads - 1 : 1;
	STAILQ_INIT(&r->answered);
	r->threads = xcalloc((size_t)threads, sizeof *r->threads);
	for (r->n = 0; r->n < threads; r->n++) {
		struct reader_thread *t = &r->threads[r->n];

		t->readers = r;
		t->reader = store_reader_open(s, ret_problem);
		if (!t->reader) {
			readers_free(r);
			return NULL;
		}
		MUST(pthread_create(&t->thread, NULL, run, t) == 0);
	}
	return r;
}

void readers_run(struct readers *r, bool is_long, void (*work)(struct store_reader *, void *),
    void (*done)(void *), void *job)
{
	struct read_job *j = xmalloc(sizeof *j);

	*j = (struct read_job){.work = work, .done = done, .job = job, .is_long = is_long};
	pthread_mutex_lock(&r->lock);
	if (is_long)
		STAILQ_INSERT_TAIL(&r->slow, j, entry);
	else
		STAILQ_INSERT_TAIL(&r->quick, j, entry);
	pthread_cond_broadcast(&r->wake);
	pthread_mutex_unlock(&r->lock);
}

void readers_free(struct readers *r)
{
	pthread_mutex_lock(&r->lock);
	r->stop = true;
	pthread_cond_broadcast(&r->wake);
	pthread_mutex_unlock(&r->lock);
	for (int i = 0; i < r->n; i++) {
		pthread_join(r->threads[i].thread, NULL);
		store_reader_close(r->threads[i].reader);
	}
	deliver_for(r, INT64_MAX); /* the loop runs no more: whoever waits is answered here */
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->threads);
	free(r);
}
