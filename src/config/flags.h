/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line flags of the daemons, made from the table of keys. */
#ifndef CONFIG_FLAGS_H
#define CONFIG_FLAGS_H

#include "base/options.h"
#include "config/config.h"

/* The flags of these users; the first key wins where two share a flag. Never freed. */
const struct option_def *config_options(unsigned users);
/*
 * Parses a daemon's words and loads its configuration: flags over the environment over files.
 * --config FILE is understood. *ret is always set. Problems are in it; nothing is printed.
 */
int config_from_argv(const char *program, unsigned users, int argc, char **argv,
    struct config **ret, struct problem *ret_problem);
/* The same again, for SIGHUP: argv must still be there. */
void config_print_problems(const struct config *c);

#endif
