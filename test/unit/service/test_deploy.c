/* SPDX-License-Identifier: Apache-2.0 */
/* Deploys, step by step: who stops, who starts, in which state that is, and what it waits for. */
#include "support.h"

#include "../walk.h"
#include "base/mem.h"
#include "service/deploy/internal.h"

/* A service with its records, and a clock. */
struct story {
	struct deploy d;
	struct deploy_strategy strategy;
	struct deploy_service s;
	struct converge_env env;
	struct instances records;
	struct deploy_pass pass;
};

#define SECOND 1000

static struct story story(uint32_t wanted)
{
	struct story t = {.strategy = deploy_strategy_default,
	    .s = {.wanted = wanted},
	    .env = {.now_ms = 1000 * SECOND, .ask_again_ms = CONVERGE_ASK_AGAIN_MS}};

	return t;
}

static void over(struct story *t)
{
	free(t->records.v);
	deploy_pass_release(&t->pass);
}

static struct instance *record(struct story *t, uint32_t index, enum presence presence)
{
	for (size_t i = 0; i < t->records.n; i++)
		if (t->records.v[i].index == index && t->records.v[i].presence == presence)
			return &t->records.v[i];
	return NULL;
}

static struct instance *at(struct story *t, uint32_t index)
{
	struct instance *i = record(t, index, PRESENCE_ORDINARY);

	assert_non_null(i);
	return i;
}

static struct instance *has(
    struct story *t, uint32_t index, int64_t revision, enum instance_state state, bool ready)
{
	GROW(t->records.v, t->records.cap, t->records.n + 1);
	t->records.v[t->records.n++] = (struct instance){.index = index,
	    .state = state,
	    .worker = state == INSTANCE_CLAIMED || state == INSTANCE_RUNNING ? 0 : NO_WORKER,
	    .revision = revision,
	    .crash_count = state == INSTANCE_CRASHED,
	    .is_ready = ready,
	    .ready_ms = ready ? 1 : 0,
	    .asked_ms = t->env.now_ms};
	return &t->records.v[t->records.n - 1];
}

static void all_run(struct story *t, int64_t revision)
{
	for (uint32_t i = 0; i < t->s.wanted; i++)
		has(t, i, revision, INSTANCE_RUNNING, true);
	t->d = (struct deploy){.state = DEPLOY_STEADY, .target = revision, .stable = revision};
}

static void begin(struct story *t, int64_t target)
{
	deploy_begin(&t->d, target, &t->strategy, t->env.now_ms);
}

/* A pass, carried out; what it did, as "stop 0 create 3@2 …", in its order. */
static const char *pass(struct story *t)
{
	static char said[1024];
	struct buf b = {0};
	enum deploy_state state;

	t->s.strategy = &t->strategy;
	deploy_pass(&t->env, &t->s, &t->d, t->records.v, t->records.n, &t->pass);
	for (size_t i = 0; i < t->pass.n; i++) {
		const struct deploy_action *a = &t->pass.v[i];

		buf_printf(&b, "%s%s %u", i ? ", " : "", deploy_action_names[a->kind], a->index);
		if (a->kind == DEPLOY_CREATE || a->kind == DEPLOY_RENEW)
			buf_printf(&b, "@%d%s", (int)a->revision, a->is_surge ? "+" : "");
	}
	snprintf(said, sizeof said, "%s", b.n ? b.p : "");
	buf_release(&b);
	deploy_apply(&t->records, 0, &t->pass, t->env.now_ms);
	state = t->d.state;
	deploy_pass(&t->env, &t->s, &t->d, t->records.v, t->records.n, &t->pass);
	assert_int_equal(t->pass.n, 0);
	assert_int_equal(t->d.state, state);
	return said;
}

/* The instances that are told to stop have, and those who wait for a worker are claimed. */
static void obey(struct story *t)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->records.n; i++) {
		struct instance *r = &t->records.v[i];

		if (r->is_stopping)
			continue;
		if (r->state == INSTANCE_UNCLAIMED) {
			instance_move(r, INSTANCE_CLAIMED, t->env.now_ms);
			r->worker = 0;
		}
		t->records.v[kept++] = *r;
	}
	t->records.n = kept;
}

static void is_ready_now(struct story *t, uint32_t index)
{
	struct instance *i = at(t, index);

	if (i->state == INSTANCE_CLAIMED)
		instance_move(i, INSTANCE_RUNNING, t->env.now_ms);
	i->is_ready = true;
	i->ready_ms = t->env.now_ms;
}

static void later(struct story *t, int64_t seconds)
{
	t->env.now_ms += seconds * SECOND;
}

static void healthy(struct story *t, uint32_t index)
{
	is_ready_now(t, index);
	later(t, 10);
}

static void test_rolling_one_more_and_none_less(void **state)
{
	struct story t = story(2);

	all_run(&t, 1);
	assert_string_equal(pass(&t), "");
	begin(&t, 2);
	assert_int_equal(t.d.state, DEPLOY_ROLLING);
	assert_string_equal(pass(&t), "create 2@2+");
	obey(&t);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.pass.waits, DEPLOY_WAITS_HEALTHY);
	is_ready_now(&t, 2);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.pass.look_at_ms, t.env.now_ms + 10 * SECOND);
	later(&t, 10);
	assert_string_equal(pass(&t), "stop 0");
	assert_int_equal(t.pass.waits, DEPLOY_WAITS_OVER);
	obey(&t);
	assert_string_equal(pass(&t), "create 0@2");
	obey(&t);
	healthy(&t, 0);
	assert_string_equal(pass(&t), "stop 1");
	obey(&t);
	assert_string_equal(pass(&t), "create 1@2");
	obey(&t);
	assert_string_equal(pass(&t), "");
	healthy(&t, 1);
	assert_string_equal(pass(&t), "stop 2");
	assert_int_equal(t.d.state, DEPLOY_STEADY);
	assert_int_equal(t.d.stable, 2);
	obey(&t);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.pass.look_at_ms, DEPLOY_NEVER);
	over(&t);
}

static void test_rolling_none_more_and_one_less(void **state)
{
	struct story t = story(3);

	t.strategy.max_surge = 0;
	t.strategy.max_unavailable = 2;
	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 0, stop 1");
	obey(&t);
	assert_string_equal(pass(&t), "create 0@2, create 1@2");
	obey(&t);
	healthy(&t, 1);
	assert_string_equal(pass(&t), "stop 2");
	over(&t);
}

/* What serves nobody goes first, but not more of it than a bad revision may take. */
static void test_what_does_not_run_goes_first(void **state)
{
	struct story t = story(4);

	t.strategy.max_surge = 0;
	t.strategy.max_unavailable = 1;
	all_run(&t, 1);
	at(&t, 2)->is_ready = false;
	instance_move(at(&t, 3), INSTANCE_CRASHED, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 2");
	assert_string_equal(pass(&t), "");
	obey(&t);
	assert_string_equal(pass(&t), "create 2@2");
	obey(&t);
	healthy(&t, 2);
	assert_string_equal(pass(&t), "renew 3@2");
	assert_int_equal(at(&t, 3)->crash_count, 0);
	over(&t);
}

static void test_recreate_stops_all_first(void **state)
{
	struct story t = story(3);

	t.strategy.kind = DEPLOY_BY_RECREATE;
	all_run(&t, 1);
	instance_move(at(&t, 2), INSTANCE_UNCLAIMED, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 0, stop 1, renew 2@2");
	assert_true(t.pass.holds_starts);
	over(&t);

	t = story(2);
	t.strategy.kind = DEPLOY_BY_RECREATE;
	has(&t, 0, 2, INSTANCE_UNCLAIMED, false);
	has(&t, 1, 1, INSTANCE_RUNNING, true)->is_stopping = true;
	t.d = (struct deploy){.state = DEPLOY_ROLLING, .target = 2, .stable = 1};
	assert_string_equal(pass(&t), "");
	assert_true(t.pass.holds_starts);
	assert_int_equal(t.pass.waits, DEPLOY_WAITS_OVER);
	assert_int_equal(t.pass.waits_index, 1);
	t.records.n = 1;
	assert_string_equal(pass(&t), "create 1@2");
	assert_false(t.pass.holds_starts);
	over(&t);
}

/* A suspect may run: nothing of another revision starts until it is certainly over. */
static void test_recreate_waits_for_suspects(void **state)
{
	struct story t = story(1);

	t.strategy.kind = DEPLOY_BY_RECREATE;
	has(&t, 0, 2, INSTANCE_UNCLAIMED, false);
	has(&t, 0, 1, INSTANCE_RUNNING, true)->presence = PRESENCE_SUSPECT;
	t.d = (struct deploy){.state = DEPLOY_ROLLING, .target = 2, .stable = 1};
	assert_string_equal(pass(&t), "");
	assert_true(t.pass.holds_starts);
	t.records.n = 1;
	pass(&t);
	assert_false(t.pass.holds_starts);
	over(&t);
}

/* The deploy may wait for anything: what comes back and crashes does not start beside the new ones.
 */
static void test_recreate_stalls_with_one_revision(void **state)
{
	struct story t = story(2);

	t.strategy.kind = DEPLOY_BY_RECREATE;
	has(&t, 0, 2, INSTANCE_UNCLAIMED, false);
	has(&t, 1, 1, INSTANCE_RUNNING, true);
	t.d = (struct deploy){.state = DEPLOY_STALLED, .target = 2, .stable = 1};
	assert_string_equal(pass(&t), "");
	assert_true(t.pass.holds_starts);
	instance_move(at(&t, 1), INSTANCE_UNCLAIMED, t.env.now_ms);
	assert_string_equal(pass(&t), "renew 1@2");
	assert_false(t.pass.holds_starts);
	over(&t);
}

static void test_canary_waits_for_a_person(void **state)
{
	struct story t = story(4);

	t.strategy.kind = DEPLOY_BY_CANARY;
	all_run(&t, 1);
	begin(&t, 2);
	assert_int_equal(t.d.state, DEPLOY_CANARY);
	assert_string_equal(pass(&t), "create 4@2+");
	obey(&t);
	healthy(&t, 4);
	assert_string_equal(pass(&t), "stop 0");
	obey(&t);
	assert_string_equal(pass(&t), "create 0@2");
	obey(&t);
	healthy(&t, 0);
	assert_string_equal(pass(&t), "stop 4");
	assert_int_equal(t.d.state, DEPLOY_WAITING);
	obey(&t);
	later(&t, 100000);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.pass.waits, DEPLOY_WAITS_PROMOTE);
	/* More instances are of the revision that is proven. */
	t.s.wanted = 5;
	assert_string_equal(pass(&t), "create 4@1");
	obey(&t);
	is_ready_now(&t, 4);
	/* The canary dies, and is one again. */
	instance_move(at(&t, 0), INSTANCE_UNCLAIMED, t.env.now_ms);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.d.state, DEPLOY_CANARY);
	obey(&t);
	healthy(&t, 0);
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_WAITING);
	assert_true(deploy_promote(&t.d, t.env.now_ms));
	assert_false(deploy_promote(&t.d, t.env.now_ms));
	assert_string_equal(pass(&t), "create 5@2+");
	over(&t);
}

static void test_too_late_stalls(void **state)
{
	struct story t = story(2);

	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "create 2@2+");
	obey(&t);
	assert_int_equal(t.pass.look_at_ms, t.env.now_ms + 600 * SECOND);
	later(&t, 599);
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_ROLLING);
	later(&t, 1);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.d.state, DEPLOY_STALLED);
	assert_int_equal(t.d.failed, 2);
	/* A hole is filled with what is proven. */
	at(&t, 1)->is_stopping = true;
	obey(&t);
	assert_string_equal(pass(&t), "create 1@1");
	over(&t);
}

static void test_too_late_goes_back_by_choice(void **state)
{
	struct story t = story(2);

	t.strategy.auto_rollback = true;
	t.strategy.max_surge = 0;
	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 0");
	obey(&t);
	assert_string_equal(pass(&t), "create 0@2");
	obey(&t);
	later(&t, 600);
	assert_string_equal(pass(&t), "stop 0");
	assert_int_equal(t.d.state, DEPLOY_ROLLING_BACK);
	assert_int_equal(t.d.target, 1);
	obey(&t);
	assert_string_equal(pass(&t), "create 0@1");
	obey(&t);
	healthy(&t, 0);
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_STEADY);
	assert_int_equal(t.d.stable, 1);
	assert_int_equal(t.d.failed, 2);
	over(&t);
}

/* A person who asked for an older revision is not sent forth again. */
static void test_going_back_by_hand_stalls(void **state)
{
	struct story t = story(1);

	t.strategy.auto_rollback = true;
	all_run(&t, 3);
	deploy_rollback(&t.d, 1, t.env.now_ms);
	assert_string_equal(pass(&t), "create 1@1+");
	obey(&t);
	later(&t, 600);
	assert_string_equal(pass(&t), "");
	assert_int_equal(t.d.state, DEPLOY_STALLED);
	assert_int_equal(t.d.target, 1);
	over(&t);
}

/* The first revision of a service has nothing to go back to. */
static void test_the_first_revision_stalls(void **state)
{
	struct story t = story(1);

	t.strategy.auto_rollback = true;
	begin(&t, 1);
	assert_string_equal(pass(&t), "create 0@1");
	obey(&t);
	later(&t, 600);
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_STALLED);
	healthy(&t, 0);
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_STEADY);
	assert_int_equal(t.d.failed, 0);
	over(&t);
}

/* A newer deploy takes over: what serves nobody first, then what is older. */
static void test_a_newer_one_takes_over(void **state)
{
	struct story t = story(4);

	t.strategy.max_surge = 0;
	t.strategy.max_unavailable = 1;
	all_run(&t, 1);
	at(&t, 0)->revision = at(&t, 3)->revision = 2;
	t.d.state = DEPLOY_ROLLING;
	t.d.target = 2;
	begin(&t, 3);
	assert_string_equal(pass(&t), "stop 1");
	obey(&t);
	assert_string_equal(pass(&t), "create 1@3");
	obey(&t);
	at(&t, 3)->is_ready = false;
	healthy(&t, 1);
	assert_string_equal(pass(&t), "stop 3");
	assert_int_equal(t.d.stable, 1);
	over(&t);
}

/* The surge of the deploy that was replaced goes, and makes room for that of the newer one. */
static void test_surge_of_a_deploy_that_is_no_more(void **state)
{
	struct story t = story(2);

	all_run(&t, 1);
	begin(&t, 2);
	pass(&t);
	begin(&t, 3);
	assert_string_equal(pass(&t), "delete 2, create 3@3+");
	over(&t);
}

static void test_scale_while_deploying(void **state)
{
	struct story t = story(3);

	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "create 3@2+");
	obey(&t);
	/* More: the surge becomes one that is wanted, and the others are new. */
	t.s.wanted = 5;
	assert_string_equal(pass(&t), "create 4@2, create 5@2+");
	/* Less: what nobody wants is convergence's to stop; nothing is done twice. */
	t.s.wanted = 1;
	pass(&t);
	assert_null(record(&t, 4, PRESENCE_EVACUATING));
	/* Deleted: what the deploy made goes. */
	t.s.wanted = 0;
	pass(&t);
	assert_int_equal(t.d.state, DEPLOY_STEADY);
	for (size_t i = 0; i < t.records.n; i++)
		assert_true(!t.records.v[i].is_surge || t.records.v[i].is_stopping);
	over(&t);
}

static void test_singletons_are_never_two(void **state)
{
	struct story t = story(1);

	t.s.is_singleton = true;
	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 0");
	assert_string_equal(pass(&t), "");
	obey(&t);
	has(&t, 0, 1, INSTANCE_RUNNING, true)->presence = PRESENCE_SUSPECT;
	assert_string_equal(pass(&t), "");
	t.records.n = 0;
	assert_string_equal(pass(&t), "create 0@2");
	over(&t);
}

/* A suspect of an older revision that came back first is brought to the target. */
static void test_steady_does_not_keep_a_stray(void **state)
{
	struct story t = story(2);

	all_run(&t, 2);
	at(&t, 1)->revision = 1;
	assert_string_equal(pass(&t), "create 2@2+");
	assert_int_equal(t.d.state, DEPLOY_ROLLING);
	over(&t);
}

static void test_a_stop_that_got_lost_is_asked_for_again(void **state)
{
	struct story t = story(2);

	t.strategy.max_surge = 0;
	all_run(&t, 1);
	begin(&t, 2);
	assert_string_equal(pass(&t), "stop 0");
	assert_int_equal(t.pass.look_at_ms, t.env.now_ms + 30 * SECOND);
	later(&t, 30);
	assert_string_equal(pass(&t), "stop 0");
	over(&t);
}

/* A clock that is set back makes nobody wait for hours. */
static void test_clock_is_set_back(void **state)
{
	struct story t = story(1);

	all_run(&t, 1);
	begin(&t, 2);
	pass(&t);
	obey(&t);
	is_ready_now(&t, 1);
	t.env.now_ms -= 500 * SECOND;
	assert_string_equal(pass(&t), "stop 0");
	over(&t);
}

static const char *words(struct story *t)
{
	static char said[512];
	struct buf b = {0};

	pass(t);
	deploy_words(&t->d, &t->pass, &b);
	snprintf(said, sizeof said, "%s", b.p);
	buf_release(&b);
	return said;
}

static void test_words(void **state)
{
	struct story t = story(2);

	t.strategy.max_surge = 0;
	all_run(&t, 1);
	assert_string_equal(words(&t), "all 2 instances are to be of revision 1");
	begin(&t, 2);
	assert_string_equal(words(&t),
	    "0 of 2 instances are healthy on revision 2; waits until what was "
	    "told to stop has stopped");
	obey(&t);
	pass(&t);
	obey(&t);
	assert_string_equal(words(&t),
	    "0 of 2 instances are healthy on revision 2; waits until index 0 is "
	    "ready for long enough");
	later(&t, 600);
	assert_string_equal(words(&t),
	    "stalled: 0 of 2 instances are healthy on revision 2; index 0 was "
	    "not healthy in time; deploy, promote or roll back");
	deploy_rollback(&t.d, 1, t.env.now_ms);
	assert_string_equal(words(&t),
	    "going back: 1 of 2 instances are healthy on revision 1; revision 2 "
	    "was not healthy in time; waits until what was told to stop has "
	    "stopped");
	over(&t);
}

static unsigned move_deploy(unsigned from, unsigned to)
{
	struct deploy d = {.state = (enum deploy_state)from};

	deploy_move(&d, (enum deploy_state)to, 1);
	return d.state;
}

static void test_door(void **state)
{
	walk(&deploy_moves, move_deploy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rolling_one_more_and_none_less),
	    cmocka_unit_test(test_rolling_none_more_and_one_less),
	    cmocka_unit_test(test_what_does_not_run_goes_first),
	    cmocka_unit_test(test_recreate_stops_all_first),
	    cmocka_unit_test(test_recreate_waits_for_suspects),
	    cmocka_unit_test(test_recreate_stalls_with_one_revision),
	    cmocka_unit_test(test_canary_waits_for_a_person),
	    cmocka_unit_test(test_too_late_stalls),
	    cmocka_unit_test(test_too_late_goes_back_by_choice),
	    cmocka_unit_test(test_going_back_by_hand_stalls),
	    cmocka_unit_test(test_the_first_revision_stalls),
	    cmocka_unit_test(test_a_newer_one_takes_over),
	    cmocka_unit_test(test_surge_of_a_deploy_that_is_no_more),
	    cmocka_unit_test(test_scale_while_deploying),
	    cmocka_unit_test(test_singletons_are_never_two),
	    cmocka_unit_test(test_steady_does_not_keep_a_stray),
	    cmocka_unit_test(test_a_stop_that_got_lost_is_asked_for_again),
	    cmocka_unit_test(test_clock_is_set_back),
	    cmocka_unit_test(test_words),
	    cmocka_unit_test(test_door),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
