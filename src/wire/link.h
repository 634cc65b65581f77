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
#include "model/health.h"
#include "model/receipt.h"
#include "model/worker.h"
#include "model/worker_set.h"

#define LINK_PROTOCOL 3
/*
 * Of a worker's frame: counted before anything is made of it, since eight megabytes hold a million
 * of the smallest. A worker that does as it is told fills 4,096 parts at most.
 */
#define LINK_PARTS_MAX 16384
#define LINK_FIELDS_MAX 400000 /* of all parts */
#define LINK_HELLO_TASKS_MAX 32768
#define LINK_INLINE_MAX (1u << 20) /* one stream inside an end */
#define LINK_NOTIFY_MAX 4096       /* attempts asked after at once */
#define LINK_NONCE_BYTES 32
#define LINK_KEY_BYTES 32
#define LINK_SIGNATURE_BYTES 64
#define LINK_CLOCK_MAX 65536
#define LINK_OUTPUT_MAX (16 << 20) /* unpacked bytes in one frame; a worker has 4 MiB under way */

struct link_task_ref {
	rid task;
	int64_t token;
	bool ended;         /* over; only waits to be acknowledged */
	int64_t started_ms; /* 0: not started */
	struct receipt receipt;
};

struct link_knock {
	uint32_t protocol;
	struct str join_token; /* NULL: none */
	struct str shard;
	uint64_t instance;
	struct str key, signature; /* any bytes */
};

struct link_hello {
	uint32_t protocol;
	struct worker_facts facts; /* labels come sorted, lists without repeats */
	struct link_task_ref *tasks;
	size_t n_tasks;
	struct set_id set; /* server 0: none was ever told */
	uint64_t dial;     /* which of this instance's connections, from 1 */
	bool receipts;     /* it keeps them */
};

struct link_beat {
	uint64_t number;
	bool leaving; /* the worker takes no more runs */
	enum worker_state own;
	struct set_id set;
};

struct link_checked {
	uint64_t number;
	bool ok;
	struct str reason; /* NULL: none */
};

struct link_notified {
	uint64_t seq;
	struct link_task_ref *held, *absent;
	size_t n_held, n_absent;
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
	struct usage usage;
	struct str result; /* any bytes, at most RESULT_FILE_MAX; NULL: none */
};

/*
 * The parts of one frame; to be handled in this order: a healthcheck's result before the beat whose
 * answer may ask for another; what is still held before its end; an end after its output.
 */
struct link_to_server {
	struct str clock;         /* a vector clock, any bytes; NULL: none */
	struct link_knock *knock; /* NULL: none */
	struct link_hello *hello; /* NULL: none */
	struct link_checked *checked;
	bool has_beat;
	struct link_beat beat;
	struct link_notified *notified;
	struct link_started *started;
	struct output_row *output;
	struct link_ended *ended;
	size_t n_checked, n_notified, n_started, n_output, n_ended;
};

/* What the server thinks of the worker. */
struct link_news {
	enum worker_state state;
	struct set_id set; /* server 0: none */
	uint64_t check;    /* the last healthcheck that counts; 0: none */
};

struct link_welcome {
	rid worker;
	struct id_space ids;
	uint64_t server; /* the process that speaks */
	struct timeouts timeouts;
	struct link_news news;
	uint64_t notify_seq;
	int32_t maxthreads; /* in force; -1: no limit */
};

struct link_refused {
	struct str reason;
	bool die, restart;
};

struct link_run {
	rid task;
	int64_t token;
	int32_t attempt, max_attempts;
	struct str queue, plugin;
	struct str body;                /* JSON object */
	struct str env;                 /* JSON object of the queue; NULL: none */
	struct str run_settings;        /* JSON object of the queue: its `run`; NULL: none */
	int64_t timeout_ms, output_max; /* 0: none, the default */
	int32_t output_mode;
	bool exit_codes;
	uint64_t number; /* on this link, from 1 */
	uint64_t notify_seq;
	struct receipt receipt;
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

struct link_settings {
	int32_t maxthreads;  /* in force; -1: no limit */
	bool leave, restart; /* drain and go; and come back as a new instance */
};

struct link_beat_ack {
	uint64_t number; /* 0: not an answer, only news */
	struct link_news news;
};

struct link_run_ref {
	rid task;
	int64_t token;
};

struct link_notify { /* which of these are not here? */
	uint64_t seq;
	struct link_run_ref *refs;
	size_t n_refs;
};

struct link_check {
	uint64_t number;
	uint64_t beat; /* the newest beat heard on this link; 0: only the hello */
};

/*
 * In the order to be handled: acknowledgements make room for runs, a kill may follow its run, and
 * the question after attempts comes when everything that was sent before it is there.
 */
struct link_to_worker {
	struct str clock;             /* a vector clock, any bytes; NULL: none */
	struct str challenge;         /* LINK_NONCE_BYTES; NULL: none */
	struct link_welcome *welcome; /* NULL: none */
	struct link_refused *refused;
	bool has_settings, has_beat_ack, has_check;
	struct link_settings settings;
	struct link_beat_ack beat_ack;
	struct link_ended_ack *ended_ack;
	struct link_output_ack *output_ack;
	struct link_run *run;
	struct link_kill *kill;
	struct link_notify *notify;
	struct link_check check;
	size_t n_ended_ack, n_output_ack, n_run, n_kill, n_notify;
};

/* 0, or ERR_PROTOCOL with a problem (may be NULL) that says which part was wrong. */
int link_decode_to_server(struct str payload, struct arena *a, struct link_to_server *ret_message,
    struct problem *ret_problem);
int link_decode_to_worker(struct str payload, struct arena *a, struct link_to_worker *ret_message,
    struct problem *ret_problem);

/* What a knock's signature is about. Appended to `out`. */
void link_proof(struct str challenge, uint64_t instance, struct str shard, struct buf *out);

/* Appended to `out`. Scratch memory comes from `a`. */
void link_encode_to_server(const struct link_to_server *m, struct arena *a, struct buf *out);
void link_encode_to_worker(const struct link_to_worker *m, struct arena *a, struct buf *out);

#endif
