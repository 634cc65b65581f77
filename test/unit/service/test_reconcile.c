/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker's table: every case has exactly one row; the rows of Diego's design, one by one, with
 * what is decided here; who is "this one"; files.
 */
#include "support.h"

#include "base/mem.h"
#include "service/file/reconcile_file.h"

static bool holds(const struct reconcile_row *r, const struct reconcile_view *v)
{
	bool alone = !v->has_evacuating && !v->has_suspect;
	const bool when[N_RECONCILE_WHENS] = {
	    [WHEN_ALONE] = alone,
	    [WHEN_ORDINARY] = alone && !v->is_drained,
	    [WHEN_DRAINED] = alone && v->is_drained,
	    [WHEN_EVACUATING] = v->has_evacuating,
	    [WHEN_SUSPECT] = v->has_suspect && !v->has_evacuating,
	};

	return when[r->when] && (r->containers >> v->container & 1) &&
	       (r->records >> v->record & 1);
}

static void check_case(const struct reconcile_view *v)
{
	unsigned n = 0;

	for (unsigned i = 0; i < reconcile_rows; i++)
		n += holds(&reconcile_table[i], v);
	if (n != 1)
		fail_msg("%s, %s, drained %d, evacuating %d, suspect %d: %u rows",
		    reconcile_container_names[v->container], reconcile_record_names[v->record],
		    v->is_drained, v->has_evacuating, v->has_suspect, n);
	assert_true(holds(reconcile_row_of(v), v));
	assert_true(reconcile_stands(reconcile_decide(v), v));
}

static void test_one_row_for_every_case(void **state)
{
	for (unsigned n = 0; n < 8 * N_RECONCILE_CONTAINERS * N_RECONCILE_RECORDS; n++) {
		unsigned k = n / 8;
		struct reconcile_view v = {
		    .container = (enum reconcile_container)(k % N_RECONCILE_CONTAINERS),
		    .record = (enum reconcile_record)(k / N_RECONCILE_CONTAINERS),
		    .is_drained = n & 1,
		    .has_evacuating = n & 2,
		    .has_suspect = n & 4,
		};

		check_case(&v);
	}
}

/* What runs is ended, whatever happens to be known, only for another that runs, or unwanted. */
static void test_what_runs_is_seldom_ended(void **state)
{
	for (unsigned n = 0; n < 8 * N_RECONCILE_RECORDS; n++) {
		struct reconcile_view v = {.container = HAS_RUNNING,
		    .record = (enum reconcile_record)(n / 8),
		    .is_drained = n & 1,
		    .has_evacuating = n & 2,
		    .has_suspect = n & 4};
		enum reconcile_decision d = reconcile_decide(&v);

		assert_int_not_equal(d, DO_DELETE);
		assert_int_not_equal(d, DO_FORGET);
		if (d == DO_STOP)
			assert_int_equal(v.record, SAYS_RUNNING_OTHER);
		if (d == DO_END_EVACUATION)
			assert_true(v.record == SAYS_RUNNING_OTHER || v.record == SAYS_NONE ||
			            v.record == SAYS_CRASHED);
	}
}

/* In the order of Diego's design; `is_other` where it says something else. */
static const struct {
	enum reconcile_container container;
	enum reconcile_record record;
	enum reconcile_decision decision;
	bool is_other;
} design[] = {
    {HAS_RESERVED, SAYS_NONE, DO_DELETE, true},
    {HAS_RESERVED, SAYS_UNCLAIMED, DO_CLAIM_AND_RUN, true},
    {HAS_RESERVED, SAYS_CLAIMED_SELF, DO_RUN, true},
    {HAS_RESERVED, SAYS_CLAIMED_OTHER, DO_DELETE, true},
    {HAS_RESERVED, SAYS_RUNNING_SELF, DO_RUN, true},
    {HAS_RESERVED, SAYS_RUNNING_OTHER, DO_DELETE, true},
    {HAS_RESERVED, SAYS_CRASHED, DO_DELETE, true},
    {HAS_INITIALIZING, SAYS_NONE, DO_DELETE, false},
    {HAS_INITIALIZING, SAYS_UNCLAIMED, DO_CLAIM, false},
    {HAS_INITIALIZING, SAYS_CLAIMED_SELF, DO_NOTHING, false},
    {HAS_INITIALIZING, SAYS_CLAIMED_OTHER, DO_DELETE, false},
    {HAS_INITIALIZING, SAYS_RUNNING_SELF, DO_CLAIM, true},
    {HAS_INITIALIZING, SAYS_RUNNING_OTHER, DO_DELETE, false},
    {HAS_INITIALIZING, SAYS_CRASHED, DO_DELETE, false},
    {HAS_CREATED, SAYS_NONE, DO_DELETE, false},
    {HAS_CREATED, SAYS_UNCLAIMED, DO_CLAIM, false},
    {HAS_CREATED, SAYS_CLAIMED_SELF, DO_NOTHING, false},
    {HAS_CREATED, SAYS_CLAIMED_OTHER, DO_DELETE, false},
    {HAS_CREATED, SAYS_RUNNING_SELF, DO_CLAIM, true},
    {HAS_CREATED, SAYS_RUNNING_OTHER, DO_DELETE, false},
    {HAS_CREATED, SAYS_CRASHED, DO_DELETE, false},
    {HAS_RUNNING, SAYS_NONE, DO_CREATE_RUNNING, false},
    {HAS_RUNNING, SAYS_UNCLAIMED, DO_SET_RUNNING, false},
    {HAS_RUNNING, SAYS_CLAIMED_SELF, DO_SET_RUNNING, false},
    {HAS_RUNNING, SAYS_CLAIMED_OTHER, DO_SET_RUNNING, false},
    {HAS_RUNNING, SAYS_RUNNING_SELF, DO_NOTHING, false},
    {HAS_RUNNING, SAYS_RUNNING_OTHER, DO_STOP, true},
    {HAS_RUNNING, SAYS_CRASHED, DO_SET_RUNNING, false},
    {HAS_CRASHED, SAYS_NONE, DO_DELETE, true},
    {HAS_CRASHED, SAYS_UNCLAIMED, DO_DELETE, false},
    {HAS_CRASHED, SAYS_CLAIMED_SELF, DO_CRASH, false},
    {HAS_CRASHED, SAYS_CLAIMED_OTHER, DO_DELETE, false},
    {HAS_CRASHED, SAYS_RUNNING_SELF, DO_CRASH, false},
    {HAS_CRASHED, SAYS_RUNNING_OTHER, DO_DELETE, false},
    {HAS_CRASHED, SAYS_CRASHED, DO_DELETE, false},
    {HAS_SHUT_DOWN, SAYS_NONE, DO_DELETE, true},
    {HAS_SHUT_DOWN, SAYS_UNCLAIMED, DO_DELETE, false},
    {HAS_SHUT_DOWN, SAYS_CLAIMED_SELF, DO_REMOVE, false},
    {HAS_SHUT_DOWN, SAYS_CLAIMED_OTHER, DO_DELETE, false},
    {HAS_SHUT_DOWN, SAYS_RUNNING_SELF, DO_REMOVE, false},
    {HAS_SHUT_DOWN, SAYS_RUNNING_OTHER, DO_DELETE, false},
    {HAS_SHUT_DOWN, SAYS_CRASHED, DO_DELETE, false},
    {HAS_NONE, SAYS_CLAIMED_SELF, DO_UNCLAIM, false},
    {HAS_NONE, SAYS_RUNNING_SELF, DO_UNCLAIM, false},
};

static void test_diegos_design(void **state)
{
	for (size_t i = 0; i < N_OF(design); i++) {
		struct reconcile_view v = {
		    .container = design[i].container, .record = design[i].record};
		const struct reconcile_row *r = reconcile_row_of(&v);

		if (r->decision != design[i].decision || (r->design != NULL) != design[i].is_other)
			fail_msg("%s, %s: %s", reconcile_container_names[v.container],
			    reconcile_record_names[v.record],
			    reconcile_decision_names[r->decision]);
	}
}

/* Another start on this worker is another; without a container any start here is this one. */
static void test_who_is_this_one(void **state)
{
	const struct reconcile_self self = {.worker = 4, .id = 7};
	const struct container c = {.state = CONTAINER_RUNNING};
	struct instance i = {.state = INSTANCE_RUNNING, .worker = 4, .id = 7};
	const struct instance *records[N_PRESENCES] = {&i};
	struct reconcile_view v = reconcile_look(&self, &c, records);

	assert_int_equal(v.record, SAYS_RUNNING_SELF);
	i.id = 8;
	v = reconcile_look(&self, &c, records);
	assert_int_equal(v.record, SAYS_RUNNING_OTHER);
	v = reconcile_look(&self, NULL, records);
	assert_int_equal(v.container, HAS_NONE);
	assert_int_equal(v.record, SAYS_RUNNING_SELF);
	i.worker = 5;
	i.id = 7;
	v = reconcile_look(&self, NULL, records);
	assert_int_equal(v.record, SAYS_RUNNING_OTHER);
}

/* What was decided from an old copy does not stand when things have changed. */
static void test_decisions_are_checked_again(void **state)
{
	struct reconcile_view then = {.container = HAS_CREATED, .record = SAYS_NONE}, now = then;
	enum reconcile_decision d = reconcile_decide(&then);

	assert_int_equal(d, DO_DELETE);
	now.container = HAS_RUNNING; /* it began to run meanwhile */
	assert_false(reconcile_stands(d, &now));
	now = (struct reconcile_view){.container = HAS_CREATED, .record = SAYS_RUNNING_OTHER};
	assert_true(reconcile_stands(d, &now));
}

#define HEAD "worker: w1\n"

static const struct {
	const char *name, *text, *says;
} refused[] = {
    {"nobody", "containers: []\n", "which worker looks"},
    {"no state", HEAD "containers: [{instance: web/0}]\n", "web/0: a container has a state"},
    {"a state", HEAD "containers: [{instance: web/0, state: LOST}]\n", "state must be RESERVED, "},
    {"no result", HEAD "containers: [{instance: web/0, state: COMPLETED}]\n", "has a result"},
    {"a result too early",
        HEAD "containers: [{instance: web/0, state: RUNNING, result: crashed}]\n",
        "only a container that is COMPLETED"},
    {"two containers",
        HEAD "containers:\n- {instance: web/0, state: RUNNING}\n- {instance: web/0, "
             "state: CREATED}\n",
        "line 4: web: index 0: there are two containers with this id"},
    {"two records", HEAD "instances:\n- instance: web/0\n- instance: web/0\n",
        "line 4: web: index 0: there are two records of this presence"},
    {"an id", HEAD "containers: [{instance: web/0, state: RUNNING, id: 0}]\n",
        "id must be a whole"},
    {"too late", "instances: [{instance: a/0, state: RUNNING, worker: w}]\n" HEAD,
        "line 2: worker must stand before"},
    {"a flag", HEAD "drained: yes\n", "true or false is wanted"},
};

static void test_refused(void **state)
{
	for (size_t i = 0; i < N_OF(refused); i++) {
		struct reconcile_file f = {0};
		struct problem p = {0};
		int rc = reconcile_file_read(str_of(refused[i].text), &f, &p);

		if (rc >= 0 || rc != p.code || !strstr(p.what, refused[i].says))
			fail_msg("%s: %d, %s", refused[i].name, rc, p.what);
	}
}

static const struct {
	const char *name, *text, *cases; /* "web/0 delete; …" */
} files[] = {
    {"nothing", HEAD, ""},
    {"what runs and is not known", HEAD "containers: [{instance: web/0, state: RUNNING}]\n",
        "web/0 create-running"},
    {"what should run and does not",
        HEAD "instances: [{instance: web/0, state: RUNNING, worker: w1}]\n", "web/0 unclaim"},
    {"what runs elsewhere is not told",
        HEAD "instances: [{instance: web/0, state: RUNNING, worker: w2}]\n", ""},
    {"two starts of one index",
        HEAD "containers:\n- {instance: web/0, state: RUNNING, id: 1}\n"
             "- {instance: web/0, state: CREATED, id: 2}\n"
             "instances: [{instance: web/0, state: CLAIMED, worker: w1, id: 2}]\n",
        "web/0 set-running; web/0 nothing"},
    {"another start than the record's",
        HEAD "containers: [{instance: web/0, state: RUNNING, id: 1}]\n"
             "instances: [{instance: web/0, state: RUNNING, worker: w1, id: 2}]\n",
        "web/0 stop; web/0 unclaim"},
    {"drained",
        HEAD "drained: true\ncontainers:\n- {instance: web/0, state: RUNNING}\n"
             "- {instance: web/1, state: CREATED}\ninstances:\n"
             "- {instance: web/0, state: RUNNING, worker: w1}\n"
             "- {instance: web/1, state: CLAIMED, worker: w1}\n",
        "web/0 evacuate; web/1 unclaim-and-delete"},
    {"the replacement runs",
        HEAD "drained: true\ncontainers: [{instance: web/0, state: RUNNING}]\ninstances:\n"
             "- {instance: web/0, state: RUNNING, worker: w2}\n"
             "- {instance: web/0, presence: evacuating, state: RUNNING, worker: w1}\n",
        "web/0 end-evacuation"},
    {"evacuated and gone",
        HEAD "instances:\n- {instance: web/0, state: UNCLAIMED}\n"
             "- {instance: web/0, presence: evacuating, state: RUNNING, worker: w1}\n",
        "web/0 forget"},
    {"a suspect is back",
        HEAD "containers: [{instance: web/0, state: RUNNING}]\ninstances:\n"
             "- {instance: web/0, state: UNCLAIMED}\n"
             "- {instance: web/0, presence: suspect, state: RUNNING, worker: w1}\n",
        "web/0 nothing"},
};

static void cases_of(const char *json, struct buf *out)
{
	for (const char *at = json; (at = strstr(at, "\"instance\":\""));) {
		const char *key = at + 12, *d = strstr(at, "\"decision\":\"") + 12;

		buf_printf(out, "%s%.*s %.*s", out->n ? "; " : "", (int)strcspn(key, "\""), key,
		    (int)strcspn(d, "\""), d);
		at = d;
	}
}

static void test_files(void **state)
{
	for (size_t i = 0; i < N_OF(files); i++) {
		struct reconcile_file f = {0};
		struct problem p = {0};
		struct buf json = {0}, out = {0};

		if (reconcile_file_read(str_of(files[i].text), &f, &p) < 0)
			fail_msg("%s: %s", files[i].name, p.what);
		reconcile_file_json(&f, &json);
		cases_of(json.p, &out);
		if (!str_is(buf_str(&out), files[i].cases))
			fail_msg("%s: %s", files[i].name, out.n ? out.p : "nothing");
		buf_release(&json);
		buf_release(&out);
		reconcile_file_release(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_one_row_for_every_case),
	    cmocka_unit_test(test_what_runs_is_seldom_ended),
	    cmocka_unit_test(test_diegos_design),
	    cmocka_unit_test(test_who_is_this_one),
	    cmocka_unit_test(test_decisions_are_checked_again),
	    cmocka_unit_test(test_refused),
	    cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
