/* SPDX-License-Identifier: Apache-2.0 */
/* The memory backend's walks over many tasks: lists, counts, what can be pruned, the load. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/lines.h"
#include "model/objects/group.h"
#include "store/memory/memory.h"

static bool has_state(const struct task_filter *f, const struct task_state *s)
{
	for (size_t i = 0; i < f->n_states; i++)
		if (s->status >= f->states[i].min && s->status <= f->states[i].max &&
		    (!f->states[i].delayed || s->due_ms > f->now_ms))
			return true;
	return f->n_states == 0;
}

static bool is_among(const struct task_filter *f, rid queue)
{
	for (size_t i = 0; i < f->n_among; i++)
		if (f->among[i] == queue)
			return true;
	return f->n_among == 0;
}

static bool has_words(const struct task_filter *f, const struct task_row *t)
{
	AUTO(buf_release) struct buf text = {0};

	search_text(&t->spec, &text);
	return search_matches(&f->search, buf_str(&text));
}

static bool is_owned(const struct task_filter *f, const struct owner *of)
{
	return of->id == f->owner && of->kind == f->owner_kind;
}

bool mem_task_matches(const struct task_filter *f, const struct task_row *t)
{
	if ((f->queue && t->spec.queue != f->queue) || (f->batch && t->spec.batch != f->batch) ||
	    (f->worker && t->state.worker != f->worker) ||
	    (f->owner && !is_owned(f, &t->spec.owner)))
		return false;
	if (t->id < f->since || (f->until && t->id >= f->until))
		return false;
	if (f->ended_before_ms &&
	    (!task_is_ended(t->state.status) || t->state.ended_ms >= f->ended_before_ms))
		return false;
	if (f->name.p && (!t->spec.name.p || !str_eq(t->spec.name, f->name)))
		return false;
	if (f->search.n && !has_words(f, t))
		return false;
	if (!is_among(f, t->spec.queue))
		return false;
	for (size_t i = 0; i < f->n_labels; i++)
		if (!lines_has(t->spec.labels, f->labels[i]))
			return false;
	return has_state(f, &t->state);
}

/* The first task with an id >= `id`. */
static struct mem_task *task_from(struct mem_store *s, rid id)
{
	struct task_row row = {.id = id};
	struct mem_task probe = {.row = &row};

	return RB_NFIND(mem_ids, &s->tasks, &probe);
}

static struct mem_task *first_of(struct mem_store *s, bool oldest_first, rid cursor)
{
	struct mem_task *t;

	if (oldest_first)
		return task_from(s, cursor + 1);
	if (!cursor || !(t = task_from(s, cursor)))
		return RB_MAX(mem_ids, &s->tasks);
	return RB_PREV(mem_ids, &s->tasks, t);
}

static struct mem_task *step(struct mem_store *s, struct mem_task *t, bool oldest_first)
{
	return oldest_first ? RB_NEXT(mem_ids, &s->tasks, t) : RB_PREV(mem_ids, &s->tasks, t);
}

int mem_task_list(struct store_reader *base, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	size_t cap = 0, seen = 0;
	struct mem_task *t;

	if (limit > STORE_SCAN_STEP)
		limit = STORE_SCAN_STEP;
	pthread_mutex_lock(&s->mutex);
	for (t = first_of(s, oldest_first, cursor); t; t = step(s, t, oldest_first)) {
		if (seen++ >= STORE_SCAN_STEP) {
			ret_page->next = step(s, t, !oldest_first)->row->id;
			break;
		}
		if (!mem_task_matches(f, t->row))
			continue;
		if (ret_page->n == limit) {
			ret_page->next = ret_page->rows[limit - 1].id;
			break;
		}
		ret_page->rows =
		    arena_room(a, ret_page->rows, ret_page->n, &cap, sizeof *ret_page->rows);
		row_copy(&task_table, a, t->row, bare ? COLUMN_BULKY : 0,
		    &ret_page->rows[ret_page->n++]);
	}
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_task_count(struct store_reader *base, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;
	size_t cap = 0;

	pthread_mutex_lock(&s->mutex);
	RB_FOREACH (t, mem_ids, &s->tasks)
		if (mem_task_matches(f, t->row))
			count_status(a, ret_counts, ret_n, &cap, t->row->state.status);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_prunable(struct store_reader *base, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;

	pthread_mutex_lock(&s->mutex);
	for (t = task_from(s, after + 1); t && *ret_n < limit; t = RB_NEXT(mem_ids, &s->tasks, t))
		if (task_is_ended(t->row->state.status) &&
		    (!before_ms || t->row->state.mtime_ms < before_ms))
			ret_ids[(*ret_n)++] = t->row->id;
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

int mem_count_ended(struct store_reader *base, int64_t *ret_n)
{
	struct mem_store *s = ((struct mem_reader *)base)->s;
	struct mem_task *t;

	*ret_n = 0;
	pthread_mutex_lock(&s->mutex);
	RB_FOREACH (t, mem_ids, &s->tasks)
		*ret_n += task_is_ended(t->row->state.status);
	pthread_mutex_unlock(&s->mutex);
	return 0;
}

struct live_count {
	rid queue;
	int32_t status;
	int64_t n;
};

static int compare_counts(const void *x, const void *y)
{
	const struct live_count *a = x, *b = y;

	if (a->queue != b->queue)
		return a->queue < b->queue ? -1 : 1;
	return a->status < b->status ? -1 : a->status > b->status;
}

static int load_counts(struct mem_store *s, const struct row_loader *l)
{
	struct live_count *all = NULL;
	size_t n = 0, cap = 0;
	struct mem_task *t;
	int rc = 0;

	RB_FOREACH (t, mem_ids, &s->tasks) {
		if (task_is_ended(t->row->state.status))
			continue;
		GROW(all, cap, n + 1);
		all[n++] = (struct live_count){t->row->spec.queue, t->row->state.status, 1};
	}
	if (n)
		qsort(all, n, sizeof *all, compare_counts);
	for (size_t i = 0, end; i < n && rc == 0; i = end) {
		for (end = i + 1; end < n && compare_counts(&all[i], &all[end]) == 0; end++)
			;
		rc = l->count(l->arg, all[i].queue, all[i].status, (int64_t)(end - i));
	}
	free(all);
	return rc;
}

static int load_tasks(struct mem_store *s, const struct row_loader *l)
{
	struct mem_task *t;
	int rc;

	RB_FOREACH (t, mem_ids, &s->tasks) {
		int status = t->row->state.status;

		if (status != TASK_CLAIMED && status != TASK_RUNNING)
			continue;
		if ((rc = l->row(l->arg, &task_table, t->row)))
			return rc;
	}
	return 0;
}

/* Tasks that are jobs come from their groups, which follow. */
static int load_owned(struct mem_store *s, const struct row_loader *l)
{
	struct mem_task *t;
	int rc;

	RB_FOREACH (t, mem_ids, &s->tasks) {
		const struct owner *of = &t->row->spec.owner;

		if (!of->id || of->kind == KIND_GROUP || task_is_ended(t->row->state.status))
			continue;
		if ((rc = l->owned(l->arg, of, t->row->id, t->row->spec.queue)))
			return rc;
	}
	return 0;
}

static int load_jobs_of(struct mem_store *s, const struct row_loader *l, const struct group_row *g)
{
	struct mem_task *t = task_from(s, g->id + 1);
	int rc;

	for (; t && t->row->id - g->id <= (rid)g->n_jobs; t = RB_NEXT(mem_ids, &s->tasks, t)) {
		const struct owner *of = &t->row->spec.owner;

		if (of->kind != KIND_GROUP || of->id != g->id ||
		    task_is_ended(t->row->state.status))
			continue;
		if ((rc = l->owned(l->arg, of, t->row->id, t->row->spec.queue)))
			return rc;
	}
	return 0;
}

static int load_jobs(struct mem_store *s, const struct row_loader *l)
{
	int rc = 0;

	for (struct mem_row *r = mem_first(s, &group_table); r && !rc; r = mem_next(r)) {
		const struct group_row *g = r->row;

		if (g->n_jobs > 0 && !group_is_ended(g->state))
			rc = load_jobs_of(s, l, g);
	}
	return rc;
}

static int load_table(struct mem_store *s, const struct row_table *t, const struct row_loader *l)
{
	int rc = 0;

	for (struct mem_row *r = mem_first(s, t); r && !rc; r = mem_next(r))
		rc = l->row(l->arg, t, r->row);
	if (!rc && t == &queue_table)
		rc = load_counts(s, l);
	return rc;
}

int mem_load(struct store *base, const struct row_loader *l, struct problem *ret_problem)
{
	struct mem_store *s = (struct mem_store *)base;
	int rc = 0;

	pthread_mutex_lock(&s->mutex);
	for (int i = 0; i < N_TABLES && !rc; i++)
		if (row_tables[i]->is_loaded)
			rc = load_table(s, row_tables[i], l);
	if (!rc)
		rc = load_owned(s, l);
	if (!rc)
		rc = load_jobs(s, l);
	if (!rc)
		rc = load_tasks(s, l);
	if (!rc)
		rc = l->done(l->arg, s->last_id, s->last_event);
	pthread_mutex_unlock(&s->mutex);
	return rc;
}
