/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about workers. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "model/objects/worker.h"

static const struct option_def worker_set_options[] = {
    {"maxthreads", 't', "N", "run at most so many tasks; none: no limit; worker: its own setting"},
    {NULL},
};

static const struct option_def worker_ls_options[] = {
    {"state", 0, "STATE", "in this state, or drained; several with commas", NULL, OPTION_REPEAT,
        "worker-state"},
    {NULL},
};

static const struct option_def worker_rm_options[] = {
    {"lost", 0, NULL,
        "it is not lost yet, but its machine is certainly off: retry or orphan its tasks"},
    {NULL},
};

static const struct option_def worker_drain_options[] = {
    {"reason", 0, "TEXT", "why; `worker ls`, `worker show` and `why` show it"},
    {"timeout", 0, "TIME", "then what is still there is ended, with that reason; none: never"},
    {"wait", 'w', NULL, "return when it runs nothing more"},
    {NULL},
};

static const struct completion worker_completions[] = {
    {"worker-state", .names = worker_shown_names, .n_names = N_WORKER_ASKED},
    {NULL},
};

static const struct command worker_rows[] = {
    {"worker ls", "list workers, oldest first, and say why one gets no tasks", NULL,
        "LINK says whether the worker is connected, SEEN when it was last heard, CHECK when it "
        "last proved that it can start processes. Below the table stands for each that is not "
        "healthy why, and when it would be held to be lost. One that said goodbye and had nothing "
        "to "
        "do is `left`.",
        "reeve worker ls --state unhealthy,lost\tonly those in trouble\n", NULL,
        {LIST_OPTIONS, worker_ls_options}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"worker show", "show a worker", "NAME…", NULL, NULL, "worker", {output_options},
        CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_show},
    {"worker set", "change how many tasks a worker runs", "NAME…", NULL,
        "reeve worker set w1 --maxthreads 0\tlet it run dry\n"
        "reeve worker set w1 --maxthreads worker\tback to its own setting\n",
        "worker", {worker_set_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        noun_set},
    {"worker stop", "tell a worker to end its tasks and exit", "NAME…",
        "As if it got SIGTERM: its tasks are ended, and retried if they have attempts left. To let "
        "them finish first: `reeve worker drain --wait NAME`. On a terminal you are asked "
        "first when it has tasks.",
        NULL, "worker", {yes_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_worker_stop},
    {"worker restart", "tell a worker to end its tasks and begin anew", "NAME…",
        "It comes back as a new instance of the same name. Its tasks are ended, and retried if "
        "they "
        "have attempts left. On a terminal you are asked first when it has tasks.",
        NULL, "worker", {yes_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_worker_restart},
    {"worker drain", "give a worker no more tasks; what it runs goes on", "NAME…",
        "It stays so, also over restarts of the worker and the server, until `reeve worker undrain "
        "NAME`. Instances of services are kept until their replacement on another worker is "
        "ready; which of them cannot move is said, and why. With --wait the command returns when "
        "the worker has no task left, and says on "
        "standard error how many there still are. If it is interrupted, the worker stays drained.",
        "reeve worker drain w1 --reason 'new disk' --wait\tbefore its machine goes down\n",
        "worker", {worker_drain_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_worker_drain},
    {"worker undrain", "give a drained worker tasks again", "NAME…", NULL, NULL, "worker",
        {output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, cmd_worker_undrain},
    {"worker rm", "forget a worker that is not connected", "NAME…",
        "With volatile dispatch only a worker that is lost is forgotten: one that is away may run "
        "what nobody knows of. Wait until it is lost (reeve worker ls counts down).\n"
        "--lost does not wait. Use it only when the machine is certainly off: if it may still be "
        "running, its tasks may run a second time while it does. Should the worker come back all "
        "the same, it is told to die, until it must have ended by itself.",
        "reeve worker rm w7\tit is lost, or was only ever a name\n"
        "reeve worker rm --lost w7\tits machine is off: do not wait\n",
        "worker", {worker_rm_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_rm},
};

const struct command_table worker_commands = {worker_rows, N_OF(worker_rows), worker_completions};
