/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server's inside.
 *
 * evhttp owns connections and parses requests. Beside each of its connections stands an
 * http_conn, which counts, times and closes it; beside each request that it presents stands an
 * http_request, which the handler holds and which may outlive the connection.
 *
 * Who frees the evhttp_request: evhttp, once the answer has been written (conn->ev is cleared
 * first); else, when the connection ends earlier, we do: as soon as the handler lets go.
 */
#ifndef NET_HTTP_INTERNAL_H
#define NET_HTTP_INTERNAL_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
/* Needs the one above it. */
#include <event2/http_struct.h>

#include <bsd/sys/queue.h>

#include "base/moves.h"
#include "net/http/http.h"
#include "net/http/http_scan.h"

#define HTTP_PIPELINED_MAX 65536 /* read ahead of an answer, to notice a hang-up */

/*
 *   reading --request--> waiting --answer--> writing --written--> reading
 *                           '--stream--> streaming --ended--^
 *   reading, waiting, writing --cut off with a word, or refused--> lingering
 *
 * Whatever is closed without a word goes from any of them at once. The table is in http_conn.c;
 * http_conn_move() makes every move.
 */
enum http_conn_state {
	CONN_READING,   /* a request, or waiting for one */
	CONN_WAITING,   /* the handler has it */
	CONN_WRITING,   /* the answer is on its way */
	CONN_STREAMING, /* the handler goes on writing */
	CONN_LINGERING  /* evhttp has let go; what the client still sends is thrown away */
};

struct http_listener {
	LIST_ENTRY(http_listener) entry;
	struct http_server *server;
	struct evhttp *http; /* one each: evhttp's per-connection hook knows nothing else */
	struct evconnlistener *listener;
	struct tls *tls;
	bool is_unix;
	char *unix_path; /* ours to remove; NULL: none, or somebody else's */
};

struct http_conn {
	TAILQ_ENTRY(http_conn) entry;
	TAILQ_ENTRY(http_conn) check_entry;
	struct http_server *server;
	struct bufferevent *bev; /* a reference of our own */
	struct evhttp_connection *evcon;
	bufferevent_data_cb write_cb; /* evhttp's own callbacks, taken with its connection */
	bufferevent_event_cb event_cb;
	struct evbuffer_cb_entry *input_cb, *output_cb;
	int fd;
	enum http_conn_state state;
	bool checking;
	bool reading_ahead;
	bool linger;
	struct http_peer peer;
	struct http_request *request; /* unanswered */
	struct evhttp_request *ev;    /* presented, and not yet freed by evhttp */
	int64_t first_ms;             /* when the present request's first byte came; 0: none yet */
	int64_t active_ms;            /* when bytes last moved */
	size_t held;                  /* input bytes of the unanswered request */
	size_t output;                /* bytes of answers that the kernel has not taken */
	struct http_scan scan;        /* of the present request */
};
TAILQ_HEAD(http_conn_list, http_conn);

struct query_pair {
	struct str key, value; /* in `decoded`, as the path */
};

struct http_request {
	TAILQ_ENTRY(http_request) entry; /* in the server's gone, spare or gathering list */
	struct http_server *server;      /* NULL once it is freed */
	struct http_conn *conn;          /* NULL once the client is gone */
	struct evhttp_request *ev;
	struct http_peer peer_copy; /* filled when the client goes */
	struct str path, query;
	struct buf decoded; /* the path if it needs decoding, then the query; it never moves */
	struct query_pair *pairs;
	size_t pairs_n, pairs_cap;
	bool query_parsed;
	char *body; /* a long one, put together; NULL: it is still evhttp's */
	size_t body_n, body_cap;
	bool gathering;
	struct buf headers; /* of the answer, as they will be sent */
	bool streaming;
	bool chunked;
	loop_fn *on_close, *on_drain;
	void *on_close_arg, *on_drain_arg;
};
TAILQ_HEAD(http_request_list, http_request);

struct http_server {
	struct loop *loop;
	struct http_options o;
	http_handler *fn;
	void *arg;
	LIST_HEAD(, http_listener) listeners;
	struct http_conn_list fresh; /* accepted, evhttp's connection not yet known */
	struct http_conn_list conns; /* evhttp's */
	struct http_conn_list dead;  /* evhttp has just let go of them */
	struct http_conn_list lingering;
	struct http_conn_list checks; /* evhttp wrote by itself */
	struct http_conn **by_fd;
	size_t by_fd_cap;
	int count;
	bool full;    /* not accepting */
	bool resting; /* a listener is off until the work's turn */
	int64_t full_logged_ms;
	size_t held, output; /* the sums of the connections' */
	uint64_t cut_off;
	int64_t cut_logged_ms;
	struct http_request_list gone;  /* the client left, the handler has not let go */
	struct http_request_list spare; /* for the next requests */
	int spare_n;
	struct http_request_list gathering; /* long bodies that are being put together */
	struct old_body {
		char *p;
		size_t n;
	} * old; /* whose pages are being given back */
	size_t n_old, cap_old;
	struct event *gather_event;
	struct event *work_event; /* fresh, checks, dead, over the limit */
	struct event *sweep_event;
	struct buf scratch; /* heads of answers */
	char date[40];
	int64_t date_s;
};

/* http_conn.c */
extern const struct moves http_conn_moves;
void http_conn_move(struct http_conn *c, enum http_conn_state to);
struct bufferevent *http_conn_accept(struct event_base *base, void *listener);
struct http_conn *http_conn_of(struct http_server *s, struct evhttp_request *ev);
/* Fills in who is at the other end; is_unix says which kind of socket it is. */
void http_peer_read(int fd, struct http_peer *p);
void http_conn_work(struct http_server *s);     /* a little of it: it wakes itself again */
void http_conn_work_all(struct http_server *s); /* at the end */
void http_conn_sweep(struct http_server *s, int64_t now);
void http_conn_abort(struct http_conn *c, int status, const char *detail);
void http_conn_complete(struct http_conn *c);
void http_conn_release(struct http_conn *c);

/* http_server.c */
void http_server_room(struct http_server *s);
void http_server_wake(struct http_server *s);

/* http_request.c */
void http_request_free(struct http_request *r);
void http_request_present(struct evhttp_request *ev, void *listener);

/* http_body.c */
bool http_body_is_long(const struct http_request *r);
void http_body_gather(struct http_request *r); /* and then the handler */
void http_body_free(struct http_request *r);
void http_bodies_release(struct http_server *s);
void http_body_forget(struct http_request *r);
void http_body_work(evutil_socket_t fd, short what, void *server);

/* http_check.c */
/* Why a request that evhttp presents is refused none the less, or NULL. */
const char *http_check(const struct http_conn *c, const struct evhttp_request *ev);

/* http_reply.c */
void http_problem(struct http_server *s, struct buf *b, int status, const char *detail);
/* Answers with 400 and closes. */
void http_refuse(struct http_request *r, const char *detail);
/* Starts an answer: its head is in the server's scratch buffer, body headers excepted. */
struct buf *http_reply_head(struct http_request *r, int status, const char *content_type);
/* Gives bytes to the connection, behind what waits there. */
void http_conn_queue(struct http_conn *c, struct str s);
/* Likewise: to the kernel at once where that is possible. */
void http_conn_write(struct http_conn *c, struct str head, struct str body);
/* All is written: evhttp waits for it to drain, then takes the next request. */
void http_conn_finish(struct http_conn *c);

#endif
