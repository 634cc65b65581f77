/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about queues. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "model/objects/queue.h"

/* What is not said here is said of the members: queue_fields. */
static const struct option_def queue_options[] = {
    {"plugin", 0, "NAME"},
    {"threads", 't', "N", "at most so many at once, over all workers; none: no limit"},
    {"order", 0, "ORDER"},
    {"need", 0, "LIST",
        "what its tasks need of a worker, as memory=8G,cpu=2,gpu=1,label.zone=a; none: nothing"},
    {"placement", 0, "WAY"},
    {"timeout", 0, "TIME", "for tasks that do not say themselves; none: no limit"},
    {"max-attempts", 0, "N"},
    {"backoff", 0, "TIME"},
    {"backoff-max", 0, "TIME"},
    {"exit-codes"},
    {"env", 'e', "KEY=VALUE", "a variable for every task", NULL, OPTION_REPEAT},
    {"output-mode", 0, "MODE"},
    {"output-max", 0, "SIZE"},
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

static const struct command queue_rows[] = {
    {"queue ls", "list queues, oldest first", NULL, NULL, NULL, NULL, {LIST_OPTIONS},
        CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"queue show", "show a queue's settings and counts", "NAME…", NULL, NULL, "queue",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"queue create", "make a queue", "NAME", NULL,
        "reeve queue create builds --threads 4\tfour at a time\n"
        "reeve queue create mail --plugin mailer --max-attempts 5 --backoff 30s\tfor a plugin\n",
        NULL, {queue_options, process_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        noun_create, .fields = queue_fields},
    {"queue set", "change a queue's settings", "NAME",
        "Variables given with --env are set among those that it has; KEY= with nothing removes "
        "one. So are the settings of processes (--user to --result-file), where none takes one "
        "back; --run replaces them all, and --run none removes them.",
        "reeve queue set builds --threads 8\tmore at once\n"
        "reeve queue set builds --threads none\tas many as the workers take\n",
        "queue", {queue_options, queue_set_options, process_options, output_options},
        CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_set, .fields = queue_fields},
    {"queue pause", "start nothing more from a queue", "NAME…",
        "What runs goes on. Tasks may still be submitted.",
        "reeve queue pause builds --reason 'new compiler' --until 2h\tresumes by itself\n", "queue",
        {queue_pause_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_pause},
    {"queue resume", "start work from a paused queue again", "NAME…", NULL, NULL, "queue",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_resume},
    {"queue rm", "delete a queue", "NAME…",
        "Its ended tasks and their output go with it: on a terminal you are asked first. "
        "Refused while it holds live tasks, unless forced.",
        NULL, "queue", {queue_rm_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_queue_rm},
};

const struct command_table queue_commands = {queue_rows, N_OF(queue_rows)};
