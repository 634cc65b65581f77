/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program that runs a task's action: `reeve action`. A worker starts it as the task's process,
 * in place of a command.
 *
 *   standard input  the action as JSON
 *   --monitored     somebody looks whether it is well: see tree.h
 *   descriptor 3    where it leaves {"status": 1 or 2, "reason": "…"}, if it is open
 *   exit code       0, or 1; of an action that is a single run: that one's
 */
#ifndef ACTION_ACTION_H
#define ACTION_ACTION_H

int action_main(int argc, char **argv);

#endif
