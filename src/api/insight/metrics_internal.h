/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted; shared by the counting and the writing of metrics. */
#ifndef API_METRICS_INTERNAL_H
#define API_METRICS_INTERNAL_H

#include <bsd/sys/queue.h>

#include "api/frame/route.h"
#include "base/data/idmap.h"

#define N_BOUNDS 18
#define RECENT 16384 /* submit times kept to the millisecond */
#define RATE_SECONDS 16
#define N_STATUSES 500 /* 100 to 599 */

extern const double metric_bounds[N_BOUNDS]; /* seconds */

struct histogram {
	uint64_t buckets[N_BOUNDS + 1];
	uint64_t count;
	double sum;
};

enum outcome_kind {
	OUTCOME_SUCCEEDED,
	OUTCOME_FAILED,
	OUTCOME_FINISHED,
	OUTCOME_CANCELLED,
	OUTCOME_TERMINATED,
	OUTCOME_ORPHANED,
	OUTCOME_RETRIED,
	N_OUTCOMES,
};

struct queue_metrics {
	rid id;
	uint64_t submitted;
	uint64_t outcomes[N_OUTCOMES];
	struct histogram wait, duration;
};

struct begun { /* a dispatched task */
	LIST_ENTRY(begun) link;
	rid task;
	int64_t ms;
};

struct submitted {
	rid task;
	int64_t ms;
};

struct rate {
	int64_t second[RATE_SECONDS];
	int64_t n[RATE_SECONDS];
};

struct answers {
	uint32_t by_status[N_STATUSES];
};

struct metrics {
	struct queue_metrics **queues, *last_queue;
	size_t n_queues, cap_queues;
	struct idmap by_queue, begun;
	LIST_HEAD(, begun) begun_list;
	struct submitted recent[RECENT];
	struct rate submitted, ended;
	struct answers *answers; /* by route; the last for what has none */
	struct histogram commit;
	uint64_t commit_rows, events;
	uint64_t ticks_fired, ticks_skipped;
	struct histogram lateness; /* of the fired ones */
};

void metric_observe(struct histogram *h, double seconds);
/* In Prometheus's words: what a figure is; all of a histogram, with these labels or "". */
void metric_head(struct buf *b, const char *name, const char *type, const char *help);
void metric_histogram(
    struct buf *b, const char *name, const char *label, const struct histogram *h);

#endif
