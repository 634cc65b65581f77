/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that write: for any table, by its list of columns; and those that are no table's. */
#include "model/objects/graph.h"
#include "model/objects/service.h"
#include "store/sql/text.h"

const char *const sql_shared_texts[N_SQL_SHARED] = {
    [SQL_BODY_INSERT] = "INSERT INTO task_body (id, body) VALUES (?, ?)",
    [SQL_BODY_PRUNE] = "DELETE FROM task_body WHERE id = ?",
    [SQL_QUEUE_DELETE_BODIES] =
        "DELETE FROM task_body WHERE id IN (SELECT id FROM task WHERE queue = ?)",
    [SQL_EVENT_EXPIRE] = "DELETE FROM event WHERE seq <= ?",
    [SQL_TASK_PRUNE] = "DELETE FROM task WHERE id = ? AND " ENDED_SQL " RETURNING batch",
    [SQL_QUEUE_DELETE_OUTPUT] =
        "DELETE FROM output WHERE task IN (SELECT id FROM task WHERE queue = ?)",
    [SQL_QUEUE_DELETE_TASKS] = "DELETE FROM task WHERE queue = ?",
    [SQL_QUEUE_BATCHES] = "SELECT batch FROM task WHERE queue = ? AND batch > 0",
    [SQL_BATCH_LOST] = "UPDATE task_batch SET n_gone = n_gone + ?2 WHERE id = ?1",
    [SQL_BATCH_DELETE_EMPTY] = "DELETE FROM task_batch WHERE id = ? AND n_gone >= n_tasks",
    [SQL_RERANK_READY] = "UPDATE task {task_ready} SET rank = -(priority * ?2)"
                         " WHERE queue = ?1 AND " READY_SQL " AND rank <> -(priority * ?2)",
    [SQL_RERANK_DUE] = "UPDATE task {task_due} SET rank = -(priority * ?2)"
                       " WHERE queue = ?1 AND " DUE_SQL " AND rank <> -(priority * ?2)",
};

static void add_key(struct sql_text *s, const struct row_table *t)
{
	for (int i = 0; i < t->n_key; i++)
		buf_printf(&s->out, "%s%s", i ? ", " : "", t->columns[i].name);
}

static void add_insert(struct sql_text *s, const char *verb, const struct row_table *t, int n_rows)
{
	buf_printf(&s->out, "%s INTO %s (", verb, t->name);
	sql_add_columns(s, t, 0);
	sql_add(s, ") VALUES ");
	for (int row = 0; row < n_rows; row++) {
		sql_add(s, row ? ", (" : "(");
		for (int i = 0; i < t->n; i++)
			sql_add(s, i ? ", ?" : "?");
		sql_add(s, ")");
	}
}

void sql_add_insert(struct sql_text *s, const struct row_table *t, int n_rows)
{
	add_insert(s, "INSERT", t, n_rows);
}

static void add_put(struct sql_text *s, const struct row_table *t)
{
	if (s->dialect->replaces) {
		add_insert(s, "INSERT OR REPLACE", t, 1);
		return;
	}
	add_insert(s, "INSERT", t, 1);
	sql_add(s, " ON CONFLICT (");
	add_key(s, t);
	sql_add(s, ") DO UPDATE SET ");
	for (int i = t->n_key; i < t->n; i++)
		buf_printf(&s->out, "%s%s = excluded.%s", i > t->n_key ? ", " : "",
		    t->columns[i].name, t->columns[i].name);
}

static bool add_state(struct sql_text *s, const struct row_table *t)
{
	const char *before = " SET ";

	buf_printf(&s->out, "UPDATE %s", t->name);
	for (int i = 0; i < t->n; i++) {
		if (!(t->columns[i].flags & COLUMN_STATE))
			continue;
		buf_printf(&s->out, "%s%s", before, t->columns[i].name);
		sql_add(s, " = ?");
		before = ", ";
	}
	sql_add(s, " WHERE id = ?");
	return before[0] == ',';
}

/* Of what belongs to another, and is no task's: those go with their tasks. */
static bool add_drop(struct sql_text *s, const struct row_table *t)
{
	buf_printf(&s->out, "DELETE FROM %s WHERE ", t->name);
	for (int i = 0; i < t->n_key; i++) {
		buf_printf(&s->out, "%s%s", i ? " AND " : "", t->columns[i].name);
		sql_add(s, " = ?");
	}
	return t->belongs_to == &service_table;
}

static void add_expire(struct sql_text *s, const struct row_table *t)
{
	buf_printf(&s->out, "DELETE FROM %s WHERE (", t->name);
	add_key(s, t);
	sql_add(s, ") IN (SELECT ");
	add_key(s, t);
	buf_printf(&s->out, " FROM %s ", t->name);
	if (s->dialect->hints)
		buf_printf(&s->out, "INDEXED BY %s_time ", t->name);
	sql_add(s, "WHERE time_ms < ? ORDER BY time_ms LIMIT 1000)");
}

bool sql_add_verb(struct sql_text *s, const struct row_table *t, enum sql_verb verb)
{
	switch (verb) {
	case SQL_INSERT: sql_add_insert(s, t, 1); return true;
	case SQL_PUT: add_put(s, t); return true;
	case SQL_STATE: return add_state(s, t);
	case SQL_DELETE:
		buf_printf(&s->out, "DELETE FROM %s WHERE %s", t->name, t->columns[0].name);
		sql_add(s, " = ?");
		return t->has_id || t->belongs_to;
	case SQL_TRIM:
		buf_printf(&s->out, "DELETE FROM %s WHERE %s", t->name, t->columns[0].name);
		sql_add(s, " = ? AND ");
		sql_add(s, t->columns[1].name);
		sql_add(s, " < ?");
		return t == &input_part_table || t == &graph_package_table;
	case SQL_DROP: return add_drop(s, t);
	default: /* of events only the oldest, by their numbers: the rest must be a chain */
		add_expire(s, t);
		return t->expires != EXPIRES_NEVER && t != &event_table;
	}
}
