/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEMORY_FILE_H
#define BASE_MEMORY_FILE_H

#include "base/str.h"

/* A file in memory that holds these bytes, to be read from its beginning; -1: see errno. */
int memory_file(const char *name, struct str content);

#endif
