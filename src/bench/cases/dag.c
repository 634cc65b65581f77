/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The case dag: groups without processes, beside as many single tasks; groups of /bin/true, in
 * turns with make and ninja on the same jobs; what lies between two jobs; memory with a million
 * that wait.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/cases/dag.h"

#define ROUNDS 3
#define MANY 100000
#define FEW 10000
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

/* Single tasks, as many as there are jobs. */
struct alone {
	double rate, cpu; /* the server's seconds on the processor */
};

static int run_alone(struct bench *b, int64_t n, struct alone *ret)
{
	struct spent since = spent_now(b);
	int r = noop_end_to_end(b, "dag-noop", n, &ret->rate);

	ret->cpu = spent_now(b).server - since.server;
	return r;
}

/* Without processes. Processor time is the ratio that a busy machine disturbs least. */
static int noop_group(struct bench *b, const struct dag *d, const char *key, json_t *to)
{
	double seconds = 0, submit = 0, cpu;
	struct alone alone = {0};
	struct spent since;
	int r = run_alone(b, d->n, &alone);
	json_t *json;

	since = spent_now(b);
	if (r == 0)
		r = run_group(b, d, "dag-noop", noop_work, &seconds, &submit);
	if (r < 0)
		return r;
	cpu = spent_now(b).server - since.server;
	json = json_pack("{s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "jobs", (json_int_t)d->n, "edges",
	    (json_int_t)d->first[d->n], "jobs_per_s", figure(d->n / seconds), "submit_s",
	    figure(submit), "noop_per_s", figure(alone.rate), "ratio_to_noop",
	    figure(d->n / seconds / alone.rate), "cpu_ratio_to_noop", figure(alone.cpu / cpu));
	spent_add(b, since, d->n, json);
	return json_object_set_new(to, key, json);
}

/* So many of our jobs at once: as many as make and ninja have, and as many as is usual here. */
struct slots {
	const char *key, *queue;
};
static const struct slots slots[] = {{"two", "dag-true-two"}, {"many", "dag-true"}};
#define N_SLOTS (sizeof slots / sizeof slots[0])

static void put_true(
    const struct dag *d, double ours, int64_t at_once, const double *peers, json_t *to)
{
	json_object_set_new(to, "at_once", json_integer(at_once));
	json_object_set_new(to, "jobs_per_s", figure(d->n * ROUNDS / ours));
	if (!isnan(peers[PEER_MAKE]))
		json_object_set_new(to, "ratio_to_make", figure(peers[PEER_MAKE] / ours));
	if (!isnan(peers[PEER_NINJA]))
		json_object_set_new(to, "ratio_to_ninja", figure(peers[PEER_NINJA] / ours));
}

static int true_group(struct bench *b, const struct dag *d, json_t *to)
{
	double ours[N_SLOTS] = {0}, peers[N_DAG_PEERS] = {0}, turn = 0;
	json_t *json = json_object();
	int r = 0;

	json_object_set_new(to, "true", json);
	for (int i = 0; i < ROUNDS && r == 0 && !bench_interrupted(); i++) {
		for (int p = 0; p < N_DAG_PEERS; p++)
			peers[p] += dag_peer_seconds(b, p, d);
		for (size_t k = 0; k < N_SLOTS && r == 0; k++) {
			r = run_group(b, d, slots[k].queue, true_work, &turn, NULL);
			ours[k] += turn;
		}
	}
	json_object_set_new(json, "jobs", json_integer(d->n));
	json_object_set_new(json, "rounds", json_integer(ROUNDS));
	json_object_set_new(json, "peers_at_once", json_integer(DAG_PEERS_AT_ONCE));
	if (!isnan(peers[PEER_MAKE]))
		json_object_set_new(json, "make_per_s", figure(d->n * ROUNDS / peers[PEER_MAKE]));
	if (!isnan(peers[PEER_NINJA]))
		json_object_set_new(json, "ninja_per_s", figure(d->n * ROUNDS / peers[PEER_NINJA]));
	for (size_t k = 0; k < N_SLOTS && r == 0; k++) {
		json_t *own = json_object();

		put_true(d, ours[k], k ? b->spawn_threads : DAG_PEERS_AT_ONCE, peers, own);
		json_object_set_new(json, slots[k].key, own);
	}
	return r;
}

static int shape_noop(struct bench *b, enum dag_shape s, uint32_t n, const char *key, json_t *to)
{
	struct dag d;
	int r;

	dag_make(&d, s, n);
	r = noop_group(b, &d, key, to);
	dag_release(&d);
	return r;
}

static int shape(struct bench *b, enum dag_shape s, json_t *to)
{
	uint32_t few = (uint32_t)bench_scaled(b, FEW, 100);
	struct dag d;
	int r = shape_noop(b, s, few, "noop_few", to);

	if (r == 0)
		r = shape_noop(b, s, (uint32_t)bench_scaled(b, MANY, 100), "noop", to);
	dag_make(&d, s, few);
	if (r == 0)
		r = true_group(b, &d, to);
	dag_release(&d);
	return r;
}

static int shapes(struct bench *b, json_t *to)
{
	int r = 0;

	for (enum dag_shape s = 0; s < N_DAG_SHAPES && r == 0 && !bench_interrupted(); s++) {
		json_t *json = json_object();

		bench_note("dag: %s …", dag_shape_names[s]);
		json_object_set_new(to, dag_shape_names[s], json);
		r = shape(b, s, json);
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
		r = noop_group(b, &d, "noop", json);
	if (r == 0)
		r = true_group(b, &d, json);
	dag_release(&d);
	return r;
}

/* A million jobs that wait, and how long the longest submit of them takes. */
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
	child_peak_forget(b->stand.server);
	for (int i = 0; i < GROUPS_OF_MANY && r == 0 && !bench_interrupted(); i++) {
		start = bench_seconds();
		r = http_call(b, "POST", "/v1/groups", body.p, NULL);
		took = bench_seconds() - start;
		longest = took > longest ? took : longest;
	}
	json_object_set_new(to, "waiting",
	    json_pack("{s:I,s:I,s:o,s:o,s:o}", "jobs", (json_int_t)n * GROUPS_OF_MANY, "edges_each",
	        (json_int_t)d.first[n], "longest_submit_s", figure(longest), "rss_mb",
	        figure((double)child_rss_kb(b->stand.server, "VmRSS:") / 1024), "rss_peak_mb",
	        figure((double)child_rss_kb(b->stand.server, "VmHWM:") / 1024)));
	dag_release(&d);
	return r;
}

static int make_queues(struct bench *b)
{
	AUTO(free_cstr)
	char *many =
	         xasprintf("\"plugin\":\"command\",\"threads\":%lld", (long long)b->spawn_threads),
	     *two = xasprintf("\"plugin\":\"command\",\"threads\":%d", DAG_PEERS_AT_ONCE);
	int r = queue_make(b, "dag-noop", "\"plugin\":\"noop\"");

	if (r == 0)
		r = queue_make(b, "dag-true", many);
	return r ? r : queue_make(b, "dag-true-two", two);
}

int case_dag(struct bench *b, json_t *to)
{
	double rate = 0;
	int r = make_queues(b);

	if (r == 0) /* the plugin's processes start with the first tasks */
		r = noop_end_to_end(b, "dag-noop", 100, &rate);
	if (r == 0)
		r = dag_gaps(b, to);
	if (r == 0)
		r = shapes(b, to);
	if (r == 0 && b->graph)
		r = real(b, to);
	return r ? r : waiting(b, to);
}
