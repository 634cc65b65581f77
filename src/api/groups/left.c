/* SPDX-License-Identifier: Apache-2.0 */
#include "api/groups/left.h"

#include <stdlib.h>

#include "api/groups/weigh.h"
#include "base/mem.h"
#include "model/objects/group_graph.h"

#define PIECES 16
#define PAGE 1000

struct reading {
	struct left_of_group *l;
	struct store_reader *r;
	struct arena passing; /* pages, one after the other */
	struct arena own;
	uint32_t n;
	struct str *names;
	struct group_edge *edges;
	size_t n_edges;
	uint8_t *is_built, *is_there, *marks;
	struct input_digest *digests;
};

static int damaged(struct reading *x)
{
	return problem_set(&x->l->problem, ERR_STORE, "the group's graph in the store is damaged");
}

static int take_piece(struct reading *x, struct str data)
{
	struct group_graph_reader g;
	struct group_edge e;

	group_graph_read(&g, data, x->n);
	while (group_graph_read_job(&g)) {
		if (g.has_name)
			x->names[g.job] = arena_str(&x->own, g.name);
		while (group_graph_read_edge(&g, &e)) {
			if (x->n_edges == (size_t)x->l->group.n_edges)
				return damaged(x);
			x->edges[x->n_edges++] = e;
		}
	}
	return g.is_bad ? damaged(x) : 0;
}

static int read_pieces(struct reading *x, int64_t from, int64_t n)
{
	struct part_query q = {.table = &group_graph_table,
	    .object = x->l->group.id,
	    .from = from,
	    .oldest_first = true,
	    .limit = PIECES};
	struct part_page page;
	int rc = 0;

	for (; q.from < from + n && !rc; q.from += PIECES) {
		q.to = q.from + PIECES;
		arena_reset(&x->passing);
		rc = store_parts(x->r, &q, &x->passing, &page);
		if (rc)
			return problem_set(&x->l->problem, rc, "the store cannot be read");
		for (size_t i = 0; i < page.n && !rc; i++) {
			const struct group_graph_row *row = (struct group_graph_row *)page.rows + i;

			if (from < INPUT_DIGESTS_FROM)
				rc = take_piece(x, row->data);
			else
				input_digests_take(x->digests, x->n, row->number - from, row->data);
		}
	}
	return rc;
}

static int read_graph(struct reading *x)
{
	const struct group_row *g = &x->l->group;
	int rc = read_pieces(x, 0, g->n_chunks);

	if (!rc)
		rc = read_pieces(x, INPUT_DIGESTS_FROM, input_digest_chunks(g));
	return rc || x->n_edges == (size_t)g->n_edges ? rc : damaged(x);
}

/* The tasks of a group's jobs have the ids behind the group's own. */
static int read_states(struct reading *x)
{
	struct task_filter f = {
	    .since = x->l->group.id + 1, .until = group_job_id(&x->l->group, x->n)};
	struct task_page page = {.next = 0};
	int rc;

	do {
		arena_reset(&x->passing);
		rc = store_task_list(x->r, &f, true, true, page.next, PAGE, &x->passing, &page);
		for (size_t i = 0; i < page.n && !rc; i++) {
			const struct task_row *t = &page.rows[i];
			uint32_t job = (uint32_t)(t->id - x->l->group.id - 1);

			if (t->spec.owner.kind != KIND_GROUP ||
			    t->spec.owner.id != x->l->group.id || job >= x->n)
				continue;
			x->is_there[job] = 1;
			x->is_built[job] = job_state(GROUP_DISPATCHING, &t->state) == JOB_BUILT;
		}
	} while (!rc && page.next);
	return rc ? problem_set(&x->l->problem, rc, "the store cannot be read") : 0;
}

static int find_job(struct reading *x, uint32_t *ret_job)
{
	const struct left_of_group *l = x->l;
	rid id;

	if (l->what != RETRY_FROM)
		return 0;
	for (*ret_job = 0; *ret_job < x->n; ++*ret_job)
		if (str_eq(x->names[*ret_job], l->job))
			return 0;
	if (id_parse(&l->ids, l->job, &id) && id > l->group.id && id - l->group.id <= x->n) {
		*ret_job = (uint32_t)(id - l->group.id - 1);
		return 0;
	}
	problem_set(
	    &x->l->problem, ERR_NOT_FOUND, "the group has no job \"" STR_FMT "\"", STR_ARG(l->job));
	return problem_field(&x->l->problem, "job");
}

static int choose(struct reading *x)
{
	struct retry_graph g = {x->n, x->edges, x->n_edges, x->is_built};
	struct left_of_group *l = x->l;
	uint32_t from = 0;
	int rc = find_job(x, &from);

	if (rc)
		return rc;
	if ((l->what == RETRY_FAILED && l->group.state == GROUP_COMPLETE) ||
	    !retry_choose(&g, (enum retry_what)l->what, from, x->marks)) {
		problem_set(&l->problem, ERR_CONFLICT, "the group is %s: nothing is left of it",
		    group_state_names[l->group.state]);
		return problem_hint(
		    &l->problem, "name the job from which on it is to be done again");
	}
	l->submit.edges = retry_edges(&g, x->marks, &l->arena, &l->submit.n_edges, &l->n);
	return 0;
}

/* What was said of it; it is due at once, as what it waited for is over. */
static void take_job(
    struct reading *x, uint32_t job, size_t i, const struct task_row *row, struct str *names)
{
	struct arena *a = &x->l->arena;
	const struct task_state **taken = (const struct task_state **)x->l->submit.taken;
	char task[ID_TEXT], group[ID_TEXT];
	struct task_spec *s = &x->l->tasks[i].spec;

	*s = row->spec;
	s->owner = (struct owner){0};
	s->run_after_ms = 0;
	x->l->tasks[i].status = TASK_BLOCKED;
	names[i] = arena_str(a, x->names[job]);
	((struct input_digest *)x->l->submit.digests)[i] = x->digests[job];
	if (x->marks[job] == RETRY_TAKEN)
		taken[i] = retry_taken(row, str_of(id_format(&x->l->ids, row->id, task)),
		    str_of(id_format(&x->l->ids, x->l->group.id, group)), a);
}

static int gone(struct reading *x, uint32_t job)
{
	problem_set(&x->l->problem, ERR_CONFLICT,
	    "the task of job \"" STR_FMT "\" is gone, or damaged: what is left cannot be made",
	    STR_ARG(x->names[job]));
	return problem_hint(&x->l->problem, "submit the group again");
}

static int read_jobs(struct reading *x)
{
	struct left_of_group *l = x->l;
	struct str *names = arena_zalloc(&l->arena, (l->n + 1) * sizeof *names);
	struct task_row row;
	size_t i = 0;

	l->tasks = xcalloc(l->n + 1, sizeof *l->tasks);
	l->submit.digests = arena_zalloc(&l->arena, (l->n + 1) * sizeof *l->submit.digests);
	l->submit.taken = arena_zalloc(&l->arena, (l->n + 1) * sizeof *l->submit.taken);
	for (uint32_t job = 0; job < x->n; job++) {
		if (x->marks[job] == RETRY_NOT)
			continue;
		if (!x->is_there[job] ||
		    store_task_get(x->r, group_job_id(&l->group, job), &l->arena, &row) ||
		    row.damage)
			return gone(x, job);
		take_job(x, job, i++, &row, names);
	}
	l->submit.names = names;
	l->submit.policy = l->group.policy;
	l->submit.retried_of = l->group.id;
	l->submit.series = l->group.series;
	weigh_group(&l->submit, l->n, x->r, &l->arena, NULL);
	return 0;
}

void left_read(struct left_of_group *l, struct store_reader *r)
{
	struct reading x = {.l = l, .r = r, .n = (uint32_t)l->group.n_jobs};

	x.names = arena_zalloc(&x.own, (x.n + 1) * sizeof *x.names);
	x.edges = arena_alloc(&x.own, ((size_t)l->group.n_edges + 1) * sizeof *x.edges);
	x.is_built = arena_zalloc(&x.own, x.n + 1);
	x.is_there = arena_zalloc(&x.own, x.n + 1);
	x.digests = arena_zalloc(&x.own, (x.n + 1) * sizeof *x.digests);
	x.marks = arena_zalloc(&x.own, x.n + 1);
	if (!read_graph(&x) && !read_states(&x) && !choose(&x))
		read_jobs(&x);
	arena_release(&x.passing);
	arena_release(&x.own);
}

void left_release(struct left_of_group *l)
{
	arena_release(&l->arena);
	free(TAKE(l->tasks));
}
