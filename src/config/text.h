/* SPDX-License-Identifier: Apache-2.0 */
/* JSON as people write it: comments and trailing commas taken out, lines of keys kept. */
#ifndef CONFIG_TEXT_H
#define CONFIG_TEXT_H

#include "base/err.h"
#include "base/str.h"

/*
 * Replaces comments, trailing commas and a byte order mark by spaces, in place, so that every
 * byte stays where it was. Refuses NULs, unended comments and deep nesting; *ret_line then says
 * where.
 */
int text_strip(char *text, size_t n, int *ret_line, struct problem *ret_problem);

/*
 * A place is the hash of the path to a value: the root's, then one per key or index. Hashes, not
 * paths, so that a hostile file can't make us keep much. Two equal ones only confuse two lines.
 */
#define PLACE_ROOT 0xcbf29ce484222325ull
uint64_t place_key(uint64_t parent, struct str key);
uint64_t place_index(uint64_t parent, size_t index);

struct places {
	struct place_line {
		uint64_t place;
		int line;
	} * items;
	size_t n, cap;
};

/* `text` is valid JSON. */
void places_scan(struct places *p, struct str text);
void places_release(struct places *p);
int places_line(const struct places *p, uint64_t place); /* 0: not known */

#endif
