/* SPDX-License-Identifier: Apache-2.0 */
#include "server/readers.h"

#include <bsd/sys/queue.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct read_job {
	STAILQ_ENTRY(read_job) entry;
	void (*work)(struct store_reader *, void *);
	void (*done)(void *);
	void *job;
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
	STAILQ_HEAD(read_jobs, read_job) jobs, answered;
	bool stop;
	struct reader_thread *threads;
	int n;
};

/* On the loop: every answer that has come in since. */
static void deliver(void *arg)
{
	struct readers *r = arg;
	struct read_jobs answered = STAILQ_HEAD_INITIALIZER(answered);
	struct read_job *j;

	pthread_mutex_lock(&r->lock);
	STAILQ_CONCAT(&answered, &r->answered);
	pthread_mutex_unlock(&r->lock);
	while ((j = STAILQ_FIRST(&answered))) {
		STAILQ_REMOVE_HEAD(&answered, entry);
		j->done(j->job);
		free(j);
	}
}

static void answer(struct readers *r, struct read_job *j)
{
	bool first;

	pthread_mutex_lock(&r->lock);
	first = STAILQ_EMPTY(&r->answered);
	STAILQ_INSERT_TAIL(&r->answered, j, entry);
	pthread_mutex_unlock(&r->lock);
	if (first)
		loop_post(r->loop, deliver, r);
}

static struct read_job *next_job(struct readers *r)
{
	struct read_job *j;

	pthread_mutex_lock(&r->lock);
	while (!(j = STAILQ_FIRST(&r->jobs)) && !r->stop)
		pthread_cond_wait(&r->wake, &r->lock);
	if (j)
		STAILQ_REMOVE_HEAD(&r->jobs, entry);
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
	STAILQ_INIT(&r->jobs);
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

void readers_run(
    struct readers *r, void (*work)(struct store_reader *, void *), void (*done)(void *), void *job)
{
	struct read_job *j = xmalloc(sizeof *j);

	*j = (struct read_job){.work = work, .done = done, .job = job};
	pthread_mutex_lock(&r->lock);
	STAILQ_INSERT_TAIL(&r->jobs, j, entry);
	pthread_cond_signal(&r->wake);
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
	deliver(r); /* the loop runs no more: whoever waits is answered here */
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->threads);
	free(r);
}
