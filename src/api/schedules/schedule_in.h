/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule as a request gives it: its pattern of times, its task, its policies. */
#ifndef API_SCHEDULE_IN_H
#define API_SCHEDULE_IN_H

#include "api/objects/resource.h"
#include "core/schedule/view.h"
#include "cron/pattern/item.h"
#include "model/rows/row.h"
#include "wire/json/json_in.h"
#include "zones/zones.h"

/* The members that make a pattern, as they stand in the body. */
struct pattern_members {
	json_t *crontab, *calendar, *items, *dst, *zone;
};
void pattern_in_find(const json_t *body, struct pattern_members *ret_members);
bool pattern_in_given(const struct pattern_members *m); /* any of them */

/* What they mean. */
struct pattern {
	struct cron_items items;
	struct str text;      /* the items, canonical; like all strings in the arena */
	struct str source;    /* "crontab 30 2 * * *"; NULL: items */
	struct str zone;      /* NULL: it needs none */
	struct zone_ref *ref; /* the zone of that name; NULL likewise */
};
/* `old`: what a change leaves out is as it was there; NULL: there is none. */
int pattern_in_make(struct call *c, const struct pattern_members *m,
    const struct schedule_view *old, struct pattern *ret_pattern);
void pattern_in_release(struct pattern *p);

#define SCHEDULE_BIT(member) ROW_BIT(schedule_table, schedule_row, member)

struct schedule_in {
	struct pattern_members pattern_members;
	struct call *c;
	struct schedule_row row;
	uint64_t fields; /* of it that were given */
	struct pattern pattern;
	json_t *task, *group; /* one of them, or of a change none */
	int64_t now_ms;
	bool needs_default; /* the queue `default` must be made first, then all is read again; its
	                     * id is 0 so far */
};
/* Everything of a new schedule (old NULL) or of a change. On an error c->problem says it. */
int schedule_in_read(
    struct schedule_in *in, struct call *c, json_t *body, const struct schedule_view *old);
void schedule_in_release(struct schedule_in *in);
/* Start, end and pattern: whether anything would ever run. */
int schedule_dates_check(struct schedule_in *in, const struct schedule_view *old);
/* schedule_group.c: a group in place of a task. Its text, from the body. */
int schedule_in_group(struct schedule_in *in, const struct schedule_view *old);
/* True: what the body says of a group makes sense, or it says nothing. Else it is being looked at
 * on a reader's thread, and the call's route comes again; or the problem has been sent. */
bool schedule_group_checked(struct call *c, json_t *body);
/* POST /v1/schedules?dry_run=true: everything is checked, nothing is made. */
void schedules_draft(struct call *c, json_t *body);

/* The members of a preview; the times to come lie in [from_ms, until_ms]. */
struct preview {
	int64_t from_ms, until_ms, now_ms, n, year;
};
extern const struct field preview_fields[], backfill_fields[];
#define PREVIEW_N 5 /* times, unless more are asked for */
void preview_add(struct call *c, const struct preview *w, const struct pattern *p);

call_fn schedules_create, schedules_patch, schedules_run, schedules_backfill, schedules_history,
    schedules_next, schedules_preview;
extern const struct resource schedule_resource;
/* schedule_metrics.c */
void schedule_saw(struct metrics *m, const struct notice *n);
void schedule_figures(const struct metrics *m, const struct api_host *h, struct buf *b);

#endif
