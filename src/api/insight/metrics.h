/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures about what has happened, counted from the notices and the answers given. What is the
 * case now (queues, workers) is asked of the core when somebody looks.
 */
#ifndef API_METRICS_H
#define API_METRICS_H

#include "api/frame/api.h"

struct metrics;

struct metrics *metrics_new(void);
void metrics_free(struct metrics *m);
void metrics_notice(struct metrics *m, const struct core *core, const struct notice *n);
/* A new task. Large submits have no notice for each: whoever tells first is counted. */
void metrics_submitted(struct metrics *m, rid queue, rid task, int64_t now_ms, int64_t due_ms);
void metrics_answer(struct metrics *m, size_t route, int status); /* route_number() */
void metrics_commit(struct metrics *m, double seconds, size_t rows);
/* Over the last ten whole seconds. */
void metrics_rates(
    const struct metrics *m, int64_t now_ms, double *ret_submitted, double *ret_ended);
void metrics_write(const struct metrics *m, const struct api_host *h,
    const struct api_server_facts *facts, struct buf *out);

#endif
