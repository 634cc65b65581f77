/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker link's frames: the messages of model/link/link.h, and their protobuf form. The
 * generated code is known only here. What is decoded was written by a peer: every size, name,
 * number and enum has been checked when a decode function returns 0, and strings are NUL-terminated
 * (but for output and input, which may hold anything). Everything decoded lives in the caller's
 * arena; nothing points into payload.
 */
#ifndef WIRE_LINK_H
#define WIRE_LINK_H

#include "base/arena.h"
#include "base/err.h"
#include "model/link/link.h"
#include "model/rows/batch.h"

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

struct link_knock {
	uint32_t protocol;
	struct str join_token; /* NULL: none */
	struct str shard;
	uint64_t instance;
	struct str key, signature; /* any bytes */
};

/*
 * The parts of one frame; to be handled in this order: a healthcheck's result before the beat whose
 * answer may ask for another; what is still held before its end; how an attempt fares after its
 * start; an end after its output.
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
	struct link_health *health;
	struct link_input_ack *input_ack;
	struct output_row *output;
	struct link_ended *ended;
	size_t n_checked, n_notified, n_started, n_health, n_input_ack, n_output, n_ended;
};

/* The parts of one frame; to be handled in the order of LINK_TO_WORKER_ORDER. */
struct link_to_worker {
	struct str clock;             /* a vector clock, any bytes; NULL: none */
	struct str challenge;         /* LINK_NONCE_BYTES; NULL: none */
	struct link_welcome *welcome; /* NULL: none */
	struct link_refused *refused;
	bool has_settings, has_beat_ack, has_check;
	struct link_settings settings;
	struct link_beat_ack beat_ack;
	struct run_ref *ended_ack;
	struct link_output_ack *output_ack;
	struct link_input *input;
	struct link_run *run;
	struct link_kill *kill;
	struct link_follow *follow;
	struct link_notify *notify;
	struct link_check check;
	size_t n_ended_ack, n_output_ack, n_input, n_run, n_kill, n_follow, n_notify;
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
