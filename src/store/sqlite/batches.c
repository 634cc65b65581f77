/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of tasks goes with its last task. Which batches lose tasks is noted while rows are
 * written; whether one has any left shows only when all are, since rows are not written in their
 * order (see apply.c) and somebody may join it in the same commit.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static void note(struct sqlite_store *s, rid batch)
{
	if (!batch)
		return;
	if (!s->n_lossy || s->lossy[s->n_lossy - 1].id != batch) {
		GROW(s->lossy, s->lossy_cap, s->n_lossy + 1);
		s->lossy[s->n_lossy++] = (struct lossy){batch, 0};
	}
	s->lossy[s->n_lossy - 1].n++;
}

/* Runs a statement that answers with batches. */
static int note_all(struct sqlite_store *s, enum sql_shared verb, rid arg, int *ret_rows)
{
	sqlite3_stmt *st;
	int rc = sqlite_stmt(s, W_SHARED + verb, &st);

	*ret_rows = 0;
	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)arg);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		note(s, (rid)sqlite3_column_int64(st, 0));
		++*ret_rows;
	}
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_prune_row(struct sqlite_store *s, rid task, bool *ret_gone)
{
	int rows, rc = note_all(s, SQL_TASK_PRUNE, task, &rows);

	*ret_gone = rows > 0;
	return rc;
}

int sqlite_note_batches(struct sqlite_store *s, rid queue)
{
	int rows;

	return note_all(s, SQL_QUEUE_BATCHES, queue, &rows);
}

int sqlite_drop_empty_batches(struct sqlite_store *s)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < s->n_lossy && rc == SQLITE_OK; i++) {
		int64_t args[] = {(int64_t)s->lossy[i].id, s->lossy[i].n};

		rc = sqlite_run(s, W_SHARED + SQL_BATCH_LOST, args, 2);
		if (rc == SQLITE_OK)
			rc = sqlite_run(s, W_SHARED + SQL_BATCH_DELETE_EMPTY, args, 1);
	}
	s->n_lossy = 0;
	return rc;
}
