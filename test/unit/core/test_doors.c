/* SPDX-License-Identifier: Apache-2.0 */
/* The server's machines: what their tables allow goes through their doors, nothing else does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../walk.h"
#include "core/group/group.h"
#include "core/schedule/schedule.h"
#include "core/state.h"
#include "world/world.h"

static const int status_of[N_PHASES] = {
    [PHASE_HELD] = TASK_BLOCKED,
    [PHASE_QUEUED] = TASK_QUEUED,
    [PHASE_CLAIMED] = TASK_CLAIMED,
    [PHASE_RUNNING] = TASK_RUNNING,
    [PHASE_ENDED] = TASK_FAILED,
};

/* A task of a queue that nobody serves is put into the state by hand: only the door is asked. */
static unsigned task(unsigned from, unsigned to)
{
	struct world *w = world_new(&(struct core_options){0});
	struct task *t =
	    task_find(w->core, world_submit_one(w, world_queue(w, "q", -1, ORDER_FIFO)));

	t->row.state.status = status_of[from];
	task_move(w->core, t, status_of[to], STR_NULL, &w->fx);
	return task_phase(t->row.state.status);
}

static unsigned n_in(const struct queue_list *line)
{
	const struct queue *q;
	unsigned n = 0;

	TAILQ_FOREACH (q, line, in_line)
		n++;
	return n;
}

static unsigned line(unsigned from, unsigned to)
{
	struct world *w = world_new(&(struct core_options){0});
	struct core *c = w->core;
	struct queue *q = queue_find(c, world_queue(w, "q", -1, ORDER_FIFO));

	if (q->line != LINE_NONE || n_in(&c->rotation) || n_in(&c->stalled))
		_exit(4);
	if (from != LINE_NONE)
		queue_line(c, q, LINE_ROTATION);
	if (from == LINE_STALLED)
		queue_line(c, q, LINE_STALLED);
	queue_line(c, q, to);
	if (n_in(&c->rotation) != (to == LINE_ROTATION) ||
	    n_in(&c->stalled) != (to == LINE_STALLED))
		_exit(5);
	return q->line;
}

static unsigned schedule(unsigned from, unsigned to)
{
	struct schedule_row row = {.state = (int32_t)from};

	schedule_move(&row, to);
	return (unsigned)row.state;
}

static unsigned group(unsigned from, unsigned to)
{
	struct world *w = world_new(&(struct core_options){0});
	struct group_row row = {.id = 7, .name = STR("g"), .state = (int32_t)from};
	struct group *g;

	world_step(w, &(struct event){.kind = EV_WAKE});
	g = group_add(w->core, &row);
	if (from == GROUP_QUEUED)
		TAILQ_INSERT_TAIL(&groups_of(w->core)->waiting, g, in_line);
	if (from == GROUP_DISPATCHING || from == GROUP_FAILURE_CLEANUP || from == GROUP_CANCELING)
		TAILQ_INSERT_TAIL(&groups_of(w->core)->active, g, in_line);
	group_move(w->core, g, to, STR_NULL, STR_NULL, &w->fx);
	return (unsigned)g->row.state;
}

static unsigned stage(unsigned from, unsigned to)
{
	struct active a = {.stage = from};

	stage_move(&a, to);
	return a.stage;
}

static void test_a_task(void **state)
{
	walk(&task_moves, task);
}

static void test_a_queues_place_in_line(void **state)
{
	walk(&line_moves, line);
}

static void test_a_schedule(void **state)
{
	walk(&schedule_moves, schedule);
	for (unsigned i = 0; i < N_SCHEDULE_STATES; i++)
		assert_string_equal(schedule_moves.states[i], schedule_state_names[i]);
}

static void test_a_group(void **state)
{
	walk(&group_moves, group);
}

static void test_an_active_group(void **state)
{
	walk(&stage_moves, stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_task),
	    cmocka_unit_test(test_a_queues_place_in_line),
	    cmocka_unit_test(test_a_schedule),
	    cmocka_unit_test(test_a_group),
	    cmocka_unit_test(test_an_active_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
