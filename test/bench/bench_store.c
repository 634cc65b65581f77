/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast the SQLite backend takes a task's life (insert, claim, end), beside a bare SQLite loop
 * in the same run: on a shared machine only the ratio means something.
 *
 *   bench_store DIRECTORY [TASKS [BATCH]]
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/world/clock.h"
#include "store/store.h"

static int64_t n_tasks = 200000, batch_size = 1000;

#define QUEUE 77
#define BASE_ID ((rid)0x65000000 << 24)

static void die(const struct problem *p)
{
	fprintf(stderr, "bench_store: %s (%s)\n", p->what, p->hint);
	exit(1);
}

/* Time by the clock moves with whatever else the machine does; time on the processor less so. */
struct watch {
	int64_t wall_us, cpu_us;
};

static int64_t cpu_us(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000 + u.ru_utime.tv_usec +
	       u.ru_stime.tv_usec;
}

static struct watch watch_start(void)
{
	return (struct watch){clock_mono_us(), cpu_us()};
}

static void report(const char *what, struct watch w)
{
	double wall = (double)(clock_mono_us() - w.wall_us), cpu = (double)(cpu_us() - w.cpu_us);

	printf("%-22s %8.0f/s  %5.2f us of processor each\n", what, (double)n_tasks * 1e6 / wall,
	    cpu / (double)n_tasks);
}

static struct task_row *row_of(struct batch *b, int64_t i, int status)
{
	static const char body[] = "{\"command\":[\"/bin/true\",\"some\",\"arguments\"],\"params\":"
	                           "{\"a\":12345678,\"name\":\"a-hundred-bytes\"}}";
	struct task_row *t = arena_zalloc(&b->arena, sizeof *t);

	t->id = BASE_ID + (rid)i;
	t->ctime_ms = 1700000000000;
	t->spec = (struct task_spec){.queue = QUEUE,
	    .batch = BASE_ID,
	    .backoff_ms = -1,
	    .backoff_max_ms = -1,
	    .body = STR(body)};
	t->state =
	    (struct task_state){.status = status, .exit_code = -1, .mtime_ms = 1700000000000};
	if (status == TASK_QUEUED)
		return t;
	t->state.attempt = 1;
	t->state.token = i;
	t->state.worker = BASE_ID;
	t->state.instance = 0x123456789abcdef0;
	t->state.claimed_ms = 1700000000100;
	if (status == TASK_CLAIMED)
		return t;
	t->state.exit_code = 0;
	t->state.started_ms = t->state.ended_ms = 1700000000200;
	t->state.output_where = OUTPUT_INLINE;
	t->state.output[STDOUT] = STR("done\n");
	t->state.output_bytes[STDOUT] = 5;
	return t;
}

typedef void add_fn(struct batch *b, const struct row_table *t, void *row);

/* One phase over all tasks; `from` lets the second life follow the first. */
static void phase(const char *what, struct store *s, add_fn *add, int status, int64_t from)
{
	struct batch b = {0};
	struct problem p = {0};
	struct watch w = watch_start();

	for (int64_t i = 0; i < n_tasks; i += batch_size) {
		batch_reset(&b, (uint64_t)i + 1);
		for (int64_t j = i; j < i + batch_size; j++)
			add(&b, &task_table, row_of(&b, from + j, status));
		if (store_commit(s, &b, &p))
			die(&p);
	}
	batch_release(&b);
	report(what, w);
}

/* As under load: each batch inserts some, claims earlier ones and ends those before them. */
static void mixed(const char *what, struct store *s, int64_t from)
{
	struct batch b = {0};
	struct problem p = {0};
	struct watch w = watch_start();
	int64_t lag = batch_size;

	for (int64_t i = 0; i < n_tasks + 2 * lag; i += batch_size) {
		batch_reset(&b, (uint64_t)i + 1);
		for (int64_t j = i; j < i + batch_size; j++) {
			if (j < n_tasks)
				batch_insert(&b, &task_table, row_of(&b, from + j, -2));
			if (j >= lag && j - lag < n_tasks)
				batch_state(&b, &task_table, row_of(&b, from + j - lag, -1));
			if (j >= 2 * lag)
				batch_state(&b, &task_table, row_of(&b, from + j - 2 * lag, 1));
		}
		if (store_commit(s, &b, &p))
			die(&p);
	}
	batch_release(&b);
	report(what, w);
}

static void must_exec(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL)) {
		fprintf(stderr, "bench_store: %s: %s\n", sql, sqlite3_errmsg(db));
		exit(1);
	}
}

/* The machine's own figure: 300-byte rows, one secondary index, a thousand a transaction. */
static void bare_phase(const char *what, sqlite3 *db, const char *sql)
{
	char payload[280];
	sqlite3_stmt *st;
	struct watch w = watch_start();

	memset(payload, 'x', sizeof payload);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL))
		exit(1);
	for (int64_t i = 0; i < n_tasks; i += batch_size) {
		must_exec(db, "BEGIN IMMEDIATE");
		for (int64_t j = i; j < i + batch_size; j++) {
			sqlite3_bind_int64(st, 1, (int64_t)BASE_ID + j);
			sqlite3_bind_text(st, 2, payload, sizeof payload, SQLITE_STATIC);
			sqlite3_step(st);
			sqlite3_reset(st);
		}
		must_exec(db, "COMMIT");
	}
	sqlite3_finalize(st);
	report(what, w);
}

static void bare(const char *path)
{
	sqlite3 *db;

	if (sqlite3_open(path, &db))
		exit(1);
	must_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-24000;"
	              "CREATE TABLE t (id INTEGER PRIMARY KEY, status INTEGER, body TEXT);"
	              "CREATE INDEX i ON t (status, id)");
	bare_phase("bare insert", db, "INSERT INTO t VALUES (?1, -2, ?2)");
	bare_phase("bare update", db, "UPDATE t SET status = -1, body = ?2 WHERE id = ?1");
	sqlite3_close(db);
}

static void remove_files(const char *path)
{
	static const char *const ends[] = {"", "-wal", "-shm", ".lock"};

	for (size_t i = 0; i < 4; i++) {
		AUTO(free_cstr) char *name = xasprintf("%s%s", path, ends[i]);

		unlink(name);
	}
}

static void lives(struct store *s)
{
	phase("insert queued", s, batch_insert, -2, 0);
	phase("claim", s, batch_state, -1, 0);
	phase("end", s, batch_state, 1, 0);
	phase("insert claimed", s, batch_insert, -1, n_tasks);
	phase("end", s, batch_state, 1, n_tasks);
	mixed("whole lives", s, 2 * n_tasks);
}

int main(int argc, char **argv)
{
	struct store_options o = {.create = true, .migrate = true};
	struct problem p = {0};
	struct rusage usage;
	struct store *s;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_store DIRECTORY [TASKS [BATCH]]\n");
		return 2;
	}
	if (argc > 2)
		n_tasks = atoll(argv[2]);
	if (argc > 3)
		batch_size = atoll(argv[3]);
	AUTO(free_cstr) char *url = xasprintf("sqlite:%s/bench_store.db", argv[1]);
	AUTO(free_cstr) char *bare_path = xasprintf("%s/bench_bare.db", argv[1]);

	remove_files(url + strlen("sqlite:"));
	if (store_open(url, &o, &s, &p))
		die(&p);
	lives(s);
	getrusage(RUSAGE_SELF, &usage);
	printf("peak memory %ld MB\n", usage.ru_maxrss / 1024);
	store_close(s);
	remove_files(url + strlen("sqlite:"));
	/* after the store, which configures SQLite before anybody has used it */
	remove_files(bare_path);
	bare(bare_path);
	remove_files(bare_path);
	return 0;
}
