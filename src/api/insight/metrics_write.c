/* SPDX-License-Identifier: Apache-2.0 */
/* The figures in Prometheus's text format. Labels are names of queues and zones, never of tasks. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/insight/metrics.h"
#include "api/insight/metrics_internal.h"
#include "api/objects/resource.h"
#include "base/mem.h"

static const char *const outcome_names[N_OUTCOMES] = {
    "succeeded", "failed", "finished", "cancelled", "terminated", "orphaned", "retried"};

void metric_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_label(struct buf *b, const char *key, struct str value)
{
	buf_printf(b, "%s=\"", key);
	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] == '"' || value.p[i] == '\\')
			buf_add_char(b, '\\');
		if (value.p[i] == '\n')
			buf_add_cstr(b, "\\n");
		else
			buf_add_char(b, value.p[i]);
	}
	buf_add_char(b, '"');
}

void metric_histogram(struct buf *b, const char *name, const char *label, const struct histogram *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < N_BOUNDS; i++) {
		sum += h->buckets[i];
		buf_printf(b, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, label, *label ? "," : "",
		    metric_bounds[i], (unsigned long long)sum);
	}
	buf_printf(b, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, label, *label ? "," : "",
	    (unsigned long long)h->count);
	buf_printf(
	    b, "%s_sum%s%s%s %.9g\n", name, *label ? "{" : "", label, *label ? "}" : "", h->sum);
	buf_printf(b, "%s_count%s%s%s %llu\n", name, *label ? "{" : "", label, *label ? "}" : "",
	    (unsigned long long)h->count);
}

/* queue="name"; false for one that was deleted: its series end. */
static bool queue_label(const struct api_host *h, rid id, struct buf *out)
{
	const struct queue_row *q = core_queue(h->core, id);

	buf_reset(out);
	if (q)
		add_label(out, "queue", q->name);
	return q;
}

static void write_outcomes(const struct metrics *m, const struct api_host *h, struct buf *b)
{
	struct buf label = {0};

	metric_head(
	    b, "reeve_tasks_total", "counter", "Tasks submitted, retried and ended, by outcome.");
	for (size_t i = 0; i < m->n_queues; i++) {
		const struct queue_metrics *q = m->queues[i];

		if (!queue_label(h, q->id, &label))
			continue;
		buf_printf(b, "reeve_tasks_total{%s,outcome=\"submitted\"} %llu\n", label.p,
		    (unsigned long long)q->submitted);
		for (int o = 0; o < N_OUTCOMES; o++)
			buf_printf(b, "reeve_tasks_total{%s,outcome=\"%s\"} %llu\n", label.p,
			    outcome_names[o], (unsigned long long)q->outcomes[o]);
	}
	metric_head(
	    b, "reeve_task_wait_seconds", "histogram", "From submit (or due time) to dispatch.");
	for (size_t i = 0; i < m->n_queues; i++)
		if (queue_label(h, m->queues[i]->id, &label))
			metric_histogram(
			    b, "reeve_task_wait_seconds", label.p, &m->queues[i]->wait);
	metric_head(
	    b, "reeve_task_duration_seconds", "histogram", "From start to end of an attempt.");
	for (size_t i = 0; i < m->n_queues; i++)
		if (queue_label(h, m->queues[i]->id, &label))
			metric_histogram(
			    b, "reeve_task_duration_seconds", label.p, &m->queues[i]->duration);
	buf_release(&label);
}

static void write_queues(const struct api_host *h, struct buf *b)
{
	const struct queue_row *q = NULL;
	int64_t now = h->wall_ms(h->arg);
	struct buf label = {0}, oldest = {0};
	struct queue_counts n;

	metric_head(
	    b, "reeve_queue_tasks", "gauge", "Live tasks, by state; delayed ones are queued too.");
	while ((q = core_queue(h->core, core_next(h->core, KIND_QUEUE, q ? q->id : 0)))) {
		const char *names[] = {"queued", "delayed", "held", "claimed", "running"};

		queue_label(h, q->id, &label);
		core_queue_counts(h->core, q->id, &n);
		int64_t counts[] = {n.queued, n.delayed, n.held, n.claimed, n.running};

		for (int i = 0; i < 5; i++)
			buf_printf(b, "reeve_queue_tasks{%s,state=\"%s\"} %lld\n", label.p,
			    names[i], (long long)counts[i]);
		buf_printf(&oldest, "reeve_queue_oldest_seconds{%s} %.3f\n", label.p,
		    n.oldest_ms && now > n.oldest_ms ? (double)(now - n.oldest_ms) / 1000 : 0.0);
	}
	metric_head(b, "reeve_queue_oldest_seconds", "gauge", "Age of the oldest queued task.");
	buf_add_str(b, buf_str(&oldest));
	buf_release(&label);
	buf_release(&oldest);
}

struct zone {
	struct str name;
	int n[N_WORKER_SHOWN];
};

static void write_set(const struct api_host *h, int connected, int64_t unsure, struct buf *b)
{
	struct set_view v;

	core_set(h->core, h->mono_ms(h->arg), &v);
	metric_head(b, "reeve_workers_connected", "gauge", "Workers with a link to the server.");
	buf_printf(b, "reeve_workers_connected %d\n", connected);
	metric_head(
	    b, "reeve_tasks_unsure", "gauge", "Tasks ordered of which nobody knows if they run.");
	buf_printf(b, "reeve_tasks_unsure %lld\n", (long long)unsure);
	metric_head(b, "reeve_worker_set_version", "gauge", "Version of the present worker set.");
	buf_printf(b, "reeve_worker_set_version %llu\n", (unsigned long long)v.id.version);
	metric_head(b, "reeve_worker_set_workers", "gauge", "Workers in the present set.");
	buf_printf(b, "reeve_worker_set_workers %u\n", v.id.hash.count);
	metric_head(
	    b, "reeve_worker_set_consensus", "gauge", "1: all in the set require all in it.");
	buf_printf(b, "reeve_worker_set_consensus %d\n", v.consensus);
	metric_head(b, "reeve_initial_wait_seconds", "gauge",
	    "Until tasks may be started after a restart, at the latest; 0: they may.");
	buf_printf(b, "reeve_initial_wait_seconds %.3f\n",
	    v.waiting && v.ends_in_ms > 0 ? (double)v.ends_in_ms / 1000 : 0.0);
}

static void write_workers(const struct api_host *h, struct buf *b)
{
	struct zone *zones = NULL;
	size_t n = 0, cap = 0, i;
	struct worker_view w;
	int64_t unsure = 0;
	int connected = 0;
	rid id = 0;

	while ((id = core_next(h->core, KIND_WORKER, id))) {
		if (!core_worker(h->core, id, h->mono_ms(h->arg), &w))
			continue;
		for (i = 0; i < n && !str_eq(zones[i].name, w.row->facts.zone); i++)
			;
		if (i == n) {
			GROW(zones, cap, n + 1);
			zones[n++] = (struct zone){.name = w.row->facts.zone};
		}
		zones[i].n[w.shown]++;
		connected += w.connected;
		unsure += w.unsure;
	}
	metric_head(b, "reeve_workers", "gauge", "Workers, by zone and state.");
	for (i = 0; i < n * N_WORKER_SHOWN; i++) {
		buf_add_cstr(b, "reeve_workers{");
		add_label(b, "zone", zones[i / N_WORKER_SHOWN].name);
		buf_printf(b, ",state=\"%s\"} %d\n", worker_shown_names[i % N_WORKER_SHOWN],
		    zones[i / N_WORKER_SHOWN].n[i % N_WORKER_SHOWN]);
	}
	free(zones);
	write_set(h, connected, unsure, b);
}

static void write_resources(const struct api_host *h, struct buf *b)
{
	const struct holding *one;

	metric_head(b, "reeve_resource_total", "gauge", "What the whole cluster has, by name.");
	for (size_t i = 0; (one = core_resource(h->core, i)); i++)
		buf_printf(b, "reeve_resource_total{resource=\"%s\"} %lld\n", one->name,
		    (long long)one->total);
	metric_head(b, "reeve_resource_held", "gauge", "How much of that dispatched tasks hold.");
	for (size_t i = 0; (one = core_resource(h->core, i)); i++)
		buf_printf(b, "reeve_resource_held{resource=\"%s\"} %lld\n", one->name,
		    (long long)one->used);
}

static void write_kinds(const struct metrics *m, const struct api_host *h, struct buf *b)
{
	const struct section *p;

	for (size_t i = 0; (p = section_at(i)); i++)
		if (p->resource && p->resource->figures)
			p->resource->figures(m, h, b);
}

static void add_answers(struct buf *b, const struct route *r, int status, uint32_t n)
{
	buf_printf(b, "reeve_http_requests_total{route=\"%s%s%s\",status=\"%d\"} %u\n",
	    r ? method_names[r->method] : "", r ? " " : "", r ? r->pattern : "none", status, n);
}

static void write_http(const struct metrics *m, struct buf *b)
{
	metric_head(
	    b, "reeve_http_requests_total", "counter", "Requests answered, by route and status.");
	for (size_t r = 0; r <= route_number(NULL); r++)
		for (int i = 0; i < N_STATUSES; i++)
			if (m->answers[r].by_status[i])
				add_answers(b, route_at(r), i + 100, m->answers[r].by_status[i]);
}

static void write_load(const struct api_host *h, struct buf *b)
{
	struct api_load l = {0};

	h->load(h->arg, &l);
	metric_head(b, "reeve_loop_longest_step_seconds", "gauge",
	    "The most processor time that the loop took between two polls, since the start.");
	buf_printf(b, "reeve_loop_longest_step_seconds %.6f\n", l.longest_turn_s);
	metric_head(b, "reeve_loop_steps_total", "counter", "Steps of the loop.");
	buf_printf(b, "reeve_loop_steps_total %llu\n", (unsigned long long)l.turns);
	metric_head(b, "reeve_loop_long_steps_total", "counter",
	    "Steps of the loop that took more than 10 ms of processor time.");
	buf_printf(b, "reeve_loop_long_steps_total %llu\n", (unsigned long long)l.long_turns);
	metric_head(b, "reeve_http_connections", "gauge", "Open HTTP connections.");
	buf_printf(b, "reeve_http_connections %d\n", l.connections);
	metric_head(b, "reeve_http_output_bytes", "gauge", "Answers that wait to be read.");
	buf_printf(b, "reeve_http_output_bytes %zu\n", l.output_bytes);
	metric_head(b, "reeve_http_cut_off_total", "counter",
	    "Connections that were cut: they held too much.");
	buf_printf(b, "reeve_http_cut_off_total %llu\n", (unsigned long long)l.cut_off);
}

static void write_search(const struct api_host *h, struct buf *b)
{
	struct search_index i = {0};

	if (h->search_index)
		i = h->search_index(h->arg);

	metric_head(b, "reeve_search_index_ok", "gauge",
	    "0: searches have no index of words at present, and look at every task.");
	buf_printf(b, "reeve_search_index_ok %d\n", !i.trouble);
	metric_head(b, "reeve_search_index_lag_seconds", "gauge",
	    "Age of the oldest task that the index of words lacks; searches look at such tasks one "
	    "by one.");
	buf_printf(b, "reeve_search_index_lag_seconds %.3f\n",
	    (double)search_lag_ms(&i, h->wall_ms(h->arg)) / 1000);
}

static long long resident_bytes(void)
{
	long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f)
		return 0;
	if (fscanf(f, "%*d %lld", &pages) != 1)
		pages = 0;
	fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

void metrics_write(const struct metrics *m, const struct api_host *h,
    const struct api_server_facts *facts, struct buf *out)
{
	write_outcomes(m, h, out);
	write_queues(h, out);
	write_workers(h, out);
	write_resources(h, out);
	write_kinds(m, h, out);
	metric_head(
	    out, "reeve_commit_seconds", "histogram", "How long the store took to commit a batch.");
	metric_histogram(out, "reeve_commit_seconds", "", &m->commit);
	metric_head(out, "reeve_commit_rows_total", "counter", "Row operations committed.");
	buf_printf(out, "reeve_commit_rows_total %llu\n", (unsigned long long)m->commit_rows);
	write_http(m, out);
	if (h->load)
		write_load(h, out);
	write_search(h, out);
	metric_head(out, "reeve_events_total", "counter", "Events told to watchers.");
	buf_printf(out, "reeve_events_total %llu\n", (unsigned long long)m->events);
	metric_head(out, "reeve_build_info", "gauge", "The version that runs.");
	buf_add_cstr(out, "reeve_build_info{");
	add_label(out, "version", str_of(facts->version ? facts->version : ""));
	buf_add_cstr(out, "} 1\n");
	metric_head(out, "reeve_process_resident_bytes", "gauge", "Resident memory of the server.");
	buf_printf(out, "reeve_process_resident_bytes %lld\n", resident_bytes());
}
