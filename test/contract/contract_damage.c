/* SPDX-License-Identifier: Apache-2.0 */
/* A file that somebody or a disk has changed: what does not fit says so, and nothing crashes. */
#include "contract_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "model/link/health.h"

/* A value changed behind our back: the row says so, and what it said is not repeated. */
static void test_damage_is_noticed(void **state)
{
	static const struct {
		const char *sql;
		unsigned damage;
	} all[] = {
	    {"UPDATE task SET priority = priority + 1", DAMAGED_STATE},
	    {"UPDATE task SET reason = 'fine'", DAMAGED_STATE},
	    {"UPDATE task SET reason = NULL", DAMAGED_STATE},
	    {"UPDATE task SET labels = 'a=b'", DAMAGED_SPEC},
	    {"UPDATE task SET ctime_ms = 5", DAMAGED_SPEC},
	    {"UPDATE task SET body = '{\"command\":[\"rm\"]}'", DAMAGED_BODY},
	    {"UPDATE task SET result = 'other'", DAMAGED_OUTPUT},
	    {"UPDATE task SET stdout = NULL", DAMAGED_OUTPUT},
	    {"UPDATE task SET usage = '1 2 3 4'", DAMAGED_STATE},
	    {"UPDATE task SET rank = 77", 0},                    /* as a change of order does */
	    {"UPDATE task SET body = '{}', body_sum = NULL", 0}, /* from before */
	};

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		struct ctx *c = *state;
		struct problem p = {0};
		struct task_row *t = task_new(c, i + 1, 5, TASK_SUCCEEDED), got;

		t->spec.body = STR("{\"command\":[\"true\"]}");
		t->state.reason = STR("why");
		t->state.result = STR("r");
		t->state.output[STDOUT] = STR("o");
		add_insert(c, t);
		commit(c);
		shut(c);
		sql(c, all[i].sql);
		assert_int_equal(try_open(c, &p), 0);
		c->r = store_reader_open(c->s, &p);
		assert_int_equal(store_task_get(c->r, i + 1, &c->a, &got), 0);
		if (got.damage != all[i].damage)
			fail_msg("%s: damage %u", all[i].sql, got.damage);
		if (got.damage & DAMAGED_BODY)
			assert_null(got.spec.body.p);
		if (got.damage & DAMAGED_STATE)
			assert_null(got.state.reason.p);
		sql(c, "DELETE FROM task");
	}
}

static struct worker_row good_worker = {.id = 1,
    .facts = {.shard = STR("w1"),
        .instance = 5,
        .started_ms = 1000,
        .start = 77,
        .lock = STR("m:/d"),
        .host = STR("h"),
        .plugins = STR("command\n"),
        .maxthreads = 3,
        .key = STR("k")},
    .maxthreads_set = 2,
    .maxthreads_is_set = 1,
    .state = WORKER_MUST_DIE, /* it was lost: its name would be free */
    .first_seen_ms = 1000,
    .last_seen_ms = 2000,
    .version = 4};

/* What the brain takes for a worker that nobody is, and that may hold anything. */
static void assert_is_nobody(const struct worker_row *w, const char *change)
{
	if (!str_is(w->facts.key, WORKER_KEY_UNKNOWN) || w->facts.lock.n || w->facts.plugins.n ||
	    w->state != WORKER_NEW || w->unwritten != 1 || !w->facts.instance ||
	    w->maxthreads_is_set || w->facts.start || !w->facts.shard.n)
		fail_msg("%s: it is still somebody", change);
}

/* Time that runs out during the check of a start is no damage, however early it does. */
static void test_short_check_is_no_damage(void **state)
{
	static const struct store_options o = {.check_ms = 1};
	struct ctx *c = *state;
	struct problem p = {0};

	for (int i = 0; i < 20; i++) {
		shut(c);
		if (store_open(c->url, &o, &c->s, &p) != 0)
			fail_msg("%s", p.what);
	}
}

/* Nothing that the row says is believed, whatever was changed of it. */
static void test_a_damaged_worker_is_nobody(void **state)
{
	struct ctx *c = *state;
	struct start start;

	batch_put(&c->b, &worker_table, &good_worker);
	commit(c);
	start_read(c, &start);
	assert_same_row(&worker_table, &start.workers[0], &good_worker);
	for (int i = 1; i < worker_table.n; i++) {
		const struct column *col = &worker_table.columns[i];
		bool is_text = column_is_str(col);
		AUTO(free_cstr)
		char *change = xasprintf(is_text ? "UPDATE worker SET %s = ifnull(%s, '') || 'x'"
		                                 : "UPDATE worker SET %s = %s + 1",
		    col->name, col->name);

		shut(c);
		sql(c, change);
		assert_int_equal(try_open(c, NULL), 0);
		start_read(c, &start);
		assert_int_equal(start.n_workers, 1);
		assert_is_nobody(&start.workers[0], change);
		batch_put(&c->b, &worker_table, &good_worker); /* and it is mended */
		commit(c);
		start_read(c, &start);
		assert_same_row(&worker_table, &start.workers[0], &good_worker);
	}
}

static int take_row(void *arg, const struct row_table *t, const void *row)
{
	return 0;
}

static int take_count(void *arg, rid queue, int32_t status, int64_t n)
{
	return 0;
}

static int take_owned(void *arg, const struct owner *of, rid task, rid queue)
{
	return 0;
}

static int take_last(void *arg, rid last_id, uint64_t last_event)
{
	return 0;
}

/* SQLite's number of seven bits a byte, for an id of 50 to 56 bits. */
static void put_varint(rid id, unsigned char ret[8])
{
	for (int i = 7; i >= 0; i--, id >>= 7)
		ret[i] = (unsigned char)((id & 0x7f) | (i < 7 ? 0x80 : 0));
}

static off_t place_of(struct ctx *c, rid id)
{
	int fd = open(ctx_path(c), O_RDONLY);
	unsigned char is[8], page[4096];
	off_t place = 0;

	put_varint(id, is);
	for (off_t at = 0; pread(fd, page, sizeof page, at) == sizeof page; at += sizeof page) {
		unsigned char *found = memmem(page, sizeof page, is, sizeof is);

		place = found ? at + (found - page) : place;
	}
	close(fd);
	assert_true(place > 0);
	return place;
}

static void write_id(struct ctx *c, off_t place, rid id)
{
	int fd = open(ctx_path(c), O_WRONLY);
	unsigned char is[8];

	put_varint(id, is);
	assert_int_equal(pwrite(fd, is, sizeof is, place), sizeof is);
	close(fd);
}

/* Bits of an id in the file: the row has then the id of the next one, or is out of its place. */
static void test_an_id_that_is_not_the_rows_is_refused(void **state)
{
	const rid first = INT64_C(0x6afdbab1000001);
	const rid to[] = {first + 2, first + 0x100, first + 1 - (INT64_C(1) << 40)};
	struct ctx *c = *state;

	for (rid i = 0; i < 3; i++) {
		struct worker_row w = good_worker;
		char name[] = {'w', (char)('1' + i), 0};

		w.id = first + i;
		w.facts.shard = str_of(name);
		batch_put(&c->b, &worker_table, &w);
		commit(c);
	}
	for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
		struct row_loader l = {NULL, take_row, take_count, take_owned, take_last};
		struct problem p = {0};
		off_t place;

		shut(c);
		place = place_of(c, first + 1);
		write_id(c, place, to[i]);
		assert_int_equal(try_open(c, NULL), 0);
		assert_int_equal(store_load(c->s, &l, &p), ERR_STORE);
		assert_non_null(strstr(p.what, "the store is damaged (worker: two rows"));
		shut(c);
		write_id(c, place, first + 1);
		assert_int_equal(try_open(c, NULL), 0);
		assert_int_equal(store_load(c->s, &l, &p), 0);
	}
}

/* What an earlier version wrote must still fit: these were made by the first that had sums. */
static void test_sums_stay_the_same(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);

	t->spec.labels = STR("a=b\n");
	t->state.reason = STR("why");
	t->state.result = STR("r");
	t->state.usage = (struct usage){1, 2, 3, 4, true};
	add_insert(c, t);
	commit(c);
	shut(c);
	sql(c, "CREATE TABLE sure (ok NOT NULL CHECK (ok)); INSERT INTO sure SELECT (spec_sum, "
	       "state_sum, body_sum, output_sum) = (1333202527, -1439563192, -1650223910, "
	       "-1595531074) FROM task; DROP TABLE sure");
}

static void test_damaged_output_keeps_its_length(void **state)
{
	struct ctx *c = *state;
	struct buf out = {0};
	struct problem p = {0};
	char chunk[100];
	struct output_end end;

	memset(chunk, 'x', sizeof chunk);
	add_insert(c, task_new(c, 1, 5, TASK_RUNNING));
	for (int i = 0; i < 3; i++)
		add_output(c, 1, 1, i * 100, 100, 0, (struct str){chunk, sizeof chunk});
	commit(c);
	shut(c);
	sql(c, "UPDATE output SET data = replace(data, 'xx', 'xy') WHERE at = 100");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_output(c->r, 1, 1, STDOUT, 0, 1000, &out, &end), 0);
	assert_int_equal(end.at, 300);
	assert_int_equal(end.damaged, 100);
	assert_int_equal(out.n, 300);
	assert_memory_equal(out.p, chunk, 100);
	assert_memory_equal(out.p + 100, "[reeve: output is damaged", 25);
	assert_memory_equal(out.p + 200, chunk, 100);
	buf_release(&out);
}

/* A part of a mark would say nothing: it is counted, whatever its length. */
static void test_damaged_short_output_is_counted(void **state)
{
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED);
	struct buf out = {0};
	struct problem p = {0};
	struct output_end end;

	t->state.token = 1;
	t->state.output_where = OUTPUT_INLINE;
	t->state.output[STDOUT] = STR("out 22\n");
	t->state.output_bytes[STDOUT] = 7;
	add_insert(c, t);
	commit(c);
	shut(c);
	sql(c, "UPDATE task SET stdout = CAST('out 23' || char(10) AS BLOB)");
	assert_int_equal(try_open(c, &p), 0);
	c->r = store_reader_open(c->s, &p);
	assert_int_equal(store_output(c->r, 1, 1, STDOUT, 0, 1000, &out, &end), 0);
	assert_string_equal(out.p, "???????");
	assert_int_equal(end.at, 7);
	assert_int_equal(end.damaged, 7);
	buf_release(&out);
}

/* What somebody wrote by hand and cannot be read counts as not measured. */
static void test_bad_usage(void **state)
{
	static const char *const bad[] = {"'x'", "''", "'1 2 3'", "'1 2 3 4 5'", "'1 2 3 -4'",
	    "'1 2 3 4294967296'", "7", "x'00'"};
	struct ctx *c = *state;
	struct task_row *t = task_new(c, 1, 5, TASK_SUCCEEDED), got;

	t->state.usage = (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, INT32_MAX, true};
	add_insert(c, t);
	commit(c);
	assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
	assert_true(usage_equal(&t->state.usage, &got.state.usage));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		AUTO(free_cstr) char *text = xasprintf("UPDATE task SET usage = %s", bad[i]);

		sql(c, text);
		assert_int_equal(store_task_get(c->r, 1, &c->a, &got), 0);
		assert_false(got.state.usage.known);
	}
}

/* A damaged file leads to an answer or an error, never a crash. */
static void use_damaged(struct ctx *c)
{
	struct head_query q = {.queue = 5, .limit = 1000};
	struct status_count *counts;
	struct task_row *rows, got;
	size_t n;

	if (try_open(c, NULL))
		return;
	c->r = store_reader_open(c->s, NULL);
	if (c->r) {
		for (rid id = 1; id <= 500; id++)
			store_task_get(c->r, id, &c->a, &got);
		store_queue_head(c->r, &q, &c->a, &rows, &n);
		store_task_count(c->r, &(struct task_filter){0}, &c->a, &counts, &n);
	}
	fill(c, 1000, 50);
	try_commit(c, NULL);
}

static void test_damaged_files(void **state)
{
	struct ctx *c = *state;
	struct rng rng = {11};
	struct problem p = {0};
	struct stat st;
	int fd;

	fill(c, 1, 500);
	commit(c);
	shut(c);
	assert_int_equal(stat(ctx_path(c), &st), 0);
	for (int round = 0; round < 12; round++) {
		fd = open(ctx_path(c), O_RDWR);
		for (int i = 0; i < 40; i++) {
			uint64_t junk = rng_next(&rng);
			off_t at = 4096 + (off_t)rng_below(&rng, (uint64_t)st.st_size - 4104);

			assert_int_equal(pwrite(fd, &junk, sizeof junk, at), sizeof junk);
		}
		close(fd);
		use_damaged(c);
		shut(c);
	}
	assert_int_equal(truncate(ctx_path(c), 5000), 0);
	assert_int_not_equal(try_open(c, &p), 0);
	assert_true(p.what[0]);
	assert_int_equal(truncate(ctx_path(c), 60), 0);
	assert_int_not_equal(try_open(c, &p), 0);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(test_damage_is_noticed),
	    T(test_short_check_is_no_damage),
	    T(test_a_damaged_worker_is_nobody),
	    T(test_an_id_that_is_not_the_rows_is_refused),
	    T(test_sums_stay_the_same),
	    T(test_damaged_output_keeps_its_length),
	    T(test_damaged_short_output_is_counted),
	    T(test_bad_usage),
	    T(test_damaged_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
