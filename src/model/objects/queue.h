/* SPDX-License-Identifier: Apache-2.0 */
/* A queue: which plugin its tasks use, how many may run at once over all workers, in which order.
 */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include "model/objects/kind.h"
#include "model/rows/field.h"

enum queue_order { ORDER_FIFO, ORDER_LIFO, ORDER_PRIORITY, N_ORDERS };
/* Which of the workers that fit gets a task: the least busy one, or the most busy one. */
enum queue_placement { PLACE_SPREAD, PLACE_PACK, N_PLACEMENTS };
enum output_mode { OUTPUT_MODE_AUTO, OUTPUT_MODE_INLINE, OUTPUT_MODE_CHUNKS, N_OUTPUT_MODES };

#define PLUGIN_COMMAND "command" /* the built-in one: runs the task's own command */

struct queue_row {
	rid id;
	struct str name;
	struct str plugin;
	int32_t threads; /* over all workers; -1: no limit */
	int32_t order;   /* enum queue_order */
	int32_t paused;
	struct pause pause;
	int64_t timeout_ms;   /* default per attempt; 0: none */
	int32_t max_attempts; /* default; at least 1 */
	int64_t backoff_ms;   /* before the second attempt; doubles */
	int64_t backoff_max_ms;
	int32_t exit_codes;  /* honour 99 skip, 100 permanent, 111 temporary */
	struct str env;      /* JSON object text for every task; NULL: none */
	struct str run;      /* JSON object text: model/run/settings.h; NULL: none */
	int32_t placement;   /* enum queue_placement */
	int32_t output_mode; /* enum output_mode */
	int64_t output_max;  /* bytes per stream */
	struct str need; /* of tasks that do not say themselves: model/task/need.h; NULL: none */
	int64_t ctime_ms, mtime_ms;
	int64_t version; /* rises with every change: the ETag */
	/* lifetime counters, written with the batch that changed them */
	int64_t n_succeeded, n_failed, n_other;
};

extern const struct row_table queue_table; /* model/rows/row.h */
extern const struct field queue_fields[];

extern const char *const queue_order_names[N_ORDERS];
extern const char *const queue_placement_names[N_PLACEMENTS];
extern const char *const output_mode_names[N_OUTPUT_MODES];
/* What is kept of each stream at most: mode inline has a limit of its own. */
int64_t queue_output_max(const struct queue_row *q);
/* The defaults of a queue that only has a name. */
void queue_defaults(struct queue_row *ret_row);

#endif
