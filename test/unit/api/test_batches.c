/* SPDX-License-Identifier: Apache-2.0 */
/* Batches of tasks over the interface: made, named, joined, shown, and who sees them. */
#include "world/tokens.h"

#define TWO "[{\"command\":[\"a\"]},{\"command\":[\"b\"]}]"

/* The answer to a submit, whose batch is remembered. */
static char batch[ID_TEXT];

static json_t *submit(const char *query, const char *body)
{
	char target[256];
	json_t *v;

	snprintf(target, sizeof target, "/v1/tasks%s", query);
	v = ask_json(w, API_POST, target, body, 200);
	snprintf(batch, sizeof batch, "%s", jstr(v, "batch"));
	return v;
}

static json_t *show(const char *name, int status)
{
	char target[256];

	snprintf(target, sizeof target, "/v1/batches/%s", name);
	return ask_json(w, API_GET, target, NULL, status);
}

static void test_one_batch(void **state)
{
	json_t *made = submit("?batch_name=nightly", TWO), *v = show(batch, 200), *t;
	const char *first = json_string_value(json_array_get(json_object_get(made, "ids"), 0));
	char path[64];

	assert_string_not_equal(batch, first);
	assert_string_equal(jstr(v, "id"), batch);
	assert_string_equal(jstr(v, "name"), "nightly");
	assert_string_equal(jstr(v, "actor"), "uid=0");
	assert_int_equal(jint(v, "tasks"), 2);
	assert_int_equal(jint(v, "total"), 2);
	assert_int_equal(jint(v, "live"), 2);
	assert_int_equal(jint(v, "done"), 0);
	assert_int_equal(jint(json_object_get(v, "states"), "queued"), 2);
	assert_true(json_is_null(json_object_get(v, "left_ms")));
	assert_true(json_is_null(json_object_get(v, "ended")));
	assert_true(json_is_false(json_object_get(v, "id_is_task")));
	snprintf(path, sizeof path, "/v1/tasks/%s", first);
	t = ask_json(w, API_GET, path, NULL, 200);
	assert_string_equal(jstr(t, "batch"), batch);
	snprintf(path, sizeof path, "/v1/tasks/%s", batch); /* it is no task's */
	json_decref(ask_json(w, API_GET, path, NULL, 404));
	json_decref(t);
	json_decref(v);
	json_decref(made);
}

static void test_how_it_stands(void **state)
{
	json_t *made = submit("", TWO), *ids = json_object_get(made, "ids"), *v;
	rid id[2];

	for (size_t i = 0; i < 2; i++)
		assert_true(id_parse(
		    world_ids(w), str_of(json_string_value(json_array_get(ids, i))), &id[i]));
	world_worker(w, "w1", 2);
	world_started(w, id[0]);
	v = show(batch, 200);
	assert_int_equal(jint(v, "running"), 2);
	json_decref(v);
	world_advance(w, 10000);
	world_ended(w, id[0], TASK_FAILED, 1, NULL);
	v = show(batch, 200);
	assert_int_equal(jint(v, "failed"), 1);
	assert_int_equal(jint(v, "done"), 1);
	assert_true(json_real_value(json_object_get(v, "rate")) > 0.09);
	assert_int_equal(jint(v, "left_ms"), 10000);
	json_decref(v);
	world_advance(w, 10000);
	world_ended(w, id[1], TASK_SUCCEEDED, 0, NULL);
	world_advance(w, 3600000);
	v = show(batch, 200);
	assert_int_equal(jint(v, "live"), 0);
	assert_true(json_is_string(json_object_get(v, "ended")));
	assert_true(json_real_value(json_object_get(v, "rate")) > 0.09);
	assert_true(json_is_null(json_object_get(v, "left_ms")));
	json_decref(v);
	json_decref(made);
}

static void test_joined(void **state)
{
	char query[64], first[ID_TEXT];
	json_t *v;

	json_decref(submit("", TWO));
	memcpy(first, batch, sizeof first);
	snprintf(query, sizeof query, "?batch=%s", first);
	json_decref(submit(query, TWO));
	assert_string_equal(batch, first);
	snprintf(query, sizeof query, "/v1/tasks?batch=%s", first);
	v = ask_json(w, API_POST, query, "{\"command\":[\"c\"]}", 201);
	assert_string_equal(jstr(v, "batch"), first);
	json_decref(v);
	v = show(first, 200);
	assert_int_equal(jint(v, "tasks"), 5);
	assert_int_equal(jint(v, "total"), 5);
	json_decref(v);
	query[strlen(query) - 1] ^= 1; /* nobody has that */
	v = ask_json(w, API_POST, query, TWO, 404);
	assert_string_equal(jstr(v, "field"), "batch");
	json_decref(v);
	snprintf(query, sizeof query, "/v1/tasks?batch_name=x&batch=%s", first);
	json_decref(ask_json(w, API_POST, query, TWO, 400));
}

static void test_names(void **state)
{
	char oldest[ID_TEXT];
	json_t *v;

	json_decref(submit("?batch_name=night", TWO));
	memcpy(oldest, batch, sizeof oldest);
	v = ask_json(w, API_POST, "/v1/tasks?batch_name=night", "{\"command\":[\"c\"]}", 201);
	snprintf(batch, sizeof batch, "%s", jstr(v, "batch"));
	assert_string_not_equal(batch, oldest);
	assert_int_equal(strlen(batch), 24);
	json_decref(v);
	v = show("night", 200); /* the newest */
	assert_string_equal(jstr(v, "id"), batch);
	assert_int_equal(jint(v, "tasks"), 1);
	assert_int_equal(jint(v, "namesakes"), 1);
	json_decref(v);
	v = show(oldest, 200);
	assert_true(json_is_null(json_object_get(v, "namesakes")));
	json_decref(v);
	json_decref(show("nigh", 404));
	json_decref(show("000000000000000000000000", 404));
	json_decref(ask_json(w, API_POST, "/v1/tasks?batch_name=a/b", TWO, 400));
	json_decref(ask_json(w, API_POST, "/v1/tasks?batch_name=", TWO, 400));
}

static size_t items(const char *target)
{
	json_t *v = ask_json(w, API_GET, target, NULL, 200);
	size_t n = json_array_size(json_object_get(v, "items"));

	json_decref(v);
	return n;
}

static void test_lists(void **state)
{
	char target[128];
	json_t *v;

	for (int i = 0; i < 5; i++)
		json_decref(submit(i % 2 ? "?batch_name=odd" : "", TWO));
	assert_int_equal(items("/v1/batches"), 5);
	assert_int_equal(items("/v1/batches?name=od"), 2);
	assert_int_equal(items("/v1/batches?name=even"), 0);
	v = ask_json(w, API_GET, "/v1/batches?limit=3", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 3);
	assert_string_equal(jstr(json_array_get(json_object_get(v, "items"), 0), "id"), batch);
	snprintf(target, sizeof target, "/v1/batches?limit=3&cursor=%s", jstr(v, "next"));
	assert_int_equal(items(target), 2);
	json_decref(v);
	v = ask_json(w, API_GET, target, NULL, 200);
	assert_true(json_is_null(json_object_get(v, "next")));
	json_decref(v);
}

static void test_limits(void **state)
{
	struct bearer b;
	char target[64];
	json_t *v;

	json_decref(ask_json(w, API_POST, "/v1/queues", "{\"name\":\"mine\"}", 201));
	json_decref(submit("?batch_name=n", "[{\"queue\":\"mine\",\"command\":[\"a\"]},"
	                                    "{\"command\":[\"b\"]},{\"command\":[\"c\"]}]"));
	b = token_make("\"name\":\"q\",\"role\":\"read\",\"queues\":[\"mine\"]");
	snprintf(target, sizeof target, "/v1/batches/%s", batch);
	v = json_as(&b, API_GET, target, NULL, 200);
	assert_int_equal(jint(v, "tasks"), 1); /* of the others nothing is said */
	assert_int_equal(jint(v, "total"), 1);
	json_decref(v);
	json_decref(submit("?batch_name=n", TWO));
	snprintf(target, sizeof target, "/v1/batches/%s", batch);
	assert_int_equal(status_as(&b, API_GET, target, NULL), 404);
	v = json_as(&b, API_GET, "/v1/batches", NULL, 200);
	assert_int_equal(json_array_size(json_object_get(v, "items")), 1);
	json_decref(v);
	v = json_as(&b, API_GET, "/v1/batches/n", NULL, 200); /* the newest that it sees */
	assert_string_not_equal(jstr(v, "id"), batch);
	json_decref(v);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
	    T(test_one_batch),
	    T(test_how_it_stands),
	    T(test_joined),
	    T(test_names),
	    T(test_lists),
	    T(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
