/* SPDX-License-Identifier: Apache-2.0 */
/* The object `run` of a task or a queue: JSON into struct run_settings, every value checked. */
#ifndef WIRE_SETTINGS_H
#define WIRE_SETTINGS_H

#include <jansson.h>

#include "base/err.h"
#include "model/rows/field.h"
#include "model/run/settings.h"

#define RUN_INPUT_MAX (256u << 10)

/*
 * Reads one object over what *io holds: the default, then the queue's, then the task's. A member
 * that is null goes back to the default. Strings are copied into the arena. 0, or ERR_INVALID with
 * a problem that names the member ("run.limits.memory"); *io is then of no use.
 */
int settings_parse(
    const json_t *object, struct arena *a, struct run_settings *io, struct problem *p);
/*
 * Default, then the queue's object, then the task's, held to the queue's limits and sandbox; NULL:
 * none.
 */
int settings_over(const json_t *queue, const json_t *task, struct arena *a,
    struct run_settings *ret, struct problem *p);
/* The same with both as text; NULL or empty: none. */
int settings_merge(struct str queue, struct str task, struct arena *a, struct run_settings *ret,
    struct problem *p);

/* The members of the object (model/rows/field.h); those of its checks: wire/json/checks.h. */
extern const struct field run_fields[];

#endif
