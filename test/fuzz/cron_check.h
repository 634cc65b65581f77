/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every pattern that was taken, whatever it was read from. */
#ifndef FUZZ_CRON_CHECK_H
#define FUZZ_CRON_CHECK_H

#include "base/mem.h"
#include "cron/pattern/item.h"

static void check_written(const struct cron_items *items)
{
	struct buf first = {0}, second = {0};
	struct cron_items back;
	struct problem p = {0};

	cron_items_write(items, &first);
	if (first.n <= CRON_TEXT_MAX) {
		MUST(cron_items_json(buf_str(&first), &back, &p) == 0);
		MUST(back.n == items->n);
		cron_items_write(&back, &second);
		MUST(str_eq(buf_str(&first), buf_str(&second)));
		cron_items_release(&back);
	}
	buf_release(&first);
	buf_release(&second);
}

static void check_times(const struct cron_items *items, const struct cron_zone *z)
{
	static const int64_t from[] = {INT64_MIN, 0, 1383469199, 1711846799, INT64_C(253402300799)};
	int64_t next, last, again;

	for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
		if (!cron_items_next(items, z, from[i], &next))
			continue;
		MUST(next >= from[i]);
		MUST(cron_items_next(items, z, next, &again) && again == next);
		MUST(cron_items_last(items, z, next, &last) && last == next);
		MUST(!cron_items_last(items, z, next - 1, &last) || last < from[i]);
	}
}

static void check_items(struct cron_items *items)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	MUST(items->n >= 1 && items->n <= CRON_ITEMS_MAX);
	MUST(cron_zone_posix(STR("CET-1CEST,M3.5.0,M10.5.0/3"), &z, &p) == 0);
	check_written(items);
	check_times(items, z);
	cron_zone_free(z);
	cron_items_release(items);
}

static void check_problem(int rc, const struct problem *p)
{
	MUST(rc == ERR_INVALID || rc == ERR_NOT_FOUND);
	MUST(p->code == rc && p->what[0]);
}

#endif
