/* SPDX-License-Identifier: Apache-2.0 */
/* Retention: ended tasks go by age and by count, groups with their jobs, lost workers by age; a few
 * at a time. */
#ifndef SERVER_RETENTION_H
#define SERVER_RETENTION_H

#include "server/engine/engine.h"
#include "server/engine/readers.h"

struct retention;

struct retention_options {
	int64_t age_ms; /* 0: for ever */
	int64_t count;  /* 0: no limit */
	int64_t idem_ms;
	int64_t events_ms;  /* 0: for ever */
	int64_t workers_ms; /* lost ones; 0: for ever */
	int64_t period_ms;  /* between two looks when nothing is to be done (0: 10 s) */
};

struct retention *retention_new(
    struct loop *l, struct engine *e, struct readers *r, const struct retention_options *o);
void retention_set(struct retention *t, const struct retention_options *o);
void retention_free(struct retention *t); /* after the readers have stopped */

#endif
