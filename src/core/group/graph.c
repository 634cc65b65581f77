/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of an active group: read from the store piece by piece, as the jobs that need each job.
 * What is open follows from how the jobs stand, so nothing has to be remembered of it.
 *
 * What a job's end is to those that need it:
 *
 *                    built   failed, lost, cancelled   skipped
 *   after success     met            broken             broken
 *   after failure    broken           met               broken
 *   after any end     met             met                met
 *
 * A broken need skips the job: its group ends it without having started it.
 */
#include "core/group/group.h"
#include "core/state.h"
#include "model/objects/group_graph.h"

#define READ_CHUNKS 16

void graph_ask(struct core *c, struct group *g, struct effects *out)
{
	struct active *a = g->active;
	struct read_ask *r = effects_read(out, READ_PARTS);
	int64_t from = a->n_read;

	if (from >= g->row.n_chunks) /* what it was made from comes after it */
		from += INPUT_DIGESTS_FROM - g->row.n_chunks;
	r->number = a->read = read_begin(c);
	r->parts = (struct part_query){.table = &group_graph_table,
	    .object = g->row.id,
	    .from = from,
	    .to = from + READ_CHUNKS,
	    .oldest_first = true,
	    .limit = READ_CHUNKS};
}

static void begin(struct group *g)
{
	struct active *a = g->active;
	size_t n = (size_t)g->row.n_jobs;

	if (a->first)
		return;
	a->first = xcalloc(n + 1, sizeof *a->first);
	a->open = xcalloc(n + 1, sizeof *a->open);
	a->cap_edges = (size_t)g->row.n_edges;
	a->needed_by = xmalloc((a->cap_edges + 1) * sizeof *a->needed_by);
}

static void begin_job(struct active *a, uint32_t job)
{
	while (a->n_begun <= job)
		a->first[a->n_begun++] = (uint32_t)a->n_edges;
}

static bool take_chunk(struct group *g, struct str data)
{
	struct active *a = g->active;
	struct group_graph_reader r;
	struct group_edge e;

	group_graph_read(&r, data, (uint32_t)g->row.n_jobs);
	while (group_graph_read_job(&r)) {
		if (r.has_name ? r.job != a->n_begun : r.job + 1 != a->n_begun)
			return false;
		begin_job(a, r.job);
		while (group_graph_read_edge(&r, &e)) {
			if (a->n_edges == a->cap_edges)
				return false;
			a->needed_by[a->n_edges++] = e.job << 2 | e.condition;
		}
	}
	return !r.is_bad;
}

static int64_t n_pieces(const struct group *g)
{
	return g->row.n_chunks + input_digest_chunks(&g->row);
}

/* Digests are only of use: without them nothing is damaged. */
static void take_digests(struct group *g, const struct event *ev)
{
	const struct group_graph_row *rows = ev->parts.rows;
	struct active *a = g->active;

	if (!a->digests)
		a->digests = xcalloc((size_t)g->row.n_jobs + 1, sizeof *a->digests);
	for (size_t i = 0; i < ev->parts.n; i++)
		input_digests_take(a->digests, (uint32_t)g->row.n_jobs,
		    rows[i].number - INPUT_DIGESTS_FROM, rows[i].data);
	a->n_read += (int64_t)ev->parts.n;
	if (ev->parts.n < READ_CHUNKS)
		a->n_read = n_pieces(g); /* there are no more */
}

bool graph_take(struct group *g, const struct event *ev)
{
	const struct group_graph_row *rows = ev->parts.rows;
	struct active *a = g->active;

	if (a->n_read && a->n_read >= g->row.n_chunks) {
		take_digests(g, ev);
		return true;
	}
	begin(g);
	for (size_t i = 0; i < ev->parts.n; i++, a->n_read++)
		if (rows[i].number != a->n_read || !take_chunk(g, rows[i].data))
			return false;
	if (a->n_read < g->row.n_chunks)
		return ev->parts.n > 0;
	return a->n_begun == g->row.n_jobs && a->n_edges == (size_t)g->row.n_edges;
}

bool graph_is_whole(const struct group *g)
{
	return g->active->n_read >= n_pieces(g);
}

static size_t end_of(const struct group *g, uint32_t job)
{
	const struct active *a = g->active;

	return job + 1 < g->row.n_jobs ? a->first[job + 1] : a->n_edges;
}

static bool is_ended(const struct active *a, uint32_t job)
{
	return a->marks[job] >= MARK_BUILT && a->marks[job] <= MARK_SKIPPED;
}

static bool is_met(enum edge_condition condition, enum job_mark need)
{
	switch (condition) {
	case EDGE_SUCCESS: return need == MARK_BUILT;
	case EDGE_FAILURE: return need == MARK_FAILED;
	default: return true;
	}
}

static void set_due(struct active *a, uint32_t job, enum job_mark mark)
{
	a->marks[job] = (uint8_t)mark;
	job_list_push(&a->todo, job);
}

/* All needs are open at first; then those of jobs that have ended are looked at as ever. */
void graph_count(struct group *g)
{
	struct active *a = g->active;

	for (size_t i = 0; i < a->n_edges; i++)
		a->open[a->needed_by[i] >> 2]++;
	for (uint32_t job = 0; job < g->row.n_jobs; job++) {
		if (is_ended(a, job) && !MUTANT(GROUP_RELEASE_FORGOTTEN_AT_START))
			job_list_push(&a->ended, job);
		else if (a->marks[job] == MARK_WAITS && !a->open[job])
			set_due(a, job, MARK_DUE);
	}
}

static void follow_edge(struct active *a, uint32_t edge, uint32_t need)
{
	uint32_t job = edge >> 2;

	if (a->marks[job] != MARK_WAITS)
		return;
	if (!is_met(edge & 3, a->marks[need]) && !MUTANT(GROUP_CONDITION_IGNORED)) {
		a->open[job] = need << 2 | (edge & 3);
		set_due(a, job, MARK_DOOMED);
	} else if (--a->open[job] == 0)
		set_due(a, job, MARK_DUE);
	else if (a->open[job] == 1 && a->near.n < GROUP_NEAR)
		job_list_push(&a->near, job);
}

void graph_look_ahead(struct group *g, uint32_t job)
{
	struct active *a = g->active;
	size_t end = end_of(g, job), first = a->first[job];

	if (end > first + GROUP_NEAR)
		end = first + GROUP_NEAR;
	for (size_t i = first; i < end && a->near.n < GROUP_NEAR; i++)
		if (a->open[a->needed_by[i] >> 2] == 1)
			job_list_push(&a->near, a->needed_by[i] >> 2);
}

/* For a planted bug: there are none, since a submit drops them. */
static bool is_twin(const struct active *a, uint32_t job)
{
	size_t i = a->first[job];

	while (i < a->edge && a->needed_by[i] != a->needed_by[a->edge])
		i++;
	return i < a->edge;
}

/* Long lists are followed over several steps: the place in the first one's is kept. */
bool graph_follow(struct group *g, size_t *budget)
{
	struct active *a = g->active;
	uint32_t job;
	bool speaks;

	while (a->ended.n) {
		job = a->ended.jobs[a->ended.first];
		speaks = needs_speaks(g, job);
		if (a->edge < a->first[job])
			a->edge = a->first[job];
		for (; a->edge < end_of(g, job); a->edge++, --*budget) {
			if (!*budget)
				return false;
			if (MUTANT(GROUP_TWIN_NEEDS) && is_twin(a, job))
				continue;
			if (speaks)
				needs_note(g, a->needed_by[a->edge] >> 2, job);
			follow_edge(a, a->needed_by[a->edge], job);
		}
		a->edge = 0;
		job_list_pop(&a->ended, &job);
	}
	return true;
}

struct group_edge graph_broken(const struct group *g, uint32_t job)
{
	const struct active *a = g->active;

	MUST(a->marks[job] == MARK_DOOMED);
	return (struct group_edge){
	    .job = job, .need = a->open[job] >> 2, .condition = a->open[job] & 3};
}

static bool is_needed_by(const struct group *g, uint32_t need, uint32_t job)
{
	const struct active *a = g->active;

	for (size_t i = a->first[need]; i < end_of(g, need); i++)
		if (a->needed_by[i] >> 2 == job)
			return true;
	return false;
}

/* Edges are kept by need, and what a job needs comes before it: so one way down finds all of them,
 * however long the row is. */
uint32_t graph_blockers(const struct group *g, uint32_t job, uint32_t *ret_need, uint32_t *ret_last)
{
	const struct active *a = g->active;
	uint32_t n = 0, at = job;

	if (!a || !a->first || a->stage != STAGE_RUN)
		return 0;
	for (uint32_t need = job; need-- > 0;) {
		if (is_ended(a, need) || !is_needed_by(g, need, at))
			continue;
		if (n++ == 0)
			*ret_need = need;
		*ret_last = at = need;
	}
	return n;
}
