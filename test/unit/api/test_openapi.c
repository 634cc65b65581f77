/* SPDX-License-Identifier: Apache-2.0 */
/* The document made from the route table: valid JSON, and nothing missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/frame/route.h"
#include "model/limits.h"
#include "model/task/task.h"
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

static json_t *document(void)
{
	struct buf b = {0};
	json_error_t e;
	json_t *v;

	api_openapi(&b);
	v = json_loadb(b.p, b.n, JSON_REJECT_DUPLICATES, &e);
	if (!v)
		fail_msg("%s at %d", e.text, e.position);
	buf_release(&b);
	return v;
}

static bool has_parameter(json_t *list, const char *name, const char *in)
{
	json_t *one;
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (strcmp(jstr(one, "name"), name) == 0 && strcmp(jstr(one, "in"), in) == 0)
			return true;
	}
	return false;
}

static void test_every_route(void **state)
{
	static const char *const lower[] = {"get", "post", "put", "patch", "delete"};
	json_t *doc = document(), *paths = json_object_get(doc, "paths");

	assert_string_equal(jstr(doc, "openapi"), "3.1.0");
	for (size_t i = 0; i < route_number(NULL); i++) {
		const struct route *r = route_at(i);
		json_t *op = json_object_get(json_object_get(paths, r->pattern), lower[r->method]);
		json_t *parameters = json_object_get(op, "parameters");
		const char *open = strchr(r->pattern, '{');
		char name[32], code[8];

		assert_non_null(op);
		assert_string_equal(jstr(op, "operationId"), r->name);
		for (int q = 0; q < N_QUERY; q++)
			assert_int_equal(!!(r->query & Q(q)),
			    has_parameter(parameters, query_infos[q].name, "query"));
		if (open) {
			snprintf(name, sizeof name, "%.*s", (int)strcspn(open + 1, "}"), open + 1);
			assert_true(has_parameter(parameters, name, "path"));
		}
		assert_int_equal(!!r->request, json_object_get(op, "requestBody") != NULL);
		for (int k = 0; k < 2 && r->success[k]; k++) {
			snprintf(code, sizeof code, "%d", r->success[k]);
			assert_non_null(json_object_get(json_object_get(op, "responses"), code));
		}
		assert_non_null(json_object_get(json_object_get(op, "responses"), "default"));
	}
	json_decref(doc);
}

static void check_refs(json_t *doc, json_t *v)
{
	const char *key, *ref = json_string_value(json_object_get(v, "$ref"));
	json_t *inner;
	size_t i;

	if (ref) {
		char kind[32], name[64];

		assert_int_equal(sscanf(ref, "#/components/%31[^/]/%63s", kind, name), 2);
		if (!json_object_get(
		        json_object_get(json_object_get(doc, "components"), kind), name))
			fail_msg("%s leads nowhere", ref);
	}
	json_object_foreach(v, key, inner) check_refs(doc, inner);
	json_array_foreach(v, i, inner) check_refs(doc, inner);
}

static void test_references(void **state)
{
	json_t *doc = document(), *served = ask_json(w, API_GET, "/openapi.json", NULL, 200);

	check_refs(doc, doc);
	assert_true(json_equal(doc, served));
	json_decref(served);
	json_decref(doc);
}

/* One text for all who ask: it is neither written nor copied for each of them. */
static void test_it_is_kept(void **state)
{
	const char *kept[2];

	for (int i = 0; i < 2; i++) {
		struct talk *t = talk_new(API_GET, "/openapi.json", NULL);

		talk_send(w, t);
		assert_int_equal(t->status, 200);
		kept[i] = t->kept;
		talk_free(t);
	}
	assert_non_null(kept[0]);
	assert_ptr_equal(kept[0], kept[1]);
}

/* What is answered has the members that the document promises, and no others. */
static void check_against(json_t *doc, const char *schema, json_t *v)
{
	json_t *s =
	    json_object_get(json_object_get(json_object_get(doc, "components"), "schemas"), schema);
	json_t *known = json_object_get(s, "properties"), *need, *member;
	const char *key;
	size_t i;

	assert_non_null(known);
	json_object_foreach(v, key, member)
	{
		if (!json_object_get(known, key))
			fail_msg("%s: \"%s\" is not in the document", schema, key);
	}
	json_array_foreach(json_object_get(s, "required"), i, need)
	{
		if (!json_object_get(v, json_string_value(need)))
			fail_msg("%s: \"%s\" is missing", schema, json_string_value(need));
	}
}

static void test_shapes(void **state)
{
	json_t *doc = document(), *v;

	world_worker(w, "w1", 1);
	v = ask_json(w, API_POST, "/v1/tasks",
	    "{\"command\":[\"x\"],\"env\":{},\"cwd\":\"/\",\"params\":{},\"run\":{\"nice\":1}}",
	    201);
	check_against(doc, "Task", v);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/queues/default", NULL, 200);
	check_against(doc, "Queue", v);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/workers/w1", NULL, 200);
	check_against(doc, "Worker", v);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/status", NULL, 200);
	check_against(doc, "Status", v);
	json_decref(v);
	v = ask_json(w, API_GET, "/v1/tasks/summary", NULL, 200);
	check_against(doc, "TaskSummary", v);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks", "[{\"command\":[\"x\"]}]", 200);
	check_against(doc, "SubmitResult", v);
	json_decref(v);
	v = ask_json(w, API_POST, "/v1/tasks/actions/hold", "{\"all\":true}", 200);
	check_against(doc, "BulkResult", v);
	json_decref(v);
	json_decref(doc);
}

/* Every member that is described is in one of the objects, which are all that are ever written. */
static void assert_all_written(json_t *doc, const char *schema, json_t *objects)
{
	json_t *s =
	    json_object_get(json_object_get(json_object_get(doc, "components"), "schemas"), schema);
	json_t *all = json_object(), *one, *about;
	const char *key;
	size_t i;

	json_array_foreach(objects, i, one)
	{
		check_against(doc, schema, one);
		json_object_update(all, one);
	}
	json_object_foreach(json_object_get(s, "properties"), key, about)
	{
		if (!json_object_get(all, key))
			fail_msg("%s: nobody writes \"%s\"", schema, key);
	}
	json_decref(all);
}

static void add_task(json_t *tasks, const char *body, int status)
{
	json_array_append_new(tasks, ask_json(w, API_POST, "/v1/tasks", body, status));
}

/* Tasks are written by hand, for speed: what is said of them holds in both directions. */
static void test_a_task_is_what_is_described(void **state)
{
	static const char twin[] = "{\"command\":[\"x\"],\"key\":\"k\"}";
	json_t *doc = document(), *tasks = json_array(), *list, *one, *attempts;
	rid id = world_submit(w, "{\"command\":[\"x\"]}");
	char target[64], text[ID_TEXT];

	add_task(tasks,
	    "{\"command\":[\"x\"],\"env\":{},\"cwd\":\"/\",\"cwd_machine\":\"m\",\"params\":{},"
	    "\"run\":{\"nice\":1},\"stdin\":\"stream\"}",
	    201);
	add_task(tasks, "{\"action\":{\"run\":{\"path\":\"x\"}}}", 201);
	add_task(tasks, twin, 201);
	add_task(tasks, twin, 200);
	list = ask_json(w, API_GET, "/v1/tasks", NULL, 200);
	json_array_extend(tasks, json_object_get(list, "items"));
	assert_all_written(doc, "Task", tasks);
	world_worker(w, "w1", 9);
	world_started(w, id);
	world_ended(w, id, TASK_SUCCEEDED, 0, "out");
	snprintf(target, sizeof target, "/v1/tasks/%s", id_format(world_ids(w), id, text));
	one = ask_json(w, API_GET, target, NULL, 200);
	attempts = json_object_get(one, "attempts");
	assert_int_equal(json_array_size(attempts), 1);
	assert_all_written(doc, "Attempt", attempts);
	json_array_clear(tasks);
	json_array_append(tasks, json_object_get(one, "usage"));
	assert_all_written(doc, "Usage", tasks);
	json_decref(one);
	json_decref(list);
	json_decref(tasks);
	json_decref(doc);
}

static json_t *member_of(json_t *doc, const char *schema, const char *member)
{
	json_t *schemas = json_object_get(json_object_get(doc, "components"), "schemas");

	return json_object_get(
	    json_object_get(json_object_get(schemas, schema), "properties"), member);
}

static void assert_bound(json_t *doc, const char *member, const char *bound, int64_t n)
{
	assert_int_equal(
	    json_integer_value(json_object_get(member_of(doc, "TaskSubmit", member), bound)), n);
}

/* The bounds that are said are those by which tasks are read. */
static void test_bounds_of_a_submit(void **state)
{
	json_t *doc = document();

	assert_bound(doc, "priority", "minimum", -PRIORITY_MAX);
	assert_bound(doc, "priority", "maximum", PRIORITY_MAX);
	assert_bound(doc, "max_attempts", "minimum", 1);
	assert_bound(doc, "max_attempts", "maximum", ATTEMPTS_MAX);
	assert_bound(doc, "key", "maxLength", KEY_MAX_BYTES);
	assert_bound(doc, "name", "maxLength", NAME_MAX_BYTES);
	assert_bound(doc, "cwd_machine", "maxLength", NAME_MAX_BYTES);
	assert_bound(doc, "labels", "maxProperties", LABELS_MAX);
	assert_bound(doc, "status", "minimum", HELD_STATUS_MIN);
	assert_bound(doc, "status", "maximum", TASK_QUEUED);
	assert_string_equal(jstr(member_of(doc, "TaskSubmit", "queue"), "default"), "default");
	json_decref(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_every_route, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_references, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_it_is_kept, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_a_task_is_what_is_described, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_bounds_of_a_submit, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
