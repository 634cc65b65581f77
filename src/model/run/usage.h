/* SPDX-License-Identifier: Apache-2.0 */
/* What an attempt has used, and how it came to its end beside code and signal. */
#ifndef MODEL_USAGE_H
#define MODEL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct usage {
	int64_t user_us, system_us; /* processor time of the leader and what it waited for */
	int64_t
	    peak_memory; /* bytes; of the cgroup where there is one, else of the largest process */
	int32_t oom_kills; /* processes that the kernel ended for lack of memory */
	bool known;        /* false: nothing was measured */
};

bool usage_equal(const struct usage *a, const struct usage *b);

#endif
