/* SPDX-License-Identifier: Apache-2.0 */
/* How a long runner is looked at: `check` and `checks` in the object `run` (docs/HEALTH.md). */
#ifndef WIRE_CHECKS_H
#define WIRE_CHECKS_H

#include "wire/json/fields.h"

/* Readers of two members of struct run_settings. */
int check_read(const struct fields_in *r, json_t *v, const char *place);
int checks_read(const struct fields_in *r, json_t *v, const char *place);

/* The members of `check`, and of each of `checks`; of struct run_check. */
extern const struct field run_check_fields[], run_startup_fields[], run_liveness_fields[],
    run_readiness_fields[];

#endif
