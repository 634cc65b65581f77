/* SPDX-License-Identifier: Apache-2.0 */
/* Deploys that are played from files: what is said at the end, and what is refused. */
#include "support.h"

#include "base/mem.h"
#include "service/file/rollout_file.h"

#define WEB(n) "now: 1000\nservice: {name: web, instances: " #n "}\n"
#define QUICK "strategy: {min_healthy: 5, deadline: 60}\n"
#define AS(n, rest) "- {revision: " #n ", starts: 1, ready: 1, stops: 1, " rest "}\n"
#define GOOD(n) AS(n, "healthy: true")
#define DEPLOY(at, n) "- {after: " #at ", event: deploy, revision: " #n "}\n"

static const struct {
	const char *name, *text, *says; /* what is in the answer */
} plays[] = {
    {"one after the other, one more at a time",
        WEB(3) QUICK "revisions:\n" GOOD(1) GOOD(2) "events:\n" DEPLOY(0, 2),
        "\"state\":\"steady\",\"target\":2,\"stable\":2,\"took_ms\":31000,\"least_ready\":3,"
        "\"most_starts\":4}"},
    {"all at once",
        WEB(3) "strategy: {max_surge: 0, max_unavailable: 3, min_healthy: 5}\nrevisions:\n" GOOD(1)
            GOOD(2) "events:\n" DEPLOY(0, 2),
        "\"target\":2,\"stable\":2,\"took_ms\":8000,\"least_ready\":0,\"most_starts\":3}"},
    {"never two revisions at once",
        WEB(2) "strategy: {kind: recreate, min_healthy: 5}\nrevisions:\n" GOOD(1)
            GOOD(2) "events:\n" DEPLOY(0, 2),
        "\"took_ms\":8000,\"least_ready\":0,\"most_starts\":2}"},
    {"a bad one stalls",
        WEB(2) QUICK "revisions:\n" AS(2, "healthy: false") "events:\n" DEPLOY(0, 2),
        "\"state\":\"stalled\",\"target\":2,\"stable\":1,\"failed\":2,\"took_ms\":60000,"
        "\"least_ready\":2,\"most_starts\":3}"},
    {"one that crashes goes back",
        WEB(2) "strategy: {deadline: 30, auto_rollback: true}\nrevisions:\n" AS(
            2, "crashes: 3") "events:\n" DEPLOY(0, 2),
        "\"state\":\"steady\",\"target\":1,\"stable\":1,\"failed\":2,\"took_ms\":30000,"
        "\"least_ready\":2"},
    {"canaries wait",
        WEB(4) "strategy: {kind: canary, canary: 2, min_healthy: 0}\nevents:\n" DEPLOY(0, 2),
        "\"state\":\"waiting\",\"target\":2,\"stable\":1"},
    {"and are promoted",
        WEB(4) "strategy: {kind: canary, min_healthy: 0}\nevents:\n" DEPLOY(
            0, 2) "- {at: 2000, event: promote}\n",
        "\"state\":\"steady\",\"target\":2,\"stable\":2"},
    {"who says what cannot be hears why",
        WEB(1) "events:\n- {after: 1, event: promote}\n- {after: 2, event: rollback}\n"
               "- {after: 3, event: crashed, instance: web/7}\n" DEPLOY(4, 1),
        "\"refused\":\"it does not run\""},
    {"a deploy that was under way goes on",
        WEB(1) QUICK "deploy: {state: rolling, revision: 7, stable: 6}\n",
        "\"state\":\"steady\",\"target\":7,\"stable\":7"},
    {"records may be given",
        WEB(2) QUICK
        "deploy: {state: rolling, revision: 2, stable: 1}\ninstances:\n"
        "- {instance: web/0, state: RUNNING, worker: w, ready: true, revision: 2}\n"
        "- {instance: web/1, state: CRASHED, crash_count: 6, crashed_at: 999, revision: 1}\n",
        "\"action\":\"renew\",\"instance\":\"web/1\",\"revision\":2"},
    {"the end may be given", WEB(1) QUICK "events:\n" DEPLOY(0, 2) "until: 1002\n",
        "\"ended\":false,\"state\":\"rolling\""},
};

static void test_plays(void **state)
{
	for (size_t i = 0; i < N_OF(plays); i++) {
		struct rollout_file f;
		struct problem p = {0};
		struct buf json = {0};

		if (rollout_file_read(str_of(plays[i].text), &f, &p) < 0)
			fail_msg("%s: %s", plays[i].name, p.what);
		rollout_file_play(&f, &json);
		if (!strstr(json.p, plays[i].says))
			fail_msg("%s: %s", plays[i].name, json.p);
		buf_release(&json);
		rollout_file_release(&f);
	}
}

static const struct {
	const char *text, *says;
} refused[] = {
    {"service: {name: web}\n", "does not say what time it is"},
    {"now: 1\n", "the file has no service"},
    {"now: 1\nservice: {instances: 2}\n", "line 2: this has no name"},
    {WEB(1001), "line 2: instances must be a whole number from 0 to 1000"},
    {WEB(-1), "from 0 to 1000"},
    {WEB(1) "strategy: {kind: blue}\n", "line 3: kind must be rolling, recreate or canary"},
    {WEB(1) "strategy: {min_healthy: 60, deadline: 60}\n", "min_healthy must be shorter"},
    {WEB(1) "strategy: {canary: 0}\n", "canary must be a whole number from 1"},
    {WEB(1) "deploy: {state: rolling}\n", "line 3: deploy: this has no revision"},
    {WEB(1) "revisions:\n- {ready: 1}\n", "line 4: this has no revision"},
    {WEB(1) "revisions:\n- {revision: 1}\n- {revision: 1}\n", "here twice; the first is in line 4"},
    {WEB(1) "instances:\n- {instance: api/0}\n", "this file is about the service web"},
    {WEB(1) "instances:\n- {instance: web/0}\n- {instance: web/0}\n", "web/0 has two records"},
    {WEB(1) "instances:\n- {instance: web/0, state: RUNNING, worker: w, presence: suspect}\n",
        "played with ordinary records"},
    {"instances:\n- {instance: web/0}\n", "service must stand before"},
    {WEB(1) "events:\n- {at: 999, event: promote}\n", "an event is before now"},
    {WEB(1) "events:\n- {at: 1000, after: 1, event: promote}\n", "give either at or after"},
    {WEB(1) "events:\n- {at: 1000}\n", "an event has a time"},
    {WEB(1) "events:\n- {at: 1000, event: deploy}\n", "this has no revision"},
    {WEB(1) "events:\n- {at: 1000, event: scale}\n", "this has no instances"},
    {WEB(1) "events:\n- {at: 1000, event: crashed}\n", "this has no instance, such as web/0"},
    {WEB(1) "events:\n- {at: 1000, event: explode}\n",
        "event must be deploy, rollback, promote, scale or crashed"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct rollout_file f;
		struct problem p = {0};

		assert_true(rollout_file_read(str_of(refused[i].text), &f, &p) < 0);
		if (!strstr(p.what, refused[i].says))
			fail_msg("%s: %s", refused[i].text, p.what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_plays), cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
