/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQL as the stores that speak it need it: one text for all, written by the lists of columns in
 * model/rows/row.h, and a dialect for where databases differ. Nothing here knows a database.
 *
 * In a text, ? is the next parameter (?7 is the seventh), {name} asks for an index by its name, and
 * {} for none: a walk over the table itself. Databases that choose by themselves are not told.
 */
#ifndef STORE_SQL_TEXT_H
#define STORE_SQL_TEXT_H

#include "model/rows/batch.h"

struct sql_dialect {
	bool dollars;         /* parameters are $1, $2, …; else ? */
	bool replaces;        /* INSERT OR REPLACE; else ON CONFLICT … DO UPDATE */
	bool hints;           /* INDEXED BY, NOT INDEXED */
	const char *has_line; /* a condition: labels have the line that is its parameter */
	const char *is_among; /* an id is in "[1,2,…]", its parameter; rows come in ids' order */
};

#define ENDED_SQL "(status > 0 OR status = -3 OR status = -5 OR status = -6)"
/* Conditions: they must be the very texts of the partial indexes, or SQLite does not use them. In
 * those, no list has more than two values: SQLite makes a table of it at every write. */
#define READY_SQL "status = -2 AND due_ms <= 0"
#define DUE_SQL "status = -2 AND due_ms > 0"
#define LIVE_SQL "(status < -6 OR status = -4 OR status = -1 OR status = 0)"
#define NAMED_SQL "name IS NOT NULL"
#define OWNED_SQL "owner > 0 AND owner_kind <> 4" /* jobs of groups: by their ids */
#define NOT_ENDED_SQL "status <= 0 AND status <> -3 AND status <> -5 AND status <> -6"
#define OWNED_LIVE_SQL OWNED_SQL " AND " NOT_ENDED_SQL
#define KEY_SQL "unique_key IS NOT NULL AND " NOT_ENDED_SQL

/* A statement under way. */
struct sql_text {
	const struct sql_dialect *dialect;
	struct buf out;
	int n_params; /* written as ? so far */
};

void sql_text_release(struct sql_text *s);
void sql_add(struct sql_text *s, const char *text);
/* "a, b, c": the columns without `skip_flags`. */
void sql_add_columns(struct sql_text *s, const struct row_table *t, unsigned skip_flags);
/* "SELECT … FROM name " */
void sql_add_select(struct sql_text *s, const struct row_table *t, unsigned skip_flags);

/* What is done to rows of any table. All but the last are also a row_verb. */
enum sql_verb {
	SQL_INSERT = ROW_INSERT,
	SQL_PUT = ROW_PUT,
	SQL_STATE = ROW_STATE,   /* the row's columns with COLUMN_STATE, then its id */
	SQL_DELETE = ROW_DELETE, /* by the first column: an id, or the owner's */
	SQL_EXPIRE,              /* a thousand of those with an earlier time */
	SQL_TRIM,                /* by the first column, and below a value of the second */
	SQL_DROP,                /* by the whole key, which is numbers */
	N_SQL_VERBS,
};
/* So many rows by one statement. */
void sql_add_insert(struct sql_text *s, const struct row_table *t, int n_rows);
/* False: that is not done to rows of this table. */
bool sql_add_verb(struct sql_text *s, const struct row_table *t, enum sql_verb verb);

/* What is done beside single rows: to many tasks at once, to long bodies, to the oldest events. */
enum sql_shared {
	SQL_BODY_INSERT,         /* task, body */
	SQL_BODY_PRUNE,          /* task */
	SQL_QUEUE_DELETE_BODIES, /* queue; before its tasks */
	SQL_EVENT_EXPIRE,        /* the last number that goes */
	SQL_TASK_PRUNE,          /* id; answers with the task's batch, if it went */
	SQL_QUEUE_DELETE_OUTPUT, /* queue; before its tasks */
	SQL_QUEUE_DELETE_TASKS,  /* queue */
	SQL_QUEUE_BATCHES,       /* queue: the batch of each task in it */
	SQL_BATCH_LOST,          /* a batch, how many of its tasks are gone */
	SQL_BATCH_DELETE_EMPTY,  /* a batch */
	SQL_RERANK_READY,        /* queue, 1: by priority, 0: not */
	SQL_RERANK_DUE,
	N_SQL_SHARED,
};
extern const char *const sql_shared_texts[N_SQL_SHARED]; /* for sql_add */

#endif
