/* SPDX-License-Identifier: Apache-2.0 */
/* What the readers of JSON items, crontab lines and calendar expressions share. */
#ifndef CRON_PARSE_H
#define CRON_PARSE_H

#include "cron/pattern/item.h"

/* A growing list of values and ranges of one selector. */
struct ranges {
	struct cron_range *v;
	size_t n, cap;
};
void ranges_release(struct ranges *r);
/* Ends at the last value that is hit; false: there are too many. */
bool ranges_add(struct ranges *r, int64_t start, int64_t end, int64_t period);
/* Into the item's years or days, in order; what is there twice is dropped. */
void ranges_take(struct ranges *r, struct cron_item *ret_item);
/* Bit v - base for every value; they lie within [base, base + 63]. */
uint64_t ranges_bits(const struct ranges *r, int64_t base);

/* Every second 0 of every hour and day: what is not named. No minutes yet. */
void item_init(struct cron_item *it);
void item_release(struct cron_item *it);
/* ERR_NOT_FOUND when no date will ever match, saying which part is to blame. `where` may be "". */
int item_check_dates(const struct cron_item *it, const char *where, struct problem *p);
/* Puts a copy of the item at the end; its ranges go with it. */
void items_add(struct cron_items *items, struct cron_item *it);

/* A text that is read from left to right. */
struct scan {
	struct str all;
	size_t at;
	struct problem *p;
};
char scan_peek(const struct scan *s); /* 0 at the end */
bool scan_take(struct scan *s, char c);
bool scan_take_text(struct scan *s, const char *text);
bool scan_spaces(struct scan *s);     /* skips blanks; false: there were none */
bool scan_is_end(struct scan *s);     /* nothing or a blank comes next */
struct str scan_word(struct scan *s); /* up to a blank */
struct str scan_letters(struct scan *s);
bool scan_number(struct scan *s, int64_t *ret_n); /* digits, at most nine */
bool scan_is_digit(const struct scan *s);         /* one comes next */
/* What has more digits than scan_number() takes. */
int scan_too_great(struct scan *s, const char *what, int64_t min, int64_t max);
/* "column 7: …" with the column of `at`. */
int scan_bad(struct scan *s, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Too long, or NULs and other control characters in it. */
int scan_check(struct scan *s, const char *what);
/* A zone's name (only its form is looked at). */
int scan_zone(struct scan *s, struct str name, char **ret_zone);

#endif
