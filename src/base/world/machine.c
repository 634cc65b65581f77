/* SPDX-License-Identifier: Apache-2.0 */
#include "base/world/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void machine_id(char ret_id[MACHINE_ID_MAX])
{
	FILE *f = fopen("/etc/machine-id", "re");

	ret_id[0] = 0;
	if (f && !fgets(ret_id, MACHINE_ID_MAX, f))
		ret_id[0] = 0;
	if (f)
		fclose(f);
	ret_id[strcspn(ret_id, "\n")] = 0;
	if (ret_id[0])
		return;
	gethostname(ret_id, MACHINE_ID_MAX - 1);
	ret_id[MACHINE_ID_MAX - 1] = 0;
}

/* FNV-1a: the id itself is not for everybody's eyes, and 64 bits of it do not lead back. */
void machine_mark(char ret_mark[MACHINE_MARK_MAX])
{
	char id[MACHINE_ID_MAX];
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	machine_id(id);
	for (const char *at = id; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	snprintf(ret_mark, MACHINE_MARK_MAX, "%016" PRIx64, hash);
}
