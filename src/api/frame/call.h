/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request on its way: what it asked, what it waits for, what it answers. Inside api only.
 *
 * A call lives until it is answered (or its client went away) AND nothing it asked of the host is
 * still under way; so callbacks never find it gone. At most one command or read runs at a time.
 * While a read runs, the arena belongs to the reader thread.
 */
#ifndef API_CALL_H
#define API_CALL_H

#include <bsd/sys/queue.h>
#include <jansson.h>

#include "api/frame/api.h"
#include "api/frame/json_out.h"
#include "api/frame/route.h"
#include "base/data/idmap.h"
#include "base/mem.h"

struct call;
struct metrics;
struct waiter;
struct subscriber;
struct graph_room;
struct owed;
struct route_followers;
struct fields_in;
struct field;
typedef void call_reply_fn(struct call *c, const struct reply *r);

TAILQ_HEAD(call_list, call);
TAILQ_HEAD(subscriber_list, subscriber);

#include "api/frame/access.h"

struct api {
	struct api_host host;
	struct api_options opt;
	struct arena opt_arena;        /* the strings of `opt` */
	struct call_list calls, spare; /* under way; kept for reuse */
	size_t n_spare;
	struct metrics *metrics;
	void *watch;          /* the one subscription to notices; all else hangs on it */
	struct idmap waiters; /* task -> struct waiter: long polls */
	struct subscriber_list subscribers;
	struct subscriber_list behind; /* subscribers that are to be told of something, in line */
	void *behind_timer;
	struct rendered *rendered; /* the notices told of last, for all: see events.c */
	unsigned untold;           /* notices of the present commit that nobody heard of yet */
	struct access access;
	struct graph_room *graphs; /* kept graphs in memory; NULL: none was used yet */
	struct owed *owed;         /* groups that were triggered are drafted; NULL: none was yet */
	struct route_followers *routes; /* who is told of routes; NULL: nobody was yet */
	struct buf openapi;             /* written once, when it is first asked for */
	struct buf metrics_text;        /* as written in that turn of the host's loop */
	uint64_t metrics_turn;
};

/* A text that a reader's thread parses, or has parsed. */
struct parse_away {
	char *text; /* NULL: none */
	size_t n;
	json_t *value;
	struct problem problem;
	int rc;
	/* while a body is copied */
	size_t copied;
	void *timer;
	void (*then)(struct call *c);
};

struct call {
	TAILQ_ENTRY(call) link;
	struct api *api;
	const struct api_host *host;
	struct api_request req;
	const struct route *route;
	struct str args[ROUTE_ARGS]; /* what stands for each {…} in the path */
	struct str arg;              /* the first of them */
	struct str query[N_QUERY];   /* first value of each; NULL: absent */
	struct principal who;
	rid shown;                 /* the token that is to be looked at */
	TAILQ_ENTRY(call) in_line; /* until then */
	void *expiry;              /* timer: its token ends */
	bool streaming;
	struct arena arena;
	struct buf out;
	struct problem problem;
	struct parse_away away;
	int status;   /* as answered, for the metrics */
	bool over;    /* answered, or the client is gone: io is not touched again */
	bool is_own;  /* the api's own question, which nobody has sent */
	bool no_idem; /* the next command is not the one the key is about */
	int pending;  /* callbacks that the host still owes us */
	call_fn *on_read;
	call_fn *on_task; /* after call_read_task() */
	call_reply_fn *on_reply;
	call_reply_fn *on_late; /* the same, when the client has left meanwhile; NULL: nothing */
	call_fn *when_durable;  /* after call_when_durable() */
	call_fn *go_on;         /* once what the path names lies within the limits */
	void *scope;            /* what is looked for within them */
	call_fn *on_over;       /* gives back watches and timers */
	call_fn *on_free;       /* frees what a reader thread may have been using until now */
	void *state;            /* the handler's own, in the arena */
	rid about;              /* the task or object that the path names */
	rid covered;            /* the object whose tasks were all found to lie within the limits */
	struct task_row row;
	struct arena row_arena; /* for handlers that read it again and again */
	int code;               /* of the last read */
	bool hidden;            /* not found, because it lies outside the limits */
	uint64_t hash;          /* of a long request that has a key, */
	size_t hashed;          /* so much of its body */
};

#define CALL_BODY_MAX (4u << 20) /* of anything but a submit */
#define PROBLEM_TYPE "application/problem+json"

/* Answers. After any of these the call must not be touched. */
void call_json(struct call *c, int status); /* c->out */
void call_text(struct call *c, int status, const char *type, struct str body);
void call_kept(struct call *c, int status, const char *type, struct str body); /* the api's own */
void call_empty(struct call *c, int status);
void call_problem(struct call *c);                          /* c->problem */
void problem_write(struct buf *b, const struct problem *p); /* leaves the object open */
void call_fail(struct call *c, int code, const char *what); /* a plain problem */
void call_stream_start(struct call *c, const char *type);
void call_stream_end(struct call *c);
/* True when the client has this version already: then 304 was sent. Sets ETag. */
bool call_etag(struct call *c, int64_t version);
/* If-Match against the version at hand: the version to insist on, 0: any, -1: 412 was sent. */
int64_t call_if_match(struct call *c, int64_t version);

/* Asking the host. */
void call_command(struct call *c, struct event *ev, call_reply_fn *fn);
/* fn at once, or as soon as that batch is durable: what memory says of it may be told then. */
void call_when_durable(struct call *c, uint64_t batch, call_fn *fn);
/* Between these the call can be looked at even if it was answered meanwhile. */
void call_hold(struct call *c);
void call_unhold(struct call *c);
void call_read(struct call *c, void (*work)(struct store_reader *r, void *call), call_fn *fn);
/* The same for what may take more than a millisecond or two: others pass it by. */
void call_read_long(struct call *c, void (*work)(struct store_reader *r, void *call), call_fn *fn);
void call_header(struct call *c, const char *name, const char *value);
void *call_state(struct call *c, size_t size); /* zeroed */
/* True when the reply is a problem: it has then been sent. Marks replays. */
bool call_refused(struct call *c, const struct reply *r);
/* Likewise for the outcome of the last read of a task. */
bool call_read_failed(struct call *c);

/* Parsing what a request carries. On false the problem has been sent. */
bool call_body(struct call *c, json_t **ret_object); /* {} when there is none; the caller decrefs */
/* Reads the body by a table; strings are copied, so nothing of the body is needed afterwards. */
bool call_fields(struct call *c, const struct fields_in *r, const struct field *fields);
/* Texts for which the loop has no time: call_parse(), and fn goes on with call_parsed(). */
bool parse_is_long(struct str text);
void call_parse(struct call *c, struct str text, call_fn *fn);
/* What was parsed away, or else `text`, parsed now. The caller decrefs the value. */
int call_parsed(struct call *c, struct str text, json_t **ret_value, struct problem *p);
void parse_release(struct call *c);
/* The body into c->away.text, for the client may take his away; slice by slice, then fn. */
void call_copy_body(struct call *c, call_fn *fn);
bool media_is(struct str content_type, const char *name);
bool call_path_id(struct call *c, rid *ret_id);
bool call_bool(struct call *c, enum query q, bool *ret);
bool call_int(struct call *c, enum query q, int64_t min, int64_t max, int64_t *ret);
bool call_duration(struct call *c, enum query q, int64_t *ret_ms);
bool call_limit(struct call *c, uint32_t *ret_limit);
bool call_page(struct call *c, rid *ret_cursor, uint32_t *ret_limit);
void call_location(struct call *c, const char *folder, rid id);
struct str call_actor(struct call *c);

/* The queue `default`, on first use. Then no_idem is the caller's to take back. */
void call_make_default(struct call *c, call_reply_fn *fn);

/* Finding by name or id, as find_object() in objects/resource.h does. */
const struct queue_row *find_queue(
    const struct call *c, struct str text, const char *field, struct problem *p);
/* A limited token sees no workers: for its bearer a name that nobody has is a worker like others,
 * only that it has done nothing. */
#define WORKER_NOBODY ((rid)1 << 62)
rid find_worker(const struct call *c, struct str text, const char *field, struct problem *p);
int find_id(
    const struct api *a, struct str text, const char *field, rid *ret_id, struct problem *p);

/*
 * c->about, read from the store, then fn. The one way to a task that is to be shown: one outside
 * of the caller's limits is not found, whoever named it.
 */
void call_read_task(struct call *c, call_fn *fn);
/* On a reader's thread: what says where a task belongs, without its texts. id 0: there is none. */
int read_bare_task(struct store_reader *r, rid id, struct arena *a, struct task_row *ret);
void task_overlay(const struct api *a, struct task_row *row);

/* routes/routes_stream.c */
void routes_saw_commit(struct api *a);
void routes_free(struct api *a);

/* graphs/room.c */
void graph_room_free(struct graph_room *r);

/* dispatch.c */
bool call_allowed(struct call *c); /* auth.c: on false the problem has been sent */
void api_dispatch(struct call *c);
void call_go_on(struct call *c); /* now that it is known who asks */
struct call *call_new(struct api *a, const struct api_request *r);
void calls_free(struct api *a);

/* What notices drive (all from one watch). */
void waiters_notice(struct api *a, const struct notice *n);
void subscribers_notice(struct api *a, const struct notice *n);
void rendered_free(struct api *a);

/* For a request with a key: its hash goes on to so many bytes of the body. */
void call_hash(struct call *c, size_t upto);
uint64_t call_fingerprint(struct call *c);

#endif
