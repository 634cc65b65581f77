/* SPDX-License-Identifier: Apache-2.0 */
#include "contract.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* How a store's url is made of a fresh directory. */
static const struct {
	const char *backend, *url;
} places[] = {
    {"memory", "memory:"},
    {"sqlite", "sqlite:%s/store.db"},
};

static void open_parts(struct ctx *c)
{
	const struct store_options options = {.create = true, .migrate = true, .search = c->search};
	struct problem p = {0};
	int rc = store_open(c->url, &options, &c->s, &p);

	if (rc)
		fail_msg("%s: %s", c->url, p.what);
	c->r = store_reader_open(c->s, &p);
	assert_non_null(c->r);
}

void ctx_open(struct ctx *c, const char *backend)
{
	*c = (struct ctx){0};
	strcpy(c->dir, "/tmp/reeve-contract-XXXXXX");
	assert_non_null(mkdtemp(c->dir));
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		if (strcmp(places[i].backend, backend) == 0) {
			const char *at = strstr(places[i].url, "%s");
			int n = at ? (int)(at - places[i].url) : (int)strlen(places[i].url);

			snprintf(c->url, sizeof c->url, "%.*s%s%s", n, places[i].url,
			    at ? c->dir : "", at ? at + 2 : "");
		}
	open_parts(c);
}

static void close_parts(struct ctx *c)
{
	store_reader_close(c->r);
	store_close(c->s);
	c->r = NULL;
	c->s = NULL;
}

void ctx_reopen(struct ctx *c)
{
	close_parts(c);
	open_parts(c);
}

void ctx_close(struct ctx *c)
{
	DIR *d;
	struct dirent *e;

	close_parts(c);
	arena_release(&c->a);
	batch_release(&c->b);
	d = opendir(c->dir);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(c->dir);
}

const char *ctx_path(const struct ctx *c)
{
	return c->url + strlen("sqlite:");
}

struct task_row *task_new(struct ctx *c, rid id, rid queue, int status)
{
	struct task_row *t = arena_zalloc(&c->a, sizeof *t);

	t->id = id;
	t->ctime_ms = 1700000000000;
	t->spec = (struct task_spec){.queue = queue, .backoff_ms = -1, .body = STR("{}")};
	t->state = (struct task_state){.status = status, .exit_code = -1};
	if (task_is_ended(status))
		t->state.mtime_ms = (int64_t)id;
	return t;
}

void add_insert(struct ctx *c, const struct task_row *t)
{
	batch_insert(&c->b, &task_table, row_new(&c->b.arena, &task_table, t));
}

void add_update(struct ctx *c, const struct task_row *t)
{
	batch_state(&c->b, &task_table, row_new(&c->b.arena, &task_table, t));
}

void add_output(
    struct ctx *c, rid task, int64_t token, int64_t offset, int32_t raw, int codec, struct str data)
{
	struct output_row *o = arena_zalloc(&c->b.arena, sizeof *o);

	*o = (struct output_row){task, token, STDOUT, offset, raw, codec, data};
	o->data = arena_str(&c->b.arena, data);
	batch_put(&c->b, &output_table, o);
}

int try_commit(struct ctx *c, struct problem *ret_problem)
{
	int rc;

	c->b.seq = ++c->seq;
	rc = store_commit(c->s, &c->b, ret_problem);
	batch_reset(&c->b, 0);
	return rc;
}

void commit(struct ctx *c)
{
	struct problem p = {0};

	if (try_commit(c, &p))
		fail_msg("commit: %s", p.what);
}

static struct str random_str(struct rng *rng, struct arena *a, bool absent)
{
	size_t n = rng_below(rng, 4) ? rng_below(rng, 20) : 0;
	char *p;

	if (absent && rng_below(rng, 4) == 0)
		return STR_NULL;
	p = arena_alloc(a, n + 1);
	for (size_t i = 0; i < n; i++)
		p[i] = (char)rng_below(rng, 128); /* NULs too */
	p[n] = 0;
	return (struct str){p, n};
}

static void random_usage(struct rng *rng, struct usage *ret)
{
	if (rng_below(rng, 2))
		*ret = (struct usage){(int64_t)(rng_next(rng) >> 1), (int64_t)rng_below(rng, 100),
		    0, (int32_t)(rng_next(rng) >> 33), true};
}

void row_random(const struct row_table *t, struct rng *rng, struct arena *a, void *ret_row)
{
	memset(ret_row, 0, t->row_size);
	for (int i = 0; i < t->n; i++) {
		const struct column *col = &t->columns[i];
		void *at = column_at(col, ret_row);

		/* of any size: SQLite stores small numbers in fewer bytes */
		if (col->type == COLUMN_I32)
			*(int32_t *)at = (int32_t)((int64_t)rng_next(rng) >> rng_below(rng, 64));
		else if (col->type == COLUMN_I64)
			*(int64_t *)at = (int64_t)rng_next(rng) >> rng_below(rng, 64);
		else if (col->type == COLUMN_USAGE)
			random_usage(rng, at);
		else if (col->type != COLUMN_SUM)
			*(struct str *)at = random_str(
			    rng, a, i > 0 && t != &output_table && t != &input_part_table);
	}
}

void assert_same_row(const struct row_table *t, const void *x, const void *y)
{
	const struct column *col = row_differs(t, x, y);

	if (col)
		fail_msg("%s.%s differs", t->name, col->name);
}

static int skip_count(void *arg, rid queue, int32_t status, int64_t n)
{
	return 0;
}

static int keep_row(void *arg, const struct row_table *t, const void *row)
{
	struct start *s = arg;

	assert_true(s->n_schedules < START_SCHEDULES_MAX && s->n_tokens < START_SCHEDULES_MAX &&
	            s->n_workers < START_SCHEDULES_MAX);
	if (t == &schedule_table)
		row_copy(t, &s->c->a, row, 0, &s->schedules[s->n_schedules++]);
	else if (t == &token_table)
		row_copy(t, &s->c->a, row, 0, &s->tokens[s->n_tokens++]);
	else if (t == &worker_table)
		row_copy(t, &s->c->a, row, 0, &s->workers[s->n_workers++]);
	else if (t == &group_table)
		row_copy(t, &s->c->a, row, 0, &s->groups[s->n_groups++]);
	else if (t == &domain_table)
		row_copy(t, &s->c->a, row, 0, &s->domains[s->n_domains++]);
	else if (t == &service_table)
		row_copy(t, &s->c->a, row, 0, &s->services[s->n_services++]);
	else if (t == &revision_table)
		row_copy(t, &s->c->a, row, 0, &s->revisions[s->n_revisions++]);
	else if (t == &instance_table)
		row_copy(t, &s->c->a, row, 0, &s->instances[s->n_instances++]);
	else if (t == &graph_table)
		row_copy(t, &s->c->a, row, 0, &s->graphs[s->n_graphs++]);
	return 0;
}

static int keep_owned(void *arg, const struct owner *of, rid task, rid queue)
{
	struct start *s = arg;

	if (s->n_tasks == s->tasks_cap) {
		void *more;

		s->tasks_cap = s->tasks_cap ? 2 * s->tasks_cap : 64;
		more = arena_alloc(&s->c->a, s->tasks_cap * sizeof *s->tasks);
		if (s->n_tasks)
			memcpy(more, s->tasks, s->n_tasks * sizeof *s->tasks);
		s->tasks = more;
	}
	s->tasks[s->n_tasks].schedule = of->id;
	s->tasks[s->n_tasks++].task = task;
	return 0;
}

static int keep_last(void *arg, rid last_id, uint64_t last_event)
{
	((struct start *)arg)->last_id = last_id;
	return 0;
}

void start_read(struct ctx *c, struct start *ret_start)
{
	struct row_loader l = {ret_start, keep_row, skip_count, keep_owned, keep_last};
	struct problem p = {0};

	*ret_start = (struct start){.c = c};
	if (store_load(c->s, &l, &p))
		fail_msg("load: %s", p.what);
}
