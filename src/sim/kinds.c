/* SPDX-License-Identifier: Apache-2.0 */
/* The table of kinds: a further one is a row here, and a folder of its own. */
#include "base/mem.h"
#include "sim/group/group.h"
#include "sim/load/load_internal.h"
#include "sim/schedule/schedule.h"
#include "sim/service/service.h"

const struct sim_kind *const sim_kinds[] = {&sim_kind_queue, &sim_kind_worker, &sim_kind_schedule,
    &sim_kind_group, &sim_kind_domain, &sim_kind_service, NULL};

const struct sim_kind *sim_kind_of(enum kind kind)
{
	const struct sim_kind *const *k = sim_kinds;

	while (*k && (*k)->kind != kind)
		k++;
	MUST(*k != NULL);
	return *k;
}
