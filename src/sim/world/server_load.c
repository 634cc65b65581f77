/* SPDX-License-Identifier: Apache-2.0 */
/* A start of the server: the store's rows become the brain's first events. */
#include "base/data/heap.h"
#include "base/mem.h"
#include "core/pipeline/loading.h"
#include "sim/kind.h"
#include "sim/world/server.h"

struct sim_loading {
	struct loading loading;
	struct world *w;
};

static void stamp(struct loading *l, struct event *ev)
{
	struct world *w = CONTAINER_OF(l, struct sim_loading, loading)->w;

	ev->now_ms = sim_server_wall_ms(w);
	ev->mono_ms = sim_server_mono_ms(w);
	ev->seed = rng_next(&w->rng_id);
}

void sim_server_load(struct world *w)
{
	struct problem p = {0};
	struct sim_loading l = {.loading = {.core = w->server->core,
	                            .out = w->server->pipe.gathering,
	                            .installation = 0x0123456789,
	                            .problem = &p,
	                            .stamp = stamp},
	    .w = w};
	struct row_loader loader = loading_loader(&l.loading);

	SIM_KINDS_DO(starting, w, &l.loading);
	MUST(store_load(w->server->store, &loader, &p) == 0);
}
