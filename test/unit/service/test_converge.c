/* SPDX-License-Identifier: Apache-2.0 */
/* Convergence as stories: a file, and the actions of one pass. It is always noon plus 1000 s. */
#include "support.h"

#include "base/mem.h"
#include "service/converge/delta.h"
#include "service/file/converge_file.h"

#define NOW "now: 1000\n"
#define FRESH "domains: [default]\n"
#define W                                                                                     \
	"workers: [w1, w2, {name: s1, state: silent}, {name: s2, state: silent}, {name: l1, " \
	"state: lost}]\n"
#define WEB(n) "services: [{name: web, instances: " #n "}]\n"
#define SINGLE "services: [{name: web, singleton: true}]\n"
#define ON(i, state, worker) "- {instance: web/" #i ", state: " #state ", worker: " #worker "}\n"
#define AS(i, presence, state, worker)                                                          \
	"- {instance: web/" #i ", presence: " #presence ", state: " #state ", worker: " #worker \
	"}\n"

static const struct {
	const char *name, *text, *actions; /* "create web/0; stop web/1 w1; …" */
} stories[] = {
    {"nothing is there", NOW WEB(3), "create web/0; create web/1; create web/2"},
    {"all is well", NOW W WEB(2) "instances:\n" ON(0, RUNNING, w1) ON(1, CLAIMED, w2), ""},
    {"holes and surplus together",
        NOW W FRESH WEB(3) "instances:\n" ON(1, RUNNING, w1) ON(4, RUNNING, w1),
        "create web/0; create web/2; stop web/4 w1"},
    {"surplus stays where nobody says that the desired set is whole",
        NOW W WEB(1) "instances:\n" ON(0, RUNNING, w1)
            ON(1, RUNNING, w1) "- {instance: web/2, state: CRASHED, crash_count: 3}\n",
        ""},
    {"and where that was said too long ago",
        NOW W "domains: [{name: default, expires: 1000}]\n" WEB(1) "instances:\n" ON(0, RUNNING, w1)
            ON(1, RUNNING, w1),
        ""},
    {"or of another domain",
        NOW W "domains: [{name: other, expires: 2000}]\n" WEB(1) "instances:\n" ON(0, RUNNING, w1)
            ON(1, RUNNING, w1),
        ""},
    {"a service that nobody desires, in a fresh domain",
        NOW W "domains: [{name: apps, expires: 1001}]\ninstances:\n"
              "- {instance: web/0, state: RUNNING, worker: w1, domain: apps}\n"
              "- {instance: web/1, state: UNCLAIMED, domain: apps}\n"
              "- {instance: web/2, state: CRASHED, crash_count: 9, domain: apps}\n",
        "stop web/0 w1; delete web/1; delete web/2"},
    {"the same, in one that is not", NOW W "instances:\n" ON(0, RUNNING, w1), ""},
    {"a stop that was asked for is not asked for again at once",
        NOW W FRESH "instances:\n"
                    "- {instance: web/0, state: RUNNING, worker: w1, stopping: true, asked: 980}\n"
                    "- {instance: web/1, state: RUNNING, worker: w1, stopping: true, asked: 970}\n",
        "stop web/1 w1"},
    {"surplus on a silent worker waits", NOW W FRESH "instances:\n" ON(0, RUNNING, s1), ""},
    {"surplus on a lost worker is over", NOW W "instances:\n" ON(0, RUNNING, l1),
        "delete web/0 l1"},
    {"a silent worker: suspect, and replaced",
        NOW W WEB(2) "instances:\n" ON(0, RUNNING, s1) ON(1, CLAIMED, s1),
        "suspect web/0 s1; create web/0; suspect web/1 s1; create web/1"},
    {"a worker that no list names is silent", NOW WEB(1) "instances:\n" ON(0, RUNNING, w9),
        "suspect web/0 w9; create web/0"},
    {"a lost worker: started anew", NOW W WEB(1) "instances:\n" ON(0, RUNNING, l1),
        "unclaim web/0 l1"},
    {"the suspect's worker is lost after all",
        NOW W WEB(1) "instances:\n- {instance: web/0, age: 5s}\n" AS(0, suspect, RUNNING, l1),
        "delete web/0(suspect) l1"},
    {"the suspect is back first",
        NOW W WEB(1) "instances:\n- {instance: web/0, age: 5s}\n" AS(0, suspect, RUNNING, w1),
        "promote web/0(suspect) w1"},
    {"back while the replacement starts",
        NOW W WEB(1) "instances:\n" ON(0, CLAIMED, w2) AS(0, suspect, RUNNING, w1),
        "promote web/0(suspect) w1; stop web/0(suspect) w2"},
    {"back while the replacement starts on a worker that is now silent",
        NOW W WEB(1) "instances:\n" ON(0, CLAIMED, s2) AS(0, suspect, RUNNING, w1),
        "promote web/0(suspect) w1"},
    {"back when the replacement runs",
        NOW W WEB(1) "instances:\n" ON(0, RUNNING, w2) AS(0, suspect, RUNNING, w1),
        "stop web/0(suspect) w1"},
    {"back, and wanted no more", NOW W FRESH "instances:\n" AS(0, suspect, RUNNING, w1),
        "promote web/0(suspect) w1; stop web/0 w1"},
    {"two silent workers: two that may run are enough",
        NOW W WEB(1) "instances:\n" ON(0, CLAIMED, s2) AS(0, suspect, RUNNING, s1), ""},
    {"until one of them is lost",
        NOW W WEB(1) "instances:\n" ON(0, CLAIMED, s2) AS(0, suspect, RUNNING, l1),
        "delete web/0(suspect) l1; suspect web/0 s2; create web/0"},
    {"a singleton waits for certainty", NOW W SINGLE "instances:\n" ON(0, RUNNING, s1), ""},
    {"and then starts", NOW W SINGLE "instances:\n" ON(0, RUNNING, l1), "unclaim web/0 l1"},
    {"a singleton that is evacuated starts when the old one is over",
        NOW W SINGLE "instances:\n- {instance: web/0, age: 90s}\n" AS(0, evacuating, RUNNING, w1),
        ""},
    {"a singleton's record was lost during evacuation",
        NOW W SINGLE "instances:\n" AS(0, evacuating, RUNNING, w1), ""},
    {"an evacuating record counts for nothing",
        NOW W WEB(1) "instances:\n" AS(0, evacuating, RUNNING, w1), "create web/0"},
    {"an evacuating worker is lost",
        NOW W WEB(1) "instances:\n" ON(0, RUNNING, w2) AS(0, evacuating, RUNNING, l1),
        "delete web/0(evacuating) l1"},
    {"the replacement is silent while the old one still runs",
        NOW W WEB(1) "instances:\n" ON(0, CLAIMED, s1) AS(0, evacuating, RUNNING, w1), ""},
    {"a start that got lost",
        NOW WEB(3) "instances:\n- {instance: web/0, age: 29s}\n- {instance: web/1, age: 30s}\n"
                   "- {instance: web/2, age: 90s, asked: 990}\n",
        "start web/1"},
    {"a crashed one whose wait is over, and one whose is not",
        NOW WEB(3) "instances:\n- {instance: web/0, state: CRASHED, crash_count: 3, age: 30s}\n"
                   "- {instance: web/1, state: CRASHED, crash_count: 3, age: 29s}\n"
                   "- {instance: web/2, state: CRASHED, crash_count: 200, age: 900s}\n",
        "restart web/0"},
    {"what a deploy made beyond those that are wanted is not surplus",
        NOW W FRESH WEB(1) "instances:\n" ON(0, RUNNING,
            w1) "- {instance: web/1, state: RUNNING, worker: w1, surge: true}\n"
                "- {instance: web/2, state: CRASHED, crash_count: 3, age: 30s, surge: true}\n"
                "- {instance: web/3, state: RUNNING, worker: s1, surge: true}\n"
                "- {instance: web/4, state: RUNNING, worker: l1, surge: true}\n",
        "restart web/2; unclaim web/4 l1"},
    {"services have their own policies",
        NOW "services: [{name: web, policy: {wait: 5}}]\ninstances:\n"
            "- {instance: web/0, state: CRASHED, crash_count: 3, age: 5s}\n",
        "restart web/0"},
    {"services in the order of their names", NOW "services: [{name: b}, {name: a, instances: 2}]\n",
        "create a/0; create a/1; create b/0"},
};

static void tell(const struct converge_report *r, struct buf *out)
{
	for (size_t i = 0; i < r->actions.n; i++) {
		const struct converge_action *a = &r->actions.v[i];

		buf_printf(out, "%s%s " STR_FMT "/%u", i ? "; " : "",
		    converge_action_names[a->kind],
		    STR_ARG(r->file->services[r->order[a->service]].name), a->index);
		if (a->presence != PRESENCE_ORDINARY)
			buf_printf(out, "(%s)", presence_names[a->presence]);
		if (a->worker != NO_WORKER)
			buf_printf(
			    out, " " STR_FMT, STR_ARG(r->file->worker_names.texts[a->worker]));
	}
}

static void test_stories(void **state)
{
	for (size_t i = 0; i < N_OF(stories); i++) {
		struct converge_file f = {0};
		struct converge_report r;
		struct problem p = {0};
		struct buf out = {0};

		if (converge_file_read(str_of(stories[i].text), &f, &p) < 0)
			fail_msg("%s: %s", stories[i].name, p.what);
		converge_file_run(&f, &r);
		buf_add_cstr(&out, "");
		tell(&r, &out);
		if (!str_is(buf_str(&out), stories[i].actions))
			fail_msg("%s:\n%s\nnot\n%s", stories[i].name, out.p, stories[i].actions);
		if (converge_report_again(&r))
			fail_msg("%s: a second pass does something", stories[i].name);
		buf_release(&out);
		converge_report_release(&r);
		converge_file_release(&f);
	}
}

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"no time", WEB(1), "what time it is"},
    {"negative instances", NOW "services: [{name: web, instances: -1}]\n", "from 0 to 100000"},
    {"two services", NOW "services:\n- name: web\n- name: web\n",
        "line 4: web: it is here twice; the first is in line 3"},
    {"two records", NOW "instances:\n" ON(0, RUNNING, w1) ON(0, RUNNING, w2),
        "line 4: web: there are two ordinary records of index 0; the first is in line 3"},
    {"running nowhere", NOW "instances: [{instance: web/0, state: RUNNING}]\n", "names its worker"},
    {"unclaimed somewhere", NOW "instances: [{instance: web/0, worker: w}]\n", "has no worker"},
    {"a suspect that is nowhere", NOW "instances: [{instance: web/0, presence: suspect}]\n",
        "is CLAIMED or RUNNING"},
    {"crashed without a crash", NOW "instances: [{instance: web/0, state: CRASHED}]\n",
        "crash_count of 1 or more"},
    {"two ages", NOW "instances: [{instance: web/0, age: 1, since: 2}]\n", "either since or age"},
    {"two domains",
        NOW "instances:\n- {instance: web/0, domain: a}\n- {instance: web/1, domain: b}\n",
        "line 4: web/1: another record of this service has the domain a"},
    {"a worker too late", NOW "instances:\n" ON(0, RUNNING, w1) "workers: [w1]\n",
        "workers must stand before instances"},
    {"two workers", NOW "workers: [w1, w1]\n", "there is a worker of this name before"},
    {"a state of a worker", NOW "workers: [{name: w, state: tired}]\n", "present, silent or lost"},
    {"two domains of a name", NOW "domains: [a, a]\n", "there is a domain of this name before"},
    {"no time to ask again", NOW "ask_again: 0\n", "must be a time above 0"},
    {"a policy too late", NOW WEB(1) "policy: {}\n", "policy must stand before"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct converge_file f = {0};
		struct problem p = {0};
		int rc = converge_file_read(str_of(refused[i].text), &f, &p);

		if (rc >= 0 || rc != p.code || !strstr(p.what, refused[i].says))
			fail_msg("%s: %d, %s", refused[i].name, rc, p.what);
	}
}

/* State means nothing, and only ordinary records count. */
static void test_delta(void **state)
{
	const struct instance records[] = {
	    {.index = 1, .state = INSTANCE_CRASHED},
	    {.index = 2, .presence = PRESENCE_SUSPECT},
	    {.index = 3, .presence = PRESENCE_EVACUATING},
	    {.index = 4, .state = INSTANCE_RUNNING},
	    {.index = 7, .state = INSTANCE_UNCLAIMED},
	};
	const uint32_t start[] = {0, 2, 3}, stop[] = {4, 7};
	struct delta d;

	delta_of(4, records, N_OF(records), &d);
	assert_int_equal(d.n_start, 3);
	assert_memory_equal(d.start, start, sizeof start);
	assert_int_equal(d.n_stop, 2);
	assert_memory_equal(d.stop, stop, sizeof stop);
	delta_release(&d);
	delta_of(0, NULL, 0, &d);
	assert_int_equal(d.n_start + d.n_stop, 0);
	delta_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_stories),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_delta),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
