/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing what must not be guessed byte by byte. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include "base/str.h"

/* Takes the same time wherever the difference is. An empty secret fits nothing. */
bool secret_equal(struct str given, struct str wanted);

#endif
