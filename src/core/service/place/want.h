/* SPDX-License-Identifier: Apache-2.0 */
/* What instances need of a worker, each different need once; and the auction that goes by it. */
#ifndef CORE_SERVICE_PLACE_WANT_H
#define CORE_SERVICE_PLACE_WANT_H

#include <bsd/sys/tree.h>

#include "core/service/unit.h"
#include "service/place/auction.h"

struct shape;

struct want {
	RB_ENTRY(want) by_need;
	rid queue;
	struct str need; /* merged with the queue's; owned, as are the next three */
	struct str target, labels, without;
	size_t refs; /* revisions */
	int64_t amount[N_PLACE_RESOURCES];
	struct shape *charge; /* the same in the books */
	uint32_t shape;       /* the auction's, if it is of that build */
	uint64_t build;
	struct unit_list shorts; /* units that found no place */
	size_t n_shorts;
	TAILQ_ENTRY(want) in_short;
	char *error; /* why, as of the last batch; owned */
};
RB_HEAD(wants_by_need, want);
TAILQ_HEAD(want_list, want);

struct auctions {
	struct auction *a; /* NULL: none yet */
	uint64_t build;
	int64_t built_ms; /* monotonic */
	bool is_stale;    /* other workers, or other zones: it must be made anew */
	bool has_room;    /* more than before */
	struct wants_by_need wants;
	struct want_list shorts;
	/* room for a batch */
	struct unit **units;
	struct place_work *work;
	struct place_result *results;
	uint32_t *order;
};

struct auctions *auctions_of(const struct core *c);
void auctions_init(struct core *c);
void auctions_release(struct core *c);

/* want.c */
/* NULL: nobody knows what the revision runs, or its queue is gone. */
struct want *want_of(struct core *c, struct service *s, struct revision *r);
void want_put(struct core *c, struct want *w);
/* By queue and need; NULL: the first. */
struct want *wants_next(struct auctions *all, struct want *w);
uint32_t want_shape(struct auctions *all, struct want *w);
/* May that worker ever have it, and has it room now, by the books? */
bool want_fits_ever(const struct core *c, const struct want *w, const struct worker *worker);
bool want_fits_now(const struct core *c, const struct want *w, const struct worker *worker);

/* line.c */
struct want *unit_want(struct core *c, struct unit *u); /* NULL: see want_of() */
void unit_is_short(struct core *c, struct unit *u, struct want *w);
void units_try_again(struct core *c); /* some of those that are short */

/* auction.c */
void auction_site_changed(struct core *c, struct site *site);
void auctions_run(struct core *c, struct effects *out);
/* So many more starts of the service are there. */
void auction_counts(struct core *c, const struct unit *u, int by);

#endif
