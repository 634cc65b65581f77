/* SPDX-License-Identifier: Apache-2.0 */
/* A long JSON array taken apart as text, so that it can be parsed one element at a time. */
#ifndef WIRE_JSON_ARRAY_H
#define WIRE_JSON_ARRAY_H

#include "base/err.h"
#include "base/str.h"

/*
 * The text of the next element; *rest goes on behind it. 1: there is one; 0: the array has ended,
 * and the text with it; negative: it is no array. Elements are not looked into: parse them.
 */
int json_array_next(struct str *rest, bool first, struct str *ret_element, struct problem *p);

#endif
