/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receipts of orders that are not written down: keyed hashes (HMAC-SHA256) of whom an attempt was
 * given to. The key is drawn once and lies in the store, so that the next server knows them again.
 */
#ifndef SERVER_RECEIPTS_H
#define SERVER_RECEIPTS_H

#include "base/arena.h"
#include "model/id.h"
#include "model/link/receipt.h"

#define META_RECEIPT_KEY "receipt_key"

struct receipt_key {
	unsigned char bytes[32];
};

void receipt_key_draw(struct receipt_key *ret_key);
/* As the store keeps it. False: it is no such. */
bool receipt_key_parse(struct str text, struct receipt_key *ret_key);
struct str receipt_key_text(const struct receipt_key *k, struct arena *a);

/* The maker of receipts, on one thread: the key is laid in once, which is most of the work. */
struct receipts;

struct receipts *receipts_new(const struct receipt_key *k);
void receipts_free(struct receipts *r);
struct receipt receipt_make(struct receipts *r, rid task, int64_t token, struct str shard);
/* Whether this attempt was given to the worker with that name. */
bool receipt_holds(
    struct receipts *r, rid task, int64_t token, struct str shard, const struct receipt *shown);

#endif
