/* SPDX-License-Identifier: Apache-2.0 */
/* A reading of the clocks as a line of text: SYSTEM MONOTONIC ZONE, or a JSON object. */
#ifndef CLI_CRON_READING_H
#define CLI_CRON_READING_H

#include "base/err.h"
#include "base/str.h"
#include "zones/zones.h"

struct cron_written {
	bool is_remark; /* or empty: nothing else is set */
	int64_t system;
	int64_t monotonic_ms;         /* or CRON_NO_MONOTONIC */
	char zone[ZONE_NAME_MAX + 1]; /* "": not said */
};

int cron_reading_parse(struct str line, struct cron_written *ret_written, struct problem *p);

#endif
