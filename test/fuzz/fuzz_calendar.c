/* SPDX-License-Identifier: Apache-2.0 */
/* Calendar expressions out of arbitrary bytes. */
#include "cron_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct cron_items items;
	struct problem p = {0};
	int rc = cron_items_calendar(text, NULL, &items, &p);

	if (rc)
		check_problem(rc, &p);
	else
		check_items(&items);
	return 0;
}
