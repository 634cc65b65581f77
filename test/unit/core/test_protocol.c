/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about the worker protocol: health, healthchecks, unsure runs, names, loss. */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STORY(name) static void name(void **state)

/* heartbeat 1 s + 4 s, check 10 s + 10 s (+1 s margin), lost after 20 s, margin, kill wait */
static const struct core_options quick = {
    .timeouts = {1000, 4000, 10000, 10000, 20000, 1000, 500}, .lost_hold_ms = 7000};

static struct worker_view view(struct world *w, const char *name)
{
	struct worker_view v;

	assert_true(
	    core_worker(w->core, core_find(w->core, KIND_WORKER, str_of(name)), w->mono_ms, &v));
	return v;
}

static void assert_state(struct world *w, const char *name, enum worker_state state)
{
	assert_string_equal(worker_state_names[view(w, name).state], worker_state_names[state]);
}

static void checked(struct world *w, uint64_t link, uint64_t number, bool ok)
{
	struct event ev = {.kind = EV_CHECKED};

	ev.link = link;
	ev.checked.number = number;
	ev.checked.ok = ok;
	ev.checked.reason = ok ? STR_NULL : STR("fork: no memory");
	world_step(w, &ev);
}

static void notified(struct world *w, uint64_t link, uint64_t seq, const struct link_held *held,
    const struct link_held *absent)
{
	struct event ev = {.kind = EV_NOTIFIED};

	ev.link = link;
	ev.notified.seq = seq;
	ev.notified.held = held;
	ev.notified.n_held = held ? 1 : 0;
	ev.notified.absent = absent;
	ev.notified.n_absent = absent ? 1 : 0;
	world_step(w, &ev);
}

static void beats_for(struct world *w, uint64_t link, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		world_advance(w, 1000);
		world_beat(w, link, (uint64_t)(w->mono_ms / 1000));
	}
}

STORY(a_worker_is_healthy_only_after_a_healthcheck)
{
	struct world *w = world_new(&quick);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	w->sick = true;
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	assert_state(w, "w1", WORKER_UNHEALTHY);
	assert_int_equal(world_count_sent(w, MSG_CHECK), 1);
	t = world_submit_one(w, q);
	assert_int_equal(world_count_sent(w, MSG_RUN), 0);
	checked(w, 1, 1, false);
	assert_state(w, "w1", WORKER_UNHEALTHY);
	assert_true(str_is(view(w, "w1").check_failed, "fork: no memory"));
	checked(w, 1, 2, true); /* nobody asked that */
	assert_state(w, "w1", WORKER_UNHEALTHY);
	checked(w, 1, 1, true);
	assert_state(w, "w1", WORKER_HEALTHY);
	assert_int_equal(world_sent(w, MSG_RUN, 0)->run.task, t);
	world_free(w);
}

static int told(struct world *w, const char *kind)
{
	int n = 0;

	for (size_t i = 0; i < w->n_told; i++)
		n += strcmp(w->told[i], kind) == 0;
	return n;
}

STORY(nobody_is_told_unhealthy_before_the_first_healthcheck_could_be_answered)
{
	struct world *w = world_new(&quick);

	world_hello(w, 1, "w1", 1, 2, NULL, 0); /* its check succeeds at once */
	assert_state(w, "w1", WORKER_HEALTHY);
	assert_int_equal(told(w, "worker.joined"), 1);
	assert_int_equal(told(w, "worker.healthy"), 1);
	assert_int_equal(told(w, "worker.unhealthy"), 0);
	w->sick = true;
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	assert_state(w, "w2", WORKER_UNHEALTHY);
	assert_int_equal(told(w, "worker.unhealthy"), 0);
	checked(w, 2, 1, false); /* now it is known */
	assert_int_equal(told(w, "worker.unhealthy"), 1);
	checked(w, 2, 1, false);
	assert_int_equal(told(w, "worker.unhealthy"), 1);
	world_hello(w, 3, "w3", 3, 2, NULL, 0);
	beats_for(w, 3, 1); /* … or not answered, so that another one is sent */
	assert_int_equal(told(w, "worker.unhealthy"), 2);
	world_free(w);
}

/* Numbers of the healthchecks that were said since world_forget_sent(), the lowest and the last. */
static size_t checks_said(struct world *w, uint64_t *ret_first, uint64_t *ret_last)
{
	size_t n = world_count_sent(w, MSG_CHECK);

	*ret_first = n ? world_sent(w, MSG_CHECK, 0)->check.number : 0;
	*ret_last = n ? world_sent(w, MSG_CHECK, n - 1)->check.number : 0;
	return n;
}

STORY(a_healthcheck_that_takes_many_heartbeats_counts)
{
	struct core_options o = quick;
	struct world *w;
	uint64_t first, last;

	o.timeouts.check_grace_ms = 60000;
	w = world_new(&o);
	w->sick = true;
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	beats_for(w, 1, 20);
	assert_true(
	    checks_said(w, &first, &last) > 1); /* it may have been lost, so it is repeated */
	assert_int_equal(first, 1);
	assert_int_equal(last, 1); /* … as the same one */
	assert_int_equal(world_sent(w, MSG_CHECK, 1)->check.beat, 0);
	checked(w, 1, 1, true);
	assert_state(w, "w1", WORKER_HEALTHY);
	assert_int_equal(view(w, "w1").check_age_ms, 20000); /* from when it was first asked */
	world_free(w);
}

STORY(a_healthcheck_that_nobody_answers_in_its_time_is_followed_by_another)
{
	struct world *w = world_new(&quick);
	uint64_t first, last;

	w->sick = true;
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	beats_for(w, 1, 10);
	checks_said(w, &first, &last);
	assert_int_equal(last, 1);
	beats_for(w, 1, 2);
	checks_said(w, &first, &last);
	assert_int_equal(last, 2);
	checked(w, 1, 1, true); /* late, but it was good */
	assert_state(w, "w1", WORKER_HEALTHY);
	world_free(w);
}

STORY(heartbeats_of_a_millisecond_ask_for_few_healthchecks)
{
	struct core_options o = quick;
	struct world *w;

	o.timeouts.heartbeat_ms = 1;
	o.timeouts.check_grace_ms = 60000;
	w = world_new(&o);
	w->sick = true;
	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	for (uint64_t i = 1; i <= 12000; i++) {
		world_advance(w, 1);
		world_beat(w, 1, i);
	}
	assert_in_range(world_count_sent(w, MSG_CHECK), 2, 20);
	checked(w, 1, 1, true);
	assert_state(w, "w1", WORKER_HEALTHY);
	world_free(w);
}

STORY(a_worker_that_can_not_start_processes_is_unhealthy_though_it_answers)
{
	struct world *w = world_new(&quick);

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	assert_state(w, "w1", WORKER_HEALTHY);
	w->sick = true;
	beats_for(w, 1, 21);
	assert_state(w, "w1", WORKER_HEALTHY); /* exactly at the limit is not too old */
	beats_for(w, 1, 1);
	assert_state(w, "w1", WORKER_UNHEALTHY);
	assert_int_equal(view(w, "w1").lack, LACK_CHECK);
	w->sick = false;
	beats_for(w, 1, 1);
	assert_state(w, "w1", WORKER_HEALTHY);
	w->sick = true;
	beats_for(w, 1, 60);
	assert_state(w, "w1", WORKER_MUST_DIE);
	world_free(w);
}

STORY(nobody_is_lost_who_was_not_unhealthy_before)
{
	struct world *w = world_new(&quick);

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	/* the server itself was stopped for an hour: the beats wait in its sockets */
	w->mono_ms += 3600000;
	w->now_ms += 3600000;
	world_step(w, &(struct event){.kind = EV_WAKE});
	assert_state(w, "w1", WORKER_UNHEALTHY);
	world_beat(w, 1, 9);
	assert_int_equal(view(w, "w1").lack, LACK_NOTHING);
	assert_state(w, "w1", WORKER_HEALTHY);
	world_free(w);
}

STORY(must_die_is_for_ever_and_told_again)
{
	struct world *w = world_new(&quick);

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	world_advance(w, 26000);
	assert_state(w, "w1", WORKER_MUST_DIE);
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
	world_forget_sent(w);
	world_beat(w, 1, 1); /* on a link that is no longer its own */
	assert_false(world_sent(w, MSG_REFUSED, 0)->refused.die);
	world_hello(w, 2, "w1", 1, 2, NULL, 0);
	assert_true(world_sent(w, MSG_REFUSED, 1)->refused.die);
	world_restart(w);
	world_hello(w, 3, "w1", 1, 2, NULL, 0);
	assert_true(world_sent(w, MSG_REFUSED, 2)->refused.die);
	world_hello(w, 4, "w1", 2, 2, NULL, 0);
	assert_state(w, "w1", WORKER_HEALTHY);
	world_free(w);
}

STORY(a_run_without_an_answer_is_asked_for_ever_more_slowly)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	static const int waits[] = {2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 256000};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_advance(w, 3999);
	assert_int_equal(view(w, "w1").unsure, 0);
	world_advance(w, 1);
	assert_int_equal(view(w, "w1").unsure, 1);
	assert_true(core_task_unsure(w->core, t));
	assert_int_equal(world_count_sent(w, MSG_NOTIFY), 1);
	for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
		world_advance(w, waits[i] - 1);
		assert_int_equal(world_count_sent(w, MSG_NOTIFY), i + 1);
		world_advance(w, 1);
		assert_int_equal(world_count_sent(w, MSG_NOTIFY), i + 2);
		assert_int_equal(world_sent(w, MSG_NOTIFY, i + 1)->notify.seq, i + 2);
	}
	assert_int_equal(world_count_sent(w, MSG_RUN), 1); /* never sent again */
	assert_int_equal(world_counts(w, q).claimed, 1);   /* and it counts as running */
	world_free(w);
}

STORY(what_is_absent_was_never_started_and_what_is_held_runs)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct link_held a = {.token = 1}, b = {.token = 1, .started_ms = 7};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	a.task = world_submit_one(w, q);
	b.task = world_submit_one(w, q);
	world_advance(w, 4000);
	assert_int_equal(world_sent(w, MSG_NOTIFY, 0)->notify.n_refs, 2);
	notified(w, 1, 2, NULL, &a); /* a number that was never sent */
	assert_int_equal(world_task(w, a.task)->state.status, TASK_CLAIMED);
	notified(w, 1, 1, &b, &a);
	assert_int_equal(world_task(w, b.task)->state.status, TASK_RUNNING);
	assert_int_equal(world_task(w, b.task)->state.started_ms, 7);
	assert_int_equal(world_task(w, a.task)->state.token, 2); /* ordered anew */
	assert_int_equal(world_task(w, a.task)->state.attempt, 1);
	assert_int_equal(world_sent(w, MSG_RUN, 2)->run.notify_seq, 1);
	assert_int_equal(view(w, "w1").unsure, 0);
	world_free(w);
}

STORY(was_not_running_never_overwrites_a_real_word)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO);
	struct link_held a = {.token = 1};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	a.task = world_submit_one(w, q);
	world_advance(w, 4000);
	world_started(w, 1, a.task, 1);
	notified(w, 1, 1, NULL, &a);
	assert_int_equal(world_task(w, a.task)->state.status, TASK_RUNNING);
	world_ended(w, 1, a.task, 1, TASK_SUCCEEDED);
	notified(w, 1, 1, NULL, &a);
	assert_int_equal(world_task(w, a.task)->state.status, TASK_SUCCEEDED);
	world_free(w);
}

STORY(a_lost_link_makes_unsure_and_the_next_hello_settles_it)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), a, b;
	struct link_held held = {.token = 1};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	a = world_submit_one(w, q);
	held.task = b = world_submit_one(w, q);
	world_link_lost(w, 1);
	assert_int_equal(view(w, "w1").unsure, 2);
	world_hello(w, 2, "w1", 1, 2, &held, 1);
	assert_int_equal(view(w, "w1").unsure, 0);
	assert_int_equal(world_task(w, b)->state.token, 1);
	assert_int_equal(world_task(w, a)->state.token, 2);
	world_hello(w, 2, "w1", 1, 2, NULL, 0); /* said twice on one link: not believed */
	assert_int_equal(world_task(w, b)->state.token, 1);
	world_free(w);
}

static void dialled(struct world *w, uint64_t link, uint64_t dial)
{
	struct worker_facts f = {.shard = STR("w1"),
	    .instance = 1,
	    .started_ms = 1,
	    .start = 1,
	    .lock = STR("w1"),
	    .plugins = STR("command\n"),
	    .maxthreads = 2};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	ev.hello.dial = dial;
	world_step(w, &ev);
}

STORY(a_hello_that_was_held_up_is_not_believed)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	dialled(w, 2, 2);
	t = world_submit_one(w, q);
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	dialled(w, 1, 1); /* knows nothing of the task */
	assert_int_equal(world_count_sent(w, MSG_RUN), 1);
	assert_int_equal(world_task(w, t)->state.token, 1);
	assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, 1);
	assert_false(world_sent(w, MSG_REFUSED, 0)->refused.die);
	dialled(w, 3, 3);
	assert_int_equal(world_sent(w, MSG_REFUSED, 1)->link, 2);
	world_free(w);
}

STORY(a_kill_is_repeated_with_every_beat)
{
	struct world *w = world_new(NULL);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_started(w, 1, t, 1);
	world_tasks(w, EV_CANCEL, &t, 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 1);
	world_beat(w, 1, 1);
	assert_int_equal(world_count_sent(w, MSG_KILL), 2);
	world_ended(w, 1, t, 1, TASK_SUCCEEDED);
	world_beat(w, 1, 2);
	assert_int_equal(world_count_sent(w, MSG_KILL), 2);
	world_free(w);
}

STORY(a_lost_worker_s_task_is_held_also_across_a_restart)
{
	struct world *w = world_new(&quick);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 3,
	        .backoff_ms = 0,
	        .backoff_max_ms = 0,
	        .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	world_advance(w, 26000);
	assert_state(w, "w1", WORKER_MUST_DIE);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_restart(w);
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	assert_true(world_task(w, t)->state.due_ms >= w->now_ms - 26000 + 25002 + 7000);
	world_advance(w, 4000);
	world_beat(w, 2, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_advance(w, 4000);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	world_free(w);
}

/* One task on w1, which is lost; w2 has room. Returns the task. */
static rid lose_one(struct world *w)
{
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 3,
	        .backoff_ms = 0,
	        .backoff_max_ms = 0,
	        .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	world_advance(w, 25002);
	assert_state(w, "w1", WORKER_MUST_DIE);
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	return t;
}

static void assert_held_for(struct world *w, rid t, int64_t ms)
{
	for (int64_t left = ms; left > 0; left -= 1000) {
		assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
		world_advance(w, left < 1000 ? left : 1000);
		world_beat(w, 2, (uint64_t)w->mono_ms);
	}
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
}

STORY(a_clock_step_neither_shortens_nor_lengthens_the_hold)
{
	for (int i = 0; i < 2; i++) {
		struct world *w = world_new(&quick);
		rid t = lose_one(w);

		w->now_ms += i ? 3600000 : -3600000;
		assert_held_for(w, t, 7000);
		world_free(w);
	}
}

STORY(a_started_server_holds_for_the_whole_time_whatever_its_clock_says)
{
	struct world *w = world_new(&quick);
	rid t = lose_one(w);

	w->now_ms += 3600000;
	world_restart(w);
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	assert_held_for(w, t, 7000);
	world_free(w);
}

STORY(what_a_restarted_worker_had_is_not_held_even_after_a_restart_of_the_server)
{
	struct world *w = world_new(&quick);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;
	struct submit_task s = {.status = TASK_QUEUED,
	    .spec = {.queue = q,
	        .max_attempts = 3,
	        .backoff_ms = 1000,
	        .backoff_max_ms = 1000,
	        .body = STR("{}")}};

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit(w, &s, 1)->outcomes[0].id;
	world_hello(w, 2, "w1", 2, 2, NULL, 0); /* later start, same lock: proven */
	assert_int_equal(world_task(w, t)->state.status, TASK_QUEUED);
	world_restart(w);
	world_hello(w, 3, "w1", 2, 2, NULL, 0);
	world_advance(w, 1001);
	assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
	world_free(w);
}

STORY(who_is_held_and_released_by_hand_is_still_held_for_the_loss)
{
	struct world *w = world_new(&quick);
	rid t = lose_one(w);
	struct event ev = {.kind = EV_TASK_SET, .ticket = ++w->last_ticket};

	ev.tasks.ids = &t;
	ev.tasks.n = 1;
	ev.tasks.has_status = true;
	ev.tasks.status = -7;
	world_step(w, &ev);
	assert_int_equal(world_task(w, t)->state.status, -7);
	ev.ticket = ++w->last_ticket;
	ev.tasks.status = TASK_QUEUED;
	w->now_ms += 3600000;
	world_step(w, &ev);
	assert_held_for(w, t, 7000);
	world_free(w);
}

STORY(an_orphan_that_is_retried_by_hand_waits_for_the_hold_too)
{
	struct world *w = world_new(&quick);
	rid q = world_queue(w, "q", -1, ORDER_FIFO), t;

	world_hello(w, 1, "w1", 1, 2, NULL, 0);
	t = world_submit_one(w, q);
	world_advance(w, 25002);
	assert_int_equal(world_task(w, t)->state.status, TASK_ORPHANED);
	world_hello(w, 2, "w2", 2, 2, NULL, 0);
	world_tasks(w, EV_RETRY, &t, 1);
	assert_held_for(w, t, 7000);
	world_free(w);
}

STORY(what_waits_for_the_hold_can_be_cancelled_and_its_queue_deleted)
{
	struct world *w = world_new(&quick);
	rid t = lose_one(w), q = world_task(w, t)->spec.queue;
	struct event ev = {
	    .kind = EV_DELETE, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	assert_int_equal(world_counts(w, q).delayed, 1);
	ev.object.id = q;
	ev.object.force = true;
	world_step(w, &ev);
	assert_int_equal(world_reply(w)->code, 0);
	world_advance(w, 10000);
	world_free(w);
	w = world_new(&quick);
	t = lose_one(w);
	q = world_task(w, t)->spec.queue;
	world_tasks(w, EV_CANCEL, &t, 1);
	assert_int_equal(world_task(w, t)->state.status, TASK_CANCELLED);
	assert_int_equal(world_counts(w, q).delayed, 0);
	world_advance(w, 10000);
	assert_int_equal(world_task(w, t)->state.status, TASK_CANCELLED);
	world_free(w);
}

/* The hold is over, and somebody asks after the task before its timer is served. */
STORY(what_is_touched_just_after_its_hold_waits_in_one_place_only)
{
	static const enum event_kind kinds[] = {EV_RETRY, EV_TASK_SET};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		struct world *w = world_new(&quick);
		rid t = lose_one(w), q = world_task(w, t)->spec.queue;
		struct event ev = {.kind = kinds[i], .ticket = ++w->last_ticket};

		w->now_ms += 7001;
		w->mono_ms += 7001;
		ev.tasks.ids = &t;
		ev.tasks.n = 1;
		ev.tasks.has_priority = true;
		ev.tasks.priority = 3;
		world_step(w, &ev);
		world_hello(w, 3, "w2", 2, 2, NULL, 0);
		world_advance(w, 1000);
		assert_int_equal(world_task(w, t)->state.status, TASK_CLAIMED);
		assert_int_equal(world_counts(w, q).queued, 0);
		world_free(w);
	}
}

static void stranger(struct world *w, uint64_t link, uint64_t instance)
{
	struct worker_facts f = {.shard = STR("w1"),
	    .instance = instance,
	    .started_ms = (int64_t)instance,
	    .start = (int64_t)instance,
	    .lock = STR("elsewhere"),
	    .plugins = STR("command\n"),
	    .maxthreads = 1};
	struct event ev = {.kind = EV_HELLO};

	ev.link = link;
	ev.hello.facts = f;
	world_step(w, &ev);
}

STORY(a_stranger_takes_a_name_only_from_the_lost_unless_bumping_is_allowed)
{
	struct core_options o = quick;

	for (int bump = 0; bump < 2; bump++) {
		struct world *w;

		o.allow_bump_unhealthy = bump;
		w = world_new(&o);
		world_hello(w, 1, "w1", 50, 2, NULL, 0);
		stranger(w, 2, 7);
		assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, 2);
		assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
		world_advance(w, 5001);
		assert_state(w, "w1", WORKER_UNHEALTHY);
		world_forget_sent(w);
		stranger(w, 3, 8);
		assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, bump ? 1 : 3);
		world_advance(w, 40000);
		stranger(w, 4, 9);
		assert_int_equal(view(w, "w1").row->facts.instance, 9);
		world_free(w);
	}
}

STORY(an_earlier_instance_never_displaces_a_later_one)
{
	struct world *w = world_new(NULL);

	world_hello(w, 1, "w1", 5, 2, NULL, 0);
	world_hello(w, 2, "w1", 6, 2, NULL, 0); /* later start, same lock */
	assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, 1);
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
	world_hello(w, 3, "w1", 5, 2, NULL, 0);
	assert_int_equal(world_sent(w, MSG_REFUSED, 1)->link, 3);
	assert_true(world_sent(w, MSG_REFUSED, 1)->refused.die);
	world_free(w);
}

STORY(an_earlier_instance_does_not_come_back_when_the_later_one_is_lost)
{
	struct world *w = world_new(&quick);

	world_hello(w, 1, "w1", 5, 2, NULL, 0);
	world_hello(w, 2, "w1", 6, 2, NULL, 0);
	world_advance(w, 5001);
	world_advance(w, 40000);
	assert_state(w, "w1", WORKER_MUST_DIE);
	world_forget_sent(w);
	world_hello(w, 3, "w1", 5, 2, NULL, 0); /* held up on its way all the time */
	assert_int_equal(world_sent(w, MSG_REFUSED, 0)->link, 3);
	assert_int_equal(view(w, "w1").row->facts.instance, 6);
	world_hello(w, 4, "w1", 7, 2, NULL, 0);
	assert_int_equal(view(w, "w1").row->facts.instance, 7);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_worker_is_healthy_only_after_a_healthcheck),
	    cmocka_unit_test(
	        nobody_is_told_unhealthy_before_the_first_healthcheck_could_be_answered),
	    cmocka_unit_test(a_healthcheck_that_takes_many_heartbeats_counts),
	    cmocka_unit_test(a_healthcheck_that_nobody_answers_in_its_time_is_followed_by_another),
	    cmocka_unit_test(heartbeats_of_a_millisecond_ask_for_few_healthchecks),
	    cmocka_unit_test(a_worker_that_can_not_start_processes_is_unhealthy_though_it_answers),
	    cmocka_unit_test(nobody_is_lost_who_was_not_unhealthy_before),
	    cmocka_unit_test(must_die_is_for_ever_and_told_again),
	    cmocka_unit_test(a_run_without_an_answer_is_asked_for_ever_more_slowly),
	    cmocka_unit_test(what_is_absent_was_never_started_and_what_is_held_runs),
	    cmocka_unit_test(was_not_running_never_overwrites_a_real_word),
	    cmocka_unit_test(a_lost_link_makes_unsure_and_the_next_hello_settles_it),
	    cmocka_unit_test(a_hello_that_was_held_up_is_not_believed),
	    cmocka_unit_test(a_kill_is_repeated_with_every_beat),
	    cmocka_unit_test(a_lost_worker_s_task_is_held_also_across_a_restart),
	    cmocka_unit_test(a_clock_step_neither_shortens_nor_lengthens_the_hold),
	    cmocka_unit_test(a_started_server_holds_for_the_whole_time_whatever_its_clock_says),
	    cmocka_unit_test(
	        what_a_restarted_worker_had_is_not_held_even_after_a_restart_of_the_server),
	    cmocka_unit_test(who_is_held_and_released_by_hand_is_still_held_for_the_loss),
	    cmocka_unit_test(an_orphan_that_is_retried_by_hand_waits_for_the_hold_too),
	    cmocka_unit_test(what_waits_for_the_hold_can_be_cancelled_and_its_queue_deleted),
	    cmocka_unit_test(what_is_touched_just_after_its_hold_waits_in_one_place_only),
	    cmocka_unit_test(a_stranger_takes_a_name_only_from_the_lost_unless_bumping_is_allowed),
	    cmocka_unit_test(an_earlier_instance_never_displaces_a_later_one),
	    cmocka_unit_test(an_earlier_instance_does_not_come_back_when_the_later_one_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
