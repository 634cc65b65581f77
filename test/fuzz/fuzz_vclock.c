/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks out of arbitrary bytes: what is accepted keeps the bounds, has that one encoding,
 * and can be merged without anybody's count going back.
 */
#include "base/data/vclock.h"
#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_items(const struct vclock *c)
{
	MUST(c->n <= VCLOCK_NAMES_MAX);
	for (size_t i = 0; i < c->n; i++) {
		MUST(vclock_name_is_valid(str_of(c->items[i].name)));
		MUST(c->items[i].count >= 1 && c->items[i].count <= VCLOCK_COUNT_MAX);
		MUST(i == 0 || str_cmp(str_of(c->items[i - 1].name), str_of(c->items[i].name)) < 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = {(const char *)data, size};
	struct vclock c, ours = {0};
	struct buf again = {0};

	if (!vclock_decode(bytes, &c)) {
		MUST(!c.n && !c.items);
		return 0;
	}
	check_items(&c);
	vclock_encode(&c, &again);
	MUST(str_eq(buf_str(&again), bytes) && again.n <= VCLOCK_BYTES_MAX);
	MUST(vclock_tick(&ours, STR("a")));
	vclock_merge(&ours, &c, STR("a"));
	check_items(&ours);
	MUST(vclock_get(&ours, STR("a")) == 1);
	for (size_t i = 0; ours.n < VCLOCK_NAMES_MAX && i < c.n; i++)
		MUST(str_is(str_of(c.items[i].name), "a") ||
		     vclock_get(&ours, str_of(c.items[i].name)) == c.items[i].count);
	buf_release(&again);
	vclock_release(&ours);
	vclock_release(&c);
	return 0;
}
