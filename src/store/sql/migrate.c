/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sql/migrate.h"

#include "base/mem.h"
#include "store/migrations.h"

int sql_migrate(const struct migrate_door *door, int from, struct store_migration *m,
    struct problem *ret_problem)
{
	int rc = sql_count_leaving(door, from, m, ret_problem);

	MUST(n_migrations == STORE_SCHEMA_VERSION);
	for (int v = from; v < m->version && rc == 0; v++)
		rc = door->step(door->arg, migrations[v].up, v + 1, ret_problem);
	for (int v = from; v > m->version && rc == 0; v--)
		rc = door->step(door->arg, migrations[v - 1].down, v - 1, ret_problem);
	return rc;
}

static int too_new(int version, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_SCHEMA,
	    "the store's schema is version %d, this reeve knows up to %d", version,
	    STORE_SCHEMA_VERSION);
	problem_hint(ret_problem,
	    "run the newer reeve, or bring it down with it: reeve store migrate --to %d",
	    STORE_SCHEMA_VERSION);
	return ERR_SCHEMA;
}

static int too_old(int version, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_SCHEMA,
	    "the store's schema is version %d, this reeve needs %d", version, STORE_SCHEMA_VERSION);
	problem_hint(
	    ret_problem, "bring it up with: reeve store migrate --to %d", STORE_SCHEMA_VERSION);
	return ERR_SCHEMA;
}

int sql_check_version(int version, bool may_migrate, struct problem *ret_problem)
{
	if (version > STORE_SCHEMA_VERSION)
		return too_new(version, ret_problem);
	if (version < STORE_SCHEMA_VERSION && !may_migrate)
		return too_old(version, ret_problem);
	return 0;
}
