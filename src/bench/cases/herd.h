/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many workers in one process: real brains on real loopback links, which run nothing. A
 * healthcheck is answered as if its process had been started and had ended well.
 */
#ifndef BENCH_HERD_H
#define BENCH_HERD_H

#include <stddef.h>

#include "agent/effects.h"
#include "base/rng.h"
#include "bench/internal.h"
#include "net/loop/loop.h"

struct herd_worker;

struct herd {
	struct loop *loop;
	char address[32];
	const char *join_token;
	struct herd_worker *workers;
	size_t n, max;
	size_t n_dialled, n_healthy;
	uint64_t newest; /* version of the newest set that any of them knows */
	size_t n_know;   /* so many know that one */
	size_t links_lost;
	int64_t frames_in, frames_out;
	bool sampling;
	bool quiet;             /* lost links are expected now, and not counted */
	struct samples answers; /* from a beat's sending to its answer, while sampling */
	/* the inside */
	struct agent_effects effects;
	struct arena arena;
	struct buf encoded;
	struct loop_timer *dialler;
	int64_t dial_start_ms;
	int64_t dial_ms; /* for all that are to be dialled now */
	size_t dial_from;
	struct rng rng;
	uint64_t server; /* the process that the newest welcome came from */
};

void herd_init(struct herd *h, struct loop *loop, int port, const char *join_token, size_t max);
/* So many more, dialled evenly over that time. At most `max` together. */
void herd_grow(struct herd *h, size_t n, int64_t over_ms);
/* Another server, on that port: nobody is healthy there yet. */
void herd_aim(struct herd *h, int port);
/* Nothing is said to the server any more: its links just end. */
void herd_release(struct herd *h);

#endif
