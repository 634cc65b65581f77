/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line flags of the daemons, made from the table of keys. */
#ifndef CONFIG_FLAGS_H
#define CONFIG_FLAGS_H

#include "base/options.h"
#include "config/config.h"

/* The flags of these users, and --config; the first key wins where two share a flag. Never freed.
 */
const struct option_def *config_options(unsigned users);
/*
 * A daemon's configuration: flags over the environment over files. Mistakes and warnings are
 * explained on stderr. NULL: it can't start; *ret_exit_code says how to leave.
 */
struct config *config_for(
    const char *program, unsigned users, int argc, char **argv, int *ret_exit_code);

/* `reeve config show` and `reeve config check` */
extern const struct option_def config_show_options[], config_check_options[];
int config_show_command(int argc, char **argv);
int config_check_command(int argc, char **argv);
/* After a reload: a line in the log for each key of these users that takes a restart to change. */
void config_note_restart(const struct config *in_force, const struct config *fresh, unsigned users);
/* The log as configured. 0, or -1 with errno: then it stays as it was. */
int config_setup_log(const struct config *c, const char *program);

#endif
