/* SPDX-License-Identifier: Apache-2.0 */
/* What the offline `cron` commands share: a pattern and its zone from the command line, times. */
#ifndef CLI_CRON_INPUT_H
#define CLI_CRON_INPUT_H

#include "cli/frame/cli.h"
#include "cron/pattern/item.h"
#include "zones/zones.h"

/* One of the three ways to say when, as it was given and as it was understood. */
struct cron_pattern {
	const char *kind; /* "item", "crontab", "calendar" */
	struct buf text;
	struct cron_items items;
};
int cron_pattern_read(struct cli *c, struct cron_pattern *ret_pattern);
void cron_pattern_release(struct cron_pattern *p);
int cron_zone_missing(struct cli *c); /* sets the problem */

struct cron_input {
	struct cron_items items;
	struct zones *zones;
	struct zone_ref *zone; /* never NULL once read; UTC when no item uses one */
	const char *zone_name;
};

/* --item, --crontab or --calendar, with --dst and --tz. `needs_zone`: also wall clock items must
   have one now; else it may come later (play's readings name theirs). */
int cron_input_read(struct cli *c, bool needs_zone, struct cron_input *ret_input);
void cron_input_release(struct cron_input *in);
/* The zone by name: one that there is not is the caller's mistake (exit code 2). */
int cron_input_zone(
    struct cli *c, struct zones *zones, const char *name, struct zone_ref **ret_zone);
/* Epoch seconds or RFC 3339. */
int cron_time_parse(struct str text, int64_t *ret_ms, struct problem *p);
/* Lines of a file, or of standard input ("-"), each at most CRON_TEXT_MAX bytes. */
int cron_each_line(struct cli *c, const char *path,
    int (*each)(struct str line, size_t number, void *arg), void *arg);

/* "2027-03-28T01:59:59+01:00" */
#define CRON_LOCAL_MAX 48
/* {"epoch":…,"utc":…,"local":…,"abbreviation":…} */
json_t *cron_time_json(const struct cron_zone *z, int64_t t);
/* The items' own JSON. */
json_t *cron_items_tree(const struct cron_items *items);
/* "Sun 2027-03-28 01:59:59 +01:00 CET" */
void cron_local_words(const struct cron_zone *z, int64_t t, struct buf *out);

#endif
