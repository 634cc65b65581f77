/* SPDX-License-Identifier: Apache-2.0 */
/* Help and man pages, made from the table of commands. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include <stdio.h>

#include "cli/frame/command.h"
#include "cli/output/term.h"

void help_overview(const struct term *t, FILE *f);
void help_family(const char *word, const struct term *t, FILE *f);
void help_command(const struct command *cmd, const struct term *t);
/* "reeve queue create NAME [options]" */
void help_usage(const struct command *cmd, struct buf *out);

/* roff: reeve-queue-create.1 and the like. */
void man_command(const struct command *cmd, struct buf *out);
/* Writes a page per command into a directory that exists. */
int man_write(const char *dir, struct problem *ret_problem);

/* The completion script for "bash", "zsh" or "fish"; NULL for another shell. */
const char *completion_script(const char *shell);

/* What exit codes mean; the last one has no code. */
struct exit_meaning {
	const char *code, *meaning;
};
extern const struct exit_meaning exit_meanings[];

#endif
