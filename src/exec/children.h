/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EXEC_CHILDREN_H
#define EXEC_CHILDREN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

void exec_each_child(void (*fn)(pid_t pid, void *arg), void *arg);
/* Kills and buries all of them, and those who become ours by that; false: some did not die,
 * or are not ours to kill. */
bool exec_end_children(int64_t wait_ms);

#endif
