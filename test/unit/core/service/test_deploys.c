/* SPDX-License-Identifier: Apache-2.0 */
/* Deploys of services that run: rolling, canary, late, back, recreate; and what is kept of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service_story.h"

/* Of so many instances, all of them ready, and its first revision stable. */
static rid steady(struct service_story *s, const struct service_row *how, uint64_t fields, int n)
{
	struct service_row row = *how;
	rid id;

	row.name = STR("web");
	row.instances = n;
	row.spec.body = STR("{\"v\":1}");
	story_worker(s, 1, 50);
	id = story_create(
	    s, &row, fields | SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(spec.body));
	assert_int_equal(story_obey(s), n);
	world_advance(s->w, 10000);
	assert_int_equal(story_view(s, id).row.deploy.state, DEPLOY_STEADY);
	assert_int_equal(story_view(s, id).row.deploy.stable, 1);
	return id;
}

static void deploy(struct service_story *s, rid id, const char *body)
{
	struct service_row row = {.spec = {.body = str_of(body)}};

	assert_int_equal(story_set(s, id, &row, SERVICE_BIT(spec.body))->code, 0);
}

static uint32_t ready(struct service_story *s, rid id)
{
	return story_view(s, id).counts.ready;
}

/* Everybody obeys, until nothing more is said. */
static uint32_t roll(struct service_story *s, rid id, int64_t ms)
{
	uint32_t least = UINT32_MAX;

	for (int64_t at = 0; at < ms; at += 1000) {
		story_obey(s);
		story_stop(s);
		if (ready(s, id) < least)
			least = ready(s, id);
		world_advance(s->w, 1000);
	}
	return least;
}

static void test_rolling(void **state)
{
	struct service_story s;
	struct revision_view *r;
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &(struct service_row){0}, 0, 3);
	deploy(&s, id, "{\"v\":2}");
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_ROLLING);
	assert_non_null(story_view(&s, id).deploy_why.p);
	/* one more of the new revision first; both kinds of messages are not lost by the story */
	assert_int_equal(story_records(&s, id), 4);
	assert_true(roll(&s, id, 200000) >= 3); /* never fewer are ready than are wanted */
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_STEADY);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 2);
	assert_int_equal(story_records(&s, id), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(story_instance(&s, id, i).row.revision, 2);
	assert_int_equal(core_service_revisions(s.w->core, id, &s.a, &r), 2);
	assert_int_equal(r[0].row.outcome, REVISION_STABLE);
	assert_int_equal(r[0].instances, 3);
	assert_int_equal(r[1].row.outcome, REVISION_STABLE);
	world_restart(s.w);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 2);
	assert_true(str_is(story_view(&s, id).row.spec.body, "{\"v\":2}"));
	story_end(&s);
}

/* Nothing of the new revision is ever ready: it takes none of the old ones, and goes back. */
static void test_a_bad_revision_goes_back_by_itself(void **state)
{
	struct service_story s;
	struct service_row how = {.strategy = {.auto_rollback = 1, .deadline_ms = 60000}};
	struct revision_view *r;
	struct service_view v;
	rid id;

	story_begin(&s, NULL);
	id = steady(
	    &s, &how, SERVICE_BIT(strategy.auto_rollback) | SERVICE_BIT(strategy.deadline_ms), 3);
	deploy(&s, id, "{\"bad\":1}");
	world_advance(s.w, 59000);
	assert_int_equal(ready(&s, id), 3);
	world_advance(s.w, 2000);
	v = story_view(&s, id);
	assert_int_equal(v.row.deploy.target, 1);
	assert_int_equal(v.row.deploy.failed, 2);
	assert_true(str_is(v.row.spec.body, "{\"v\":1}")); /* as it runs again */
	world_forget_sent(s.w);
	roll(&s, id, 60000);
	assert_int_equal(ready(&s, id), 3);
	assert_int_equal(core_service_revisions(s.w->core, id, &s.a, &r), 2);
	assert_int_equal(r[0].row.outcome, REVISION_FAILED);
	story_end(&s);
}

static void test_a_stalled_one_waits_for_a_person(void **state)
{
	struct service_story s;
	struct service_row how = {.strategy = {.deadline_ms = 60000}};
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &how, SERVICE_BIT(strategy.deadline_ms), 2);
	deploy(&s, id, "{\"bad\":1}");
	world_advance(s.w, 61000);
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_STALLED);
	assert_int_equal(story_view(&s, id).row.deploy.failed, 2);
	assert_int_equal(story_do(&s, id, SERVICE_ROLLBACK, 0)->code, 0);
	assert_int_equal(story_view(&s, id).row.deploy.target, 1);
	assert_int_equal(ready(&s, id), 2);
	roll(&s, id, 60000);
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_STEADY);
	assert_int_equal(story_records(&s, id), 2);
	story_end(&s);
}

static void test_canaries_wait_to_be_promoted(void **state)
{
	struct service_story s;
	struct service_row how = {.strategy = {.kind = STRATEGY_CANARY, .canary = 1}};
	struct service_view v;
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &how, SERVICE_BIT(strategy.kind) | SERVICE_BIT(strategy.canary), 3);
	deploy(&s, id, "{\"v\":2}");
	assert_int_equal(story_do(&s, id, SERVICE_ROLLBACK, 2)->code, ERR_CONFLICT);
	roll(&s, id, 60000);
	v = story_view(&s, id);
	assert_int_equal(v.row.deploy.state, DEPLOY_WAITING);
	assert_int_equal(v.counts.ready, 3);
	world_restart(s.w);
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_WAITING);
	story_end(&s);
}

static void test_promoted_they_are_followed_by_all(void **state)
{
	struct service_story s;
	struct service_row how = {.strategy = {.kind = STRATEGY_CANARY, .canary = 1}};
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &how, SERVICE_BIT(strategy.kind) | SERVICE_BIT(strategy.canary), 3);
	deploy(&s, id, "{\"v\":2}");
	roll(&s, id, 60000);
	assert_int_equal(story_do(&s, id, SERVICE_PROMOTE, 0)->code, 0);
	assert_int_equal(story_do(&s, id, SERVICE_PROMOTE, 0)->code, ERR_CONFLICT);
	assert_true(roll(&s, id, 200000) >= 3);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 2);
	story_end(&s);
}

/* Never two revisions at once. */
static void test_recreate_starts_when_all_are_over(void **state)
{
	struct service_story s;
	struct service_row how = {.strategy = {.kind = STRATEGY_RECREATE}};
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &how, SERVICE_BIT(strategy.kind), 2);
	deploy(&s, id, "{\"v\":2}");
	assert_int_equal(world_count_sent(s.w, MSG_KILL), 2);
	assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	{ /* one of them is over: that is not enough */
		struct message kill = *world_sent(s.w, MSG_KILL, 0);
		struct event ev = {.kind = EV_ENDED, .link = kill.link};

		ev.ended = (struct link_ended){.task = kill.kill.task,
		    .token = kill.kill.token,
		    .status = TASK_CANCELLED,
		    .exit_code = -1,
		    .killed = true,
		    .started_ms = 5,
		    .ended_ms = 6};
		world_step(s.w, &ev);
		assert_int_equal(world_count_sent(s.w, MSG_RUN), 0);
	}
	assert_int_equal(story_stop(&s), 2); /* one of them again, which changes nothing */
	assert_int_equal(story_obey(&s), 2);
	world_advance(s.w, 11000);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 2);
	assert_int_equal(story_view(&s, id).row.deploy.state, DEPLOY_STEADY);
	story_end(&s);
}

/* All instances anew, one after the other, with the same that they ran. */
static void test_restart_of_all_is_a_deploy(void **state)
{
	struct service_story s;
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &(struct service_row){0}, 0, 3);
	assert_int_equal(story_do(&s, id, SERVICE_RESTART, -1)->code, 0);
	assert_int_equal(story_view(&s, id).row.deploy.target, 2);
	assert_true(str_is(story_view(&s, id).row.spec.body, "{\"v\":1}"));
	assert_true(roll(&s, id, 200000) >= 3);
	assert_int_equal(story_view(&s, id).row.deploy.stable, 2);
	story_end(&s);
}

static void test_only_the_last_revisions_are_kept(void **state)
{
	struct service_story s;
	struct revision_view *r;
	size_t n;
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 0);
	for (int i = 0; i < 2 * REVISIONS_KEPT; i++)
		deploy(&s, id, arena_strdup(&s.a, i % 2 ? "{\"v\":3}" : "{\"v\":4}"));
	n = core_service_revisions(s.w->core, id, &s.a, &r);
	assert_int_equal(n, REVISIONS_KEPT);
	assert_int_equal(s.w->revisions.n, REVISIONS_KEPT);
	assert_int_equal(r[0].row.number, 2 * REVISIONS_KEPT + 1);
	story_end(&s);
}

/* Scaled, changed and removed in the middle of it: each has its clear end. */
static void test_two_revisions_at_once_and_removed(void **state)
{
	struct service_story s;
	struct service_row row = {.instances = 1};
	rid id;

	story_begin(&s, NULL);
	id = steady(&s, &(struct service_row){0}, 0, 3);
	deploy(&s, id, "{\"v\":2}");
	story_obey(&s);
	deploy(&s, id, "{\"v\":3}");
	story_set(&s, id, &row, SERVICE_BIT(instances));
	roll(&s, id, 200000);
	assert_int_equal(story_records(&s, id), 1);
	assert_int_equal(story_instance(&s, id, 0).row.revision, 3);
	deploy(&s, id, "{\"v\":4}");
	assert_int_equal(
	    story_object(&s, EV_DELETE, KIND_SERVICE, id, VERB_NONE, NULL, 0, 0)->code, 0);
	roll(&s, id, 0);
	for (int i = 0; i < 5; i++) {
		story_stop(&s);
		world_advance(s.w, 1000);
	}
	assert_int_equal(core_count(s.w->core, KIND_SERVICE), 0);
	assert_int_equal(s.w->instances.n, 0);
	assert_int_equal(s.w->revisions.n, 0);
	story_end(&s);
}

/* What a deploy has made beyond what is wanted goes, too: also while there is no room for it. */
static void test_removed_while_a_canary_waits(void **state)
{
	struct service_story s;
	struct service_row row = {.name = STR("web"),
	    .instances = 2,
	    .spec = {.body = STR("{\"v\":1}")},
	    .strategy = {.kind = STRATEGY_CANARY, .canary = 1, .max_surge = 1}};
	rid id;

	story_begin(&s, NULL);
	story_worker(&s, 1, 2);
	id = story_create(&s, &row,
	    SERVICE_BIT(name) | SERVICE_BIT(instances) | SERVICE_BIT(spec.body) |
	        SERVICE_BIT(strategy.kind) | SERVICE_BIT(strategy.canary) |
	        SERVICE_BIT(strategy.max_surge));
	story_obey(&s);
	world_advance(s.w, 10000);
	deploy(&s, id, "{\"v\":2}");
	assert_int_equal(story_records(&s, id), 3);
	assert_int_equal(
	    story_object(&s, EV_DELETE, KIND_SERVICE, id, VERB_NONE, NULL, 0, 0)->code, 0);
	assert_int_equal(story_stop(&s), 2);
	assert_int_equal(story_obey(&s), 0);
	assert_int_equal(core_find(s.w->core, KIND_SERVICE, STR("web")), 0);
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rolling),
	    cmocka_unit_test(test_a_bad_revision_goes_back_by_itself),
	    cmocka_unit_test(test_a_stalled_one_waits_for_a_person),
	    cmocka_unit_test(test_canaries_wait_to_be_promoted),
	    cmocka_unit_test(test_promoted_they_are_followed_by_all),
	    cmocka_unit_test(test_recreate_starts_when_all_are_over),
	    cmocka_unit_test(test_restart_of_all_is_a_deploy),
	    cmocka_unit_test(test_only_the_last_revisions_are_kept),
	    cmocka_unit_test(test_two_revisions_at_once_and_removed),
	    cmocka_unit_test(test_removed_while_a_canary_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
