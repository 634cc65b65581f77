/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ask/idem.h"

#include <string.h>

#include "model/limits.h"

#define HEAD_BYTES 9
#define RUN_BYTES 14 /* first id 8, count 4, twin 1, refused 1 */

static void put(uint8_t **at, uint64_t n, int bytes)
{
	for (int i = 0; i < bytes; i++, n >>= 8)
		*(*at)++ = (uint8_t)n;
}

static uint64_t get(const uint8_t **at, int bytes)
{
	uint64_t n = 0;

	for (int i = 0; i < bytes; i++)
		n |= (uint64_t) * (*at)++ << (8 * i);
	return n;
}

static bool continues(const struct outcome *o, size_t i)
{
	return o[i].id == o[i - 1].id + 1 && o[i].twin == o[i - 1].twin && !o[i].code &&
	       !o[i - 1].code;
}

static size_t run_length(const struct outcome *o, size_t at, size_t n)
{
	size_t len = 1;

	while (at + len < n && continues(o, at + len))
		len++;
	return len;
}

struct str idem_pack(struct arena *a, const struct reply *r)
{
	size_t runs = 0, len;
	uint8_t *bytes, *at;

	for (size_t i = 0; i < r->n; i += run_length(r->outcomes, i, r->n))
		runs++;
	at = bytes = arena_alloc(a, HEAD_BYTES + runs * RUN_BYTES);
	put(&at, 1, 1);
	put(&at, r->id, 8);
	for (size_t i = 0; i < r->n; i += len) {
		const struct outcome *o = &r->outcomes[i];

		len = run_length(r->outcomes, i, r->n);
		put(&at, o->id, 8);
		put(&at, len, 4);
		put(&at, o->twin, 1);
		put(&at, o->code ? 1 : 0, 1);
	}
	return (struct str){(char *)bytes, (size_t)(at - bytes)};
}

static bool total(struct str packed, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = HEAD_BYTES; i < packed.n; i += RUN_BYTES) {
		const uint8_t *at = (const uint8_t *)packed.p + i + 8;

		n += get(&at, 4);
		if (n > TASKS_PER_SUBMIT)
			return false;
	}
	*ret_n = n;
	return true;
}

bool idem_unpack(struct arena *a, struct str packed, struct reply *ret)
{
	const uint8_t *at = (const uint8_t *)packed.p, *end = at + packed.n;
	struct outcome *o;
	size_t n;

	if (packed.n < HEAD_BYTES || (packed.n - HEAD_BYTES) % RUN_BYTES || *at != 1 ||
	    !total(packed, &n))
		return false;
	at++;
	ret->id = get(&at, 8);
	ret->n = n;
	ret->outcomes = o = arena_alloc(a, (n + 1) * sizeof *o);
	while (at < end) {
		rid id = get(&at, 8);
		size_t len = get(&at, 4);
		bool twin = get(&at, 1), refused = get(&at, 1);

		for (size_t i = 0; i < len; i++)
			*o++ = (struct outcome){.id = id + i,
			    .twin = twin,
			    .status = -2,
			    .code = refused ? ERR_CONFLICT : 0,
			    .why = refused ? "it was refused the first time" : NULL};
	}
	return true;
}
