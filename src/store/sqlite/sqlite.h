/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the SQLite backend share. Nobody outside store/sqlite includes this. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/data/idmap.h"
#include "store/backend.h"
#include "store/sql/fold.h"
#include "store/sql/read.h"
#include "store/sqlite/words.h"
#include "store/usage_text.h"

#define SQLITE_WRITER_CACHE "24000" /* KiB */

#define SQLITE_APPLICATION_ID 0x52656576 /* "Reev" */

/* Longer bodies lie in a table of their own, so that a change of state does not rewrite them. */
#define BODY_NEAR_MAX 2048

/* The write side's statements that are no table's, prepared when first used. */
enum write_stmt {
	W_BEGIN,
	W_COMMIT,
	W_ROLLBACK,
	W_STAT_PUT,
	W_EVENT_OLDEST,
	W_SHARED, /* the first of enum sql_shared */
	N_WRITE_STMTS = W_SHARED + N_SQL_SHARED
};

/* What a parameter of a statement has been given. */
struct bound {
	int64_t value;
	enum { BOUND_NULL, BOUND_NUMBER, BOUND_BYTES } kind;
};

/* New tasks that one statement inserts: see fresh.c. Their strings are the batch's. */
#define FRESH_MAX 8
struct fresh {
	sqlite3_stmt *stmt;
	struct bound bound[FRESH_MAX * COLUMNS_MAX + 1]; /* to it */
	struct task_row rows[FRESH_MAX];
	int n; /* that wait for more */
};

/* What cannot be read off the tables. */
struct sqlite_stat {
	rid last_id;
	uint64_t last_event;
	int64_t n_tasks;
};

/* Moves what the log holds into the database beside the writer: see checkpoint.c. */
struct checkpointer {
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	sqlite3 *db;
	bool started, wanted, stop;
	int tried_at; /* length of the log at the last attempt; the writer's */
};

struct sqlite_store {
	struct store base;
	char *path;
	int lock_fd;
	bool nosync;
	sqlite3 *db;
	sqlite3_stmt *stmts[N_WRITE_STMTS], *row_stmts[N_TABLES][N_SQL_VERBS];
	struct bound bound[N_TABLES][SQL_STATE + 1][COLUMNS_MAX + 1]; /* to row_stmts */
	struct fresh fresh;
	pthread_mutex_t mutex; /* of the write side */
	bool broken;           /* a commit's outcome is unknown: only a reopen can tell */
	/*
	 * Counted in memory with every batch; written to its row only now and then, for that is
	 * one page less in every commit. What was inserted since is found by its higher ids.
	 */
	struct sqlite_stat stat, stat_committed, stat_saved;
	struct chain_end head, head_committed; /* of the chain of events */
	bool stat_due; /* something was deleted or came out of order: it must be written now */
	struct fold fold;
	struct lossy { /* batches of tasks that lost some in this transaction */
		rid id;
		int64_t n;
	} * lossy;
	size_t n_lossy, lossy_cap;
	int log_pages;        /* in the write-ahead log after the last commit */
	size_t output_cached; /* bytes of output whose pages may still be in the cache */
	struct checkpointer checkpointer;
	struct follower follower;
};

#define READ_CACHE 32

struct sqlite_reader {
	struct sql_reader sql;
	sqlite3 *db;
	struct {
		char *sql;
		sqlite3_stmt *stmt;
		unsigned used;
	} cache[READ_CACHE];
	unsigned clock;
	struct follower *follower; /* NULL: there is no index of words */
	sqlite3 *words;            /* the index; NULL: not there now */
	unsigned long words_generation;
	bool goes_on; /* a long body that cannot be read is damage, and not the end */
};

/* open.c */
enum sqlite_role { ROLE_WRITER, ROLE_READER, ROLE_CHECKPOINTER, ROLE_MIGRATION };
int sqlite_connect(const char *path, bool create, bool nosync, enum sqlite_role role,
    sqlite3 **ret_db, struct problem *ret_problem);
int sqlite_lock(const char *path, int *ret_fd, struct problem *ret_problem);
/* The lock remembers that there was a store. */
int sqlite_mark_lock(int fd, struct problem *ret_problem);
int64_t sqlite_size_of(const char *path, const char *suffix); /* -1: there is none */
/* ERR_STORE with SQLite's own words after ours. */
int sqlite_problem(sqlite3 *db, const char *doing, struct problem *ret_problem);
int sqlite_exec(sqlite3 *db, const char *sql, struct problem *ret_problem);
int sqlite_exec_i64(sqlite3 *db, const char *sql, int64_t *ret_value, struct problem *ret_problem);

/* migrate.c */
/* Checks that it is ours and brings it up if that is allowed. */
int sqlite_prepare_schema(
    sqlite3 *db, const char *path, const struct store_options *o, struct problem *ret_problem);
int sqlite_not_ours(const char *path, struct problem *ret_problem);
int sqlite_migrate(const char *path, struct store_migration *m, struct problem *ret_problem);
int sqlite_schema_version(const char *path, int *ret_version, struct problem *ret_problem);

/* check.c */
int sqlite_check(const char *path, const struct store_checker *to, int64_t *ret_rows,
    struct problem *ret_problem);
/* A copy that nobody else has; of an older schema, too, but then without its rows. *ret_copy gets
 * version and rows. */
int sqlite_check_copy(const char *path, const struct store_checker *to, struct store_copy *ret_copy,
    struct problem *ret_problem);
int sqlite_check_start(const char *path, int64_t limit_ms, struct problem *ret_problem);

/* backup.c, restore.c */
int sqlite_backup(const char *path, const char *file, const struct store_copying *how,
    struct store_copy *ret_copy, struct problem *ret_problem);
int sqlite_restore(const char *path, const struct store_source *source,
    const struct store_copying *how, struct store_copy *ret_copy, struct problem *ret_problem);

/* shape.c: what is wrong with the schema is added to `ret_what` */
void sqlite_check_shape(sqlite3 *db, struct buf *ret_what);

/* name.c: what people call a row */
void sqlite_load_ids(sqlite3 *db, struct id_space *ret_ids);
/* As it is stored, if it has one and that can be a name; else NULL. */
struct str sqlite_stored_name(sqlite3_stmt *st, const struct row_table *t);
void sqlite_escape(struct buf *out, const char *words);
void sqlite_row_name(const struct row_table *t, const struct id_space *ids,
    const struct sql_found *found, struct buf *out);
/* SQLite's words, without its numbers of rows. `t` NULL: they are about no table of ours. */
void sqlite_clean_words(
    const struct row_table *t, const struct id_space *ids, const char *words, struct buf *out);

/* row.c */
void sqlite_bind_str(sqlite3_stmt *st, int at, struct str s, bool blob);
/* Binds the columns that have one of `flags` (0: all) from parameter `at` on, of which the first is
 * 1; returns the next. `was`: what is bound to this statement, by nobody else. */
int sqlite_bind_row(sqlite3_stmt *st, struct bound *was, int at, const struct row_table *t,
    const void *row, unsigned flags);
/* Reads the columns without `skip_flags` from result column 0 on. Returns the groups that do not
 * fit their checksum: their texts come out NULL. */
unsigned sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row);
/* A body that lay elsewhere has been read since: the same for its set alone. */
unsigned sqlite_check_set(sqlite3_stmt *st, const struct row_table *t, unsigned set, void *row);

/* write.c */
extern const struct sql_dialect sqlite_dialect;
int sqlite_stmt(struct sqlite_store *s, enum write_stmt which, sqlite3_stmt **ret_stmt);
int sqlite_run(struct sqlite_store *s, enum write_stmt which, const int64_t *args, int n);
/* Every table, column and index that is written by name: a damaged schema shows here. */
int sqlite_prepare_all(struct sqlite_store *s);
/* SQL_INSERT, SQL_PUT, SQL_STATE; and those that have a number. */
int sqlite_write_row(
    struct sqlite_store *s, const struct row_table *t, enum sql_verb verb, const void *row);
int sqlite_write_by(
    struct sqlite_store *s, const struct row_table *t, enum sql_verb verb, int64_t arg);
int sqlite_drop(struct sqlite_store *s, const struct row_table *t, const void *row);
int sqlite_trim(struct sqlite_store *s, const struct row_op *op);
int sqlite_step_once(sqlite3_stmt *st);

/* fresh.c: a new task, with others or when fresh_write() is called, before all else is written */
int fresh_prepare(struct sqlite_store *s);
int fresh_add(struct sqlite_store *s, const struct task_row *row);
int fresh_write(struct sqlite_store *s);

/* write.c */
int sqlite_commit(struct store *base, const struct batch *b, struct problem *ret_problem);
int sqlite_apply(struct sqlite_store *s, const struct batch *b);
void sqlite_rest(struct store *base);
int sqlite_expire(struct store *base, int64_t idem_before_ms, int64_t events_before_ms,
    struct problem *ret_problem);

/* batches.c */
int sqlite_prune_row(struct sqlite_store *s, rid task, bool *ret_gone);
int sqlite_note_batches(struct sqlite_store *s, rid queue); /* the queue is about to be deleted */
int sqlite_drop_empty_batches(struct sqlite_store *s);      /* when all rows are written */

/* stat.c */
extern const struct row_table stat_table;
int sqlite_load_stat(struct sqlite_store *s, struct problem *ret_problem);
int sqlite_save_stat(struct sqlite_store *s);

/* checkpoint.c */
int checkpointer_start(struct sqlite_store *s, struct problem *ret_problem);
void checkpointer_stop(struct sqlite_store *s);
/* After a commit: wakes the thread, or does the work itself when the log got too long. */
void checkpoint_if_due(struct sqlite_store *s);
void log_lengthen(struct sqlite_store *s);

/* read.c */
extern const struct sql_ops sqlite_sql_ops;
/* A reader of another's connection; what it remembers is forgotten before that is closed. */
void sqlite_reader_init(struct sqlite_reader *r, sqlite3 *db);
void sqlite_reader_forget(struct sqlite_reader *r);
struct store_reader *sqlite_reader_open(struct store *base, struct problem *ret_problem);
void sqlite_reader_close(struct store_reader *base);
int sqlite_task_head(
    struct store_reader *base, rid id, size_t max, struct arena *a, struct str *ret_head);
int sqlite_count_ended(struct store_reader *base, int64_t *ret_n);
int sqlite_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n);
int sqlite_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end);
int sqlite_load(struct store *base, const struct row_loader *to, struct problem *ret_problem);

/* search.c */
int sqlite_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
void sqlite_search_forget(struct sqlite_reader *r);

/* audit.c: the ends of the chain of events */
int sqlite_load_chain(struct sqlite_store *s, struct problem *ret_problem);
int sqlite_put_event(struct sqlite_store *s, const struct event_row *e);
int sqlite_save_head(struct sqlite_store *s); /* if it has moved */
/* The oldest, within a transaction: a thousand or so. */
int sqlite_expire_events(struct sqlite_store *s, int64_t before_ms, int *ret_changes);

#endif
