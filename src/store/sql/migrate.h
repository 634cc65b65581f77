/* SPDX-License-Identifier: Apache-2.0 */
/* Which steps lead from one version of the schema to another, and which versions may be opened. */
#ifndef STORE_SQL_MIGRATE_H
#define STORE_SQL_MIGRATE_H

#include <stdbool.h>

#include "base/err.h"
#include "store/store.h"

/* The database, for those who do not know which. */
struct migrate_door {
	void *arg;
	/* One step, one transaction: its text, and the version that it leads to. */
	int (*step)(void *arg, const char *sql, int version, struct problem *ret_problem);
	int (*count)(void *arg, const char *sql, int64_t *ret_n, struct problem *ret_problem);
};

/* Up or down, step by step; the first that fails ends it. */
int sql_migrate(const struct migrate_door *door, int from, struct store_migration *m,
    struct problem *ret_problem);
/* ERR_SCHEMA: it is newer than ours, or older and must not be changed. */
int sql_check_version(int version, bool may_migrate, struct problem *ret_problem);

/* leaving.c: what a way down sets aside and loses, in words. ERR_CONFLICT: it may not be lost. */
int sql_count_leaving(const struct migrate_door *door, int from, struct store_migration *m,
    struct problem *ret_problem);

#endif
