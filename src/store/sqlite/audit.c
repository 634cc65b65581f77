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

/* The row of one end as a statement for meta rows found it. */
static int end_of_row(sqlite3_stmt *st, struct chain_end *ret_end)
{
	AUTO(arena_release) struct arena a = {0};
	struct meta_row m;

	if (sqlite_read_row(st, &meta_table, 0, &a, &m) || !chain_end_parse(m.value, ret_end))
		return ERR_STORE;
	return 0;
}

static int load_end(struct sqlite_store *s, const char *name, struct chain_end *ret_end,
    struct problem *ret_problem)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(
	    s->db, "SELECT name, value, sum FROM meta WHERE name = ?", -1, &st, NULL);
	bool damaged = false;

	if (rc == SQLITE_OK) {
		sqlite_bind_str(st, 1, str_of(name), false);
		rc = sqlite3_step(st);
		damaged = rc == SQLITE_ROW && end_of_row(st, ret_end) != 0;
	}
	sqlite3_finalize(st);
	if (damaged)
		return quarantine_refuse("meta", str_of(name), ret_problem);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return 0;
	return sqlite_problem(s->db, "the store can not be read", ret_problem);
}

int sqlite_load_chain(struct sqlite_store *s, struct problem *ret_problem)
{
	struct chain_end anchor;
	int rc = load_end(s, META_AUDIT_ANCHOR, &anchor, ret_problem); /* damaged? */

	if (rc == 0)
		rc = load_end(s, META_AUDIT_HEAD, &s->head, ret_problem);
	s->head_committed = s->head;
	if (s->head.seq >
	    s->stat.last_event) /* its row was removed: its number is not given again */
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
	rc = sqlite_run(s, W_EVENT_EXPIRE, (int64_t[]){(int64_t)seq}, 1);
	*ret_changes = sqlite3_changes(s->db);
	if (rc == SQLITE_OK && anchor.seq)
		rc = save_end(s, META_AUDIT_ANCHOR, &anchor);
	return rc;
}

static int read_end(struct sqlite_reader *r, const char *name, struct chain_end *ret_end)
{
	sqlite3_stmt *st;
	int step, bad = 0,
	          rc = sqlite_query(r, "SELECT name, value, sum FROM meta WHERE name = ?", &st);

	if (rc)
		return rc;
	sqlite_bind_str(st, 1, str_of(name), false);
	step = sqlite3_step(st);
	if (step == SQLITE_ROW)
		bad = end_of_row(st, ret_end);
	rc = sqlite_done(st, step);
	return rc ? rc : bad;
}

int sqlite_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	int rc = sqlite_snapshot_begin(r);

	if (rc)
		return rc;
	rc = read_end(r, META_AUDIT_ANCHOR, &ret_page->anchor);
	if (rc == 0)
		rc = read_end(r, META_AUDIT_HEAD, &ret_page->head);
	if (rc == 0)
		rc = sqlite_events(base, after, limit, a, &ret_page->events);
	sqlite_snapshot_end(r);
	return rc;
}
