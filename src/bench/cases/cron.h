/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the case cron: the patterns, and what was asked and answered for each. */
#ifndef BENCH_CRON_H
#define BENCH_CRON_H

#include "bench/internal.h"

#define CRON_NO_TIME INT64_C(-1)

/* The same times in three notations; NULL: that program has none for it. */
struct cron_pattern {
	const char *name;
	bool rare; /* years may lie between two times */
	bool is_calendar;
	const char *ours, *croner, *cron_parser;
	const char *zone;
};

/* Answers: the first time after each start (fresh), and one after the other from the first start
 * (walking), up to `until`. */
struct cron_asked {
	const struct cron_pattern *pattern;
	const int64_t *starts;
	size_t n;
	int64_t until;
	int64_t *fresh, *walk; /* [n] */
	size_t n_walk;
	double fresh_per_s, walking_per_s;
};

/* Which versions answer from `--peers`; NULL with a problem when they cannot. */
json_t *cron_peers_versions(struct bench *b);
/* Asks them the same, and notes rates, answers that differ, and "ratio": ours to the faster one. */
int cron_peers_measure(struct bench *b, const struct cron_asked *asked, json_t *to);

#endif
