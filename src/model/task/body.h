/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a task's body says, read off its JSON text without a parser: the text may be cut anywhere,
 * and nothing of it is believed.
 */
#ifndef MODEL_BODY_H
#define MODEL_BODY_H

#include "base/str.h"

#define BODY_HEAD_BYTES 512 /* enough of a body for its summary */
#define SUMMARY_MAX_BYTES 160

/* The beginning of the command as it would be typed, or of the action or params as they stand. */
void body_summary(struct str body, struct buf *out);

/* All strings and numbers in command, action and params, names of members too: escaped as they
 * stand. False from `fn` ends it. */
typedef bool body_text_fn(void *arg, struct str text, bool escaped);
void body_texts(struct str body, body_text_fn *fn, void *arg);

/* A JSON string's inside as the text that it stands for; at most about `max` bytes are added. */
void body_unescape(struct str inside, size_t max, struct buf *out);

#endif
