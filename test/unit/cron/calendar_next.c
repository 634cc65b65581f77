/* SPDX-License-Identifier: Apache-2.0 */
/* calendar_next FROM N: a line of times in UTC, or what is wrong, for each expression on stdin. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cron/pattern/item.h"

static void print_times(struct str text, const struct cron_zone *utc, int64_t t, int n)
{
	struct cron_items items;
	struct problem p = {0};

	if (cron_items_calendar(text, NULL, &items, &p)) {
		printf("%s: %s\n", err_name(p.code), p.what);
		return;
	}
	for (int i = 0; i < n && cron_items_next(&items, utc, t, &t); i++, t++)
		printf("%lld ", (long long)t);
	printf("\n");
	cron_items_release(&items);
}

int main(int argc, char **argv)
{
	struct cron_zone *utc = cron_zone_utc();
	char line[CRON_TEXT_MAX];

	if (argc != 3)
		return 2;
	while (fgets(line, sizeof line, stdin))
		print_times(
		    (struct str){line, strcspn(line, "\n")}, utc, atoll(argv[1]), atoi(argv[2]));
	cron_zone_free(utc);
	return 0;
}
