/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of a store, as values: filters, heads of queues, keys. */
#ifndef MODEL_QUERY_H
#define MODEL_QUERY_H

#include "model/task.h"

#define FILTER_STATES_MAX 16
#define FILTER_LABELS_MAX 16

/* All that is given must hold; the states among themselves are alternatives. */
struct task_filter {
	rid queue; /* 0: any */
	rid batch;
	rid worker;
	rid schedule;
	struct {
		int min, max;
	} states[FILTER_STATES_MAX];
	size_t n_states;                      /* 0: any */
	struct str labels[FILTER_LABELS_MAX]; /* "key=value" */
	size_t n_labels;
	rid since, until;        /* ids: [since, until); 0: open */
	int64_t ended_before_ms; /* 0: any */
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

/* What became of a schedule's ticks: newest first, or oldest first from `from_s` on. */
struct tick_query {
	rid schedule;
	int64_t from_s, to_s; /* [from, to); 0, 0: all */
	bool oldest_first;
	int64_t after_time_ms; /* newest first: before this place; 0: from the newest */
	uint32_t limit;
};

struct status_count {
	int32_t status;
	int64_t n;
};

#endif
