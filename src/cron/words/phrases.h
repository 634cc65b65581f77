/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of small numbers as English, for words.c. */
#ifndef CRON_PHRASES_H
#define CRON_PHRASES_H

#include "cron/pattern/item.h"

unsigned bits_count(uint64_t bits);
bool bits_are_run(uint64_t bits);

const char *phrase_ending(int n); /* "st" of 1st */
void phrase_ordinal(struct buf *out, int n);
void phrase_weekday(struct buf *out, int n);
void phrase_month(struct buf *out, int n);
void phrase_between(struct buf *out, bool first, bool last);
/* "1, 3 to 5 and 9" */
void phrase_list(struct buf *out, uint64_t bits, void (*add)(struct buf *out, int n));
/* The time of day. False: it says already that it is every day. */
bool phrase_clock(const struct cron_item *it, struct buf *out);

#endif
