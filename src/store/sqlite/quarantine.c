/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit their checksums, at a start. Each kind says how it does no harm
 * (model/quarantine.h), and the rest works. Of what the server itself goes by (meta) nothing can be
 * left out: the start is refused.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

int quarantine_refuse(const char *kind, struct str name, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE,
	    "the store is damaged (%s%s" STR_FMT " does not fit its checksum)", kind,
	    name.n ? " " : "", (int)(name.n < 64 ? name.n : 64), name.p ? name.p : "");
	return problem_hint(
	    ret_problem, "`reeve store check` names everything that is; restore a backup");
}

/* Nobody else has it: names are looked up, and what two have would mean the wrong one. */
static bool is_only_one(sqlite3_stmt *row, const struct row_table *t, struct str name)
{
	AUTO(buf_release) struct buf sql = {0};
	sqlite3_stmt *st = NULL;
	bool only;

	buf_printf(&sql, "SELECT count(*) FROM %s WHERE %s = ?", t->name, row_name_column(t)->name);
	if (sqlite3_prepare_v2(sqlite3_db_handle(row), sql.p, -1, &st, NULL) != SQLITE_OK)
		return false;
	sqlite_bind_str(st, 1, name, false);
	only = sqlite3_step(st) == SQLITE_ROW && sqlite3_column_int64(st, 0) == 1;
	sqlite3_finalize(st);
	return only;
}

/* Its name as it is stored, if it can be one and nobody else has it; else one made of its id. */
static struct str name_for(const struct quarantine *q, const struct row_table *t, const void *row)
{
	struct str name = sqlite_stored_name(q->st, t);
	char text[ID_TEXT];

	if (name.p && name.n <= 64 && is_only_one(q->st, t, name))
		return arena_str(q->arena, name);
	return arena_strf(q->arena, ROW_DAMAGED "-%s",
	    id_format(q->ids, (rid)column_i64(&t->columns[0], row), text));
}

int sqlite_quarantine(
    const struct quarantine *why, const struct row_table *t, void *row, struct problem *ret_problem)
{
	struct quarantine_facts f = {.damage = why->damage, .now_ms = clock_wall_ms()};

	if (!t->quarantine)
		return quarantine_refuse(
		    "what the server knows of itself", sqlite_stored_name(why->st, t), ret_problem);
	f.name = name_for(why, t, row);
	t->quarantine(row, &f);
	log_error("the %s " STR_FMT " is damaged in the store, and %s", t->name, STR_ARG(f.name),
	    t->quarantined);
	return 0;
}
