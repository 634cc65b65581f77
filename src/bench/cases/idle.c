/* SPDX-License-Identifier: Apache-2.0 */
/* What a task that only waits costs: the memory of worker and keeper, with and without many. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench/internal.h"

#define IDLE_TASKS 200

/* A process's own memory: what it shares with others it does not cost. */
static double own_kb(pid_t pid, const char *field)
{
	AUTO(free_cstr) char *path = xasprintf("/proc/%d/smaps_rollup", (int)pid);
	char line[256];
	FILE *f = fopen(path, "re");
	double kb = 0, x;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, field, strlen(field)) == 0 &&
		    sscanf(line + strlen(field), "%lf", &x) == 1)
			kb = x;
	if (f)
		fclose(f);
	return kb;
}

static pid_t keeper_of(pid_t worker)
{
	AUTO(free_cstr)
	char *path = xasprintf("/proc/%d/task/%d/children", (int)worker, (int)worker);
	FILE *f = fopen(path, "re");
	int pid = 0;

	if (f && fscanf(f, "%d", &pid) != 1)
		pid = 0;
	if (f)
		fclose(f);
	return pid;
}

static double both_kb(pid_t worker, pid_t keeper)
{
	return own_kb(worker, "Private_Dirty:") + own_kb(keeper, "Private_Dirty:");
}

static int wait_running(struct bench *b, double n)
{
	double end = bench_seconds() + (double)b->limit_ms / 1000, have = 0;
	json_t *queue = NULL;
	int r = 0;

	while (r == 0 && have < n) {
		r = http_call(b, "GET", "/v1/queues/idle", NULL, &queue);
		have = r < 0 ? 0 : figure_get(queue, "counts.running");
		json_decref(queue);
		queue = NULL;
		if (bench_interrupted() || bench_seconds() > end)
			return problem_set(
			    &b->problem, ERR_TIMEOUT, "%.0f of %.0f tasks were running", have, n);
		usleep(10000);
	}
	return r;
}

int idle_measure(struct bench *b, json_t *to)
{
	static const char line[] = "{\"queue\":\"idle\",\"command\":[\"/bin/sleep\",\"600\"]}";
	pid_t keeper = keeper_of(b->stand.worker);
	int r = queue_make(b, "idle", "\"plugin\":\"command\"");
	double before = both_kb(b->stand.worker, keeper), after;

	if (r == 0)
		r = submit_bulk(b, line, IDLE_TASKS, NULL);
	if (r == 0)
		r = wait_running(b, IDLE_TASKS);
	if (r < 0)
		return r;
	after = both_kb(b->stand.worker, keeper);
	json_object_set_new(to, "idle_task_kb", figure((after - before) / IDLE_TASKS));
	json_object_set_new(to, "keeper_rss_kb", figure(own_kb(keeper, "Rss:")));
	return http_call(b, "POST", "/v1/tasks/actions/cancel",
	    "{\"filter\":{\"queue\":\"idle\"},\"all\":true}", NULL);
}
