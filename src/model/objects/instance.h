/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of an instance, as it is stored: one for each index of a service, and beside it at
 * most one more of each other presence. What states and presences mean is in
 * service/life/instance.h; here they are numbers.
 */
#ifndef MODEL_INSTANCE_H
#define MODEL_INSTANCE_H

#include "model/rows/field.h"
#include "model/task/task.h"

#define CRASH_REASON_MAX 1024 /* bytes */
#define PLACE_ERROR_MAX 1024

#define INSTANCE_STATES 4
#define INSTANCE_PRESENCES 3
extern const char *const instance_row_states[INSTANCE_STATES];
extern const char *const instance_row_presences[INSTANCE_PRESENCES];

struct instance_row {
	rid service;
	int64_t index;
	int64_t presence;
	int32_t state;
	int32_t crash_count;
	rid task; /* of the present start; 0: none */
	int64_t token;
	rid last_task; /* the start before, which has ended: kept for its logs; 0: none */
	rid worker;    /* 0: none */
	int64_t revision;
	int64_t tag; /* rises over the whole server with every change */
	int64_t since_ms, asked_ms, crashed_at_ms;
	int64_t ready_ms; /* ready for traffic since; 0: it is not */
	int32_t is_up, is_stopping, is_surge;
	struct str address;      /* NULL: not known */
	struct str ports;        /* lines of numbers; NULL: none */
	struct str crash_reason; /* of the last crash; NULL: none */
	struct str place_error;  /* why it has no worker; NULL: it has one, or nobody has looked */
};

extern const struct row_table instance_table; /* model/rows/row.h */
extern const struct field instance_fields[];

#endif
