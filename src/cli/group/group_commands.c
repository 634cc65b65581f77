/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of groups. Planning needs no server. */
#include "cli/group/group.h"
#include "cli/nouns/noun.h"
#include "cli/output/output.h"
#include "model/objects/group.h"

static const struct option_def plan_options[] = {
    {"touched", 0, "NAMES",
        "these packages have changed, in place of those that FILE names; with commas", NULL,
        OPTION_REPEAT},
    {"rounds", 0, "N", "build cycles so many times (default: what FILE says, or 3)"},
    {"workers", 0, "N", "tell the time with so many workers; with commas (default: 4,8,16,32,64)",
        NULL, OPTION_REPEAT},
    {"output", 'o', "FORMAT", "table, wide, json, jsonl, yaml, dot or svg", "REEVE_OUTPUT", 0,
        "plan-format"},
    {NULL},
};

static const struct option_def submit_options[] = {
    {"name", 0, "NAME", "of the group, in place of the file's (default: its id)"},
    {"policy", 0, "POLICY", "when a job has failed: best-effort, fail-fast or fail-now", NULL, 0,
        "group-policy"},
    {"queue", 0, "NAME", "for jobs that name none (default: \"default\")", "REEVE_QUEUE", 0,
        "queue"},
    {"series", 0, "NAME", "of groups that build the same: they tell it how long jobs take"},
    {"reuse", 0, NULL, "what the series has built from the same before is taken as it is"},
    {"cwd", 'C', "DIR", "for jobs that name none, on whatever machine; . is this one", NULL, 0,
        "directory"},
    {"wait", 0, NULL, "wait until it has ended, with progress; the exit code says how"},
    {"wait-timeout", 0, "TIME", "with --wait: give up after this (exit code 124)"},
    {"watch", 'w', NULL, "watch it until it has ended; the exit code says how"},
    {NULL},
};

static const struct option_def trigger_options[] = {
    {"graph", 0, "NAME", "the kept graph (reeve graph ls)", NULL, 0, "graph"},
    {"touched", 0, "NAMES", "these packages have changed; with commas (default: everything)", NULL,
        OPTION_REPEAT},
    {"unbuildable", 0, "NAMES", "these cannot be built, with all that depends on them", NULL,
        OPTION_REPEAT},
    {"rounds", 0, "N", "build cycles so many times (default: 3)"},
    {"name", 0, "NAME", "of the group (default: its id)"},
    {"policy", 0, "POLICY", "when a job has failed: best-effort, fail-fast or fail-now", NULL, 0,
        "group-policy"},
    {"series", 0, "NAME", "of groups that build the same (default: the graph's name)"},
    {"reuse", 0, NULL, "what the series has built from the same before is taken as it is"},
    {"wait", 0, NULL, "wait until it has ended, with progress; the exit code says how"},
    {"wait-timeout", 0, "TIME", "with --wait: give up after this (exit code 124)"},
    {"watch", 'w', NULL, "watch it until it has ended; the exit code says how"},
    {NULL},
};

static const struct option_def retry_options[] = {
    {"failed", 0, NULL, "what was not built, and all that needs it (default)"},
    {"from", 0, "JOB", "this job, and all that needs it, built or not"},
    {"name", 0, "NAME", "of the new group (default: its id)"},
    {"wait", 0, NULL, "wait until it has ended, with progress; the exit code says how"},
    {"wait-timeout", 0, "TIME", "with --wait: give up after this (exit code 124)"},
    {"watch", 'w', NULL, "watch it until it has ended; the exit code says how"},
    {NULL},
};

static const struct option_def ls_options[] = {
    {"state", 0, "STATE", "in this state; several with commas", NULL, OPTION_REPEAT, "group-state"},
    {"name", 0, "NAME", "whose name begins so"},
    {NULL},
};

static const struct option_def cancel_options[] = {
    {"reason", 0, "TEXT", "for the record"},
    {NULL},
};

static const struct option_def fail_options[] = {
    {"reason", 0, "TEXT", "why it cannot be built: it is the job's reason"},
    {NULL},
};

static const struct option_def graph_options[] = {
    {"output", 'o', "FORMAT", "dot (default), svg, json, jsonl or yaml", "REEVE_OUTPUT", 0,
        "graph-format"},
    {NULL},
};

static const struct option_def log_options[] = {
    {"follow", 'f', NULL, "go on as it is written, until the group ends"},
    {"stdout", 0, NULL, "only what they wrote to standard output"},
    {"stderr", 0, NULL, "only what they wrote to standard error"},
    {"attempt", 0, "N", "of this attempt; -1: of the one before the last"},
    {"tail", 'n', "N", "only the last N lines of each stream, and what comes after them"},
    {"since", 0, "TIME", "only of jobs that have run since this time, or so long ago"},
    {"prefix", 0, NULL, "each line with its job before it, as with several; --no-prefix: never"},
    {NULL},
};

static const struct completion group_completions[] = {
    {"plan-format", {"table", "wide", "json", "jsonl", "yaml", "dot", "svg"}},
    {"graph-format", {"dot", "svg", "json", "jsonl", "yaml"}},
    {"group-policy", .names = group_policy_names, .n_names = N_GROUP_POLICIES},
    {"group-state", {"triggered", "created", "queued", "dispatching", "complete", "failure-cleanup",
                        "failed", "canceling", "canceled"}},
    {NULL},
};

#define NAMED "A group is named by its id, its name or @last."

static const struct command group_rows[] = {
    {"group submit", "submit a group of jobs that need each other", "FILE",
        "FILE is JSON or YAML with jobs and what each needs, or packages and which have changed; - "
        "reads standard input. docs/GROUPS.md has the format. It is checked here first: an error "
        "says the line and the job, and nothing is sent. A group appears whole or not at all. Jobs "
        "that name no directory run in /, or where -C says.\n"
        "Prints the group's id, which every command takes that takes a task: G=$(reeve group "
        "submit "
        "jobs.yaml); reeve wait $G. Its jobs are tasks: `reeve task ls --group $G`.",
        "reeve group submit jobs.yaml\tprints its id\n"
        "reeve group submit jobs.yaml -C . --watch\tits jobs run here; and watches it\n"
        "reeve group submit jobs.yaml --name nightly --policy fail-fast --wait\tfor scripts\n",
        "file", {submit_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_group_submit},
    {"group trigger", "build what a change of packages leads to", "COMMAND [ARG]…",
        "A group of the packages of a kept graph that have changed, and of all that depends on "
        "them, in an order that holds; cycles are built in rounds. COMMAND builds one of them: in "
        "it "
        "{package} (core/gcc), {ident}, {round} and {job} stand for what is built, and its "
        "environment has REEVE_PACKAGE, REEVE_IDENT, REEVE_ROUND and REEVE_JOB. Prints the "
        "group's id. What cannot be built is left out, and told; with --wait and --watch it "
        "exits with 3 if that is a package of --touched.\n"
        "On this machine jobs run in your directory; on another one in /, or where -C says.",
        "reeve group trigger --graph core --touched core/gcc -- ./build {package}\twhat a new gcc "
        "leads to\n"
        "reeve group plan FILE --touched core/gcc\twhat that would be, without a server\n",
        "command", {trigger_options, task_options, process_options, output_options},
        CHAPTER_OBJECTS, COMMAND_ARGV, cmd_group_trigger},
    {"group ls", "list groups, newest first, and how far they are", NULL, NULL,
        "reeve group ls --state dispatching,queued\twhat is not over\n", NULL,
        {LIST_OPTIONS, ls_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"group show", "show how a group stands, what failed first", "GROUP…",
        NAMED " The time that is left is what the jobs would take that have not ended, with as "
              "many workers as it has had: a job takes what others of its name took (in other "
              "rounds, "
              "with other values), else what all of the group took. The confidence says how much "
              "of "
              "that was measured.",
        "reeve group show @last --watch\twhat was submitted last, live\n"
        "reeve group show nightly -o json\tfor programs\n",
        "group", {output_options, watch_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_group_show},
    {"group watch", "watch a group until it has ended, exit as it did", "GROUP",
        "On a terminal a tree: each job below the one that it waits for longest, the critical path "
        "marked, with the time that is left. Where not all jobs fit, those are shown that failed, "
        "run, or are next; arrows, PgUp, PgDn, g and G look at the whole tree. q or Ctrl-C "
        "leaves; the group goes on. Otherwise a line for each job "
        "that starts or ends; -o jsonl: what the server's stream says.\n"
        "Exits with 0 if the group is complete, else with 1; with 3 if it is complete without a "
        "package that was named as changed, because that cannot be built. " NAMED,
        "reeve group watch @last\twhat was submitted last\n"
        "reeve group watch nightly -o jsonl\tfor programs\n",
        "group", {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG | COMMAND_MIRRORS,
        cmd_group_watch},
    {"group why", "say what a group or one of its jobs waits for", "GROUP [JOB]", NAMED,
        "reeve group why @last\twhat does it wait for?\n"
        "reeve group why nightly deploy\tand its job deploy?\n",
        "group", {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_group_why},
    {"group cancel", "end what waits, and tell what runs", "GROUP…",
        "What waits ends at once. The group is canceled when the last worker has said so. " NAMED,
        "reeve group cancel nightly --reason 'wrong branch'\tstop it\n", "group",
        {cancel_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_group_cancel},
    {"group fail", "end one job as failed, for a reason", "GROUP JOB",
        "For what turns out not to be buildable while its group runs. What waits ends at once; "
        "what runs is told, and has failed when its worker has said so. What needs it is skipped, "
        "and the rest goes on by the group's policy. JOB is its name, its number or its task's "
        "id. " NAMED,
        "reeve group fail nightly core/php#1 --reason 'plan disconnected'\tit cannot be built\n",
        "group", {fail_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_group_fail},
    {"group retry", "make a new group of what is left of one that has ended", "GROUP",
        "What was built is not built again: those that need it are shown the same results. Prints "
        "the new group's id. " NAMED,
        "reeve group retry @last --watch\twhat failed, and what needs it\n"
        "reeve group retry nightly --from build\tbuild and all that needs it\n",
        "group", {retry_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_group_retry},
    {"group graph", "draw a group as it stands", "GROUP",
        "Text for Graphviz, without the needs that others imply; -o svg draws that with Graphviz, "
        "which must be installed. Each state has its colour, shape and word; the critical path of "
        "what is left has thick lines. -o json is the whole graph in a compact form: docs/API.md. "
        "" NAMED,
        "reeve group graph @last -o svg >group.svg\ta picture\n"
        "reeve group graph nightly | dot -Tpng >group.png\tanother one\n",
        "group", {graph_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG | COMMAND_DRAWS,
        cmd_group_graph},
    {"group log", "show what jobs of a group wrote", "GROUP [JOB]…",
        "Of several jobs, each line has its job before it, as in \"[build] text\". With --follow "
        "a job is shown from when it starts, 32 of them at the same time, until the group ends. "
        "" NAMED,
        "reeve group log -f @last\tall jobs, live\n"
        "reeve group log nightly build\tone of them\n",
        "group", {log_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_group_log},
    {"group rm", "delete a group that has ended", "GROUP…",
        "Its tasks stay until retention takes them.", NULL, "group", {NULL}, CHAPTER_OBJECTS,
        COMMAND_NEEDS_ARG, noun_rm},
    {"group plan", "show what a group would do, in which order, and how long it takes", "FILE",
        "FILE is JSON or YAML: either packages with what each needs and which have changed, or a "
        "ready-made DAG of jobs; - reads standard input. docs/GROUPS.md has the format of the file "
        "and of the answer. Needs no server, and starts nothing.\n"
        "Of packages: the changed ones are built with all that depends on them; cycles are built "
        "several times, in rounds. If nothing says what has changed, everything has.\n"
        "-o dot leaves out what other dependencies imply; -o svg draws that with Graphviz, which "
        "must be installed. A file that is not valid exits with 2 and says in which line; one "
        "that contradicts itself exits with 1.",
        "reeve group plan graph.json\tall packages\n"
        "reeve group plan graph.json --touched core/gcc -o json\twhat a new gcc leads to\n"
        "reeve group plan jobs.yaml --workers 2,8\thow long with two, and with eight\n"
        "reeve group plan jobs.yaml -o svg >jobs.svg\ta picture\n",
        "file", {plan_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG | COMMAND_DRAWS, cmd_group_plan},
};

const struct command_table group_commands = {group_rows, N_OF(group_rows), group_completions};
