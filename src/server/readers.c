/* SPDX-License-Identifier: Apache-2.0 */
#include "server/readers.h"

#include <bsd/sys/queue.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"

struct read_job {
	STAILQ_ENTRY(read_job) entry;
	struct readers *readers;
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
	STAILQ_HEAD(, read_job) jobs;
	bool stop;
	struct reader_thread *threads;
	int n;
};

static void finish(void *arg)
{
	struct read_job *j = arg;

	j->done(j->job);
	free(j);
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
		loop_post(t->readers->loop, finish, j);
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

	*j = (struct read_job){.readers = r, .work = work, .done = done, .job = job};
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
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	free(r->threads);
	free(r);
}
