/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve sim`: many seeds, one after another and beside each other, until one of them fails. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "base/options.h"

extern const struct option_def sim_command_options[];

/* argv is what follows the command's name. Returns the exit code: 1 when an invariant broke. */
int sim_command(int argc, char **argv);

#endif
