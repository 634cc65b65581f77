/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend provides. One table of functions each, registered in store.c; store.h stays the
 * only thing that callers see. A backend embeds `struct store` and `struct store_reader` as the
 * first members of its own handles.
 */
#ifndef STORE_BACKEND_H
#define STORE_BACKEND_H

#include "store/store.h"

struct audit_page {
	struct chain_end anchor, head;
	struct event_page events;
};

struct store_ops {
	const char *name;   /* "sqlite" */
	const char *scheme; /* what its urls begin with: "sqlite:" */

	/* `place` is the url without its scheme. */
	int (*open)(const char *place, const struct store_options *o, struct store **ret_store,
	    struct problem *ret_problem);
	void (*close)(struct store *s);
	int (*migrate)(const char *place, struct store_migration *m, struct problem *ret_problem);
	int (*schema_version)(const char *place, int *ret_version, struct problem *ret_problem);

	int (*check)(const char *place, const struct store_checker *c, int64_t *ret_rows,
	    struct problem *ret_problem); /* NULL: there is nothing that could be damaged */

	/* Into an empty file, which is checked by how->check; NULL, both: nothing is kept. */
	int (*backup)(const char *place, const char *file, const struct store_copying *how,
	    struct store_copy *ret_copy, struct problem *ret_problem);
	int (*restore)(const char *place, const struct store_source *source,
	    const struct store_copying *how, struct store_copy *ret_copy,
	    struct problem *ret_problem);

	int (*commit)(struct store *s, const struct batch *b, struct problem *ret_problem);
	int (*load)(struct store *s, const struct row_loader *l, struct problem *ret_problem);
	int (*expire)(struct store *s, int64_t idem_before_ms, int64_t events_before_ms,
	    struct problem *ret_problem);
	void (*rest)(struct store *s); /* NULL: it has nothing to give back */
	struct search_index (*search_index)(const struct store *s); /* NULL: it has none */

	struct store_reader *(*reader_open)(struct store *s, struct problem *ret_problem);
	void (*reader_close)(struct store_reader *r);
	int (*task_get)(struct store_reader *r, rid id, struct arena *a, struct task_row *ret_row);
	int (*tasks_get)(struct store_reader *r, const rid *ids, size_t n, struct arena *a,
	    struct task_row *ret_rows);
	int (*task_head)(
	    struct store_reader *r, rid id, size_t max, struct arena *a, struct str *ret_head);
	int (*task_list)(struct store_reader *r, const struct task_filter *f, bool oldest_first,
	    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page);
	int (*task_count)(struct store_reader *r, const struct task_filter *f, struct arena *a,
	    struct status_count **ret_counts, size_t *ret_n);
	int (*batch_get)(
	    struct store_reader *r, rid id, struct arena *a, struct task_batch_row *ret_row);
	int (*batch_list)(struct store_reader *r, const struct batch_query *q, struct arena *a,
	    struct batch_page *ret_page);
	int (*task_pace)(struct store_reader *r, const struct task_filter *f, int64_t since_ms,
	    struct arena *a, struct pace_count **ret_counts, size_t *ret_n);
	int (*queue_head)(struct store_reader *r, const struct head_query *q, struct arena *a,
	    struct task_row **ret_rows, size_t *ret_n);
	int (*queue_due)(struct store_reader *r, const struct due_query *q, struct arena *a,
	    struct task_row **ret_rows, size_t *ret_n);
	int (*find_key)(struct store_reader *r, rid queue, struct str key, rid *ret_id);
	int (*find_idem)(
	    struct store_reader *r, struct str key, struct arena *a, struct idem_row *ret_row);
	int (*prunable)(struct store_reader *r, rid after, int64_t before_ms, uint32_t limit,
	    rid *ret_ids, size_t *ret_n);
	int (*count_ended)(struct store_reader *r, int64_t *ret_n);
	int (*output)(struct store_reader *r, rid task, int64_t token, int stream, int64_t offset,
	    size_t max, struct buf *out, struct output_end *ret_end);
	int (*parts)(struct store_reader *r, const struct part_query *q, struct arena *a,
	    struct part_page *ret_page);
	int (*events)(struct store_reader *r, uint64_t after, uint32_t limit, struct arena *a,
	    struct event_page *ret_page);
	int (*events_before)(struct store_reader *r, uint64_t before, uint32_t limit,
	    struct arena *a, struct event_page *ret_page);
	/* Events like those of events(), and both ends of the chain at the same moment. */
	int (*audit)(struct store_reader *r, uint64_t after, uint32_t limit, struct arena *a,
	    struct audit_page *ret_page);
};

struct store {
	const struct store_ops *ops;
};

struct store_reader {
	const struct store_ops *ops;
};

/* NULL: no backend has that scheme. */
const struct store_ops *store_backend_of(
    const char *url, const char **ret_place, struct problem *ret_problem);
/* backup.c, for those that keep files: the folder's entry for this one is durable. */
int store_sync_entry(const char *file);

extern const struct store_ops store_memory;
extern const struct store_ops store_sqlite;

/* store.c: one more of that status; they are kept ascending. */
void count_status(
    struct arena *a, struct status_count **counts, size_t *n, size_t *cap, int status);

/* How many rows one call of store_task_list looks at before it hands back a short page. */
#define STORE_SCAN_STEP 20000
/* The same for store_prunable, which has no cursor to hand back: see README. */
#define STORE_PRUNE_STEP 200000

#endif
