/* SPDX-License-Identifier: Apache-2.0 */
/* Every sentence that the brain's codes become, to the letter: people and scripts read them. */
#include "words/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DAY_MS 86400000LL

static struct arena arena;

static int drop(void **state)
{
	arena_release(&arena);
	return 0;
}

/* All facts at once: a sentence takes what it needs. */
static const struct facts all = {.name = STR("nightly"),
    .other = STR("w2"),
    .reason = STR("the disk"),
    .task = STR("0ab"),
    .n = 2,
    .of = 3,
    .needs = 4,
    .freest = 1,
    .total = 8,
    .in_ms = 90000,
    .at_ms = DAY_MS,
    .order = ORDER_PRIORITY,
    .unserved = {{UNSERVED_ACTIVE, 2}, {UNSERVED_PLUGIN, 1}}};

static const struct {
	enum why_code code;
	const char *name, *holds, *lifts;
} whys[] = {
    {WHY_INITIAL_WAIT, "initial-wait",
        "the server was restarted and must first know what its workers run",
        "they all speak, or in 1m30s; which are missing: reeve status"},
    {WHY_LOST_HOLD, "lost-hold",
        "the worker that had it was lost, and may still be ending it: the disk",
        "the hold for lost workers' tasks is over in 1m30s"},
    {WHY_BACKOFF, "backoff", "it waits before attempt 2; the last one: the disk",
        "at 1970-01-02T00:00:00.000Z, in 1m30s"},
    {WHY_RUN_AFTER, "run-after", "it was asked to run later",
        "at 1970-01-02T00:00:00.000Z, in 1m30s"},
    {WHY_QUEUE_PAUSED, "queue-paused", "the queue nightly is paused: the disk",
        "reeve queue resume nightly"},
    {WHY_QUEUE_PAUSED_UNTIL, "queue-paused", "the queue nightly is paused: the disk",
        "it resumes by itself in 1m30s, or with: reeve queue resume nightly"},
    {WHY_QUEUE_CLOSED, "queue-closed", "the queue's limit is reached: 2 of 3 threads in use",
        "reeve queue set nightly --threads N"},
    {WHY_QUEUE_FULL, "queue-full", "the queue's limit is reached: 2 of 3 threads in use",
        "one of them ends, or: reeve queue set nightly --threads 4"},
    {WHY_NO_WORKERS, "no-workers", "no worker is connected",
        "start one: reeve worker --join HOST:PORT"},
    {WHY_NO_WORKERS_AWAY, "no-workers", "no worker is connected (some are away)",
        "start one: reeve worker --join HOST:PORT"},
    {WHY_PLUGIN_NOT_ALLOWED, "plugin-not-allowed",
        "no connected worker allows the plugin w2, so the queue is ignored",
        "add it to `plugins` in a worker's configuration, or give the queue another: reeve queue "
        "set nightly --plugin NAME"},
    {WHY_NO_WORKER_SERVES, "no-worker-serves-queue",
        "of 2 connected workers none serves the queue: 2 serves only its activequeues, 1 does not "
        "allow the plugin",
        "change activequeues or ignorequeues of a worker"},
    {WHY_WORKERS_FULL, "workers-full", "2 of 3 workers that serve the queue are at maxthreads",
        "a running task ends, another worker joins, or: reeve worker set nightly --maxthreads N"},
    {WHY_WORKERS_CLOSED, "workers-full",
        "2 of 3 workers that serve the queue are at maxthreads 0, which takes no task",
        "another worker joins, or: reeve worker set nightly --maxthreads N"},
    {WHY_WORKERS_UNHEALTHY, "workers-unhealthy",
        "2 of 3 workers that serve the queue are not healthy",
        "what each of them waits for, and until when: reeve status"},
    {WHY_WORKERS_LEAVING, "workers-leaving", "2 of 3 workers that serve the queue are leaving",
        "start another: reeve worker --join HOST:PORT"},
    {WHY_WORKERS_TOO_OLD, "workers-too-old",
        "its input is streamed, or it is shown what it needs: 2 of 3 workers that serve the queue "
        "are too old for that",
        "upgrade one of them, or start another: reeve worker --join HOST:PORT"},
    {WHY_WORKERS_DRAINED, "workers-drained",
        "2 of 3 workers that serve the queue are drained by w2: the disk",
        "reeve worker undrain nightly; or start another: reeve worker --join HOST:PORT"},
    {WHY_NEED_PLACE, "need-place",
        "of 2 workers for the queue none may run it: it needs the target 2",
        "a worker that fits joins: reeve worker --label KEY=VALUE, --target NAME"},
    {WHY_NEED_TOO_MUCH, "need-too-much",
        "it needs 4 of w2: no worker offers so much; the largest has 1",
        "a larger worker joins, or it is submitted with a smaller need"},
    {WHY_NEED_SHORT, "need-short", "it needs 4 of w2: of 2 workers the freest has 1; total 8",
        "a running task ends, or another worker joins: reeve worker ls -o wide says what is free"},
    {WHY_NEED_TOGETHER, "need-short", "of 2 workers none has all that it needs at once",
        "a running task ends, or another worker joins: reeve worker ls -o wide says what is free"},
    {WHY_NEED_KEPT, "need-kept",
        "worker nightly has what it needs, and is kept for a task that was passed over too often",
        "that task has started"},
    {WHY_NEED_NO_OFFERS, "need-no-offers",
        "2 of 3 workers do not say what they offer: they are of an older version, and get no task "
        "that needs something",
        "they are upgraded, or another worker joins"},
    {WHY_RESOURCE_SHORT, "resource-short", "it needs 4 of w2: of 8 in the whole cluster 1 are free",
        "a task that holds some ends: reeve status says how many are held"},
    {WHY_RESOURCE_TOO_MUCH, "resource-too-much", "it needs 4 of w2: the whole cluster has only 8",
        "more is configured (server.resources), or it is submitted with a smaller need"},
    {WHY_THROTTLED, "throttled", "2 of at most 3 tasks of the throttle w2 run", "one of them ends"},
    {WHY_THROTTLED_ARRAY, "throttled", "2 of at most 3 tasks of this array run",
        "one of them ends"},
    {WHY_BEHIND_OTHERS, "behind-others", "2 others of its queue can start, in the order priority",
        "its turn comes"},
    {WHY_BEHIND_OTHERS_BY_PRIORITY, "behind-others",
        "2 others of its queue can start, in the order priority",
        "its turn comes; a higher priority brings it forward: reeve task set 0ab --priority N"},
    {WHY_STARTING, "starting", "nothing holds it: it is about to start", "a moment"},
    {WHY_STARTING_ONCE_READ, "starting",
        "nothing holds it: it is about to start once the queue's head is read", "a moment"},
    {WHY_WORKER_AWAY, "unsure",
        "its worker nightly is away: whether it still runs is not known, so it counts as running",
        "the worker returns, or is declared lost in 1m30s; if its machine is certainly gone: reeve "
        "worker rm --lost nightly"},
    {WHY_NO_ANSWER, "unsure",
        "worker nightly was told to start it and has not said whether it did: it counts as "
        "running",
        "the worker answers; it is asked again in 1m30s"},
    {WHY_CANCELLING, "cancelling", "worker nightly is ending it", "its processes end"},
    {WHY_ON_ITS_WAY, "running", "it is on its way to worker nightly", "it ends"},
    {WHY_ON_ITS_WAY_TO_UNHEALTHY, "running",
        "it is on its way to worker nightly, which is not healthy",
        "it ends, or its worker is lost in 1m30s"},
    {WHY_RUNNING, "running", "it is running on worker nightly", "it ends"},
    {WHY_RUNNING_ON_UNHEALTHY, "running", "it is running on worker nightly, which is not healthy",
        "it ends, or its worker is lost in 1m30s"},
    {WHY_BLOCKED, "blocked", "it is held back by w2 (status 2): the disk",
        "reeve task release 0ab"},
    {WHY_HELD, "held", "it is held back by w2 (status 2): the disk", "reeve task release 0ab"},
    {WHY_GROUP_WAITS, "group-waits",
        "the group nightly waits for its turn: 2 of at most 3 groups go on at once "
        "(server.groups_active)",
        "one of them ends; or a worker that could run its jobs has nothing to do for 1m30s"},
    {WHY_GROUP_NO_MEMORY, "group-waits",
        "the group nightly waits for its turn: 2 groups dispatch, and there is no room in memory "
        "for more that stand still",
        "one of them ends: reeve group ls --state dispatching; reeve group cancel GROUP ends one"},
    {WHY_GROUPS_STAND, "groups-stand",
        "2 of the groups that dispatch stand still: no worker can run what they have ready",
        "they keep no other out: while a worker has nothing else to do, the next one comes in"},
    {WHY_GROUPS_BEFORE, "groups-before", "older groups that wait as well: 2",
        "they come in before it"},
    {WHY_GROUP_READS, "group-reads", "the group nightly is being read from the store", "a moment"},
    {WHY_GROUP_OWED, "group-owed",
        "the group nightly was triggered by its w2, and its jobs are being found out", "a moment"},
    {WHY_GROUP_RUNS, "group-runs",
        "waiting for a worker, running or held: 2 of the 3 jobs of the group nightly",
        "each of them ends"},
    {WHY_GROUP_ENDS, "group-ends",
        "the group nightly is being ended: 2 of its 3 jobs have not: the disk",
        "their workers say that they are over"},
    {WHY_JOB_NEEDS, "needs", "it needs task w2, which has not ended",
        "that ends; what holds it: reeve why w2"},
    {WHY_JOB_NEEDS_FIRST, "needs-first", "the first of 2 in a row that it waits for is task w2",
        "that ends; what holds it: reeve why w2"},
    {WHY_JOB_DUE, "needs-met", "all that it needs has ended: it is about to be queued", "a moment"},
    {WHY_INSTANCE_NEEDS, "needs-service", "it needs the service w2, of which no instance is ready",
        "one of them is ready: reeve service show w2"},
    {WHY_INSTANCE_HELD, "deploy-holds", "the deploy starts nothing while an older revision may run",
        "that is certainly over: reeve service show nightly"},
    {WHY_INSTANCE_NO_PLACE, "no-place", "it has no worker: the disk",
        "another worker joins, or one of those has room again"},
    {WHY_INSTANCE_DUE, "unclaimed", "it is about to be given to a worker", "a moment"},
    {WHY_INSTANCE_CRASHED, "crashed", "it crashed 3 times in a row; the last one: the disk",
        "it starts again at 1970-01-02T00:00:00.000Z, in 1m30s, or with: reeve service restart "
        "nightly/2"},
    {WHY_INSTANCE_GAVE_UP, "gave-up",
        "it crashed 3 times in a row, and does not start again by itself; the last one: the disk",
        "reeve service restart nightly/2"},
    {WHY_INSTANCE_SILENT, "worker-silent",
        "its worker w2 does not answer: it may run there, or not",
        "the worker is back, or is certainly lost"},
    {WHY_INSTANCE_EVACUATING, "evacuating",
        "its worker w2 is drained: it stays until its replacement is ready",
        "that is ready, has crashed, or is wanted no more"},
    {WHY_INSTANCE_BLOCKED, "evacuation-blocked", "its worker w2 is drained, and it cannot move yet",
        "another worker has room for it"},
    {WHY_INSTANCE_STOPPING, "stopping", "its worker w2 was told to stop it", "it has ended"},
    {WHY_INSTANCE_STARTING, "starting", "its worker w2 starts it", "its startup check passes"},
    {WHY_INSTANCE_NOT_READY, "not-ready", "it runs on w2, and is not ready for traffic",
        "its readiness check passes"},
    {WHY_INSTANCE_READY, "ready", "it runs on w2, and is ready", "nothing: it is as it should be"},
    {WHY_INSTANCE_SURPLUS, "surplus", "nobody wants it, and it stays: its domain is not fresh",
        "its owner says that the domain is fresh, or: reeve service rm nightly"},
    {WHY_INSTANCE_NONE, "not-made-yet", "it is wanted, and not made yet", "a moment"},
};

static void every_reason_has_its_sentences(void **state)
{
	assert_int_equal(sizeof whys / sizeof whys[0], N_WHYS);
	for (size_t i = 0; i < N_WHYS; i++) {
		struct why w = {.code = whys[i].code, .facts = all};

		assert_int_equal(w.code, i);
		assert_string_equal(why_names[i], whys[i].name);
		assert_string_equal(words_why(&arena, &w).p, whys[i].holds);
		assert_string_equal(words_lift(&arena, &w).p, whys[i].lifts);
	}
}

static void a_group_is_triggered_by_its_owners_kind(void **state)
{
	struct why w = {
	    WHY_GROUP_OWED, {.name = STR("nightly"), .other = str_of(kind_names[GROUP_OWNER])}};

	assert_string_equal(words_why(&arena, &w).p,
	    "the group nightly was triggered by its schedule, and its jobs are being found out");
}

static void a_job_goes_by_its_name_where_that_is_known(void **state)
{
	struct why w = {WHY_JOB_NEEDS, {.name = STR("nightly"), .other = STR("0ab"), .at = 7}};

	assert_string_equal(words_why(&arena, &w).p, "it needs task 0ab, which has not ended");
	assert_string_equal(words_lift(&arena, &w).p, "that ends; what holds it: reeve why 0ab");
	w.facts.job = STR("core/gcc");
	assert_string_equal(words_why(&arena, &w).p, "it needs core/gcc, which has not ended");
	assert_string_equal(
	    words_lift(&arena, &w).p, "that ends; what holds it: reeve why nightly/core/gcc");
	w.facts.job = STR("build[os=linux]");
	assert_string_equal(words_lift(&arena, &w).p,
	    "that ends; what holds it: reeve why 'nightly/build[os=linux]'");
	w.facts.job = STR("it's");
	assert_string_equal(
	    words_lift(&arena, &w).p, "that ends; what holds it: reeve why 'nightly/it'\\''s'");
}

#define START                                                                               \
	"nothing is started for at most 1m30s: the last server did not write down what it " \
	"started, so every worker that may run something must speak first, or have ended it"
#define BATCHED                                                                                 \
	"worker nightly gets no tasks yet: newcomers are taken in together, and the next ones " \
	"when worker w2 has repeated the present set of workers, which it does "

static const struct {
	enum wait_code code;
	const char *name, *text;
} waits[] = {
    {WAIT_START, "initial-wait", START},
    {WAIT_START_UNSAFE, "initial-wait",
        START ". UNSAFE: the time is the one of CAUTION_startup_wait_for_workers, and shorter "
              "than that takes: what a worker runs that speaks later may be started a second "
              "time"},
    {WAIT_START_LOST, "initial-wait-worker",
        "worker nightly is lost without having said what it runs"},
    {WAIT_START_SILENT, "initial-wait-worker", "worker nightly has not spoken yet"},
    {WAIT_START_NEW, "initial-wait-worker", "worker nightly is new here"},
    {WAIT_START_UNTOLD, "initial-wait-worker",
        "worker nightly has not heard from the last server which workers there are"},
    {WAIT_START_AGREES, "initial-wait-worker", "worker nightly agrees with those who are here"},
    {WAIT_START_DIFFERS, "initial-wait-worker",
        "worker nightly knows another set of workers than those who are here"},
    {WAIT_WORD, "worker-word",
        "2 tasks on worker nightly, which is away: they count as running until it returns, or is "
        "lost in 1m30s"},
    {WAIT_UNSURE, "unsure",
        "worker nightly has not said whether it started 2 tasks: it is asked again"},
    {WAIT_BATCHED, "consensus",
        "worker nightly gets no tasks yet: newcomers are taken in together, and it is among the "
        "next"},
    {WAIT_BATCHED_BEAT, "consensus", BATCHED "with its next heartbeats"},
    {WAIT_BATCHED_LOSS, "consensus", BATCHED "when it speaks, or is lost in 1m30s"},
    {WAIT_SET_OWN, "consensus",
        "worker nightly gets no tasks yet: it must first repeat the set of workers"},
    {WAIT_SET_BEAT, "consensus",
        "worker nightly gets no tasks yet: worker w2 does not know of it, and hears of it with "
        "its next heartbeats"},
    {WAIT_SET_UNHEALTHY, "consensus",
        "worker nightly gets no tasks yet: worker w2 does not know of it and is unhealthy; it "
        "speaks, or is lost in 1m30s"},
    {WAIT_SET_AWAY, "consensus",
        "worker nightly gets no tasks yet: worker w2 does not know of it and is away; it speaks, "
        "or is lost in 1m30s"},
    {WAIT_HELLO, "worker-health", "worker nightly gets no tasks yet: it waits for its hello"},
    {WAIT_BEAT, "worker-health", "worker nightly gets no tasks yet: it waits for its heartbeat"},
    {WAIT_CHECK, "worker-health",
        "worker nightly gets no tasks yet: it waits for a healthcheck that succeeds; the last one "
        "said: the disk"},
    {WAIT_LIFE, "worker-health", "worker nightly gets no tasks yet: it waits for "},
};

static void every_wait_has_its_sentence(void **state)
{
	assert_int_equal(sizeof waits / sizeof waits[0], N_WAITS);
	for (size_t i = 0; i < N_WAITS; i++) {
		struct wait w = {.code = waits[i].code, .facts = all};

		assert_int_equal(w.code, i);
		assert_string_equal(wait_names[i], waits[i].name);
		assert_string_equal(words_wait(&arena, &w).p, waits[i].text);
	}
}

static void every_hint_has_its_sentence(void **state)
{
	static const char *const hints[] = {
	    [HINT_LIST] = "list them with: reeve queue ls",
	    [HINT_CHANGE] = "change it with: reeve queue set 'n 1'",
	    [HINT_REVOKE] = "revoke it, or choose another name",
	    [HINT_QUEUE_CANCEL] = "cancel them (reeve cancel --queue 'n 1'), wait, and try again",
	    [HINT_START_WAIT] = "try again when the wait is over: reeve status",
	    [HINT_WORKER_LOSS] = "wait until it is lost; if its machine is certainly gone: reeve "
	                         "worker rm --lost 'n 1'",
	    [HINT_WORKER_LOST] = "if its machine is certainly gone: reeve worker rm --lost 'n 1'",
	    [HINT_WORKER_TELL] = "it can only be told when it is: reeve worker ls",
	};

	for (int i = HINT_LIST; i <= HINT_WORKER_TELL; i++) {
		struct problem p = {0};

		words_hint(&(struct hint){i, "n 1", KIND_QUEUE}, &p);
		assert_string_equal(p.hint, hints[i]);
	}
}

static void no_hint_leaves_the_one_that_is_there(void **state)
{
	struct problem p = {.hint = "stop it first"};

	words_hint(&(struct hint){0}, &p);
	assert_string_equal(p.hint, "stop it first");
}

static void some_hints_follow_upon_a_sentence(void **state)
{
	struct outcome o = {.code = -3, .why = "it waits", .hint = HINT_HOW_LONG};

	assert_string_equal(words_outcome(&arena, &o).p, "it waits (reeve status says how long)");
	o.hint = HINT_NONE;
	assert_string_equal(words_outcome(&arena, &o).p, "it waits");
	o.why = NULL;
	assert_string_equal(words_outcome(&arena, &o).p, err_title(-3));
	assert_string_equal(words_joined(&arena, STR("lost"), HINT_WHEN_LOST).p,
	    "lost (reeve worker ls says when)");
	assert_string_equal(words_joined(&arena, STR("no more"), HINT_WORKERS_REMOVE).p,
	    "no more: remove lost ones with `reeve worker rm`, or raise it");
}

static void an_empty_fact_takes_its_words_with_it(void **state)
{
	struct facts f = {.name = STR("q")};

	assert_string_equal(words_fill(&arena, "a{: |reason}, b", &f).p, "a, b");
	f.reason = STR("why");
	assert_string_equal(words_fill(&arena, "a{: |reason}, b", &f).p, "a: why, b");
	assert_string_equal(words_fill(&arena, "", &f).p, "");
}

static void a_name_is_typed_so_that_a_shell_takes_it(void **state)
{
	struct facts f = {.name = STR("a-b_c.9")};

	assert_string_equal(words_fill(&arena, "{typed}", &f).p, "a-b_c.9");
	f.name = STR("two words");
	assert_string_equal(words_fill(&arena, "{typed}", &f).p, "'two words'");
	f.name = STR("");
	assert_string_equal(words_fill(&arena, "{typed}", &f).p, "''");
}

static void one_is_said_as_one(void **state)
{
	struct facts f = {.n = 1, .of = 1};

	assert_string_equal(words_fill(&arena, "{n} task{s}", &f).p, "1 task");
	assert_string_equal(words_fill(&arena, "{workers} leaving", &f).p,
	    "1 of 1 worker that serves the queue is leaving");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_teardown(every_reason_has_its_sentences, drop),
	    cmocka_unit_test_teardown(a_group_is_triggered_by_its_owners_kind, drop),
	    cmocka_unit_test_teardown(a_job_goes_by_its_name_where_that_is_known, drop),
	    cmocka_unit_test_teardown(every_wait_has_its_sentence, drop),
	    cmocka_unit_test_teardown(every_hint_has_its_sentence, drop),
	    cmocka_unit_test(no_hint_leaves_the_one_that_is_there),
	    cmocka_unit_test_teardown(some_hints_follow_upon_a_sentence, drop),
	    cmocka_unit_test_teardown(an_empty_fact_takes_its_words_with_it, drop),
	    cmocka_unit_test_teardown(a_name_is_typed_so_that_a_shell_takes_it, drop),
	    cmocka_unit_test_teardown(one_is_said_as_one, drop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
