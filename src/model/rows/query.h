/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a store, as values: filters, heads of queues, keys. */
#ifndef MODEL_QUERY_H
#define MODEL_QUERY_H

#include "model/objects/token.h"
#include "model/task/search.h"
#include "model/task/task.h"

#define FILTER_STATES_MAX 16
#define FILTER_LABELS_MAX 16

/* All that is given must hold; the states among themselves are alternatives. */
struct task_filter {
	rid queue;                   /* 0: any */
	rid among[TOKEN_QUEUES_MAX]; /* one of these queues; 0: of none */
	size_t n_among;              /* 0: any */
	rid batch;
	rid worker;
	rid owner;
	int32_t owner_kind; /* enum kind, of the owner */
	struct {
		int min, max;
		bool delayed; /* only those whose time has not come */
	} states[FILTER_STATES_MAX];
	size_t n_states;                                         /* 0: any */
	struct str labels[FILTER_LABELS_MAX + TOKEN_LABELS_MAX]; /* "key=value" */
	size_t n_labels;
	struct str name;            /* just this one; NULL: any */
	struct search_words search; /* words that it must have */
	rid since, until;           /* ids: [since, until); 0: open */
	int64_t ended_before_ms;    /* 0: any */
	int64_t now_ms;             /* for delayed ones */
};

/* The next queued tasks of a queue that are due, in the queue's order, after a place in it. */
struct head_query {
	rid queue;
	int32_t order; /* enum queue_order */
	bool after;    /* false: from the very head */
	int64_t rank;
	rid id;
	uint32_t limit;
};

/* The queued tasks of a queue with a due time (due_ms > 0), earliest first. */
struct due_query {
	rid queue;
	bool after; /* strictly after (due_ms, id) */
	int64_t due_ms;
	rid id;
	uint32_t limit;
};

/*
 * The recorded parts of an object: rows of a table that belongs to the object's, whose key is the
 * object and then numbers. Newest first: by when they were written down, then by key (time_ms and
 * the key's numbers, all falling). Oldest first: by key. Many may have been written down in one
 * millisecond, so a place in the list is that of a whole row.
 */
struct part_query {
	const struct row_table *table;
	rid object;
	int64_t from, to; /* the key's first number is in [from, to); to 0: open; 0, 0: all */
	bool oldest_first;
	bool reaching;     /* also stretches that began before `from` and reach into it */
	const void *after; /* newest first: behind this row; NULL: from the newest */
	uint32_t limit;
};

struct status_count {
	int32_t status;
	int64_t n;
};

#endif
