/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows/quarantine.h"

bool quarantine_is_whole(const struct quarantine_facts *f)
{
	return f->damage & 1u;
}

struct str quarantine_reason(const struct quarantine_facts *f)
{
	if (quarantine_is_whole(f))
		return STR("damaged: its row in the store does not fit its checksum; set it anew, "
		           "then resume it");
	return STR("damaged: its numbers in the store do not fit their checksum; look at it, then "
	           "resume it");
}

int64_t quarantine_time_ms(const struct quarantine_facts *f, int64_t stored_ms)
{
	return stored_ms > 0 && stored_ms <= f->now_ms ? stored_ms : f->now_ms;
}
