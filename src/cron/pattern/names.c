/* SPDX-License-Identifier: Apache-2.0 */
#include "cron/pattern/names.h"

#include <string.h>
#include <strings.h>

const char *const weekday_names[7] = {
    "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
const char *const month_names[12] = {"January", "February", "March", "April", "May", "June", "July",
    "August", "September", "October", "November", "December"};

int32_t name_find(struct str s, const char *const *names, size_t n)
{
	if (s.n < NAME_LETTERS_MIN)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (s.n <= strlen(names[i]) && strncasecmp(s.p, names[i], s.n) == 0)
			return (int32_t)i;
	return -1;
}
