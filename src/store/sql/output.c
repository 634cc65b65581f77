/* SPDX-License-Identifier: Apache-2.0 */
/* Kept output of tasks: in the task's own row, or in chunks. */
#include "base/mem.h"
#include "model/limits.h"
#include "store/chunk.h"
#include "store/sql/read.h"

struct reading {
	rid task;
	int64_t token;
	int stream;
	int64_t from;
	size_t max;
	struct buf *out;
	struct output_end *end;
	struct arena a;  /* of one row */
	bool is_there;   /* the task */
	bool is_done;    /* all was in the task's row */
	bool is_unknown; /* nobody knows where its output lies */
	bool damaged;    /* the chunk before was, and may have been longer than it says */
};

static int read_task(void *arg, const struct sql_found *found)
{
	const struct task_row *t = found->row;
	struct reading *o = arg;

	o->is_there = true;
	o->is_unknown = found->damage & DAMAGED_STATE;
	o->is_done = t->state.output_where == OUTPUT_INLINE && t->state.token == o->token;
	if (o->is_done && found->damage & DAMAGED_OUTPUT)
		o->end->damaged +=
		    damaged_append(t->state.output_bytes[o->stream], o->max, o->out, &o->end->at);
	else if (o->is_done)
		inline_append(t->state.output[o->stream], o->max, o->out, &o->end->at);
	return 0;
}

static int read_inline(struct sql_reader *r, struct reading *o)
{
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &task_table, COLUMN_FAR);
	sql_term(&q, "WHERE id = ?", (int64_t)o->task);
	rc = r->sql->rows(r, &q, &task_table, COLUMN_FAR, &o->a, read_task, o);
	if (rc == 0 && !o->is_there)
		return ERR_NOT_FOUND;
	return rc == 0 && o->is_unknown ? ERR_STORE : rc;
}

static int add_chunk(struct reading *o, const struct output_row *c, bool is_whole)
{
	struct output_end *end = o->end;
	int64_t begun;
	int rc;

	if (o->damaged && c->offset > end->at)
		end->damaged += damaged_append(c->offset, OUTPUT_CHUNK_BYTES, o->out, &end->at);
	if (is_whole)
		return chunk_append(c, o->out, &end->at);
	begun = end->at;
	rc = chunk_damaged(c, o->out, &end->at);
	end->damaged += end->at - begun;
	return rc;
}

/* 1: it is enough, or a gap ends what can be read for now. */
static int read_chunk(void *arg, const struct sql_found *found)
{
	struct reading *o = arg;
	int rc = add_chunk(o, found->row, !found->damage);

	o->damaged = found->damage;
	arena_reset(&o->a);
	return rc ? rc : (uint64_t)(o->end->at - o->from) >= o->max;
}

static int read_chunks(struct sql_reader *r, struct reading *o)
{
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &output_table, 0);
	sql_term(&q, "WHERE task = ?1", (int64_t)o->task);
	sql_term(&q, " AND token = ?2", o->token);
	sql_term(&q, " AND stream = ?3", o->stream);
	sql_term(&q,
	    " AND at >= (SELECT coalesce(max(at), 0) FROM output WHERE task = ?1 AND token = ?2"
	    " AND stream = ?3 AND at <= ?4) ORDER BY at",
	    o->from);
	rc = r->sql->rows(r, &q, &output_table, 0, &o->a, read_chunk, o);
	return rc < 0 ? rc : 0;
}

int sql_output(struct store_reader *base, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct reading o = {.task = task,
	    .token = token,
	    .stream = stream,
	    .from = ret_end->at,
	    .max = max,
	    .out = out,
	    .end = ret_end};
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	rc = read_inline(r, &o);
	if (rc == 0 && !o.is_done && max)
		rc = read_chunks(r, &o);
	r->sql->snapshot_end(r);
	arena_release(&o.a);
	return rc;
}
