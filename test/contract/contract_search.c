/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks by their words, the same whether a store has an index, has none, has one that is behind, or
 * has lost it: `contract_search BACKEND`. The judge looks at every task.
 */
#include "contract.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define N 600

static const char *backend;
static const char *const queries[] = {"alpha", "beta gamma", "alpha beta gamma delta", "num7",
    "num77 alpha", "gam*", "num1*", "nosuch", "nosuch*", "na\xc3\xafve", "Label team", "x OR y",
    "far"};
#define N_QUERIES (sizeof queries / sizeof queries[0])

static int setup(void **state)
{
	struct ctx *c = xcalloc(1, sizeof *c);

	ctx_open(c, backend);
	c->search = true;
	ctx_reopen(c);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	ctx_close(*state);
	free(*state);
	return 0;
}

static struct str body_of(struct ctx *c, rid id)
{
	static const char *const words[] = {"alpha", "beta", "gamma", "delta", "na\xc3\xafve"};
	struct buf b = {0};
	struct str kept;

	buf_printf(&b, "{\"command\":[\"run\"");
	for (unsigned i = 0; i < 5; i++)
		if (id >> i & 1)
			buf_printf(&b, ",\"%s\"", words[i]);
	buf_printf(&b, "],\"env\":{\"alpha\":\"nosuch\"},\"params\":{\"n\":\"num%llu\"",
	    (unsigned long long)id % 100);
	if (id % 50 == 0) { /* too long for its row */
		buf_printf(&b, ",\"pad\":\"");
		for (int i = 0; i < 3000; i++)
			buf_add_char(&b, 'z');
		buf_printf(&b, "\",\"x\":\"far\"");
	}
	buf_printf(&b, "}}");
	kept = arena_str(&c->a, buf_str(&b));
	buf_release(&b);
	return kept;
}

static void add_tasks(struct ctx *c, rid from, rid to)
{
	for (rid id = from; id <= to; id++) {
		struct task_row *t =
		    task_new(c, id, 1 + id % 3, id % 4 ? TASK_SUCCEEDED : TASK_QUEUED);

		t->spec.body = body_of(c, id);
		t->spec.name = id % 5 ? STR_NULL : STR("The Name y");
		t->spec.labels = id % 7 ? STR_NULL : STR("team=Label\n");
		add_insert(c, t);
		if (id % 200 == 0)
			commit(c);
	}
	commit(c);
}

static bool fits(struct ctx *c, const struct task_filter *f, rid id)
{
	struct task_row t;
	AUTO(buf_release) struct buf text = {0};

	if (store_task_get(c->r, id, &c->a, &t))
		return false;
	if ((f->queue && t.spec.queue != f->queue) || id < f->since || (f->until && id >= f->until))
		return false;
	if (f->name.p && !str_eq(f->name, t.spec.name))
		return false;
	if (f->n_states && t.state.status != f->states[0].min)
		return false;
	search_text(&t.spec, &text);
	return search_matches(&f->search, buf_str(&text));
}

/* Every page of the list, against every task. */
static void check(struct ctx *c, const struct task_filter *f, bool oldest_first, uint32_t limit)
{
	rid want = oldest_first ? 1 : N, cursor = 0;
	struct task_page page;

	do {
		assert_int_equal(
		    store_task_list(c->r, f, oldest_first, true, cursor, limit, &c->a, &page), 0);
		assert_true(page.n <= limit);
		for (size_t i = 0; i < page.n; i++) {
			while (want != page.rows[i].id) {
				assert_in_range(want, 1, N);
				assert_false(fits(c, f, want));
				want += oldest_first ? 1 : (rid)-1;
			}
			assert_true(fits(c, f, want));
			assert_null(page.rows[i].spec.body.p);
			want += oldest_first ? 1 : (rid)-1;
		}
		cursor = page.next;
	} while (cursor);
	for (; want >= 1 && want <= N; want += oldest_first ? 1 : (rid)-1)
		assert_false(fits(c, f, want));
}

static void check_counts(struct ctx *c, const struct task_filter *f)
{
	struct status_count *counts;
	int64_t total = 0, want = 0;
	size_t n;

	assert_int_equal(store_task_count(c->r, f, &c->a, &counts, &n), 0);
	for (size_t i = 0; i < n; i++)
		total += counts[i].n;
	for (rid id = 1; id <= N; id++)
		want += fits(c, f, id);
	assert_int_equal(total, want);
}

static void check_all(struct ctx *c)
{
	struct problem p = {0};

	for (size_t i = 0; i < N_QUERIES; i++) {
		struct task_filter f = {0};

		assert_int_equal(search_parse(&c->a, str_of(queries[i]), &f.search, &p), 0);
		check(c, &f, i % 2, i % 3 ? 1000 : 7);
		f.queue = 2;
		f.since = 100;
		f.until = 500;
		check(c, &f, !(i % 2), 50);
		f.states[0].min = f.states[0].max = TASK_QUEUED;
		f.n_states = 1;
		check(c, &f, false, 1000);
		check_counts(c, &f);
		f = (struct task_filter){.search = f.search, .name = STR("The Name y")};
		check(c, &f, i % 2, 7);
	}
}

static rid indexed_to(const struct ctx *c)
{
	AUTO(free_cstr) char *path = xasprintf("%s.search", ctx_path(c));
	sqlite3_stmt *st = NULL;
	sqlite3 *db = NULL;
	rid id = 0;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, "SELECT done_to FROM about", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		id = (rid)sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return id;
}

static bool has_index(void)
{
	return strcmp(backend, "sqlite") == 0;
}

static void wait_indexed(const struct ctx *c)
{
	while (has_index() && indexed_to(c) < N)
		usleep(10000);
}

static void test_all_the_time(void **state)
{
	struct ctx *c = *state;

	add_tasks(c, 1, N / 2);
	check_all(c); /* whatever the index has by now */
	add_tasks(c, N / 2 + 1, N);
	check_all(c);
	wait_indexed(c);
	check_all(c);
	ctx_reopen(c);
	check_all(c);
}

static void test_what_is_gone_is_not_found(void **state)
{
	struct ctx *c = *state;

	add_tasks(c, 1, N);
	wait_indexed(c);
	for (rid id = 1; id <= N; id += 2)
		batch_prune(&c->b, id);
	commit(c);
	check_all(c);
}

#define MANY 25000 /* more than are looked at for one page */
#define RARE 12345

static size_t count_pages(
    struct ctx *c, const struct task_filter *f, bool oldest_first, size_t *ret_pages)
{
	struct task_page page = {.next = 0};
	size_t n = 0;

	*ret_pages = 0;
	do {
		assert_int_equal(
		    store_task_list(c->r, f, oldest_first, true, page.next, 100, &c->a, &page), 0);
		for (size_t i = 0; i < page.n; i++)
			assert_true(page.rows[i].id % RARE == 0);
		n += page.n;
		++*ret_pages;
	} while (page.next);
	return n;
}

/* All have the word, and a filter leaves next to none: found over many pages, or at once where the
 * filter's own index names them. */
static void test_a_filter_that_leaves_few(void **state)
{
	struct ctx *c = *state;
	struct task_filter by_queue = {.queue = 2}, by_name = {.name = STR("rare")},
	                   by_state = {
	                       .states = {{TASK_RUNNING, TASK_RUNNING, false}}, .n_states = 1};
	struct task_filter *filters[] = {&by_queue, &by_name, &by_state};
	struct problem p;
	size_t pages;

	for (rid id = 1; id <= MANY; id++) {
		bool rare = id % RARE == 0;
		struct task_row *t =
		    task_new(c, id, rare ? 2 : 1, rare ? TASK_RUNNING : TASK_SUCCEEDED);

		t->spec.body = STR("{\"command\":[\"all\"]}");
		t->spec.name = rare ? STR("rare") : STR("common");
		add_insert(c, t);
		if (id % 5000 == 0)
			commit(c);
	}
	while (has_index() && indexed_to(c) < MANY)
		usleep(10000);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(search_parse(&c->a, STR("all"), &filters[i]->search, &p), 0);
		assert_int_equal(count_pages(c, filters[i], false, &pages), MANY / RARE);
		assert_true(!has_index() || (pages == 1) == (i > 0));
		assert_int_equal(count_pages(c, filters[i], true, &pages), MANY / RARE);
	}
}

static void spoil(const struct ctx *c, const char *with)
{
	AUTO(free_cstr) char *path = xasprintf("%s.search", ctx_path(c));
	AUTO(free_cstr) char *log = xasprintf("%s.search-wal", ctx_path(c));
	int fd;

	unlink(log);
	if (!with) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	for (int i = 0; i < 2000; i++)
		assert_int_equal(write(fd, with, strlen(with)), strlen(with));
	close(fd);
}

/* While nobody has it open: gone, empty, of somebody else. */
static void test_a_spoilt_index_is_made_anew(void **state)
{
	static const char *const with[] = {NULL, "", "not a database ", "SQLite format 3"};
	struct ctx *c = *state;

	add_tasks(c, 1, N);
	for (size_t i = 0; has_index() && i < sizeof with / sizeof with[0]; i++) {
		wait_indexed(c);
		c->search = false;
		ctx_reopen(c); /* closes the index */
		spoil(c, with[i]);
		c->search = true;
		ctx_reopen(c);
		check_all(c);
	}
	wait_indexed(c);
	check_all(c);
}

/* Bytes of it change under the server's hands, anywhere: answers stay right or short of nothing. */
static void test_an_index_that_is_damaged_while_it_is_used(void **state)
{
	AUTO(free_cstr) char *path = NULL;
	struct ctx *c = *state;
	struct rng r = {3};
	char noise[4096];
	struct stat st;
	int fd;

	add_tasks(c, 1, N);
	if (!has_index())
		return;
	wait_indexed(c);
	ctx_reopen(c); /* the log is in the file now */
	path = xasprintf("%s.search", ctx_path(c));
	fd = open(path, O_WRONLY);
	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	for (size_t i = 0; i < sizeof noise; i++)
		noise[i] = (char)rng_below(&r, 256);
	for (off_t at = 4096; at < st.st_size; at += sizeof noise)
		assert_int_equal(pwrite(fd, noise, sizeof noise, at), sizeof noise);
	close(fd);
	check_all(c);
	wait_indexed(c);
	check_all(c);
}

static void test_of_another_database(void **state)
{
	struct ctx *c = *state;
	AUTO(free_cstr) char *path = NULL;
	sqlite3 *db;

	add_tasks(c, 1, N);
	if (!has_index())
		return;
	wait_indexed(c);
	c->search = false;
	ctx_reopen(c);
	path = xasprintf("%s.search", ctx_path(c));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
	    sqlite3_exec(db, "UPDATE about SET done_to = 99999999", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	c->search = true;
	ctx_reopen(c);
	wait_indexed(c);
	check_all(c);
	while (indexed_to(c) != N) /* not the number that was put there */
		usleep(10000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_all_the_time, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_is_gone_is_not_found, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_filter_that_leaves_few, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_spoilt_index_is_made_anew, setup, teardown),
	    cmocka_unit_test_setup_teardown(
	        test_an_index_that_is_damaged_while_it_is_used, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_of_another_database, setup, teardown),
	};

	backend = argc > 1 ? argv[1] : "memory";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
