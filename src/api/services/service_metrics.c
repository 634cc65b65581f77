/* SPDX-License-Identifier: Apache-2.0 */
/* Figures about services: of all of them together, for there may be very many. */
#include "api/insight/metrics_internal.h"
#include "api/services/services.h"

#define FIRST_BESIDE 1 /* of the presences, the first that is not ordinary */

static void value(struct buf *b, const char *name, uint64_t n)
{
	buf_printf(b, "%s %llu\n", name, (unsigned long long)n);
}

static void write_instances(const struct services_view *v, struct buf *b)
{
	metric_head(b, "reeve_services", "gauge", "Services.");
	value(b, "reeve_services", v->services);
	metric_head(
	    b, "reeve_service_instances", "gauge", "Instances by state, one of each index.");
	for (int i = 0; i < INSTANCE_STATES; i++)
		buf_printf(b, "reeve_service_instances{state=\"%s\"} %zu\n", instance_row_states[i],
		    v->in[i]);
	metric_head(b, "reeve_service_instances_beside", "gauge",
	    "Instances beside these, until their replacement serves.");
	for (int p = FIRST_BESIDE; p < INSTANCE_PRESENCES; p++)
		buf_printf(b, "reeve_service_instances_beside{presence=\"%s\"} %zu\n",
		    instance_row_presences[p], v->beside[p]);
	metric_head(b, "reeve_service_instances_ready", "gauge", "Instances ready for traffic.");
	value(b, "reeve_service_instances_ready", v->ready);
	metric_head(b, "reeve_service_instances_waiting", "gauge",
	    "Instances that wait for the next auction, or for room.");
	value(b, "reeve_service_instances_waiting", v->waiting);
	metric_head(b, "reeve_service_instances_unplaced", "gauge", "Instances without a place.");
	value(b, "reeve_service_instances_unplaced", v->unplaced);
}

static void write_auctions(const struct services_view *v, struct buf *b)
{
	metric_head(b, "reeve_service_auctions_total", "counter", "Batches of instances placed.");
	value(b, "reeve_service_auctions_total", v->auctions);
	metric_head(b, "reeve_service_placements_failed_total", "counter",
	    "How often an auction had no place for an instance.");
	value(b, "reeve_service_placements_failed_total", v->placements_failed);
	metric_head(
	    b, "reeve_service_starts_total", "counter", "Starts that workers were told of.");
	value(b, "reeve_service_starts_total", v->starts);
	metric_head(b, "reeve_service_crashes_total", "counter", "Instances that crashed.");
	value(b, "reeve_service_crashes_total", v->crashes);
}

static void write_passes(const struct services_view *v, struct buf *b)
{
	metric_head(b, "reeve_service_passes_total", "counter", "Looks at one service.");
	value(b, "reeve_service_passes_total", v->passes);
	metric_head(b, "reeve_service_full_passes_total", "counter", "Looks at all, by the clock.");
	value(b, "reeve_service_full_passes_total", v->passes_full);
	metric_head(b, "reeve_service_missed_total", "counter",
	    "Times that a full pass found something that events had missed; should stay 0.");
	value(b, "reeve_service_missed_total", v->missed);
}

void service_figures(const struct metrics *m, const struct api_host *h, struct buf *b)
{
	struct services_view v;

	core_services(h->core, &v);
	write_instances(&v, b);
	write_auctions(&v, b);
	write_passes(&v, b);
}

/* The words of states, as the counts of one service have them. */
void service_totals(struct call *c)
{
	static const char *const states[INSTANCE_STATES] = {
	    "unclaimed", "claimed", "running", "crashed"};
	struct services_view v;

	core_services(c->host->core, &v);
	jw_open(&c->out, '{');
	jw_mi64(&c->out, "total", (int64_t)v.services);
	for (int i = 0; i < INSTANCE_STATES; i++)
		jw_mi64(&c->out, states[i], (int64_t)v.in[i]);
	for (int p = FIRST_BESIDE; p < INSTANCE_PRESENCES; p++)
		jw_mi64(&c->out, instance_row_presences[p], (int64_t)v.beside[p]);
	jw_mi64(&c->out, "ready", (int64_t)v.ready);
	jw_mi64(&c->out, "unplaced", (int64_t)v.unplaced);
	jw_close(&c->out, '}');
}
