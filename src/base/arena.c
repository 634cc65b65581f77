/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks grow from 4 KiB by doubling up to 1 MiB; larger requests get a block of their own. */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BLOCK_MIN ((size_t)4 << 10)
#define BLOCK_MAX ((size_t)1 << 20)

struct arena_block {
	struct arena_block *next;
	size_t size; /* of data */
	_Alignas(16) char data[];
};

struct arena_guest {
	struct arena_guest *next;
	void *malloced;
};

static void use_block(struct arena *a, struct arena_block *b)
{
	a->at = b->data;
	a->end = b->data + b->size;
}

static void add_block(struct arena *a, size_t need)
{
	size_t size = a->blocks ? a->blocks->size * 2 : BLOCK_MIN;
	struct arena_block *b;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < need)
		size = need;
	b = xmalloc(sizeof *b + size);
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	use_block(a, b);
}

static void free_blocks(struct arena_block *b)
{
	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
}

static void free_guests(struct arena *a)
{
	for (struct arena_guest *g = a->guests; g; g = g->next)
		free(g->malloced);
	a->guests = NULL;
}

void arena_release(struct arena *a)
{
	free_guests(a);
	free_blocks(a->blocks);
	*a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
	a->total = 0;
	if (!a->blocks)
		return;
	free_guests(a);
	free_blocks(a->blocks->next);
	a->blocks->next = NULL;
	if (a->blocks->size > BLOCK_MAX) {
		arena_release(a);
		return;
	}
	use_block(a, a->blocks);
}

void *arena_alloc(struct arena *a, size_t n)
{
	size_t rounded = (n + 15) & ~(size_t)15;
	void *p;

	if ((size_t)(a->end - a->at) < rounded || !a->at)
		add_block(a, rounded);
	p = a->at;
	a->at += rounded;
	a->total += rounded;
	return p;
}

void arena_own(struct arena *a, void *malloced)
{
	struct arena_guest *g = arena_alloc(a, sizeof *g);

	*g = (struct arena_guest){a->guests, malloced};
	a->guests = g;
}

void arena_adopt(struct arena *to, struct arena *from)
{
	struct arena_block **last_block = &from->blocks;
	struct arena_guest **last_guest = &from->guests;

	if (!to->blocks) {
		*to = *from;
		*from = (struct arena){0};
		return;
	}
	while (*last_block)
		last_block = &(*last_block)->next;
	while (*last_guest)
		last_guest = &(*last_guest)->next;
	*last_block = to->blocks->next; /* behind the one that `to` allocates from */
	to->blocks->next = from->blocks;
	*last_guest = to->guests;
	to->guests = from->guests;
	to->total += from->total;
	*from = (struct arena){0};
}

void *arena_zalloc(struct arena *a, size_t n)
{
	return memset(arena_alloc(a, n), 0, n);
}

void *arena_memdup(struct arena *a, const void *p, size_t n)
{
	void *copy = arena_alloc(a, n);

	if (n)
		memcpy(copy, p, n);
	return copy;
}

void *arena_room(struct arena *a, void *array, size_t n, size_t *cap, size_t element)
{
	void *more;

	if (n < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 16;
	more = arena_alloc(a, *cap * element);
	if (n)
		memcpy(more, array, n * element);
	return more;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s) + 1);
}

struct str arena_str(struct arena *a, struct str s)
{
	char *copy;

	if (!s.p)
		return s;
	copy = arena_alloc(a, s.n + 1);
	memcpy(copy, s.p, s.n);
	copy[s.n] = 0;
	return (struct str){copy, s.n};
}

static struct str vformat(struct arena *a, const char *fmt, va_list ap)
{
	va_list again;
	char *p;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	MUST(n >= 0);
	p = arena_alloc(a, (size_t)n + 1);
	vsnprintf(p, (size_t)n + 1, fmt, ap);
	return (struct str){p, (size_t)n};
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	struct str s;

	va_start(ap, fmt);
	s = vformat(a, fmt, ap);
	va_end(ap);
	return (char *)s.p;
}

struct str arena_strf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	struct str s;

	va_start(ap, fmt);
	s = vformat(a, fmt, ap);
	va_end(ap);
	return s;
}
