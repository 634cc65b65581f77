/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store that forgets: the server is down, and when it starts, nothing is known any more of
 * services, their instances and what these run as. Workers say what they run: that gets its record
 * back, and nobody may stop it.
 */
#include "sim/service/service.h"

#include "base/mem.h"
#include "model/objects/queue.h"
#include "model/rows/batch.h"
#include "sim/world/server.h"

/* The queue of all starts goes, and takes them along. */
static void forget_starts(struct truth_service *s, struct batch *b)
{
	for (size_t i = 0; i < s->n_starts; i++) {
		struct truth_task *t = s->starts[i];

		if (t->stored && !t->queue->deleted_durably)
			batch_delete(b, &queue_table, t->queue->id);
		t->queue->deleted = t->queue->deleted_durably = true;
		t->stored = t->is_known = false;
	}
}

static void forget(struct truth_service *s, struct batch *b)
{
	forget_starts(s, b);
	batch_delete(b, &service_table, s->id);
	s->deleted = s->is_forgotten = true;
	for (size_t i = 0; i < s->n_records; i++)
		s->records[i].gone = true;
}

static bool is_time(struct world *w, struct sim_services *all)
{
	return !w->healed && !all->was_emptied && all->is_emptied_at &&
	       w->server->incarnation > all->is_emptied_at;
}

void services_starting(struct world *w, struct loading *l)
{
	struct sim_services *all = sim_services_of(w);
	struct batch b = {0};
	struct problem p = {0};

	if (!all || !is_time(w, all))
		return;
	world_tell(w, "FAULT: the store has forgotten all services");
	batch_reset(&b, 1);
	for (size_t i = 0; i < all->n; i++)
		if (!all->all[i]->deleted)
			forget(all->all[i], &b);
	MUST(store_commit(w->server->store, &b, &p) == 0);
	batch_release(&b);
	all->was_emptied = true;
	all->last_tag = 0;
}
