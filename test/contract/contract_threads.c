/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer and several readers at once: `contract_threads BACKEND`. A reader that begins after a
 * commit returned must see it, whole.
 */
#include "contract.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"

#define BATCHES 150
#define PER_BATCH 10
#define READERS 3

static const char *backend;

struct shared {
	struct ctx c;
	atomic_ullong committed; /* batches that have returned */
	atomic_int wrong;
	atomic_bool stop;
};

/* Batch n makes its tasks and ends those of the batch before. */
static void *write_batches(void *arg)
{
	struct shared *s = arg;

	for (rid n = 0; n < BATCHES; n++) {
		for (rid i = 1; i <= PER_BATCH; i++) {
			add_insert(&s->c, task_new(&s->c, n * PER_BATCH + i, 5, TASK_QUEUED));
			if (n)
				add_update(&s->c,
				    task_new(&s->c, (n - 1) * PER_BATCH + i, 5, TASK_SUCCEEDED));
		}
		if (try_commit(&s->c, NULL))
			atomic_fetch_add(&s->wrong, 1);
		if (n % 10 == 0 && store_expire(s->c.s, 1, 1, NULL))
			atomic_fetch_add(&s->wrong, 1);
		arena_reset(&s->c.a);
		atomic_store(&s->committed, n + 1);
	}
	atomic_store(&s->stop, true);
	return NULL;
}

/* True if all is as it must be when at least `batches` had returned before. */
static bool looks_right(struct store_reader *r, struct arena *a, rid batches)
{
	struct status_count *counts;
	size_t n;
	int64_t queued = 0, ended = 0;
	struct head_query q = {.queue = 5, .limit = 100};
	struct task_row *rows, got;

	if (batches && store_task_get(r, batches * PER_BATCH, a, &got))
		return false;
	if (store_task_count(r, &(struct task_filter){0}, a, &counts, &n) ||
	    store_queue_head(r, &q, a, &rows, &n))
		return false;
	if (store_task_count(r, &(struct task_filter){0}, a, &counts, &n))
		return false;
	for (size_t i = 0; i < n; i++)
		*(counts[i].status == TASK_QUEUED ? &queued : &ended) += counts[i].n;
	if (queued + ended < (int64_t)batches * PER_BATCH || ended % PER_BATCH)
		return false;
	return queued == (queued + ended ? PER_BATCH : 0); /* never a part of a batch */
}

static void *read_on(void *arg)
{
	struct shared *s = arg;
	struct store_reader *r = store_reader_open(s->c.s, NULL);
	struct arena a = {0};

	while (r && !atomic_load(&s->stop)) {
		if (!looks_right(r, &a, (rid)atomic_load(&s->committed)))
			atomic_fetch_add(&s->wrong, 1);
		arena_reset(&a);
	}
	if (!r || !looks_right(r, &a, BATCHES))
		atomic_fetch_add(&s->wrong, 1);
	store_reader_close(r);
	arena_release(&a);
	return NULL;
}

static void test_readers_see_commits(void **state)
{
	struct shared s = {0};
	pthread_t writer, readers[READERS];

	ctx_open(&s.c, backend);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, &s), 0);
	assert_int_equal(pthread_create(&writer, NULL, write_batches, &s), 0);
	pthread_join(writer, NULL);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	ctx_close(&s.c);
	assert_int_equal(atomic_load(&s.wrong), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers_see_commits)};

	backend = argc > 1 ? argv[1] : "memory";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
