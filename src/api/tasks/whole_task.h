/* SPDX-License-Identifier: Apache-2.0 */
/* A task of a queue of mode inline whose output is too large for its row, all in one answer. */
#ifndef API_WHOLE_TASK_H
#define API_WHOLE_TASK_H

#include "api/frame/call.h"

/* Of the row that was just read. */
bool whole_task_is_large(const struct call *c);
/* Answers; nothing else of the call's state is used any more. */
void whole_task_show(struct call *c);

#endif
