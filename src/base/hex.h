/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as hexadecimal digits, and back. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* -1: it is none. */
int hex_digit(char c);
/* 2 * n digits, lower case, and a NUL. */
void hex_put(char *out, const uint8_t *bytes, size_t n);
/* False: it is not exactly 2 * n digits; then the bytes mean nothing. */
bool hex_take(struct str text, uint8_t *ret_bytes, size_t n);

#endif
