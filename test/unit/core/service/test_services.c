/* SPDX-License-Identifier: Apache-2.0 */
/* Services as objects: revisions, what makes one, deploys as commands, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "service_story.h"

static void test_a_service_is_made_with_its_first_revision(void **state)
{
	struct service_story s;
	struct service_view v;
	struct revision_view *revisions;
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 3);
	v = story_view(&s, id);
	assert_true(str_is(v.row.name, "web"));
	assert_int_equal(v.row.instances, 3);
	assert_int_equal(v.row.version, 1);
	assert_int_equal(v.row.deploy.target, 1);
	assert_int_equal(v.row.deploy.stable, 0);
	assert_int_equal(v.row.crash.stop_at, 200);
	assert_true(str_is(v.queue, SERVICE_QUEUE)); /* made with the first that names none */
	assert_true(str_is(v.row.spec.body, "{\"c\":1}"));
	assert_int_equal(core_service_revisions(s.w->core, id, &s.a, &revisions), 1);
	assert_true(revisions[0].is_target);
	assert_true(str_is(revisions[0].row.actor, "ann"));
	assert_int_equal(
	    core_find(s.w->core, KIND_QUEUE, STR(SERVICE_QUEUE)), revisions[0].row.spec.queue);
	story_end(&s);
}

/* Only what it runs makes a revision, and only if that is another. */
static void test_what_makes_a_revision(void **state)
{
	struct service_story s;
	struct service_row row = {.instances = 5,
	    .routes = STR("[1]"),
	    .annotation = STR("note"),
	    .crash = {.wait_ms = 7},
	    .spec = {.body = STR("{\"c\":1}"), .n_ports = 2}};
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 3);
	story_set(&s, id, &row,
	    SERVICE_BIT(instances) | SERVICE_BIT(routes) | SERVICE_BIT(annotation) |
	        SERVICE_BIT(crash.wait_ms) | SERVICE_BIT(spec.body));
	assert_int_equal(story_view(&s, id).row.last_revision, 1);
	assert_int_equal(story_view(&s, id).row.version, 2);
	assert_true(str_is(story_view(&s, id).row.routes, "[1]"));
	story_set(&s, id, &row, SERVICE_BIT(spec.n_ports));
	assert_int_equal(story_view(&s, id).row.last_revision, 2);
	assert_int_equal(story_view(&s, id).row.deploy.target, 2);
	assert_int_equal(story_view(&s, id).row.spec.n_ports, 2);
	assert_true(str_is(story_view(&s, id).row.spec.body, "{\"c\":1}"));
	/* back to the first: its spec is the service's again */
	assert_int_equal(story_do(&s, id, SERVICE_DEPLOY, 1)->code, 0);
	assert_int_equal(story_view(&s, id).row.deploy.target, 1);
	assert_int_equal(story_view(&s, id).row.spec.n_ports, 0);
	assert_int_equal(story_do(&s, id, SERVICE_DEPLOY, 1)->code, ERR_CONFLICT);
	assert_int_equal(story_do(&s, id, SERVICE_DEPLOY, 9)->code, ERR_NOT_FOUND);
	assert_int_equal(story_do(&s, id, SERVICE_ROLLBACK, 0)->code, ERR_CONFLICT);
	story_end(&s);
}

static void test_it_is_the_same_after_a_restart(void **state)
{
	struct service_story s;
	struct service_row row = {.spec = {.n_ports = 2}, .domain = STR("apps")};
	struct service_view before, after;
	struct revision_view *revisions;
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 0);
	story_set(&s, id, &row, SERVICE_BIT(spec.n_ports) | SERVICE_BIT(domain));
	before = story_view(&s, id);
	world_restart(s.w);
	after = story_view(&s, id);
	assert_null(row_differs(&service_table, &before.row, &after.row));
	assert_int_equal(core_service_revisions(s.w->core, id, &s.a, &revisions), 2);
	assert_int_equal(
	    revisions[1].row.outcome, REVISION_STABLE); /* of no instances all are well */
	story_end(&s);
}

static int need(struct service_story *s, const char *name, const char *needs)
{
	struct service_row row = {
	    .name = str_of(name), .spec = {.body = STR("{}"), .needs = str_of(needs)}};

	return story_object(s, EV_CREATE, KIND_SERVICE, 0, VERB_NONE, &row,
	    SERVICE_BIT(name) | SERVICE_BIT(spec.body) | SERVICE_BIT(spec.needs), 0)
	    ->code;
}

static void test_nobody_waits_for_itself(void **state)
{
	struct service_story s;

	story_begin(&s, NULL);
	assert_int_equal(need(&s, "a", "a\n"), ERR_INVALID);
	assert_int_equal(need(&s, "a", "b\n"), 0); /* which need not be there yet */
	assert_int_equal(need(&s, "b", "c\nd\n"), 0);
	assert_int_equal(need(&s, "c", "d\n"), 0);
	assert_int_equal(need(&s, "d", "x\na\n"), ERR_INVALID);
	assert_true(strstr(world_reply(s.w)->problem->hint, "\"a\""));
	assert_int_equal(need(&s, "d", "x\n"), 0);
	story_end(&s);
}

static void test_what_is_refused(void **state)
{
	struct service_story s;
	struct service_row row = {.name = STR("web"), .spec = {.queue = 77}};
	rid id;

	story_begin(&s, NULL);
	id = story_service(&s, "web", 0);
	assert_int_equal(story_object(&s, EV_CREATE, KIND_SERVICE, 0, VERB_NONE, &row,
	                     SERVICE_BIT(name) | SERVICE_BIT(spec.body), 0)
	                     ->code,
	    ERR_CONFLICT);
	assert_int_equal(story_set(&s, id, &row, SERVICE_BIT(spec.queue))->code, ERR_NOT_FOUND);
	assert_int_equal(story_set(&s, id, &row, SERVICE_BIT(spec.body))->code, ERR_INVALID);
	assert_int_equal(story_do(&s, id, SERVICE_PROMOTE, 0)->code, ERR_CONFLICT);
	/* the service's queue stays while the service is there */
	assert_int_equal(
	    story_object(&s, EV_DELETE, KIND_QUEUE,
	        core_find(s.w->core, KIND_QUEUE, STR(SERVICE_QUEUE)), VERB_NONE, NULL, 0, 0)
	        ->code,
	    ERR_CONFLICT);
	assert_int_equal(
	    story_object(&s, EV_DELETE, KIND_SERVICE, id, VERB_NONE, NULL, 0, 0)->code, 0);
	assert_int_equal(core_count(s.w->core, KIND_SERVICE), 0);
	story_end(&s);
}

static void test_a_domain_is_fresh_when_its_owner_says_so(void **state)
{
	struct service_story s;
	struct domain_row row = {.name = STR("apps"), .ttl_ms = 60000};
	rid id;

	story_begin(&s, NULL);
	id = story_object(&s, EV_CREATE, KIND_DOMAIN, 0, VERB_NONE, &row,
	    DOMAIN_BIT(name) | DOMAIN_BIT(ttl_ms), 0)
	         ->id;
	assert_false(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms));
	story_object(&s, EV_DO, KIND_DOMAIN, id, DOMAIN_FRESH, NULL, 0, 0);
	assert_true(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms + 59999));
	assert_false(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms + 60000));
	/* a clock that was set back makes it no fresher */
	assert_false(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms - 1));
	world_restart(s.w);
	assert_true(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms));
	story_object(&s, EV_DO, KIND_DOMAIN, id, DOMAIN_STALE, NULL, 0, 0);
	assert_false(core_domain_is_fresh(s.w->core, STR("apps"), s.w->now_ms));
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_service_is_made_with_its_first_revision),
	    cmocka_unit_test(test_what_makes_a_revision),
	    cmocka_unit_test(test_it_is_the_same_after_a_restart),
	    cmocka_unit_test(test_nobody_waits_for_itself),
	    cmocka_unit_test(test_what_is_refused),
	    cmocka_unit_test(test_a_domain_is_fresh_when_its_owner_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
