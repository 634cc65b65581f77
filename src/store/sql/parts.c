/* SPDX-License-Identifier: Apache-2.0 */
/* The recorded parts of an object. What they are asked by follows from their table. */
#include "base/mem.h"
#include "store/sql/read.h"

static void term_of(struct sql_query *sql, const char *before, const struct column *c,
    const char *behind, int64_t n)
{
	sql_add(&sql->text, before);
	sql_add(&sql->text, c->name);
	sql_term(sql, behind, n);
}

/* Newest first there is an index, NAME_newest. */
static void use_index(struct sql_query *sql, const struct row_table *t)
{
	AUTO(free_cstr) char *index = xasprintf("{%s_newest} ", t->name);

	sql_add(&sql->text, index);
}

static void add_behind(struct sql_query *sql, const struct row_table *t, const void *row)
{
	sql_add(&sql->text, " AND (time_ms");
	for (int i = 1; i < t->n_key; i++) {
		sql_add(&sql->text, ", ");
		sql_add(&sql->text, t->columns[i].name);
	}
	sql_term(sql, ") < (?", column_i64(row_column(t, "time_ms"), row));
	for (int i = 1; i < t->n_key; i++)
		sql_term(sql, ", ?", column_i64(&t->columns[i], row));
	sql_add(&sql->text, ")");
}

static void add_order(struct sql_query *sql, const struct part_query *q)
{
	sql_add(&sql->text, q->oldest_first ? " ORDER BY " : " ORDER BY time_ms DESC, ");
	for (int i = 1; i < q->table->n_key; i++) {
		sql_add(&sql->text, i > 1 ? ", " : "");
		sql_add(&sql->text, q->table->columns[i].name);
		sql_add(&sql->text, q->oldest_first ? "" : " DESC");
	}
	sql_term(sql, " LIMIT ?", q->limit);
}

/* Only what is asked stands in the text: a condition that can be switched off uses no index. */
static void parts_of(struct sql_query *sql, const struct part_query *q)
{
	const struct row_table *t = q->table;
	const struct column *at = &t->columns[1];

	if (!q->oldest_first)
		use_index(sql, t);
	term_of(sql, "WHERE ", &t->columns[0], " = ?", (int64_t)q->object);
	if (q->from || q->to)
		term_of(sql, " AND ", q->reaching ? row_flagged(t, COLUMN_REACH) : at, " >= ?",
		    q->from);
	if (q->to)
		term_of(sql, " AND ", at, " < ?", q->to);
	if (!q->oldest_first && q->after)
		add_behind(sql, t, q->after);
	add_order(sql, q);
}

int sql_parts(struct store_reader *base, const struct part_query *q, struct arena *a,
    struct part_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = q->table, .a = a};
	AUTO(sql_query_release) struct sql_query sql;
	int rc;

	sql_select(&sql, r, q->table, 0);
	parts_of(&sql, q);
	rc = sql_gather(r, &sql, 0, &found);
	*ret_page = (struct part_page){found.rows, found.n};
	return rc;
}
