/* SPDX-License-Identifier: Apache-2.0 */
/* Small sets kept as text, "item\n" each: plugins, queue names, labels as "key=value". */
#ifndef MODEL_LINES_H
#define MODEL_LINES_H

#include "base/arena.h"
#include "base/str.h"

bool lines_has(struct str lines, struct str item);
bool lines_next(struct str *rest, struct str *ret_item); /* walks; false at the end */
size_t lines_count(struct str lines);
void lines_add(struct buf *b, struct str item);
/* Sorted and without repeats. */
struct str lines_sorted(struct arena *a, struct str lines);
/* Text that may stand in a line of fields: tabs and line breaks become blanks. */
struct str lines_flat(struct arena *a, struct str s);
/* A line more, which ends with a line break; the oldest go when all would have more than `max`. */
struct str lines_append(struct arena *a, struct str lines, struct str line, size_t max);
/* "key=value" -> value of key, or NULL */
struct str lines_value(struct str lines, struct str key);

#endif
