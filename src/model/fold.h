/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Letters without their case, in UTF-8: ASCII, Latin with its accents, Greek, Cyrillic and
 * Armenian. Each keeps its length, so a text can be folded where it lies. Other letters, accents
 * that are characters of their own, and bytes that are no UTF-8 stay as they are.
 */
#ifndef MODEL_FOLD_H
#define MODEL_FOLD_H

#include <stddef.h>

void fold_case(char *text, size_t n);

#endif
