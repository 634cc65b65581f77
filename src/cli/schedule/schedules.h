/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about schedules share: bodies from options, moments and tables for people. */
#ifndef CLI_SCHEDULES_H
#define CLI_SCHEDULES_H

#include "cli/cron/cron_input.h"
#include "cli/nouns/noun.h"

#define SCHEDULES_DRY_RUN "/v1/schedules?dry_run=true"

/* The members "crontab", "calendar" or "items", with "dst"; and "time_zone". */
int schedule_put_pattern(struct cli *c, const struct cron_pattern *p, json_t *body);
/* overlap, missed, max_shift, jitter, start, end, a new name. "none" takes one back: null. */
int schedule_put_policies(struct cli *c, json_t *body);
bool schedule_pattern_given(const struct cli *c); /* any of --item, --crontab, --calendar */
/* How late may it be? Half the distance of runs that are `distance_s` apart, rounded. */
const char *shift_suggestion(int64_t distance_s);
/* Refuses a pattern that leaves open how late is too late, and proposes something. */
int schedule_need_shift(struct cli *c, const struct cron_items *items);

/* schedule_group.c: in place of a task */
bool schedule_group_given(const struct cli *c);
int schedule_check_group(struct cli *c); /* options that make no sense together */
int schedule_put_group(struct cli *c, json_t *body);
char *group_of_schedule(const struct cli *c, const json_t *schedule); /* in words; NULL: none */

int schedule_add_crontab(struct cli *c, const char *path);

/* "Sun 2027-03-28 01:59:59 +01:00 CET" of {"local","abbreviation"}, or of a text alone. */
void moment_words(const char *local, const char *abbreviation, struct buf *out);
/* "at 02:30, every day; or …": a schedule's words in one line. */
char *schedule_words(const json_t *schedule);
char *schedule_dst_words(const json_t *schedule);
/* For columns: a schedule's words; of a moment {"local","abbreviation","utc"} either. */
char *when_words(const struct cli *c, const json_t *schedule);
char *local_words(const struct cli *c, const json_t *moment);
char *utc_words(const struct cli *c, const json_t *moment);
/* The next five runs, and what daylight saving does to them this year and the next. */
int schedule_print_future(struct cli *c, const json_t *schedule);
/* The same of a preview's answer. */
void schedule_print_preview(struct cli *c, const json_t *preview);
void schedule_facts(struct cli *c, const json_t *schedule); /* also of a draft, without an id */
void schedule_understood(struct cli *c, const json_t *schedule); /* only when, and how */
#define N_TICK_COLUMNS 6
extern const struct heading tick_columns[N_TICK_COLUMNS];
/* For these columns: asks for the states of the ticks' tasks. */
void ticks_add_states(struct cli *c, const char *schedule, const json_t *ticks);
/* The state of a task, or of what else: "gone" when it was deleted. */
void state_of(struct cli *c, const struct noun *n, const char *id, char ret_state[32]);

int cmd_schedule_add(struct cli *c);
int cmd_schedule_set(struct cli *c);
int cmd_schedule_rm(struct cli *c);
int cmd_schedule_run(struct cli *c);
int cmd_schedule_backfill(struct cli *c);
int cmd_schedule_history(struct cli *c);

extern const struct command_table schedule_commands;

#endif
