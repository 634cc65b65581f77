/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule's row at rest. What the schedule has itself is not in there. */
#include "model/rows/pack.h"
#include "core/schedule/schedule.h"

static uint64_t kept_elsewhere(void)
{
	return ROW_BIT(schedule_table, schedule_row, id) |
	       ROW_BIT(schedule_table, schedule_row, name) |
	       ROW_BIT(schedule_table, schedule_row, zone) |
	       ROW_BIT(schedule_table, schedule_row, items);
}

void schedule_pack(struct schedule *s, const struct schedule_row *row)
{
	row_pack(&schedule_table, kept_elsewhere(), row, &s->packed, &s->n_packed);
}

void schedule_unpack(const struct schedule *s, struct arena *a, struct schedule_row *ret_row)
{
	*ret_row = (struct schedule_row){
	    .id = s->object.id, .name = s->object.name, .zone = s->zone ? s->zone->name : STR_NULL};
	row_unpack(&schedule_table, kept_elsewhere(), s->packed, a, ret_row);
}
