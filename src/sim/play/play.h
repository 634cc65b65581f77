/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve sim play`: a scripted scenario. The format is described in docs/SIMULATOR.md. */
#ifndef SIM_PLAY_H
#define SIM_PLAY_H

#include "base/options.h"

extern const struct option_def sim_play_options[];

/* argv is what follows the command's name. 0: all held; 1: something did not; 2: malformed. */
int sim_play_command(int argc, char **argv);

#endif
