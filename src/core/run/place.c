/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement: which waiting task goes to which worker. Queues with something to start stand in a
 * rotation, one task each per turn; a queue for which no worker has room stands aside (stalled)
 * until some worker has room again. Which workers are looked at: fit.c.
 */
#include "core/service/worker.h"
#include "core/state.h"

void place_worker_joined(struct core *c, struct worker *w)
{
	struct queue *q;

	EACH_OBJECT(q, c, KIND_QUEUE)
	fit_joined(c, w, q);
}

/* Looked at when the step is over, whatever else happens to it until then. */
void place_room(struct core *c, struct worker *w)
{
	services_see_worker(c, w);
	services_room(c);
	if (w->is_roomy)
		return;
	w->is_roomy = true;
	TAILQ_INSERT_TAIL(&c->roomy, w, in_roomy);
}

bool queue_may_start(const struct queue *q)
{
	int64_t used = q->n_running + (MUTANT(CLAIMED_NOT_COUNTED) ? 0 : q->n_claimed);

	return !q->row.paused && (q->row.threads < 0 || used < q->row.threads);
}

void place_order(
    struct core *c, struct task *t, const struct shown_needs *needs, struct effects *out)
{
	struct worker *w = t->worker;
	struct message *m = effects_message(out, MSG_RUN, w->link);
	const struct queue_row *q = &t->queue->row;
	struct arena *a = &out->batch.arena;

	t->output_max = queue_output_max(q);
	m->run = (struct link_run){.task = t->row.id,
	    .token = t->row.state.token,
	    .attempt = t->row.state.attempt,
	    .max_attempts = t->row.state.attempts_before + task_max_attempts(t),
	    .queue = arena_str(a, q->name),
	    .plugin = arena_str(a, q->plugin),
	    .body = arena_str(a, t->row.spec.body),
	    .env = owner_env(c, &t->row, q->env, a),
	    .run_settings = arena_str(a, q->run),
	    .timeout_ms = task_timeout_ms(t),
	    .output_mode = q->output_mode,
	    .output_max = t->output_max,
	    .exit_codes = q->exit_codes,
	    .is_streamed = t->row.spec.is_streamed,
	    .number = ++w->run_number,
	    .notify_seq = w->notify_seq};
	if (needs) {
		m->run.needs = needs->needs;
		m->run.n_needs = needs->n;
		m->run.needs_left_out = needs->n_left_out;
	}
	owner_order(c, t, &m->run, a);
	unsure_ordered(c, t);
}

static int64_t next_token(const struct core *c, const struct task *t)
{
	int64_t token = t->row.state.token;

	if (token < c->start.token_floor)
		token = c->start.token_floor;
	return MUTANT(TOKEN_NOT_RAISED) && token ? token : token + 1;
}

void place_claim(
    struct core *c, struct task *t, struct worker *w, struct str need, struct effects *out)
{
	task_begin_attempt(c, t, w, next_token(c, t), need);
	t->row.state.due_ms = 0;
	t->row.state.claimed_ms = c->now_ms;
	task_move(c, t, TASK_CLAIMED, STR_NULL, out);
}

static void claim(struct core *c, struct task *t, struct worker *w, struct effects *out)
{
	place_claim(c, t, w, t->shape ? t->shape->need : STR_NULL, out);
	if (!owner_delays(c, t))
		place_order(c, t, NULL, out);
}

/* What the store cannot vouch for is not run: it is held, and whoever releases it gets it back. */
static void set_aside(struct core *c, struct task *t, struct effects *out)
{
	task_move(c, t, TASK_BLOCKED,
	    STR("damaged: its row in the store does not fit its checksum; submit it anew"), out);
	task_forget(c, t);
}

/* Of the queue's tasks the first for which there is a worker. */
static struct task *find_task(struct core *c, struct queue *q, struct worker **ret_worker)
{
	struct task *t;

	while ((t = shape_next_task(q)) && !t->row.damage) {
		*ret_worker = fit_pick(c, t->shape ? t->shape : &q->shapes.plain, &t->row.spec);
		if (*ret_worker)
			return t;
		if (!t->shape)
			return NULL; /* no worker has room for anything */
		shape_block(c, t->shape);
	}
	return t;
}

/* One task of the queue at the head of the rotation, or the queue leaves it. */
static void place_one(struct core *c, struct queue *q, struct effects *out)
{
	struct shape *s;
	struct worker *w = NULL;
	struct task *t;

	if (!q->ready.n || !queue_may_start(q)) {
		reserve_queue_rests(c, q);
		queue_line(c, q, LINE_NONE);
		return;
	}
	t = find_task(c, q, &w);
	if (!t) {
		queue_line(c, q, LINE_STALLED);
		return;
	}
	if (t->row.damage) {
		set_aside(c, t, out);
		return;
	}
	s = t->shape;
	claim(c, t, w, out);
	if (s)
		reserve_placed(c, s);
	queue_line(c, q, LINE_ROTATION);
}

static void room_is_back(struct core *c)
{
	struct worker *w;

	c->is_room_back = true;
	while ((w = TAILQ_FIRST(&c->roomy))) {
		TAILQ_REMOVE(&c->roomy, w, in_roomy);
		w->is_roomy = false;
		fit_return(c, w);
	}
	c->is_room_back = false;
	c->waited = NULL;
}

void place(struct core *c, struct effects *out)
{
	struct queue *q;

	if (c->start.waiting)
		return;
	do {
		room_is_back(c);
		while ((q = TAILQ_FIRST(&c->rotation))) {
			window_refill(c, &q->ready, out);
			window_refill(c, &q->due, out);
			place_one(c, q, out);
		}
	} while (!TAILQ_EMPTY(&c->roomy));
}
