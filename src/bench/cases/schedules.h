/* SPDX-License-Identifier: Apache-2.0 */
/* The case schedules. */
#ifndef BENCH_SCHEDULES_H
#define BENCH_SCHEDULES_H

#include "bench/internal.h"

int case_schedules(struct bench *b, json_t *to);
extern const struct goal schedules_goals[];

/* schedules_due.c: so many that are due in one second; how late each of them was */
int due_measure(struct bench *b, int64_t n, json_t *to);

#endif
