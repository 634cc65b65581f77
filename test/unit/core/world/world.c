/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, commits and time of a story; the server's start and its end. */
#include "world.h"

#include <stdlib.h>

#include "base/mem.h"

#define FOR_EVER (INT64_MAX / 16)

/* Messages, replies and reads are copied flat: stories look at numbers, not at borrowed strings. */
void world_commit(struct world *w)
{
	struct effects *fx = &w->fx;
	bool reads = fx->n_reads > 0, go_on = fx->go_on;
	uint64_t checks[64][2];
	size_t n_checks = 0;

	for (size_t i = 0; i < fx->batch.n; i++)
		world_apply(w, &fx->batch.rows[i]);
	for (size_t i = 0; i < fx->n_messages; i++) {
		w->sent[w->n_sent % WORLD_TASKS] = fx->messages[i];
		world_keep_needs(w, &w->sent[w->n_sent++ % WORLD_TASKS]);
		if (fx->messages[i].kind == MSG_CHECK && !w->sick && n_checks < 64) {
			checks[n_checks][0] = fx->messages[i].link;
			checks[n_checks++][1] = fx->messages[i].check.number;
		}
	}
	for (size_t i = 0; i < fx->n_replies; i++) {
		struct reply *r = &w->replies[w->n_replies++ % 256];

		*r = fx->replies[i];
		r->outcomes = arena_memdup(&w->rows_arena, r->outcomes, r->n * sizeof *r->outcomes);
		r->problem = arena_memdup(&w->rows_arena, r->problem, sizeof *r->problem);
	}
	for (size_t i = 0; i < fx->n_reads; i++) {
		struct read_ask *a = &w->reads[w->n_reads++];

		*a = fx->reads[i];
		a->ids = arena_memdup(&w->rows_arena, a->ids, a->ids ? a->n * sizeof *a->ids : 0);
		w->n_rows_asked += a->ids ? a->n : 0;
		a->batches =
		    arena_memdup(&w->rows_arena, a->batches, a->n_batches * sizeof *a->batches);
		if (a->keys) {
			struct key_ask *keys =
			    arena_memdup(&w->rows_arena, a->keys, a->n * sizeof *keys);

			for (size_t k = 0; k < a->n; k++)
				keys[k].key = arena_str(&w->rows_arena, keys[k].key);
			a->keys = keys;
		}
	}
	w->n_notices += fx->n_notices;
	for (size_t i = 0; i < fx->n_notices && w->n_told < 256; i++)
		w->told[w->n_told++] = fx->notices[i].kind;
	if (fx->n_notices)
		w->last_notice = fx->notices[fx->n_notices - 1].kind;
	effects_reset(fx, ++w->seq);
	for (size_t i = 0; i < n_checks; i++)
		world_step(w, &(struct event){.kind = EV_CHECKED,
		                  .link = checks[i][0],
		                  .checked = {.number = checks[i][1], .ok = true}});
	if (reads && !w->hold_reads)
		world_answer_reads(w);
	if (go_on)
		world_step(w, &(struct event){.kind = EV_GO_ON});
}

void world_step(struct world *w, struct event *ev)
{
	ev->now_ms = w->now_ms;
	ev->mono_ms = w->mono_ms;
	ev->seed = ++w->seed * 0x9e3779b97f4a7c15ull;
	core_step(w->core, ev, &w->fx);
	if (!w->hold && !core_is_midway(w->core))
		world_commit(w);
}

void world_advance(struct world *w, int64_t ms)
{
	int64_t end = w->mono_ms + ms;

	for (int64_t at = core_wake_ms(w->core); at <= end; at = core_wake_ms(w->core)) {
		if (at > w->mono_ms) {
			w->now_ms += at - w->mono_ms;
			w->mono_ms = at;
		}
		world_step(w, &(struct event){.kind = EV_WAKE});
	}
	w->now_ms += end - w->mono_ms;
	w->mono_ms = end;
}

static void load_row(struct world *w, const struct row_table *t, const void *row)
{
	world_step(w, &(struct event){.kind = EV_LOAD_ROW, .load = {t, row}});
}

static void load(struct world *w)
{
	struct event ev;

	for (size_t i = 0; i < w->n_meta; i++)
		load_row(w, &meta_table, &w->meta[i]);
	for (size_t i = 0; i < w->n_queues; i++)
		load_row(w, &queue_table, &w->queues[i]);
	for (size_t i = 0; i < w->n_tasks; i++) {
		ev = (struct event){.kind = EV_LOAD_COUNT,
		    .count.queue = w->tasks[i].spec.queue,
		    .count.status = w->tasks[i].state.status,
		    .count.n = 1};
		if (!task_is_ended(ev.count.status))
			world_step(w, &ev);
	}
	for (size_t i = 0; i < w->n_workers; i++)
		load_row(w, &worker_table, &w->workers[i]);
	if (w->zone_name)
		world_step(w, &(struct event){.kind = EV_ZONE,
		                  .zone = {.name = str_of(w->zone_name), .zone = w->zone}});
	for (size_t i = 0; i < w->n_schedules; i++)
		load_row(w, &schedule_table, &w->schedules[i]);
	for (size_t i = 0; i < w->n_inputs; i++)
		load_row(w, &input_table, &w->inputs[i]);
	world_load_groups(w);
	world_load_services(w);
	for (size_t i = 0; i < w->n_tasks; i++)
		if (w->tasks[i].spec.owner.id && !task_is_ended(w->tasks[i].state.status))
			world_step(w, &(struct event){.kind = EV_LOAD_OWNED,
			                  .owned = {w->tasks[i].spec.owner, w->tasks[i].id,
			                      w->tasks[i].spec.queue}});
	for (size_t i = 0; i < w->n_tasks; i++)
		if (task_phase(w->tasks[i].state.status) == PHASE_CLAIMED ||
		    task_phase(w->tasks[i].state.status) == PHASE_RUNNING)
			load_row(w, &task_table, &w->tasks[i]);
	ev = (struct event){.kind = EV_LOAD_DONE,
	    .loaded.last_event = w->last_event,
	    .loaded.key_is_new = w->key_is_new,
	    .loaded.last_id = w->n_tasks ? w->tasks[w->n_tasks - 1].id : 0};
	for (size_t i = 0; i < w->n_queues; i++)
		if (w->queues[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->queues[i].id;
	for (size_t i = 0; i < w->n_workers; i++)
		if (w->workers[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->workers[i].id;
	for (size_t i = 0; i < w->n_schedules; i++)
		if (w->schedules[i].id > ev.loaded.last_id)
			ev.loaded.last_id = w->schedules[i].id;
	ev.loaded.last_id = world_last_service(w, world_last_group(w, ev.loaded.last_id));
	world_step(w, &ev);
}

struct world *world_new(const struct core_options *o)
{
	struct world *w = xcalloc(1, sizeof *w);

	w->now_ms = 1700000000000;
	w->mono_ms = 1000000;
	if (o)
		w->options = *o;
	if (!w->options.timeouts.heartbeat_ms) /* stories that are not about health */
		w->options.timeouts =
		    (struct timeouts){FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER, FOR_EVER};
	w->core = core_new(&w->options);
	effects_reset(&w->fx, ++w->seq);
	load(w);
	return w;
}

void world_restart(struct world *w)
{
	effects_reset(&w->fx, ++w->seq); /* what was not committed never happened */
	w->n_reads = 0;
	core_free(w->core);
	w->core = core_new(&w->options);
	w->hold = false;
	load(w);
}

void world_free(struct world *w)
{
	core_free(w->core);
	effects_release(&w->fx);
	arena_release(&w->rows_arena);
	world_free_services(w);
	free(w);
}
