/* SPDX-License-Identifier: Apache-2.0 */
#include "store/usage_text.h"

#include <stdio.h>

struct str usage_format(const struct usage *u, char out[USAGE_TEXT_MAX])
{
	int n;

	if (!u->known)
		return STR_NULL;
	n = snprintf(out, USAGE_TEXT_MAX, "%lld %lld %lld %d", (long long)u->user_us,
	    (long long)u->system_us, (long long)u->peak_memory, u->oom_kills);
	return (struct str){out, (size_t)n};
}

void usage_parse(struct str text, struct usage *ret_usage)
{
	int64_t numbers[4];
	struct str word;
	int n = 0;

	*ret_usage = (struct usage){0};
	for (; n < 4 && str_next(&text, ' ', &word); n++)
		if (!str_to_i64(word, 0, n == 3 ? INT32_MAX : INT64_MAX, &numbers[n]))
			return;
	if (n == 4 && text.n == 0)
		*ret_usage =
		    (struct usage){numbers[0], numbers[1], numbers[2], (int32_t)numbers[3], true};
}
