/* SPDX-License-Identifier: Apache-2.0 */
/* English names of weekdays and months, as people shorten them. */
#ifndef CRON_NAMES_H
#define CRON_NAMES_H

#include "base/str.h"

#define NAME_LETTERS_MIN 3

extern const char *const weekday_names[7]; /* from Sunday */
extern const char *const month_names[12];

/* The first three letters or more of one of the names, in any case: its index, or -1. */
int32_t name_find(struct str s, const char *const *names, size_t n);

#endif
