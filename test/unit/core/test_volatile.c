/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about volatile dispatch: nothing is written before a start, so workers are the truth. */
#include "core/ask/lane.h"
#include "volatile_story.h"
#include "words/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STORY(name) static void name(void **state)

STORY(a_claim_is_not_written_but_a_start_is)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t, once;

	assert_false(waiting(w)); /* no volatile server was here before */
	fleet(w, 1);
	t = submit(w, q, 2);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.task, t);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	assert_int_equal(world_counts(w, q).claimed, 1);
	world_started(w, 1, t, world_sent(w, MSG_RUN, 0)->run.token);
	assert_int_equal(world_task(w, t)->state.status, TASK_RUNNING);
	once = submit(w, q, 1); /* may run once only: its row is the only proof */
	assert_int_equal(world_task(w, once)->state.status, TASK_CLAIMED);
	world_free(w);
}

STORY(a_first_healthy_needs_the_others_to_know)
{
	struct world *w = world_new(&swift);
	struct worker_view v;

	fleet(w, 1);
	hello(w, 2, "w2", 2, NULL, NULL, 0);
	world_beat(w, 2, 1);
	world_advance(w, 1000);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w2")), w->mono_ms, &v);
	assert_int_equal(v.state, WORKER_UNHEALTHY);
	assert_int_equal(v.lack, LACK_CONSENSUS);
	world_beat(w, 1, 10); /* is told the new set … */
	world_beat(w, 1, 11); /* … and repeats it */
	world_advance(w, 100);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w2")), w->mono_ms, &v);
	assert_int_equal(v.state, WORKER_HEALTHY);
	world_free(w);
}

STORY(who_left_the_set_and_comes_back_needs_the_others_to_know_again)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct event going = {.kind = EV_BEAT};
	struct worker_view v;

	fleet(w, 2);
	going.link = 2;
	going.beat.number = 9;
	going.beat.own = WORKER_HEALTHY;
	going.beat.leaving = true;
	world_step(w, &going);
	world_link_lost(w, 2);
	world_link_lost(w, 1); /* so that nobody can hear of it */
	world_forget_sent(w);
	hello(w, 3, "w2", 2, NULL, NULL, 0); /* before it says again that it leaves */
	submit(w, q, 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w2")), w->mono_ms, &v);
	assert_int_equal(v.lack, LACK_CONSENSUS);
	world_free(w);
}

STORY(after_a_restart_nothing_starts_until_all_have_spoken)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 2);
	struct link_held held = {0};
	int64_t token;

	t = submit(w, q, 2);
	held = (struct link_held){t, token = world_sent(w, MSG_RUN, 0)->run.token, false, 0, true};
	restart(w);
	assert_true(waiting(w));
	hello(w, 11, "w1", 1, &set, NULL, 0);
	world_advance(w, 100);
	assert_true(waiting(w));
	hello(w, 12, "w2", 2, &set, &held, 1);
	assert_false(waiting(w)); /* both agree that they are all */
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	assert_int_equal(world_task(w, t)->state.token, token);
	for (uint64_t round = 1; round < 4; round++) {
		world_beat(w, 11, round);
		world_beat(w, 12, round);
		world_advance(w, 100);
	}
	assert_int_equal(world_count_sent(w, MSG_RUN), 0); /* no second copy */
	world_free(w);
}

STORY(what_may_be_running_is_not_cancelled_as_if_it_was_queued)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t, fresh;
	struct set_id set = fleet(w, 1);

	t = submit(w, q, 2);
	restart(w);
	fresh = submit(w, q, 2);
	assert_int_equal(world_tasks(w, EV_CANCEL, &t, 1)->outcomes[0].code, ERR_CONFLICT);
	assert_int_equal(world_tasks(w, EV_CANCEL, &fresh, 1)->outcomes[0].code, 0);
	hello(w, 11, "w1", 1, &set, NULL, 0);
	assert_false(waiting(w));
	assert_int_equal(world_tasks(w, EV_CANCEL, &t, 1)->outcomes[0].code, 0);
	world_free(w);
}

STORY(an_end_that_only_the_worker_knows_is_not_lost)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 1);
	struct link_held held = {.ended = true, .started_ms = 5, .proven = true};

	held.task = t = submit(w, q, 2);
	held.token = world_sent(w, MSG_RUN, 0)->run.token;
	restart(w);
	hello(w, 11, "w1", 1, &set, &held, 1);
	world_ended(w, 11, t, held.token, TASK_SUCCEEDED);
	assert_int_equal(world_task(w, t)->state.status, TASK_SUCCEEDED);
	world_free(w);
}

/* The task's order was never written: it began between its submission and now, and the worker's
 * word is possible. */
STORY(a_start_that_only_the_worker_knows_keeps_its_time)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct set_id set = fleet(w, 1);
	struct link_held held = {.task = submit(w, q, 2), .started_ms = w->now_ms, .proven = true};
	const struct task_state *s;

	held.token = world_sent(w, MSG_RUN, 0)->run.token;
	restart(w);
	world_advance(w, 2000);
	hello(w, 11, "w1", 1, &set, &held, 1);
	s = &world_task(w, held.task)->state;
	assert_int_equal(s->status, TASK_RUNNING);
	assert_int_equal(s->started_ms, held.started_ms);
	assert_int_equal(s->claimed_ms, held.started_ms);
	assert_false(s->times_doubtful);
	world_free(w);
}

/* The worker never started it and says so again: the task must not stay behind in memory. */
STORY(a_hello_that_names_an_attempt_of_the_past_loses_nothing)
{
	struct core_options small = swift;
	struct link_held held = {.ended = true, .proven = true};
	struct world *w;
	rid q, t;

	small.window_tasks = 1;
	w = world_new(&small);
	q = world_queue(w, "q", 2, ORDER_FIFO);
	fleet(w, 1);
	submit(w, q, 2);
	held.task = t = submit(w, q, 2);
	held.token = world_sent(w, MSG_RUN, 1)->run.token;
	for (size_t i = 0; i < 2; i++) { /* the second waits longer: memory has no place for it */
		const struct message *run = world_sent(w, MSG_RUN, i);

		world_ended(w, 1, run->run.task, run->run.token, TASK_FAILED);
		world_advance(w, 10);
	}
	world_link_lost(w, 1);
	hello(w, 2, "w1", 1, NULL, &held, 1);
	for (uint64_t beat = 1; beat < 30; beat++) {
		world_advance(w, 100);
		world_beat(w, 2, beat);
		for (size_t i = 2; i < world_count_sent(w, MSG_RUN); i++) {
			const struct message *run = world_sent(w, MSG_RUN, i);

			world_ended(w, 2, run->run.task, run->run.token, TASK_SUCCEEDED);
		}
	}
	assert_int_equal(world_task(w, t)->state.status, TASK_SUCCEEDED);
	world_free(w);
}

STORY(without_consensus_the_wait_lasts_and_then_the_task_starts_with_a_higher_token)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 2);
	int64_t token, left = core_safe_wait_ms(&w->options);

	t = submit(w, q, 2);
	token = world_sent(w, MSG_RUN, 0)->run.token;
	restart(w);
	hello(w, 11, "w1", 1, &set, NULL, 0); /* w2 never comes back */
	for (uint64_t n = 1; left > 1000; left -= 1000) {
		world_advance(w, 1000);
		assert_true(waiting(w));
		world_beat(w, 11, n++);
	}
	world_advance(w, left);
	assert_false(waiting(w));
	for (uint64_t n = 10000; n < 10003; n++) {
		world_beat(w, 11, n);
		world_advance(w, 100);
	}
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.task, t);
	assert_true(world_sent(w, MSG_RUN, 0)->run.token > token);
	world_free(w);
}

STORY(a_durable_server_after_a_volatile_one_waits_once)
{
	struct world *w = world_new(&swift);
	struct set_id set = fleet(w, 1);

	w->options.is_volatile = false;
	restart(w);
	assert_true(waiting(w));
	hello(w, 11, "w1", 1, &set, NULL, 0);
	assert_false(waiting(w));
	restart(w);
	assert_false(waiting(w));
	world_free(w);
}

STORY(tokens_rise_also_when_the_dispatch_changes)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 1);
	int64_t token;

	t = submit(w, q, 2);
	token = world_sent(w, MSG_RUN, 0)->run.token; /* never written down */
	w->options.is_volatile = false;
	restart(w);
	hello(w, 11, "w1", 1, &set, NULL, 0);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.task, t);
	assert_true(world_sent(w, MSG_RUN, 0)->run.token > token);
	world_free(w);
}

STORY(a_set_of_an_earlier_server_ends_no_wait)
{
	struct core_options o = swift;
	struct set_id alone, both;
	struct world *w;

	o.is_volatile = false;
	w = world_new(&o);
	alone = fleet(w, 1); /* told by a durable server */
	w->options.is_volatile = true;
	restart(w);
	assert_false(waiting(w));
	hello(w, 12, "w2", 2, NULL, NULL, 0); /* w1 is away, and nobody waits for it */
	world_beat(w, 12, 1);
	both = present(w);
	restart(w);
	assert_true(waiting(w));
	hello(w, 21, "w1", 1, &alone, NULL, 0);
	assert_true(waiting(w)); /* {w1} agrees with itself, but w2 may run something */
	hello(w, 22, "w2", 2, &both, NULL, 0);
	assert_true(waiting(w));
	world_free(w);
}

STORY(who_has_not_spoken_is_given_the_time_it_goes_by)
{
	struct core_options o = swift;
	struct worker_view v;
	struct world *w;

	o.is_volatile = false;
	o.timeouts.lose_after_ms = 300000;
	w = world_new(&o);
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	w->options.timeouts.lose_after_ms = 2000;
	restart(w);
	world_advance(w, 299000);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w1")), w->mono_ms, &v);
	assert_int_equal(v.state, WORKER_UNHEALTHY);
	restart(w); /* and the one after it remembers too */
	world_advance(w, 299000);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w1")), w->mono_ms, &v);
	assert_int_equal(v.state, WORKER_UNHEALTHY);
	world_advance(w, 10000);
	core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w1")), w->mono_ms, &v);
	assert_int_equal(v.state, WORKER_MUST_DIE);
	world_free(w);
}

STORY(caution_shortens_the_wait)
{
	struct world *w = world_new(&swift);

	fleet(w, 2);
	w->options.caution_startup_wait = true;
	w->options.startup_wait_ms = 300;
	restart(w);
	world_advance(w, 299);
	assert_true(waiting(w));
	world_advance(w, 1);
	assert_false(waiting(w));
	world_free(w);
}

STORY(the_wait_is_told_in_words)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct arena a = {0};
	struct wait *waits;
	struct why *whys;
	size_t n;

	fleet(w, 2);
	t = submit(w, q, 2);
	restart(w);
	n = core_waits(w->core, w->mono_ms, &a, &waits);
	assert_int_equal(n, 3);
	assert_string_equal(wait_names[waits[0].code], "initial-wait");
	assert_non_null(strstr(words_wait(&a, &waits[1]).p, "w1 has not spoken yet"));
	assert_non_null(strstr(words_wait(&a, &waits[2]).p, "w2 has not spoken yet"));
	n = core_why(w->core, world_task(w, t), w->now_ms, w->mono_ms, &a, &whys);
	assert_true(n > 0);
	assert_string_equal(why_names[whys[0].code], "initial-wait");
	arena_release(&a);
	world_free(w);
}

STORY(who_was_removed_as_lost_and_comes_back_ends_no_wait)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "default", 4, ORDER_FIFO), t;
	struct set_id alone = fleet(w, 1);

	world_link_lost(w, 1); /* idle, and cut off: it never hears of w2 */
	hello(w, 2, "w2", 2, NULL, NULL, 0);
	assert_int_equal(remove_lost(w, "w1")->code, 0);
	world_advance(w, 100);
	world_beat(w, 2, 1);
	world_advance(w, 100);
	world_beat(w, 2, 2);
	t = submit(w, q, 2);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1); /* its start is never said */
	restart(w);
	hello(w, 3, "w1", 1, &alone, NULL, 0);
	assert_true(told_to_die(w));
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 0);
	world_advance(w, 1000);
	assert_true(waiting(w));
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_free(w);
}

STORY(who_was_removed_is_remembered_until_it_must_be_over)
{
	struct world *w = world_new(&swift);
	int64_t over_ms = timeouts_to_lose_ms(&swift.timeouts) + swift.timeouts.margin_ms;

	world_queue(w, "default", 4, ORDER_FIFO);
	fleet(w, 1);
	world_link_lost(w, 1);
	assert_int_equal(remove_lost(w, "w1")->code, 0);
	world_advance(w, over_ms / 2);
	restart(w); /* how much has passed nobody knows: it begins anew */
	world_advance(w, over_ms);
	hello(w, 3, "w1", 1, NULL, NULL, 0);
	assert_true(told_to_die(w));
	world_forget_sent(w);
	world_advance(w, 1);
	hello(w, 4, "w1", 1, NULL, NULL, 0);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 1);
	world_free(w);
}

STORY(only_so_many_are_remembered_and_no_more_are_removed)
{
	struct world *w = world_new(&swift);
	char name[16];
	int n = 0;

	world_queue(w, "default", 4, ORDER_FIFO);
	for (;; n++) {
		snprintf(name, sizeof name, "w%d", n);
		hello(w, (uint64_t)n + 1, name, (uint64_t)n + 1, NULL, NULL, 0);
		world_link_lost(w, (uint64_t)n + 1);
		if (remove_lost(w, name)->code != 0 || n > 1000)
			break;
		world_forget_sent(w);
	}
	assert_int_equal(n, 256);
	assert_int_equal(world_reply(w)->code, ERR_CONFLICT);
	world_free(w);
}

STORY(who_was_displaced_is_told_to_die_and_does_not_take_its_name_back)
{
	struct core_options o = swift;
	struct worker_facts f = {.shard = STR("w1"),
	    .instance = 9,
	    .started_ms = 9,
	    .lock = STR("another machine"),
	    .plugins = STR("command\n"),
	    .maxthreads = 4};
	struct event ev = {.kind = EV_HELLO};
	struct world *w;

	o.allow_bump_unhealthy = true;
	w = world_new(&o);
	world_queue(w, "default", 4, ORDER_FIFO);
	fleet(w, 1);
	world_link_lost(w, 1);
	world_advance(w, 6000); /* unhealthy, but not lost */
	ev.link = 5;
	ev.hello.facts = f;
	world_step(w, &ev);
	assert_int_equal(world_count_sent(w, MSG_REFUSED), 0);
	restart(w);
	hello(w, 6, "w1", 1, NULL, NULL, 0); /* the other one has not said hello to this server */
	assert_true(told_to_die(w));
	assert_false(world_sent(w, MSG_REFUSED, 0)->refused.restart);
	world_free(w);
}

/* As the store hands over the row of a worker that does not fit its checksum. */
static void damage_worker(struct world *w, const char *name, uint64_t instance)
{
	for (size_t i = 0; i < w->n_workers; i++) {
		struct worker_row *row = &w->workers[i];

		if (!str_is(row->facts.shard, name))
			continue;
		*row = (struct worker_row){.id = row->id,
		    .facts = {.shard = row->facts.shard,
		        .instance = instance,
		        .key = STR(WORKER_KEY_UNKNOWN)},
		    .maxthreads_set = -1,
		    .unwritten = 1,
		    .version = 1};
	}
}

/* The worker's instance may be what is damaged: then nobody tells the real one from a stranger. */
static void a_damaged_worker_is_waited_for(uint64_t instance)
{
	struct world *w = world_new(&swift);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct set_id set = fleet(w, 2);
	const struct message *run;
	struct link_held held;
	int64_t safe_ms = core_safe_wait_ms(&swift);

	t = submit(w, q, 3);
	run = world_sent(w, MSG_RUN, 0);
	held = (struct link_held){t, run->run.token, false, w->now_ms, true};
	uint64_t had = run->link;

	damage_worker(w, had == 1 ? "w1" : "w2", instance);
	restart(w);
	assert_true(waiting(w));
	/* the real one, with what it runs: nobody can say so; it must end it */
	hello(w, 11, had == 1 ? "w1" : "w2", had, &set, &held, 1);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 0);
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
	hello(w, 12, had == 1 ? "w2" : "w1", 3 - had, &set, NULL, 0);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 1);
	/* a new process of the name waits, and need not die for it */
	hello(w, 13, had == 1 ? "w1" : "w2", 77, NULL, NULL, 0);
	assert_false(world_sent(w, MSG_REFUSED, 1)->refused.die);
	for (int64_t ms = 500; ms < safe_ms; ms += 500) {
		world_advance(w, 500);
		world_beat(w, 12, (uint64_t)ms);
		assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	}
	assert_true(waiting(w));
	world_advance(w, 1000);
	world_beat(w, 12, 1000000);
	world_advance(w, 1000);
	assert_false(waiting(w));
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->link, 12);
	hello(w, 14, had == 1 ? "w1" : "w2", 78, NULL, NULL, 0); /* the name is free now */
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 2);
	world_free(w);
}

STORY(a_damaged_worker_is_waited_for_as_long_as_it_may_run)
{
	a_damaged_worker_is_waited_for(1);
	a_damaged_worker_is_waited_for(2);
	a_damaged_worker_is_waited_for(99);
}

/* Not that another has its name: nobody has. */
static void assert_told_of_damage(struct world *w, size_t nth)
{
	struct str reason = world_sent(w, MSG_REFUSED, nth)->refused.reason;

	assert_non_null(memmem(reason.p, reason.n, "damaged in the store", 20));
}

STORY(what_a_damaged_worker_was_given_waits_until_it_is_lost)
{
	struct core_options durable = swift;
	struct world *w;
	struct link_held held;
	const struct timeouts *o = &swift.timeouts;
	int64_t token, silent_ms = o->heartbeat_ms + o->heartbeat_grace_ms;
	int64_t lost_ms = silent_ms + o->lose_after_ms + swift.lost_hold_ms;
	rid q, t;

	durable.is_volatile = false;
	w = world_new(&durable);
	q = world_queue(w, "q", -1, ORDER_FIFO);
	fleet(w, 1);
	t = submit(w, q, 3);
	token = world_sent(w, MSG_RUN, 0)->run.token;
	held = (struct link_held){t, token, false, w->now_ms, true};
	damage_worker(w, "w1", 1);
	restart(w);
	hello(w, 12, "w2", 2, NULL, NULL, 0);
	hello(w, 11, "w1", 1, NULL, &held, 1);
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
	assert_told_of_damage(w, 0);
	hello(w, 13, "w1", 77, NULL, NULL, 0); /* a new process of the name waits, and may live */
	assert_false(world_sent(w, MSG_REFUSED, 1)->refused.die);
	assert_told_of_damage(w, 1);
	for (int64_t ms = 500; ms < lost_ms; ms += 500) {
		world_advance(w, 500);
		world_beat(w, 12, (uint64_t)ms);
		assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	}
	for (int i = 0; i < 20 && !world_count_sent(w, MSG_RUN); i++) {
		world_advance(w, 500);
		world_beat(w, 12, 1000000 + (uint64_t)i);
	}
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_true(world_sent(w, MSG_RUN, 0)->run.token > token);
	world_free(w);
}

/* The frame's arena is used again before the store has answered. */
STORY(a_hello_that_waits_for_the_store_has_its_own_texts)
{
	struct world *w = world_new(&swift);
	char service[] = "web", need[] = "cpu=1000\n", address[] = "10.0.0.7", queue[] = "services";
	struct link_held held = {.token = 1, .started_ms = 5};
	const struct link_held *parked;
	struct set_id set = fleet(w, 1);

	restart(w);
	w->hold_reads = true;
	held.task = (rid)77 << 24;
	held.instance = (struct link_instance){.service = str_of(service), .need = str_of(need)};
	held.queue = str_of(queue);
	held.fares.address = str_of(address);
	hello(w, 11, "w1", 1, &set, &held, 1);
	memset(service, '#', sizeof service);
	memset(need, '#', sizeof need);
	memset(address, '#', sizeof address);
	memset(queue, '#', sizeof queue);
	memset(&held, '#', sizeof held);
	parked = lane_find_hello(w->core, 11)->hello.tasks;
	assert_int_equal(parked->token, 1);
	assert_true(str_is(parked->instance.service, "web"));
	assert_null(parked->instance.domain.p);
	assert_true(str_is(parked->instance.need, "cpu=1000\n"));
	assert_true(str_is(parked->queue, "services"));
	assert_true(str_is(parked->fares.address, "10.0.0.7"));
	assert_null(parked->fares.ports.p);
	w->hold_reads = false;
	world_answer_reads(w);
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 1);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_claim_is_not_written_but_a_start_is),
	    cmocka_unit_test(a_first_healthy_needs_the_others_to_know),
	    cmocka_unit_test(who_left_the_set_and_comes_back_needs_the_others_to_know_again),
	    cmocka_unit_test(after_a_restart_nothing_starts_until_all_have_spoken),
	    cmocka_unit_test(a_start_that_only_the_worker_knows_keeps_its_time),
	    cmocka_unit_test(what_may_be_running_is_not_cancelled_as_if_it_was_queued),
	    cmocka_unit_test(an_end_that_only_the_worker_knows_is_not_lost),
	    cmocka_unit_test(a_hello_that_names_an_attempt_of_the_past_loses_nothing),
	    cmocka_unit_test(
	        without_consensus_the_wait_lasts_and_then_the_task_starts_with_a_higher_token),
	    cmocka_unit_test(a_durable_server_after_a_volatile_one_waits_once),
	    cmocka_unit_test(tokens_rise_also_when_the_dispatch_changes),
	    cmocka_unit_test(a_set_of_an_earlier_server_ends_no_wait),
	    cmocka_unit_test(who_has_not_spoken_is_given_the_time_it_goes_by),
	    cmocka_unit_test(caution_shortens_the_wait),
	    cmocka_unit_test(the_wait_is_told_in_words),
	    cmocka_unit_test(who_was_removed_as_lost_and_comes_back_ends_no_wait),
	    cmocka_unit_test(who_was_removed_is_remembered_until_it_must_be_over),
	    cmocka_unit_test(only_so_many_are_remembered_and_no_more_are_removed),
	    cmocka_unit_test(who_was_displaced_is_told_to_die_and_does_not_take_its_name_back),
	    cmocka_unit_test(a_damaged_worker_is_waited_for_as_long_as_it_may_run),
	    cmocka_unit_test(what_a_damaged_worker_was_given_waits_until_it_is_lost),
	    cmocka_unit_test(a_hello_that_waits_for_the_store_has_its_own_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
