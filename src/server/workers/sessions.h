/* SPDX-License-Identifier: Apache-2.0 */
/* Worker sessions: frames in become events, messages out become frames. */
#ifndef SERVER_SESSIONS_H
#define SERVER_SESSIONS_H

#include "net/link/link.h"
#include "server/engine/engine.h"
#include "server/workers/join.h"
#include "server/workers/tracing.h"

#define FOLLOW_FOR_MS 10000 /* unless it is said again: a reader who is gone is forgotten */

struct sessions;

struct sessions_options {
	const char *address;      /* "host:port" */
	int passed_fd;            /* listens already, in its place (0: none) */
	struct tls *tls;          /* NULL: plain */
	const char *join_token;   /* every hello must show it */
	size_t strangers_max;     /* connections that have not been let in yet */
	size_t buffered_max;      /* unfinished input of all of them, and of all workers */
	int64_t joins_per_minute; /* new names by one join token; 0: no limit */
	struct tracing *trace;    /* NULL: none is wanted */
};

struct sessions *sessions_new(
    struct loop *l, const struct sessions_options *o, struct problem *ret_problem);
/* The engine is made after the sessions (it sends through them), so it is handed in later. */
void sessions_serve(struct sessions *s, struct engine *e);
/* The part that looks at join tokens of the store; NULL: there is none. */
void sessions_join_by(struct sessions *s, struct join *j);
/* For hellos from now on; those who are here stay. */
void sessions_set_token(struct sessions *s, const char *join_token);
int sessions_port(const struct sessions *s);
void sessions_send(struct sessions *s, const struct message *m, size_t n);
/* Somebody reads this attempt's output along, or nobody any more. */
void sessions_follow(struct sessions *s, uint64_t link, const struct link_follow *f);
void sessions_free(struct sessions *s);

#endif
