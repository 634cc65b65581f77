/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists and counts by filter. What is asked of an owner's tasks, of those of a name, or of
 * dispatched or held ones alone, comes from their index, and of a group's from the ids behind its
 * own; all else walks the tasks by id, and a list does so in bounded steps.
 */
#include "base/mem.h"
#include "model/objects/group.h"
#include "store/sql/read.h"

/* Does every state asked for stand in the index of dispatched and held tasks? */
static bool only_live(const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_states; i++) {
		int min = f->states[i].min, max = f->states[i].max;

		if (!(max < TASK_ORPHANED || (min == TASK_BLOCKED && max == TASK_BLOCKED) ||
		        (min >= TASK_CLAIMED && max <= TASK_RUNNING)))
			return false;
	}
	return f->n_states > 0;
}

static void add_states(struct sql_query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_states; i++) {
		sql_term(
		    q, i ? " OR status BETWEEN ?" : " AND (status BETWEEN ?", f->states[i].min);
		sql_term(q, " AND ?", f->states[i].max);
		if (f->states[i].delayed)
			sql_term(q, " AND due_ms > ?", f->now_ms);
	}
	if (f->n_states)
		sql_add(&q->text, ")");
}

static void add_labels(struct sql_query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_labels; i++) {
		sql_add(&q->text, " AND ");
		sql_term_str(q, q->text.dialect->has_line, f->labels[i]);
	}
}

static void add_among(struct sql_query *q, const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_among; i++)
		sql_term(q, i ? ", ?" : " AND queue IN (?", (int64_t)f->among[i]);
	if (f->n_among)
		sql_add(&q->text, ")");
}

static void add_filter(struct sql_query *q, const struct task_filter *f)
{
	if (f->queue)
		sql_term(q, " AND queue = ?", (int64_t)f->queue);
	add_among(q, f);
	if (f->batch)
		sql_term(q, " AND batch = ?", (int64_t)f->batch);
	if (f->worker)
		sql_term(q, " AND worker = ?", (int64_t)f->worker);
	if (f->ended_before_ms)
		sql_term(q, " AND " ENDED_SQL " AND ended_ms < ?", f->ended_before_ms);
	if (f->name.p)
		sql_term_str(q, " AND name = ?", f->name);
	add_states(q, f);
	add_labels(q, f);
}

static bool of_group(const struct task_filter *f)
{
	return f->owner && f->owner_kind == KIND_GROUP;
}

struct sql_range sql_task_range(const struct task_filter *f)
{
	struct sql_range g = {1, INT64_MAX};

	if (f->since)
		g.low = (int64_t)f->since;
	if (f->batch && (int64_t)f->batch > g.low)
		g.low = (int64_t)f->batch;
	if (f->until)
		g.high = (int64_t)f->until - 1;
	if (of_group(f) && (int64_t)f->owner >= g.low)
		g.low = (int64_t)f->owner + 1;
	if (of_group(f) && g.high - GROUP_JOBS_MAX > (int64_t)f->owner)
		g.high = (int64_t)f->owner + GROUP_JOBS_MAX;
	return g;
}

_Static_assert(KIND_GROUP == 4, "as the conditions say");
#define OF_GROUP "{} WHERE owner_kind = 4 AND owner = ?"

static void add_owner(struct sql_query *q, const struct task_filter *f)
{
	sql_term(q, "{task_owner} WHERE " OWNED_SQL " AND owner = ?", (int64_t)f->owner);
	sql_term(q, " AND owner_kind = ?", f->owner_kind);
}

/* Not beyond the last one that is known. One term: SQLite looks at no second bound for where to
 * stop. */
static void add_last(struct sql_query *q, const char *last, const char *table, rid id, int64_t high)
{
	buf_printf(&q->text.out, " AND id <= coalesce((SELECT CASE WHEN %s", last);
	sql_term(q, " < ?", high);
	buf_printf(&q->text.out, " THEN %s", last);
	sql_term(q, " ELSE ? END", high);
	buf_printf(&q->text.out, " FROM %s", table);
	sql_term(q, " WHERE id = ?", (int64_t)id);
	sql_term(q, "), ?)", high);
}

/* Of a batch its last task; of a group its last job. */
static void add_high(struct sql_query *q, const struct task_filter *f, int64_t high)
{
	if (of_group(f))
		add_last(q, "id + n_jobs", "groups", f->owner, high);
	else if (f->batch)
		add_last(q, "last_task", "task_batch", f->batch, high);
	else
		sql_term(q, " AND id <= ?", high);
}

static void add_source(struct sql_query *q, const struct task_filter *f, struct sql_range g)
{
	if (of_group(f))
		sql_term(q, OF_GROUP, (int64_t)f->owner);
	else if (f->owner)
		add_owner(q, f);
	else if (f->name.p)
		sql_term_str(q, "{task_name} WHERE " NAMED_SQL " AND name = ?", f->name);
	else if (only_live(f))
		sql_add(&q->text, "{task_live} WHERE " LIVE_SQL);
	else
		sql_add(&q->text, "{} WHERE 1 = 1");
	sql_term(q, " AND id >= ?", g.low);
	add_high(q, f, g.high);
}

void sql_add_matching(struct sql_query *q, const struct task_filter *f)
{
	add_source(q, f, sql_task_range(f));
	add_filter(q, f);
}

/* The id of the last row that one step looks at; 0 when the step reaches the end. */
static int step_end(struct sql_reader *r, const struct task_filter *f, struct sql_range g,
    bool oldest_first, int64_t step, int64_t *ret_id)
{
	const struct task_filter source = {
	    .owner = f->owner, .owner_kind = f->owner_kind, .batch = f->batch, .name = f->name};
	AUTO(sql_query_release) struct sql_query q;

	*ret_id = 0;
	sql_query_begin(&q, r);
	sql_add(&q.text, "SELECT id FROM task ");
	add_source(&q, &source, g);
	sql_term(&q,
	    oldest_first ? " ORDER BY id LIMIT 1 OFFSET ?" : " ORDER BY id DESC LIMIT 1 OFFSET ?",
	    step - 1);
	return sql_number(r, &q, NULL, ret_id);
}

/* Is there more to look at than what the source gives? */
static bool filters_rows(const struct task_filter *f)
{
	return f->search.n || f->queue || f->n_among || f->batch || f->worker ||
	       f->ended_before_ms || f->n_states || f->n_labels;
}

static int list_range(struct sql_reader *r, const struct task_filter *f, struct sql_range g,
    bool oldest_first, bool bare, uint32_t limit, struct arena *a, struct task_page *page)
{
	struct sql_rows found = {.t = &task_table, .a = a};
	unsigned skip_flags = bare ? COLUMN_BULKY : 0;
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_select(&q, r, &task_table, skip_flags);
	add_source(&q, f, g);
	add_filter(&q, f);
	sql_term(&q, oldest_first ? " ORDER BY id LIMIT ?" : " ORDER BY id DESC LIMIT ?", limit);
	rc = sql_gather(r, &q, skip_flags, &found);
	page->rows = found.rows;
	page->n = found.n;
	return rc;
}

/* As above; *ret_last as sql_search() has it. */
static int search_range(struct sql_reader *r, const struct task_filter *f, struct sql_range g,
    bool oldest_first, bool bare, uint32_t limit, struct arena *a, struct task_page *page,
    rid *ret_last)
{
	AUTO(sql_query_release) struct sql_query q;

	sql_select(&q, r, &task_table, 0);
	add_source(&q, f, g);
	add_filter(&q, f);
	sql_add(&q.text, oldest_first ? " ORDER BY id" : " ORDER BY id DESC");
	return sql_search(r, &q, f, bare, limit, a, page, ret_last);
}

int sql_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct sql_range g = sql_task_range(f);
	int64_t end = 0;
	rid last = 0;
	int rc = 0;

	if (limit > STORE_SCAN_STEP)
		limit = STORE_SCAN_STEP;
	if (cursor && oldest_first && (int64_t)cursor >= g.low)
		g.low = (int64_t)cursor + 1;
	if (cursor && !oldest_first && (int64_t)cursor <= g.high)
		g.high = (int64_t)cursor - 1;
	if (filters_rows(f) && (f->owner || f->name.p || !only_live(f)))
		rc = step_end(r, f, g, oldest_first, STORE_SCAN_STEP, &end);
	if (end && oldest_first)
		g.high = end;
	else if (end)
		g.low = end;
	if (rc == 0 && f->search.n)
		rc = search_range(r, f, g, oldest_first, bare, limit, a, ret_page, &last);
	else if (rc == 0) /* one more than asked tells whether there is a next page */
		rc = list_range(r, f, g, oldest_first, bare, limit + 1, a, ret_page);
	if (rc)
		return rc;
	if (last) {
		ret_page->next = last;
	} else if (ret_page->n > limit) {
		ret_page->n = limit;
		ret_page->next = ret_page->rows[limit - 1].id;
	} else {
		ret_page->next = (rid)end;
	}
	return 0;
}

int sql_task_among(struct store_reader *base, const struct task_filter *f, struct str ids,
    bool oldest_first, bool bare, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;

	sql_select(&q, r, &task_table, 0);
	sql_add(&q.text, "{} WHERE ");
	sql_term_str(&q, q.text.dialect->is_among, ids);
	if (f->owner) {
		sql_term(&q, " AND owner = ?", (int64_t)f->owner);
		sql_term(&q, " AND owner_kind = ?", f->owner_kind);
	}
	add_filter(&q, f);
	sql_add(&q.text, oldest_first ? " ORDER BY id" : " ORDER BY id DESC");
	return sql_search(r, &q, f, bare, limit, a, ret_page, &ret_page->next);
}

int sql_task_is_few(
    struct store_reader *base, const struct task_filter *f, int64_t most, bool *ret_few)
{
	struct sql_reader *r = (struct sql_reader *)base;
	AUTO(sql_query_release) struct sql_query q;
	bool narrows = f->owner || f->name.p || f->batch || only_live(f), more = true;
	int64_t id;
	int rc = 0;

	sql_query_begin(&q, r);
	sql_add(&q.text, "SELECT id FROM task ");
	add_source(&q, f, sql_task_range(f));
	sql_term(&q, " ORDER BY id LIMIT 1 OFFSET ?", most);
	if (narrows)
		rc = sql_number(r, &q, &more, &id);
	*ret_few = !more;
	return rc;
}

struct counts {
	struct arena *a;
	struct status_count *rows;
	size_t n, cap;
};

static int add_count(void *arg, const int64_t *numbers)
{
	struct counts *c = arg;

	c->rows = arena_room(c->a, c->rows, c->n, &c->cap, sizeof *c->rows);
	c->rows[c->n++] = (struct status_count){(int32_t)numbers[0], numbers[1]};
	return 0;
}

int sql_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	struct counts counts = {.a = a};
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_query_begin(&q, r);
	sql_add(&q.text, "SELECT status, count(*) FROM task ");
	sql_add_matching(&q, f);
	sql_add(&q.text, " GROUP BY status ORDER BY status");
	rc = r->sql->numbers(r, &q, 2, add_count, &counts);
	*ret_counts = counts.rows;
	*ret_n = counts.n;
	return rc;
}

struct ids {
	rid *ids;
	size_t n;
};

static int add_id(void *arg, const int64_t *numbers)
{
	struct ids *to = arg;

	to->ids[to->n++] = (rid)numbers[0];
	return 0;
}

/*
 * There is no cursor to hand back, so where a bounded search ended is remembered in the reader: the
 * next one goes on there, and begins anew once the end was reached.
 */
int sql_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n)
{
	struct sql_reader *r = (struct sql_reader *)base;
	int64_t from = (int64_t)(after > r->prune_seen ? after : r->prune_seen), end;
	struct sql_range g = {from + 1, INT64_MAX};
	struct ids found = {.ids = ret_ids};
	AUTO(sql_query_release) struct sql_query q;
	int rc;

	sql_query_begin(&q, r);
	rc = step_end(r, &(struct task_filter){0}, g, true, STORE_PRUNE_STEP, &end);
	if (rc)
		return rc;
	sql_term(&q, "SELECT id FROM task {} WHERE id >= ?", g.low);
	sql_term(&q, " AND id <= ?", end ? end : INT64_MAX);
	sql_add(&q.text, " AND " ENDED_SQL);
	if (before_ms)
		sql_term(&q, " AND mtime_ms < ?", before_ms);
	sql_term(&q, " ORDER BY id LIMIT ?", limit);
	rc = r->sql->numbers(r, &q, 1, add_id, &found);
	*ret_n = found.n;
	if (found.n < limit)
		r->prune_seen = (rid)end;
	return rc;
}
