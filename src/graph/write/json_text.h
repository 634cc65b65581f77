/* SPDX-License-Identifier: Apache-2.0 */
/* Texts and lists of a plan as JSON. A plan of a million edges is written, not built as a tree. */
#ifndef GRAPH_WRITE_JSON_TEXT_H
#define GRAPH_WRITE_JSON_TEXT_H

#include "base/str.h"

/* In quotes, with what must be escaped escaped. The text is UTF-8. */
void json_text(struct buf *b, struct str s);
/* ,"name": with a comma unless it is the first of its object */
void json_key(struct buf *b, const char *name);
/* A comma, unless it is the first of its list. */
void json_next(struct buf *b);
void json_key_text(struct buf *b, const char *name, struct str s);
void json_key_i64(struct buf *b, const char *name, int64_t n);

#endif
