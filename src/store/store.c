/* SPDX-License-Identifier: Apache-2.0 */
/* Picks the backend by the url's scheme and checks what no backend should have to. */
#include "store/store.h"

#include <string.h>

#include "base/mem.h"
#include "store/backend.h"

static const struct store_ops *const backends[] = {&store_memory, &store_sqlite};

#define COUNT_PAGE 1000
#define N_BACKENDS (sizeof backends / sizeof backends[0])

const struct store_ops *store_backend_of(
    const char *url, const char **ret_place, struct problem *ret_problem)
{
	for (size_t i = 0; i < N_BACKENDS; i++) {
		size_t n = strlen(backends[i]->scheme);

		if (strncmp(url, backends[i]->scheme, n) == 0) {
			*ret_place = url + n;
			return backends[i];
		}
	}
	problem_set(ret_problem, ERR_INVALID, "\"%.200s\" does not name a store", url);
	problem_hint(ret_problem, "use sqlite:PATH, or memory: for one that does not survive");
	return NULL;
}

int store_open(const char *url, const struct store_options *o, struct store **ret_store,
    struct problem *ret_problem)
{
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);

	*ret_store = NULL;
	return ops ? ops->open(place, o, ret_store, ret_problem) : ERR_INVALID;
}

void store_close(struct store *s)
{
	if (s)
		s->ops->close(s);
}

const char *store_backend(const struct store *s)
{
	return s->ops->name;
}

int store_migrate(const char *url, struct store_migration *m, struct problem *ret_problem)
{
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);

	if (!ops)
		return ERR_INVALID;
	if (m->version < 0 || m->version > STORE_SCHEMA_VERSION) {
		problem_set(ret_problem, ERR_INVALID, "there is no schema version %d", m->version);
		problem_hint(
		    ret_problem, "this reeve knows versions 0 to %d", STORE_SCHEMA_VERSION);
		return ERR_INVALID;
	}
	return ops->migrate(place, m, ret_problem);
}

int store_schema_version(const char *url, int *ret_version, struct problem *ret_problem)
{
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);

	return ops ? ops->schema_version(place, ret_version, ret_problem) : ERR_INVALID;
}

int store_check(
    const char *url, const struct store_checker *c, int64_t *ret_rows, struct problem *ret_problem)
{
	const char *place;
	const struct store_ops *ops = store_backend_of(url, &place, ret_problem);

	*ret_rows = 0;
	if (!ops)
		return ERR_INVALID;
	if (!ops->check)
		return problem_set(ret_problem, ERR_INVALID,
		    "a store in memory is not kept: there is nothing to check");
	return ops->check(place, c, ret_rows, ret_problem);
}

int store_commit(struct store *s, const struct batch *b, struct problem *ret_problem)
{
	return s->ops->commit(s, b, ret_problem);
}

int store_load(struct store *s, const struct row_loader *l, struct problem *ret_problem)
{
	return s->ops->load(s, l, ret_problem);
}

int store_expire(
    struct store *s, int64_t idem_before_ms, int64_t events_before_ms, struct problem *ret_problem)
{
	return s->ops->expire(s, idem_before_ms, events_before_ms, ret_problem);
}

void store_rest(struct store *s)
{
	if (s->ops->rest)
		s->ops->rest(s);
}

struct search_index store_search_index(const struct store *s)
{
	return s->ops->search_index ? s->ops->search_index(s) : (struct search_index){0};
}

struct store_reader *store_reader_open(struct store *s, struct problem *ret_problem)
{
	return s->ops->reader_open(s, ret_problem);
}

void store_reader_close(struct store_reader *r)
{
	if (r)
		r->ops->reader_close(r);
}

int store_task_get(struct store_reader *r, rid id, struct arena *a, struct task_row *ret_row)
{
	return r->ops->task_get(r, id, a, ret_row);
}

int store_tasks_get(
    struct store_reader *r, const rid *ids, size_t n, struct arena *a, struct task_row *ret_rows)
{
	return r->ops->tasks_get(r, ids, n, a, ret_rows);
}

int store_task_head(
    struct store_reader *r, rid id, size_t max, struct arena *a, struct str *ret_head)
{
	*ret_head = STR_NULL;
	return r->ops->task_head(r, id, max, a, ret_head);
}

/* A label is one line; asked for something else, no task can have it. */
static bool filter_matches_nothing(const struct task_filter *f)
{
	for (size_t i = 0; i < f->n_labels; i++)
		if (f->labels[i].n == 0 || memchr(f->labels[i].p, '\n', f->labels[i].n))
			return true;
	return f->n_states > FILTER_STATES_MAX || f->n_labels > FILTER_LABELS_MAX;
}

int store_task_list(struct store_reader *r, const struct task_filter *f, bool oldest_first,
    bool bare, rid cursor, uint32_t limit, struct arena *a, struct task_page *ret_page)
{
	*ret_page = (struct task_page){0};
	if (limit == 0 || filter_matches_nothing(f))
		return 0;
	return r->ops->task_list(r, f, oldest_first, bare, cursor, limit, a, ret_page);
}

void count_status(struct arena *a, struct status_count **counts, size_t *n, size_t *cap, int status)
{
	size_t at = 0;

	while (at < *n && (*counts)[at].status < status)
		at++;
	if (at == *n || (*counts)[at].status != status) {
		*counts = arena_room(a, *counts, *n, cap, sizeof **counts);
		memmove(*counts + at + 1, *counts + at, (*n - at) * sizeof **counts);
		(*counts)[at] = (struct status_count){status, 0};
		++*n;
	}
	(*counts)[at].n++;
}

/* With words: whatever finds the tasks has to look at them, so they are counted one by one. */
static int count_listed(struct store_reader *r, const struct task_filter *f, struct arena *a,
    struct status_count **counts, size_t *n)
{
	AUTO(arena_release) struct arena rows = {0};
	struct task_page page = {0};
	size_t cap = 0;

	do {
		rid cursor = page.next;
		int rc;

		arena_reset(&rows);
		rc = store_task_list(r, f, true, true, cursor, COUNT_PAGE, &rows, &page);
		if (rc)
			return rc;
		for (size_t i = 0; i < page.n; i++)
			count_status(a, counts, n, &cap, page.rows[i].state.status);
	} while (page.next);
	return 0;
}

int store_task_count(struct store_reader *r, const struct task_filter *f, struct arena *a,
    struct status_count **ret_counts, size_t *ret_n)
{
	*ret_counts = NULL;
	*ret_n = 0;
	if (filter_matches_nothing(f))
		return 0;
	if (f->search.n)
		return count_listed(r, f, a, ret_counts, ret_n);
	return r->ops->task_count(r, f, a, ret_counts, ret_n);
}

int store_batch_get(struct store_reader *r, rid id, struct arena *a, struct task_batch_row *ret_row)
{
	return id ? r->ops->batch_get(r, id, a, ret_row) : ERR_NOT_FOUND;
}

int store_batch_list(struct store_reader *r, const struct batch_query *q, struct arena *a,
    struct batch_page *ret_page)
{
	*ret_page = (struct batch_page){0};
	return q->limit ? r->ops->batch_list(r, q, a, ret_page) : 0;
}

int store_task_pace(struct store_reader *r, const struct task_filter *f, int64_t since_ms,
    struct arena *a, struct pace_count **ret_counts, size_t *ret_n)
{
	*ret_counts = NULL;
	*ret_n = 0;
	if (filter_matches_nothing(f))
		return 0;
	return r->ops->task_pace(r, f, since_ms, a, ret_counts, ret_n);
}

int store_queue_head(struct store_reader *r, const struct head_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	*ret_rows = NULL;
	*ret_n = 0;
	return q->limit ? r->ops->queue_head(r, q, a, ret_rows, ret_n) : 0;
}

int store_queue_due(struct store_reader *r, const struct due_query *q, struct arena *a,
    struct task_row **ret_rows, size_t *ret_n)
{
	*ret_rows = NULL;
	*ret_n = 0;
	return q->limit ? r->ops->queue_due(r, q, a, ret_rows, ret_n) : 0;
}

int store_find_key(struct store_reader *r, rid queue, struct str key, rid *ret_id)
{
	*ret_id = 0;
	return key.p ? r->ops->find_key(r, queue, key, ret_id) : 0;
}

int store_find_idem(
    struct store_reader *r, struct str key, struct arena *a, struct idem_row *ret_row)
{
	return r->ops->find_idem(r, key, a, ret_row);
}

int store_prunable(struct store_reader *r, rid after, int64_t before_ms, uint32_t limit,
    rid *ret_ids, size_t *ret_n)
{
	*ret_n = 0;
	return limit ? r->ops->prunable(r, after, before_ms, limit, ret_ids, ret_n) : 0;
}

int store_count_ended(struct store_reader *r, int64_t *ret_n)
{
	return r->ops->count_ended(r, ret_n);
}

int store_output(struct store_reader *r, rid task, int64_t token, int stream, int64_t offset,
    size_t max, struct buf *out, struct output_end *ret_end)
{
	*ret_end = (struct output_end){.at = offset};
	if (stream < 0 || stream >= N_STREAMS || offset < 0)
		return ERR_INVALID;
	return r->ops->output(r, task, token, stream, offset, max, out, ret_end);
}

int store_parts(
    struct store_reader *r, const struct part_query *q, struct arena *a, struct part_page *ret_page)
{
	*ret_page = (struct part_page){0};
	return q->limit ? r->ops->parts(r, q, a, ret_page) : 0;
}

int store_events(struct store_reader *r, uint64_t after, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	*ret_page = (struct event_page){0};
	return limit ? r->ops->events(r, after, limit, a, ret_page) : 0;
}

int store_events_before(struct store_reader *r, uint64_t before, uint32_t limit, struct arena *a,
    struct event_page *ret_page)
{
	*ret_page = (struct event_page){0};
	return limit ? r->ops->events_before(r, before, limit, a, ret_page) : 0;
}
