/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of the audit trail in SQLite. Its head and anchor are meta rows, written in the
 * transaction of the events that they speak of: what is rolled back has not moved them.
 */
#include <string.h>

#include "base/mem.h"
#include "store/chain.h"
#include "store/sqlite/sqlite.h"

#define EXPIRE_STEP 1000

static int load_end(
    struct sql_reader *r, const char *name, struct chain_end *ret_end, struct problem *ret_problem)
{
	int rc = sql_chain_end(r, name, ret_end);

	if (rc > 0)
		return sql_refuse_damaged("meta", str_of(name), ret_problem);
	return rc ? r->sql->problem(r, "the store cannot be read", ret_problem) : 0;
}

int sqlite_load_chain(struct sqlite_store *s, struct problem *ret_problem)
{
	struct chain_end anchor;
	struct sqlite_reader r;
	int rc;

	sqlite_reader_init(&r, s->db);
	rc = load_end(&r.sql, META_AUDIT_ANCHOR, &anchor, ret_problem); /* damaged? */
	if (rc == 0)
		rc = load_end(&r.sql, META_AUDIT_HEAD, &s->head, ret_problem);
	sqlite_reader_forget(&r);
	s->head_committed = s->head;
	if (s->head.seq > s->stat.last_event) /* the number of a removed row is not given again */
		s->stat.last_event = s->stat_committed.last_event = s->head.seq;
	return rc;
}

static int save_end(struct sqlite_store *s, const char *name, const struct chain_end *end)
{
	char text[CHAIN_END_TEXT];
	struct meta_row m = {str_of(name), str_of(chain_end_format(end, text))};

	return sqlite_write_row(s, &meta_table, SQL_PUT, &m);
}

int sqlite_put_event(struct sqlite_store *s, const struct event_row *e)
{
	struct event_row linked = *e;

	chain_link(&s->head, &linked);
	return sqlite_write_row(s, &event_table, SQL_PUT, &linked);
}

int sqlite_save_head(struct sqlite_store *s)
{
	if (s->head.seq == s->head_committed.seq)
		return SQLITE_OK;
	return save_end(s, META_AUDIT_HEAD, &s->head);
}

/* The last one that goes; seq 0: none does. */
static int last_to_go(
    struct sqlite_store *s, int64_t before_ms, struct chain_end *anchor, uint64_t *ret_seq)
{
	sqlite3_stmt *st;
	struct chain_end passed = *anchor;
	int n = 0, rc = sqlite_stmt(s, W_EVENT_OLDEST, &st);

	*ret_seq = 0;
	if (rc)
		return rc;
	while (n < EXPIRE_STEP && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct event_row e = {.seq = (uint64_t)sqlite3_column_int64(st, 0),
		    .time_ms = sqlite3_column_int64(st, 1),
		    .hash = {sqlite3_column_blob(st, 2), (size_t)sqlite3_column_bytes(st, 2)}};

		if (event_stays(&e, before_ms, sqlite3_column_int64(st, 3)))
			break;
		chain_expire(&passed, &e);
		if (e.time_ms >= before_ms)
			continue;
		*ret_seq = e.seq;
		*anchor = passed;
		n++;
	}
	sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int sqlite_expire_events(struct sqlite_store *s, int64_t before_ms, int *ret_changes)
{
	struct chain_end anchor = {0};
	uint64_t seq;
	int rc = last_to_go(s, before_ms, &anchor, &seq);

	*ret_changes = 0;
	if (rc || !seq)
		return rc;
	rc = sqlite_run(s, W_SHARED + SQL_EVENT_EXPIRE, (int64_t[]){(int64_t)seq}, 1);
	*ret_changes = sqlite3_changes(s->db);
	if (rc == SQLITE_OK && anchor.seq)
		rc = save_end(s, META_AUDIT_ANCHOR, &anchor);
	return rc;
}
