/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller of a request, and what he may. Every request passes here once, before its handler: the
 * table of routes says which right it needs (dispatch.c), a token's limits are held against what
 * the path names (scope.c), and handlers that list or submit ask scope_… for the rest.
 */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include <bsd/sys/queue.h>

#include "model/objects/token.h"
#include "model/rows/query.h"

struct api;
struct arena;
struct store_reader;
struct call;
struct notice;
struct event_row;

struct principal {
	struct str name;               /* for the audit trail: "uid=0", "token:ci" */
	int role;                      /* enum token_role; 0: nobody yet */
	rid token;                     /* 0: none of the store's */
	const struct token_row *limit; /* the token's limits, in the call's arena; NULL: none */
};

/* Tokens that were found good, and the line of those that are still to be looked at. */
struct known_token {
	rid token;
	unsigned char mac[SECRET_MAC_BYTES]; /* of what its bearer shows */
};

TAILQ_HEAD(call_line, call);

struct access {
	struct known_token *known;
	size_t n_known, cap_known;
	struct call_line line;
	size_t n_line, n_checking;
};

void access_init(struct access *x);
void access_release(struct access *x);

enum admission { ADMITTED, REFUSED, LATER };
/* REFUSED: the answer has been sent. LATER: call_go_on() follows, or the answer. */
enum admission access_identify(struct call *c);
/* True: the token has gone since, and the call has been sent away. */
bool access_is_over(struct call *c);
/* After a change of tokens: whoever uses one that is gone is sent away. */
void access_sweep(struct api *a);
/* Sends c->problem, and writes it down. */
void access_refuse(struct call *c);
void access_write_down(struct call *c, const struct problem *p);
/* Has the caller this right? On false a refusal has been sent. */
bool access_may(struct call *c, enum right needed);
/* The same for what is only shown to those who have it. */
bool access_sees(const struct call *c, enum right needed);

/* scope.c: limits. Without any, everything is covered. */
bool scope_covers(const struct call *c, rid queue, struct str labels);
bool scope_covers_named(const struct call *c, struct str queue, struct str labels);
bool scope_covers_queue(const struct call *c, struct str name);
void scope_narrow(struct call *c, struct task_filter *f);
bool scope_sees_notice(const struct call *c, const struct notice *n);
bool scope_sees_event(const struct call *c, const struct event_row *e);
/* Says that this is not covered, and writes it down. */
int scope_problem(struct call *c, struct str queue, struct problem *p);
/* Goes on with `fn` when what the path names lies within the limits; else it is not there. */
void scope_check_path(struct call *c, void (*fn)(struct call *c));
/* On a reader's thread: whether all tasks behind the object's id lie within what may be seen. One
 * without any is not there. */
int scope_look(struct store_reader *r, const struct task_filter *seen, rid object, int64_t n_tasks,
    struct arena *scratch, bool *ret_covered);
/* A batch of which it sees no task is not there for it, and cannot be joined. */
void scope_check_batch(struct call *c, rid batch, void (*fn)(struct call *c));

#endif
