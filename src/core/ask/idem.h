/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an answer is kept with its idempotency key: a version byte, the reply's id, then runs of
 * outcomes (first id, how many, twin or not), all little endian. Consecutive ids, which is what a
 * bulk submit gets, take one run.
 */
#ifndef CORE_IDEM_H
#define CORE_IDEM_H

#include "base/arena.h"
#include "core/effects.h"

struct str idem_pack(struct arena *a, const struct reply *r);
/* Fills id, outcomes and n. False when the bytes are not what idem_pack() makes. */
bool idem_unpack(struct arena *a, struct str packed, struct reply *ret_reply);

#endif
