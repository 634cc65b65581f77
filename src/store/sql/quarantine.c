/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that do not fit their checksums, at a start. Each kind says how it does no harm
 * (model/rows/quarantine.h), and the rest works. Of what the server itself goes by (meta) nothing
 * can be left out: the start is refused.
 */
#include "base/mem.h"
#include "base/world/clock.h"
#include "base/world/log.h"
#include "store/sql/read.h"

#define NAME_MAX_SHOWN 64

int sql_refuse_damaged(const char *kind, struct str name, struct problem *ret_problem)
{
	problem_set(ret_problem, ERR_STORE,
	    "the store is damaged (%s%s" STR_FMT " does not fit its checksum)", kind,
	    name.n ? " " : "", (int)(name.n < NAME_MAX_SHOWN ? name.n : NAME_MAX_SHOWN),
	    name.p ? name.p : "");
	return problem_hint(
	    ret_problem, "`reeve store check` names everything that is; restore a backup");
}

/* Nobody else has it: names are looked up, and what two have would mean the wrong one. */
static bool is_only_one(struct sql_reader *r, const struct row_table *t, struct str name)
{
	AUTO(sql_query_release) struct sql_query q;
	int64_t n = 0;

	sql_query_begin(&q, r);
	buf_printf(
	    &q.text.out, "SELECT count(*) FROM %s WHERE %s", t->name, row_name_column(t)->name);
	sql_term_str(&q, " = ?", name);
	return sql_number(r, &q, NULL, &n) == 0 && n == 1;
}

/* The row's name as stored, if it can be one and nobody else has it; else one made of its id. */
static struct str name_for(struct sql_reader *r, const struct row_table *t,
    const struct sql_found *found, const struct id_space *ids, struct arena *a)
{
	char text[ID_TEXT];

	if (found->name.p && found->name.n <= NAME_MAX_SHOWN && is_only_one(r, t, found->name))
		return found->name;
	return arena_strf(a, ROW_DAMAGED "-%s",
	    id_format(ids, (rid)column_i64(&t->columns[0], found->row), text));
}

int sql_quarantine(struct sql_reader *r, const struct row_table *t, const struct sql_found *found,
    const struct id_space *ids, struct arena *a, struct problem *ret_problem)
{
	struct quarantine_facts f = {.damage = found->damage, .now_ms = clock_wall_ms()};

	if (!t->quarantine)
		return sql_refuse_damaged(
		    "what the server knows of itself", found->name, ret_problem);
	f.name = name_for(r, t, found, ids, a);
	t->quarantine(found->row, &f);
	log_error("the %s " STR_FMT " is damaged in the store, and %s", t->name, STR_ARG(f.name),
	    t->quarantined);
	return 0;
}
