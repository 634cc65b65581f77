/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The read side of stores that speak SQL: what is asked, in which steps, and what becomes of the
 * answers. A backend runs queries (struct sql_ops), and fills its struct store_ops with these
 * functions.
 */
#ifndef STORE_SQL_READ_H
#define STORE_SQL_READ_H

#include "store/backend.h"
#include "store/sql/text.h"

#define SQL_PARAMS_MAX \
	(14 + 2 * FILTER_STATES_MAX + FILTER_LABELS_MAX + TOKEN_LABELS_MAX + TOKEN_QUEUES_MAX)

/* A query: its text, and the values of its parameters in their order. They are never spliced. */
struct sql_query {
	struct sql_text text;
	struct {
		int64_t n;
		struct str s; /* if s.p */
	} params[SQL_PARAMS_MAX];
	int n_params;
};

void sql_query_release(struct sql_query *q);
/* A text with one parameter behind those before. */
void sql_term(struct sql_query *q, const char *text, int64_t n);
void sql_term_str(struct sql_query *q, const char *text, struct str s);

/* A row as it was found; its strings are in the arena that was given. */
struct sql_found {
	void *row; /* until the next */
	unsigned damage;
	struct str name; /* of a damaged one: as it is stored, if that can be a name; else NULL */
};
/* Both may ask further queries; what is not 0 ends it, and is returned. */
typedef int sql_row_fn(void *arg, const struct sql_found *found);
typedef int sql_numbers_fn(void *arg, const int64_t *numbers);

struct sql_reader;

struct sql_ops {
	const struct sql_dialect *dialect;
	/* The columns of `t` without `skip_flags`, as sql_add_select asks for them. */
	int (*rows)(struct sql_reader *r, const struct sql_query *q, const struct row_table *t,
	    unsigned skip_flags, struct arena *a, sql_row_fn *fn, void *arg);
	/* Rows of `n` numbers. */
	int (*numbers)(
	    struct sql_reader *r, const struct sql_query *q, int n, sql_numbers_fn *fn, void *arg);
	/* Between these all queries see the same commits. */
	int (*snapshot_begin)(struct sql_reader *r);
	void (*snapshot_end)(struct sql_reader *r);
	/* ERR_STORE, with the database's own words after ours. */
	int (*problem)(struct sql_reader *r, const char *doing, struct problem *ret_problem);
};

/* The first member of a backend's reader. */
struct sql_reader {
	struct store_reader base;
	const struct sql_ops *sql;
	rid prune_seen; /* a bounded search for prunable tasks goes on behind this id */
};

void sql_query_begin(struct sql_query *q, const struct sql_reader *r);
/* One that begins with "SELECT … FROM name ". */
void sql_select(struct sql_query *q, const struct sql_reader *r, const struct row_table *t,
    unsigned skip_flags);

/* Rows that are gathered in an arena; damaged ones made harmless by their table's quarantine. */
struct sql_rows {
	const struct row_table *t;
	struct arena *a;
	void *rows;
	size_t n, cap;
	size_t
	    expected; /* so many at most, if that is known: then nothing is moved while it grows */
};
int sql_gather(
    struct sql_reader *r, const struct sql_query *q, unsigned skip_flags, struct sql_rows *to);
/* The number that a query gives, if it gives one; ret_found may be NULL. */
int sql_number(struct sql_reader *r, const struct sql_query *q, bool *ret_found, int64_t *ret_n);

/* read.c */
int sql_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row);
int sql_tasks_get(struct store_reader *base, const rid *ids, size_t n, struct arena *a,
    struct task_row *ret_rows);
int sql_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id);
int sql_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row);

/* parts.c */
int sql_parts(struct store_reader *base, const struct part_query *q, struct arena *a,
    struct part_page *ret_page);

/* queue.c */
int sql_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int sql_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);

/* list.c */
int sql_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
int sql_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n);
/* Of these tasks, ids rising or falling, those that have the filter's words and match it;
 * `ret_page` has as `next` the last one looked at, if not all were. */
int sql_task_among(struct store_reader *base, const struct task_filter *f, struct str ids,
    bool oldest_first, bool bare, uint32_t limit, struct arena *a, struct task_page *ret_page);
/* What the filter's own index, or range of ids, leaves is at most so many tasks. */
int sql_task_is_few(
    struct store_reader *base, const struct task_filter *f, int64_t most, bool *ret_few);
/* Ids in [low, high]: no other can match. A batch, and a group, has its id before its tasks have
 * theirs. */
struct sql_range {
	int64_t low, high;
};
struct sql_range sql_task_range(const struct task_filter *f);
/* Behind "SELECT … FROM task ": the tasks that match. */
void sql_add_matching(struct sql_query *q, const struct task_filter *f);
int sql_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n);

/* batches.c */
int sql_batch_get(
    struct store_reader *base, rid id, struct arena *a, struct task_batch_row *ret_row);
int sql_batch_list(struct store_reader *base, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page);
int sql_task_pace(struct store_reader *base, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n);

/* search.c: the rows of a query that have the filter's words, all columns of which it selects. Up
 * to *ret_last they were looked at, if not all of them; else it is 0. */
int sql_search(struct sql_reader *r, const struct sql_query *q, const struct task_filter *f,
    bool bare, uint32_t limit, struct arena *a, struct task_page *page, rid *ret_last);

/* output.c */
int sql_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end);

/* events.c: the ends of their chain are meta rows that nobody else is told of */
#define META_AUDIT_HEAD "audit.head"
#define META_AUDIT_ANCHOR "audit.anchor"
/* 1: it does not fit its checksum. */
int sql_chain_end(struct sql_reader *r, const char *name, struct chain_end *ret_end);
int sql_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
int sql_events_before(struct store_reader *base, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
int sql_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page);

/* load.c: what a start is told; the last numbers are the backend's to know. */
int sql_load(struct sql_reader *r, const struct row_loader *to, rid last_id, uint64_t last_event,
    struct problem *ret_problem);

/* quarantine.c: what a start makes of rows that do not fit their checksums */
int sql_refuse_damaged(const char *kind, struct str name, struct problem *ret_problem);
int sql_quarantine(struct sql_reader *r, const struct row_table *t, const struct sql_found *found,
    const struct id_space *ids, struct arena *a, struct problem *ret_problem);

#endif
