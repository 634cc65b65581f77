/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server without a network for the tests of the interface: the real core, the memory store, a
 * clock that stands still unless told otherwise. Nothing happens behind a test's back: commands
 * are decided at once, but commits, replies and reads wait for world_run().
 */
#ifndef TEST_API_WORLD_H
#define TEST_API_WORLD_H

#include <jansson.h>

#include "api/frame/api.h"
#include "base/mem.h"

#define WORLD_START_MS 1700000000000ll

/* One request and what came of it. */
struct talk {
	struct api_request req;
	struct api_param params[16];
	char target[2048];
	/* the answer: */
	int status; /* 0: none yet */
	char type[64];
	struct buf headers; /* "Name: value\n" */
	struct buf body;
	bool streaming, ended;
	const char *kept; /* the body, where it was shared */
	int answers;      /* must never pass 1 */
	size_t pending;   /* what stream_pending() shall say */
	void (*drain)(void *), (*close)(void *);
	void *drain_arg, *close_arg;
};

extern int world_checks; /* secrets that were held against a hash, ever */

struct world;
struct world *world_new(void); /* still loading */
struct world *world_new_with(const struct core_options *o);
void world_load_meta(struct world *w, const struct meta_row *m);
void world_open(struct world *w);
/* With another store or options: fields are copied from world_options if set before. */
void world_free(struct world *w);
struct api *world_api(struct world *w);
const struct core *world_core(struct world *w);
const struct id_space *world_ids(struct world *w);
void world_options(struct world *w, const struct api_options *o);
void world_run(struct world *w);                 /* until nothing is left to do */
void world_advance(struct world *w, int64_t ms); /* timers fire; runs */
bool world_commit_once(struct world *w);         /* one commit and its callbacks */
bool world_job_once(struct world *w);            /* one piece of work off the loop */
int64_t world_now(struct world *w);
void world_index_lacks(struct world *w, int64_t since_ms);

/*
 * A worker that takes every task; what it was told to run is kept. Healthchecks succeed, unless a
 * reason why they fail was given.
 */
void world_checks_fail(struct world *w, const char *reason);
void world_worker(struct world *w, const char *name, int maxthreads);
void world_worker_leaves(struct world *w);
/* A worker that runs so many instances of a service, from index 0 on, all ready. */
void world_worker_with(struct world *w, const char *name, const char *service, size_t n);
bool world_was_run(struct world *w, rid task, int64_t *ret_token);
void world_started(struct world *w, rid task);
void world_output(struct world *w, rid task, int stream, int64_t offset, const char *text);
/* With output comes some usage, and a result of the same text. */
void world_ended(struct world *w, rid task, int status, int exit_code, const char *out);
void world_forget_past(struct world *w);     /* replay then says: too long ago */
size_t world_watches(const struct world *w); /* timers and output watches that are held */

/* Asks; runs until quiet. body NULL: none. The caller frees with talk_free. */
struct talk *ask(struct world *w, enum api_method m, const char *target, const char *body);
/* The parts of it, for tests that look at what is under way. */
struct talk *talk_new(enum api_method m, const char *target, const char *body);
void talk_send(struct world *w, struct talk *t);
void talk_hang_up(struct talk *t);
void talk_free(struct talk *t);
const char *talk_header(struct talk *t, const char *name, char *out, size_t n); /* "" if absent */
json_t *talk_json(struct talk *t); /* fails the test when it is not JSON */
/* Asks, expects a status, returns the parsed answer (NULL when it is empty). */
json_t *ask_json(
    struct world *w, enum api_method m, const char *target, const char *body, int status);
/* A member of an answer; "" or a failed test when it is not there. */
const char *jstr(json_t *v, const char *key);
long long jint(json_t *v, const char *key);
/* Submits `command: [true]` to default and returns its id. */
rid world_submit(struct world *w, const char *body);

#endif
