/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about queues. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "model/objects/queue.h"

static const struct option_def queue_options[] = {
    {"plugin", 0, "NAME", "what runs its tasks (default: command)"},
    {"threads", 't', "N", "at most so many at once, over all workers; none: no limit"},
    {"order", 0, "ORDER", "fifo, lifo or priority", NULL, 0, "order"},
    {"need", 0, "LIST",
        "what its tasks need of a worker, as memory=8G,cpu=2,gpu=1,label.zone=a; none: nothing"},
    {"placement", 0, "WAY", "spread tasks over the workers that fit, or pack them", NULL, 0,
        "placement"},
    {"timeout", 0, "TIME", "for tasks that do not say themselves; none: no limit"},
    {"max-attempts", 0, "N", "for tasks that do not say themselves"},
    {"backoff", 0, "TIME", "for tasks that do not say themselves"},
    {"backoff-max", 0, "TIME", "for tasks that do not say themselves"},
    {"exit-codes", 0, NULL, "exit codes 99, 100 and 111 mean skip, permanent, temporary"},
    {"env", 'e', "KEY=VALUE", "a variable for every task", NULL, OPTION_REPEAT},
    {"output-mode", 0, "MODE",
        "keep output auto, in chunks, or inline: in the task itself, at most 16 MiB of a stream",
        NULL, 0, "output-mode"},
    {"output-max", 0, "SIZE", "keep so much of a task's output, as 32M"},
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

static const struct completion queue_completions[] = {
    {"order", .names = queue_order_names, .n_names = N_ORDERS},
    {"placement", .names = queue_placement_names, .n_names = N_PLACEMENTS},
    {"output-mode", .names = output_mode_names, .n_names = N_OUTPUT_MODES},
    {NULL},
};

static const struct command queue_rows[] = {
    {"queue ls", "list queues, oldest first", NULL, NULL, NULL, NULL, {list_options}, GROUP_OBJECTS,
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
};

const struct command_table queue_commands = {queue_rows, N_OF(queue_rows), queue_completions};
