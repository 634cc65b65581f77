/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of clocks out of arbitrary bytes: understood within bounds, or refused with words. */
#include <string.h>

#include "base/mem.h"
#include "cli/cron/cron_reading.h"
#include "cron/engine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problem p = {0};
	struct cron_written w;

	if (cron_reading_parse((struct str){(const char *)data, size}, &w, &p) < 0) {
		MUST(p.code < 0 && p.what[0]);
		return 0;
	}
	MUST(strlen(w.zone) <= ZONE_NAME_MAX);
	MUST(w.is_remark || w.monotonic_ms == CRON_NO_MONOTONIC || w.monotonic_ms >= 0);
	return 0;
}
