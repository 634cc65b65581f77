/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids. Inside, an id is 56 bits: 32 of seconds, 24 of counter; it orders by time and is the row's
 * key in every store, so rows written one after another lie side by side. Shown, it is 24 hex
 * digits (4 bytes seconds, 5 bytes of the installation, 3 bytes counter): the shape of an ObjectId.
 */
#ifndef MODEL_ID_H
#define MODEL_ID_H

#include "base/str.h"

typedef uint64_t rid; /* 0: none */

#define ID_TEXT 25 /* 24 digits and the NUL */

struct id_space {
	uint8_t installation[5]; /* drawn once, when the store is made */
};

/* The installation's five bytes from ten hex digits, as the store keeps them. False: it is no such.
 */
bool id_space_parse(struct str text, struct id_space *ret_space);
/* The id after `last`, never earlier than now, never repeated even if the clock steps back. */
rid id_next(rid last, int64_t now_ms);
int64_t id_time_ms(rid id);
/* the smallest id of that second: for "since" filters */
rid id_floor(int64_t ms);
const char *id_format(const struct id_space *s, rid id, char out[ID_TEXT]);
/* False when it is not 24 hex digits. An id of another installation parses to 0. */
bool id_parse(const struct id_space *s, struct str text, rid *ret_id);

#endif
