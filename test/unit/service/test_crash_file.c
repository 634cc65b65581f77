/* SPDX-License-Identifier: Apache-2.0 */
/* Files of crashes: stories of one instance, and what is said of files that are wrong. */
#include "support.h"

#include "base/mem.h"
#include "service/file/crash_file.h"

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"nothing", "", "no map of lists and settings"},
    {"no instance", "events:\n- {at: 1, event: crashed}\n", "line 2: this has no instance"},
    {"no index", "events:\n- {instance: web, at: 1, event: crashed}\n", "such as web/3"},
    {"a negative index", "events:\n- {instance: web/-1, at: 1, event: crashed}\n", "such as web/3"},
    {"no service", "events:\n- {instance: /1, at: 1, event: crashed}\n", "must not be empty"},
    {"an event of our own", "events:\n- {instance: web/0, at: 1, event: due}\n",
        "event must be claimed, running, crashed or restart"},
    {"no time", "events:\n- {instance: web/0, event: crashed}\n",
        "web/0: an event has an instance"},
    {"a time", "events:\n- {instance: web/0, at: soon, event: crashed}\n", "at must be a time"},
    {"a negative time", "events:\n- {instance: web/0, at: -5, event: crashed}\n", "at must be"},
    {"a state", "instances:\n- {instance: web/0, state: tired}\n",
        "state must be UNCLAIMED, CLAIMED, RUNNING or CRASHED"},
    {"twice", "instances:\n- instance: web/0\n- instance: web/0\n",
        "line 3: web/0: it is here twice; the first is in line 2"},
    {"crashed without a crash", "instances:\n- {instance: web/0, state: crashed}\n",
        "a crash_count of 1 or more"},
    {"a negative count", "instances:\n- {instance: web/0, crash_count: -1}\n", "from 0 to 1000000"},
    {"waits that get shorter", "policy: {factor: 0.5}\n", "factor must be 1 or more"},
    {"a negative wait", "policy: {wait: -5}\n", "wait must be a time of 0 or more"},
    {"a setting", "policy: {tries: 5}\n", "policy: there is no member"},
    {"a policy too late", "instances:\n- instance: web/0\npolicy: {}\n",
        "line 3: policy must stand"},
    {"two services", "services:\n- name: web\n- name: web\n", "line 3: web: there is a service"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct crash_file f = {0};
		struct problem p = {0};
		int rc = crash_file_read(str_of(refused[i].text), &f, &p);

		if (rc >= 0 || rc != p.code || !strstr(p.what, refused[i].says))
			fail_msg("%s: %d, %s", refused[i].name, rc, p.what);
	}
}

static char *answer_to(const char *text)
{
	struct crash_file f = {0};
	struct problem p = {0};
	struct buf out = {0};

	if (crash_file_read(str_of(text), &f, &p) < 0)
		fail_msg("%s", p.what);
	crash_file_play(&f, &out);
	crash_file_release(&f);
	return buf_take(&out);
}

static const struct {
	const char *name, *text, *says[4];
} stories[] = {
    {"the first starts again at once",
        "instances: [{instance: web/0, state: RUNNING}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}]\n",
        {"\"from\":\"RUNNING\",\"state\":\"UNCLAIMED\",\"crash_count\":1}"}},
    {"the third waits for half a minute",
        "instances: [{instance: web/0, state: CLAIMED, crash_count: 2}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}]\n",
        {"\"state\":\"CRASHED\",\"crash_count\":3,\"wait_ms\":30000,\"restarts_at\":\"1970-01-"
         "01T00:"
         "00:40.000Z\"}"}},
    {"and then starts by itself",
        "instances: [{instance: web/0, state: CLAIMED, crash_count: 2}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}, {instance: web/0, at: 60, event: "
        "running}]\n",
        {"00:40.000Z\",\"instance\":\"web/0\",\"event\":\"due\",\"from\":\"CRASHED\",\"state\":"
         "\"UNCLAIMED\"",
            "01:00.000Z\",\"instance\":\"web/0\",\"event\":\"running\",\"from\":\"UNCLAIMED\""}},
    {"unless an operator is faster",
        "instances: [{instance: web/0, state: CLAIMED, crash_count: 2}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}, {instance: web/0, at: 11, event: "
        "restart}]\n",
        {"\"event\":\"restart\",\"from\":\"CRASHED\",\"state\":\"UNCLAIMED\",\"crash_count\":3"}},
    {"the two hundredth is the last",
        "instances: [{instance: web/0, state: CLAIMED, crash_count: 199}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}]\nuntil: 900d\n",
        {"\"state\":\"CRASHED\",\"crash_count\":200,\"never\":true}"}},
    {"a service has its own policy",
        "services: [{name: web, policy: {at_once: 0, wait: 7, stop_at: 0}}]\n"
        "instances: [{instance: web/0, state: RUNNING}, {instance: api/0, state: RUNNING}]\n"
        "events: [{instance: web/0, at: 10, event: crashed}, {instance: api/0, at: 10, event: "
        "crashed}]\n",
        {"\"instance\":\"web/0\",\"event\":\"crashed\",\"from\":\"RUNNING\",\"state\":\"CRASHED\","
         "\"crash_count\":1,\"wait_ms\":7000",
            "\"instance\":\"api/0\",\"event\":\"crashed\",\"from\":\"RUNNING\",\"state\":"
            "\"UNCLAIMED\""}},
    {"a crash of what is nowhere is not counted",
        "events: [{instance: web/0, at: 10, event: crashed}]\n",
        {"\"crash_count\":0,\"refused\":\"it is on no worker"}},
};

static void test_stories(void **state)
{
	for (size_t i = 0; i < N_OF(stories); i++) {
		AUTO(free_cstr) char *text = answer_to(stories[i].text);

		for (int k = 0; k < 4 && stories[i].says[k]; k++)
			if (!strstr(text, stories[i].says[k]))
				fail_msg(
				    "%s: no %s in\n%s", stories[i].name, stories[i].says[k], text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_stories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
