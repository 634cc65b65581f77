/* SPDX-License-Identifier: Apache-2.0 */
/* Schedules, their ticks and times in their zones as JSON. */
#ifndef API_SHOW_SCHEDULE_H
#define API_SHOW_SCHEDULE_H

#include "api/objects/show.h"
#include "core/schedule/view.h"
#include "cron/pattern/item.h"

void show_schedule(
    struct buf *b, const struct api *a, const struct schedule_view *v, unsigned flags);
/* The members that its maker chose: from the task to the dates. */
void show_draft(struct buf *b, const struct api *a, const struct schedule_row *r);
void show_tick(
    struct buf *b, const struct api *a, const struct tick_row *t, const struct schedule_view *v);
/* Values: a moment in UTC and in a zone; patterns, and in words. */
void jw_moment(struct buf *b, const struct cron_zone *z, int64_t at_s);
void jw_words(struct buf *b, const struct cron_items *items);
void jw_items(struct buf *b, struct str text); /* canonical JSON */
void jw_dst(struct buf *b, const struct cron_items *items);
/* The schedule of the path; on false the problem has been sent. c->about is its id. */
bool path_schedule(struct call *c, struct schedule_view *ret_view);

#endif
