/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets say whom to answer: every command has a ticket, and every ticket is answered once. */
#ifndef CORE_TICKETS_H
#define CORE_TICKETS_H

#include <bsd/sys/queue.h>

#include "base/data/idmap.h"
#include "core/effects.h"

/* r NULL: the shell has ended, and nobody knows what became of the command. */
typedef void ticket_fn(const struct reply *r, void *arg);

struct ticket;
struct tickets {
	struct idmap by_number;
	TAILQ_HEAD(ticket_line, ticket) waiting; /* the same, oldest first */
	uint64_t last;
};

void tickets_init(struct tickets *t);
/* Frees what still waits; nobody is told. */
void tickets_release(struct tickets *t);
uint64_t tickets_take(struct tickets *t, ticket_fn *fn, void *arg);
/* A ticket that was answered before, by tickets_answer_all(), is passed over. */
void tickets_answer(struct tickets *t, const struct reply *r);
/* Everybody who waits now hears the same. */
void tickets_answer_all(struct tickets *t, const struct reply *r);

#endif
