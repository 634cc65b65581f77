/* SPDX-License-Identifier: Apache-2.0 */
/* The offline commands of services. None of them needs a server, and none starts anything. */
#include "cli/service/service.h"

static const struct option_def reconcile_options[] = {
    {"table", 0, NULL, "show the whole table, of every case"},
    {NULL},
};

static const struct command service_rows[] = {
    {"place", "show where instances and tasks would go, in which order, and why not", "FILE",
        "FILE is JSON or YAML: workers with what they offer and what runs there, work (instances "
        "of services, and tasks), and settings; - reads standard input. docs/SERVICES.md has the "
        "format of the file and of the answer. Needs no server, and starts nothing.\n"
        "Instances are spread: first over zones, then over workers without an instance of the "
        "same service, then by memory, disk and number of instances. What has no place says why. "
        "A file that is not valid exits with 2, and says in which line.",
        "reeve place cluster.yaml\twho goes where\n"
        "reeve place cluster.json -o json\twith scores and figures, for programs\n",
        "file", {output_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG, cmd_place},
    {"service converge", "show what one pass of convergence would do, and why", "FILE",
        "FILE is JSON or YAML: what time it is, desired services, domains, workers and the records "
        "of instances; - reads standard input. docs/SERVICES.md has the rules, and the format of "
        "the file and of the answer. Needs no server, and starts and stops nothing.",
        "reeve service converge cluster.yaml\twhat would be started, stopped, replaced\n"
        "reeve service converge cluster.yaml -o json\twith all records after the pass\n",
        "file", {output_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG, cmd_service_converge},
    {"service crash", "show what becomes of instances that crash, and when they start again",
        "FILE",
        "FILE is JSON or YAML: instances, what happens to them and when, and crash policies; - "
        "reads "
        "standard input. docs/SERVICES.md has the format of the file and of the answer. Needs no "
        "server, and starts nothing.",
        "reeve service crash story.yaml\twhat becomes of each\n", "file", {output_options},
        CHAPTER_TOOLS, COMMAND_NEEDS_ARG, cmd_service_crash},
    {"service reconcile", "show what a worker does with what it has, by what the records say",
        "[FILE]",
        "FILE is JSON or YAML: a worker, its containers and the records of instances; - reads "
        "standard input. docs/SERVICES.md has the format of the file and of the answer, and the "
        "whole table. Needs no server, and starts and stops nothing.",
        "reeve service reconcile worker.yaml\twhat it would do\n"
        "reeve service reconcile --table\tevery case that there is\n",
        "file", {reconcile_options, output_options}, CHAPTER_TOOLS, 0, cmd_service_reconcile},
    {"service rollout", "show what a deploy would do, step by step, and how long it takes", "FILE",
        "FILE is JSON or YAML: a service, its strategy, how its revisions behave, and what people "
        "say and when; - reads standard input. docs/SERVICES.md has the rules, and the format of "
        "the file and of the answer. Needs no server, and starts and stops nothing.",
        "reeve service rollout deploy.yaml\twho stops and starts, and how many are ready\n"
        "reeve service rollout deploy.yaml -o json\tall of it, for programs\n",
        "file", {output_options}, CHAPTER_TOOLS, COMMAND_NEEDS_ARG, cmd_service_rollout},
};

const struct command_table service_commands = {service_rows, N_OF(service_rows), NULL};
