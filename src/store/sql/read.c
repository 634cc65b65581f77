/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, rows gathered from them, and the simple lookups. */
#include "store/sql/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sql_query_release(struct sql_query *q)
{
	sql_text_release(&q->text);
}

static void add_param(struct sql_query *q, int64_t n, struct str s)
{
	MUST(q->n_params < SQL_PARAMS_MAX);
	q->params[q->n_params].n = n;
	q->params[q->n_params++].s = s;
}

void sql_term(struct sql_query *q, const char *text, int64_t n)
{
	sql_add(&q->text, text);
	add_param(q, n, STR_NULL);
}

void sql_term_str(struct sql_query *q, const char *text, struct str s)
{
	sql_add(&q->text, text);
	add_param(q, 0, s);
}

void sql_query_begin(struct sql_query *q, const struct sql_reader *r)
{
	q->text = (struct sql_text){.dialect = r->sql->dialect};
	q->n_params = 0; /* what lies behind is never looked at */
}

void sql_select(
    struct sql_query *q, const struct sql_reader *r, const struct row_table *t, unsigned skip_flags)
{
	sql_query_begin(q, r);
	sql_add_select(&q->text, t, skip_flags);
}

static int gather_one(void *arg, const struct sql_found *found)
{
	struct sql_rows *to = arg;
	size_t size = to->t->row_size;
	void *at;

	if (!to->cap && to->expected)
		to->rows = arena_alloc(to->a, (to->cap = to->expected) * size);
	to->rows = arena_room(to->a, to->rows, to->n, &to->cap, size);
	at = memcpy((char *)to->rows + to->n++ * size, found->row, size);
	if (found->damage && to->t->quarantine)
		to->t->quarantine(at, &(struct quarantine_facts){.damage = found->damage});
	return 0;
}

int sql_gather(
    struct sql_reader *r, const struct sql_query *q, unsigned skip_flags, struct sql_rows *to)
{
	return r->sql->rows(r, q, to->t, skip_flags, to->a, gather_one, to);
}

struct one_number {
	bool found;
	int64_t n;
};

static int keep_number(void *arg, const int64_t *numbers)
{
	*(struct one_number *)arg = (struct one_number){true, numbers[0]};
	return 0;
}

int sql_number(struct sql_reader *r, const struct sql_query *q, bool *ret_found, int64_t *ret_n)
{
	struct one_number one = {false, 0};
	int rc = r->sql->numbers(r, q, 1, keep_number, &one);

	if (rc == 0 && one.found)
		*ret_n = one.n;
	if (ret_found)
		*ret_found = rc == 0 && one.found;
	return rc;
}

static int keep_task(void *arg, const struct sql_found *found)
{
	struct task_row *to = arg;

	*to = *(const struct task_row *)found->row;
	to->damage = found->damage;
	return 0;
}

/* All zero: it is not there. */
static int get_task(
    struct sql_reader *r, const struct sql_query *q, struct arena *a, struct task_row *ret_row)
{
	*ret_row = (struct task_row){0};
	return r->sql->rows(r, q, &task_table, 0, a, keep_task, ret_row);
}

static void ask_task(struct sql_query *q, struct sql_reader *r, rid id)
{
	sql_select(q, r, &task_table, 0);
	sql_term(q, "WHERE id = ?", (int64_t)id);
}

int sql_task_get(struct store_reader *base, rid id, struct arena *a, struct task_row *ret_row)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	ask_task(&q, r, id);
	rc = get_task(r, &q, a, ret_row);
	return rc == 0 && !ret_row->id ? ERR_NOT_FOUND : rc;
}

/* One of the tasks that are asked for, and where its row goes. */
struct place {
	rid id;
	size_t at;
};

struct filling {
	const struct place *next, *end;
	struct task_row *rows;
};

static int by_id(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->id < b->id ? -1 : a->id > b->id;
}

static struct place *places_of(const rid *ids, size_t n, struct arena *a)
{
	struct place *places = arena_alloc(a, (n + 1) * sizeof *places);
	bool is_sorted = true;

	for (size_t i = 0; i < n; i++) {
		places[i] = (struct place){ids[i], i};
		is_sorted = is_sorted && (i == 0 || ids[i - 1] <= ids[i]);
	}
	if (!is_sorted)
		qsort(places, n, sizeof *places, by_id);
	return places;
}

/* Rows come by id, as the places do. */
static int fill(void *arg, const struct sql_found *found)
{
	const struct task_row *row = found->row;
	struct filling *to = arg;

	while (to->next < to->end && to->next->id < row->id)
		to->next++;
	for (; to->next < to->end && to->next->id == row->id; to->next++) {
		to->rows[to->next->at] = *row;
		to->rows[to->next->at].damage = found->damage;
	}
	return 0;
}

/* Ids that follow each other are one question: jobs of a group mostly do. */
static int get_tasks(struct sql_reader *r, const struct place *places, size_t n, struct arena *a,
    struct task_row *ret_rows)
{
	struct filling to = {places, places + n, ret_rows};
	AUTO(sql_query_release) struct sql_query one, many;
	int rc = 0;

	ask_task(&one, r, 0);
	sql_select(&many, r, &task_table, 0);
	sql_term(&many, "WHERE id >= ?", 0);
	sql_term(&many, " AND id <= ? ORDER BY id", 0);
	for (size_t i = 0, end; i < n && rc == 0; i = end) {
		for (end = i + 1; end < n && places[end].id <= places[end - 1].id + 1; end++)
			;
		one.params[0].n = many.params[0].n = (int64_t)places[i].id;
		many.params[1].n = (int64_t)places[end - 1].id;
		rc = r->sql->rows(r, end - i == 1 ? &one : &many, &task_table, 0, a, fill, &to);
	}
	return rc;
}

int sql_tasks_get(
    struct store_reader *base, const rid *ids, size_t n, struct arena *a, struct task_row *ret_rows)
{
	struct sql_reader *r = (struct sql_reader *)base;
	const struct place *places = places_of(ids, n, a);
	int rc = r->sql->snapshot_begin(r);

	if (rc)
		return rc;
	for (size_t i = 0; i < n; i++)
		ret_rows[i] = (struct task_row){0};
	rc = get_tasks(r, places, n, a, ret_rows);
	r->sql->snapshot_end(r);
	return rc;
}

int sql_find_key(struct store_reader *base, rid queue, struct str key, rid *ret_id)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;
	int64_t id = (int64_t)*ret_id;
	int rc;

	sql_query_begin(&q, r);
	sql_term(&q, "SELECT id FROM task {task_key} WHERE queue = ? ", (int64_t)queue);
	sql_term_str(&q, "AND unique_key = ? AND " KEY_SQL " ORDER BY id LIMIT 1", key);
	rc = sql_number(r, &q, NULL, &id);
	*ret_id = (rid)id;
	return rc;
}

int sql_find_idem(
    struct store_reader *base, struct str key, struct arena *a, struct idem_row *ret_row)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_rows found = {.t = &idem_table, .a = a};
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &idem_table, 0);
	sql_term_str(&q, "WHERE idem_key = ?", key);
	rc = sql_gather(r, &q, 0, &found);
	if (rc || found.n == 0)
		return rc ? rc : ERR_NOT_FOUND;
	*ret_row = *(struct idem_row *)found.rows;
	if (ret_row->damaged)
		ret_row->key = arena_str(a, key);
	return 0;
}
