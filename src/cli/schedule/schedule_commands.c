/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about schedules. */
#include "cli/schedule/schedules.h"
#include "model/objects/schedule.h"

static const struct option_def schedule_options[] = {
    {"max-shift", 0, "TIME",
        "ticks up to so late still run; a clock set back by less repeats none"},
    {"overlap", 0, "POLICY",
        "when the last task still runs: allow, skip (default), queue or replace"},
    {"missed", 0, "POLICY", "what is made up for after a stop: skip, once (default) or all"},
    {"jitter", 0, "TIME"},
    {"group", 0, "FILE", "trigger a group of these jobs or packages, in place of a task", NULL, 0,
        "file"},
    {"trigger", 0, "GRAPH", "trigger what a change of this kept graph leads to; see --touched",
        NULL, 0, "graph"},
    {"touched", 0, "NAMES",
        "with --trigger: these packages have changed; with commas (default: everything)", NULL,
        OPTION_REPEAT},
    {"unbuildable", 0, "NAMES", "with --trigger: these cannot be built", NULL, OPTION_REPEAT},
    {"rounds", 0, "N", "with --trigger: build cycles so many times (default: 3)"},
    {"policy", 0, "POLICY", "of groups, when a job has failed: best-effort, fail-fast or fail-now",
        NULL, 0, "group-policy"},
    {"series", 0, "NAME", "of groups: they tell each other how long jobs take"},
    {"start", 0, "TIME", "not before: RFC 3339, epoch seconds, or so long from now"},
    {"end", 0, "TIME", "not after; likewise"},
    {NULL},
};

static const struct option_def schedule_add_options[] = {
    {"from-crontab", 0, "FILE", "a schedule for each line of a crontab; - for standard input", NULL,
        0, "file"},
    {"system", 0, NULL, "its lines name a user before the command, as in /etc/crontab"},
    {"prefix", 0, "TEXT", "what their names begin with (default: cron-)"},
    {"dry-run", 0, NULL, "only say what it would be"},
    {NULL},
};

static const struct option_def schedule_set_options[] = {
    {"name", 0, "NAME", "rename it"},
    {NULL},
};

static const struct option_def schedule_ls_options[] = {
    {"state", 0, "STATE", "active, paused or finished; several with commas", NULL, OPTION_REPEAT,
        "schedule-state"},
    {"queue", 0, "NAME", "whose tasks go into this queue", NULL, 0, "queue"},
    {"name", 0, "TEXT", "whose name begins with this"},
    {NULL},
};

static const struct option_def schedule_pause_options[] = {
    {"reason", 0, "TEXT", "why, for everybody to see; must be given"},
    {"until", 0, "TIME", "resume by itself at this time, or after so long"},
    {NULL},
};

static const struct option_def schedule_backfill_options[] = {
    {"from", 0, "TIME", "ticks at or after this; must be given"},
    {"to", 0, "TIME", "and before this (default: now)"},
    {"dry-run", 0, NULL, "only list the ticks"},
    {NULL},
};

static const struct completion schedule_completions[] = {
    {"schedule-state", .names = schedule_state_names, .n_names = N_SCHEDULE_STATES},
    {"event", {"schedule", "schedule.fired", "schedule.skipped"}},
    {NULL},
};

static const struct command schedule_rows[] = {
    {"schedule add", "submit a task or a group at certain times, from now on",
        "[NAME] [COMMAND [ARG]…]",
        "Says in words what was understood, when the next five runs are, and what daylight saving "
        "does to them. The command stands after \"--\".\n"
        "A wall clock's times need --tz, unless the text names its zone. --max-shift has no "
        "default, since nobody but you can know how late is too late: after a stop, a sleep or a "
        "clock that was set forward, ticks up to so late still count and older ones are skipped; "
        "and a clock that is set back by less runs nothing twice.\n"
        "With --from-crontab each line of a crontab becomes a schedule, named after its command. A "
        "name that is taken is left alone, so that to import the same file again changes nothing.",
        "reeve schedule add backup --crontab '30 2 * * *' --tz Europe/Berlin --max-shift 12h -- "
        "/usr/local/bin/backup /home\tevery night\n"
        "reeve schedule add poll --item '{\"epoch\":{\"period\":300}}' --max-shift 2m --overlap "
        "allow -- /usr/local/bin/poll\tevery five minutes, whatever the clocks do\n"
        "reeve schedule add nightly --crontab '0 1 * * *' --tz UTC --max-shift 6h --group "
        "jobs.yaml\ta group of jobs every night\n"
        "reeve schedule add weekly --calendar 'Sat 01:00' --tz UTC --max-shift 1d --trigger core "
        "--touched core/gcc -- /usr/local/bin/build {package}\twhat a new gcc leads to, every "
        "week\n"
        "crontab -l | reeve schedule add --from-crontab - --tz local --max-shift 1h "
        "--dry-run\twhat would become of your crontab\n",
        NULL,
        {cron_options, schedule_options, schedule_add_options, task_options, process_options,
            output_options},
        CHAPTER_OBJECTS, 0, cmd_schedule_add, .fields = schedule_fields},
    {"schedule ls", "list schedules, with their next run and how the last one ended", NULL, NULL,
        "reeve schedule ls --state paused\twhat somebody stopped, and why\n"
        "reeve schedule ls -o wide --watch\tlive, with everything\n",
        NULL, {LIST_OPTIONS, schedule_ls_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"schedule show", "show a schedule: settings, next runs, live tasks, history", "NAME…", NULL,
        NULL, "schedule", {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"schedule set", "change a schedule", "NAME [COMMAND [ARG]…]",
        "What is not given stays as it is; none takes a setting back. Other times count from now "
        "on. Variables and labels are set among those that it has; KEY= with nothing removes one. "
        "A command after \"--\" replaces the old one.",
        "reeve schedule set backup --crontab '0 4 * * *'\tlater, in the same zone\n"
        "reeve schedule set backup --end 2027-12-31T00:00:00Z --timeout 2h\tuntil then\n",
        "schedule",
        {cron_options, schedule_options, schedule_set_options, task_options, process_options,
            output_options},
        CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_set, .fields = schedule_fields},
    {"schedule pause", "submit nothing more", "NAME…",
        "What was submitted goes on. The ticks of the pause are recorded as skipped.",
        "reeve schedule pause backup --reason 'the disk is being replaced' --until 2d\tresumes by "
        "itself\n",
        "schedule", {schedule_pause_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        noun_pause},
    {"schedule resume", "go on with the next tick", "NAME…", NULL, NULL, "schedule",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_resume},
    {"schedule rm", "delete a schedule", "NAME…",
        "Its history goes with it: on a terminal you are asked first. Its tasks stay.", NULL,
        "schedule", {yes_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_rm},
    {"schedule run", "submit a schedule's task now", "NAME…",
        "Beside its ticks: none is skipped or moved for it. Prints the task's id; @last is then "
        "that one.",
        "reeve schedule run backup && reeve logs -f @last\twatch it\n", "schedule",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_run},
    {"schedule backfill", "submit the tasks of ticks that have gone by without one", "NAME",
        "A tick that has a task gets no second one: it may be repeated. A TIME is RFC 3339, epoch "
        "seconds, or so long ago (2d).",
        "reeve schedule backfill backup --from 2d --dry-run\twhich would that be?\n", "schedule",
        {schedule_backfill_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_schedule_backfill},
    {"schedule history", "list what became of a schedule's ticks, newest first", "NAME",
        "A skipped stretch, of which nothing ran, is one line. LATE is how long after its time a "
        "tick was dealt with.",
        "reeve schedule history backup -n 5\tthe last five\n", "schedule", {LIST_OPTIONS},
        CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_history},
};

const struct command_table schedule_commands = {
    schedule_rows, N_OF(schedule_rows), schedule_completions};
