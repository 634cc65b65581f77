/* SPDX-License-Identifier: Apache-2.0 */
/* Files to place: what is read of them, and what is said of those that are wrong or hostile. */
#include "support.h"

#include "base/mem.h"
#include "service/file/place_file.h"

#define WORKER(rest) "{\"workers\":[{\"name\":\"w\"" rest "}]}"
#define WORK(rest) "{\"work\":[{\"service\":\"web\"" rest "}]}"

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"nothing", "", "no map of lists and settings"},
    {"a list", "[]", "no map of lists and settings"},
    {"an unknown list", "{\"worker\":[]}", "line 1: there is no member of this name"},
    {"twice", "{\"work\":[],\n\"work\":[]}", "line 2: work is there twice"},
    {"no list", "{\"workers\":3}", "line 1: a list is wanted"},
    {"cut off", "{\"workers\":[{\"name\":\"w\"}", "neither JSON nor YAML"},
    {"a worker that is a text", "{\"workers\":[\"w\"]}", "this is a text; a map with a name"},
    {"a worker without a name", "{\"workers\":[\n{}]}", "line 2: this has no name"},
    {"an empty name", "{\"workers\":[{\"name\":\"\"}]}", "name must not be empty"},
    {"a name with an escape", "{\"workers\":[{\"name\":\"a\\u001b\"}]}", "no control characters"},
    {"and one above ASCII", "{\"workers\":[{\"name\":\"a\\u009b\"}]}", "no control characters"},
    {"two workers", "workers:\n- name: w\n- name: w\n",
        "line 3: w: it is here twice; the first is in line 2"},
    {"negative memory", WORKER(",\"memory\":-1"), "memory must be an amount"},
    {"memory as a word", WORKER(",\"memory\":\"lots\""), "memory must be an amount"},
    {"half a core too exactly", WORKER(",\"cpu\":0.5001"), "at most 3 digits"},
    {"negative cores", WORKER(",\"cpu\":-1"), "cpu must be a number from 0"},
    {"too many instances", WORKER(",\"instances\":100001"), "from 0 to 100000"},
    {"a state", WORKER(",\"state\":\"tired\""), "state must be ready, draining or silent"},
    {"labels as text", WORKER(",\"labels\":\"gpu\""), "labels is a text; a list or a map"},
    {"a label in a label", WORKER(",\"labels\":{\"a\":{}}"), "labels has a map in it"},
    {"a run", WORKER(",\"runs\":[3]"), "w: a run is a number; a map is wanted"},
    {"more starting than there are", WORKER(",\"runs\":[{\"count\":2,\"starting\":3}]"),
        "w: 3 of 2 cannot be starting"},
    {"too many runs", WORKER(",\"runs\":[{\"count\":99999},{\"count\":2}]"), "at most 100000"},
    {"nothing to do", "{\"work\":[{}]}", "work has either a service or a task"},
    {"both", "{\"work\":[{\"service\":\"a\",\"task\":\"b\"}]}", "either a service or a task"},
    {"a task with instances", "{\"work\":[{\"task\":\"b\",\"instances\":2}]}",
        "b: a task has no instances"},
    {"two ways", WORK(",\"index\":1,\"instances\":2"), "web: give one of"},
    {"negative instances", WORK(",\"instances\":-1"), "instances must be a whole number from 0"},
    {"an index", WORK(",\"index\":100000"), "from 0 to 99999"},
    {"the same index twice", "work:\n- {service: a, instances: 3}\n- {service: a, index: 2}\n",
        "line 3: a: index 2 is here twice; the first is in line 2"},
    {"the same index twice in one", WORK(",\"indexes\":[1,1]"), "index 1 is here twice"},
    {"the same task twice", "work:\n- task: a\n- task: a\n",
        "line 3: a: there is a task of this name"},
    {"a weight", "{\"config\":{\"starting_weight\":11}}", "from 0 to 10"},
    {"zones", "{\"config\":{\"zones\":\"odd\"}}", "zones must be even or hashed"},
    {"a setting", "{\"config\":{\"start_max\":1}}", "config: there is no member"},
    {"an anchor", "work:\n- &x {service: a}\n", "line 2: anchors"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct place_file f = {0};
		struct problem p = {0};
		int rc = place_file_read(str_of(refused[i].text), &f, &p);

		if (rc >= 0 || rc != p.code || !strstr(p.what, refused[i].says))
			fail_msg("%s: %d, %s", refused[i].name, rc, p.what);
	}
}

static char *answer_to(const char *text)
{
	struct place_file f = {0};
	struct place_report r;
	struct problem p = {0};
	struct buf out = {0};

	if (place_file_read(str_of(text), &f, &p) < 0)
		fail_msg("%s", p.what);
	place_file_run(&f, &r);
	place_report_json(&r, &out);
	place_report_release(&r);
	place_file_release(&f);
	return buf_take(&out);
}

static const char cluster[] =
    "workers:\n"
    "- {name: b, zone: z2, memory: 1G, disk: 1G, runs: [{service: web, memory: 100M}]}\n"
    "- {name: a, zone: z1, memory: 1G, disk: 1G, used: {memory: 0, disk: 0}}\n"
    "work:\n"
    "- {service: web, indexes: [1, 2], memory: 200M}\n"
    "- {task: t, memory: 2G}\n"
    "- {service: api, labels: {gpu: 1}}\n";

static void test_the_answer(void **state)
{
	AUTO(free_cstr) char *text = answer_to(cluster);

	assert_non_null(strstr(text, "{\"placed\":2,\"failed\":2,"));
	assert_non_null(strstr(text,
	    "{\"service\":\"web\",\"index\":1,\"worker\":\"a\",\"zone\":\"z1\",\"score\":0.066437,"
	    "\"colocated\":0,\"zone_had\":0}"));
	assert_non_null(
	    strstr(text, "\"code\":\"no-label\",\"error\":\"no worker with label gpu=1\""));
	assert_non_null(strstr(text, "\"figures\":{\"memory\":{\"wanted\":2147483648,"));
}

/* The order of the file's entries means nothing. */
static void test_same_bytes(void **state)
{
	AUTO(free_cstr)
	char *one = answer_to("workers:\n- {name: a}\n- {name: b}\n- {name: c}\n"
	                      "work:\n- {service: x, instances: 2}\n- {task: u}\n"
	                      "- {service: w, instances: 3}\n- {task: t}\n");
	AUTO(free_cstr)
	char *two = answer_to("work:\n- {task: t}\n- {service: w, indexes: [2, 0, 1]}\n"
	                      "- {task: u}\n- {service: x, instances: 2}\n"
	                      "workers:\n- {name: c}\n- {name: a}\n- {name: b}\n");

	assert_string_equal(one, two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_the_answer),
	    cmocka_unit_test(test_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
