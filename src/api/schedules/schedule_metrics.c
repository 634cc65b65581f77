/* SPDX-License-Identifier: Apache-2.0 */
/* Figures about schedules. */
#include <string.h>

#include "api/insight/metrics_internal.h"
#include "api/schedules/schedule_in.h"

void schedule_saw(struct metrics *m, const struct notice *n)
{
	int64_t late_ms = n->time_ms - n->owner.part * 1000;

	if (strcmp(n->kind, "schedule.skipped") == 0) {
		m->ticks_skipped++;
	} else if (strcmp(n->kind, "schedule.fired") == 0) {
		m->ticks_fired++;
		metric_observe(&m->lateness, late_ms > 0 ? (double)late_ms / 1000 : 0);
	}
}

void schedule_figures(const struct metrics *m, const struct api_host *h, struct buf *b)
{
	metric_head(b, "reeve_schedules", "gauge", "Schedules, by state.");
	for (int i = 0; i < N_SCHEDULE_STATES; i++)
		buf_printf(b, "reeve_schedules{state=\"%s\"} %zu\n", schedule_state_names[i],
		    core_count_in(h->core, KIND_SCHEDULE, i));
	metric_head(b, "reeve_schedule_ticks_total", "counter",
	    "Due ticks that got a task, and skips that were recorded.");
	buf_printf(b, "reeve_schedule_ticks_total{outcome=\"fired\"} %llu\n",
	    (unsigned long long)m->ticks_fired);
	buf_printf(b, "reeve_schedule_ticks_total{outcome=\"skipped\"} %llu\n",
	    (unsigned long long)m->ticks_skipped);
	metric_head(b, "reeve_schedule_lateness_seconds", "histogram",
	    "From a tick's second to the submit of its task.");
	metric_histogram(b, "reeve_schedule_lateness_seconds", "", &m->lateness);
}
