/* SPDX-License-Identifier: Apache-2.0 */
/* The words of "dst_fixes". */
#ifndef CRON_DST_H
#define CRON_DST_H

#include "cron/pattern/item.h"

/* In the order of enum cron_skipped, then of enum cron_repeated. */
enum dst_word { DST_SKIP, DST_UNSKIP, DST_BOTH, DST_EARLY, DST_LATE };

const char *dst_skipped_name(enum cron_skipped skipped);
const char *dst_repeated_name(enum cron_repeated repeated);
/* One word of each kind, in any order. */
int dst_pair(struct str a, struct str b, struct cron_dst *ret_dst, struct problem *p);

#endif
