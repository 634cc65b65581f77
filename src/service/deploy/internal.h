/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this room share: what a pass sees. */
#ifndef SERVICE_DEPLOY_INTERNAL_H
#define SERVICE_DEPLOY_INTERNAL_H

#include "service/deploy/deploy.h"

/* The door. */
void deploy_move(struct deploy *d, enum deploy_state to, int64_t now_ms);

/* One index: its records, NULL where there is none. */
struct place_of {
	uint32_t index;
	const struct instance *of[N_PRESENCES];
};
/* The next index that is wanted or has records; false: there is none. Begins with a zeroed *at. */
struct place_walk {
	size_t i;
	uint32_t next;
};
bool place_next(const struct instance *records, size_t n, uint32_t wanted, struct place_walk *at,
    struct place_of *ret_place);

/* The strategy as it can be: something must give way, and of a singleton there is never one more.
 */
struct room {
	uint32_t surge, unavailable, floor; /* floor: so many are ready, whatever the deploy does */
};

struct sight {
	const struct converge_env *env;
	const struct deploy_service *s;
	const struct deploy *d;
	const struct instance *records;
	size_t n;
	struct room room;
	uint32_t goal; /* wanted indexes that are to be of the target */
	/* Wanted indexes, by their ordinary record. Together they are all of them. */
	uint32_t n_new, n_old, n_leaving, n_holes;
	uint32_t n_healthy; /* of n_new */
	/* Ordinary records beyond: those that a deploy made, and those that are on their way out.
	 */
	uint32_t n_surge;     /* of the target, staying */
	uint32_t n_surge_old; /* of another revision, staying */
	uint32_t n_beyond;    /* all, with those that are stopping */
	uint32_t served;      /* indexes with one that is ready, and, if new, healthy */
	uint32_t kept;        /* what would serve if no new one ever became healthy from now on */
	bool may_run_other;   /* one of another revision may run, whatever its presence */
	uint32_t other_index;
	uint32_t waits_healthy; /* the first index whose new one is not healthy; NO_INDEX */
	int64_t look_at_ms;
};
void sight_take(struct sight *sight);
bool is_on_worker(const struct instance *i);
bool is_healthy(const struct sight *x, const struct instance *i);
bool counts_as_ready(const struct sight *x, const struct instance *i);
bool asked_long_ago(const struct converge_env *env, const struct instance *i);
/* Steps that are left: each index is told, is over and is healthy. */
uint64_t sight_left(const struct sight *x);

/* What is done in the state that the deploy is in. */
void deploy_choose(struct sight *x, struct deploy_pass *pass);

#endif
