/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the SQLite backend share. Nobody outside store/sqlite includes this. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/idmap.h"
#include "store/backend.h"
#include "store/columns.h"

#define SQLITE_WRITER_CACHE "24000" /* KiB */

#define SQLITE_APPLICATION_ID 0x52656576 /* "Reev" */

/* Longer bodies lie in a table of their own, so that a change of state does not rewrite them. */
#define BODY_NEAR_MAX 2048

#define ENDED_SQL "(status > 0 OR status IN (-3, -5, -6))"
/* These must be the very texts of the partial indexes, or SQLite does not use them. */
#define READY_SQL "status = -2 AND due_ms <= 0"
#define DUE_SQL "status = -2 AND due_ms > 0"
#define LIVE_SQL "(status < -6 OR status = -4 OR status = -1 OR status = 0)"
#define SCHEDULE_SQL "schedule > 0"
#define SCHEDULE_LIVE_SQL "schedule > 0 AND status <= 0 AND status NOT IN (-3, -5, -6)"
#define KEY_SQL "unique_key IS NOT NULL AND status <= 0 AND status NOT IN (-3, -5, -6)"

/* The write side's statements, prepared when first used. */
enum write_stmt {
	W_BEGIN,
	W_COMMIT,
	W_ROLLBACK,
	W_TASK_INSERT,
	W_TASK_UPDATE,
	W_TASK_PRUNE,
	W_BODY_INSERT,
	W_BODY_PRUNE,
	W_OUTPUT_PUT,
	W_OUTPUT_PRUNE,
	W_QUEUE_PUT,
	W_QUEUE_COUNTS,
	W_QUEUE_DELETE,
	W_QUEUE_DELETE_BODIES,
	W_QUEUE_DELETE_OUTPUT,
	W_QUEUE_DELETE_TASKS,
	W_RERANK_READY,
	W_RERANK_DUE,
	W_WORKER_PUT,
	W_WORKER_DELETE,
	W_EVENT_PUT,
	W_IDEM_PUT,
	W_META_PUT,
	W_SCHEDULE_PUT,
	W_SCHEDULE_PROGRESS,
	W_SCHEDULE_DELETE,
	W_SCHEDULE_DELETE_TICKS,
	W_TICK_PUT,
	W_STAT_PUT,
	W_IDEM_EXPIRE,
	W_EVENT_OLDEST,
	W_EVENT_EXPIRE,
	W_TICK_EXPIRE,
	W_TOKEN_PUT,
	W_TOKEN_DELETE,
	N_WRITE_STMTS
};

/* What a parameter of a statement has been given. */
struct bound {
	int64_t value;
	enum { BOUND_NULL, BOUND_NUMBER, BOUND_BYTES } kind;
};

struct sort_entry {
	rid id;
	size_t at;
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
	sqlite3_stmt *stmts[N_WRITE_STMTS];
	struct bound bound[N_WRITE_STMTS]
	                  [COLUMNS_MAX + 1]; /* of statements that rows are bound to */
	pthread_mutex_t mutex;               /* of the write side */
	bool broken; /* a commit's outcome is unknown: only a reopen can tell */
	/*
	 * Counted in memory with every batch; written to its row only now and then, for that is
	 * one page less in every commit. What was inserted since is found by its higher ids.
	 */
	struct sqlite_stat stat, stat_committed, stat_saved;
	struct chain_end head, head_committed; /* of the chain of events */
	bool stat_due; /* something was deleted or came out of order: it must be written now */
	struct sort_entry *order;
	size_t order_cap;
	int log_pages;        /* in the write-ahead log after the last commit */
	size_t output_cached; /* bytes of output whose pages may still be in the cache */
	struct checkpointer checkpointer;
};

#define READ_CACHE 32

struct sqlite_reader {
	struct store_reader base;
	sqlite3 *db;
	struct {
		char *sql;
		sqlite3_stmt *stmt;
		unsigned used;
	} cache[READ_CACHE];
	unsigned clock;
	rid prune_seen; /* a bounded search for prunable tasks goes on behind this id */
};

/* open.c */
enum sqlite_role { ROLE_WRITER, ROLE_READER, ROLE_CHECKPOINTER, ROLE_MIGRATION };
int sqlite_connect(const char *path, bool create, bool nosync, enum sqlite_role role,
    sqlite3 **ret_db, struct problem *ret_problem);
int sqlite_lock(const char *path, int *ret_fd, struct problem *ret_problem);
/* ERR_STORE with SQLite's own words after ours. */
int sqlite_problem(sqlite3 *db, const char *doing, struct problem *ret_problem);
int sqlite_exec(sqlite3 *db, const char *sql, struct problem *ret_problem);
int sqlite_exec_i64(sqlite3 *db, const char *sql, int64_t *ret_value, struct problem *ret_problem);

/* migrate.c */
/* Checks that it is ours and brings it up if that is allowed. */
int sqlite_prepare_schema(
    sqlite3 *db, const char *path, const struct store_options *o, struct problem *ret_problem);
int sqlite_not_ours(const char *path, struct problem *ret_problem);
int sqlite_migrate(const char *path, int version, struct problem *ret_problem);
int sqlite_schema_version(const char *path, int *ret_version, struct problem *ret_problem);

/* check.c */
int sqlite_check(const char *path, const struct store_checker *to, int64_t *ret_rows,
    struct problem *ret_problem);
int sqlite_check_start(const char *path, int64_t limit_ms, struct problem *ret_problem);

/* agree.c: what rows say of each other. Tables come in the order of check.c: queues, schedules and
 * the store's numbers before tasks, tasks before their output. */
struct agree {
	sqlite3 *db;
	void (*tell)(void *arg, const char *table, rid id, const char *what); /* id 0: the table */
	void *arg;
	struct idmap queues, schedules; /* which there are */
	struct idmap told;              /* what is gone is named once */
	bool queues_read, schedules_read;
	struct sqlite_stat stat; /* all 0: not known */
	int64_t n_tasks;         /* of those that its numbers count */
	sqlite3_stmt *find_task;
};
void agree_release(struct agree *g);
void agree_row(struct agree *g, const struct row_table *t, unsigned damage, const void *row);
void agree_table_end(struct agree *g, const struct row_table *t); /* it could be read, whole */

/* shape.c: what is wrong with the schema is added to `ret_what` */
void sqlite_check_shape(sqlite3 *db, struct buf *ret_what);

/* name.c: what people call a row */
void sqlite_load_ids(sqlite3 *db, struct id_space *ret_ids);
/* As it is stored, if it can be a name; else NULL. */
struct str sqlite_stored_text(sqlite3_stmt *st, const struct row_table *t, const char *column);
void sqlite_escape(struct buf *out, const char *words);
/* The column that holds the name by which people know such a row. */
const char *sqlite_name_column(const struct row_table *t);
void sqlite_row_name(sqlite3_stmt *st, const struct row_table *t, const struct id_space *ids,
    const void *row, struct buf *out);
/* SQLite's words, without its numbers of rows. `t` NULL: they are about no table of ours. */
void sqlite_clean_words(
    const struct row_table *t, const struct id_space *ids, const char *words, struct buf *out);

/* quarantine.c: what a start makes of rows that do not fit their checksums */
int quarantine_refuse(const char *kind, struct str name, struct problem *ret_problem);
struct quarantine {
	sqlite3_stmt *st; /* stands on the row as it is stored */
	unsigned damage;  /* groups that do not fit */
	const struct id_space *ids;
	struct arena *arena;
};
void quarantine_queue(const struct quarantine *why, struct queue_row *q);
void quarantine_token(const struct quarantine *why, struct token_row *t);
void quarantine_schedule(const struct quarantine *why, struct schedule_row *s);
void quarantine_worker(const struct quarantine *why, struct worker_row *w);

/* row.c */
void sqlite_bind_str(sqlite3_stmt *st, int at, struct str s, bool blob);
/* Binds the columns that have one of `flags` (0: all) from parameter 1 on; returns the next.
 * `was`: what is bound to this statement, by nobody else. */
int sqlite_bind_row(sqlite3_stmt *st, struct bound *was, const struct row_table *t, const void *row,
    unsigned flags);
/* Reads the columns without `skip_flags` from result column 0 on. Returns the groups that do not
 * fit their checksum: their texts come out NULL. */
unsigned sqlite_read_row(sqlite3_stmt *st, const struct row_table *t, unsigned skip_flags,
    struct arena *a, void *ret_row);
/* A body that lay elsewhere has been read since: the same for its group alone. */
unsigned sqlite_check_group(sqlite3_stmt *st, const struct row_table *t, unsigned group, void *row);
void sqlite_column_list(struct buf *sql, const struct row_table *t, unsigned skip_flags);
void sqlite_put_sql(struct buf *sql, const char *verb, const struct row_table *t);
/* Sets the columns with COLUMN_STATE of the row whose id comes last. */
void sqlite_update_sql(struct buf *sql, const struct row_table *t);

/* write.c */
int sqlite_stmt(struct sqlite_store *s, enum write_stmt which, sqlite3_stmt **ret_stmt);
int sqlite_run_row(
    struct sqlite_store *s, enum write_stmt which, const struct row_table *t, const void *row);
/* Its COLUMN_STATE columns and then its id. */
int sqlite_run_update(struct sqlite_store *s, enum write_stmt which, const struct row_table *t,
    const void *row, rid id);
int sqlite_run(struct sqlite_store *s, enum write_stmt which, const int64_t *args, int n);
int sqlite_commit(struct store *base, const struct batch *b, struct problem *ret_problem);
int sqlite_apply(struct sqlite_store *s, const struct batch *b);
int sqlite_end_transaction(struct sqlite_store *s, int rc, struct problem *ret_problem);
int sqlite_save_stat(struct sqlite_store *s);
void sqlite_rest(struct store *base);
int sqlite_expire(struct store *base, int64_t idem_before_ms, int64_t events_before_ms,
    struct problem *ret_problem);

/* checkpoint.c */
int checkpointer_start(struct sqlite_store *s, struct problem *ret_problem);
void checkpointer_stop(struct sqlite_store *s);
/* After a commit: wakes the thread, or does the work itself when the log got too long. */
void checkpoint_if_due(struct sqlite_store *s);
void log_lengthen(struct sqlite_store *s);

/* schedule.c */
int sqlite_schedule_delete(struct sqlite_store *s, rid id);
int sqlite_load_schedule_tasks(
    struct sqlite_store *s, const struct store_loader *to, struct problem *ret_problem);
int sqlite_ticks(struct store_reader *base, const struct tick_query *q, struct arena *a,
    struct tick_row **ret_rows, size_t *ret_n);

/* load.c */
int sqlite_load_stat(struct sqlite_store *s, struct problem *ret_problem);
int sqlite_load(struct store *base, const struct store_loader *l, struct problem *ret_problem);

/* The read side: read.c, list.c, output.c */
struct store_reader *sqlite_reader_open(struct store *base, struct problem *ret_problem);
void sqlite_reader_close(struct store_reader *base);
int sqlite_query(struct sqlite_reader *r, const char *sql, sqlite3_stmt **ret_stmt);
int sqlite_done(sqlite3_stmt *st, int rc);
/* Between these a reader's statements all see the same commits. */
int sqlite_snapshot_begin(struct sqlite_reader *r);
void sqlite_snapshot_end(struct sqlite_reader *r);
/* Task rows until the statement ends or `limit` are read; far bodies too unless bare. */
int sqlite_read_tasks(struct sqlite_reader *r, sqlite3_stmt *st, bool bare, uint32_t limit,
    struct arena *a, struct task_row **ret_rows, size_t *ret_n);
const char *sqlite_task_select(bool bare);
int sqlite_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row);
int sqlite_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int sqlite_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int sqlite_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id);
int sqlite_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row);
int sqlite_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n);
int sqlite_count_ended(struct store_reader *base, int64_t *ret_n);
int sqlite_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
int sqlite_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n);
int sqlite_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end);
int sqlite_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
int sqlite_events_before(struct store_reader *base, uint64_t before, uint32_t limit,
    struct arena *a, struct event_page *ret_page);

/* audit.c: the ends of the chain of events are meta rows that nobody else is told of */
#define META_AUDIT_HEAD "audit.head"
#define META_AUDIT_ANCHOR "audit.anchor"
int sqlite_load_chain(struct sqlite_store *s, struct problem *ret_problem);
int sqlite_put_event(struct sqlite_store *s, const struct event_row *e);
int sqlite_save_head(struct sqlite_store *s); /* if it has moved */
/* The oldest, within a transaction: a thousand or so. */
int sqlite_expire_events(struct sqlite_store *s, int64_t before_ms, int *ret_changes);
int sqlite_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page);

#endif
