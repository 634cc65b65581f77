/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about domains. */
#include "cli/service/services.h"
#include "model/objects/domain.h"

static const struct option_def domain_ls_options[] = {
    {"name", 0, "TEXT", "whose name begins with this"},
    {NULL},
};

static const struct option_def domain_set_options[] = {
    {"ttl", 0, "TIME", "fresh for so long after its owner has said so; none: for ever"},
    {"name", 0, "NAME", "rename it; services go on to name it as they do"},
    {NULL},
};

static const struct completion domain_completions[] = {
    {"event", {"domain", "domain.created", "domain.changed", "domain.deleted"}},
    {NULL},
};

static const struct command domain_rows[] = {
    {"domain ls", "list domains, and whether they are fresh", NULL, NULL, NULL, NULL,
        {LIST_OPTIONS, domain_ls_options}, CHAPTER_SERVICES, COMMAND_NO_ARGS, noun_ls},
    {"domain show", "show a domain", "NAME…", NULL, NULL, "domain", {output_options},
        CHAPTER_SERVICES, COMMAND_NEEDS_ARG, noun_show},
    {"domain set", "make a domain, or change it", "NAME",
        "A domain stands for whoever says which services are desired. While it is fresh, its owner "
        "says that the desired set is complete. Without that nothing of its services is ever "
        "stopped as surplus.",
        "reeve domain set apps --ttl 2m\tits owner says at least every two minutes that all is "
        "there\n"
        "reeve domain set apps --ttl none\tonce fresh, it stays so\n",
        "domain", {domain_set_options, output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG,
        cmd_domain_set, .fields = domain_fields},
    {"domain fresh", "say that a domain's desired services are complete", "NAME…",
        "From now on, for its time to live: instances that nobody wants are stopped.", NULL,
        "domain", {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_domain_fresh},
    {"domain stale", "say that nobody knows whether a domain's services are complete", "NAME…",
        "Nothing more is stopped as surplus, until it is fresh again.", NULL, "domain",
        {output_options}, CHAPTER_SERVICES, COMMAND_NEEDS_ARG, cmd_domain_stale},
    {"domain rm", "delete a domain; its services stay", "NAME…", NULL, NULL, "domain", {NULL},
        CHAPTER_SERVICES, COMMAND_NEEDS_ARG, noun_rm},
};

const struct command_table domain_commands = {domain_rows, N_OF(domain_rows), domain_completions};
