/* SPDX-License-Identifier: Apache-2.0 */
/* Stories about a worker that lies: it harms its own attempts at most, and nobody's disk. */
#include "world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/limits.h"

#define STORY(name) static void name(void **state)
#define CHUNK OUTPUT_CHUNK_BYTES

static void output(struct world *w, uint64_t link, rid task, int64_t token, int64_t offset)
{
	static char data[CHUNK];
	struct event ev = {.kind = EV_OUTPUT};

	ev.link = link;
	ev.output = (struct output_row){task, token, STDOUT, offset, CHUNK, 0, {data, sizeof data}};
	world_step(w, &ev);
}

static rid running_task(struct world *w, int64_t output_max)
{
	rid queue = world_queue(w, "q", -1, ORDER_FIFO), task;
	struct queue_change ch = {.fields = QUEUE_BIT(output_max), .row.output_max = output_max};
	struct event ev = {.kind = EV_SET, .object.kind = KIND_QUEUE, .ticket = ++w->last_ticket};

	ev.object.id = queue;
	ev.object.row = &ch.row;
	ev.object.fields = ch.fields;
	world_step(w, &ev);
	world_hello(w, 1, "w1", 1, 4, NULL, 0);
	task = world_submit_one(w, queue);
	world_started(w, 1, task, 1);
	return task;
}

STORY(output_beyond_the_limit_is_not_stored)
{
	struct world *w = world_new(NULL);
	rid task = running_task(w, 2 * CHUNK);
	size_t before = w->n_outputs;
	const struct message *ack;

	for (int i = 0; i < 5; i++)
		output(w, 1, task, 1, (int64_t)i * CHUNK);
	assert_int_equal(w->n_outputs - before, 2);
	/* the output is acknowledged all the same: a worker that was told another limit goes on */
	ack = world_sent(w, MSG_OUTPUT_ACK, 4);
	assert_non_null(ack);
	assert_false(ack->output_ack.refused);
	assert_int_equal(ack->output_ack.end, 5 * CHUNK);
	world_free(w);
}

STORY(an_end_cannot_claim_more_than_the_limit)
{
	struct world *w = world_new(NULL);
	rid task = running_task(w, 2 * CHUNK + 5);
	struct event ev = {.kind = EV_ENDED};
	const struct task_state *s;

	ev.link = 1;
	ev.ended.task = task;
	ev.ended.token = 1;
	ev.ended.status = TASK_SUCCEEDED;
	ev.ended.started_ms = ev.ended.ended_ms = w->now_ms;
	ev.ended.output_where = OUTPUT_CHUNKS;
	ev.ended.output_bytes[STDOUT] = 10 * CHUNK;
	ev.ended.output_bytes[STDERR] = CHUNK;
	world_step(w, &ev);
	s = &world_task(w, task)->state;
	assert_int_equal(s->output_bytes[STDOUT], 2 * CHUNK);
	assert_int_equal(s->output_dropped[STDOUT], 8 * CHUNK);
	assert_int_equal(s->output_bytes[STDERR], CHUNK);
	assert_int_equal(s->output_dropped[STDERR], 0);
	world_free(w);
}

STORY(output_inside_an_end_is_cut_at_the_limit)
{
	struct world *w = world_new(NULL);
	rid task = running_task(w, 3);
	struct event ev = {.kind = EV_ENDED};
	const struct task_state *s;

	ev.link = 1;
	ev.ended.task = task;
	ev.ended.token = 1;
	ev.ended.status = TASK_SUCCEEDED;
	ev.ended.started_ms = ev.ended.ended_ms = w->now_ms;
	ev.ended.output_where = OUTPUT_INLINE;
	ev.ended.output[STDOUT] = STR("longer");
	ev.ended.output_bytes[STDOUT] = INT64_MAX / 4; /* not what it sends */
	world_step(w, &ev);
	s = &world_task(w, task)->state;
	assert_int_equal(s->output[STDOUT].n, 3);
	assert_int_equal(s->output_bytes[STDOUT], 3);
	assert_int_equal(s->output_dropped[STDOUT], 3);
	world_free(w);
}

STORY(a_worker_that_can_run_a_million_tasks_is_not_believed)
{
	const struct core_options o = {.maxthreads_max = 3};
	struct world *w = world_new(&o);
	rid queue = world_queue(w, "q", -1, ORDER_FIFO);
	struct worker_view v;
	struct worker_row row = {.maxthreads_set = 9, .maxthreads_is_set = 1};
	struct event ev = {.kind = EV_SET, .object = {.kind = KIND_WORKER, .row = &row}};

	for (int i = 0; i < 20; i++)
		world_submit_one(w, queue);
	world_hello(w, 1, "w1", 1, 1000000, NULL, 0);
	world_hello(w, 2, "w2", 2, -1, NULL, 0);
	world_hello(w, 3, "w3", 3, 2, NULL, 0);
	assert_int_equal(world_count_sent(w, MSG_RUN), 3 + 3 + 2);
	assert_int_equal(world_sent(w, MSG_WELCOME, 0)->welcome.maxthreads, 3);
	assert_true(core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w2")), 0, &v));
	assert_int_equal(v.maxthreads, 3);
	/* an operator's word counts */
	ev.ticket = ++w->last_ticket;
	ev.actor = STR("test");
	ev.object.id = v.row->id;
	ev.object.fields = row_settable(&worker_table);
	world_step(w, &ev);
	assert_true(core_worker(w->core, core_find(w->core, KIND_WORKER, STR("w2")), 0, &v));
	assert_int_equal(v.maxthreads, 9);
	world_free(w);
}

struct who {
	uint64_t instance;
	const char *lock, *key;
	int64_t start;
	uint64_t dial;
};

/* Everything that anybody can read of w1 is known to who says this; the key is his own. */
static const char *hello_as(struct world *w, uint64_t link, struct who x)
{
	struct worker_facts f = {.shard = STR("w1"),
	    .instance = x.instance,
	    .start = x.start,
	    .lock = str_of(x.lock),
	    .key = str_of(x.key),
	    .plugins = STR("command\n"),
	    .maxthreads = 4};
	struct event ev = {.kind = EV_HELLO};
	const struct message *m;

	world_forget_sent(w);
	ev.link = link;
	ev.hello.facts = f;
	ev.hello.dial = x.dial;
	world_step(w, &ev);
	m = world_sent(w, MSG_REFUSED, 0);
	for (size_t i = 0; m && m->link != link; i++)
		m = world_sent(w, MSG_REFUSED, i);
	return m ? m->refused.reason.p : NULL;
}

static const struct who real = {5, "m:/dir", "real", 100, 1};

STORY(whoever_knows_an_instance_is_not_it)
{
	struct world *w = world_new(NULL);
	rid queue = world_queue(w, "q", -1, ORDER_FIFO), task;

	assert_null(hello_as(w, 1, real));
	task = world_submit_one(w, queue);
	world_started(w, 1, task, 1);
	assert_non_null(hello_as(w, 2, (struct who){5, "m:/dir", "forged", 100, DIAL_MAX}));
	assert_non_null(hello_as(w, 3, (struct who){5, "whatever", "forged", 100, 2}));
	/* not even who has its key, from another place: that is no proof that it is gone */
	assert_non_null(hello_as(w, 4, (struct who){5, "whatever", "real", 100, 2}));
	world_ended(w, 2, task, 1, TASK_SUCCEEDED);
	world_ended(w, 3, task, 1, TASK_SUCCEEDED);
	assert_int_equal(world_task(w, task)->state.status, TASK_RUNNING);
	/* and the real one was not disturbed: it is still there, and may come back */
	world_started(w, 1, world_submit_one(w, queue), 1);
	assert_null(hello_as(w, 5, (struct who){5, "m:/dir", "real", 100, 2}));
	world_free(w);
}

STORY(whoever_knows_a_lock_does_not_hold_it)
{
	struct world *w = world_new(NULL);
	rid queue = world_queue(w, "q", -1, ORDER_FIFO), task;

	assert_null(hello_as(w, 1, real));
	task = world_submit_one(w, queue);
	world_started(w, 1, task, 1);
	assert_non_null(hello_as(w, 2, (struct who){6, "m:/dir", "forged", 101, 1}));
	assert_non_null(hello_as(w, 3, (struct who){6, "m:/dir", "forged", START_MAX, 1}));
	assert_int_equal(world_task(w, task)->state.status, TASK_RUNNING);
	/* the next process of the real one takes over, as ever */
	assert_null(hello_as(w, 4, (struct who){7, "m:/dir", "real", 101, 1}));
	assert_int_not_equal(world_task(w, task)->state.status, TASK_RUNNING);
	world_free(w);
}

static int told(const struct world *w, const char *kind)
{
	int n = 0;

	for (size_t i = 0; i < w->n_told; i++)
		n += strcmp(w->told[i], kind) == 0;
	return n;
}

STORY(a_lost_workers_name_is_free_but_nothing_else_of_it)
{
	struct core_options o = {
	    .timeouts = {1000, 4000, 10000, 10000, 20000, 1000, 500}, .lost_hold_ms = 7000};
	struct world *w = world_new(&o);
	rid queue = world_queue(w, "q", -1, ORDER_FIFO), task;

	assert_null(hello_as(w, 1, real));
	task = world_submit_one(w, queue);
	world_started(w, 1, task, 1);
	world_link_lost(w, 1);
	world_advance(w, 60000);
	assert_int_not_equal(world_task(w, task)->state.status, TASK_RUNNING);
	assert_null(hello_as(w, 2, (struct who){6, "m:/dir", "other", 1, 1}));
	assert_int_equal(told(w, "worker.joined"), 2);
	world_ended(w, 2, task, 1, TASK_SUCCEEDED);
	assert_int_not_equal(world_task(w, task)->state.status, TASK_SUCCEEDED);
	world_free(w);
}

STORY(numbers_beyond_what_can_be_lock_nobody_out)
{
	struct world *w = world_new(NULL);

	assert_null(hello_as(w, 1, real));
	assert_non_null(hello_as(w, 2, (struct who){5, "m:/dir", "real", 100, INT64_MAX}));
	assert_non_null(hello_as(w, 3, (struct who){6, "m:/dir", "real", INT64_MAX, 1}));
	assert_null(hello_as(w, 4, (struct who){5, "m:/dir", "real", 100, 2}));
	assert_null(hello_as(w, 5, (struct who){6, "m:/dir", "real", 101, 1}));
	world_free(w);
}

STORY(who_was_known_before_there_were_keys_keeps_its_name_with_its_lock)
{
	struct world *w = world_new(NULL);

	assert_null(hello_as(w, 1, (struct who){5, "m:/dir", "", 100, 1}));
	assert_non_null(hello_as(w, 2, (struct who){6, "other", "forged", 101, 1}));
	assert_null(hello_as(w, 3, (struct who){6, "m:/dir", "real", 101, 1}));
	assert_non_null(hello_as(w, 4, (struct who){7, "m:/dir", "forged", 102, 1}));
	world_restart(w);
	assert_non_null(hello_as(w, 5, (struct who){7, "m:/dir", "forged", 102, 1}));
	assert_null(hello_as(w, 6, (struct who){7, "m:/dir", "real", 102, 1}));
	world_free(w);
}

static struct world *world_of_strangers(void)
{
	const struct core_options o = {.timeouts = {1000, 4000, 10000, 10000, 20000, 1000, 500},
	    .lost_hold_ms = 7000,
	    .allow_bump_unhealthy = true};
	struct world *w = world_new(&o);

	w->sick = true; /* nobody is healthy: every name may be taken */
	return w;
}

static void assert_told_to_die(struct world *w, uint64_t link, struct who x)
{
	assert_non_null(hello_as(w, link, x));
	assert_true(world_sent(w, MSG_REFUSED, 0)->refused.die);
}

/* A stranger has the name, so its row no longer says which start under the lock was the last. */
STORY(a_dead_predecessor_of_who_was_displaced_stays_dead)
{
	struct world *w = world_of_strangers();

	assert_null(hello_as(w, 1, real));
	assert_null(hello_as(w, 2, (struct who){6, "m:/dir", "real", 101, 1}));
	assert_null(hello_as(w, 3, (struct who){9, "other", "forged", 1, 1}));
	assert_told_to_die(w, 4, real); /* it was held up on its way */
	assert_told_to_die(w, 5, (struct who){7, "m:/dir", "real", 101, 1});
	world_restart(w);
	assert_told_to_die(w, 6, real);
	/* what only looks like it, and what comes after it, is somebody else */
	assert_null(hello_as(w, 7, (struct who){8, "m:/dir", "another", 100, 1}));
	assert_null(hello_as(w, 8, (struct who){10, "m:/dir", "real", 102, 1}));
	world_free(w);
}

STORY(a_dead_predecessor_of_who_was_lost_stays_dead_whoever_has_the_name)
{
	struct world *w = world_of_strangers();
	struct worker_view v;

	assert_null(hello_as(w, 1, real));
	assert_null(hello_as(w, 2, (struct who){6, "m:/dir", "real", 101, 1}));
	world_link_lost(w, 2);
	world_advance(w, 60 * 1000);
	assert_true(core_worker(w->core, core_next(w->core, KIND_WORKER, 0), w->mono_ms, &v));
	assert_int_equal(v.state, WORKER_MUST_DIE);
	assert_null(hello_as(w, 3, (struct who){9, "other", "forged", 1, 1}));
	world_link_lost(w, 3);
	world_advance(w, 1000);
	assert_told_to_die(w, 4, real); /* it was held up on its way for so long */
	assert_null(hello_as(w, 5, (struct who){9, "other", "forged", 1, 2}));
	world_free(w);
}

STORY(who_was_displaced_before_there_were_keys_is_known_by_its_lock)
{
	struct world *w = world_of_strangers();

	assert_null(hello_as(w, 1, (struct who){6, "m:/dir", "", 101, 1}));
	assert_null(hello_as(w, 2, (struct who){9, "other", "forged", 1, 1}));
	assert_told_to_die(w, 3, real);
	world_free(w);
}

static struct meta_row *gone_row(struct world *w)
{
	for (size_t i = 0; i < w->n_meta; i++)
		if (str_is(w->meta[i].name, "gone"))
			return &w->meta[i];
	return NULL;
}

STORY(what_older_servers_wrote_of_the_displaced_is_read)
{
	struct world *w = world_of_strangers();

	assert_null(hello_as(w, 1, real));
	assert_null(hello_as(w, 2, (struct who){9, "other", "forged", 1, 1}));
	assert_non_null(gone_row(w));
	gone_row(w)->value = STR("000000000000000b 60000 0000000000000005 60000");
	world_restart(w);
	assert_told_to_die(w, 3, real);
	assert_told_to_die(w, 4, (struct who){11, "m:/dir", "real", 102, 1});
	assert_null(hello_as(w, 5, (struct who){6, "m:/dir", "real", 101, 1}));
	world_free(w);
}

/* Older servers read up to what they do not know. */
STORY(older_servers_read_what_is_written_of_the_displaced)
{
	struct world *w = world_of_strangers();
	const struct timeouts *t = &w->options.timeouts;
	long long ms = timeouts_to_lose_ms(t) + t->margin_ms;
	char known[128];

	assert_null(hello_as(w, 1, real));
	assert_null(hello_as(w, 2, (struct who){9, "other", "forged", 1, 1}));
	assert_null(hello_as(w, 3, (struct who){10, "third", "third", 1, 1}));
	snprintf(known, sizeof known, "0000000000000005 %lld 0000000000000009 %lld |", ms, ms);
	assert_true(str_starts(gone_row(w)->value, known));
	world_free(w);
}

STORY(damage_in_what_is_written_of_the_displaced_does_no_harm)
{
	struct world *w = world_of_strangers();
	struct str text;

	assert_null(hello_as(w, 1, real));
	assert_null(hello_as(w, 2, (struct who){9, "other", "forged", 1, 1}));
	text = gone_row(w)->value;
	for (size_t n = 0; n < text.n; n++) {
		char *cut = strndup(text.p, n);

		gone_row(w)->value = str_of(cut);
		world_restart(w);
		free(cut);
	}
	gone_row(w)->value = STR("0000000000000005 60000 | 1 99999999999999999999:x 5:y");
	world_restart(w);
	assert_told_to_die(w, 3, real);
	world_free(w);
}

static void refuse(struct world *w, const char *actor, const char *claimed)
{
	struct event ev = {.kind = EV_REFUSED, .actor = str_of(actor)};

	ev.refused.subject = STR("listTokens");
	ev.refused.why = STR("no");
	ev.refused.token = str_of(claimed);
	world_step(w, &ev);
}

/* Many more than there can be tokens: the last ones share what the unknown have. */
STORY(refusals_are_bounded_for_each_and_for_all)
{
	struct world *w = world_new(NULL);
	size_t before = w->n_notices, each;
	char actor[32];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 3000; i++) {
			snprintf(actor, sizeof actor, "uid=%d", i);
			refuse(w, actor, NULL);
		}
	each = 2 * TOKENS_MAX + 64;
	assert_int_equal(w->n_notices - before, 2 * each + 20);
	world_free(w);
}

STORY(left_out_refusals_are_told_when_the_minute_is_over)
{
	struct world *w = world_new(NULL);
	size_t before = w->n_notices;

	for (int i = 0; i < 100; i++) {
		refuse(w, "unknown", NULL);
		refuse(w, "unknown", "ci");
		refuse(w, "token:ci", NULL);
	}
	refuse(w, "token:other", NULL);
	assert_int_equal(w->n_notices - before, 61);
	assert_int_equal(core_wake_ms(w->core), w->mono_ms + 60000);
	world_advance(w, 59999);
	assert_int_equal(w->n_notices - before, 61);
	world_advance(w, 1);
	assert_int_equal(w->n_notices - before, 64);
	assert_true(core_wake_ms(w->core) == INT64_MAX);
	refuse(w, "unknown", NULL);
	assert_int_equal(w->n_notices - before, 65);
	world_free(w);
}

STORY(names_without_end_are_refused_and_who_is_known_is_not)
{
	struct core_options few = {.workers_max = 2};
	struct world *w = world_new(&few);
	const struct message *no;

	world_hello(w, 1, "w1", 1, 4, NULL, 0);
	world_hello(w, 2, "w2", 2, 4, NULL, 0);
	assert_int_equal(world_count_sent(w, MSG_REFUSED), 0);
	world_hello(w, 3, "w3", 3, 4, NULL, 0);
	no = world_sent(w, MSG_REFUSED, 0);
	assert_non_null(no);
	assert_false(no->refused.die); /* it tries again by itself */
	assert_non_null(memmem(no->refused.reason.p, no->refused.reason.n, "workers_max", 11));
	assert_int_equal(core_find(w->core, KIND_WORKER, STR("w3")), 0);
	world_forget_sent(w);
	world_restart(w);
	world_hello(w, 11, "w1", 1, 4, NULL, 0);
	world_hello(w, 12, "w2", 22, 4, NULL, 0); /* its next process */
	assert_int_equal(world_count_sent(w, MSG_WELCOME), 2);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(output_beyond_the_limit_is_not_stored),
	    cmocka_unit_test(an_end_cannot_claim_more_than_the_limit),
	    cmocka_unit_test(output_inside_an_end_is_cut_at_the_limit),
	    cmocka_unit_test(whoever_knows_an_instance_is_not_it),
	    cmocka_unit_test(whoever_knows_a_lock_does_not_hold_it),
	    cmocka_unit_test(a_lost_workers_name_is_free_but_nothing_else_of_it),
	    cmocka_unit_test(numbers_beyond_what_can_be_lock_nobody_out),
	    cmocka_unit_test(who_was_known_before_there_were_keys_keeps_its_name_with_its_lock),
	    cmocka_unit_test(a_worker_that_can_run_a_million_tasks_is_not_believed),
	    cmocka_unit_test(a_dead_predecessor_of_who_was_displaced_stays_dead),
	    cmocka_unit_test(a_dead_predecessor_of_who_was_lost_stays_dead_whoever_has_the_name),
	    cmocka_unit_test(who_was_displaced_before_there_were_keys_is_known_by_its_lock),
	    cmocka_unit_test(what_older_servers_wrote_of_the_displaced_is_read),
	    cmocka_unit_test(older_servers_read_what_is_written_of_the_displaced),
	    cmocka_unit_test(damage_in_what_is_written_of_the_displaced_does_no_harm),
	    cmocka_unit_test(refusals_are_bounded_for_each_and_for_all),
	    cmocka_unit_test(left_out_refusals_are_told_when_the_minute_is_over),
	    cmocka_unit_test(names_without_end_are_refused_and_who_is_known_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
