/* SPDX-License-Identifier: Apache-2.0 */
/* The index of words in several shards, filled in transactions that do not end where these do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/sqlite/words.h"

#define SHARD 100
#define N 1000
#define STEP 70 /* of a transaction: most borders of shards are inside one */

struct index {
	char dir[32];
	char *path;
	struct words words;
};

static const struct words_of whose = {
    .installation = {"here", 4}, .last_id = 2 * N, .shard_rows = SHARD};

static int setup(void **state)
{
	struct index *x = xcalloc(1, sizeof *x);

	strcpy(x->dir, "/tmp/words.XXXXXX");
	assert_non_null(mkdtemp(x->dir));
	x->path = xasprintf("%s/index", x->dir);
	assert_int_equal(words_open(&x->words, x->path, &whose), SQLITE_OK);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct index *x = *state;

	words_close(&x->words);
	words_remove(x->path);
	rmdir(x->dir);
	free(x->path);
	free(x);
	return 0;
}

/* Every task has the word "all". Only even ids are there: others were pruned before. */
static void fill(struct index *x, rid from, rid to)
{
	rid id = from;

	while (id <= to) {
		rid end = id + 2 * STEP;

		assert_int_equal(words_begin(&x->words), SQLITE_OK);
		for (; id <= to && id < end; id += 2)
			assert_int_equal(words_add(&x->words, id, STR("all ")), SQLITE_OK);
		assert_int_equal(words_commit(&x->words, id - 2), SQLITE_OK);
	}
}

/* What has this word in [low, high], page by page as a list goes: from where the last one ended. */
static size_t count(struct index *x, rid low, rid high, bool oldest_first, size_t page)
{
	struct search_words all = {.words = {{STR("all"), false}}, .n = 1};
	struct words_query q = {&all, low, high, oldest_first, page};
	rid ids[N], before = 0;
	size_t total = 0, n;

	do {
		assert_int_equal(words_find(x->words.db, &q, ids, &n), SQLITE_OK);
		for (size_t i = 0; i < n; before = ids[i++])
			assert_true(!before || (ids[i] > before) == oldest_first);
		total += n;
		if (n && oldest_first)
			q.low = ids[n - 1] + 1;
		else if (n)
			q.high = ids[n - 1] - 1;
	} while (n == page && q.low <= q.high);
	return total;
}

static void test_every_page_has_what_is_in_it(void **state)
{
	struct index *x = *state;

	fill(x, 2, 2 * N);
	assert_true(x->words.shard > 2);
	for (size_t page = 1; page <= N; page += 37) {
		assert_int_equal(count(x, 1, 2 * N, true, page), N);
		assert_int_equal(count(x, 1, 2 * N, false, page), N);
	}
	for (rid low = 1; low < 2 * N; low += 13)
		assert_int_equal(count(x, low, low + 499, true, N),
		    low + 499 > 2 * N ? (2 * N - low) / 2 + 1 : 250);
}

static void test_it_goes_on_where_it_was_closed(void **state)
{
	struct index *x = *state;

	fill(x, 2, N);
	words_close(&x->words);
	assert_int_equal(words_open(&x->words, x->path, &whose), SQLITE_OK);
	fill(x, N + 2, 2 * N);
	assert_int_equal(count(x, 1, 2 * N, true, 7), N);
	assert_int_equal(count(x, 1, 2 * N, false, 7), N);
}

/* All before `arg` are gone. */
static bool is_gone(void *arg, rid first, rid last)
{
	return first <= last && last < *(const rid *)arg;
}

static void test_a_shard_is_dropped_only_when_all_of_it_is_gone(void **state)
{
	struct index *x = *state;
	rid lives;

	fill(x, 2, 2 * N);
	for (lives = 2; lives <= 2 * N; lives += 10) {
		assert_int_equal(words_drop_gone(&x->words, is_gone, &lives), SQLITE_OK);
		assert_int_equal(count(x, lives, 2 * N, true, N), (2 * N - lives) / 2 + 1);
	}
	assert_int_equal(count(x, 1, 2 * N, true, N), SHARD); /* the newest stays */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_every_page_has_what_is_in_it, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_it_goes_on_where_it_was_closed, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_a_shard_is_dropped_only_when_all_of_it_is_gone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
