/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks by their words, without an index: rows are read in a bounded step and looked at one by one.
 * A store with an index narrows the range to the tasks that it names, and to those that the index
 * does not have yet.
 */
#include "base/mem.h"
#include "store/sql/read.h"

#define STEP_BYTES (16u << 20) /* of texts looked at before a short page is handed back */
#define ENOUGH 1               /* ends the query; no error */

struct looking {
	const struct task_filter *f;
	struct arena *a, scratch; /* where what is found is kept; where a row is read */
	struct buf text;
	struct task_page *page;
	uint32_t limit;
	unsigned skip_flags;
	size_t cap, bytes;
	rid last; /* looked at */
};

static void keep(struct looking *l, const struct sql_found *found)
{
	struct task_page *p = l->page;

	p->rows = arena_room(l->a, p->rows, p->n, &l->cap, sizeof *p->rows);
	row_copy(&task_table, l->a, found->row, l->skip_flags, &p->rows[p->n]);
	p->rows[p->n++].damage = found->damage;
}

static int look_at(void *arg, const struct sql_found *found)
{
	struct looking *l = arg;
	const struct task_row *t = found->row;

	if (l->page->n == l->limit || l->bytes > STEP_BYTES)
		return ENOUGH;
	search_text(&t->spec, &l->text);
	if (search_matches(&l->f->search, buf_str(&l->text)))
		keep(l, found);
	l->last = t->id;
	l->bytes += t->spec.body.n + l->text.n;
	arena_reset(&l->scratch);
	return 0;
}

/* *ret_last: not all of them were looked at, only up to here; else 0. */
int sql_search(struct sql_reader *r, const struct sql_query *q, const struct task_filter *f,
    bool bare, uint32_t limit, struct arena *a, struct task_page *page, rid *ret_last)
{
	struct looking l = {
	    .f = f, .a = a, .page = page, .limit = limit, .skip_flags = bare ? COLUMN_BULKY : 0};
	int rc = r->sql->rows(r, q, &task_table, 0, &l.scratch, look_at, &l);

	*ret_last = rc == ENOUGH ? l.last : 0;
	arena_release(&l.scratch);
	buf_release(&l.text);
	return rc == ENOUGH ? 0 : rc;
}
