/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of patterns share: zones from the system's files, times as text, both ways. */
#ifndef TEST_CRON_SUPPORT_H
#define TEST_CRON_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cron/pattern/item.h"

struct cron_zone *zone_load(const char *name); /* fails the test when there is none */
bool zone_try(const char *name, struct cron_zone **ret_zone);
/* "2013-11-03 01:30:00" of a zone that is always UTC. */
int64_t at_utc(const char *text);
const char *utc_text(int64_t t); /* one of four buffers in turn */

struct cron_items json_items(const char *text); /* fails the test when it is refused */
struct cron_items crontab_items(const char *line);
struct cron_items calendar_items(const char *text);

bool same_items(const struct cron_items *a, const struct cron_items *b);
/* What is written reads back as the same, and is written the same again. */
void assert_round_trip(const struct cron_items *items);

#endif
