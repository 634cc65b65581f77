/* SPDX-License-Identifier: Apache-2.0 */
/* `reeve worker`: flags, files and environment make the options; the worker runs on them. */
#ifndef WORKER_COMMAND_H
#define WORKER_COMMAND_H

/* argv is what follows the command's name. Returns the exit code. */
int worker_command(int argc, char **argv);

#endif
