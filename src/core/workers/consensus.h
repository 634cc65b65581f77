/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Worker set consensus. A server that restarts may end its initial wait early when those that came
 * back agree on exactly themselves. That is safe only if no such group can ever exist without
 * everybody who may be running something. So a newcomer runs nothing before every live worker,
 * UNHEALTHY ones too, requires it: directly (it is in the set that the worker has repeated) or
 * through others (whoever is in that set requires it).
 *
 * What the caller has to do for this to hold:
 *  - no set id is told while the initial wait lasts. A worker told {itself} by a server that still
 *    waits would forget the larger set that ran before, and be a consensus of its own at the next
 *    restart. It keeps what it had, and is told the whole set once the wait is over.
 *  - a batched one is told no set id either (it is in none): it keeps what it had.
 *  - only MUST_DIE or displaced workers leave; one that is silent stays in.
 */
#ifndef CORE_CONSENSUS_H
#define CORE_CONSENSUS_H

#include <bsd/sys/queue.h>
#include <stdbool.h>
#include <stdint.h>

#include "model/link/worker_set.h"

struct member { /* embedded in a worker; all zero before it joins */
	TAILQ_ENTRY(member) entry;
	uint64_t instance;
	uint64_t told; /* newest version that was sent to it: it can't have repeated a later one */
	uint64_t version;  /* newest of this server's sets that it has repeated; 0: none */
	uint64_t joined;   /* first set that has it; 0: in none */
	uint64_t indirect; /* lower bound of what it requires, if only through others; only rises */
	bool is_in, batched;
	bool permitted; /* for good: whoever comes later has it in every set that it is told */
	struct set_id initial; /* what it said in its first hello here; server 0: nothing */
};

TAILQ_HEAD(member_list, member);

#define SETS_KEPT 256 /* who repeats an older one is told a newer one in the answer */

struct consensus {
	struct set_id id;           /* the present set; version 0: nobody ever joined */
	struct member_list members; /* by joined, ascending */
	struct member_list batched; /* newcomers that wait until the present set agrees */
	struct set_hash initials;   /* all who came with an initial set */
	uint32_t patience;  /* newcomers admitted without consensus before they are batched */
	uint32_t newcomers; /* since the last consensus */
	uint64_t lowest;    /* lowest indirect of the members, as of the last update */
	bool agreed;        /* whoever is in requires everybody who is in */
	bool dirty;         /* consensus_update has something to do */
	struct {
		uint64_t version;
		struct set_hash hash;
	} told[SETS_KEPT]; /* by version: what is repeated must be what was told */
};

void consensus_init(struct consensus *s, uint64_t server, uint32_t patience);

/*
 * A new instance: it is in (id has changed: tell everybody) or, if it says no initial set, may be
 * batched. `initial` may be NULL.
 */
void consensus_join(
    struct consensus *s, struct member *m, uint64_t instance, const struct set_id *initial);
/* Lost or displaced; also a batched one. Nothing happens if it is in neither list. */
void consensus_leave(struct consensus *s, struct member *m);
/* The present id was sent to it. */
void consensus_told(struct consensus *s, struct member *m);
/*
 * The member said this id in a beat; anything but a newer one of ours that it was told is ignored.
 * The hash counts as well: a version that names other workers than it did here proves nothing.
 */
void consensus_repeated(struct consensus *s, struct member *m, const struct set_id *said);

/*
 * Propagates, permits whoever may run now, and admits the batched when all agree; near-linear.
 * Permissions appear here only. True: somebody was permitted, or the batched came in (id changed).
 */
bool consensus_update(struct consensus *s);

bool consensus_permits(const struct consensus *s, const struct member *m);
/*
 * Do all who came with an initial set agree on exactly themselves? Whoever came without one never
 * ran anything, and does not count. Cheap while the answer is no.
 */
bool consensus_initial(const struct consensus *s);

#endif
