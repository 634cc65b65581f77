/* SPDX-License-Identifier: Apache-2.0 */
/* Which command comes next. */
#include "sim/load/load_internal.h"
#include "sim/load/needs.h"
#include "sim/world/server.h"
#include "sim/world/worker.h"

#define JOIN_EVERY 7 /* requests: a submit joins the batch that was made last */

static void draw_queue(struct world *w, struct queue_row *q)
{
	struct rng *r = &w->rng_load;

	queue_defaults(q);
	q->threads = sim_chance(r, 300) ? -1 : (int32_t)sim_between(r, 1, 12);
	q->order = (int32_t)rng_below(r, N_ORDERS);
	q->timeout_ms = sim_chance(r, 600) ? 0 : sim_between(r, 500, 60000);
	q->max_attempts = sim_chance(r, 400) ? 1 : (int32_t)sim_between(r, 2, 5);
	q->backoff_ms = sim_between(r, 0, 20000);
	q->backoff_max_ms = sim_between(r, q->backoff_ms, 60000);
	q->exit_codes = sim_chance(r, 500);
	q->output_mode = (int32_t)rng_below(r, N_OUTPUT_MODES);
	q->need = needs_of_queue(w);
	q->placement = w->o.has_needs ? (int32_t)rng_below(&w->rng_need, N_PLACEMENTS) : 0;
	q->output_max = sim_chance(r, 300) ? sim_between(r, 20, 300) : 1 << 20;
}

void load_make_queue(struct world *w, struct load *l, int queue)
{
	struct request *r = load_command(w, l, EV_CREATE, KIND_QUEUE);

	r->queue = queue;
	draw_queue(w, &r->row);
	r->fields = row_settable(&queue_table) & ~ROW_BIT(queue_table, queue_row, env);
	load_send(w, r, 0);
}

static void draw_submit(struct world *w, struct load *l)
{
	struct rng *g = &w->rng_load;
	struct request *r = load_request(w, l, EV_SUBMIT);

	r->queue = (int)rng_below(g, (uint64_t)l->n_queues);
	r->n = sim_chance(g, 800) ? 1 : (int)sim_between(g, 2, SUBMIT_MOST);
	r->key = r->n == 1 && sim_chance(g, 200) ? (int)sim_between(g, 1, KEYS_MOST) : 0;
	r->idem = sim_chance(g, 500);
	r->repeat = r->idem || r->key;
	r->max_attempts = sim_chance(g, 500)   ? 0
	                  : sim_chance(g, 500) ? 1
	                                       : (int)sim_between(g, 2, 4);
	r->priority = (int32_t)sim_between(g, -3, 3);
	r->status = sim_chance(g, 50) ? -10 : TASK_QUEUED;
	r->timeout_ms = sim_chance(g, 800) ? 0 : sim_between(g, 500, 30000);
	r->need = needs_of_task(w);
	r->delay_ms = sim_chance(g, 850) ? 0 : sim_between(g, 100, 40000);
	if (r->number % JOIN_EVERY == 0)
		r->batch = l->batch;
	load_send(w, r, 0);
}

static void draw_task_command(struct world *w, struct load *l, enum event_kind kind)
{
	struct rng *g = &w->rng_load;
	struct request *r;
	size_t recent = l->n_tasks < 20 ? l->n_tasks : 20;

	if (!l->n_tasks) {
		draw_submit(w, l);
		return;
	}
	r = load_request(w, l, kind);
	r->n_ids = (size_t)sim_between(g, 1, 2);
	for (size_t i = 0; i < r->n_ids; i++)
		r->ids[i] = sim_chance(g, 600) ? l->tasks[l->n_tasks - 1 - rng_below(g, recent)]
		                               : l->tasks[rng_below(g, l->n_tasks)];
	r->flag = sim_chance(g, 300); /* only the priority */
	r->status = sim_chance(g, 400) ? -10 : TASK_QUEUED;
	r->priority = (int32_t)sim_between(g, -3, 3);
	r->repeat = sim_chance(g, 500);
	load_send(w, r, 0);
}

/* A backoff changes with its maximum: either alone may be out of order. */
static uint64_t draw_fields(struct rng *g)
{
	static const size_t some[] = {offsetof(struct queue_row, threads),
	    offsetof(struct queue_row, order), offsetof(struct queue_row, timeout_ms),
	    offsetof(struct queue_row, backoff_ms), offsetof(struct queue_row, output_mode)};
	unsigned drawn = (unsigned)rng_next(g);
	uint64_t fields = load_fields(&queue_table, some, sizeof some / sizeof some[0], drawn);

	if (fields & ROW_BIT(queue_table, queue_row, backoff_ms))
		fields |= ROW_BIT(queue_table, queue_row, backoff_max_ms);
	return fields;
}

static void draw_queue_command(struct world *w, struct load *l)
{
	static const enum event_kind kinds[] = {
	    EV_PAUSE, EV_PAUSE, EV_RESUME, EV_RESUME, EV_SET, EV_SET};
	struct rng *g = &w->rng_load;
	struct request *r =
	    load_command(w, l, sim_chance(g, 50) ? EV_DELETE : kinds[rng_below(g, 6)], KIND_QUEUE);

	r->queue = (int)rng_below(g, (uint64_t)l->n_queues);
	r->force = sim_chance(g, 500);
	if (r->kind == EV_PAUSE)
		r->value = sim_chance(g, 500) ? 0 : sim_between(g, 1000, 60000);
	if (r->kind == EV_SET) {
		draw_queue(w, &r->row);
		r->fields = draw_fields(g);
		if (w->o.has_needs && sim_chance(&w->rng_need, 500))
			r->fields |= ROW_BIT(queue_table, queue_row, need) |
			             ROW_BIT(queue_table, queue_row, placement);
	}
	load_send(w, r, 0);
}

static void drain(struct request *r, bool on)
{
	r->kind = EV_DO;
	r->verb = on ? WORKER_DRAIN : WORKER_UNDRAIN;
	r->word = on ? "drain" : "undrain";
}

static void draw_worker_command(struct world *w, struct load *l)
{
	struct rng *g = &w->rng_load;
	struct request *r = load_command(w, l, sim_chance(g, 500) ? EV_SET : EV_DO, KIND_WORKER);

	r->slot = (int)rng_below(g, (uint64_t)w->o.workers);
	r->value = sim_chance(g, 300) ? -2 : sim_between(g, 1, 6);
	r->flag = sim_chance(g, 700); /* restart */
	r->repeat = false;
	r->verb = r->flag ? WORKER_RESTART : WORKER_STOP;
	r->word = r->flag ? "restart" : "stop";
	if (r->kind == EV_DO && sim_chance(g, 150) && !w->workers[r->slot].agent &&
	    !w->workers[r->slot].processes && !w->workers[r->slot].start)
		r->kind = EV_DELETE; /* an operator who has looked at the machine */
	else if (w->o.has_drains && sim_chance(&w->rng_need, 600))
		drain(r, sim_chance(&w->rng_need, 550));
	load_send(w, r, 0);
}

/* A task that really runs somewhere, whatever the server knows of it; 0: none does. */
static rid running_somewhere(struct world *w)
{
	int first = (int)rng_below(&w->rng_load, (uint64_t)w->o.workers);

	for (int i = 0; i < w->o.workers; i++) {
		const struct sim_worker *k = &w->workers[(first + i) % w->o.workers];

		if (k->processes)
			return k->processes->task;
	}
	return 0;
}

/* Nothing moves while the server waits for its workers: somebody loses patience. */
static bool draw_impatience(struct world *w, struct load *l)
{
	struct set_view set = {0};
	struct request *r;
	rid task;

	if (!sim_core(w) || !core_is_open(sim_core(w)))
		return false;
	core_set(sim_core(w), sim_server_mono_ms(w), &set);
	if (!set.waiting || !sim_chance(&w->rng_load, 300) || !(task = running_somewhere(w)))
		return false;
	r = load_request(w, l, EV_CANCEL);
	r->n_ids = 1;
	r->ids[0] = task;
	r->repeat = sim_chance(&w->rng_load, 500);
	load_send(w, r, 0);
	return true;
}

void load_draw(struct world *w, struct load *l)
{
	int n = (int)rng_below(&w->rng_load, 1000);

	if (draw_impatience(w, l))
		return;
	if (n < 640)
		draw_submit(w, l);
	else if (n < 730)
		draw_task_command(w, l, EV_CANCEL);
	else if (n < 800)
		draw_task_command(w, l, EV_RETRY);
	else if (n < 880)
		draw_task_command(w, l, EV_TASK_SET);
	else if (n < 950)
		draw_queue_command(w, l);
	else
		draw_worker_command(w, l);
}
