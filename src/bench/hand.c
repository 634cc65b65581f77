/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hand alone: /bin/true through a keeper, its output captured, a cgroup for each, beside one
 * bare loop that does the same work and one that does none of it. And how soon a process executes
 * while others run.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/data/heap.h"
#include "base/mem.h"
#include "bench/internal.h"
#include "exec/process.h"
#include "keeper/client.h"

#define ROUNDS 5
#define IN_FLIGHT 16
#define OTHERS 200 /* tasks that run while starts are timed */

struct shot { /* one process on its way */
	struct kept kept;
	bool busy, started, failed;
};

static struct keeper_client keeper;
static struct shot shots[IN_FLIGHT];
static char lock_variable[128];

static void on_started(struct kept *k)
{
	CONTAINER_OF(k, struct shot, kept)->started = true;
}

static void on_not_started(struct kept *k, int code, struct str why)
{
	struct shot *s = CONTAINER_OF(k, struct shot, kept);

	s->failed = true;
	s->busy = false;
}

/* Captured: both pipes are read to their end. */
static void on_over(struct kept *k)
{
	struct shot *s = CONTAINER_OF(k, struct shot, kept);
	char sink[4096];

	for (int i = 0; i < 2; i++)
		while (k->out[i] >= 0 && read(k->out[i], sink, sizeof sink) > 0)
			;
	kept_drop(k);
	s->busy = false;
}

static const struct kept_fns fns = {on_started, on_not_started, on_over};

static bool fire(struct shot *s, const char *const *argv)
{
	const char *env[] = {lock_variable, NULL};
	struct keeper_start o = {
	    .program = {.argv = argv, .env = env, .umask = 022, .death_signal = SIGKILL}};

	*s = (struct shot){.busy = true};
	return keeper_start(&keeper, &o, NULL, 0, &s->kept, &fns);
}

static bool turn(void)
{
	struct pollfd pf = {keeper_fd(&keeper), POLLIN, 0};

	return poll(&pf, 1, 10000) > 0 && keeper_writable(&keeper) && keeper_readable(&keeper);
}

static double our_seconds(int64_t n)
{
	static const char *const argv[] = {"/bin/true", NULL};
	double start = bench_seconds();
	int64_t begun = 0;
	int busy;

	do {
		busy = 0;
		for (int i = 0; i < IN_FLIGHT; i++) {
			if (!shots[i].busy && begun < n && fire(&shots[i], argv))
				begun++;
			busy += shots[i].busy;
		}
	} while (busy && turn() && !bench_interrupted());
	return bench_seconds() - start;
}

static void compare(int64_t n, int cgroup_parent, json_t *to)
{
	double ours = 0, bare = 0, same = 0, fresh = 0, total = (double)n * ROUNDS;

	for (int i = 0; i < ROUNDS && !bench_interrupted(); i++) {
		ours += our_seconds(n);
		bare += limit_spawn_seconds(n, LOOP_NOTHING, -1, 1);
		same += limit_spawn_seconds(n, LOOP_SAME_CGROUP, cgroup_parent, 1);
		fresh += limit_spawn_seconds(n, LOOP_FRESH_CGROUP, cgroup_parent, 1);
	}
	json_object_set_new(to, "processes", json_integer(n * ROUNDS));
	json_object_set_new(to, "per_s", figure(total / ours));
	json_object_set_new(to, "bare_loop_per_s", figure(total / bare));
	json_object_set_new(to, "ratio_to_bare_loop", figure(bare / ours));
	json_object_set_new(to, "same_cgroup_loop_per_s", figure(total / same));
	json_object_set_new(to, "ratio_to_same_cgroup_loop", figure(same / ours));
	json_object_set_new(to, "fresh_cgroup_loop_per_s", figure(total / fresh));
	json_object_set_new(to, "ratio_to_fresh_cgroup_loop", figure(fresh / ours));
}

/* From the order to the word that it has executed. */
static void time_starts(int64_t n, json_t *to)
{
	static const char *const sleeper[] = {"/bin/sleep", "600", NULL}, *const argv[] = {
	                                                                      "/bin/true", NULL};
	struct shot *others = xcalloc(OTHERS, sizeof *others), one;
	struct samples samples = {0};
	bool ok = true;

	for (int i = 0; i < OTHERS && ok; i++) {
		ok = fire(&others[i], sleeper);
		while (ok && !others[i].started && !others[i].failed)
			ok = turn();
	}
	for (int64_t i = 0; i < n && ok && !bench_interrupted(); i++) {
		double start = bench_seconds();

		ok = fire(&one, argv);
		while (ok && !one.started && !one.failed)
			ok = turn();
		samples_add(&samples, (int64_t)((bench_seconds() - start) * 1e9));
		while (ok && one.busy)
			ok = turn();
	}
	json_object_set_new(to, "start_beside_200", samples_json(&samples));
	samples_release(&samples);
	for (int i = 0; i < OTHERS; i++)
		kept_drop(&others[i].kept);
	free(others);
}

int hand_measure(struct bench *b, int cgroup_parent, json_t *to)
{
	AUTO(free_cstr) char *lock = xasprintf("bench-hand-%d", (int)getpid());
	AUTO(free_cstr) char *mark = exec_lock_mark(lock);
	struct keeper_options o = {
	    .lock = lock, .held_fd = -1, .use_cgroups = true, .term_wait_ms = 1000};
	int r = keeper_make(&keeper, &o, &b->problem);

	if (r < 0)
		return r;
	snprintf(lock_variable, sizeof lock_variable, EXEC_LOCK_VARIABLE "=%s", mark);
	our_seconds(50); /* the first ones find nothing ready */
	compare(bench_scaled(b, 1000, 20), cgroup_parent, to);
	time_starts(bench_scaled(b, 1000, 20), to);
	keeper_close(&keeper, true, 10000);
	return 0;
}
