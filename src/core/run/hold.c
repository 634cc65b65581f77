/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hold: a lost worker's task is not tried again while that worker may still be ending it.
 *
 * It is a length of time on the monotonic clock, so no step of the wall clock shortens or
 * lengthens it: the tasks wait here, in memory, and in no window. Their rows hold the end as wall
 * time, for people, and for a server that starts anew. That one cannot know how much of the
 * hold has passed, so whoever waits after a loss waits until a whole hold after the start, too:
 * the floor. It rises with each loss, for tasks that were out of memory meanwhile.
 */
#include "core/state.h"

#include "model/task/history.h"

/* By a loss that nobody could prove: what was over for certain needs no hold. */
static bool ended_by_loss(struct str history)
{
	struct attempt last = {0};

	while (history_next(&history, &last))
		;
	return last.status == TASK_ORPHANED && !str_is(last.reason, PROVEN_LOSS);
}

void hold_started(struct core *c)
{
	c->hold_floor_ms = MUTANT(HOLD_FORGOTTEN_AT_START) ? 0 : c->mono_ms + c->o.lost_hold_ms;
}

void hold_lost(struct core *c, int64_t hold_ms)
{
	if (c->mono_ms + hold_ms > c->hold_floor_ms)
		c->hold_floor_ms = c->mono_ms + hold_ms;
}

void hold_begin(struct core *c, struct task *t, int64_t hold_ms, int64_t then_due_ms)
{
	t->hold_then_due_ms = then_due_ms;
	t->hold_is_known = true;
	if (hold_ms > 0 && !MUTANT(HOLD_BY_WALL_CLOCK))
		t->hold_until_ms = c->mono_ms + hold_ms;
}

static void leave(struct task *t)
{
	TAILQ_REMOVE(&t->queue->on_hold, t, in_hold);
	t->queue->n_on_hold--;
}

void hold_del(struct core *c, struct task *t)
{
	if (!timer_is_set(&t->hold))
		return;
	timer_clear(c, TIMER_MONO, &t->hold);
	leave(t);
}

static void end(struct core *c, struct timer *timer, struct effects *out)
{
	struct task *t = CONTAINER_OF(timer, struct task, hold);
	struct task_state *s = &t->row.state;

	leave(t);
	t->hold_until_ms = 0;
	queue_count(t->queue, s, s->status, -1);
	s->due_ms = t->hold_then_due_ms;
	queue_count(t->queue, s, s->status, +1);
	task_save(c, t, out); /* the store must count it among the ready ones */
	task_enqueue(c, t, out);
}

/* One whose hold is over stays until its timer is served: in two places it would be ended twice. */
bool hold_take(struct core *c, struct task *t)
{
	if (t->hold_until_ms <= c->mono_ms && !timer_is_set(&t->hold))
		return false;
	if (!timer_is_set(&t->hold)) {
		TAILQ_INSERT_TAIL(&t->queue->on_hold, t, in_hold);
		t->queue->n_on_hold++;
	}
	timer_set(c, TIMER_MONO, &t->hold, t->hold_until_ms, t->row.id, end);
	return true;
}

bool hold_to_floor(struct core *c, struct task *t)
{
	if (t->hold_is_known || c->mono_ms >= c->hold_floor_ms ||
	    !ended_by_loss(t->row.state.history))
		return false;
	t->hold_until_ms = c->hold_floor_ms;
	t->hold_then_due_ms = 0;
	return true;
}
