/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a store into a file and back: as of one moment, checked, whole or not at all. */
#include "contract_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

/* What a copy told, and what is done meanwhile. */
struct copy_story {
	struct ctx *c;
	int calls, stop_at; /* 0: never */
	rid next;           /* tasks that others write beside it, from this id on; 0: none */
	char said[1024];
};

static bool on_copied(void *arg, int64_t bytes, int64_t of)
{
	struct copy_story *s = arg;

	assert_true(of == 0 || bytes <= of);
	if (s->next) {
		fill(s->c, s->next, 50);
		s->next += 50;
		commit(s->c);
	}
	return ++s->calls != s->stop_at;
}

static void on_damaged(void *arg, const char *table, const char *name, const char *what)
{
	struct copy_story *s = arg;
	size_t n = strlen(s->said);

	snprintf(s->said + n, sizeof s->said - n, "%s: %s\n", table, what);
}

static struct store_copying how_of(struct copy_story *s)
{
	return (struct store_copying){
	    .arg = s, .copied = on_copied, .check = {.arg = s, .damaged = on_damaged}};
}

static const char *beside(struct ctx *c, const char *name)
{
	char *path = arena_alloc(&c->a, 200);

	snprintf(path, 200, "%s/%s", c->dir, name);
	return path;
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static const char *backup_to(struct ctx *c, const char *name)
{
	struct copy_story story = {.c = c};
	struct store_copying how = how_of(&story);
	const char *file = beside(c, name);
	struct store_copy copy;
	struct problem p = {0};

	if (store_backup(c->url, file, &how, &copy, &p))
		fail_msg("%s: %s %s", file, p.what, story.said);
	return file;
}

static int restore_from(
    struct ctx *c, const char *file, bool replace, struct store_copy *ret, struct problem *p)
{
	struct copy_story story = {.c = c};
	struct store_copying how = how_of(&story);
	struct store_source source = {.from = open(file, O_RDONLY)};
	int rc;

	assert_true(source.from >= 0);
	how.replace = replace;
	*p = (struct problem){0};
	rc = store_restore(c->url, &source, &how, ret, p);
	close(source.from);
	assert_false(is_there(beside(c, "store.db.restoring")));
	return rc;
}

static int64_t count_tasks(struct ctx *c)
{
	struct status_count *counts;
	int64_t total = 0;
	size_t n;

	assert_int_equal(store_task_count(c->r, &(struct task_filter){0}, &c->a, &counts, &n), 0);
	for (size_t i = 0; i < n; i++)
		total += counts[i].n;
	return total;
}

static void remove_store(struct ctx *c)
{
	static const char *const names[] = {
	    "store.db", "store.db-wal", "store.db-shm", "store.db.lock"};

	shut(c);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		unlink(beside(c, names[i]));
}

static void assert_whole(struct ctx *c, int64_t tasks)
{
	struct copy_story story = {.c = c};
	struct store_checker to = {.arg = &story, .damaged = on_damaged};
	struct problem p = {0};
	int64_t rows;

	if (store_check(c->url, &to, &rows, &p))
		fail_msg("%s %s", p.what, story.said);
	ctx_reopen(c);
	assert_int_equal(count_tasks(c), tasks);
}

static void add_queue(struct ctx *c)
{
	struct queue_row q = {.id = 5, .name = STR("q"), .plugin = STR("command")};
	struct meta_row meta = {STR("installation"), STR("0000000000")};

	batch_put(&c->b, &queue_table, arena_memdup(&c->b.arena, &q, sizeof q));
	batch_put(&c->b, &meta_table, arena_memdup(&c->b.arena, &meta, sizeof meta));
}

static void fill_store(struct ctx *c, int tasks)
{
	add_queue(c);
	fill(c, 100, tasks);
	add_output(c, 100, 1, 0, 3, 0, STR("out"));
	commit(c);
}

/* Each step of the copy finds that others have written; it neither sees that nor begins anew. */
static void test_one_moment_while_others_write(void **state)
{
	struct ctx *c = *state;
	struct copy_story story = {.c = c, .next = 10000};
	struct store_copying how = how_of(&story);
	const char *file = beside(c, "copy");
	struct store_copy copy;
	struct problem p = {0};
	struct stat st;

	fill_store(c, 3000);
	assert_int_equal(store_backup(c->url, file, &how, &copy, &p), 0);
	assert_true(story.calls > 3 && story.calls < 20);
	assert_int_equal(count_tasks(c), 3000 + 50 * story.calls);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_size, copy.bytes);
	assert_int_equal(copy.version, STORE_SCHEMA_VERSION);
	assert_false(is_there(beside(c, "copy.part")) || is_there(beside(c, "copy-wal")));
	remove_store(c);
	assert_int_equal(restore_from(c, file, false, &copy, &p), 0);
	assert_whole(c, 3000);
}

static void test_stopped_leaves_nothing(void **state)
{
	struct ctx *c = *state;
	struct copy_story story = {.c = c, .stop_at = 2};
	struct store_copying how = how_of(&story);
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 3000);
	assert_int_equal(store_backup(c->url, beside(c, "copy"), &how, &copy, &p), ERR_TIMEOUT);
	assert_false(is_there(beside(c, "copy")) || is_there(beside(c, "copy.part")));
}

/* A signal may come just before a read begins, which then waits for a sender who sends nothing. */
static void test_a_silent_sender_is_not_waited_for(void **state)
{
	struct ctx *c = *state;
	struct copy_story story = {.c = c, .stop_at = 2};
	struct store_copying how = how_of(&story);
	struct store_copy copy;
	struct problem p = {0};
	int silent[2];

	fill_store(c, 1);
	shut(c);
	assert_int_equal(pipe(silent), 0);
	how.replace = true;
	assert_int_equal(
	    store_restore(c->url, &(struct store_source){.from = silent[0]}, &how, &copy, &p),
	    ERR_TIMEOUT);
	assert_int_equal(story.calls, 2);
	assert_false(is_there(beside(c, "store.db.restoring")));
	close(silent[0]);
	close(silent[1]);
	assert_whole(c, 1);
}

static void test_what_is_there_is_kept(void **state)
{
	struct ctx *c = *state;
	struct copy_story story = {.c = c};
	struct store_copying how = how_of(&story);
	const char *file;
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 3);
	file = backup_to(c, "copy");
	assert_int_equal(store_backup(c->url, file, &how, &copy, &p), ERR_CONFLICT);
	assert_says(p.hint, "--force");
	how.replace = true;
	assert_int_equal(store_backup(c->url, file, &how, &copy, &p), 0);
	assert_int_equal(store_backup(c->url, ctx_path(c), &how, &copy, &p), ERR_CONFLICT);
	assert_says(p.what, "is a store");
	assert_int_equal(store_backup(c->url, c->dir, &how, &copy, &p), ERR_INVALID);
	assert_int_equal(store_backup(c->url, "/nonexistent/copy", &how, &copy, &p), ERR_IO);
}

static void test_damage_is_told(void **state)
{
	struct ctx *c = *state;
	struct copy_story story = {.c = c};
	struct store_copying how = how_of(&story);
	const char *file = beside(c, "copy");
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 3);
	shut(c);
	sql(c, "UPDATE task SET body = 'changed' WHERE id = 101");
	assert_int_equal(store_backup(c->url, file, &how, &copy, &p), ERR_STORE);
	assert_int_equal(p.code, 0);
	assert_says(story.said, "task: what it runs does not fit its checksum");
	assert_false(is_there(file));
	how.damaged = true;
	assert_int_equal(store_backup(c->url, file, &how, &copy, &p), 0);
	assert_true(is_there(file));
	unlink(ctx_path(c));
	assert_int_equal(restore_from(c, file, false, &copy, &p), ERR_STORE);
	assert_int_equal(p.code, 0);
}

static void test_restore_refuses(void **state)
{
	struct ctx *c = *state;
	const char *file, *bad = beside(c, "bad");
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 300);
	file = backup_to(c, "copy");
	assert_int_equal(restore_from(c, file, true, &copy, &p), ERR_BUSY); /* it is open */
	shut(c);
	assert_int_equal(restore_from(c, file, false, &copy, &p), ERR_CONFLICT);
	assert_says(p.hint, "--force");
	assert_int_equal(restore_from(c, "/dev/null", true, &copy, &p), ERR_STORE);
	assert_says(p.what, "not a backup");
	assert_int_equal(link(file, bad), 0);
	assert_int_equal(truncate(bad, 65536), 0);
	assert_int_not_equal(restore_from(c, bad, true, &copy, &p), 0);
	assert_whole(c, 300); /* as it was */
}

/* As a crash leaves it: commits are in the log only, and a log beside another file would spoil it.
 */
static void leave_log(struct ctx *c)
{
	static const char *const names[] = {"store.db", "store.db-wal"};

	for (size_t i = 0; i < 2; i++) {
		AUTO(free_cstr)
		char *keep = xasprintf("cp %s %s.kept", beside(c, names[i]), beside(c, names[i]));

		assert_int_equal(system(keep), 0);
	}
	shut(c);
	for (size_t i = 0; i < 2; i++) {
		AUTO(free_cstr) char *kept = xasprintf("%s.kept", beside(c, names[i]));

		assert_int_equal(rename(kept, beside(c, names[i])), 0);
	}
}

static void test_old_log_is_not_taken_for_the_new_one(void **state)
{
	struct ctx *c = *state;
	const char *file;
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 300);
	file = backup_to(c, "copy");
	fill(c, 5000, 500);
	commit(c);
	leave_log(c);
	assert_int_equal(restore_from(c, "/dev/null", true, &copy, &p), ERR_STORE);
	ctx_reopen(c);
	assert_int_equal(count_tasks(c), 800); /* a refused one takes nothing away */
	fill(c, 6000, 10);
	commit(c);
	leave_log(c);
	assert_int_equal(restore_from(c, file, true, &copy, &p), 0);
	assert_false(is_there(beside(c, "store.db-wal")));
	assert_whole(c, 300);
}

static void test_damaged_store_is_kept_beside(void **state)
{
	struct ctx *c = *state;
	const char *file;
	struct store_copy copy;
	struct problem p = {0};
	FILE *f;

	fill_store(c, 30);
	file = backup_to(c, "copy");
	shut(c);
	f = fopen(ctx_path(c), "w");
	fputs("no database any more", f);
	fclose(f);
	assert_int_equal(restore_from(c, file, true, &copy, &p), 0);
	assert_true(is_there(beside(c, "store.db.damaged")));
	assert_whole(c, 30);
}

static void test_older_schema(void **state)
{
	struct ctx *c = *state;
	const char *file;
	struct store_copy copy;
	struct problem p = {0};

	fill_store(c, 30);
	shut(c);
	assert_int_equal(store_migrate(c->url,
	                     &(struct store_migration){.version = STORE_SCHEMA_VERSION - 1}, &p),
	    0);
	file = backup_to(c, "copy");
	assert_int_equal(restore_from(c, file, true, &copy, &p), 0);
	assert_int_equal(copy.version, STORE_SCHEMA_VERSION - 1);
	assert_int_equal(copy.rows, 0);
	ctx_reopen(c);
	assert_int_equal(count_tasks(c), 30);
	shut(c);
	sql(c, "PRAGMA user_version = 999");
	assert_int_equal(
	    store_backup(c->url, beside(c, "other"), &(struct store_copying){0}, &copy, &p),
	    ERR_SCHEMA);
}

static void test_memory_keeps_nothing(void **state)
{
	struct store_copying how = {0};
	struct store_source source = {0};
	struct store_copy copy;
	struct problem p = {0};

	assert_int_equal(store_backup("memory:", "/tmp/x", &how, &copy, &p), ERR_INVALID);
	assert_says(p.what, "nothing to back up");
	assert_int_equal(store_restore("memory:", &source, &how, &copy, &p), ERR_INVALID);
	assert_says(p.what, "nothing to restore into");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_one_moment_while_others_write),
	    T(test_stopped_leaves_nothing),
	    T(test_a_silent_sender_is_not_waited_for),
	    T(test_what_is_there_is_kept),
	    T(test_damage_is_told),
	    T(test_restore_refuses),
	    T(test_old_log_is_not_taken_for_the_new_one),
	    T(test_damaged_store_is_kept_beside),
	    T(test_older_schema),
	    T(test_memory_keeps_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
