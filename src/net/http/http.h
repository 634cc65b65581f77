/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP/1.1 server: one handler gets every request, whole (bodies are bounded), and answers
 * now or later, at once or as a stream. Handlers never see libevent.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "net/loop/loop.h"
#include "net/loop/tls.h"

struct http_server;
struct http_request;

enum http_method {
	HTTP_GET,
	HTTP_HEAD,
	HTTP_POST,
	HTTP_PUT,
	HTTP_PATCH,
	HTTP_DELETE,
	HTTP_OPTIONS,
	HTTP_OTHER
};

struct http_options {
	size_t body_max;     /* one request's body; more: 413 (0: 64 MiB) */
	size_t buffered_max; /* all connections' unanswered input together; past it the largest is
	                        cut with a log line (0: 256 MiB) */
	size_t output_max;   /* all connections' answers that were not yet read, together; past it
	                        the greediest is cut (0: 16 MiB) */
	size_t header_max;   /* 0: 64 KiB */
	int64_t idle_ms;     /* between requests, and between two bytes of one (0: 60 s) */
	int64_t request_ms;  /* from a request's first byte to its last: a byte a second does not
	                        hold a place for ever (0: 120 s) */
	int connections_max; /* past it new ones wait in the backlog (0: 16384) */
};

struct http_peer {
	bool is_unix;
	bool is_loopback; /* unix sockets too */
	bool is_tls;
	uid_t uid; /* SO_PEERCRED, unix sockets only */
	gid_t gid;
	pid_t pid;
	char text[64]; /* "127.0.0.1:4242", "unix:uid=0" */
};

typedef void http_handler(struct http_request *r, void *arg);

struct http_server *http_server_new(
    struct loop *loop, const struct http_options *o, http_handler *fn, void *arg);
/* Stops listening, answers what is under way with 503 where no answer has begun, closes. */
void http_server_free(struct http_server *s);
int http_listen_tcp(struct http_server *s, const char *address, struct tls *tls, int *ret_port,
    struct problem *ret_problem);
/* A stale socket file (nobody listens) is replaced; a live one is an error. */
int http_listen_unix(
    struct http_server *s, const char *path, mode_t mode, struct problem *ret_problem);
/* One that somebody else has made, and removes: it listens already. */
void http_listen_passed(struct http_server *s, int fd, bool is_unix, struct tls *tls);
int http_connections(const struct http_server *s);
size_t http_output(const struct http_server *s);    /* bytes that nobody has read yet */
uint64_t http_cut_off(const struct http_server *s); /* connections that held too much */

/* The request. Strings live until it is answered. */
enum http_method http_method(const struct http_request *r);
const char *http_method_name(const struct http_request *r);
struct str http_path(const struct http_request *r); /* percent-decoded; no query; may hold NUL */
struct str http_raw_target(const struct http_request *r);
/* The i-th query parameter, decoded; false past the last one. */
bool http_query_at(
    const struct http_request *r, size_t i, struct str *ret_key, struct str *ret_value);
struct str http_header(const struct http_request *r, const char *name); /* STR_NULL if absent */
struct str http_body(struct http_request *r);
const struct http_peer *http_peer(const struct http_request *r);

/* The answer: exactly one http_reply(), or one http_stream_start() … http_stream_end(). */
void http_reply_header(struct http_request *r, const char *name, const char *value);
void http_reply(struct http_request *r, int status, const char *content_type, struct str body);
/* The same for a body that outlives the server: those who read slowly share it. */
void http_reply_kept(struct http_request *r, int status, const char *content_type, struct str body);
void http_stream_start(struct http_request *r, int status, const char *content_type);
void http_stream_write(struct http_request *r, struct str bytes);
size_t http_stream_pending(const struct http_request *r); /* queued, not yet with the kernel */
/* Called when a stream has drained to nothing. */
void http_stream_on_drain(struct http_request *r, loop_fn *fn, void *arg);
void http_stream_end(struct http_request *r);
/*
 * The client went away before the answer was complete. After fn returns the request is gone:
 * it must not be answered or touched. Set fn whenever an answer is deferred.
 */
void http_on_close(struct http_request *r, loop_fn *fn, void *arg);

#endif
