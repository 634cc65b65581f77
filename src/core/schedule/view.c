/* SPDX-License-Identifier: Apache-2.0 */
#include "core/schedule/view.h"

#include "core/schedule/schedule.h"

bool core_schedule(const struct core *c, rid id, struct arena *a, struct schedule_view *ret_view)
{
	struct schedule *s = object_find(c, KIND_SCHEDULE, id);
	struct buf items = {0};

	if (!s)
		return false;
	*ret_view = (struct schedule_view){.live = s->n_live,
	    .failed = schedule_failed(s),
	    .items = &s->items,
	    .zone = s->zone ? s->zone->zone : NULL};
	schedule_unpack(s, a, &ret_view->row);
	if (!a)
		return true;
	cron_items_write(&s->items, &items);
	ret_view->row.items = arena_str(a, buf_str(&items));
	buf_release(&items);
	if (ret_view->row.state == SCHEDULE_ACTIVE)
		ret_view->next_s = schedule_due_s(s, &ret_view->row);
	return true;
}
