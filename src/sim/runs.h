/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of seeds: one, many over several processes, and the search for the smallest that fails. */
#ifndef SIM_RUNS_H
#define SIM_RUNS_H

#include <stdio.h>

#include "sim/world/world.h"

struct run_result {
	struct sim_options o; /* as drawn */
	struct verdict verdict;
	uint64_t hash, events;
	int64_t sim_us;
};

/* One seed; with `lines` its story is told there. */
void run_one(const struct sim_options *given, FILE *lines, struct run_result *ret_result);
/* The same, with a trace for ShiViz in that file; `head` is told first what was drawn. Nothing is
 * told when there can be no such file. */
int run_traced(const struct sim_options *given, FILE *head, FILE *lines, const char *path,
    struct run_result *ret_result, struct problem *ret_problem);
/* The same, twice: invariant 34. */
void run_twice(const struct sim_options *given, struct run_result *ret_result);

struct run_many {
	struct sim_options given; /* seed is the first one */
	int64_t seeds;
	int jobs;
	bool repeat, progress;
	/* results */
	uint64_t done, events, hash, failed_seed;
	int64_t sim_us;
	bool failed;
	int64_t real_ms;
};
/* Stops at the first that fails: its seed is in failed_seed. */
void run_seeds(struct run_many *m);

/*
 * Runs it in a process of its own. Returns the broken invariant, 0, or RUN_CRASHED when a brain
 * stopped the program.
 */
#define RUN_CRASHED 255
int run_apart(const struct sim_options *given, bool repeat);

/* Leaves out faults, workers, work and time while the same invariant breaks. *o has a list of
 * faults of its own afterwards, to be freed by the caller. */
void shrink(struct sim_options *o, int invariant, FILE *progress);

#endif
