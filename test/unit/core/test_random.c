/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lives: small windows, held-back commits and reads, restarts, lost links, retries,
 * cancels, all drawn from a seed. Checked after every step: limits are never exceeded, no attempt
 * is started twice, nothing starts after its cancel was acknowledged; at the end, once everything
 * is let run, every task has ended and the counts are those of the store.
 */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define SEEDS 300
#define STEPS 400
#define QUEUES 3
#define WORKERS 3

struct held {
	rid task;
	int64_t token;
	bool live;
};

struct sim_worker {
	uint64_t link, instance;
	bool up;
	struct held held[4096];
	size_t n;
};

struct life {
	struct world *w;
	struct rng rng;
	rid queues[QUEUES];
	int threads[QUEUES];
	struct sim_worker workers[WORKERS];
	size_t read_to; /* messages delivered so far */
	uint64_t last_link, last_instance;
	rid cancelled[4096];
	size_t n_cancelled;
	int max_attempts[WORLD_TASKS];
};

static struct sim_worker *by_link(struct life *l, uint64_t link)
{
	for (int i = 0; i < WORKERS; i++)
		if (l->workers[i].up && l->workers[i].link == link)
			return &l->workers[i];
	return NULL;
}

static struct held *holds(struct sim_worker *s, rid task, int64_t token)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->held[i].live && s->held[i].task == task && s->held[i].token == token)
			return &s->held[i];
	return NULL;
}

static void never_started_before(struct life *l, rid task, int64_t token)
{
	for (int i = 0; i < WORKERS; i++)
		for (size_t k = 0; k < l->workers[i].n; k++)
			assert_false(l->workers[i].held[k].task == task &&
			             l->workers[i].held[k].token == token);
}

static void not_cancelled(struct life *l, rid task)
{
	for (size_t i = 0; i < l->n_cancelled; i++)
		assert_int_not_equal(l->cancelled[i], task);
}

/* What left the brain reaches the workers that are still there. */
static void deliver(struct life *l)
{
	for (; l->read_to < l->w->n_sent; l->read_to++) {
		const struct message *m = &l->w->sent[l->read_to % WORLD_TASKS];
		struct sim_worker *s = by_link(l, m->link);

		if (!s)
			continue;
		if (m->kind == MSG_RUN) {
			never_started_before(l, m->run.task, m->run.token);
			not_cancelled(l, m->run.task);
			assert_true(s->n < 4096);
			s->held[s->n++] = (struct held){m->run.task, m->run.token, true};
		} else if (m->kind == MSG_KILL && holds(s, m->kill.task, m->kill.token) &&
		           m->kill.forget) {
			holds(s, m->kill.task, m->kill.token)->live = false;
		} else if (m->kind == MSG_ENDED_ACK &&
		           holds(s, m->ended_ack.task, m->ended_ack.token)) {
			holds(s, m->ended_ack.task, m->ended_ack.token)->live = false;
		}
	}
}

static void check_limits(struct life *l)
{
	for (int q = 0; q < QUEUES; q++) {
		struct queue_counts c = world_counts(l->w, l->queues[q]);

		assert_true(l->threads[q] < 0 || c.claimed + c.running <= l->threads[q]);
		assert_true(c.queued >= 0 && c.held >= 0 && c.delayed >= 0);
	}
}

static void hello(struct life *l, int i, bool anew)
{
	struct sim_worker *s = &l->workers[i];
	struct link_held held[4096];
	char name[8];
	size_t n = 0;

	if (anew || !s->instance) {
		s->instance = ++l->last_instance;
		for (size_t k = 0; k < s->n; k++)
			s->held[k].live = false;
	}
	for (size_t k = 0; k < s->n; k++)
		if (s->held[k].live)
			held[n++] = (struct link_held){s->held[k].task, s->held[k].token, false, 1};
	s->link = ++l->last_link;
	s->up = true;
	snprintf(name, sizeof name, "w%d", i);
	world_hello(l->w, s->link, name, s->instance, 1 + i, held, n);
}

static void lose_link(struct life *l, int i)
{
	if (!l->workers[i].up)
		return;
	l->workers[i].up = false;
	world_link_lost(l->w, l->workers[i].link);
}

static void end_one(struct life *l)
{
	struct sim_worker *s = &l->workers[rng_below(&l->rng, WORKERS)];

	for (size_t k = 0; s->up && k < s->n; k++) {
		if (!s->held[k].live || rng_below(&l->rng, 2))
			continue;
		if (rng_below(&l->rng, 2))
			world_started(l->w, s->link, s->held[k].task, s->held[k].token);
		world_ended(l->w, s->link, s->held[k].task, s->held[k].token,
		    rng_below(&l->rng, 3) ? TASK_SUCCEEDED : TASK_FAILED);
		return;
	}
}

static void submit(struct life *l)
{
	struct submit_task s[40] = {0};
	size_t n = 1 + rng_below(&l->rng, 39);

	for (size_t i = 0; i < n; i++) {
		rid q = l->queues[rng_below(&l->rng, QUEUES)];

		s[i] = (struct submit_task){.status = rng_below(&l->rng, 20) ? TASK_QUEUED : -9,
		    .spec = {.queue = q,
		        .priority = (int32_t)rng_below(&l->rng, 5),
		        .max_attempts = 1 + (int32_t)rng_below(&l->rng, 3),
		        .backoff_ms = 100,
		        .backoff_max_ms = 1000,
		        .body = STR("{}")}};
		if (rng_below(&l->rng, 5) == 0)
			s[i].spec.run_after_ms = l->w->now_ms + (int64_t)rng_below(&l->rng, 5000);
	}
	{
		struct event ev = {.kind = EV_SUBMIT};

		ev.submit.tasks = s;
		ev.submit.n = n;
		world_step(l->w, &ev);
	}
}

static void command(struct life *l)
{
	static const enum event_kind kinds[] = {EV_CANCEL, EV_RETRY, EV_TASK_SET, EV_TASK_SET};
	struct event ev = {.kind = kinds[rng_below(&l->rng, 4)]};
	rid id;

	if (!l->w->n_tasks)
		return;
	id = l->w->tasks[rng_below(&l->rng, l->w->n_tasks)].id;
	if (ev.kind == EV_RETRY)
		for (size_t i = 0; i < l->n_cancelled; i++)
			if (l->cancelled[i] == id)
				return; /* it would live again: not what this test counts */
	ev.tasks.ids = &id;
	ev.tasks.n = 1;
	ev.tasks.has_status = rng_below(&l->rng, 2);
	ev.tasks.status = rng_below(&l->rng, 2) ? TASK_QUEUED : -8;
	ev.tasks.has_priority = true;
	ev.tasks.priority = (int32_t)rng_below(&l->rng, 5);
	world_step(l->w, &ev);
}

/* Cancels whose state is final in the store: from then on nothing may start. */
static void note_cancelled(struct life *l)
{
	l->n_cancelled = 0;
	for (size_t i = 0; i < l->w->n_tasks && l->n_cancelled < 4096; i++)
		if (l->w->tasks[i].state.status == TASK_CANCELLED)
			l->cancelled[l->n_cancelled++] = l->w->tasks[i].id;
}

static void restart(struct life *l)
{
	for (int i = 0; i < WORKERS; i++)
		l->workers[i].up = false;
	l->read_to = l->w->n_sent;
	world_restart(l->w);
	l->w->hold_reads = false;
}

static void change_order(struct life *l)
{
	struct queue_change ch = {
	    .fields = QUEUE_BIT(order), .row = {.order = (int32_t)rng_below(&l->rng, N_ORDERS)}};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE};

	ev.object.id = l->queues[rng_below(&l->rng, QUEUES)];
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(l->w, &ev);
}

static void random_step(struct life *l)
{
	switch (rng_below(&l->rng, 16)) {
	case 0: submit(l); break;
	case 1: command(l); break;
	case 2: hello(l, (int)rng_below(&l->rng, WORKERS), rng_below(&l->rng, 4) == 0); break;
	case 3: lose_link(l, (int)rng_below(&l->rng, WORKERS)); break;
	case 4: world_advance(l->w, (int64_t)rng_below(&l->rng, 2000)); break;
	case 5: l->w->hold_reads = !l->w->hold_reads; break;
	case 6: l->w->hold = !l->w->hold; break;
	case 7:
		if (rng_below(&l->rng, 8) == 0)
			restart(l);
		break;
	case 8:
		if (rng_below(&l->rng, 4) == 0)
			change_order(l);
		break;
	default: end_one(l); break;
	}
	if (!l->w->hold)
		world_commit(l->w);
	if (!l->w->hold_reads && !l->w->hold)
		world_answer_reads(l->w);
}

static size_t live(struct world *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_tasks; i++)
		n += !task_is_ended(w->tasks[i].state.status) &&
		     !task_is_held(w->tasks[i].state.status);
	return n;
}

static void let_everything_run(struct life *l)
{
	l->w->hold = l->w->hold_reads = false;
	world_commit(l->w);
	world_answer_reads(l->w);
	for (int i = 0; i < WORKERS; i++)
		if (!l->workers[i].up)
			hello(l, i, false);
	for (int i = 0; i < 20000 && live(l->w); i++) {
		deliver(l);
		end_one(l);
		world_advance(l->w, 100);
		check_limits(l);
	}
	for (size_t i = 0; live(l->w) && i < l->w->n_tasks; i++)
		if (!task_is_ended(l->w->tasks[i].state.status))
			print_message("task %zu: status %d due %lld attempt %d\n", i,
			    l->w->tasks[i].state.status, (long long)l->w->tasks[i].state.due_ms,
			    l->w->tasks[i].state.attempt);
	assert_int_equal(live(l->w), 0);
	for (int q = 0; q < QUEUES; q++) {
		struct queue_counts c = world_counts(l->w, l->queues[q]);

		assert_int_equal(c.queued, 0);
		assert_int_equal(c.delayed, 0);
		assert_int_equal(c.claimed + c.running, 0);
		assert_int_equal(c.in_memory, 0);
	}
}

static void live_one_life(uint64_t seed)
{
	static struct life life;
	struct core_options small = {.window_tasks = 4};
	struct life *l = &life;

	memset(l, 0, sizeof *l);
	l->rng.state = seed;
	l->w = world_new(&small);
	for (int q = 0; q < QUEUES; q++) {
		char name[8];

		snprintf(name, sizeof name, "q%d", q);
		l->threads[q] = q == 0 ? -1 : q;
		l->queues[q] = world_queue(l->w, name, l->threads[q], (enum queue_order)q);
	}
	for (int i = 0; i < STEPS; i++) {
		random_step(l);
		deliver(l);
		note_cancelled(l);
		check_limits(l);
	}
	let_everything_run(l);
	world_free(l->w);
}

static void random_lives(void **state)
{
	const char *from = getenv("REEVE_TEST_SEED");
	uint64_t first = from ? strtoull(from, NULL, 10) : 1;

	for (uint64_t seed = first; seed < first + (from ? 1 : SEEDS); seed++) {
		if (from || seed % 100 == 0)
			print_message("seed %llu\n", (unsigned long long)seed);
		live_one_life(seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_lives)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
