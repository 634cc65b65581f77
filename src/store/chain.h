/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of the audit trail: every event holds a hash of what it says and of the event before
 * it. Backends keep the last link (the head) and the last one that has expired (the anchor). See
 * docs/decisions/0023-audit-chain.md.
 */
#ifndef STORE_CHAIN_H
#define STORE_CHAIN_H

#include "model/rows/batch.h"
#include "store/store.h"

/* Sets prev and hash, and makes it the head. The hash lies in the head, until the next one. */
void chain_link(struct chain_end *head, struct event_row *e);
void chain_hash(const struct chain_end *before, const struct event_row *e,
    unsigned char ret_hash[CHAIN_HASH_BYTES]);
/* The last of those that expire, if it has a hash. */
void chain_expire(struct chain_end *anchor, const struct event_row *e);
/*
 * The oldest go up to the last old one before the first that stays, or the chain would have holes.
 * A time later than that of the newest event is of a clock that was wrong: such an event is not
 * old, but holds up nobody. If the newest event is old itself, the wrong clock may have been its.
 */
bool event_stays(const struct event_row *e, int64_t before_ms, int64_t newest_ms);

#endif
