/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker link's messages as plain structs, and their protobuf form. The generated code is known
 * only here. What is decoded was written by a peer: every size, name, number and enum has been
 * checked when a decode function returns 0, and strings are NUL-terminated (but for output, which
 * may hold anything). Everything decoded lives in the caller's arena; nothing points into payload.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include "base/arena.h"
#include "base/err.h"
#include "model/batch.h"
#include "model/worker.h"

#define LINK_PROTOCOL 1
#define LINK_HELLO_TASKS_MAX 200000
#define LINK_INLINE_MAX (1u << 20) /* one stream inside an end */

struct link_task_ref {
	rid task;
	int64_t token;
	bool ended;         /* over; only waits to be acknowledged */
	int64_t started_ms; /* 0: not started */
};

struct link_hello {
	uint32_t protocol;
	struct str join_token;     /* NULL: none */
	struct worker_facts facts; /* labels come sorted, lists without repeats */
	struct link_task_ref *tasks;
	size_t n_tasks;
};

struct link_started {
	rid task;
	int64_t token;
	int64_t started_ms;
	int32_t pid; /* 0: none of its own */
};

struct link_ended {
	rid task;
	int64_t token;
	int32_t status, exit_code, signal; /* exit_code -1: none */
	struct str reason;                 /* NULL: none */
	int64_t started_ms;                /* 0: no process was ever made for this attempt */
	int64_t ended_ms;
	bool killed, permanent;
	int32_t output_where;         /* enum output_where */
	struct str output[N_STREAMS]; /* with OUTPUT_INLINE */
	int64_t output_bytes[N_STREAMS], output_dropped[N_STREAMS];
};

/* The parts of one frame; to be handled in this order, so that an end comes after its output. */
struct link_to_server {
	struct link_hello *hello; /* NULL: none */
	bool has_beat;
	bool leaving; /* with a beat: the worker takes no more runs */
	uint64_t beat;
	struct link_started *started;
	struct output_row *output;
	struct link_ended *ended;
	size_t n_started, n_output, n_ended;
};

struct link_welcome {
	rid worker;
	struct id_space ids;
	int64_t heartbeat_ms, lose_after_ms;
	int32_t maxthreads; /* in force; -1: no limit */
};

struct link_refused {
	struct str reason;
	bool die;
};

struct link_run {
	rid task;
	int64_t token;
	int32_t attempt, max_attempts;
	struct str queue, plugin;
	struct str body;                /* JSON object */
	struct str env;                 /* JSON object of the queue; NULL: none */
	int64_t timeout_ms, output_max; /* 0: none, the default */
	int32_t output_mode;
	bool exit_codes;
};

struct link_kill {
	rid task;
	int64_t token;
	struct str reason; /* NULL: none */
	bool forget;
};

struct link_ended_ack {
	rid task;
	int64_t token;
};

struct link_output_ack {
	rid task;
	int64_t token;
	int32_t stream;
	int64_t end;
	bool refused;
};

/* In the order to be handled: acknowledgements make room for runs, and a kill may follow its run.
 */
struct link_to_worker {
	struct link_welcome *welcome; /* NULL: none */
	struct link_refused *refused;
	bool has_settings, has_beat_ack;
	int32_t maxthreads; /* with settings */
	uint64_t beat_ack;
	struct link_ended_ack *ended_ack;
	struct link_output_ack *output_ack;
	struct link_run *run;
	struct link_kill *kill;
	size_t n_ended_ack, n_output_ack, n_run, n_kill;
};

/* 0, or ERR_PROTOCOL with a problem (may be NULL) that says which part was wrong. */
int link_decode_to_server(struct str payload, struct arena *a, struct link_to_server *ret_message,
    struct problem *ret_problem);
int link_decode_to_worker(struct str payload, struct arena *a, struct link_to_worker *ret_message,
    struct problem *ret_problem);

/* Appended to `out`. Scratch memory comes from `a`. */
void link_encode_to_server(const struct link_to_server *m, struct arena *a, struct buf *out);
void link_encode_to_worker(const struct link_to_worker *m, struct arena *a, struct buf *out);

#endif
