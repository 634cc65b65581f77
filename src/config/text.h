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
 * The path to a value, as a hash: the root's, then one per key or index. Hashes, not texts, so
 * that a hostile file can't make us keep much. Two equal ones only confuse two lines.
 */
#define PATH_ROOT 0xcbf29ce484222325ull
uint64_t path_key(uint64_t parent, struct str key);
uint64_t path_index(uint64_t parent, size_t index);

struct paths {
	struct path_line {
		uint64_t path;
		int line;
	} * items;
	size_t n, cap;
};

/* `text` is valid JSON. */
void paths_scan(struct paths *p, struct str text);
void paths_release(struct paths *p);
int paths_line(const struct paths *p, uint64_t path); /* 0: not known */

#endif
