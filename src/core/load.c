/* SPDX-License-Identifier: Apache-2.0 */
/* At start: the stored rows come in as events, then the doors open. */
#include "core/service/service.h"
#include "core/state.h"

static void load_meta(struct core *c, const struct meta_row *m)
{
	start_load_meta(c, m);
	services_load_meta(c, m);
	if (str_is(m->name, META_INSTALLATION))
		id_space_parse(m->value, &c->ids);
}

static void load_count(struct core *c, const struct event *ev)
{
	struct queue *q = queue_find(c, ev->count.queue);

	if (!q)
		return;
	switch (task_phase(ev->count.status)) {
	case PHASE_HELD: q->n_held += ev->count.n; break;
	case PHASE_QUEUED:
		q->n_queued += ev->count.n;
		q->ready.complete = q->due.complete = false;
		q->delayed_unknown = true;
		break;
	default: break; /* dispatched ones are counted as they are loaded */
	}
}

static void load_task(struct core *c, const struct task_row *row, struct effects *out)
{
	struct worker *w = worker_find(c, row->state.worker);
	struct task *t;

	if (!queue_find(c, row->spec.queue))
		return;
	t = task_new(c, row);
	queue_count(t->queue, &t->row.state, row->state.status, +1);
	if (row->damage & DAMAGED_STATE) {
		task_end_attempt(c, t, TASK_ORPHANED,
		    STR("damaged: its row in the store does not fit its checksum, nobody knows how "
		        "it stands"),
		    false, out);
		return;
	}
	if (w) {
		task_attach(c, t, w, row->state.charged);
		return;
	}
	task_end_attempt(c, t, TASK_ORPHANED, STR("nothing is known of its worker"), true, out);
}

/* Numbers of events that had no row are lost with the process: begin past all of them. */
static void load_done(struct core *c, const struct event *ev, struct effects *out)
{
	struct worker *w;

	if (ev->loaded.last_id > c->last_id)
		c->last_id = ev->loaded.last_id;
	c->last_event = ((ev->loaded.last_event >> 32) + 1) << 32;
	c->open = true;
	hold_started(c);
	gone_started(c);
	inputs_started(c);
	audit(c, "server.started", STR("server"), 0, 0, STR("reeve"), STR_NULL, out);
	EACH_OBJECT(w, c, KIND_WORKER)
	{
		w->health.since_ms = w->health.beat_ms = c->mono_ms;
		w->is_unheard = w->health.state != WORKER_MUST_DIE;
		c->start.n_unheard += w->is_unheard;
		watch_look(c, w, out);
	}
	start_begin(c, ev->loaded.key_is_new, out);
	if (!c->start.n_unheard)
		start_all_heard(c, out);
}

static void load_row(
    struct core *c, const struct row_table *t, const void *row, struct effects *out)
{
	if (t == &meta_table)
		load_meta(c, row);
	else if (t == &input_table)
		input_load(c, row);
	else if (t == &task_table)
		load_task(c, row, out);
	else
		kinds_load(c, t, row);
}

void load_step(struct core *c, const struct event *ev, struct effects *out)
{
	MUST(!c->open);
	switch (ev->kind) {
	case EV_LOAD_ROW: load_row(c, ev->load.table, ev->load.row, out); break;
	case EV_LOAD_COUNT: load_count(c, ev); break;
	case EV_LOAD_OWNED:
		if (MUTANT(LIVE_FORGOTTEN_AT_START))
			break;
		owner_task_live(c, &ev->owned.owner, ev->owned.task, ev->owned.queue);
		break;
	default: load_done(c, ev, out); break;
	}
}
