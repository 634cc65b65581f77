/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve bench`: what Reeve does per second, beside what the machine could do at most. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "base/options.h"

extern const char bench_about[]; /* for its help */
extern const struct option_def bench_options[];

/* argv is what follows the command's name. Returns the exit code. */
int bench_command(int argc, char **argv);
/* The plugin that the benchmark's worker runs: it does nothing, fast. Hidden. */
int noop_plugin_command(int argc, char **argv);

#endif
