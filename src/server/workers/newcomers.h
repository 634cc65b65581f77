/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many new names of workers a join token brings in a minute: each costs memory and a row for a
 * long time. Who is known already is not counted. Each token has its own measure, which is full at
 * the start and refills evenly; of more tokens than are kept the fullest is forgotten, so nobody
 * gains by many tokens what they do not have by one.
 */
#ifndef SERVER_NEWCOMERS_H
#define SERVER_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/id.h"

struct newcomers;
struct newcomers *newcomers_new(int64_t per_minute); /* 0: no limit */
void newcomers_free(struct newcomers *n);
/* May this token (0: the server's own) bring another one now? */
bool newcomers_take(struct newcomers *n, rid token, int64_t mono_ms);
const char *newcomers_why(const struct newcomers *n); /* in words for who was turned away */

#endif
