/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps lead from one version of the schema to another, and which versions may be opened. */
#ifndef STORE_SQL_MIGRATE_H
#define STORE_SQL_MIGRATE_H

#include <stdbool.h>

#include "base/err.h"

/* One step, one transaction: its text, and the version that it leads to. */
typedef int migrate_step_fn(void *arg, const char *sql, int version, struct problem *ret_problem);
/* Up or down, step by step; the first that fails ends it. */
int sql_migrate(int from, int to, migrate_step_fn *step, void *arg, struct problem *ret_problem);
/* ERR_SCHEMA: it is newer than ours, or older and must not be changed. */
int sql_check_version(int version, bool may_migrate, struct problem *ret_problem);

#endif
