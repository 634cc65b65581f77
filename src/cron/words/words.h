/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules in words: what they mean, and what daylight saving does to them in a given year. */
#ifndef CRON_WORDS_H
#define CRON_WORDS_H

#include "cron/pattern/item.h"

/* "at 02:30, every Tuesday": one sentence an item, a line each. */
void cron_describe(const struct cron_items *items, struct buf *out);
void cron_describe_item(const struct cron_item *it, struct buf *out); /* without a line's end */
/* "a time that does not exist runs a second before the jump; …"; nothing for an epoch item. */
void cron_describe_dst(const struct cron_item *it, struct buf *out);

/* What became of a crontab line's two day fields; NULL: there is nothing to say. */
const char *cron_either_or_words(const struct cron_items *items);

enum cron_trick { CRON_GAP, CRON_OVERLAP };
/* What one change of the zone's offset does to one item. */
struct cron_note {
	enum cron_trick trick;
	const struct cron_item *item;
	int64_t at;            /* the transition */
	int32_t before, after; /* offsets */
	int64_t label;         /* local seconds of the wall time that is touched: the first one */
	int64_t last_label;
	size_t n_labels;  /* so many of the item's wall times in this gap or overlap */
	int64_t fires[2]; /* when the first one runs instead */
	size_t n_fires;
};
/* Every wall time of the items that does not exist or happens twice in that (local) year. */
void cron_explain_year(const struct cron_items *items, const struct cron_zone *z, int32_t year,
    void (*each)(const struct cron_note *note, void *arg), void *arg);
/* "28 Mar 2027: 02:30 does not exist, runs 01:59:59" */
void cron_note_write(const struct cron_note *note, struct buf *out);

#endif
