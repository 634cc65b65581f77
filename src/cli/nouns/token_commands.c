/* SPDX-License-Identifier: Apache-2.0 */
/* The commands about tokens. */
#include "cli/frame/cmds.h"
#include "cli/nouns/noun.h"
#include "model/objects/token.h"

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

static const struct completion token_completions[] = {
    {"role", .names = role_names + 1, .n_names = N_RIGHTS - 1},
    {"event", {"token", "token.created", "token.revoked", "token.used"}},
    {NULL},
};

#define ROLE(id, name, about) name " (" about "); "
static const struct command token_rows[] = {
    {"token create", "make a token for a program or a person", "NAME",
        "Prints the token, once; the server keeps a hash of it only. A role may do what the ones "
        "before it may: " RIGHT_TABLE(ROLE) "with --queue or --label only what concerns these. "
                                            "--join makes one for workers instead.",
        "reeve token create ci --role submit --queue builds --expires 30d\tfor a build machine\n"
        "reeve token create rack7 --join --once --zone rack7\tfor one new worker there\n",
        NULL, {token_options, output_options}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG,
        cmd_token_create},
    {"token ls", "list tokens", NULL, "What they allow, and until when; never their secrets.", NULL,
        NULL, {LIST_OPTIONS}, CHAPTER_OBJECTS, COMMAND_NO_ARGS, noun_ls},
    {"token revoke", "revoke a token", "NAME…",
        "It is not a good one from then on; whoever still uses it is cut off.", NULL, "token",
        {NULL}, CHAPTER_OBJECTS, COMMAND_NEEDS_ARG, noun_rm},
};

const struct command_table token_commands = {token_rows, N_OF(token_rows), token_completions};
