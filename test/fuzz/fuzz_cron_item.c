/* SPDX-License-Identifier: Apache-2.0 */
/* JSON items out of arbitrary bytes: refused with a reason, or written and searched consistently.
 */
#include "cron_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct cron_items items;
	struct problem p = {0};
	int rc = cron_items_json(text, &items, &p);

	if (rc)
		check_problem(rc, &p);
	else
		check_items(&items);
	return 0;
}
