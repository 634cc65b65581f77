/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscribers are told what happens, as server-sent events. A subscriber is a place in the ring of
 * past notices. After a commit all who had heard everything stand in line, and are told what came
 * since, for a few milliseconds per turn of the loop: one commit for a thousand of them holds
 * nobody up. Who does not read is told no more until it has.
 *
 *   joined (it has heard everything) -> behind (in line) -> joined, or waits until it has read
 */
#ifndef API_SUBSCRIBER_H
#define API_SUBSCRIBER_H

#include "api/frame/call.h"

struct subscriber;

/* What it is told, into its text. */
struct subscription {
	void (*begin)(struct subscriber *s); /* before anything else; NULL: nothing */
	void (*tell)(struct subscriber *s, const struct notice *n);
	void (*told)(struct subscriber *s); /* all is told for now; NULL: nothing */
	void (*gap)(
	    struct subscriber *s, uint64_t after); /* what came then is not known any more */
};

struct subscriber { /* the first member of the call's state */
	TAILQ_ENTRY(subscriber) link;
	struct call *c;
	const struct subscription *kind;
	uint64_t last_seq; /* in `text` */
	uint64_t sent_seq; /* given to the connection */
	struct buf text;   /* to be written when the commit is complete */
	void *timer;
	bool joined;  /* the subscriber has heard everything */
	bool behind;  /* in line to be told what it has not heard */
	bool is_over; /* what is in `text` is the last that it is told */
	bool more;
};

/* From the place on that the request names, or from now on. */
void subscriber_begin(struct subscriber *s, struct call *c, const struct subscription *kind);

#endif
