/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about tasks: those of every day, and `task`. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "cli/tasks/work.h"

static const struct option_def submit_options[] = {
    {"array", 'a', "ITEMS",
        "one task per item: - for lines of standard input, or FROM-TO[:STEP], with commas; %N "
        "after "
        "it: at most N of them at once"},
    {"ndjson", 0, "FILE", "tasks as JSON, one a line; - for standard input", NULL, 0, "file"},
    {"atomic", 0, NULL, "take all lines or none (up to 100,000)"},
    {"stdin", 0, "FILE",
        "the command's standard input, of at most 1 GiB (server.limits.input); - for ours", NULL, 0,
        "file"},
    {"batch", 0, "BATCH", "join this batch: its id, its name or @last", NULL, 0, "batch"},
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
    {"follow", 'f', NULL, "go on as it is written, until the tasks end"},
    {"stdout", 0, NULL, "only what it wrote to its standard output"},
    {"stderr", 0, NULL, "only what it wrote to its standard error"},
    {"attempt", 0, "N", "of this attempt; -1: of the one before the last"},
    {"tail", 'n', "N", "only the last N lines of each stream, and what comes after them"},
    {"since", 0, "TIME", "only of tasks that have run since this time, or so long ago"},
    {"prefix", 0, NULL, "each line with its task before it, as with several; --no-prefix: never"},
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

#define JOB_NOTE "A job of a group is named as GROUP/JOB."
#define FILTERS_NOTE                                                                            \
	"Name tasks by id (24 hexadecimal digits), a batch by its id or name (which means all " \
	"of its tasks), by @last what you submitted last; or give filters: everything that "    \
	"matches is taken, on the server, in one go. On a terminal you are asked first when "   \
	"there is more than one."

static const struct command work_rows[] = {
    {"run", "submit a command, follow its output, exit as it does", "[COMMAND [ARG]…]",
        "Standard output and standard error stay apart. Ctrl-C cancels the task and waits for its "
        "end; a second Ctrl-C leaves at once. When the server restarts meanwhile, nothing is lost: "
        "the output goes on where it stopped.\n"
        "Standard input is forwarded as it comes, at most 1 GiB of it (server.limits.input). A "
        "terminal is not read. In a loop that reads lines, say </dev/null.\n"
        "On this machine it runs in your directory; on another one in /, or where -C says.\n"
        "The first word that is not an option begins the command; \"--\" before it is allowed.",
        "reeve run make test\trun it on some worker, as if it ran here\n"
        "echo 1 2 | reeve run wc -w\tits standard input is ours, as it comes\n"
        "reeve run --queue builds --timeout 10m -- ./build.sh --all\twith limits\n",
        "command", {run_options, task_options, once_options, process_options}, CHAPTER_DAILY,
        COMMAND_ARGV | COMMAND_MIRRORS, cmd_run},
    {"submit", "submit one task or very many", "[COMMAND [ARG]…]",
        "Prints the task's id; with --array or --ndjson that of the batch, which every command "
        "takes that takes a task: B=$(reeve submit --array 1-3 -- sleep {}); reeve wait $B.\n"
        "With --array, {} stands for the item in the command, --key, --cwd, --env and --label; a "
        "command without {} gets the item as its last argument. $" ARRAY_INDEX
        " is the number of the item: its own, or that of its line. Long streams are split into "
        "requests of 50,000 tasks which belong to one batch. A repeated request never submits "
        "twice.\n"
        "With - for the command, standard input is a script (\"reeve submit - <job.sh\"), run by "
        "what its first line names, or by sh, of at most 120,000 bytes; words after the - are its "
        "arguments. Lines that begin with #REEVE, before the first command, hold options; those "
        "given here win, and the server and the token are named only here. Shells, Python, Perl, "
        "Ruby and Node get the script as an argument; "
        "others read it from standard input, and have none of their own.\n"
        "On this machine tasks run in your directory; on another one in /, or where -C says.\n"
        "--array 1-9%4 runs at most 4 of these tasks at once, in any queue. --limit N uses a queue "
        "with N threads, for all tasks in it: the one of --queue, or else \"limit-N\"; it is made "
        "when it is missing.",
        "reeve submit -- ./backup.sh /home\tone task\n"
        "seq 100 | reeve submit --array -%8 --wait -- ./convert {}\ta hundred, eight at a "
        "time, with progress\n"
        "reeve submit --array 0-90:10,200 -- ./render --from {}\ta range and one more\n"
        "reeve submit --array 1-9 --name nightly -- ./convert\ta batch with a name\n"
        "reeve submit --ndjson tasks.jsonl\tready-made tasks\n",
        "command", {submit_options, task_options, once_options, process_options, output_options},
        CHAPTER_DAILY, COMMAND_ARGV, cmd_submit},
    {"wait", "wait until tasks have ended, exit as they did", "[ID]…",
        "With one task the exit code is that of its command; with several, or a batch, it is 0 "
        "when all succeeded, else 1.",
        "reeve wait @last\twhat was submitted last\n"
        "reeve wait --queue nightly --timeout 1h\teverything in a queue\n",
        "task", {wait_options, filter_options}, CHAPTER_DAILY, COMMAND_MIRRORS, cmd_wait},
    {"logs", "show what tasks wrote", "[ID]…",
        "Of several tasks, each line has its task before it, as in \"[ID] text\". They are shown "
        "one after the other, oldest first; with --follow at the same time, 32 at most, and the "
        "next one when one ends. Output is kept without times: --since chooses tasks, not lines. "
        "Of a service, the lines have NAME/INDEX before them; with --follow its starts that are "
        "not over are shown, and those that come later, until Ctrl-C.",
        "reeve logs -f @last\tfollow it live\n"
        "reeve logs --stderr ID\tonly its errors\n"
        "reeve logs -f -n 5 --batch @last\tall of a batch, from its last lines on\n"
        "reeve logs --queue builds --state failed --since 1h\twhat went wrong lately\n"
        "reeve logs -f --service web\tall instances, also those that start later\n",
        "work", {logs_options, filter_of_options}, CHAPTER_DAILY, 0, cmd_logs},
    {"why", "say everything that a task waits for, and what would lift it", "ID",
        "Of a batch: the first of its tasks that waits; of a group: the jobs that others wait for. "
        "A service by its name, an instance by NAME/INDEX.",
        "reeve why @last\twhy does it not run yet?\n"
        "reeve why web/3\twhy does that instance not run?\n",
        "work", {output_options}, CHAPTER_DAILY, COMMAND_NEEDS_ARG, cmd_why},
    {"cancel", "cancel tasks; running ones are killed", "[ID]…", FILTERS_NOTE,
        "reeve cancel @last\tstop it\n"
        "reeve cancel --queue builds --state queued\teverything that waits there\n",
        "task", {act_options, filter_options, output_options}, CHAPTER_DAILY, 0, cmd_cancel},
    {"retry", "run ended tasks again", "[ID]…",
        "They are queued with all of their attempts; numbers go on.\n" FILTERS_NOTE,
        "reeve retry --failed @last\twhat failed in the last batch\n"
        "reeve retry --state orphaned --since 1d --dry-run\tcount first\n",
        "task", {act_options, retry_options, filter_options, output_options}, CHAPTER_DAILY, 0,
        cmd_retry},
};

const struct command_table work_commands = {work_rows, N_OF(work_rows)};

static const struct command task_rows[] = {
    {"task ls", "list tasks, newest first", NULL, NULL,
        "reeve task ls --failed --since 1h\twhat went wrong lately\n"
        "reeve task ls --batch @last -o wide\twhat was submitted last\n"
        "reeve task ls --queue builds --watch\tlive\n",
        NULL, {LIST_OPTIONS, filter_options, task_ls_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS,
        noun_ls},
    {"task show", "show a task with its attempts and output", "ID…", JOB_NOTE, NULL, "task",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"task history", "show every state of a task: when, why, and by whom", "ID", JOB_NOTE,
        "reeve task history @last\tsubmitted by whom, started when, ended how\n", "task",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_task_history},
    {"task hold", "keep tasks that wait from starting", "[ID]…", FILTERS_NOTE, NULL, "task",
        {act_options, filter_options, output_options}, CHAPTER_OBJECTS, 0, cmd_task_hold},
    {"task release", "let held tasks start", "[ID]…", FILTERS_NOTE, NULL, "task",
        {act_options, filter_options, output_options}, CHAPTER_OBJECTS, 0, cmd_task_release},
    {"task set", "change a task's priority", "ID…", JOB_NOTE,
        "reeve task set @last --priority 10\tbefore the others\n", "task",
        {task_set_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_task_set},
};

const struct command_table task_commands = {task_rows, N_OF(task_rows)};
