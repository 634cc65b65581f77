/* SPDX-License-Identifier: Apache-2.0 */
#include "model/run/usage.h"

bool usage_equal(const struct usage *a, const struct usage *b)
{
	if (!a->known || !b->known)
		return a->known == b->known;
	return a->user_us == b->user_us && a->system_us == b->system_us &&
	       a->peak_memory == b->peak_memory && a->oom_kills == b->oom_kills;
}
