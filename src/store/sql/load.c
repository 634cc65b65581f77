/* SPDX-License-Identifier: Apache-2.0 */
/* What the brain must know at start. Only live tasks are looked at, through their indexes; and of
 * groups that have not ended, all jobs. */
#include "base/mem.h"
#include "model/objects/group.h"
#include "store/sql/read.h"

struct load {
	struct sql_reader *r;
	const struct row_loader *to;
	const struct row_table *table; /* the table that is being read */
	rid last;                      /* id of the row before, if these are ids */
	struct arena a;                /* of one row */
	struct id_space ids;
	struct problem *problem;
	bool stopped; /* by the loader, or with a problem that says more */
};

/* The function that ends it has said why. */
static int stop(struct load *l, int rc)
{
	l->stopped = rc != 0;
	return rc;
}

static int run(struct load *l, int rc, const char *doing)
{
	return rc && !l->stopped ? l->r->sql->problem(l->r, doing, l->problem) : rc;
}

/* Rows come by their ids. Another order, or the same id twice, means that an id in the file is not
 * the row's: the row would take the place of another, or be looked for where it is not. A check of
 * the structure finds this, if there is time for all of it. */
static bool is_misplaced(struct load *l, const void *row)
{
	const struct row_table *t = l->table;
	rid id = t->has_id && t->n_key == 1 ? (rid)column_i64(&t->columns[0], row) : 0;
	bool is_wrong = l->last && id && (int64_t)id <= (int64_t)l->last;

	l->last = id;
	return is_wrong;
}

static int refuse_misplaced(struct load *l)
{
	problem_set(l->problem, ERR_STORE,
	    "the store is damaged (%s: two rows have one id, or one is out of its place)",
	    l->table->name);
	return problem_hint(
	    l->problem, "`reeve store check` names everything that is; restore a backup");
}

static int hand_over(void *arg, const struct sql_found *found)
{
	struct load *l = arg;
	const struct meta_row *m = found->row;
	int rc = 0;

	if (is_misplaced(l, found->row))
		rc = refuse_misplaced(l);
	else if (found->damage)
		rc = sql_quarantine(l->r, l->table, found, &l->ids, &l->a, l->problem);
	else if (l->table == &meta_table && str_is(m->name, META_INSTALLATION))
		id_space_parse(m->value, &l->ids); /* all zero if nobody knows it */
	if (rc == 0)
		rc = l->to->row(l->to->arg, l->table, found->row);
	arena_reset(&l->a);
	return stop(l, rc);
}

static int load_rows(struct load *l, const struct row_table *t)
{
	AUTO(sql_query_release) struct sql_query q;

	l->table = t;
	l->last = 0;
	sql_select(&q, l->r, t, 0);
	if (t == &meta_table)
		sql_add(
		    &q.text, "WHERE name NOT IN ('" META_AUDIT_HEAD "', '" META_AUDIT_ANCHOR "') ");
	buf_printf(&q.text.out, "ORDER BY %s", t->columns[0].name);
	return run(
	    l, l->r->sql->rows(l->r, &q, t, 0, &l->a, hand_over, l), "the store cannot be read");
}

static int load_numbers(struct load *l, const char *text, int n, sql_numbers_fn *fn)
{
	AUTO(sql_query_release) struct sql_query q;

	sql_query_begin(&q, l->r);
	sql_add(&q.text, text);
	return run(l, l->r->sql->numbers(l->r, &q, n, fn, l), "the store cannot be read");
}

static const char counts_sql[] = "SELECT queue, status, sum(n) FROM ("
                                 "SELECT queue, -2 AS status, count(*) AS n FROM task {task_ready}"
                                 " WHERE " READY_SQL " GROUP BY queue UNION ALL "
                                 "SELECT queue, -2, count(*) FROM task {task_due}"
                                 " WHERE " DUE_SQL " GROUP BY queue UNION ALL "
                                 "SELECT queue, status, count(*) FROM task {task_live}"
                                 " WHERE " LIVE_SQL " GROUP BY queue, status"
                                 ") AS live GROUP BY queue, status ORDER BY queue, status";

static int load_count(void *arg, const int64_t *n)
{
	struct load *l = arg;

	return stop(l, l->to->count(l->to->arg, (rid)n[0], (int32_t)n[1], n[2]));
}

static const char owned_sql[] = "SELECT owner_kind, owner, id, queue FROM task {task_owner_live}"
                                " WHERE " OWNED_LIVE_SQL " ORDER BY id";

/* Jobs have the ids behind their group's. What has ended of a group that has not is passed over. */
static const char jobs_sql[] =
    "SELECT owner_kind, owner, t.id, queue FROM groups AS g CROSS JOIN task AS t {}"
    "WHERE g.state <> 4 AND g.state <> 6 AND g.state <> 8"
    " AND t.id > g.id AND t.id <= g.id + g.n_jobs"
    " AND owner = g.id AND owner_kind = 4 AND " NOT_ENDED_SQL " ORDER BY g.id, t.id";
_Static_assert(KIND_GROUP == 4 && GROUP_COMPLETE == 4 && GROUP_FAILED == 6 && GROUP_CANCELED == 8,
    "as the question says");

static int load_owned(void *arg, const int64_t *n)
{
	const struct owner of = {(int32_t)n[0], (rid)n[1], 0};
	struct load *l = arg;

	return stop(l, l->to->owned(l->to->arg, &of, (rid)n[2], (rid)n[3]));
}

/* The tasks' ids first, then row by row: few enough to sort, possibly too large to hold at once. */
static const char dispatched_sql[] =
    "SELECT id FROM task {task_live} WHERE " LIVE_SQL " AND status >= -1 ORDER BY id";

static int load_task(void *arg, const int64_t *n)
{
	struct load *l = arg;
	struct task_row t;
	int rc = sql_task_get(&l->r->base, (rid)n[0], &l->a, &t);

	if (rc)
		rc = l->r->sql->problem(l->r, "a task cannot be read", l->problem);
	else
		rc = l->to->row(l->to->arg, &task_table, &t);
	arena_reset(&l->a);
	return stop(l, rc);
}

static int load_table(struct load *l, const struct row_table *t)
{
	int rc = load_rows(l, t);

	if (rc == 0 && t == &queue_table)
		rc = load_numbers(l, counts_sql, 3, load_count);
	return rc;
}

int sql_load(struct sql_reader *r, const struct row_loader *to, rid last_id, uint64_t last_event,
    struct problem *ret_problem)
{
	struct load l = {.r = r, .to = to, .problem = ret_problem};
	int rc = 0;

	for (int i = 0; i < N_TABLES && rc == 0; i++)
		if (row_tables[i]->is_loaded)
			rc = load_table(&l, row_tables[i]);
	if (rc == 0)
		rc = load_numbers(&l, owned_sql, 4, load_owned);
	if (rc == 0)
		rc = load_numbers(&l, jobs_sql, 4, load_owned);
	if (rc == 0)
		rc = load_numbers(&l, dispatched_sql, 1, load_task);
	if (rc == 0)
		rc = to->done(to->arg, last_id, last_event);
	arena_release(&l.a);
	return rc;
}
