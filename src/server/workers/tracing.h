/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of a trace: each frame that leaves or comes, and what became durable. */
#ifndef SERVER_TRACING_H
#define SERVER_TRACING_H

#include "base/world/trace.h"
#include "server/engine/engine.h"
#include "wire/link/link.h"

struct tracing; /* NULL: none is wanted; then nothing happens, at no cost */

int tracing_open(
    const char *path, uint64_t server, struct tracing **ret_tracing, struct problem *ret_problem);
/* The engine's notices are told from now on; it must outlive the tracing. */
void tracing_watch(struct tracing *t, struct engine *e);
void tracing_close(struct tracing *t);
/* Puts the clock into the frame that is about to be sent. */
void tracing_sent(struct tracing *t, const char *peer, struct link_to_worker *m);
void tracing_received(struct tracing *t, const char *peer, const struct link_to_server *m);
void tracing_link(struct tracing *t, const char *peer, const char *what, const char *why);

#endif
