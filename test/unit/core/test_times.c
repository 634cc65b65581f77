/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about workers whose clocks are wrong: what they say of time is made possible, and marked.
 */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "model/task/history.h"

#define STORY(name) static void name(void **state)
#define DAY_MS 86400000
#define TOOK_MS 3000

struct tale {
	struct world *w;
	rid queue, task;
	int64_t claimed_ms;
};

static struct tale begin(int max_attempts)
{
	struct tale s = {.w = world_new(NULL)};
	struct submit_task one = {.status = TASK_QUEUED};

	s.queue = world_queue(s.w, "q", -1, ORDER_FIFO);
	one.spec = (struct task_spec){.queue = s.queue,
	    .max_attempts = max_attempts,
	    .body = STR("{}"),
	    .backoff_max_ms = -1};
	world_hello(s.w, 1, "w1", 1, 2, NULL, 0);
	s.task = world_submit(s.w, &one, 1)->outcomes[0].id;
	s.claimed_ms = s.w->now_ms;
	return s;
}

static struct task_state *stored(struct tale *s)
{
	return &world_task(s->w, s->task)->state;
}

static void said_started(struct tale *s, int64_t started_ms)
{
	struct event ev = {.kind = EV_STARTED};

	ev.link = 1;
	ev.started.task = s->task;
	ev.started.token = stored(s)->token;
	ev.started.started_ms = started_ms;
	world_step(s->w, &ev);
}

static void said_ended(struct tale *s, int64_t started_ms, int64_t ended_ms, int status)
{
	struct event ev = {.kind = EV_ENDED};

	ev.link = 1;
	ev.ended.task = s->task;
	ev.ended.token = stored(s)->token;
	ev.ended.status = status;
	ev.ended.started_ms = started_ms;
	ev.ended.ended_ms = ended_ms;
	ev.ended.killed = !started_ms;
	world_step(s->w, &ev);
}

/* A task of three seconds, ten after its order, by a clock that is wrong by `off_ms`. */
static struct tale runs_by_a_clock(int64_t off_ms)
{
	struct tale s = begin(1);
	int64_t at;

	world_advance(s.w, 5000);
	at = s.w->now_ms + off_ms;
	said_started(&s, at);
	world_advance(s.w, 5000);
	said_ended(&s, at, at + TOOK_MS, TASK_SUCCEEDED);
	return s;
}

STORY(a_right_clock_is_believed)
{
	struct tale s = runs_by_a_clock(0);

	assert_int_equal(stored(&s)->started_ms, s.claimed_ms + 5000);
	assert_int_equal(stored(&s)->ended_ms, s.claimed_ms + 8000);
	assert_false(stored(&s)->times_doubtful);
	world_free(s.w);
}

/* Clocks that are kept in step still differ a little: that is mended, and not told. */
STORY(a_little_is_not_worth_a_word)
{
	struct tale s = begin(1);

	said_started(&s, s.claimed_ms - 900);
	assert_int_equal(stored(&s)->started_ms, s.claimed_ms);
	assert_false(stored(&s)->times_doubtful);
	said_ended(&s, s.claimed_ms - 900, s.w->now_ms + 900, TASK_SUCCEEDED);
	assert_int_equal(stored(&s)->ended_ms, s.w->now_ms);
	assert_false(stored(&s)->times_doubtful);
	world_free(s.w);
}

STORY(a_clock_that_is_behind)
{
	struct tale s = runs_by_a_clock(-40ll * DAY_MS);

	assert_int_equal(stored(&s)->started_ms, s.claimed_ms);
	assert_int_equal(stored(&s)->ended_ms, s.claimed_ms + TOOK_MS);
	assert_int_equal(stored(&s)->mtime_ms, s.w->now_ms); /* retention goes by this */
	assert_true(stored(&s)->times_doubtful);
	world_free(s.w);
}

STORY(a_clock_that_is_ahead)
{
	struct tale s = runs_by_a_clock(40ll * DAY_MS);

	assert_int_equal(stored(&s)->ended_ms, s.w->now_ms);
	assert_int_equal(stored(&s)->started_ms, s.w->now_ms - TOOK_MS);
	assert_true(stored(&s)->times_doubtful);
	world_free(s.w);
}

STORY(numbers_that_are_no_times)
{
	static const int64_t said[] = {INT64_MIN, -1, 1, INT64_MAX - 1, INT64_MAX};

	for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
		for (size_t j = 0; j < sizeof said / sizeof said[0]; j++) {
			struct tale s = begin(1);

			said_started(&s, said[i]);
			world_advance(s.w, 1000);
			said_ended(&s, said[i], said[j], TASK_SUCCEEDED);
			assert_int_equal(stored(&s)->status, TASK_SUCCEEDED);
			assert_true(stored(&s)->started_ms >= s.claimed_ms);
			assert_true(stored(&s)->ended_ms >= stored(&s)->started_ms);
			assert_true(stored(&s)->ended_ms <= s.w->now_ms);
			assert_true(stored(&s)->times_doubtful);
			world_free(s.w);
		}
}

/* Killed before it began: there is an end only. */
STORY(an_end_without_a_start)
{
	struct tale s = begin(1);

	said_ended(&s, 0, 1000, TASK_TERMINATED);
	assert_int_equal(stored(&s)->started_ms, 0);
	assert_int_equal(stored(&s)->ended_ms, s.claimed_ms);
	assert_true(stored(&s)->times_doubtful);
	world_free(s.w);
}

STORY(our_own_clock_is_set_back)
{
	struct tale s = begin(1);

	s.w->now_ms -= DAY_MS;
	said_started(&s, s.w->now_ms);
	assert_int_equal(stored(&s)->started_ms, s.w->now_ms);
	said_ended(&s, s.w->now_ms, s.w->now_ms, TASK_SUCCEEDED);
	assert_int_equal(stored(&s)->ended_ms, s.w->now_ms);
	assert_int_equal(stored(&s)->mtime_ms, s.w->now_ms);
	world_free(s.w);
}

/* The attempt before keeps its mark in the history; the next one begins without. */
STORY(each_attempt_has_its_own_mark)
{
	struct tale s = begin(3);
	struct attempt past;
	struct str rest;

	said_started(&s, 1000);
	said_ended(&s, 1000, 2000, TASK_FAILED);
	rest = stored(&s)->history;
	assert_true(history_next(&rest, &past));
	assert_true(past.times_doubtful);
	assert_true(past.started_ms >= s.claimed_ms);
	world_advance(s.w, 60000);
	assert_int_equal(stored(&s)->attempt, 2);
	assert_false(stored(&s)->times_doubtful);
	said_ended(&s, s.w->now_ms, s.w->now_ms, TASK_FAILED);
	rest = stored(&s)->history;
	assert_true(history_next(&rest, &past));
	assert_true(history_next(&rest, &past));
	assert_false(past.times_doubtful);
	world_free(s.w);
}

/* What a hello says of a start counts as much, or as little. */
STORY(a_hello_with_a_wrong_start)
{
	struct tale s = begin(1);
	struct link_held held = {s.task, stored(&s)->token, false, 1000};

	world_link_lost(s.w, 1);
	world_hello(s.w, 2, "w1", 1, 2, &held, 1);
	assert_int_equal(stored(&s)->status, TASK_RUNNING);
	assert_int_equal(stored(&s)->started_ms, s.claimed_ms);
	assert_true(stored(&s)->times_doubtful);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_right_clock_is_believed),
	    cmocka_unit_test(a_little_is_not_worth_a_word),
	    cmocka_unit_test(a_clock_that_is_behind),
	    cmocka_unit_test(a_clock_that_is_ahead),
	    cmocka_unit_test(numbers_that_are_no_times),
	    cmocka_unit_test(an_end_without_a_start),
	    cmocka_unit_test(our_own_clock_is_set_back),
	    cmocka_unit_test(each_attempt_has_its_own_mark),
	    cmocka_unit_test(a_hello_with_a_wrong_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
