/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about tasks: those of every day, and `task`. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"

static const struct option_def submit_options[] = {
    {"array", 'a', "ITEMS", "one task per item: - for lines of standard input, or FROM-TO[:STEP]"},
    {"ndjson", 0, "FILE", "tasks as JSON, one a line; - for standard input", NULL, 0, "file"},
    {"atomic", 0, NULL, "take all lines or none (up to 100,000)"},
    {"stdin", 0, "FILE", "the command's standard input, text of at most 256 KiB; - for ours", NULL,
        0, "file"},
    {"limit", 0, "N", "run at most N at once, through a queue that has this limit"},
    {"wait", 0, NULL, "wait until all have ended, with progress; the exit code says how"},
    {"wait-timeout", 0, "TIME", "with --wait: give up after this (exit code 124)"},
    {NULL},
};

static const struct option_def run_options[] = {
    {"stdin", 0, "FILE", "its standard input, in place of ours", NULL, 0, "file"},
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

#define FILTERS_NOTE                                                                              \
	"Name tasks by id (24 hexadecimal digits), by @last for what you submitted last, or by "  \
	"filters: everything that matches is taken, on the server, in one go. On a terminal you " \
	"are asked first when there is more than one."

static const struct command work_rows[] = {
    {"run", "submit a command, follow its output, exit as it does", "[COMMAND [ARG]…]",
        "Standard output and standard error stay apart. Ctrl-C cancels the task and waits for its "
        "end; a second Ctrl-C leaves at once. When the server restarts meanwhile, nothing is lost: "
        "the output goes on where it stopped.\n"
        "Standard input is read to its end before the task is submitted, and becomes a part of it: "
        "text of at most 256 KiB. A terminal is not read. In a loop that reads lines, say "
        "</dev/null.\n"
        "On this machine it runs in your directory; on another one in /, or where -C says.\n"
        "The first word that is not an option begins the command; \"--\" before it is allowed.",
        "reeve run make test\trun it on some worker, as if it ran here\n"
        "echo 1 2 | reeve run wc -w\tits standard input is ours\n"
        "reeve run --queue builds --timeout 10m -- ./build.sh --all\twith limits\n",
        "command", {run_options, task_options, once_options, process_options}, GROUP_DAILY,
        COMMAND_ARGV | COMMAND_MIRRORS, cmd_run},
    {"submit", "submit one task or very many", "[COMMAND [ARG]…]",
        "Prints the id, or the batch when there are several. With --array, {} stands for the item "
        "in the command, --key, --cwd, --env and --label; a command without {} gets the item as "
        "its last argument. Long streams are split into requests of 50,000 tasks which belong to "
        "one "
        "batch. A repeated request never submits twice.\n"
        "On this machine tasks run in your directory; on another one in /, or where -C says.\n"
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
};

const struct command_table work_commands = {work_rows, N_OF(work_rows)};

static const struct command task_rows[] = {
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
};

const struct command_table task_commands = {task_rows, N_OF(task_rows)};
