/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement: which waiting task goes to which worker. Queues with something to start stand in a
 * rotation, one task each per turn; a queue for which no worker has room stands aside (stalled)
 * until some worker has room again.
 */
#include "core/state.h"

#define LOOK_AT 8 /* workers compared for one task: a fair spread without a walk over all */

void place_worker_joined(struct core *c, struct worker *w)
{
	struct queue *q;

	EACH_OBJECT(q, c, KIND_QUEUE)
	queue_consider(c, q, w);
}

void place_room(struct core *c)
{
	struct queue *q;

	while ((q = TAILQ_FIRST(&c->stalled)))
		queue_ready(c, q);
}

static struct worker *pick(const struct core *c, struct queue *q)
{
	struct worker *best = NULL;
	size_t looked = 0;

	for (size_t left = q->n_eligible; left > 0 && looked < LOOK_AT; left--) {
		struct eligible *e;

		if (q->cursor >= q->n_eligible)
			q->cursor = 0;
		e = &q->eligible[q->cursor];
		if (e->generation != e->worker->generation) {
			*e = q->eligible[--q->n_eligible];
			continue;
		}
		q->cursor++;
		if (!worker_has_room(c, e->worker))
			continue;
		looked++;
		if (!best || e->worker->running < best->running)
			best = e->worker;
	}
	return best;
}

static bool may_start(const struct queue *q)
{
	int64_t used = q->n_running + (MUTANT(CLAIMED_NOT_COUNTED) ? 0 : q->n_claimed);

	return !q->row.paused && (q->row.threads < 0 || used < q->row.threads);
}

static void order(struct core *c, struct task *t, struct worker *w, struct effects *out)
{
	struct message *m = effects_message(out, MSG_RUN, w->link);
	const struct queue_row *q = &t->queue->row;
	struct arena *a = &out->batch.arena;

	t->output_max = q->output_max;
	m->run = (struct link_run){.task = t->row.id,
	    .token = t->row.state.token,
	    .attempt = t->row.state.attempt,
	    .max_attempts = t->row.state.attempts_before + task_max_attempts(t),
	    .queue = arena_str(a, q->name),
	    .plugin = arena_str(a, q->plugin),
	    .body = arena_str(a, t->row.spec.body),
	    .env = arena_str(a, q->env),
	    .run_settings = arena_str(a, q->run),
	    .timeout_ms = task_timeout_ms(t),
	    .output_mode = q->output_mode,
	    .output_max = q->output_max,
	    .exit_codes = q->exit_codes,
	    .number = ++w->run_number,
	    .notify_seq = w->notify_seq};
	unsure_ordered(c, t);
}

static void claim(struct core *c, struct task *t, struct worker *w, struct effects *out)
{
	struct task_state *s = &t->row.state;

	s->attempt++;
	if (s->token < c->start.token_floor)
		s->token = c->start.token_floor;
	if (!MUTANT(TOKEN_NOT_RAISED) || !s->token)
		s->token++;
	s->worker = w->row.id;
	s->instance = w->row.facts.instance;
	s->due_ms = 0;
	s->claimed_ms = c->now_ms;
	times_forget(s);
	s->exit_code = -1;
	s->signal = 0;
	s->usage = (struct usage){0};
	task_attach(t, w);
	task_move(c, t, TASK_CLAIMED, STR_NULL, out);
	order(c, t, w, out);
}

/* What the store cannot vouch for is not run: it is held, and whoever releases it gets it back. */
static void set_aside(struct core *c, struct task *t, struct effects *out)
{
	task_move(c, t, TASK_BLOCKED,
	    STR("damaged: its row in the store does not fit its checksum; submit it anew"), out);
	task_forget(c, t);
}

/* One task of the queue at the head of the rotation, or the queue leaves it. */
static void place_one(struct core *c, struct queue *q, struct effects *out)
{
	struct task *t = window_first(&q->ready);
	struct worker *w;

	if (!t || !may_start(q)) {
		queue_line(c, q, LINE_NONE);
		return;
	}
	if (t->row.damage) {
		set_aside(c, t, out);
		return;
	}
	w = pick(c, q);
	if (!w) {
		queue_line(c, q, LINE_STALLED);
		return;
	}
	claim(c, t, w, out);
	queue_line(c, q, LINE_ROTATION);
}

void place(struct core *c, struct effects *out)
{
	struct queue *q;

	if (c->start.waiting)
		return;
	while ((q = TAILQ_FIRST(&c->rotation))) {
		window_refill(c, &q->ready, out);
		window_refill(c, &q->due, out);
		place_one(c, q, out);
	}
}
