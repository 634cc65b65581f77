/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The REST interface without the network: a request becomes an event for the brain or a query for
 * the store, and its answer becomes JSON. The server joins this to HTTP by filling in `api_host`.
 */
#ifndef API_API_H
#define API_API_H

#include "core/core.h"
#include "store/store.h"
#include "zones/zones.h"

enum api_method {
	API_GET,
	API_POST,
	API_PUT,
	API_PATCH,
	API_DELETE,
	N_API_METHODS,
	API_OPTIONS = N_API_METHODS /* no route has it: the answer comes from the table */
};

#define API_PARAMS_MAX 64
#define SECRET_MAC_BYTES 32

struct api_param {
	struct str key, value;
};

/* One request. Strings are valid until it has been answered. */
struct api_request {
	enum api_method method; /* HEAD comes as GET */
	struct str path;        /* decoded; may hold anything */
	const struct api_param *params;
	size_t n_params; /* more than API_PARAMS_MAX: refused */
	struct str body;
	struct str content_type, accept, authorization, idempotency_key, if_match, if_none_match,
	    last_event_id, origin, host; /* STR_NULL when absent */
	bool is_unix, is_loopback, is_tls;
	uint32_t uid; /* unix sockets */
	void *io;     /* the host's handle for the answer */
};

/* How an answer leaves. Exactly one reply, or a stream. */
struct api_io {
	void (*header)(void *io, const char *name, const char *value);
	void (*reply)(void *io, int status, const char *content_type, struct str body);
	/* The same for a body that lives as long as the api does. */
	void (*reply_kept)(void *io, int status, const char *content_type, struct str body);
	void (*stream_start)(void *io, int status, const char *content_type);
	void (*stream_write)(void *io, struct str bytes);
	size_t (*stream_pending)(void *io);
	void (*stream_on_drain)(void *io, void (*fn)(void *arg), void *arg);
	void (*stream_end)(void *io);
	/* The client went away: after fn returns `io` must not be used. */
	void (*on_close)(void *io, void (*fn)(void *arg), void *arg);
};

typedef void api_reply_fn(const struct reply *r, void *arg);
typedef void api_notice_fn(const struct notice *n, void *arg); /* NULL: the commit is complete */

/* How the server that we live in is doing, for /metrics. */
struct api_load {
	uint64_t turns, long_turns; /* of the loop; long: more than 10 ms of processor time. What is
	                               asked in one turn gets the same metrics */
	double longest_turn_s;
	int connections;
	uint64_t cut_off;    /* connections that held too much */
	size_t output_bytes; /* answers that wait to be read */
};

typedef bool api_past_fn(const struct notice *n, void *arg); /* false: that is enough */

struct api_host {
	void *arg;
	const struct api_io *io;
	const struct core *core;
	const struct id_space *ids;
	/* Why commands are refused at present, in words; NULL: they are not. */
	const char *(*not_ready)(void *arg);
	struct search_index (*search_index)(void *arg); /* NULL: there is none */
	void (*load)(void *arg, struct api_load *ret);  /* NULL: not known */
	int64_t (*wall_ms)(void *arg);
	int64_t (*mono_ms)(void *arg);
	/*
	 * Hands a command to the brain: kind, actor, idem_* and the union are filled in, times,
	 * seed and ticket are not. `fn` is called later, on the loop, once the outcome is durable.
	 * Strings in *ev need live only for the call.
	 */
	void (*command)(void *arg, struct event *ev, api_reply_fn *fn, void *fn_arg);
	/*
	 * What the brain's memory says may come from a batch that is not durable yet: fn is called
	 * once it is. False: it is already, and fn is not called.
	 */
	bool (*when_durable)(void *arg, uint64_t batch, api_reply_fn *fn, void *fn_arg);
	/* A command that nobody waits for: nothing is kept of it for an answer. */
	void (*tell)(void *arg, struct event *ev);
	/* A time zone by name, to be looked at and dropped. */
	int (*zone)(void *arg, struct str name, struct zone_ref **ret_ref, struct problem *p);
	/* Runs work(reader, job) on a reader thread, then done(job) on the loop. What may take long
	 * does not keep the rest waiting. */
	void (*read)(void *arg, bool is_long, void (*work)(struct store_reader *r, void *job),
	    void (*done)(void *job), void *job);
	/* Notices after their batch is durable, in order. Returns a handle. */
	void *(*watch)(void *arg, api_notice_fn *fn, void *fn_arg);
	void (*unwatch)(void *arg, void *handle);
	/* Past notices from memory, oldest first, seq > after. False: it is too long ago. */
	bool (*replay)(void *arg, uint64_t after, api_past_fn *fn, void *fn_arg);
	uint64_t (*last_seq)(void *arg);
	/* Calls fn once after ms, on the loop; returns a handle for cancel_timer. */
	void *(*timer)(void *arg, int64_t ms, void (*fn)(void *arg), void *fn_arg);
	void (*cancel_timer)(void *arg, void *handle);
	/* Told when new output of this task is durable (or it ended): fn until unwatch_output. */
	void *(*watch_output)(void *arg, rid task, void (*fn)(void *arg), void *fn_arg);
	void (*unwatch_output)(void *arg, void *handle);
	/*
	 * Secrets. Making and checking a hash takes tens of milliseconds and of megabytes: on a
	 * reader's thread only. The keyed hash is quick, and its key is this process's own.
	 */
	void (*secret_random)(void *ret_bytes, size_t n);
	bool (*secret_hash)(struct str secret, char *ret_text, size_t size);
	bool (*secret_fits)(struct str hash, struct str secret);
	void (*secret_mac)(void *arg, struct str text, unsigned char *ret_mac);
};

struct api_server_facts { /* for /v1/status and /metrics */
	const char *version;
	int64_t started_ms;
	const char *backend;
	const char *listen; /* "item\n" lines */
	const char *link;
	const char *url;  /* what to type into a browser */
	bool is_volatile; /* server.dispatch */
};

struct api_options {
	const char *token;     /* of those who come by TCP; NULL: nobody may */
	const char *base_path; /* "" or "/reeve": stripped from paths */
	const char
	    *allow_hosts; /* "item\n" lines, beside loopback names and the listen addresses */
	const char *allow_origins;
	uint32_t server_uid;
	struct api_server_facts facts;
};

struct api;
struct api *api_new(const struct api_host *h, const struct api_options *o); /* copies both */
void api_free(struct api *a);
void api_set_options(struct api *a, const struct api_options *o); /* SIGHUP */
void api_handle(struct api *a, const struct api_request *r);
/* For metrics: the server tells about each commit. */
void api_saw_commit(struct api *a, double seconds, size_t rows);

/* Offline: the documents made from the tables. */
void api_openapi(struct buf *out);
/* What was found of the audit trail, as JSON. */
void api_audit(struct buf *out, const struct audit_check *k);

#endif
