/* SPDX-License-Identifier: Apache-2.0 */
/* What SQLite itself does at most on this disk: the yardstick of `reeve bench`. */
#ifndef STORE_LIMIT_H
#define STORE_LIMIT_H

#include <stdint.h>

#include "base/err.h"

/* Inserts small rows in key order into a fresh database in `dir` (WAL, synchronous=FULL), so many
 * a commit; removes it again. */
int store_limit_insert(const char *dir, int64_t rows, int64_t per_commit, double *ret_seconds,
    struct problem *ret_problem);

#endif
