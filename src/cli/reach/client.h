/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP client (libcurl): requests one at a time with retries while the server restarts, or
 * several at once. Every POST carries an idempotency key, so every request may be repeated.
 */
#ifndef CLI_CLIENT_H
#define CLI_CLIENT_H

#include "base/err.h"
#include "base/str.h"

#define ETAG_MAX 64

struct client;
struct call;

struct client_options {
	const char *server;               /* "unix:PATH", "http://…", "https://…" */
	const char *token;                /* NULL: none */
	const char *ca_file;              /* for https; NULL: the system's */
	const char *cert_file, *key_file; /* for https; NULL: none */
	int64_t patience_ms; /* how long an unreachable server is tried again; -1: by default */
	bool is_tty;         /* say so when it takes long */
};

typedef void client_data_fn(struct str bytes, void *arg);

struct request {
	const char *method;
	const char *path;         /* with its query */
	struct str body;          /* borrowed until the call has ended */
	const char *content_type; /* of the body; NULL: application/json */
	const char *accept;       /* NULL: anything */
	const char *key;          /* Idempotency-Key; NULL: a POST gets one of its own */
	const char *last_event_id;
	const char *if_match, *if_none_match;
	client_data_fn *on_data; /* a stream: its bytes as they come, no time limit */
	void *arg;
};

struct reply {
	int status;
	struct buf body;
	char etag[ETAG_MAX];
};

struct client *client_new(const struct client_options *o, struct problem *ret_problem);
void client_free(struct client *c);
const char *client_server(const struct client *c);
void reply_release(struct reply *r);

/*
 * One request, repeated while the server cannot be reached. An error reply (status >= 400) is an
 * error here: the problem is taken from its body. ERR_TIMEOUT with nothing said: interrupted.
 */
int client_do(struct client *c, const struct request *q, struct reply *ret_reply,
    struct problem *ret_problem);

/* Requests go on through so many interrupts: what was asked for is to be known. 0: through none. */
void client_outlast(struct client *c, int interrupts);

/* Several at once: start, pump until call_is_done, finish. No retries. */
struct call *client_start(struct client *c, const struct request *q);
/* Moves all calls on; waits at most so long for something to happen. */
void client_pump(struct client *c, int64_t wait_ms);
/* client_pump returns when that can be read, too; -1: nothing. */
void client_watch(struct client *c, int fd);
bool call_is_done(const struct call *call);
/* Of a stream that begins later than asked: where. 0: nothing was said of that. */
int64_t call_offset(const struct call *call);
/* The reply of a call that is done; the call is gone afterwards. */
int call_finish(struct call *call, struct reply *ret_reply, struct problem *ret_problem);
void call_abort(struct call *call);
/* The result is worth another try: nothing was reached, or a server that is about to be. */
bool client_may_retry(int result, const struct reply *reply);
/* Waits before try number `attempt` (from 0): 50 ms doubling to 2 s, jittered. */
void client_backoff(struct client *c, int attempt);

/* Appends "?key=value" or "&key=value", percent-encoded. */
void url_add(struct buf *url, const char *key, const char *value);
void url_add_path(struct buf *url, const char *segment);
void idempotency_key(char out[33]);

#endif
