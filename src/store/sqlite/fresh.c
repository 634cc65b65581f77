/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New tasks, several by one statement: to open and close the table and its indexes is a third of
 * what an insert costs. They are held until there are enough, or until something else is written.
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static int prepare(struct sqlite_store *s)
{
	AUTO(sql_text_release) struct sql_text text = {.dialect = &sqlite_dialect};

	sql_add_insert(&text, &task_table, FRESH_MAX);
	return sqlite3_prepare_v3(s->db, text.out.p, (int)text.out.n + 1, SQLITE_PREPARE_PERSISTENT,
	    &s->fresh.stmt, NULL);
}

int fresh_prepare(struct sqlite_store *s)
{
	return s->fresh.stmt ? SQLITE_OK : prepare(s);
}

static int write_all(struct sqlite_store *s)
{
	struct fresh *f = &s->fresh;
	int at = 1, rc = fresh_prepare(s);

	if (rc)
		return rc;
	for (int i = 0; i < FRESH_MAX; i++)
		at = sqlite_bind_row(f->stmt, f->bound, at, &task_table, &f->rows[i], 0);
	return sqlite_step_once(f->stmt);
}

int fresh_write(struct sqlite_store *s)
{
	struct fresh *f = &s->fresh;
	int rc = SQLITE_OK;

	for (int i = 0; i < f->n && rc == SQLITE_OK; i++)
		rc = sqlite_write_row(s, &task_table, SQL_INSERT, &f->rows[i]);
	f->n = 0;
	return rc;
}

int fresh_add(struct sqlite_store *s, const struct task_row *row)
{
	struct fresh *f = &s->fresh;
	int rc;

	f->rows[f->n++] = *row;
	if (f->n < FRESH_MAX)
		return SQLITE_OK;
	rc = write_all(s);
	f->n = 0;
	return rc;
}
