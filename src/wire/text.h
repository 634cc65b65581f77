/* SPDX-License-Identifier: Apache-2.0 */
/* Text that came from outside: is it fit for a name, and how to make it fit to be shown. */
#ifndef WIRE_TEXT_H
#define WIRE_TEXT_H

#include "base/str.h"

/* UTF-8 without control bytes, of 1 to max bytes. */
bool text_is_name(struct str s, size_t max);
/* In place: control bytes become spaces, bytes that are not UTF-8 become '?'. */
void text_clean(char *p, size_t n);
/* The longest prefix of at most max bytes that does not cut a character in two. */
struct str text_head(struct str s, size_t max);

#endif
