/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durable, then visible: the engine with a store whose commits the test holds back, fails, or lets
 * through. While a commit hangs nothing that depends on it may leave, and the loop must not wait.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "server/engine/engine.h"
#include "store/backend.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t change;
	bool closed; /* commits wait */
	int fail;    /* so many commits fail with ERR_BUSY */
	int begun, done;
} gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER};

static int gated_commit(struct store *s, const struct batch *b, struct problem *ret_problem)
{
	int e;

	pthread_mutex_lock(&gate.lock);
	gate.begun++;
	pthread_cond_broadcast(&gate.change);
	while (gate.closed)
		pthread_cond_wait(&gate.change, &gate.lock);
	if (gate.fail > 0) {
		gate.fail--;
		pthread_mutex_unlock(&gate.lock);
		return problem_set(ret_problem, ERR_BUSY, "the disk is full");
	}
	pthread_mutex_unlock(&gate.lock);
	e = store_memory.commit(s, b, ret_problem);
	pthread_mutex_lock(&gate.lock);
	gate.done++;
	pthread_mutex_unlock(&gate.lock);
	return e;
}

static void set_gate(bool closed)
{
	pthread_mutex_lock(&gate.lock);
	gate.closed = closed;
	pthread_cond_broadcast(&gate.change);
	pthread_mutex_unlock(&gate.lock);
}

static void fail_next_commits(int n)
{
	pthread_mutex_lock(&gate.lock);
	gate.fail = n;
	pthread_mutex_unlock(&gate.lock);
}

static int commits_begun(void)
{
	int n;

	pthread_mutex_lock(&gate.lock);
	n = gate.begun;
	pthread_mutex_unlock(&gate.lock);
	return n;
}

struct bench {
	struct loop *loop;
	struct store *store;
	struct store_ops ops;
	struct engine *engine;
	struct loop_timer *timer;
	int turns; /* timer beats while waiting: the loop is alive */
	bool (*until)(struct bench *b);
	int replies, last_code, messages, notices;
	rid last_id;
	int want;
};

static void on_send(const struct message *m, size_t n, void *arg)
{
	((struct bench *)arg)->messages += (int)n;
}

static void on_commit(double seconds, size_t rows, void *arg)
{
}

static void on_fatal(const struct problem *p, void *arg)
{
	fail_msg("fatal: %s", p->what);
}

static void on_reply(const struct reply *r, void *arg)
{
	struct bench *b = arg;

	b->replies++;
	b->last_code = r->code;
	b->last_id = r->n ? r->outcomes[0].id : r->id;
}

static void on_notice(const struct notice *n, void *arg)
{
	((struct bench *)arg)->notices += n != NULL;
}

static void beat(void *arg)
{
	struct bench *b = arg;

	b->turns++;
	if (b->until(b) || b->turns > 20000)
		loop_stop(b->loop);
	else
		loop_timer_set(b->timer, 1);
}

static void run_until(struct bench *b, bool (*until)(struct bench *))
{
	b->turns = 0;
	b->until = until;
	loop_timer_set(b->timer, 0);
	loop_run(b->loop);
	assert_true(b->turns <= 20000);
}

static bool replied(struct bench *b)
{
	return b->replies >= b->want;
}

static bool commit_has_begun(struct bench *b)
{
	return commits_begun() >= b->want;
}

static bool fifty_turns(struct bench *b)
{
	return b->turns >= 50;
}

static int set_up(void **state)
{
	struct bench *b = xcalloc(1, sizeof *b);
	struct store_options so = {.create = true, .migrate = true};
	struct engine_options o = {
	    .send = on_send, .on_commit = on_commit, .on_fatal = on_fatal, .arg = b};
	struct problem p = {0};

	gate.closed = false;
	gate.begun = gate.done = gate.fail = 0;
	b->loop = loop_new();
	assert_int_equal(store_open("memory:", &so, &b->store, &p), 0);
	b->ops = *b->store->ops;
	b->ops.commit = gated_commit;
	b->store->ops = &b->ops;
	b->engine = engine_new(b->loop, b->store, &o, &p);
	assert_non_null(b->engine);
	hub_watch(engine_hub(b->engine), on_notice, b);
	b->timer = loop_timer_new(b->loop, beat, b);
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	set_gate(false);
	loop_timer_free(b->timer);
	engine_free(b->engine);
	store_close(b->store);
	loop_free(b->loop);
	free(b);
	return 0;
}

static void make_queue(struct bench *b)
{
	struct queue_row row = {.name = STR("q")};
	struct event ev = {.kind = EV_CREATE, .object.kind = KIND_QUEUE};

	ev.object.row = &row;
	b->want = b->replies + 1;
	engine_command(b->engine, &ev, on_reply, b);
	run_until(b, replied);
	assert_int_equal(b->last_code, 0);
}

static void submit_with_key(struct bench *b, struct str key)
{
	struct submit_task t = {.status = TASK_QUEUED, .spec = {.body = STR("{}")}};
	struct event ev = {.kind = EV_SUBMIT};

	t.spec.queue = core_queue(
	    engine_core(b->engine), core_find(engine_core(b->engine), KIND_QUEUE, STR("q")))
	                   ->id;
	ev.submit.tasks = &t;
	ev.submit.n = 1;
	ev.idem_key = key;
	ev.idem_fingerprint = 7;
	engine_command(b->engine, &ev, on_reply, b);
}

static void submit(struct bench *b)
{
	submit_with_key(b, STR_NULL);
}

static size_t stored_tasks(struct bench *b)
{
	struct store_reader *r = store_reader_open(b->store, NULL);
	struct task_filter all = {0};
	struct task_page page;
	struct arena a = {0};

	assert_int_equal(store_task_list(r, &all, true, true, 0, 100, &a, &page), 0);
	store_reader_close(r);
	arena_release(&a);
	return page.n;
}

static void test_nothing_leaves_before_its_commit(void **state)
{
	struct bench *b = *state;
	int notices, replies;

	make_queue(b);
	set_gate(true);
	notices = b->notices;
	replies = b->replies;
	b->want = commits_begun() + 1;
	submit(b);
	run_until(b, commit_has_begun);
	run_until(b, fifty_turns); /* the loop lives while the commit hangs */
	assert_int_equal(b->replies, replies);
	assert_int_equal(b->notices, notices);
	assert_int_equal(b->messages, 0);
	set_gate(false);
	b->want = replies + 1;
	run_until(b, replied);
	assert_int_equal(b->last_code, 0);
	assert_true(b->notices > notices);
}

static void test_what_comes_meanwhile_shares_the_next_commit(void **state)
{
	struct bench *b = *state;
	int begun;

	make_queue(b);
	set_gate(true);
	b->want = commits_begun() + 1;
	submit(b);
	run_until(b, commit_has_begun);
	begun = commits_begun();
	for (int i = 0; i < 500; i++)
		submit(b);
	run_until(b, fifty_turns);
	assert_int_equal(commits_begun(), begun); /* one at a time */
	set_gate(false);
	b->want = 1 + 501;
	run_until(b, replied);
	assert_int_equal(commits_begun(), begun + 1); /* five hundred in one */
}

/* One in the batch that meets it, one gathered behind: both hear that nobody knows, once. */
static void test_a_full_disk_refuses_politely_and_recovers(void **state)
{
	struct bench *b = *state;
	int replies;

	make_queue(b);
	replies = b->replies;
	set_gate(true);
	b->want = commits_begun() + 1;
	submit(b);
	run_until(b, commit_has_begun);
	submit_with_key(b, STR("k"));
	fail_next_commits(1);
	set_gate(false);
	b->want = replies + 2;
	run_until(b, replied);
	assert_int_equal(b->last_code, ERR_BUSY);
	assert_int_equal(stored_tasks(b), 0);
	submit(b); /* meanwhile others are refused at once */
	assert_int_equal(b->replies, replies + 3);
	assert_int_equal(b->last_code, ERR_BUSY);
	b->want = commits_begun() + 2; /* the batch again, and what had gathered */
	run_until(b, commit_has_begun);
	run_until(b, fifty_turns);
	assert_int_equal(b->replies, replies + 3);
	submit_with_key(b, STR("k")); /* finds what was done */
	b->want = replies + 4;
	run_until(b, replied);
	assert_int_equal(b->last_code, 0);
	assert_true(b->last_id != 0);
	assert_int_equal(stored_tasks(b), 2);
}

static void test_what_was_gathered_is_written_at_the_end(void **state)
{
	struct bench *b = *state;
	struct store_reader *r;
	struct task_filter all = {0};
	struct task_page page;
	struct arena a = {0};

	make_queue(b);
	for (int i = 0; i < 10; i++)
		submit(b);
	engine_settle(b->engine); /* before the loop has turned once */
	r = store_reader_open(b->store, NULL);
	assert_int_equal(store_task_list(r, &all, true, true, 0, 100, &a, &page), 0);
	assert_int_equal(page.n, 10);
	store_reader_close(r);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        test_nothing_leaves_before_its_commit, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
	        test_what_comes_meanwhile_shares_the_next_commit, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
	        test_a_full_disk_refuses_politely_and_recovers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
	        test_what_was_gathered_is_written_at_the_end, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
