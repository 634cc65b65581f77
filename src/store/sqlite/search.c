/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists by words: tasks that the index has come from it, those behind its end are looked at one by
 * one. What the index names is only a candidate: each is read from the database, by the whole
 * filter and by its words. Without an index, or on any trouble with it, everything is looked at.
 */
#include <string.h>

#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#define CANDIDATES 20000 /* looked at before a short page is handed back */
#define FIRST 250        /* of them at first */
#define FEW 2000         /* tasks that are sooner looked at than found in the index */

static void forget_words(struct sqlite_reader *r)
{
	sqlite3_close(r->words);
	r->words = NULL;
}

/* Another one may be right; until then there is none. */
static void suspect(struct sqlite_reader *r, int sqlite_rc)
{
	struct follower *f = r->follower;

	forget_words(r);
	if ((sqlite_rc & 0xff) == SQLITE_BUSY)
		return;
	atomic_store(&f->suspect, true);
	atomic_store(&f->wanted, true);
	sem_post(&f->wake);
}

/* The connection to the file as it is now. */
static sqlite3 *words_of(struct sqlite_reader *r)
{
	struct follower *f = r->follower;
	unsigned long generation = f ? atomic_load(&f->generation) : 0;

	if (generation == r->words_generation)
		return r->words;
	forget_words(r);
	r->words_generation = generation;
	if (words_connect(f->path, &r->words) == SQLITE_OK)
		sqlite3_exec(r->words, "PRAGMA query_only = 1", NULL, NULL, NULL);
	else
		suspect(r, SQLITE_CANTOPEN); /* somebody has removed it */
	return r->words;
}

void sqlite_search_forget(struct sqlite_reader *r)
{
	forget_words(r);
}

/* One list in two parts: [1, done_to] by the index, and what lies behind. */
struct listing {
	struct sqlite_reader *r;
	sqlite3 *words;
	const struct task_filter *f;
	bool oldest_first, bare;
	uint32_t limit;
	struct arena *a;
	struct task_page *page;
	size_t cap;
	rid done_to;
	int sqlite_rc; /* of the index */
};

static void take(struct listing *l, const struct task_page *found)
{
	struct task_page *p = l->page;

	for (size_t i = 0; i < found->n; i++) {
		p->rows = arena_room(l->a, p->rows, p->n, &l->cap, sizeof *p->rows);
		p->rows[p->n++] = found->rows[i];
	}
}

static int look_behind(struct listing *l, rid cursor)
{
	struct task_filter f = *l->f;
	struct task_page found = {0};
	int rc;

	if (f.since <= l->done_to)
		f.since = l->done_to + 1;
	rc = sql_task_list(&l->r->sql.base, &f, l->oldest_first, l->bare, cursor,
	    l->limit - (uint32_t)l->page->n, l->a, &found);
	if (rc == 0)
		take(l, &found);
	l->page->next = found.next;
	return rc;
}

/* So many of them, all at once: each by itself would cost several times as much. */
static int look_at(struct listing *l, const rid *ids, size_t n)
{
	AUTO(buf_release) struct buf list = {0};
	struct task_page found = {0};
	int rc;

	for (size_t i = 0; i < n; i++)
		buf_printf(&list, "%c%llu", i ? ',' : '[', (unsigned long long)ids[i]);
	buf_add_char(&list, ']');
	rc = sql_task_among(&l->r->sql.base, l->f, buf_str(&list), l->oldest_first, l->bare,
	    l->limit - (uint32_t)l->page->n, l->a, &found);
	if (rc == 0)
		take(l, &found);
	l->page->next = found.next;
	return rc;
}

static struct words_query query_of(const struct listing *l, rid cursor)
{
	struct sql_range g = sql_task_range(l->f);
	struct words_query q = {.search = &l->f->search,
	    .low = (rid)g.low,
	    .high = (rid)g.high < l->done_to ? (rid)g.high : l->done_to,
	    .oldest_first = l->oldest_first};

	if (cursor && l->oldest_first && cursor >= q.low)
		q.low = cursor + 1;
	if (cursor && !l->oldest_first && cursor <= q.high)
		q.high = cursor - 1;
	return q;
}

/* The next ones, and which are left; *ret_more: some are. */
static int look_at_next(struct listing *l, struct words_query *q, rid *ids, bool *ret_more)
{
	size_t n = 0;
	int rc;

	l->sqlite_rc = words_find(l->words, q, ids, &n);
	if (l->sqlite_rc)
		return ERR_STORE;
	*ret_more = false;
	if (n == 0)
		return 0;
	rc = look_at(l, ids, n);
	if (rc || l->page->next || n < q->limit) /* full in the middle of them, or all were seen */
		return rc;
	l->page->next = ids[n - 1];
	if (l->oldest_first)
		q->low = ids[n - 1] + 1;
	else
		q->high = ids[n - 1] - 1;
	*ret_more = q->low <= q->high && l->page->n < l->limit;
	return 0;
}

/* Few at first, for most candidates are hits; then more and more, for here few are. */
static int look_in_index(struct listing *l, rid cursor)
{
	struct words_query q = query_of(l, cursor);
	AUTO(arena_release) struct arena scratch = {0};
	rid *ids = arena_alloc(&scratch, CANDIDATES * sizeof *ids);
	size_t looked = 0;
	bool more = q.low <= q.high;
	int rc = 0;

	l->page->next = 0;
	for (q.limit = FIRST; rc == 0 && more && looked < CANDIDATES; looked += q.limit) {
		if (looked)
			q.limit =
			    looked * 3 < CANDIDATES - looked ? looked * 3 : CANDIDATES - looked;
		l->page->next = 0;
		rc = look_at_next(l, &q, ids, &more);
	}
	return rc;
}

/* A place in the list is an id: it says which part it is in. */
static int list_both(struct listing *l, rid cursor)
{
	bool index_first = l->oldest_first;
	bool in_second = cursor && (index_first ? cursor >= l->done_to : cursor <= l->done_to);
	int rc = 0;

	if (!in_second) {
		rc = index_first ? look_in_index(l, cursor) : look_behind(l, cursor);
		if (rc || l->page->next)
			return rc;
		cursor = 0;
	}
	if (l->page->n == l->limit) {
		l->page->next = index_first ? l->done_to : l->done_to + 1;
		return 0;
	}
	return index_first ? look_behind(l, cursor) : look_in_index(l, cursor);
}

/* The database is seen as of one moment, too: locks for each query would cost more than it does. */
static int list_by_words(struct listing *l, rid cursor)
{
	struct sql_reader *r = &l->r->sql;
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	l->sqlite_rc = sqlite3_exec(l->words, "BEGIN", NULL, NULL, NULL);
	if (l->sqlite_rc == SQLITE_OK)
		l->sqlite_rc = words_done_to(l->words, &l->done_to);
	rc = l->sqlite_rc ? ERR_STORE : list_both(l, cursor);
	sqlite3_exec(l->words, "ROLLBACK", NULL, NULL, NULL);
	r->sql->snapshot_end(r);
	return rc;
}

int sqlite_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	struct sqlite_reader *r = (struct sqlite_reader *)base;
	struct listing l = {.r = r,
	    .f = f,
	    .oldest_first = oldest_first,
	    .bare = bare,
	    .limit = limit > STORE_SCAN_STEP ? STORE_SCAN_STEP : limit,
	    .a = a,
	    .page = ret_page,
	    .words = f->search.n ? words_of(r) : NULL};
	bool few = false;
	int rc = l.words ? sql_task_is_few(base, f, FEW, &few) : 0;

	if (rc || few || !l.words)
		return rc ? rc
		          : sql_task_list(base, f, oldest_first, bare, cursor, limit, a, ret_page);
	rc = list_by_words(&l, cursor);
	if (!l.sqlite_rc)
		return rc;
	suspect(r, l.sqlite_rc);
	*ret_page = (struct task_page){0};
	return sql_task_list(base, f, oldest_first, bare, cursor, limit, a, ret_page);
}
