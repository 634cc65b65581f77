/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case dag: groups without processes, beside the same number of single tasks; groups of
 * /bin/true, in turns with make and ninja on the same jobs; a submit of very many; memory with a
 * million that wait.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/cases/dag.h"

#define ROUNDS 3
#define MANY 100000
#define GROUPS_OF_MANY 10

static const char noop_work[] = "\"params\":{\"n\":1}";
static const char true_work[] = "\"command\":[\"/bin/true\"]";

/* From the request to the last job's end; *ret_submit: to its answer. */
static int run_group(struct bench *b, const struct dag *d, const char *queue, const char *work,
    double *ret_seconds, double *ret_submit)
{
	AUTO(buf_release) struct buf body = {0};
	int64_t before = 0;
	double start;
	int r = queue_ended(b, queue, &before);

	dag_as_group(d, queue, work, &body);
	buf_add_char(&body, 0);
	start = bench_seconds();
	if (r == 0)
		r = http_call(b, "POST", "/v1/groups", body.p, NULL);
	if (ret_submit)
		*ret_submit = bench_seconds() - start;
	if (r == 0)
		r = queue_wait_ended(b, queue, before + d->n);
	*ret_seconds = bench_seconds() - start;
	return r;
}

/* Without processes. */
static int noop_group(struct bench *b, const struct dag *d, json_t *to)
{
	double seconds = 0, submit = 0;
	struct spent since = spent_now(b);
	int r = run_group(b, d, "dag-noop", noop_work, &seconds, &submit);
	json_t *json;

	if (r < 0)
		return r;
	json = json_pack("{s:I,s:I,s:o,s:o,s:o}", "jobs", (json_int_t)d->n, "edges",
	    (json_int_t)d->first[d->n], "jobs_per_s", figure(d->n / seconds), "submit_s",
	    figure(submit), "ratio_to_noop", figure(d->n / seconds / b->noop_rate));
	spent_add(b, since, d->n, json);
	return json_object_set_new(to, "noop", json);
}

static int true_group(struct bench *b, const struct dag *d, json_t *to)
{
	double ours = 0, peers[N_DAG_PEERS] = {0}, turn = 0;
	json_t *json = json_object();
	int r = 0;

	json_object_set_new(to, "true", json);
	for (int i = 0; i < ROUNDS && r == 0 && !bench_interrupted(); i++) {
		for (int p = 0; p < N_DAG_PEERS; p++)
			peers[p] += dag_peer_seconds(b, p, d);
		r = run_group(b, d, "dag-true", true_work, &turn, NULL);
		ours += turn;
	}
	json_object_set_new(json, "jobs", json_integer(d->n));
	json_object_set_new(json, "jobs_per_s", figure(d->n * ROUNDS / ours));
	if (!isnan(peers[PEER_MAKE])) {
		json_object_set_new(json, "make_per_s", figure(d->n * ROUNDS / peers[PEER_MAKE]));
		json_object_set_new(json, "ratio_to_make", figure(peers[PEER_MAKE] / ours));
	}
	if (!isnan(peers[PEER_NINJA])) {
		json_object_set_new(json, "ninja_per_s", figure(d->n * ROUNDS / peers[PEER_NINJA]));
		json_object_set_new(json, "ratio_to_ninja", figure(peers[PEER_NINJA] / ours));
	}
	return r;
}

/* Seconds from one job's end to the next one's, one after the other through a plugin. */
static int links(struct bench *b, json_t *to)
{
	uint32_t n = (uint32_t)bench_scaled(b, 2000, 50);
	struct dag d;
	double seconds = 0;
	int r;

	dag_make(&d, DAG_CHAIN, n);
	r = run_group(b, &d, "dag-noop", noop_work, &seconds, NULL);
	dag_release(&d);
	json_object_set_new(to, "link_ms", figure(seconds * 1000 / n));
	return r;
}

static int shape(struct bench *b, const struct dag *noop, const struct dag *processes, json_t *to)
{
	int r = noop_group(b, noop, to);

	return r ? r : true_group(b, processes, to);
}

static int shapes(struct bench *b, json_t *to)
{
	uint32_t n = (uint32_t)bench_scaled(b, MANY, 100),
	         few = (uint32_t)bench_scaled(b, 2000, 100);
	int r = 0;

	for (enum dag_shape s = 0; s < N_DAG_SHAPES && r == 0 && !bench_interrupted(); s++) {
		struct dag noop, processes;
		json_t *json = json_object();

		bench_note("dag: %s …", dag_shape_names[s]);
		json_object_set_new(to, dag_shape_names[s], json);
		dag_make(&noop, s, s == DAG_CHAIN ? n / 10 : n);
		dag_make(&processes, s, s == DAG_CHAIN ? few / 4 : few);
		r = shape(b, &noop, &processes, json);
		dag_release(&noop);
		dag_release(&processes);
	}
	return r;
}

static int real(struct bench *b, json_t *to)
{
	struct dag d = {0};
	json_t *json = json_object();
	int r = dag_read(&d, b->graph, &b->problem);

	bench_note("dag: the plan of %s …", b->graph);
	json_object_set_new(to, "real", json);
	if (r == 0)
		r = shape(b, &d, &d, json);
	dag_release(&d);
	return r;
}

/* A million jobs that wait, and how long the first submit of them takes. */
static int waiting(struct bench *b, json_t *to)
{
	uint32_t n = (uint32_t)bench_scaled(b, MANY, 100);
	AUTO(buf_release) struct buf body = {0};
	struct dag d;
	double start, took, longest = 0;
	int r = queue_make(b, "dag-parked", "\"plugin\":\"noop\",\"threads\":0");

	dag_make(&d, DAG_LAYERS, n);
	dag_as_group(&d, "dag-parked", noop_work, &body);
	buf_add_char(&body, 0);
	for (int i = 0; i < GROUPS_OF_MANY && r == 0 && !bench_interrupted(); i++) {
		start = bench_seconds();
		r = http_call(b, "POST", "/v1/groups", body.p, NULL);
		took = bench_seconds() - start;
		longest = took > longest ? took : longest;
	}
	json_object_set_new(to, "waiting",
	    json_pack("{s:I,s:I,s:o,s:o}", "jobs", (json_int_t)n * GROUPS_OF_MANY, "edges_each",
	        (json_int_t)d.first[n], "longest_submit_s", figure(longest), "rss_mb",
	        figure((double)child_rss_kb(b->stand.server, "VmRSS:") / 1024)));
	dag_release(&d);
	return r;
}

static int make_queues(struct bench *b)
{
	AUTO(free_cstr)
	char *settings =
	    xasprintf("\"plugin\":\"command\",\"threads\":%lld", (long long)b->spawn_threads);
	int r = queue_make(b, "dag-noop", "\"plugin\":\"noop\"");

	return r ? r : queue_make(b, "dag-true", settings);
}

int case_dag(struct bench *b, json_t *to)
{
	double rate = 0;
	int r = make_queues(b);

	if (r == 0) /* the plugin's processes start with the first tasks */
		r = noop_end_to_end(b, "dag-noop", 100, &rate);
	if (r == 0)
		r = noop_end_to_end(b, "dag-noop", bench_scaled(b, MANY, 100), &b->noop_rate);
	json_object_set_new(to, "noop_per_s", figure(b->noop_rate));
	if (r == 0)
		r = links(b, to);
	if (r == 0)
		r = shapes(b, to);
	if (r == 0 && b->graph)
		r = real(b, to);
	return r ? r : waiting(b, to);
}
