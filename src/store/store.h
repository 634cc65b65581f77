/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: one interface, several backends. The write side commits batches from one writer
 * thread; the read side answers queries from other threads, each with a reader of its own; load
 * brings back at start what the brain must know. Blocking calls: never made on the loop thread.
 *
 *   memory:             nothing survives; tests
 *   sqlite:PATH         WAL, synchronous=FULL
 *   (postgres://… fits the same functions)
 *
 * Guarantees, proven by test/contract for every backend:
 * - store_commit returns 0 only when the whole batch is durable. ERR_BUSY: none of it was written
 *   (the disk is full, say) and the same batch may be tried again. ERR_STORE: the outcome may be
 *   unknown, and the store must be reopened.
 * - A read begun after a commit returned sees that commit.
 * - Rows are applied as if in the order given; several operations on one row in a batch are fine.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/err.h"
#include "model/rows/batch.h"
#include "model/rows/loader.h"
#include "model/rows/query.h"

struct store;
struct store_reader;

#define STORE_SCHEMA_VERSION 26

struct store_options {
	bool create;  /* make it if it is not there */
	bool migrate; /* bring an older schema up to date; otherwise an older one is an error */
	bool unsafe_nosync; /* benchmarks of the machine's limit only */
	bool search;        /* keep an index of words, where the backend has one to keep */
	int64_t check_ms;   /* for so long its structure is checked first; 0: not at all */
};

/* url: "memory:", "sqlite:PATH". A schema newer than ours is refused (ERR_SCHEMA, with a hint). */
int store_open(const char *url, const struct store_options *o, struct store **ret_store,
    struct problem *ret_problem);
void store_close(struct store *s);
const char *store_backend(const struct store *s); /* "memory", "sqlite" */

/*
 * Brings the schema to `version` (up or down), one transaction a step. Offline only. What an older
 * one cannot hold is set aside where an older program does not look, and is back on the way up;
 * what cannot be is lost, if that is allowed: else nothing is changed (ERR_CONFLICT).
 */
struct store_migration {
	int version;
	bool lose;
	/* what there was, in words ("2 tokens and 340 ticks"); the caller releases both */
	struct buf set_aside, lost;
};
int store_migrate(const char *url, struct store_migration *m, struct problem *ret_problem);
int store_schema_version(const char *url, int *ret_version, struct problem *ret_problem);

/*
 * Everything there is, while nobody has it open. `name`: the row's id or name as people know it;
 * NULL: it is about the table, not about one row.
 */
struct store_checker {
	void *arg;
	void (*damaged)(void *arg, const char *table, const char *name, const char *what);
	void (*progress)(void *arg, int64_t rows); /* now and then; may be NULL */
};
/* 0: nothing is damaged; ERR_STORE without a problem: the checker was told what is. */
int store_check(
    const char *url, const struct store_checker *c, int64_t *ret_rows, struct problem *ret_problem);

/*
 * A backup is one file with all that the store holds as of one moment: a database of SQLite's in
 * our schema, whatever the store is. Both ways it is checked before it gets its final name.
 */
struct store_copying {
	void *arg;
	/* now and then; `of` 0: nobody knows; false: stop, and leave nothing behind */
	bool (*copied)(void *arg, int64_t bytes, int64_t of);
	struct store_checker check; /* of the copy */
	bool replace;               /* what is there already */
	bool damaged;               /* take the copy all the same if something in it is */
};
struct store_copy {
	int version;         /* of its schema */
	int64_t bytes, rows; /* rows 0: the schema is older than ours, so only its structure was
	                        looked at */
};
/*
 * While others go on writing: of one snapshot, never begun anew. ERR_STORE without a problem: the
 * checker was told what is damaged, and there is no file. 0 though it was told: how->damaged.
 */
int store_backup(const char *url, const char *file, const struct store_copying *how,
    struct store_copy *ret_copy, struct problem *ret_problem);
/* What `from` holds, read to its end (`bytes`, 0: nobody knows), takes the place of the store,
 * whole or not at all. While nobody has it open. */
struct store_source {
	int from;
	int64_t bytes;
};
int store_restore(const char *url, const struct store_source *source,
    const struct store_copying *how, struct store_copy *ret_copy, struct problem *ret_problem);

int store_commit(struct store *s, const struct batch *b, struct problem *ret_problem);

/* What the brain must know at start. */
int store_load(struct store *s, const struct row_loader *l, struct problem *ret_problem);

/* The read side. A reader belongs to one thread at a time. */
struct store_reader *store_reader_open(struct store *s, struct problem *ret_problem);
void store_reader_close(struct store_reader *r);

/* Found rows live in the arena. ERR_NOT_FOUND when there is no such row. */
int store_task_get(struct store_reader *r, rid id, struct arena *a, struct task_row *ret_row);
/* Several, as they were at one moment; the row of one that is not there is all zero. */
int store_tasks_get(
    struct store_reader *r, const rid *ids, size_t n, struct arena *a, struct task_row *ret_rows);

/* The first bytes of its body, at most `max`; NULL when it has none, or is not there. */
int store_task_head(
    struct store_reader *r, rid id, size_t max, struct arena *a, struct str *ret_head);

struct task_page {
	struct task_row *rows;
	size_t n;
	rid next; /* pass as cursor for the next page; 0: there is none */
};
/*
 * Newest first (or oldest first), after `cursor` (0: from the start). A page may come back
 * short, even empty, with `next` set: a filter that matches little is scanned in bounded steps.
 * With bare = true, bodies, output and history are left out.
 */
int store_task_list(struct store_reader *r, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
/* Counts by status of everything that matches; *ret_counts in the arena, ascending status. */
int store_task_count(struct store_reader *r, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n);

/*
 * Batches of tasks. One from before batches had rows (is_old) is made up of its tasks, as long as
 * there are any; and only the row of one that has lost a task and has none left is gone, with the
 * commit that took the last.
 */
int store_batch_get(
    struct store_reader *r, rid id, struct arena *a, struct task_batch_row *ret_row);
struct batch_query {
	struct str name; /* only those whose name begins so; NULL: all */
	bool whole;      /* the name is just that */
	rid before;      /* older than this one; 0: from the newest */
	uint32_t limit;
};
struct batch_page {
	struct task_batch_row *rows;
	size_t n;
};
/* Newest first. Those that are old are not among them. */
int store_batch_list(struct store_reader *r, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page);
/* How the tasks that match stand, ascending status: how many, when the last one got there, and how
 * many did so since `since_ms`. Made for filters with a batch. */
struct pace_count {
	int32_t status;
	int64_t n, last_ms, n_since;
};
int store_task_pace(struct store_reader *r, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n);

int store_queue_head(struct store_reader *r, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int store_queue_due(struct store_reader *r, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
/* The live (not ended) task of `queue` with this unique key, or 0. */
int store_find_key(struct store_reader *r, rid queue, struct str key, rid *ret_id);
int store_find_idem(
    struct store_reader *r, struct str key, struct arena *a, struct idem_row *ret_row);
/* Ended tasks from `after` on, oldest first, whose end was heard of before `before_ms` (0: any),
 * by the server's own clock: for pruning.
 */
int store_prunable(struct store_reader *r, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n);
int store_count_ended(struct store_reader *r, int64_t *ret_n);

struct output_end {
	int64_t at;      /* offset after the last byte */
	int64_t damaged; /* so many of the bytes do not fit their checksum: others stand for them */
};
/* Kept output from `offset` on: raw (decompressed) bytes appended to `out`, at most about `max`
 * plus one chunk. Works for inline and chunked output alike.
 */
int store_output(struct store_reader *r, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end);

struct part_page {
	void *rows; /* of the table that was asked */
	size_t n;
};
int store_parts(struct store_reader *r, const struct part_query *q, struct arena *a,
    struct part_page *ret_page);

struct event_page {
	struct event_row *rows;
	size_t n;
};
int store_events(struct store_reader *r, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
/* The last ones before `before`, in rising order like every other page. */
int store_events_before(struct store_reader *r, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page);

/*
 * The audit trail is a chain: each event holds a hash over what it says and the hash of the event
 * before it. seq 0: there is none.
 */
#define CHAIN_HASH_BYTES 32
#define CHAIN_END_TEXT 88
struct chain_end {
	uint64_t seq;
	unsigned char hash[CHAIN_HASH_BYTES];
};
/* "SEQ:HASH", in hex digits. */
const char *chain_end_format(const struct chain_end *end, char ret_text[CHAIN_END_TEXT]);
bool chain_end_parse(struct str text, struct chain_end *ret_end);

enum audit_fault {
	AUDIT_FITS,
	AUDIT_CHANGED,
	AUDIT_MISSING,
	AUDIT_ADDED,
	AUDIT_REWRITTEN, /* the chain fits by itself, but not the head that was kept */
	AUDIT_EXPIRED,   /* the head that was kept is older than what is left */
};
const char *audit_fault_name(enum audit_fault fault);

struct audit_check {
	struct chain_end expect; /* a head that was kept elsewhere; seq 0: none */
	/* what was found, once it is done */
	bool done;
	enum audit_fault fault;
	uint64_t fault_seq;
	char what[200];                /* the fault in words */
	struct chain_end head, anchor; /* the last one written; the last one that has expired */
	uint64_t first;                /* the first event that was checked; 0: none */
	int64_t n, n_before;           /* events that fit; events from before there was a chain */
	/* how far it came */
	struct chain_end at;
	uint64_t after;
	bool met; /* the one that is expected */
};
/* One bounded step of the check; again until it is done. Begins with all but `expect` zero. */
int store_audit_step(struct store_reader *r, struct audit_check *k);

/* Removes idempotency records, and events and ticks, older than the given times. Of events only the
 * oldest, up to the first that stays: what is left is still a chain. Write side, small steps. */
int store_expire(
    struct store *s, int64_t idem_before_ms, int64_t events_before_ms, struct problem *ret_problem);
/* Nothing is to be written for a while: gives back memory that only makes writing faster. Write
 * side. */
void store_rest(struct store *s);
/* Any thread. */
struct search_index store_search_index(const struct store *s);

#endif
