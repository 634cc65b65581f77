/* SPDX-License-Identifier: Apache-2.0 */
#include "base/data/vclock.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define VERSION 1

void vclock_release(struct vclock *c)
{
	free(c->items);
	*c = (struct vclock){0};
}

bool vclock_name_is_valid(struct str name)
{
	if (name.n == 0 || name.n > VCLOCK_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' || strchr("\"\\{}", name.p[i]))
			return false;
	return true;
}

/* Where it is, or where it would have to be put. */
static size_t place_of(const struct vclock *c, struct str name, bool *ret_found)
{
	size_t lo = 0, hi = c->n;

	*ret_found = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = str_cmp(str_of(c->items[mid].name), name);

		if (order == 0) {
			*ret_found = true;
			return mid;
		}
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

uint64_t vclock_get(const struct vclock *c, struct str name)
{
	bool found;
	size_t at = place_of(c, name, &found);

	return found ? c->items[at].count : 0;
}

/* NULL: there is no room. */
static struct vclock_item *item_of(struct vclock *c, struct str name)
{
	bool found;
	size_t at = place_of(c, name, &found);

	if (found)
		return &c->items[at];
	if (c->n >= VCLOCK_NAMES_MAX)
		return NULL;
	MUST(vclock_name_is_valid(name));
	GROW(c->items, c->cap, c->n + 1);
	memmove(&c->items[at + 1], &c->items[at], (c->n - at) * sizeof c->items[0]);
	c->n++;
	c->items[at] = (struct vclock_item){.count = 0};
	memcpy(c->items[at].name, name.p, name.n);
	return &c->items[at];
}

bool vclock_tick(struct vclock *c, struct str name)
{
	struct vclock_item *i = item_of(c, name);

	if (!i || i->count >= VCLOCK_COUNT_MAX)
		return false;
	i->count++;
	return true;
}

bool vclock_merge(struct vclock *c, const struct vclock *other, struct str own)
{
	bool whole = true;

	for (size_t i = 0; i < other->n; i++) {
		const struct vclock_item *from = &other->items[i];
		struct vclock_item *to;

		if (str_eq(str_of(from->name), own))
			continue;
		to = item_of(c, str_of(from->name));
		if (!to)
			whole = false;
		else if (from->count > to->count)
			to->count = from->count;
	}
	return whole;
}

void vclock_encode(const struct vclock *c, struct buf *out)
{
	buf_add_char(out, VERSION);
	for (size_t i = 0; i < c->n; i++) {
		uint64_t n = c->items[i].count;

		buf_add_char(out, (char)strlen(c->items[i].name));
		buf_add_cstr(out, c->items[i].name);
		for (; n >= 0x80; n >>= 7)
			buf_add_char(out, (char)(n | 0x80));
		buf_add_char(out, (char)n);
	}
}

static bool take_byte(struct str *rest, uint8_t *ret_byte)
{
	if (!rest->n)
		return false;
	*ret_byte = (uint8_t)*rest->p;
	rest->p++;
	rest->n--;
	return true;
}

/* In its shortest form only, so that a clock has one encoding. */
static bool take_count(struct str *rest, uint64_t *ret_count)
{
	uint64_t n = 0;
	uint8_t byte;

	for (int shift = 0; shift < 56; shift += 7) {
		if (!take_byte(rest, &byte))
			return false;
		n |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*ret_count = n;
		return byte != 0 && n <= VCLOCK_COUNT_MAX;
	}
	return false;
}

static bool take_item(struct str *rest, struct vclock *c)
{
	struct vclock_item *to;
	struct str name;
	uint8_t length;
	uint64_t count;

	if (!take_byte(rest, &length) || length > rest->n)
		return false;
	name = (struct str){rest->p, length};
	rest->p += length;
	rest->n -= length;
	if (!vclock_name_is_valid(name) || !take_count(rest, &count))
		return false;
	/* in order and without repeats: then each is put at the end, and nothing is moved */
	if (c->n && str_cmp(str_of(c->items[c->n - 1].name), name) >= 0)
		return false;
	if (!(to = item_of(c, name)))
		return false;
	to->count = count;
	return true;
}

bool vclock_decode(struct str bytes, struct vclock *ret_clock)
{
	uint8_t version = 0;

	*ret_clock = (struct vclock){0};
	if (!take_byte(&bytes, &version) || version != VERSION)
		return false;
	while (bytes.n)
		if (!take_item(&bytes, ret_clock)) {
			vclock_release(ret_clock);
			return false;
		}
	return true;
}

void vclock_json(const struct vclock *c, struct buf *out)
{
	buf_add_char(out, '{');
	for (size_t i = 0; i < c->n; i++) {
		buf_add_cstr(out, i ? ",\"" : "\"");
		buf_add_cstr(out, c->items[i].name); /* a name's bytes need no escapes */
		buf_add_cstr(out, "\":");
		buf_add_u64(out, c->items[i].count);
	}
	buf_add_char(out, '}');
}
