/* SPDX-License-Identifier: Apache-2.0 */
/* Why a task waits, in words, and what would lift it. */
#include "words/words.h"

static const struct {
	const char *holds, *lifts;
} sentences[N_WHYS] = {
    [WHY_INITIAL_WAIT] = {"the server was restarted and must first know what its workers run",
        "they all speak, or in {in}; which are missing: reeve status"},
    [WHY_LOST_HOLD] = {"the worker that had it was lost, and may still be ending it{: |reason}",
        "the hold for lost workers' tasks is over in {in}"},
    [WHY_BACKOFF] = {"it waits before attempt {n}{; the last one: |reason}", "at {at}, in {in}"},
    [WHY_RUN_AFTER] = {"it was asked to run later", "at {at}, in {in}"},
    [WHY_QUEUE_PAUSED] = {"the queue {name} is paused{: |reason}", "reeve queue resume {typed}"},
    [WHY_QUEUE_PAUSED_UNTIL] = {"the queue {name} is paused{: |reason}",
        "it resumes by itself in {in}, or with: reeve queue resume {typed}"},
    [WHY_QUEUE_CLOSED] = {"the queue's limit is reached: {n} of {of} threads in use",
        "reeve queue set {typed} --threads N"},
    [WHY_QUEUE_FULL] = {"the queue's limit is reached: {n} of {of} threads in use",
        "one of them ends, or: reeve queue set {typed} --threads {one more}"},
    [WHY_NO_WORKERS] = {"no worker is connected", "start one: reeve worker --join HOST:PORT"},
    [WHY_NO_WORKERS_AWAY] = {"no worker is connected (some are away)",
        "start one: reeve worker --join HOST:PORT"},
    [WHY_PLUGIN_NOT_ALLOWED] = {"no connected worker allows the plugin {other}, so the queue is "
                                "ignored",
        "add it to `plugins` in a worker's configuration, or give the queue another: reeve queue "
        "set {typed} --plugin NAME"},
    [WHY_NO_WORKER_SERVES] = {"of {n} connected workers none serves the queue: {unserved}",
        "change activequeues or ignorequeues of a worker"},
    [WHY_WORKERS_FULL] = {"{workers} at maxthreads",
        "a running task ends, another worker joins, or: reeve worker set {typed} --maxthreads N"},
    [WHY_WORKERS_CLOSED] = {"{workers} at maxthreads 0, which takes no task",
        "another worker joins, or: reeve worker set {typed} --maxthreads N"},
    [WHY_WORKERS_UNHEALTHY] = {"{workers} not healthy",
        "what each of them waits for, and until when: reeve status"},
    [WHY_WORKERS_LEAVING] = {"{workers} leaving", "start another: reeve worker --join HOST:PORT"},
    [WHY_WORKERS_TOO_OLD] =
        {"its input is streamed, or it is shown what it needs: {workers} too old for that",
            "upgrade one of them, or start another: reeve worker --join HOST:PORT"},
    [WHY_WORKERS_DRAINED] = {"{workers} drained{ by |other}{: |reason}",
        "reeve worker undrain {typed}; or start another: reeve worker --join HOST:PORT"},
    [WHY_NEED_PLACE] = {"of {n} worker{s} for the queue none may run it: it needs {place}",
        "a worker that fits joins: reeve worker --label KEY=VALUE, --target NAME"},
    [WHY_NEED_TOO_MUCH] = {"it needs {needs} of {other}: no worker offers so much; the largest has "
                           "{freest}",
        "a larger worker joins, or it is submitted with a smaller need"},
    [WHY_NEED_SHORT] = {"it needs {needs} of {other}: of {n} worker{s} the freest has {freest}; "
                        "total {total}",
        "a running task ends, or another worker joins: reeve worker ls -o wide says what is free"},
    [WHY_NEED_TOGETHER] = {"of {n} worker{s} none has all that it needs at once",
        "a running task ends, or another worker joins: reeve worker ls -o wide says what is free"},
    [WHY_NEED_KEPT] = {"worker {name} has what it needs, and is kept for a task that was passed "
                       "over too often",
        "that task has started"},
    [WHY_NEED_NO_OFFERS] = {"{n} of {of} workers do not say what they offer: they are of an older "
                            "version, and get no task that needs something",
        "they are upgraded, or another worker joins"},
    [WHY_RESOURCE_SHORT] = {"it needs {needs} of {other}: of {total} in the whole cluster {freest} "
                            "are free",
        "a task that holds some ends: reeve status says how many are held"},
    [WHY_RESOURCE_TOO_MUCH] = {"it needs {needs} of {other}: the whole cluster has only {total}",
        "more is configured (server.resources), or it is submitted with a smaller need"},
    [WHY_THROTTLED] = {"{n} of at most {of} tasks of the throttle {other} run", "one of them ends"},
    [WHY_THROTTLED_ARRAY] = {"{n} of at most {of} tasks of this array run", "one of them ends"},
    [WHY_BEHIND_OTHERS] = {"{n} other{s} of its queue can start, in the order {order}",
        "its turn comes"},
    [WHY_BEHIND_OTHERS_BY_PRIORITY] = {"{n} other{s} of its queue can start, in the order {order}",
        "its turn comes; a higher priority brings it forward: reeve task set {task} --priority N"},
    [WHY_STARTING] = {"nothing holds it: it is about to start", "a moment"},
    [WHY_STARTING_ONCE_READ] = {"nothing holds it: it is about to start once the queue's head is "
                                "read",
        "a moment"},
    [WHY_WORKER_AWAY] = {"its worker {name} is away: whether it still runs is not known, so it "
                         "counts as running",
        "the worker returns, or is declared lost in {in}; if its machine is certainly gone: reeve "
        "worker rm --lost {typed}"},
    [WHY_NO_ANSWER] = {"worker {name} was told to start it and has not said whether it did: it "
                       "counts as running",
        "the worker answers; it is asked again in {in}"},
    [WHY_CANCELLING] = {"worker {name} is ending it", "its processes end"},
    [WHY_ON_ITS_WAY] = {"it is on its way to worker {name}", "it ends"},
    [WHY_ON_ITS_WAY_TO_UNHEALTHY] = {"it is on its way to worker {name}, which is not healthy",
        "it ends, or its worker is lost in {in}"},
    [WHY_RUNNING] = {"it is running on worker {name}", "it ends"},
    [WHY_RUNNING_ON_UNHEALTHY] = {"it is running on worker {name}, which is not healthy",
        "it ends, or its worker is lost in {in}"},
    [WHY_BLOCKED] = {"it is held back{ by |other} (status {n}){: |reason}",
        "reeve task release {task}"},
    [WHY_HELD] = {"it is held back{ by |other} (status {n}){: |reason}",
        "reeve task release {task}"},
    [WHY_GROUP_WAITS] = {"the group {name} waits for its turn: {n} of at most {of} groups go on at "
                         "once (server.groups_active)",
        "one of them ends; or a worker that could run its jobs has nothing to do for {in}"},
    [WHY_GROUP_NO_MEMORY] = {"the group {name} waits for its turn: {n} groups dispatch, and there "
                             "is no room in memory for more that stand still",
        "one of them ends: reeve group ls --state dispatching; reeve group cancel GROUP ends one"},
    [WHY_GROUPS_STAND] = {"{n} of the groups that dispatch stand still: no worker can run what "
                          "they have ready",
        "they keep no other out: while a worker has nothing else to do, the next one comes in"},
    [WHY_GROUPS_BEFORE] = {"older groups that wait as well: {n}", "they come in before it"},
    [WHY_GROUP_READS] = {"the group {name} is being read from the store", "a moment"},
    [WHY_GROUP_RUNS] = {"waiting for a worker, running or held: {n} of the {of} jobs of the group "
                        "{name}",
        "each of them ends"},
    [WHY_GROUP_OWED] = {"the group {name} was triggered by its {other}, and its jobs are being "
                        "found out",
        "a moment"},
    [WHY_GROUP_ENDS] = {"the group {name} is being ended: {n} of its {of} jobs have not{: |reason}",
        "their workers say that they are over"},
    [WHY_JOB_NEEDS] = {"it needs {job}, which has not ended",
        "that ends; what holds it: reeve why {job typed}"},
    [WHY_JOB_NEEDS_FIRST] = {"the first of {n} in a row that it waits for is {job}",
        "that ends; what holds it: reeve why {job typed}"},
    [WHY_JOB_DUE] = {"all that it needs has ended: it is about to be queued", "a moment"},
    [WHY_INSTANCE_NEEDS] = {"it needs the service {other}, of which no instance is ready",
        "one of them is ready: reeve service show {other}"},
    [WHY_INSTANCE_HELD] = {"the deploy starts nothing while an older revision may run",
        "that is certainly over: reeve service show {typed}"},
    [WHY_INSTANCE_NO_PLACE] = {"it has no worker{: |reason}",
        "another worker joins, or one of those has room again"},
    [WHY_INSTANCE_DUE] = {"it is about to be given to a worker", "a moment"},
    [WHY_INSTANCE_CRASHED] = {"it crashed {of} times in a row{; the last one: |reason}",
        "it starts again at {at}, in {in}, or with: reeve service restart {typed}/{n}"},
    [WHY_INSTANCE_GAVE_UP] =
        {"it crashed {of} times in a row, and does not start again by itself{; the last one: "
         "|reason}",
            "reeve service restart {typed}/{n}"},
    [WHY_INSTANCE_SILENT] = {"its worker {other} does not answer: it may run there, or not",
        "the worker is back, or is certainly lost"},
    [WHY_INSTANCE_EVACUATING] = {"its worker {other} is drained: it stays until its replacement is "
                                 "ready",
        "that is ready, has crashed, or is wanted no more"},
    [WHY_INSTANCE_BLOCKED] = {"its worker {other} is drained, and it cannot move yet",
        "another worker has room for it"},
    [WHY_INSTANCE_STOPPING] = {"its worker {other} was told to stop it", "it has ended"},
    [WHY_INSTANCE_STARTING] = {"its worker {other} starts it", "its startup check passes"},
    [WHY_INSTANCE_NOT_READY] = {"it runs on {other}, and is not ready for traffic",
        "its readiness check passes"},
    [WHY_INSTANCE_READY] = {"it runs on {other}, and is ready", "nothing: it is as it should be"},
    [WHY_INSTANCE_SURPLUS] = {"nobody wants it, and it stays: its domain is not fresh",
        "its owner says that the domain is fresh, or: reeve service rm {typed}"},
    [WHY_INSTANCE_NONE] = {"it is wanted, and not made yet", "a moment"},
};

struct str words_why(struct arena *a, const struct why *w)
{
	return words_fill(a, sentences[w->code].holds, &w->facts);
}

struct str words_lift(struct arena *a, const struct why *w)
{
	return words_fill(a, sentences[w->code].lifts, &w->facts);
}
