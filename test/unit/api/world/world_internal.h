/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of the test's world, shared by its files. */
#ifndef TEST_API_WORLD_INTERNAL_H
#define TEST_API_WORLD_INTERNAL_H

#include <bsd/sys/queue.h>

#include "world.h"

struct expected {
	TAILQ_ENTRY(expected) link;
	uint64_t ticket;
	api_reply_fn *fn;
	void *arg;
};

struct job {
	TAILQ_ENTRY(job) link;
	void (*work)(struct store_reader *, void *);
	void (*done)(void *);
	void *arg;
};

struct timer {
	TAILQ_ENTRY(timer) link;
	int64_t at;
	void (*fn)(void *);
	void *arg;
};

struct output_watch {
	TAILQ_ENTRY(output_watch) link;
	rid task;
	void (*fn)(void *);
	void *arg;
};

struct told { /* a task that the worker was told to run */
	rid task;
	int64_t token;
};

struct world {
	struct store *store;
	struct zones *zones;
	struct zone_ref **held; /* zones that the brain knows */
	size_t n_held, cap_held;
	struct store_reader *reader;
	struct core *core;
	struct api *api;
	struct id_space ids;
	struct effects fx[2];
	int now;
	int64_t wall, mono;
	int64_t index_lacks_ms; /* searches' index lacks tasks since then */
	uint64_t seed, ticket, batches, last_seq, forgotten, link;
	TAILQ_HEAD(, expected) expected;
	TAILQ_HEAD(, job) jobs;
	TAILQ_HEAD(, timer) timers;
	TAILQ_HEAD(, output_watch) outputs;
	api_notice_fn *notice_fn;
	void *notice_arg;
	struct notice *past;
	size_t n_past, cap_past;
	struct arena past_arena;
	struct told told[4096];
	size_t n_told;
	const char *check_fails; /* NULL: they succeed */
};

extern const struct api_io world_io;
void world_open(struct world *w);
void world_step(struct world *w, struct event *ev);
void world_message(struct world *w, const struct message *m);
void world_answer_read(struct world *w, const struct read_ask *ask);

#endif
