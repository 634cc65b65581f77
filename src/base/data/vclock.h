/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector clock: for each process how many of its events are known. Its bytes travel with
 * messages, so what is decoded was written by a peer: bounded, checked, or refused as a whole.
 */
#ifndef BASE_VCLOCK_H
#define BASE_VCLOCK_H

#include "base/str.h"

#define VCLOCK_NAMES_MAX 512
#define VCLOCK_NAME_MAX 80
#define VCLOCK_COUNT_MAX ((UINT64_C(1) << 53) - 1) /* exact in every reader of JSON */
/* No encoded clock is longer. */
#define VCLOCK_BYTES_MAX (1 + VCLOCK_NAMES_MAX * (1 + VCLOCK_NAME_MAX + 8))

struct vclock_item {
	char name[VCLOCK_NAME_MAX + 1];
	uint64_t count; /* at least 1 */
};

struct vclock {
	struct vclock_item *items; /* by name */
	size_t n, cap;
};

void vclock_release(struct vclock *c);
/* Printable ASCII without spaces, quotes, backslashes and braces; neither empty nor too long. */
bool vclock_name_is_valid(struct str name);
/* 0: nothing of it is known. */
uint64_t vclock_get(const struct vclock *c, struct str name);
/* One more event of that process. False, and nothing changes, when there is no room for it. */
bool vclock_tick(struct vclock *c, struct str name);
/*
 * Everything that `other` knows is known now. But nobody else can know more about `own` than
 * itself: that entry stays as it is. False: some names had no room.
 */
bool vclock_merge(struct vclock *c, const struct vclock *other, struct str own);

/* Appends: a version (1), then by name: length, name, count as a varint. */
void vclock_encode(const struct vclock *c, struct buf *out);
/* False, and *ret_clock is empty, for anything that vclock_encode() does not write. */
bool vclock_decode(struct str bytes, struct vclock *ret_clock);
/* Appends {"a":1,"b":12} */
void vclock_json(const struct vclock *c, struct buf *out);

#endif
