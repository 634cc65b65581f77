/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that ask about times without a server. */
#include "cli/frame/cmds.h"
#include "cli/output/output.h"

static const struct option_def cron_next_options[] = {
    {"from", 0, "TIME", "at or after this: epoch seconds or RFC 3339 (default: now)"},
    {"count", 'n', "N", "so many matches (default: 1)"},
    {"output", 'o', "FORMAT", "table, wide, json, jsonl, yaml, or epoch: bare seconds",
        "REEVE_OUTPUT", 0, "cron-format"},
    {NULL},
};

static const struct option_def cron_check_options[] = {
    {"from", 0, "TIME", "show the runs at or after this: epoch seconds or RFC 3339 (default: now)"},
    {NULL},
};

static const struct option_def cron_explain_options[] = {
    {"year", 0, "Y", "of this year, by the zone's own clock (default: the present one)"},
    {NULL},
};

static const struct option_def cron_play_options[] = {
    {"max-shift", 0, "TIME",
        "so late still fires, and so far back repeats nothing (default: what each item says)"},
    {"on-time", 0, "TIME", "found so late is still on time (default: 60)"},
    {NULL},
};

static const struct option_def cron_import_options[] = {
    {"system", 0, NULL, "the lines name a user before the command, as in /etc/crontab"},
    {"tz", 0, "ZONE", "the zone of lines without CRON_TZ (default: local)", NULL, 0, "zone"},
    {"dst", 0, "POLICY", "vixie (default), or as skip,repeat_use_only_early", NULL, 0, "dst"},
    {NULL},
};

static const struct completion cron_completions[] = {
    {"cron-format", {"table", "wide", "json", "jsonl", "yaml", "epoch"}},
    {"dst", {"vixie", "skip,repeat_use_both", "skip,repeat_use_only_early",
                "skip,repeat_use_only_late", "unskip,repeat_use_both",
                "unskip,repeat_use_only_early", "unskip,repeat_use_only_late"}},
    {NULL},
};

static const struct command cron_rows[] = {
    {"cron next", "show when a schedule runs next", NULL,
        "Needs no server. A malformed schedule exits with 2 and says where; one that no date can "
        "ever match exits with 1. No further match is no failure: nothing is printed, exit code "
        "0.\n"
        "A wall clock's times need --tz, unless the text names its zone (CRON_TZ=… in a line, the "
        "last word of an expression), which then holds.",
        "reeve cron next --crontab '30 2 * * *' --tz Europe/Berlin -n 5\tthe next five\n"
        "reeve cron next --item '{\"epoch\":{\"period\":300}}' --from 1800000000 -o epoch\tfor "
        "scripts\n"
        "reeve cron next --calendar 'Mon *-*-1..7 09:00 Asia/Tokyo'\tthe first Monday of the "
        "month\n",
        NULL, {cron_options, cron_next_options}, CHAPTER_TOOLS, COMMAND_NO_ARGS | COMMAND_EPOCH,
        cmd_cron_next},
    {"cron check", "explain a schedule in words", NULL,
        "What it means, its JSON form, the next five runs, and what daylight saving does to it "
        "this "
        "year and the next. Needs no server.",
        "reeve cron check --crontab '0 9 13 * Fri' --tz local\tnot what many think\n", NULL,
        {cron_options, cron_check_options, output_options}, CHAPTER_TOOLS, COMMAND_NO_ARGS,
        cmd_cron_check},
    {"cron explain", "say what daylight saving does to a schedule in a year", NULL,
        "Each time that does not exist or happens twice, and when it runs instead. Needs no "
        "server.",
        "reeve cron explain --crontab '30 2 * * *' --tz Europe/Berlin --year 2027\twhat happens to "
        "02:30\n",
        NULL, {cron_options, cron_explain_options, output_options}, CHAPTER_TOOLS, COMMAND_NO_ARGS,
        cmd_cron_explain},
    {"cron play", "replay readings of the clocks through a schedule", "FILE",
        "Each line of the file is a reading: SYSTEM MONOTONIC ZONE, or an object "
        "{\"system\":…,\"monotonic\":…,\"zone\":…}. SYSTEM is epoch seconds or RFC 3339; MONOTONIC "
        "is seconds since boot, or - when it is unknown; ZONE may be left out: that of the line "
        "before, at first --tz. Lines that begin with # are remarks; - reads standard input.\n"
        "Prints the events in order: on-time, late, skipped (one for all that are older than the "
        "limit), already-fired (the clock passes them again). Items that say different limits are "
        "played each by its own. Needs no server.",
        "reeve cron play readings --item "
        "'{\"epoch\":{\"period\":300}}' --max-shift 150\twhat a sleeping laptop would do\n",
        "file", {cron_options, cron_play_options, output_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG,
        cmd_cron_play},
    {"cron import", "translate a crontab into schedules", "CRONTAB",
        "Prints each line's schedule with its zone, command, variables, and notes about what "
        "differs "
        "from cron. Lines that cannot be translated are told with their number, the others are "
        "printed all the same; the exit code is then 2, or 1 when all that was wrong are dates "
        "that "
        "never come. - reads standard input. Needs no server.",
        "crontab -l | reeve cron import -\tyour own\n"
        "reeve cron import --system /etc/crontab -o jsonl\tthe machine's, a line each\n",
        "file", {cron_import_options, output_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG,
        cmd_cron_import},
};

const struct command_table cron_commands = {cron_rows, N_OF(cron_rows), cron_completions};
