/* SPDX-License-Identifier: Apache-2.0 */
/* CLASS_TIME: the server's clock is set, its machine sleeps or boots, a zone moves. */
#include "sim/faults/plan.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/zones.h"

/* As much as people and time servers set clocks by. Most of it forward; back again is likely. */
static int64_t draw_step_ms(struct rng *r)
{
	static const int64_t most_s[] = {3, 3, 60, 600, 600, 7200, 86400, INT64_C(366) * 86400};
	int64_t s = most_s[rng_below(r, sizeof most_s / sizeof most_s[0])];

	s = sim_between(r, s / 4, s);
	return (sim_chance(r, 500) ? s : -s) * 1000 + sim_between(r, -999, 999);
}

/* The machine sleeps: while it does its monotonic clock stands, as far as the server can see. */
static void server_sleep(struct world *w, struct rng *r)
{
	int64_t for_us = sim_between(r, SECOND_US / 10, 5 * SECOND_US);

	if (!w->server->core)
		return;
	world_clock_jump(w, SIM_SERVER, sim_between(r, 1, sim_chance(r, 700) ? 900 : 40000) * 1000);
	world_pause(w, SIM_SERVER, for_us);
}

static void server_reboot(struct world *w, struct rng *r)
{
	int64_t down =
	    sim_between(r, SECOND_US, sim_chance(r, 700) ? 20 * SECOND_US : 2 * MINUTE_US);

	world_tell(w, "FAULT: the server's machine boots");
	sim_server_crash(w, down);
	node_clock_boot(&w->server->node.clock, w->now_us, sim_between(r, 1, 5000));
	if (sim_chance(r, 500))
		world_clock_jump(w, SIM_SERVER, draw_step_ms(r));
}

void schedules_time_fault(struct world *w, struct fault *f)
{
	struct rng *r = &f->rng;
	int what = (int)rng_below(r, 10);

	if (what < 3)
		sim_zone_move(w);
	else if (what < 4)
		server_sleep(w, r);
	else if (what < 5)
		server_reboot(w, r);
	else
		world_clock_jump(w, SIM_SERVER, draw_step_ms(r));
}
