/* SPDX-License-Identifier: Apache-2.0 */
/* Acting on everything that matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world/world.h"

static struct world *w;

static int setup(void **state)
{
	w = world_new();
	world_open(w);
	return 0;
}

static int teardown(void **state)
{
	world_free(w);
	return 0;
}

static json_t *act(const char *verb, const char *body, int status)
{
	char target[64];

	snprintf(target, sizeof target, "/v1/tasks/actions/%s", verb);
	return ask_json(w, API_POST, target, body, status);
}

static void submit(int n, const char *more)
{
	struct buf b = {0};
	struct talk *t;

	for (int i = 0; i < n; i++)
		buf_printf(&b, "{\"command\":[\"x\"]%s}\n", more);
	t = talk_new(API_POST, "/v1/tasks", b.p);
	t->req.content_type = STR("application/x-ndjson");
	talk_send(w, t);
	world_run(w);
	assert_int_equal(t->status, 200);
	talk_free(t);
	buf_release(&b);
}

static void test_by_filter(void **state)
{
	json_t *v;

	submit(2500, ",\"labels\":{\"a\":\"1\"}");
	submit(10, "");
	v = act("hold", "{\"filter\":{\"label\":[\"a=1\"]},\"dry_run\":true}", 200);
	assert_int_equal(jint(v, "matched"), 2500);
	assert_int_equal(jint(v, "changed"), 0);
	json_decref(v);
	v = act("hold", "{\"filter\":{\"label\":\"a=1\"}}", 200);
	assert_int_equal(jint(v, "changed"), 2500);
	json_decref(v);
	v = act("release", "{\"filter\":{\"state\":[-10],\"queue\":\"default\"}}", 200);
	assert_int_equal(jint(v, "changed"), 2500);
	json_decref(v);
	v = act("cancel", "{\"filter\":{\"since\":\"1h\"},\"reason\":\"enough\"}", 200);
	assert_int_equal(jint(v, "matched"), 2510);
	assert_int_equal(jint(v, "changed"), 2510);
	json_decref(v);
	v = act("cancel", "{\"all\":true}", 200); /* none is live */
	assert_int_equal(jint(v, "matched"), 0);
	json_decref(v);
	v = act("retry", "{\"all\":true}", 200);
	assert_int_equal(jint(v, "changed"), 2510);
	json_decref(v);
}

static void changes(const char *verb, const char *body, int64_t n)
{
	json_t *v = act(verb, body, 200);

	assert_int_equal(jint(v, "matched"), n);
	assert_int_equal(jint(v, "changed"), n);
	json_decref(v);
}

/* A blocked job waits for its needs, which no release changes; another task that is blocked is held
 * by that. */
static void test_what_is_blocked(void **state)
{
	char held[64], text[ID_TEXT];
	rid id = world_submit(w, NULL);

	json_decref(ask_json(w, API_POST, "/v1/groups",
	    "{\"name\":\"g\",\"jobs\":[{\"name\":\"a\",\"command\":[\"x\"]},"
	    "{\"name\":\"b\",\"command\":[\"x\"],\"needs\":[\"a\"]}]}",
	    201));
	changes("release", "{\"all\":true}", 0);
	json_decref(act("hold", "{\"filter\":{\"group\":\"g\"},\"dry_run\":true}", 200));
	changes("hold", "{\"filter\":{\"group\":\"g\"}}", 2);
	changes("hold", "{\"filter\":{\"group\":\"g\"}}", 0);
	changes("release", "{\"filter\":{\"group\":\"g\"}}", 2);
	changes("release", "{\"filter\":{\"group\":\"g\"}}", 0);
	json_decref(ask_json(w, API_POST, "/v1/groups/g/cancel", NULL, 200));
	snprintf(held, sizeof held, "/v1/tasks/%s", id_format(world_ids(w), id, text));
	json_decref(ask_json(w, API_PATCH, held, "{\"status\":-4}", 200));
	changes("hold", "{\"all\":true}", 0);
	changes("release", "{\"all\":true}", 1);
}

static void test_by_ids(void **state)
{
	char body[512], a[ID_TEXT], b[ID_TEXT];
	rid first = world_submit(w, NULL), second = world_submit(w, NULL);
	json_t *v;

	id_format(world_ids(w), first, a);
	id_format(world_ids(w), second, b);
	snprintf(body, sizeof body, "{\"ids\":[\"%s\",\"%s\"]}", a, b);
	v = act("cancel", body, 200);
	assert_int_equal(jint(v, "changed"), 2);
	json_decref(v);
	v = act("cancel", body, 200);
	assert_int_equal(jint(v, "refused"), 2);
	assert_int_equal(json_array_size(json_object_get(v, "errors")), 2);
	assert_string_equal(jstr(json_array_get(json_object_get(v, "errors"), 0), "id"), a);
	json_decref(v);
}

/* What would become of each is said, and nothing changes. */
static void test_a_dry_run_of_ids(void **state)
{
	static const struct {
		const char *verb;
		int64_t matched; /* of one that is queued, one that has ended, and one that is not
		                    there */
		const char *says;
	} runs[] = {{"cancel", 1, "it has ended already"}, {"retry", 1, "it has not ended"},
	    {"hold", 1, "it has left the queue"}, {"release", 1, "it has left the queue"}};
	char body[512], a[ID_TEXT], b[ID_TEXT], none[ID_TEXT];
	rid first = world_submit(w, NULL), second = world_submit(w, NULL);

	id_format(world_ids(w), first, a);
	id_format(world_ids(w), second, b);
	id_format(world_ids(w), second + 7, none);
	snprintf(body, sizeof body, "{\"ids\":[\"%s\",\"%s\"]}", b, b);
	changes("cancel", body, 1); /* the same one twice */
	snprintf(body, sizeof body, "{\"dry_run\":true,\"ids\":[\"%s\",\"%s\",\"%s\",\"%s\"]}", a,
	    b, none, a);
	for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
		json_t *v = act(runs[i].verb, body, 200), *errors = json_object_get(v, "errors");

		assert_int_equal(jint(v, "matched"), runs[i].matched);
		assert_int_equal(jint(v, "changed"), 0);
		assert_int_equal(jint(v, "refused"), 2);
		assert_string_equal(jstr(json_array_get(errors, 0), "detail"), runs[i].says);
		assert_string_equal(
		    jstr(json_array_get(errors, 1), "detail"), "there is no such task");
		json_decref(v);
	}
	snprintf(body, sizeof body, "{\"ids\":[\"%s\",\"%s\"]}", a, a);
	changes("hold", body, 1);
}

static void test_refused(void **state)
{
	static const char *const bad[] = {"{}", "{\"filter\":{}}", "{\"filter\":[]}",
	    "{\"ids\":[\"zz\"]}", "{\"ids\":\"x\"}",
	    "{\"ids\":[],\"filter\":{\"state\":\"failed\"}}", "{\"filter\":{\"stat\":\"failed\"}}",
	    "{\"filter\":{\"state\":\"fialed\"}}", "{\"all\":1}", "{\"filter\":{\"state\":[[1]]}}",
	    "{\"filter\":{\"queue\":7}}"};
	json_t *v;

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		json_decref(act("cancel", bad[i], 400));
	v = act("cancel", "{\"filter\":{\"stat\":\"failed\"}}", 400);
	assert_string_equal(jstr(v, "field"), "filter.stat");
	assert_string_equal(jstr(v, "hint"), "did you mean \"state\"?");
	json_decref(v);
}

static void test_client_leaves(void **state)
{
	struct talk *t;

	submit(3000, "");
	t = talk_new(API_POST, "/v1/tasks/actions/cancel", "{\"all\":true}");
	talk_send(w, t);
	talk_hang_up(t);
	world_run(w);
	assert_int_equal(t->answers, 0);
	talk_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_by_filter, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_what_is_blocked, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_by_ids, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_dry_run_of_ids, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_client_leaves, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
