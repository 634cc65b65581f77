/* SPDX-License-Identifier: Apache-2.0 */
/* The memory backend's tables: ordered trees of rows, one mutex over all. */
#ifndef STORE_MEM_H
#define STORE_MEM_H

#include <bsd/sys/tree.h>
#include <pthread.h>

#include "base/data/idmap.h"
#include "store/backend.h"

/* A task, and its places in the orders it is asked by. */
struct mem_task {
	RB_ENTRY(mem_task) by_id, by_rank, by_due, by_key;
	struct task_row *row;
	bool is_ready, is_due, is_keyed;
};

/* A row of any other kind. */
struct mem_row {
	RB_ENTRY(mem_row) entry;
	const struct row_table *table;
	void *row;
	int n_key; /* to look for: so much of the key, before all rows that begin with it */
};

RB_HEAD(mem_ids, mem_task);
RB_HEAD(mem_ready, mem_task);
RB_HEAD(mem_due, mem_task);
RB_HEAD(mem_keys, mem_task);
RB_HEAD(mem_rows, mem_row); /* by key */

struct mem_store {
	struct store base;
	pthread_mutex_t mutex;
	struct mem_ids tasks;
	struct mem_ready ready;
	struct mem_due due;
	struct mem_keys keys;
	struct mem_rows rows[N_TABLES]; /* all but tasks */
	struct idmap in_batch;          /* batch of tasks -> how many it has */
	rid *lossy;                     /* batches that lost a task in this commit */
	size_t n_lossy, lossy_cap;
	rid last_id;
	uint64_t last_event;
	struct chain_end head, anchor; /* of the events */
};

struct mem_reader {
	struct store_reader base;
	struct mem_store *s;
};

RB_PROTOTYPE(mem_ids, mem_task, by_id, mem_compare_id)
RB_PROTOTYPE(mem_ready, mem_task, by_rank, mem_compare_rank)
RB_PROTOTYPE(mem_due, mem_task, by_due, mem_compare_due)
RB_PROTOTYPE(mem_keys, mem_task, by_key, mem_compare_key)
RB_PROTOTYPE(mem_rows, mem_row, entry, mem_compare_row)

/* tasks.c */
struct mem_task *mem_task_find(struct mem_store *s, rid id);
void mem_task_add(struct mem_store *s, struct task_row *owned);
/* Takes it out of the orders before its row changes, and puts it back after. */
void mem_task_unlink(struct mem_store *s, struct mem_task *t);
void mem_task_link(struct mem_store *s, struct mem_task *t);
void mem_task_remove(struct mem_store *s, struct mem_task *t); /* and its output */

/* rows.c */
void mem_put(struct mem_store *s, const struct row_table *t, const void *row);
void mem_put_state(struct mem_store *s, const struct row_table *t, const void *row);
void mem_remove(struct mem_store *s, struct mem_row *r);
void mem_delete(
    struct mem_store *s, const struct row_table *t, rid id); /* and what belongs to it */
void mem_drop(struct mem_store *s, const struct row_table *t, const void *row);
void mem_trim(struct mem_store *s, const struct row_table *t, rid id, int64_t below);
void mem_delete_belongings(struct mem_store *s, const struct row_table *t, rid id);
/* The first row that is not before the first `n_key` columns of `key`. */
struct mem_row *mem_from(
    struct mem_store *s, const struct row_table *t, int n_key, const void *key);
struct mem_row *mem_first(struct mem_store *s, const struct row_table *t);
struct mem_row *mem_last(struct mem_store *s, const struct row_table *t);
struct mem_row *mem_next(struct mem_row *r);
/* NULL stands behind all. */
struct mem_row *mem_before(struct mem_store *s, const struct row_table *t, struct mem_row *r);
void mem_clear(struct mem_store *s);

/* parts.c */
int mem_parts(struct store_reader *base, const struct part_query *q, struct arena *a,
    struct part_page *ret_page);

/* batches.c */
void mem_batch_count(struct mem_store *s, const struct task_row *t, int delta);
void mem_drop_empty_batches(struct mem_store *s); /* of those that lost a task */
int mem_batch_get(
    struct store_reader *base, rid id, struct arena *a, struct task_batch_row *ret_row);
int mem_batch_list(struct store_reader *base, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page);
int mem_task_pace(struct store_reader *base, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n);

/* list.c, read.c */
bool mem_task_matches(const struct task_filter *f, const struct task_row *t);
int mem_load(struct store *base, const struct row_loader *l, struct problem *ret_problem);
struct store_reader *mem_reader_open(struct store *base, struct problem *ret_problem);
void mem_reader_close(struct store_reader *base);
int mem_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row);
int mem_tasks_get(struct store_reader *base, const rid *ids, size_t n, struct arena *a,
    struct task_row *ret_rows);
int mem_task_head(
    struct store_reader *base, rid id, size_t max, struct arena *a, struct str *ret_head);
int mem_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
int mem_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n);
int mem_queue_head(struct store_reader *base, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int mem_queue_due(struct store_reader *base, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n);
int mem_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id);
int mem_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row);
int mem_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n);
int mem_count_ended(struct store_reader *base, int64_t *ret_n);
int mem_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end);
int mem_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
int mem_events_before(struct store_reader *base, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page);
int mem_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page);

#endif
