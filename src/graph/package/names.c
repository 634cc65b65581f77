/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/package/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void names_release(struct names *n)
{
	arena_release(&n->arena);
	free(n->texts);
	free(n->slots);
	*n = (struct names){0};
}

size_t names_bytes(const struct names *n)
{
	return n->arena.total + n->cap * sizeof *n->texts + n->n_slots * sizeof *n->slots;
}

/* The state of a SipHash: whoever does not know the seed cannot choose names that collide. */
struct sip {
	uint64_t a, b, c, d;
};

static uint64_t turn(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(struct sip *s)
{
	s->a += s->b;
	s->c += s->d;
	s->b = turn(s->b, 13) ^ s->a;
	s->d = turn(s->d, 16) ^ s->c;
	s->a = turn(s->a, 32);
	s->c += s->b;
	s->a += s->d;
	s->b = turn(s->b, 17) ^ s->c;
	s->d = turn(s->d, 21) ^ s->a;
	s->c = turn(s->c, 32);
}

static void sip_take(struct sip *s, uint64_t word)
{
	s->d ^= word;
	sip_round(s);
	s->a ^= word;
}

/* SipHash-1-3, its key made of the seed. */
static uint64_t hash_of(struct str text, uint64_t seed)
{
	uint64_t other = turn(seed, 29) * 0x9e3779b97f4a7c15u, last = (uint64_t)text.n << 56;
	struct sip s = {seed ^ 0x736f6d6570736575u, other ^ 0x646f72616e646f6du,
	    seed ^ 0x6c7967656e657261u, other ^ 0x7465646279746573u};
	size_t i = 0;

	for (uint64_t word; i + 8 <= text.n; i += 8) {
		memcpy(&word, text.p + i, 8);
		sip_take(&s, word);
	}
	for (int shift = 0; i < text.n; i++, shift += 8)
		last |= (uint64_t)(unsigned char)text.p[i] << shift;
	sip_take(&s, last);
	s.c ^= 0xff;
	for (int round = 0; round < 3; round++)
		sip_round(&s);
	return s.a ^ s.b ^ s.c ^ s.d;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t slot_of(const struct names *n, struct str text)
{
	size_t mask = n->n_slots - 1, i = hash_of(text, n->seed) & mask;

	while (n->slots[i] && !str_eq(n->texts[n->slots[i] - 1], text))
		i = (i + 1) & mask;
	return i;
}

static void widen(struct names *n)
{
	n->n_slots = n->n_slots ? n->n_slots * 2 : 64;
	free(n->slots);
	n->slots = xcalloc(n->n_slots, sizeof *n->slots);
	for (size_t i = 0; i < n->n; i++)
		n->slots[slot_of(n, n->texts[i])] = (uint32_t)i + 1;
}

uint32_t names_find(const struct names *n, struct str text)
{
	uint32_t found = n->n_slots ? n->slots[slot_of(n, text)] : 0;

	return found ? found - 1 : NO_NAME;
}

uint32_t names_put(struct names *n, struct str text)
{
	uint32_t found = names_find(n, text);

	if (found != NO_NAME)
		return found;
	MUST(n->n < NO_NAME - 1);
	GROW(n->texts, n->cap, n->n + 1);
	n->texts[n->n] = arena_str(&n->arena, text);
	if (2 * (n->n + 1) > n->n_slots) {
		n->n++;
		widen(n);
	} else {
		n->slots[slot_of(n, text)] = (uint32_t)n->n + 1;
		n->n++;
	}
	return (uint32_t)n->n - 1;
}

struct str name_head(struct str name, size_t max)
{
	if (name.n <= max)
		return name;
	while (max && ((unsigned char)name.p[max] & 0xc0) == 0x80)
		max--;
	return (struct str){name.p, max};
}
