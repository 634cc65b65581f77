/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of graphs: what is written is read, and what is not such a piece does no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/objects/group_graph.h"

#define CHUNKS_MAX 64

struct pieces {
	struct group_graph_row rows[CHUNKS_MAX];
	size_t n;
};

static void put(void *arg, struct group_graph_row *row)
{
	struct pieces *p = arg;

	assert_true(p->n < CHUNKS_MAX);
	assert_true(row->data.n > 0 && row->data.n <= GRAPH_CHUNK_BYTES);
	assert_int_equal(row->number, p->n);
	p->rows[p->n++] = *row;
}

/* Edges in the order of what is needed, as a submit writes them. */
static void write_all(struct arena *a, const struct group_edge *edges, size_t n, uint32_t n_jobs,
    struct str name, struct pieces *ret)
{
	struct group_graph_writer w = {.arena = a, .put = put, .arg = ret, .group = 7};
	size_t i = 0;

	*ret = (struct pieces){0};
	for (uint32_t job = 0; job < n_jobs; job++) {
		group_graph_write_job(&w, job, name);
		for (; i < n && edges[i].need == job; i++)
			group_graph_write_edge(&w, &edges[i]);
	}
	group_graph_write_end(&w);
	assert_int_equal(w.n_chunks, ret->n);
}

static void assert_read(const struct pieces *p, const struct group_edge *edges, size_t n,
    uint32_t n_jobs, struct str name)
{
	struct group_graph_reader r;
	struct group_edge e;
	uint32_t jobs = 0;
	size_t i = 0;

	for (size_t k = 0; k < p->n; k++) {
		group_graph_read(&r, p->rows[k].data, n_jobs);
		while (group_graph_read_job(&r)) {
			assert_int_equal(r.job, r.has_name ? jobs : jobs - 1);
			jobs += r.has_name;
			assert_true(!r.has_name || str_eq(r.name, name));
			for (; group_graph_read_edge(&r, &e); i++) {
				assert_true(i < n);
				assert_int_equal(e.job, edges[i].job);
				assert_int_equal(e.need, edges[i].need);
				assert_int_equal(e.condition, edges[i].condition);
				assert_int_equal(e.reason, edges[i].reason);
			}
		}
		assert_false(r.is_bad);
	}
	assert_int_equal(jobs, n_jobs);
	assert_int_equal(i, n);
}

static size_t draw(struct rng *g, uint32_t n_jobs, struct group_edge *edges, size_t most)
{
	size_t n = 0;

	for (uint32_t need = 0; need + 1 < n_jobs; need++)
		for (uint64_t k = rng_below(g, 5); k > 0 && n < most; k--)
			edges[n++] = (struct group_edge){
			    need + 1 + (uint32_t)rng_below(g, n_jobs - need - 1), need,
			    (uint8_t)rng_below(g, N_EDGE_CONDITIONS),
			    (uint8_t)rng_below(g, EDGE_REASONS_MAX)};
	return n;
}

static void what_is_written_is_read(void **state)
{
	struct rng g = {5};
	struct group_edge *edges = xmalloc(200000 * sizeof *edges);
	struct pieces p;

	for (int round = 0; round < 20; round++) {
		uint32_t n_jobs = 1 + (uint32_t)rng_below(&g, 40000);
		size_t n = draw(&g, n_jobs, edges, 200000);
		struct arena a = {0};

		write_all(&a, edges, n, n_jobs, STR("o/n#1"), &p);
		assert_read(&p, edges, n, n_jobs, STR("o/n#1"));
		arena_release(&a);
	}
	free(edges);
}

/* One that all others need has records in several pieces; names may be as long as they may. */
static void one_that_is_needed_by_many(void **state)
{
	enum { MANY = 100000 };
	struct group_edge *edges = xmalloc(MANY * sizeof *edges);
	char *long_name = xcalloc(1, JOB_NAME_MAX_BYTES);
	struct str name = {memset(long_name, 'x', JOB_NAME_MAX_BYTES), JOB_NAME_MAX_BYTES};
	struct arena a = {0};
	struct pieces p;

	for (uint32_t i = 1; i < MANY; i++)
		edges[i - 1] = (struct group_edge){i, 0, EDGE_SUCCESS, 7};
	write_all(&a, edges, MANY - 1, MANY, STR_NULL, &p);
	assert_true(p.n > 4);
	assert_read(&p, edges, MANY - 1, MANY, STR(""));
	write_all(&a, edges, 99, 100, name, &p);
	assert_read(&p, edges, 99, 100, name);
	arena_release(&a);
	free(edges);
	free(long_name);
}

/* Edges lead forward, to jobs that there are, and reading ends, whatever the bytes are. */
static void hostile_bytes(void **state)
{
	struct rng g = {6};
	struct group_edge edges[400], e;
	struct pieces p;
	struct arena a = {0};
	size_t n = draw(&g, 100, edges, 400);

	write_all(&a, edges, n, 100, STR("job"), &p);
	for (int round = 0; round < 20000; round++) {
		struct str data = arena_str(&a, p.rows[0].data);
		struct group_graph_reader r;

		for (uint64_t k = rng_below(&g, 4); k > 0; k--)
			((char *)data.p)[rng_below(&g, data.n)] = (char)rng_next(&g);
		data.n = rng_below(&g, 3) ? data.n : rng_below(&g, data.n);
		group_graph_read(&r, data, 100);
		while (group_graph_read_job(&r)) {
			assert_true(r.job < 100);
			while (group_graph_read_edge(&r, &e))
				assert_true(e.need < e.job && e.job < 100 &&
				            e.condition < N_EDGE_CONDITIONS);
		}
	}
	group_graph_read(&(struct group_graph_reader){0}, STR_NULL, 1);
	arena_release(&a);
}

static void no_piece_at_all(void **state)
{
	struct group_graph_reader r;

	group_graph_read(&r, STR_NULL, 1);
	assert_true(r.is_bad);
	assert_false(group_graph_read_job(&r));
}

static void a_jobs_state(void **state)
{
	struct task_state t = {.status = TASK_BLOCKED};

	assert_int_equal(job_state(GROUP_QUEUED, &t), JOB_PENDING);
	assert_int_equal(job_state(GROUP_DISPATCHING, &t), JOB_SCHEDULABLE);
	t.status = TASK_QUEUED;
	assert_int_equal(job_state(GROUP_DISPATCHING, &t), JOB_ELIGIBLE);
	t.status = TASK_RUNNING;
	assert_int_equal(job_state(GROUP_DISPATCHING, &t), JOB_DISPATCHED);
	t.wish = WISH_CANCEL;
	assert_int_equal(job_state(GROUP_CANCELING, &t), JOB_CANCEL_PENDING);
	t.status = TASK_CANCELLED;
	assert_int_equal(job_state(GROUP_CANCELED, &t), JOB_CANCEL_COMPLETE);
	t.wish = WISH_SKIP;
	assert_int_equal(job_state(GROUP_FAILED, &t), JOB_DEPENDENCY_FAILED);
	t.status = TASK_ORPHANED;
	assert_int_equal(job_state(GROUP_FAILED, &t), JOB_LOST);
	t.status = TASK_SUCCEEDED;
	assert_int_equal(job_state(GROUP_FAILED, &t), JOB_BUILT);
	for (int status = TASK_FAILED; status < TASK_FAILED + 3; status++) {
		t.status = status;
		assert_int_equal(job_state(GROUP_FAILED, &t), JOB_FAILED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_written_is_read),
	    cmocka_unit_test(one_that_is_needed_by_many),
	    cmocka_unit_test(hostile_bytes),
	    cmocka_unit_test(no_piece_at_all),
	    cmocka_unit_test(a_jobs_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
