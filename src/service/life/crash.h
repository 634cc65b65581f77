/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a crash leads to. The count rises first, then the new count decides: the first few start
 * again at once, later ones wait, longer each time, and at a certain number it is over.
 */
#ifndef SERVICE_LIFE_CRASH_H
#define SERVICE_LIFE_CRASH_H

#include "service/life/instance.h"

#define CRASH_NEVER (-1) /* the instance does not start again by itself */
#define FACTOR_ONE 1000  /* a factor of 1 */

struct crash_policy {
	uint32_t at_once; /* so many crashes start again at once */
	int64_t wait_ms;  /* the first that waits */
	int64_t factor;   /* of FACTOR_ONE: what each further wait is longer by */
	int64_t wait_max_ms;
	uint32_t stop_at;       /* at this many it is over; 0: never */
	int64_t reset_after_ms; /* running for so long, the count begins anew; 0: never */
};
extern const struct crash_policy crash_policy_default;

/* How long an instance that has crashed so often waits: 0 at once, CRASH_NEVER. */
int64_t crash_wait_ms(const struct crash_policy *p, uint32_t count);
/* Of a claimed or running instance. */
void instance_crash(struct instance *i, const struct crash_policy *p, int64_t now_ms);
/* When a crashed one starts again; CRASH_NEVER. */
int64_t crash_due_ms(const struct instance *i, const struct crash_policy *p);
/* A crash that is yet to come was told by a clock that has been set: that is not waited for. */
bool crash_is_due(const struct instance *i, const struct crash_policy *p, int64_t now_ms);

#endif
