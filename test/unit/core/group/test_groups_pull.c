/* SPDX-License-Identifier: Apache-2.0 */
/* Which groups dispatch: few at once, one more while workers idle, and none for those that stand
 * still. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/group/group.h"
#include "core/state.h"
#include "group_story.h"
#include "words/words.h"

#define STORY(name) static void name(void **state)

STORY(few_groups_at_once_the_oldest_first)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500};
	struct group_story s = story_new(&o), second, third;

	story_worker(&s, 1);
	story_submit(&s, "a b:a");
	second = third = s;
	story_submit(&second, "a");
	story_submit(&third, "a");
	assert_jobs(&second, "a=pending");
	story_end(&s, 'a', TASK_SUCCEEDED);
	story_end(&s, 'b', TASK_SUCCEEDED);
	assert_int_equal(story_group(&s), GROUP_COMPLETE);
	assert_jobs(&second, "a=dispatched");
	assert_jobs(&third, "a=pending");
	world_free(s.w);
}

STORY(one_more_when_workers_idle)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500};
	struct group_story s = story_new(&o), second;

	story_worker(&s, 2);
	story_submit(&s, "a b:a");
	second = s;
	story_submit(&second, "a b");
	assert_jobs(&second, "a=pending b=pending");
	world_advance(s.w, 400);
	assert_jobs(&second, "a=pending b=pending");
	world_advance(s.w, 1000);
	assert_jobs(&second, "a=dispatched b=eligible");
	world_free(s.w);
}

/* Nobody serves the first one's queue: that stalls only itself. */
STORY(a_target_without_workers_stalls_no_other)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500};
	struct group_story s = story_new(&o), second;
	struct event ev = {.kind = EV_PAUSE};

	story_worker(&s, 2);
	story_submit(&s, "a");
	assert_jobs(&s, "a=dispatched");
	second = s;
	second.queue = world_queue(s.w, "other", -1, ORDER_FIFO);
	ev.object.kind = KIND_QUEUE;
	ev.object.id = s.queue;
	world_step(s.w, &ev);
	story_submit(&second, "a");
	world_advance(s.w, 2000);
	assert_jobs(&second, "a=dispatched");
	world_free(s.w);
}

static void restart(struct group_story *s, struct link_held *held, size_t n)
{
	world_restart(s->w);
	s->number++;
	world_hello(s->w, (uint64_t)s->number, "w1", 1, 10, held, n);
}

/* More than a window of tasks wait for their time, which a start counts only when it has read them.
 */
STORY(tasks_of_tomorrow_keep_no_group_out)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500, .window_tasks = 4};
	struct group_story s = story_new(&o), second;
	struct submit_task tomorrow[8];

	for (size_t i = 0; i < 8; i++)
		tomorrow[i] = (struct submit_task){.status = TASK_QUEUED,
		    .spec = {.queue = s.queue,
		        .run_after_ms = s.w->now_ms + 86400000,
		        .body = STR("{}")}};
	assert_int_equal(world_submit(s.w, tomorrow, 8)->code, 0);
	story_submit(&s, "a b:a");
	second = s;
	story_submit(&second, "a b");
	restart(&s, NULL, 0);
	assert_jobs(&s, "a=dispatched");
	assert_jobs(&second, "a=pending b=pending");
	world_advance(s.w, 2000);
	assert_jobs(&second, "a=dispatched b=dispatched");
	world_free(s.w);
}

/* A worker of that target, with room for two. */
static void joins(struct group_story *s, const char *shard, const char *target)
{
	struct event ev = {.kind = EV_HELLO, .link = (uint64_t)++s->number};

	ev.hello.facts = (struct worker_facts){.shard = str_of(shard),
	    .instance = ev.link,
	    .start = s->number,
	    .lock = str_of(shard),
	    .key = str_of(shard),
	    .plugins = STR("command\n"),
	    .offer = STR("cpu=8000\n"),
	    .target = str_of(target),
	    .maxthreads = 2};
	world_step(s->w, &ev);
}

static struct group_story one_that_needs(struct group_story *s, const char *need, const char *text)
{
	s->need = need;
	story_submit(s, text);
	return *s;
}

#define DEAD 40
#define HELD (-10)

/* Forty groups that nobody can run cost a good one behind them one look. */
STORY(dead_groups_keep_no_other_out)
{
	struct core_options o = {.groups_active = 2, .groups_delay_ms = 2000};
	struct group_story s = story_new(&o), dead[DEAD], good, next;

	joins(&s, "w1", "linux");
	for (size_t i = 0; i < DEAD; i++)
		dead[i] = one_that_needs(&s, "@dead\n", "a b:a");
	good = one_that_needs(&s, NULL, "a");
	world_advance(s.w, 2000);
	assert_jobs(&good, "a=dispatched");
	assert_jobs(&dead[DEAD - 1], "a=eligible b=schedulable");
	next = one_that_needs(&s, NULL, "a"); /* a place is still free */
	world_advance(s.w, 2000);
	assert_jobs(&next, "a=dispatched");
	/* a worker of that kind takes what is dead, the oldest first */
	joins(&s, "w2", "dead");
	assert_jobs(&dead[0], "a=dispatched");
	assert_jobs(&dead[1], "a=dispatched");
	assert_jobs(&dead[2], "a=eligible");
	world_free(s.w);
}

/* What stands still takes no place of the few; but the places are given out while workers idle. */
STORY(nobody_idles_so_nothing_more_comes_in)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 2000};
	struct group_story s = story_new(&o), second, third;

	one_that_needs(&s, "@dead\n", "a");
	second = one_that_needs(&s, "@dead\n", "a");
	third = one_that_needs(&s, NULL, "a");
	world_advance(s.w, 60000);
	assert_jobs(&second, "a=pending");
	assert_jobs(&third, "a=pending");
	joins(&s, "w1", "linux");
	world_advance(s.w, 2000);
	assert_jobs(&third, "a=dispatched");
	world_free(s.w);
}

static void set_status(struct group_story *s, char letter, int status)
{
	struct event ev = {.kind = EV_TASK_SET, .actor = STR("me")};

	ev.tasks.ids = &s->job[letter - 'a'];
	ev.tasks.n = 1;
	ev.tasks.has_status = true;
	ev.tasks.status = status;
	world_step(s->w, &ev);
}

/* What an operator holds stands still, too. What runs does not, whatever else of its group does. */
STORY(held_groups_keep_no_other_out)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 20000};
	struct group_story s = story_new(&o), held, busy, last;

	held = one_that_needs(&s, NULL, "a b:a c");
	set_status(&held, 'a', HELD);
	set_status(&held, 'c', HELD);
	busy = one_that_needs(&s, NULL, "a b");
	last = one_that_needs(&s, NULL, "a");
	set_status(&busy, 'b', HELD);
	joins(&s, "w1", "linux");
	world_advance(s.w, 20000);
	assert_jobs(&busy, "a=dispatched b=schedulable");
	assert_jobs(&last, "a=pending");
	set_status(&held, 'a', TASK_QUEUED); /* it goes on: then it counts again */
	assert_jobs(&held, "a=dispatched b=schedulable");
	held.number = s.number;
	story_end(&held, 'a', TASK_SUCCEEDED);
	assert_jobs(&held, "a=built b=dispatched");
	assert_jobs(&last, "a=pending");
	world_free(s.w);
}

/* Nothing of it needs a worker any more: it does not wait for its turn with that. */
STORY(a_group_whose_jobs_people_have_ended_ends)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500};
	struct group_story s = story_new(&o), held, ended;

	held = one_that_needs(&s, NULL, "a");
	set_status(&held, 'a', HELD);
	ended = one_that_needs(&s, NULL, "a b");
	world_tasks(s.w, EV_CANCEL, ended.job, 2);
	world_advance(s.w, 2000);
	assert_int_equal(story_group(&ended), GROUP_FAILED);
	assert_int_equal(story_group(&held), GROUP_DISPATCHING);
	world_free(s.w);
}

/* A group that waits behind many of a queue that nobody serves. */
STORY(a_queue_that_nobody_serves_keeps_no_other_out)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 500};
	struct group_story s = story_new(&o), last;
	rid q = s.queue;
	struct event ev = {.kind = EV_PAUSE};

	joins(&s, "w1", "linux");
	s.queue = world_queue(s.w, "other", -1, ORDER_FIFO);
	ev.object.kind = KIND_QUEUE;
	ev.object.id = s.queue;
	world_step(s.w, &ev);
	for (size_t i = 0; i < 90; i++)
		one_that_needs(&s, NULL, "a");
	s.queue = q;
	last = one_that_needs(&s, NULL, "a");
	world_advance(s.w, 500);
	assert_jobs(&last, "a=dispatched");
	world_free(s.w);
}

static const char *why(struct group_story *s, struct arena *a, size_t i)
{
	struct why *whys;
	size_t n = core_group_why(s->w->core, s->group, s->w->mono_ms, a, &whys);

	if (i >= n)
		return "";
	return arena_strf(a, STR_FMT " > " STR_FMT, STR_ARG(words_why(a, &whys[i])),
	    STR_ARG(words_lift(a, &whys[i])))
	    .p;
}

/* A group that waits is told the setting, when one more comes in, and a job of each in its way. */
STORY(who_waits_is_told_what_for)
{
	struct core_options o = {.groups_active = 1, .groups_delay_ms = 2000};
	struct group_story s = story_new(&o), dead, busy, third, last;
	struct arena a = {0};
	rid jobs[GROUP_LIVE_MAX];

	dead = one_that_needs(&s, "@dead\n", "a b:a");
	joins(&s, "w1", "linux");
	busy = one_that_needs(&s, NULL, "a");
	world_advance(s.w, 2000);
	third = one_that_needs(&s, NULL, "a");
	last = one_that_needs(&s, NULL, "a");
	assert_non_null(strstr(why(&third, &a, 0),
	    "1 of at most 1 groups go on at once (server.groups_active) > one of them ends; or "));
	assert_non_null(strstr(why(&third, &a, 0), "has nothing to do for 4.0s"));
	assert_non_null(strstr(why(&third, &a, 1), "1 of the groups that dispatch stand still"));
	assert_string_equal(why(&third, &a, 2), "");
	assert_non_null(strstr(why(&last, &a, 2), "older groups that wait as well: 1"));
	assert_int_equal(core_group_live(s.w->core, last.group, jobs), 2);
	assert_int_equal(jobs[0], busy.job[0]);
	assert_int_equal(jobs[1], dead.job[0]);
	arena_release(&a);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(few_groups_at_once_the_oldest_first),
	    cmocka_unit_test(one_more_when_workers_idle),
	    cmocka_unit_test(a_target_without_workers_stalls_no_other),
	    cmocka_unit_test(tasks_of_tomorrow_keep_no_group_out),
	    cmocka_unit_test(dead_groups_keep_no_other_out),
	    cmocka_unit_test(nobody_idles_so_nothing_more_comes_in),
	    cmocka_unit_test(held_groups_keep_no_other_out),
	    cmocka_unit_test(a_group_whose_jobs_people_have_ended_ends),
	    cmocka_unit_test(who_waits_is_told_what_for),
	    cmocka_unit_test(a_queue_that_nobody_serves_keeps_no_other_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
