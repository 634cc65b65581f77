/* SPDX-License-Identifier: Apache-2.0 */
/* The events that people audit, and the ends of their chain. */
#include "base/mem.h"
#include "store/chain.h"
#include "store/sql/read.h"

static int read_page(
    struct sql_reader *r, const struct sql_query *q, struct arena *a, struct event_page *page)
{
	struct sql_rows found = {.t = &event_table, .a = a};
	int rc = sql_gather(r, q, 0, &found);

	page->rows = found.rows;
	page->n = found.n;
	return rc;
}

/* Numbers are signed in a database. */
static int64_t seq_of(uint64_t seq)
{
	return seq > INT64_MAX ? INT64_MAX : (int64_t)seq;
}

int sql_events(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;

	sql_select(&q, r, &event_table, 0);
	sql_term(&q, "WHERE seq > ?", seq_of(after));
	sql_term(&q, " ORDER BY seq LIMIT ?", limit);
	return read_page(r, &q, a, ret_page);
}

int sql_events_before(struct store_reader *base, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &event_table, 0);
	sql_term(&q, "WHERE seq < ?", seq_of(before));
	sql_term(&q, " ORDER BY seq DESC LIMIT ?", limit);
	rc = read_page(r, &q, a, ret_page);
	for (size_t i = 0, j = ret_page->n; i + 1 < j; i++, j--) {
		struct event_row swap = ret_page->rows[i];

		ret_page->rows[i] = ret_page->rows[j - 1];
		ret_page->rows[j - 1] = swap;
	}
	return rc;
}

static int parse_end(void *arg, const struct sql_found *found)
{
	const struct meta_row *m = found->row;

	return found->damage || !chain_end_parse(m->value, arg);
}

int sql_chain_end(struct sql_reader *r, const char *name, struct chain_end *ret_end)
{
	AUTO(arena_release) struct arena a = {0};
	AUTO(sql_query_release) struct sql_query q;

	sql_select(&q, r, &meta_table, 0);
	sql_term_str(&q, "WHERE name = ?", str_of(name));
	return r->sql->rows(r, &q, &meta_table, 0, &a, parse_end, ret_end);
}

static int read_ends(struct sql_reader *r, struct audit_page *page)
{
	int rc = sql_chain_end(r, META_AUDIT_ANCHOR, &page->anchor);

	if (rc == 0)
		rc = sql_chain_end(r, META_AUDIT_HEAD, &page->head);
	return rc > 0 ? ERR_STORE : rc;
}

int sql_audit(struct store_reader *base, uint64_t after, uint32_t limit, struct arena *a,
    struct audit_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	rc = read_ends(r, ret_page);
	if (rc == 0)
		rc = sql_events(base, after, limit, a, &ret_page->events);
	r->sql->snapshot_end(r);
	return rc;
}
