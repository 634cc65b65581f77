/* SPDX-License-Identifier: Apache-2.0 */
/* TZ strings and offsets out of arbitrary bytes: refused with a reason, or a zone that holds
 * together. */
#include "zone_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_text(
    int (*make)(struct str, struct cron_zone **, struct problem *), struct str text)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	if (make(text, &z, &p) == 0)
		zone_check(z);
	else
		MUST(!z && p.code == ERR_INVALID && p.what[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};

	try_text(cron_zone_posix, text);
	try_text(cron_zone_fixed, text);
	return 0;
}
