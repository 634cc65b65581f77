/* SPDX-License-Identifier: Apache-2.0 */
/* What we want of a machine with two cores, and whether this run had it. */
#include <math.h>

#include "bench/internal.h"

const struct goal common_goals[] = {
    {"bulk submit, tasks/s", "submit.bulk.tasks_per_s", 100000, false},
    {"one by one, 1 client, tasks/s", "submit.one_by_one_unix.clients_1.tasks_per_s", 2500, false},
    {"one by one, 64 clients, tasks/s", "submit.one_by_one_unix.clients_64.tasks_per_s", 20000,
        false},
    {"noop end to end, tasks/s", "noop.end_to_end.tasks_per_s", 30000, false},
    {"spawn, ratio to loops that make pipes and a fresh cgroup",
        "spawn.ratio_to_fresh_cgroup_loops", 0.9, false},
    {"spawn, ratio to loops with pipes in a cgroup that is there",
        "spawn.ratio_to_same_cgroup_loops", 0.9, false},
    {"spawn, the hand alone, ratio to a loop without pipes and cgroups",
        "spawn.hand.ratio_to_bare_loop", 0.7, false},
    {"spawn, the hand alone, ratio to a loop with the same pipes and a cgroup that is there",
        "spawn.hand.ratio_to_same_cgroup_loop", 0.95, false},
    {"spawn, the hand alone, from order to exec beside 200 tasks, p99 ms",
        "spawn.hand.start_beside_200.p99_ms", 3, true},
    {"spawn, memory of worker and keeper for a task that waits, KB", "spawn.idle_task_kb", 40,
        true},
    {"spawn, the keeper's memory, KB", "spawn.keeper_rss_kb", 2048, true},
    {"latency at idle, p50 ms", "latency.idle.p50_ms", 1, true},
    {"latency at idle, p99 ms", "latency.idle.p99_ms", 3, true},
    {"backlog, bulk submit, ratio to empty", "backlog.other_queue.ratio.bulk_submit", 0.9, false},
    {"backlog, one by one, ratio to empty", "backlog.other_queue.ratio.one_by_one_64", 0.9, false},
    {"backlog, noop, ratio to empty", "backlog.other_queue.ratio.noop", 0.9, false},
    {"backlog, bulk submit into the deep queue, ratio to empty",
        "backlog.same_queue.ratio.bulk_submit", 0.9, false},
    {"backlog, one by one into the deep queue, ratio to empty",
        "backlog.same_queue.ratio.one_by_one_64", 0.9, false},
    {"backlog, drain of the deep queue, ratio to empty", "backlog.same_queue.ratio.drain", 0.9,
        false},
    {"backlog, the server's memory, MB", "backlog.rss_queued_mb", 150, true},
    {"backlog, the server's memory at its peak, MB", "backlog.rss_peak_mb", 150, true},
    {"cron, common patterns, ratio to the faster peer", "cron.least_ratio_common", 40, false},
    {"cron, rare patterns, ratio to the faster peer", "cron.least_ratio_rare", 1, false},
    {"plan, 100,000 packages with 1,000,000 dependencies, processor seconds",
        "plan.worst_plan_cpu_s", 2, true},
    {"plan, memory at its peak, MB", "plan.worst_peak_mb", 500, true},
    {"dag, without processes in layers, ratio to single tasks", "dag.layers.noop.ratio_to_noop",
        0.9, false},
    {"dag, without processes, wide, ratio to single tasks", "dag.wide.noop.ratio_to_noop", 0.9,
        false},
    {"dag, /bin/true in layers, ratio to make -j2", "dag.layers.true.many.ratio_to_make", 0.9,
        false},
    {"dag, /bin/true in layers, ratio to ninja -j2", "dag.layers.true.many.ratio_to_ninja", 1,
        false},
    {"dag, from one job's end to the next one's start, p50 ms", "dag.end_to_start.p50_ms", 1, true},
    {"dag, submit of 100,000 jobs with 300,000 needs, s", "dag.waiting.longest_submit_s", 2, true},
    {"dag, the server's memory with 1,000,000 jobs that wait, MB", "dag.waiting.rss_mb", 120, true},
    {"dag, the server's memory at its peak, MB", "dag.waiting.rss_peak_mb", 120, true},
    {"services, placements a second", "services.large.placements_per_s", 200000, false},
    {"services, a full pass of convergence, processor seconds", "services.large.pass_cpu_s", 0.5,
        true},
    {"services, a tenth of the workers replaced, processor seconds", "services.large.replace_cpu_s",
        1, true},
    {"needs, a placement among 10,000 workers, ratio to 10", "needs.worst_ratio", 2, true},
    {0},
};

const struct goal workers_goals[] = {
    {"workers, one computation of consensus, ms", "workers.consensus.worst_ms", 50, true},
    {"workers, durable, the server's share of a core, percent",
        "workers.durable.server_cpu_percent", 25, true},
    {"workers, durable, the server's memory for each, KB",
        "workers.durable.server_rss_kb_per_worker", 20, true},
    {"workers, durable, a set change reaches all, heartbeats",
        "workers.durable.set_change_heartbeats", 2, true},
    {"workers, volatile, the server's share of a core, percent",
        "workers.volatile.server_cpu_percent", 25, true},
    {"workers, volatile, the server's memory for each, KB",
        "workers.volatile.server_rss_kb_per_worker", 20, true},
    {"workers, volatile, a set change reaches all, heartbeats",
        "workers.volatile.set_change_heartbeats", 2, true},
    {0},
};

static void add(const struct goal *g, const json_t *out, json_t *list)
{
	double x = figure_get(out, g->path);

	if (isnan(x))
		return; /* the goal's case was not asked for */
	json_array_append_new(
	    list, json_pack("{s:s,s:s,s:o,s:o,s:b}", "name", g->name, "bound",
	              g->at_most ? "at most" : "at least", "goal", figure(g->goal), "measured",
	              figure(x), "met", g->at_most ? x <= g->goal : x >= g->goal));
}

json_t *goals_json(const struct goal *const *lists, const json_t *out)
{
	json_t *list = json_array();

	for (; *lists; lists++)
		for (const struct goal *g = *lists; g->name; g++)
			add(g, out, list);
	return list;
}
