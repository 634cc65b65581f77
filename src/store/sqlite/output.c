/* SPDX-License-Identifier: Apache-2.0 */
/* Kept output of tasks, and the events that people audit. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/limits.h"
#include "store/chunk.h"
#include "store/sqlite/sqlite.h"
#include "store/sum.h"

static struct str column_text(sqlite3_stmt *st, int at)
{
	const char *p = sqlite3_column_blob(st, at);

	if (sqlite3_column_type(st, at) == SQLITE_NULL)
		return STR_NULL;
	return (struct str){p ? p : "", p ? (size_t)sqlite3_column_bytes(st, at) : 0};
}

/* *ret_done: it was all in the task's row, or there is no such task. */
static int read_inline(struct sqlite_reader *r, rid task, int64_t token, int stream, size_t max,
    struct buf *out, struct output_end *end, bool *ret_done)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(buf_release) struct buf sql = {0};
	struct task_row t;
	unsigned damage = 0;
	sqlite3_stmt *st;
	int found, rc;

	*ret_done = true;
	buf_printf(&sql, "%sWHERE id = ?", sqlite_task_select(false));
	if ((rc = sqlite_query(r, sql.p, &st)))
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)task);
	found = sqlite3_step(st);
	if (found == SQLITE_ROW) {
		damage = sqlite_read_row(st, &task_table, 0, &a, &t);
		*ret_done = t.state.output_where == OUTPUT_INLINE && t.state.token == token;
		if (*ret_done && damage & DAMAGED_OUTPUT)
			end->damaged +=
			    damaged_append(t.state.output_bytes[stream], max, out, &end->at);
		else if (*ret_done)
			inline_append(t.state.output[stream], max, out, &end->at);
	}
	rc = sqlite_done(st, found);
	if (damage & DAMAGED_STATE) /* nobody knows where its output lies */
		return ERR_STORE;
	return rc == 0 && found == SQLITE_DONE ? ERR_NOT_FOUND : rc;
}

/* False: it does not fit its checksum. */
static bool read_chunk(sqlite3_stmt *st, struct output_row *c)
{
	c->offset = sqlite3_column_int64(st, 0);
	c->raw_bytes = sqlite3_column_int(st, 1);
	c->codec = sqlite3_column_int(st, 2);
	c->data = column_text(st, 3);
	return sqlite3_column_type(st, 4) == SQLITE_NULL ||
	       sqlite3_column_int64(st, 4) == row_sum(&output_table, c, 0);
}

/* `damaged`: the one before it was, and may have been longer than it says. */
static int add_chunk(
    const struct output_row *c, bool whole, bool damaged, struct buf *out, struct output_end *end)
{
	int64_t begun;
	int rc;

	if (damaged && c->offset > end->at)
		end->damaged += damaged_append(c->offset, OUTPUT_CHUNK_BYTES, out, &end->at);
	if (whole)
		return chunk_append(c, out, &end->at);
	begun = end->at;
	rc = chunk_damaged(c, out, &end->at);
	end->damaged += end->at - begun;
	return rc;
}

static int read_chunks(struct sqlite_reader *r, rid task, int64_t token, int stream, size_t max,
    struct buf *out, struct output_end *end)
{
	int64_t from = end->at;
	bool damaged = false;
	sqlite3_stmt *st;
	int step = SQLITE_DONE,
	    rc = sqlite_query(r,
	        "SELECT at, raw_bytes, codec, data, sum FROM output WHERE task = ?1 AND token = ?2 "
	        "AND"
	        " stream = ?3 AND at >= (SELECT coalesce(max(at), 0) FROM output WHERE task = ?1 "
	        "AND"
	        " token = ?2 AND stream = ?3 AND at <= ?4) ORDER BY at",
	        &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, (int64_t)task);
	sqlite3_bind_int64(st, 2, token);
	sqlite3_bind_int(st, 3, stream);
	sqlite3_bind_int64(st, 4, from);
	while (rc == 0 && (uint64_t)(end->at - from) < max &&
	       (step = sqlite3_step(st)) == SQLITE_ROW) {
		struct output_row c = {.task = task, .token = token, .stream = stream};
		bool whole = read_chunk(st, &c);

		rc = add_chunk(&c, whole, damaged, out, end);
		damaged = !whole;
	}
	step = sqlite_done(st, step);
	return rc < 0 ? rc : step; /* a gap ends what can be read for now */
}

int sqlite_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	bool done;
	int rc = sqlite_snapshot_begin(r);

	if (rc)
		return rc;
	rc = read_inline(r, task, token, stream, max, out, ret_end, &done);
	if (rc == 0 && !done)
		rc = read_chunks(r, task, token, stream, max, out, ret_end);
	sqlite_snapshot_end(r);
	/* long output passes through once: its pages must not push out those that are read often */
	if (rc == 0 && ret_end->at - offset >= OUTPUT_CHUNK_BYTES)
		sqlite3_db_release_memory(r->db);
	return rc;
}

static int read_events(sqlite3_stmt *st, uint32_t limit, struct arena *a, struct event_page *page)
{
	size_t cap = 0;
	int rc = SQLITE_DONE;

	while (page->n < limit && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (page->n == cap) {
			struct event_row *more;

			cap = cap ? cap * 2 : 16;
			more = arena_alloc(a, cap * sizeof *more);
			if (page->n)
				memcpy(more, page->rows, page->n * sizeof *more);
			page->rows = more;
		}
		if (sqlite_read_row(st, &event_table, 0, a, &page->rows[page->n]))
			page->rows[page->n].kind = STR(ROW_DAMAGED);
		page->n++;
	}
	return sqlite_done(st, rc);
}

#define EVENT_SELECT \
	"SELECT seq, time_ms, kind, subject, actor, detail, prev, hash, sum FROM event "

int sqlite_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	sqlite3_stmt *st;
	int rc = sqlite_query(
	    (struct sqlite_reader *)base, EVENT_SELECT "WHERE seq > ? ORDER BY seq LIMIT ?", &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, after > INT64_MAX ? INT64_MAX : (int64_t)after);
	sqlite3_bind_int64(st, 2, limit);
	return read_events(st, limit, a, ret_page);
}

int sqlite_events_before(struct store_reader *base, uint64_t before, uint32_t limit,
    struct arena *a, struct event_page *ret_page)
{
	sqlite3_stmt *st;
	int rc = sqlite_query((struct sqlite_reader *)base,
	    EVENT_SELECT "WHERE seq < ? ORDER BY seq DESC LIMIT ?", &st);

	if (rc)
		return rc;
	sqlite3_bind_int64(st, 1, before > INT64_MAX ? INT64_MAX : (int64_t)before);
	sqlite3_bind_int64(st, 2, limit);
	rc = read_events(st, limit, a, ret_page);
	for (size_t i = 0, j = ret_page->n; i + 1 < j; i++, j--) {
		struct event_row swap = ret_page->rows[i];

		ret_page->rows[i] = ret_page->rows[j - 1];
		ret_page->rows[j - 1] = swap;
	}
	return rc;
}
