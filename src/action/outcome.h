/* SPDX-License-Identifier: Apache-2.0 */
/* What others hear of an action: lines in the task's output, and the result on descriptor 3. */
#ifndef ACTION_OUTCOME_H
#define ACTION_OUTCOME_H

#include "action/tree.h"

#define OUTCOME_FD 3

/* Descriptor 3, put where it is in nobody's way; -1 when it is not open. */
int outcome_take_fd(void);
/* {"status":2,"reason":"…"}: the reason is made fit to be shown, and cut to what a task keeps. */
void outcome_text(const struct outcome *o, struct buf *b);
void outcome_write(int fd, const struct outcome *o);
/* "[source] text", as one write. */
void outcome_say(int fd, struct str source, const char *text);

#endif
