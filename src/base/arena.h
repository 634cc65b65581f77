/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: allocate freely, release everything at once. One per step, request or batch. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

struct arena_block;
struct arena_guest;

struct arena {
	struct arena_block *blocks; /* newest first */
	struct arena_guest *guests; /* from malloc(), freed with it */
	char *at, *end;
	size_t total; /* bytes handed out since the last reset */
};

void arena_release(struct arena *a);
void arena_reset(struct arena *a);            /* keeps one block */
void *arena_alloc(struct arena *a, size_t n); /* 16-byte aligned, not zeroed */
/* All of `from`, which is empty afterwards: nothing moves, and it lives as long as `to`. */
void arena_adopt(struct arena *to, struct arena *from);
void arena_own(struct arena *a, void *malloced); /* freed with the arena */
void *arena_zalloc(struct arena *a, size_t n);
void *arena_memdup(struct arena *a, const void *p, size_t n);
/* An array of `n` elements with room for one more: the same, or a copy of twice the room. */
void *arena_room(struct arena *a, void *array, size_t n, size_t *cap, size_t element);
char *arena_strdup(struct arena *a, const char *s);
struct str arena_str(struct arena *a, struct str s); /* copy, NUL-terminated; NULL stays NULL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str arena_strf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
