/* SPDX-License-Identifier: Apache-2.0 */
/* Figures about groups. */
#include "api/groups/groups.h"
#include "api/insight/metrics_internal.h"

void group_figures(const struct metrics *m, const struct api_host *h, struct buf *b)
{
	metric_head(b, "reeve_groups", "gauge", "Groups, by state.");
	for (int i = 0; i < N_GROUP_STATES; i++)
		buf_printf(b, "reeve_groups{state=\"%s\"} %zu\n", group_state_names[i],
		    core_count_in(h->core, KIND_GROUP, i));
}
