/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the commands about schedules, and of patterns of times wherever they are asked for. */
#include "cli/frame/command.h"

/* When: one of the three, and what they leave open. */
const struct option_def cron_options[] = {
    {"item", 0, "JSON", "an item, or a list of them; @FILE; - for standard input"},
    {"crontab", 0, "LINE", "the five time fields of a crontab line, or @daily and the like"},
    {"calendar", 0, "EXPR", "an expression as in systemd's OnCalendar="},
    {"dst", 0, "POLICY",
        "for --crontab and --calendar: vixie (default), or as skip,repeat_use_only_early", NULL, 0,
        "dst"},
    {"tz", 0, "ZONE", "the wall clock's zone: Europe/Berlin, UTC, +02:00, local", NULL, 0, "zone"},
    {NULL},
};

const struct option_def schedule_options[] = {
    {"max-shift", 0, "TIME",
        "ticks up to so late still run; a clock set back by less repeats none"},
    {"overlap", 0, "POLICY",
        "when the last task still runs: allow, skip (default), queue or replace", NULL, 0,
        "overlap"},
    {"missed", 0, "POLICY", "what is made up for after a stop: skip, once (default) or all", NULL,
        0, "missed"},
    {"jitter", 0, "TIME", "start each task up to so much later, at random"},
    {"start", 0, "TIME", "not before: RFC 3339, epoch seconds, or so long from now"},
    {"end", 0, "TIME", "not after; likewise"},
    {NULL},
};

const struct option_def schedule_add_options[] = {
    {"from-crontab", 0, "FILE", "a schedule for each line of a crontab; - for standard input", NULL,
        0, "file"},
    {"system", 0, NULL, "its lines name a user before the command, as in /etc/crontab"},
    {"prefix", 0, "TEXT", "what their names begin with (default: cron-)"},
    {"dry-run", 0, NULL, "only say what it would be"},
    {NULL},
};

const struct option_def schedule_set_options[] = {
    {"name", 0, "NAME", "rename it"},
    {NULL},
};

const struct option_def schedule_ls_options[] = {
    {"state", 0, "STATE", "active, paused or finished; several with commas", NULL, OPTION_REPEAT,
        "schedule-state"},
    {"queue", 0, "NAME", "whose tasks go into this queue", NULL, 0, "queue"},
    {"name", 0, "TEXT", "whose name begins with this"},
    {NULL},
};

const struct option_def schedule_pause_options[] = {
    {"reason", 0, "TEXT", "why, for everybody to see; must be given"},
    {"until", 0, "TIME", "resume by itself at this time, or after so long"},
    {NULL},
};

const struct option_def schedule_backfill_options[] = {
    {"from", 0, "TIME", "ticks at or after this; must be given"},
    {"to", 0, "TIME", "and before this (default: now)"},
    {"dry-run", 0, NULL, "only list the ticks"},
    {NULL},
};

const struct option_def yes_options[] = {
    {"yes", 'y', NULL, "do not ask"},
    {NULL},
};
