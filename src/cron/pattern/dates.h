/* SPDX-License-Identifier: Apache-2.0 */
/* The days and wall clock times that an item selects; no zone is known here. */
#ifndef CRON_DATES_H
#define CRON_DATES_H

#include "cron/pattern/item.h"

#define DATES_NONE INT64_MAX
/* 1969-12-30: where UTC begins 1970, no wall clock shows an earlier day. */
#define DATES_FIRST_DAY INT64_C(-2)

/* The first day that matches, at or after one; days since 1970-01-01 on a wall clock. */
int64_t dates_next_day(const struct cron_item *it, int64_t from);
/* The first second that matches, at or after one, counted in the same way. */
int64_t dates_next_label(const struct cron_item *it, int64_t from);
/* The first value of a range at or after v; INT64_MAX when there is none. */
int64_t cron_range_next(const struct cron_range *r, int64_t v);

#endif
