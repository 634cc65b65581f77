/* SPDX-License-Identifier: Apache-2.0 */
/* Zone files out of arbitrary bytes: refused with a reason, or a zone whose spans hold together. */
#include "zone_walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cron_zone *z = NULL;
	struct problem p = {0};

	if (cron_zone_tzif(data, size, &z, &p) == 0)
		zone_check(z);
	else
		MUST(!z && p.code == ERR_INVALID && p.what[0]);
	return 0;
}
