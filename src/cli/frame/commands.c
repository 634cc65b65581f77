/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands itself. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"

static const struct option_def submit_options[] = {
    {"array", 'a', "ITEMS", "one task per item: - for lines of standard input, or FROM-TO[:STEP]"},
    {"ndjson", 0, "FILE", "tasks as JSON, one a line; - for standard input", NULL, 0, "file"},
    {"atomic", 0, NULL, "take all lines or none (up to 100,000)"},
    {"limit", 0, "N", "run at most N at once, through a queue that has this limit"},
    {"wait", 0, NULL, "wait until all have ended, with progress; the exit code says how"},
    {"wait-timeout", 0, "TIME", "with --wait: give up after this (exit code 124)"},
    {NULL},
};

static const struct option_def run_options[] = {
    {"detach-on-interrupt", 0, NULL, "Ctrl-C leaves the task running instead of cancelling it"},
    {NULL},
};

static const struct option_def wait_options[] = {
    {"timeout", 't', "TIME", "give up after this (exit code 124)"},
    {"wait-timeout", 0, "TIME", "the same, as it is called beside submit --wait"},
    {NULL},
};

static const struct option_def logs_options[] = {
    {"follow", 'f', NULL, "go on as it is written, until the task ends"},
    {"stdout", 0, NULL, "only what it wrote to its standard output"},
    {"stderr", 0, NULL, "only what it wrote to its standard error"},
    {"attempt", 0, "N", "of this attempt; -1: of the one before the last"},
    {NULL},
};

static const struct option_def act_options[] = {
    {"dry-run", 0, NULL, "only say how many match"},
    {"all", 0, NULL, "everything: needed when there is no filter"},
    {"yes", 'y', NULL, "do not ask"},
    {"reason", 0, "TEXT", "for the record"},
    {NULL},
};

static const struct option_def retry_options[] = {
    {"failed", 0, NULL, "those that failed, were terminated or orphaned"},
    {NULL},
};

static const struct option_def task_ls_options[] = {
    {"failed", 0, NULL, "those that failed, were terminated or orphaned"},
    {"oldest", 0, NULL, "oldest first"},
    {"full", 0, NULL, "with command, parameters, attempts and output (machine formats)"},
    {NULL},
};

static const struct option_def task_set_options[] = {
    {"priority", 'p', "N", "higher first, in queues ordered by priority"},
    {NULL},
};

static const struct option_def queue_options[] = {
    {"plugin", 0, "NAME", "what runs its tasks (default: command)"},
    {"threads", 't', "N", "at most so many at once, over all workers; none: no limit"},
    {"order", 0, "ORDER", "fifo, lifo or priority", NULL, 0, "order"},
    {"timeout", 0, "TIME", "for tasks that do not say themselves; none: no limit"},
    {"max-attempts", 0, "N", "for tasks that do not say themselves"},
    {"backoff", 0, "TIME", "for tasks that do not say themselves"},
    {"backoff-max", 0, "TIME", "for tasks that do not say themselves"},
    {"exit-codes", 0, NULL, "exit codes 99, 100 and 111 mean skip, permanent, temporary"},
    {"env", 'e', "KEY=VALUE", "a variable for every task", NULL, OPTION_REPEAT},
    {"output-mode", 0, "MODE", "keep output auto, inline or in chunks", NULL, 0, "output-mode"},
    {"output-max", 0, "BYTES", "keep so much of a task's output"},
    {NULL},
};

static const struct option_def queue_set_options[] = {
    {"name", 0, "NAME", "rename it"},
    {NULL},
};

static const struct option_def queue_pause_options[] = {
    {"reason", 0, "TEXT", "why, for everybody to see"},
    {"until", 0, "TIME", "resume by itself at this time, or after so long"},
    {NULL},
};

static const struct option_def queue_rm_options[] = {
    {"force", 0, NULL, "cancel and delete its tasks too"},
    {"yes", 'y', NULL, "do not ask"},
    {NULL},
};

static const struct option_def worker_set_options[] = {
    {"maxthreads", 't', "N", "run at most so many tasks; none: no limit; worker: its own setting"},
    {NULL},
};

static const struct option_def token_options[] = {
    {"role", 0, "ROLE", "what it may: read, logs, submit, operate or admin", NULL, 0, "role"},
    {"queue", 0, "NAME", "only in this queue", NULL, OPTION_REPEAT, "queue"},
    {"label", 'l', "KEY=VALUE", "only tasks with this label", NULL, OPTION_REPEAT},
    {"expires", 0, "TIME", "not longer than until then, or so long (default: for ever)"},
    {"join", 0, NULL, "it admits workers, and nothing else"},
    {"once", 0, NULL, "with --join: one worker only"},
    {"zone", 0, "NAME", "with --join: only workers of this zone"},
    {NULL},
};

static const struct option_def worker_ls_options[] = {
    {"state", 0, "STATE", "in this state; several with commas", NULL, OPTION_REPEAT,
        "worker-state"},
    {NULL},
};

static const struct option_def worker_rm_options[] = {
    {"lost", 0, NULL,
        "it is not lost yet, but its machine is certainly off: retry or orphan its tasks"},
    {NULL},
};

static const struct option_def events_options[] = {
    {"follow", 'f', NULL, "go on as they happen, until Ctrl-C"},
    {"kind", 'k', "KIND", "only these: task, task.failed, queue …", NULL, OPTION_REPEAT, "event"},
    {"queue", 0, "NAME", "of this queue", NULL, 0, "queue"},
    {"task", 0, "ID", "of this task"},
    {"batch", 0, "ID", "of this batch (@last: the last one)", NULL, 0, "batch"},
    {"worker", 0, "NAME", "of this worker", NULL, 0, "worker"},
    {"schedule", 0, "NAME", "of this schedule", NULL, 0, "schedule"},
    {"after", 0, "SEQ", "after this number"},
    {"limit", 'n', "N", "at most so many (0: all)"},
    {NULL},
};

static const struct option_def audit_options[] = {
    {"expect", 0, "SEQ:HASH", "a head that was printed before: the trail must still hold it"},
    {"store", 0, "URL",
        "a store that no server uses, such as sqlite:PATH, in place of the server's"},
    {NULL},
};

static const struct option_def top_options[] = {
    {"watch", 'w', "SECONDS", "how often it is drawn (default: 1)", NULL, OPTION_MAYBE},
    {"output", 'o', "FORMAT", "table, wide, json, jsonl or yaml", "REEVE_OUTPUT", 0, "format"},
    {NULL},
};

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

const char *const command_group_names[N_GROUPS] = {
    [GROUP_DAILY] = "Work",
    [GROUP_OBJECTS] = "Tasks, queues, schedules, workers, tokens",
    [GROUP_SERVICES] = "Services",
    [GROUP_TOOLS] = "Tools",
};

#define FILTERS_NOTE                                                                              \
	"Name tasks by id (24 hexadecimal digits), by @last for what you submitted last, or by "  \
	"filters: everything that matches is taken, on the server, in one go. On a terminal you " \
	"are asked first when there is more than one."

const struct command client_commands[] = {
    {"run", "submit a command, follow its output, exit as it does", "COMMAND [ARG]…",
        "Standard output and standard error stay apart. Ctrl-C cancels the task and waits for its "
        "end; a second Ctrl-C leaves at once. When the server restarts meanwhile, nothing is lost: "
        "the output goes on where it stopped.\n"
        "The first word that is not an option begins the command; \"--\" before it is allowed.",
        "reeve run make test\trun it on some worker, as if it ran here\n"
        "reeve run --queue builds --timeout 10m -- ./build.sh --all\twith limits\n",
        "command", {run_options, task_options, once_options, process_options}, GROUP_DAILY,
        COMMAND_ARGV | COMMAND_MIRRORS | COMMAND_NEEDS_ARG, cmd_run},
    {"submit", "submit one task or very many", "[COMMAND [ARG]…]",
        "Prints the id, or the batch when there are several. With --array, {} stands for the item "
        "in the command, --key, --cwd, --env and --label; a command without {} gets the item as "
        "its last argument. Long streams are split into requests of 50,000 tasks which belong to "
        "one "
        "batch. A repeated request never submits twice.\n"
        "--limit N uses a queue with N threads: the one of --queue, or else \"limit-N\"; it is "
        "made when it is missing.",
        "reeve submit -- ./backup.sh /home\tone task\n"
        "seq 100 | reeve submit --array - --limit 8 --wait -- ./convert {}\ta hundred, eight at a "
        "time, with progress\n"
        "reeve submit --array 0-90:10 -- ./render --from {}\ta range\n"
        "reeve submit --ndjson tasks.jsonl\tready-made tasks\n",
        "command", {submit_options, task_options, once_options, process_options, output_options},
        GROUP_DAILY, COMMAND_ARGV, cmd_submit},
    {"wait", "wait until tasks have ended, exit as they did", "[ID]…",
        "With one task the exit code is that of its command; with several it is 0 when all "
        "succeeded, else 1.",
        "reeve wait @last\twhat was submitted last\n"
        "reeve wait --queue nightly --timeout 1h\teverything in a queue\n",
        "task", {wait_options, filter_options}, GROUP_DAILY, COMMAND_MIRRORS, cmd_wait},
    {"logs", "show what a task wrote", "ID", NULL,
        "reeve logs -f @last\tfollow it live\n"
        "reeve logs --stderr ID\tonly its errors\n",
        "task", {logs_options}, GROUP_DAILY, COMMAND_NEEDS_ARG, cmd_logs},
    {"why", "say everything that a task waits for, and what would lift it", "ID", NULL,
        "reeve why @last\twhy does it not run yet?\n", "task", {output_options}, GROUP_DAILY,
        COMMAND_NEEDS_ARG, cmd_why},
    {"cancel", "cancel tasks; running ones are killed", "[ID]…", FILTERS_NOTE,
        "reeve cancel @last\tstop it\n"
        "reeve cancel --queue builds --state queued\teverything that waits there\n",
        "task", {act_options, filter_options, output_options}, GROUP_DAILY, 0, cmd_cancel},
    {"retry", "run ended tasks again", "[ID]…",
        "They are queued with all of their attempts; numbers go on.\n" FILTERS_NOTE,
        "reeve retry --failed @last\twhat failed in the last batch\n"
        "reeve retry --state orphaned --since 1d --dry-run\tcount first\n",
        "task", {act_options, retry_options, filter_options, output_options}, GROUP_DAILY, 0,
        cmd_retry},
    {"status", "show how the server and its work stand", NULL, NULL, NULL, NULL, {list_options},
        GROUP_DAILY, COMMAND_NO_ARGS, cmd_status},
    {"top", "watch queues, workers and running tasks live", NULL,
        "Full-screen on a terminal (q or Ctrl-C leaves); one picture otherwise.", NULL, NULL,
        {top_options}, GROUP_DAILY, COMMAND_NO_ARGS, cmd_top},
    {"events", "list what happened, or follow it", NULL,
        "After a broken connection it goes on where it stopped.",
        "reeve events -f --kind task.failed\tfailures as they happen\n"
        "reeve events -f -o jsonl\tfor programs\n",
        NULL, {events_options, output_options}, GROUP_DAILY, COMMAND_NO_ARGS, cmd_events},
    {"task ls", "list tasks, newest first", NULL, NULL,
        "reeve task ls --failed --since 1h\twhat went wrong lately\n"
        "reeve task ls --batch @last -o wide\twhat was submitted last\n"
        "reeve task ls --queue builds --watch\tlive\n",
        NULL, {list_options, filter_options, task_ls_options}, GROUP_OBJECTS, COMMAND_NO_ARGS,
        noun_ls},
    {"task show", "show a task with its attempts and output", "ID…", NULL, NULL, "task",
        {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"task hold", "keep queued tasks from starting", "[ID]…", FILTERS_NOTE, NULL, "task",
        {act_options, filter_options, output_options}, GROUP_OBJECTS, 0, cmd_task_hold},
    {"task release", "let held tasks start", "[ID]…", FILTERS_NOTE, NULL, "task",
        {act_options, filter_options, output_options}, GROUP_OBJECTS, 0, cmd_task_release},
    {"task set", "change a task's priority", "ID…", NULL,
        "reeve task set @last --priority 10\tbefore the others\n", "task",
        {task_set_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_task_set},
    {"queue ls", "list queues", NULL, NULL, NULL, NULL, {list_options}, GROUP_OBJECTS,
        COMMAND_NO_ARGS, noun_ls},
    {"queue show", "show a queue's settings and counts", "NAME…", NULL, NULL, "queue",
        {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"queue create", "make a queue", "NAME", NULL,
        "reeve queue create builds --threads 4\tfour at a time\n"
        "reeve queue create mail --plugin mailer --max-attempts 5 --backoff 30s\tfor a plugin\n",
        NULL, {queue_options, process_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG,
        noun_create},
    {"queue set", "change a queue's settings", "NAME",
        "Variables given with --env are set among those that it has; KEY= with nothing removes "
        "one. So are the settings of processes (--user to --result-file), where none takes one "
        "back; --run replaces them all, and --run none removes them.",
        "reeve queue set builds --threads 8\tmore at once\n"
        "reeve queue set builds --threads none\tas many as the workers take\n",
        "queue", {queue_options, queue_set_options, process_options, output_options}, GROUP_OBJECTS,
        COMMAND_NEEDS_ARG, noun_set},
    {"queue pause", "start nothing more from a queue", "NAME…",
        "What runs goes on. Tasks may still be submitted.",
        "reeve queue pause builds --reason 'new compiler' --until 2h\tresumes by itself\n", "queue",
        {queue_pause_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_pause},
    {"queue resume", "start work from a paused queue again", "NAME…", NULL, NULL, "queue",
        {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_resume},
    {"queue rm", "delete a queue", "NAME…",
        "Its ended tasks and their output go with it: on a terminal you are asked first. "
        "Refused while it holds live tasks, unless forced.",
        NULL, "queue", {queue_rm_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_queue_rm},
    {"schedule add", "submit a task at certain times, from now on", "[NAME] [COMMAND [ARG]…]",
        "Says in words what was understood, when the next five runs are, and what daylight saving "
        "does to them. The command stands after \"--\".\n"
        "A wall clock's times need --tz, unless the text names its zone. --max-shift has no "
        "default, since nobody but you can know how late is too late: after a stop, a sleep or a "
        "clock that was set forward, ticks up to so late still count and older ones are skipped; "
        "and a clock that is set back by less runs nothing twice.\n"
        "With --from-crontab each line of a crontab becomes a schedule, named after its command. A "
        "name that is taken is left alone, so that to import the same file again changes nothing.",
        "reeve schedule add backup --crontab '30 2 * * *' --tz Europe/Berlin --max-shift 12h -- "
        "./backup.sh /home\tevery night\n"
        "reeve schedule add poll --item '{\"epoch\":{\"period\":300}}' --max-shift 2m --overlap "
        "allow -- ./poll\tevery five minutes, whatever the clocks do\n"
        "crontab -l | reeve schedule add --from-crontab - --tz local --max-shift 1h "
        "--dry-run\twhat would become of your crontab\n",
        NULL,
        {cron_options, schedule_options, schedule_add_options, task_options, process_options,
            output_options},
        GROUP_OBJECTS, 0, cmd_schedule_add},
    {"schedule ls", "list schedules, with their next run and how the last one ended", NULL, NULL,
        "reeve schedule ls --state paused\twhat somebody stopped, and why\n"
        "reeve schedule ls -o wide --watch\tlive, with everything\n",
        NULL, {list_options, schedule_ls_options}, GROUP_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"schedule show", "show a schedule: settings, next runs, live tasks, history", "NAME…", NULL,
        NULL, "schedule", {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"schedule set", "change a schedule", "NAME [COMMAND [ARG]…]",
        "What is not given stays as it is; none takes a setting back. Other times count from now "
        "on. Variables and labels are set among those that it has; KEY= with nothing removes one. "
        "A command after \"--\" replaces the old one.",
        "reeve schedule set backup --crontab '0 4 * * *'\tlater, in the same zone\n"
        "reeve schedule set backup --end 2027-12-31T00:00:00Z --timeout 2h\tuntil then\n",
        "schedule",
        {cron_options, schedule_options, schedule_set_options, task_options, process_options,
            output_options},
        GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_set},
    {"schedule pause", "submit nothing more", "NAME…",
        "What was submitted goes on. The ticks of the pause are recorded as skipped.",
        "reeve schedule pause backup --reason 'the disk is being replaced' --until 2d\tresumes by "
        "itself\n",
        "schedule", {schedule_pause_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG,
        noun_pause},
    {"schedule resume", "go on with the next tick", "NAME…", NULL, NULL, "schedule",
        {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_resume},
    {"schedule rm", "delete a schedule", "NAME…",
        "Its history goes with it: on a terminal you are asked first. Its tasks stay.", NULL,
        "schedule", {yes_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_rm},
    {"schedule run", "submit a schedule's task now", "NAME…",
        "Beside its ticks: none is skipped or moved for it. Prints the task's id; @last is then "
        "that one.",
        "reeve schedule run backup && reeve logs -f @last\twatch it\n", "schedule",
        {output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_run},
    {"schedule backfill", "submit the tasks of ticks that have gone by without one", "NAME",
        "A tick that has a task gets no second one: it may be repeated. A TIME is RFC 3339, epoch "
        "seconds, or so long ago (2d).",
        "reeve schedule backfill backup --from 2d --dry-run\twhich would that be?\n", "schedule",
        {schedule_backfill_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_schedule_backfill},
    {"schedule history", "list what became of a schedule's ticks, newest first", "NAME",
        "A skipped stretch, of which nothing ran, is one line. LATE is how long after its time a "
        "tick was dealt with.",
        "reeve schedule history backup -n 5\tthe last five\n", "schedule", {list_options},
        GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_schedule_history},
    {"worker ls", "list workers, and say why one gets no tasks", NULL,
        "LINK says whether the worker is connected, SEEN when it was last heard, CHECK when it "
        "last proved that it can start processes. Below the table stands for each that is not "
        "healthy why, and when it would be held to be lost.",
        "reeve worker ls --state unhealthy,must_die\tonly those in trouble\n", NULL,
        {list_options, worker_ls_options}, GROUP_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"worker show", "show a worker", "NAME…", NULL, NULL, "worker", {output_options}, GROUP_OBJECTS,
        COMMAND_NEEDS_ARG, noun_show},
    {"worker set", "change how many tasks a worker runs", "NAME…", NULL,
        "reeve worker set w1 --maxthreads 0\tlet it run dry\n"
        "reeve worker set w1 --maxthreads worker\tback to its own setting\n",
        "worker", {worker_set_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_set},
    {"worker stop", "tell a worker to end its tasks and exit", "NAME…",
        "As if it got SIGTERM: its tasks are ended, and retried if they have attempts left. To let "
        "them finish first: `reeve worker set NAME --maxthreads 0`. On a terminal you are asked "
        "first when it has tasks.",
        NULL, "worker", {yes_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_worker_stop},
    {"worker restart", "tell a worker to end its tasks and begin anew", "NAME…",
        "It comes back as a new instance of the same name. Its tasks are ended, and retried if "
        "they "
        "have attempts left. On a terminal you are asked first when it has tasks.",
        NULL, "worker", {yes_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_worker_restart},
    {"worker rm", "forget a worker that is not connected", "NAME…",
        "With volatile dispatch only a worker that is lost is forgotten: one that is away may run "
        "what nobody knows of. Wait until it is lost (reeve worker ls counts down).\n"
        "--lost does not wait. Use it only when the machine is certainly off: if it may still be "
        "running, its tasks may run a second time while it does. Should the worker come back all "
        "the same, it is told to die, until it must have ended by itself.",
        "reeve worker rm w7\tit is lost, or was only ever a name\n"
        "reeve worker rm --lost w7\tits machine is off: do not wait\n",
        "worker", {worker_rm_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_rm},
    {"token create", "make a token for a program or a person", "NAME",
        "Prints the token, once; the server keeps a hash of it only. A role may do what the ones "
        "before it may: read (see tasks, queues, schedules, workers and events, but no output, "
        "commands or parameters), logs (those, too), submit, operate (cancel, retry, hold, pause, "
        "schedules, workers), admin (everything). With --queue or --label it sees and does only "
        "what concerns these. --join makes one for workers instead.",
        "reeve token create ci --role submit --queue builds --expires 30d\tfor a build machine\n"
        "reeve token create rack7 --join --once --zone rack7\tfor one new worker there\n",
        NULL, {token_options, output_options}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, cmd_token_create},
    {"token ls", "list tokens", NULL, "What they allow, and until when; never their secrets.", NULL,
        NULL, {list_options}, GROUP_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"token revoke", "revoke a token", "NAME…",
        "It is not a good one from then on; whoever still uses it is cut off.", NULL, "token",
        {NULL}, GROUP_OBJECTS, COMMAND_NEEDS_ARG, noun_rm},
    {"audit verify", "check that the audit trail is as it was written", NULL,
        "Each event that is kept holds a hash of what it says and of the hash before it. Names the "
        "first one that was changed, is missing or was added, and exits 1; prints the head, the "
        "number and hash of the last event. Whoever can write the database can also write all "
        "hashes anew: keep the head elsewhere, and compare it with --expect. Needs a token with "
        "the role admin; with --store no server, but its file, which none may be using.",
        "reeve audit verify\tby the server\n"
        "reeve audit verify --expect 12:6f…\tand the head that was kept is still there\n"
        "reeve audit verify --store sqlite:/backup/reeve.db\ta backup\n",
        NULL, {audit_options, output_options}, GROUP_OBJECTS, COMMAND_NO_ARGS, cmd_audit_verify},
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
        NULL, {cron_options, cron_next_options}, GROUP_TOOLS, COMMAND_NO_ARGS | COMMAND_EPOCH,
        cmd_cron_next},
    {"cron check", "explain a schedule in words", NULL,
        "What it means, its JSON form, the next five runs, and what daylight saving does to it "
        "this "
        "year and the next. Needs no server.",
        "reeve cron check --crontab '0 9 13 * Fri' --tz local\tnot what many think\n", NULL,
        {cron_options, cron_check_options, output_options}, GROUP_TOOLS, COMMAND_NO_ARGS,
        cmd_cron_check},
    {"cron explain", "say what daylight saving does to a schedule in a year", NULL,
        "Each time that does not exist or happens twice, and when it runs instead. Needs no "
        "server.",
        "reeve cron explain --crontab '30 2 * * *' --tz Europe/Berlin --year 2027\twhat happens to "
        "02:30\n",
        NULL, {cron_options, cron_explain_options, output_options}, GROUP_TOOLS, COMMAND_NO_ARGS,
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
        "file", {cron_options, cron_play_options, output_options}, GROUP_TOOLS, COMMAND_NEEDS_ARG,
        cmd_cron_play},
    {"cron import", "translate a crontab into schedules", "CRONTAB",
        "Prints each line's schedule with its zone, command, variables, and notes about what "
        "differs "
        "from cron. Lines that can not be translated are told with their number, the others are "
        "printed all the same; the exit code is then 2, or 1 when all that was wrong are dates "
        "that "
        "never come. - reads standard input. Needs no server.",
        "crontab -l | reeve cron import -\tyour own\n"
        "reeve cron import --system /etc/crontab -o jsonl\tthe machine's, a line each\n",
        "file", {cron_import_options, output_options}, GROUP_TOOLS, COMMAND_NEEDS_ARG,
        cmd_cron_import},
    {"doctor", "look for what is wrong, and say how to mend it", NULL,
        "Exits 1 when something is wrong; warnings alone exit 0.", NULL, NULL, {output_options},
        GROUP_TOOLS, COMMAND_NO_ARGS | COMMAND_ANYHOW, cmd_doctor},
    {"completion", "print the completions for a shell", "bash|zsh|fish", NULL,
        "source <(reeve completion bash)\tfor this bash\n"
        "reeve completion zsh >~/.zfunc/_reeve\tfor every zsh\n"
        "reeve completion fish >~/.config/fish/completions/reeve.fish\tfor every fish\n",
        "shell", {NULL}, GROUP_TOOLS, COMMAND_NEEDS_ARG, cmd_completion},
    {"version", "show the version, here and on the server", NULL, NULL, NULL, NULL,
        {output_options}, GROUP_TOOLS, COMMAND_NO_ARGS | COMMAND_ANYHOW, cmd_version},
    {"help", "explain a command", "[COMMAND]", NULL, NULL, "help", {NULL}, GROUP_TOOLS, 0,
        cmd_help},
    {"gen man", "write the man pages into a directory", "DIR", NULL, NULL, "directory", {NULL},
        GROUP_TOOLS, COMMAND_HIDDEN | COMMAND_NEEDS_ARG, cmd_gen_man},
    {"__complete", "candidates for completions", "KIND|line WORD…", NULL, NULL, NULL, {NULL},
        GROUP_TOOLS, COMMAND_HIDDEN | COMMAND_ARGV | COMMAND_NEEDS_ARG, cmd_complete},
};

const size_t n_client_commands = sizeof client_commands / sizeof client_commands[0];
