/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of commands is made of the nouns' own ones, in the order in which help lists them. A
 * further noun is one of these, and one of the objects that tasks and events are asked by.
 */
#include "cli/frame/cmds.h"
#include "cli/group/group.h"
#include "cli/nouns/graphs.h"
#include "cli/nouns/noun.h"
#include "cli/routes/routes.h"
#include "cli/schedule/schedules.h"
#include "cli/service/service.h"
#include "cli/service/services.h"

const char *const chapter_names[N_CHAPTERS] = {
    [CHAPTER_DAILY] = "Work",
    [CHAPTER_OBJECTS] = "Tasks, batches, queues, schedules, workers, tokens",
    [CHAPTER_SERVICES] = "Services",
    [CHAPTER_TOOLS] = "Tools",
};

const char *const filter_objects[] = {"queue", "worker", "schedule", "service", NULL};

const struct option_def filter_options[] = {
    {"state", 0, "STATE", "in this state; several with commas", NULL, OPTION_REPEAT, "state"},
    {"queue", 0, "NAME", "in this queue", NULL, 0, "queue"},
    {"label", 'l', "KEY=VALUE", "with this label", NULL, OPTION_REPEAT},
    {"batch", 0, "BATCH", "of this batch: its id, its name or @last", NULL, 0, "batch"},
    {"group", 0, "GROUP", "jobs of this group: its id, its name or @last", NULL, 0, "group"},
    {"worker", 0, "NAME", "on this worker", NULL, 0, "worker"},
    {"schedule", 0, "NAME", "submitted by this schedule", NULL, 0, "schedule"},
    {"service", 0, "NAME", "starts of this service's instances", NULL, 0, "service"},
    {"name", 0, "NAME", "of this name"},
    {"search", 0, "WORDS",
        "with these words in name, labels, command or parameters; bui* begins one"},
    {"since", 0, "TIME", "submitted after this time, or this long ago"},
    {"until", 0, "TIME", "submitted before this time, or this long ago"},
    {NULL},
};

const struct option_def filter_of_options[] = {
    {"batch", 0, "ID", "of all tasks of this batch (@last: the last one)", NULL, 0, "batch"},
    {"queue", 0, "NAME", "of the tasks in this queue", NULL, 0, "queue"},
    {"state", 0, "STATE", "of tasks in this state; several with commas", NULL, OPTION_REPEAT,
        "state"},
    {"label", 'l', "KEY=VALUE", "of tasks with this label", NULL, OPTION_REPEAT},
    {"group", 0, "GROUP", "of the jobs of this group: its id, its name or @last", NULL, 0, "group"},
    {"worker", 0, "NAME", "of tasks on this worker", NULL, 0, "worker"},
    {"schedule", 0, "NAME", "of tasks that this schedule submitted", NULL, 0, "schedule"},
    {"service", 0, "NAME", "of the instances of this service", NULL, 0, "service"},
    {"name", 0, "NAME", "of tasks of this name"},
    {"search", 0, "WORDS", "of tasks with these words, as in task ls"},
    {"until", 0, "TIME", "of tasks submitted before this time, or this long ago"},
    {NULL},
};

static const struct option_def events_options[] = {
    {"follow", 'f', NULL, "go on as they happen, until Ctrl-C"},
    {"kind", 'k', "KIND", "only these: task, task.failed, queue …", NULL, OPTION_REPEAT, "event"},
    {"queue", 0, "NAME", "of this queue", NULL, 0, "queue"},
    {"task", 0, "ID", "of this task"},
    {"batch", 0, "BATCH", "of this batch: its id, its name or @last", NULL, 0, "batch"},
    {"group", 0, "GROUP", "of this group: its id, its name or @last", NULL, 0, "group"},
    {"worker", 0, "NAME", "of this worker", NULL, 0, "worker"},
    {"schedule", 0, "NAME", "of this schedule", NULL, 0, "schedule"},
    {"service", 0, "NAME", "of this service", NULL, 0, "service"},
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
    {NULL},
};

static const struct command daily_rows[] = {
    {"status", "show how the server and its work stand", NULL, NULL, NULL, NULL, {LIST_OPTIONS},
        CHAPTER_DAILY, COMMAND_NO_ARGS, cmd_status},
    {"top", "watch queues, services, workers and running tasks live", NULL,
        "Full-screen on a terminal, one picture otherwise. Busy queues, services and workers in "
        "trouble and the tasks that have run longest come first. Keys: Tab goes to the next list, "
        "which gets the "
        "most "
        "room; arrows, PgUp, PgDn, g and G scroll it, s sorts it another way; / filters all lists "
        "by "
        "a text, Esc clears that; p pauses; q or Ctrl-C leaves. When the server is away, the last "
        "picture stays, and it goes on when the server is back.",
        NULL, NULL, {top_options, output_options}, CHAPTER_DAILY, COMMAND_NO_ARGS, cmd_top},
    {"events", "list what happened, or follow it", NULL,
        "After a broken connection it goes on where it stopped.",
        "reeve events -f --kind task.failed\tfailures as they happen\n"
        "reeve events -f -o jsonl\tfor programs\n",
        NULL, {events_options, output_options}, CHAPTER_DAILY, COMMAND_NO_ARGS, cmd_events},
};

static const struct command audit_rows[] = {
    {"audit verify", "check that the audit trail is as it was written", NULL,
        "Each event that is kept holds a hash of what it says and of the hash before it. Names the "
        "first one that was changed, is missing or was added, and exits 1; prints the head, the "
        "number and hash of the last event. Whoever can write the database can also write all "
        "hashes anew: keep the head elsewhere, and compare it with --expect. Needs a token with "
        "the role admin; with --store no server, but its file, which none may be using.",
        "reeve audit verify\tby the server\n"
        "reeve audit verify --expect 12:6f…\tand the head that was kept is still there\n"
        "reeve audit verify --store sqlite:/backup/reeve.db\ta backup\n",
        NULL, {audit_options, output_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, cmd_audit_verify},
};

static const struct command tool_rows[] = {
    {"doctor", "look for what is wrong, and say how to mend it", NULL,
        "Exits 1 when something is wrong; warnings alone exit 0.", NULL, NULL, {output_options},
        CHAPTER_TOOLS, COMMAND_NO_ARGS | COMMAND_ANYHOW, cmd_doctor},
    {"completion", "print the completions for a shell", "bash|zsh|fish", NULL,
        "source <(reeve completion bash)\tfor this bash\n"
        "reeve completion zsh >~/.zfunc/_reeve\tfor every zsh\n"
        "reeve completion fish >~/.config/fish/completions/reeve.fish\tfor every fish\n",
        "shell", {NULL}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG, cmd_completion},
    {"version", "show the version, here and on the server", NULL, NULL, NULL, NULL,
        {output_options}, CHAPTER_TOOLS, COMMAND_NO_ARGS | COMMAND_ANYHOW, cmd_version},
    {"help", "explain a command", "[COMMAND]", NULL, NULL, "help", {NULL}, CHAPTER_TOOLS, 0,
        cmd_help},
    {"gen man", "write the man pages into a directory", "DIR", NULL, NULL, "directory", {NULL},
        CHAPTER_TOOLS, COMMAND_HIDDEN | COMMAND_NEEDS_ARG, cmd_gen_man},
    {"__complete", "candidates for completions", "KIND|line WORD…", NULL, NULL, NULL, {NULL},
        CHAPTER_TOOLS, COMMAND_HIDDEN | COMMAND_ARGV | COMMAND_NEEDS_ARG, cmd_complete},
};

static const struct completion tool_completions[] = {
    {"shell", {"bash", "zsh", "fish"}},
    {"event", {"access.refused", "server"}},
    {NULL},
};

static const struct command_table daily = {daily_rows, N_OF(daily_rows)},
                                  audit = {audit_rows, N_OF(audit_rows)},
                                  tools = {tool_rows, N_OF(tool_rows), tool_completions};

const struct command_table *const client_tables[] = {&work_commands, &daily, &task_commands,
    &batch_commands, &queue_commands, &schedule_commands, &worker_commands, &token_commands, &audit,
    &cron_commands, &group_commands, &graph_commands, &desired_commands, &service_commands,
    &domain_commands, &routes_commands, &tools, NULL};
