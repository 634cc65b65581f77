# SPDX-License-Identifier: Apache-2.0
"""kill -9 at any point: nothing acknowledged is lost, and nothing runs twice."""
import os
import random
import signal
import threading
import uuid

import harness
import pytest
from chaos import post_until_answered
from harness import wait_until
from records import Records

SEED = int(os.environ.get("REEVE_TEST_SEED", "20"))
LONG = "forever"
# A silent worker is lost after about five seconds.
SOON_LOST = {"REEVE_SERVER_HEARTBEAT": "500ms", "REEVE_SERVER_HEARTBEAT_GRACE": "1500ms",
             "REEVE_SERVER_HEALTHCHECK_PERIOD": "500ms", "REEVE_SERVER_HEALTHCHECK_GRACE": "1500ms",
             "REEVE_SERVER_LOSE_UNHEALTHY_AFTER": "2500ms", "REEVE_SERVER_WORKER_MARGIN": "500ms",
             "REEVE_SERVER_TASK_KILL_WAIT": "200ms", "REEVE_SERVER_LOST_TASK_HOLD": "1s"}


class Submitter(threading.Thread):
    """Submits without pause and remembers what was acknowledged. A request without an answer is
    repeated under its Idempotency-Key, so that its tasks exist once, whatever happened to it."""

    def __init__(self, cluster, records, rng):
        super().__init__(daemon=True)
        self.cluster, self.records, self.rng = cluster, records, rng
        cluster._base = cluster._base or cluster.url
        self.stop, self.wrong, self.acked = threading.Event(), None, {}  # id -> max_attempts

    def make(self):
        return {"command": self.records.command(self.rng.choice([0, 0.05, 0.3])), "queue": "chaos",
                "max_attempts": self.rng.choice([1, 50]), "backoff": "10ms", "backoff_max": "50ms"}

    def post(self, tasks):
        return post_until_answered(self.cluster, tasks, str(uuid.uuid4()), self.stop)

    def run(self):
        try:
            while not self.stop.is_set():
                tasks = [self.make() for _ in range(self.rng.choice([1, 1, 1, 5]))]
                ids = self.post(tasks)
                self.acked.update(zip(ids or [], (t["max_attempts"] for t in tasks)))
                self.stop.wait(0.1)
        except Exception as e:  # shown by the test
            self.wrong = e

    def end(self):
        self.stop.set()
        self.join(harness.PATIENCE)
        assert self.wrong is None and not self.is_alive(), self.wrong
        return self.acked


def check_all(cluster, records, acked):
    """Every acknowledged task is there and over, and the processes agree with the books."""
    tasks = {t["id"]: t for t in cluster.all_tasks(queue="chaos")}
    assert not set(acked) - set(tasks), "acknowledged, then lost"
    assert len(acked) > 20, "the test submitted too little to say anything"
    records.check(once=[i for i, t in tasks.items() if t["max_attempts"] == 1])
    begun = {line.task for line in records.begun()}
    assert not begun - set(tasks), "something ran that is in no book"
    assert {i for i, t in tasks.items() if t["state"] == "succeeded"} <= begun
    return tasks


def test_server_killed_twenty_times(cluster):
    rng = random.Random(SEED)
    cluster.start_server()
    for name in "w1", "w2":
        cluster.start_worker("--maxthreads", 4, name=name)
    cluster.create_queue("chaos", threads=6)
    records = Records(cluster)
    submitter = Submitter(cluster, records, rng)
    submitter.start()
    for _ in range(20):
        threading.Event().wait(rng.uniform(0, 0.5))  # at any point: this wait hopes for nothing
        cluster.server.kill9()
        cluster.restart()
    acked = submitter.end()
    cluster.wait_idle(queue="chaos")
    tasks = check_all(cluster, records, acked)
    # The workers lived, so every start and every end is known: nothing may be lost or repeated.
    assert {t["state"] for t in tasks.values()} == {"succeeded"}
    assert len(records.begun()) == len(tasks)
    assert records.most_at_once() <= 6


def test_server_and_workers_killed_at_random(cluster):
    rng = random.Random(SEED + 1)
    cluster.start_server()
    workers = [cluster.start_worker("--maxthreads", 3, name=name) for name in ("w1", "w2")]
    cluster.create_queue("chaos", threads=4)
    records = Records(cluster)
    submitter = Submitter(cluster, records, rng)
    submitter.start()
    for _ in range(10):
        threading.Event().wait(rng.uniform(0, 0.5))
        victims = rng.choice([[cluster.server], workers[:1], workers[1:], [cluster.server, workers[0]],
                              [workers[1], cluster.server], [cluster.server, *workers]])
        for victim in victims:
            victim.kill9()
        for victim in victims:
            cluster.restart(victim)
    acked = submitter.end()
    cluster.wait_idle(queue="chaos")
    tasks = check_all(cluster, records, acked)
    many = {t["state"] for t in tasks.values() if t["max_attempts"] > 1}
    once = {t["state"] for t in tasks.values() if t["max_attempts"] == 1}
    assert many == {"succeeded"}
    assert once <= {"succeeded", "orphaned"}
    for t in tasks.values():
        if t["state"] == "orphaned":
            assert t["reason"], "an orphan must say why"


def lost_worker(cluster, restart):
    """One task of one attempt and one of three run on w1 when it is killed."""
    records = Records(cluster)
    w1 = cluster.start_worker("--maxthreads", 2, name="w1")
    once = cluster.submit(*records.command(LONG))["id"]
    more = cluster.submit(*records.command(LONG), max_attempts=3, backoff="10ms")["id"]
    records.wait_begun(2)
    w1.kill9()
    if restart:
        cluster.restart(w1)
    return records, once, more


@pytest.mark.parametrize("back", ["it comes back", "another takes over"])
def test_worker_killed(cluster, back):
    cluster.start_server(env=SOON_LOST)
    records, once, more = lost_worker(cluster, restart=back == "it comes back")
    if back != "it comes back":
        cluster.start_worker("--maxthreads", 2, name="w2")
    orphan = cluster.wait_ended(once)
    assert (orphan["state"], orphan["status"], orphan["attempt"]) == ("orphaned", -6, 1)
    assert "w1" in orphan["reason"] or "worker" in orphan["reason"]
    wait_until(lambda: [b for b in records.begun() if (b.task, b.attempt) == (more, 2)],
               what="the second attempt begins")
    records.check(once=[once])
    task = cluster.get(f"/v1/tasks/{more}")
    assert task["attempts"][0]["attempt"] == 1 and task["attempts"][0]["reason"]
    assert harness.processes_with(f"REEVE_TASK_ID={once}") == [], "the orphan is over"
    cluster.cli("cancel", more)
    assert cluster.wait_ended(more)["state"] == "cancelled"


def test_nothing_of_a_killed_worker_survives_its_return(cluster):
    cluster.start_server()
    w1 = cluster.start_worker(name="w1")
    ready = os.path.join(cluster.dir, "ready")
    tree = os.path.join(harness.PROGRAMS, "tree.sh")
    task = cluster.submit(tree, ready)["id"]
    wait_until(lambda: os.path.exists(ready))
    wait_until(lambda: len(harness.processes_with(f"REEVE_TASK_ID={task}")) >= 4)
    w1.kill9()
    cluster.restart(w1)
    assert cluster.wait_ended(task)["state"] == "orphaned"
    # An orphan is certainly over: this holds at once, not only soon.
    assert harness.processes_with(f"REEVE_TASK_ID={task}") == []


def test_nothing_of_a_killed_worker_survives_it(cluster):
    cluster.start_server()
    w1 = cluster.start_worker(name="w1")
    ready = os.path.join(cluster.dir, "ready")
    tree = os.path.join(harness.PROGRAMS, "tree.sh")
    task = cluster.submit(tree, ready)["id"]
    wait_until(lambda: os.path.exists(ready))
    wait_until(lambda: len(harness.processes_with(f"REEVE_TASK_ID={task}")) >= 4)
    os.killpg(w1.pid, signal.SIGTERM)  # what a service manager sends to all must not end the guard first
    w1.kill9()  # and it is not started again
    wait_until(lambda: not harness.processes_with(f"REEVE_TASK_ID={task}"), what="all of the task is over")


def test_a_retry_elsewhere_begins_after_all_of_the_first_attempt_is_over(cluster):
    cluster.start_server(env=SOON_LOST)
    w1 = cluster.start_worker(name="w1")
    records = Records(cluster)
    # The one who writes is not the leader, which dies at once, but a descendant in another session.
    task = cluster.submit("sh", "-c", 'setsid "$@" & wait', "sh", *records.command(LONG), max_attempts=3,
                          backoff="10ms")["id"]
    records.wait_begun(1)
    w1.kill9()
    cluster.start_worker(name="w2")
    wait_until(lambda: [b for b in records.begun() if b.attempt == 2], what="the second attempt begins")
    records.check()
    cluster.cli("cancel", task)
    assert cluster.wait_ended(task)["state"] == "cancelled"


def test_server_away_while_tasks_run_and_end(cluster):
    cluster.start_server()
    cluster.start_worker("--maxthreads", 3, name="w1")
    go, records = os.path.join(cluster.dir, "go"), Records(cluster)
    script = f"echo early; while [ ! -e {go} ]; do sleep 0.05; done; echo late; echo over >>{go}.over; exit $0"
    ids = [cluster.submit("sh", "-c", script, code)["id"] for code in (0, 5)]
    rest = cluster.submit(*records.command(LONG))["id"]
    records.wait_begun(1)
    for i in ids:
        cluster.wait_task(i, "running")
    cluster.server.kill9()
    open(go, "w").close()
    wait_until(lambda: os.path.exists(go + ".over") and len(open(go + ".over").readlines()) == 2,
               what="both tasks went on without the server")
    cluster.restart()
    good, bad = (cluster.wait_ended(i) for i in ids)
    assert (good["state"], good["exit_code"], good["attempt"]) == ("succeeded", 0, 1)
    assert (bad["state"], bad["exit_code"], bad["attempt"]) == ("failed", 5, 1)
    assert cluster.cli("logs", good["id"]).out == "early\nlate\n", "the output of both halves is there"
    assert cluster.get(f"/v1/tasks/{rest}")["state"] == "running"
    assert len(records.begun()) == 1
    cluster.cli("cancel", rest)
    assert cluster.wait_ended(rest)["state"] == "cancelled"


def test_server_and_worker_killed_together(cluster):
    cluster.start_server()
    w1 = cluster.start_worker("--maxthreads", 8, name="w1")
    records = Records(cluster)
    cluster.create_queue("chaos")
    once = [cluster.submit(*records.command(LONG), queue="chaos")["id"] for _ in range(3)]
    more = [cluster.submit(*records.command(0.2), queue="chaos", max_attempts=9, backoff="10ms")["id"]
            for _ in range(3)]
    records.wait_begun(6)
    for p in (w1, cluster.server):
        p.kill9()
    cluster.restart()
    cluster.restart(w1)
    for i in once:
        assert cluster.wait_ended(i)["state"] == "orphaned"
    for i in more:
        assert cluster.wait_ended(i)["state"] == "succeeded"
    records.check(once=once)


def test_dev_killed_is_as_if_both_were(dev):
    records = Records(dev)
    once = dev.submit(*records.command(LONG))["id"]
    records.wait_begun(1)
    waiting = dev.submit(*records.command(0), run_after="1s")["id"]
    dev.server.kill9()
    dev.restart()
    assert dev.wait_ended(once)["state"] == "orphaned"
    assert dev.wait_ended(waiting)["state"] == "succeeded"
    records.check(once=[once])


def test_retry_of_orphaned_failed_and_cancelled(cluster):
    cluster.start_server()
    w1 = cluster.start_worker("--maxthreads", 4, name="w1")
    flag, records = os.path.join(cluster.dir, "flag"), Records(cluster)
    script = f"echo attempt $REEVE_ATTEMPT; [ -e {flag} ] && exit 0; echo > {flag}.$0; [ $0 = fails ] && exit 1; sleep 1000"
    failed, cancelled, orphaned = ids = [cluster.submit("sh", "-c", script, kind)["id"]
                                         for kind in ("fails", "cancelled", "orphaned")]
    assert cluster.wait_ended(failed)["state"] == "failed"
    wait_until(lambda: os.path.exists(f"{flag}.cancelled") and os.path.exists(f"{flag}.orphaned"))
    cluster.cli("cancel", cancelled, "--reason", "not needed")
    assert cluster.wait_ended(cancelled)["reason"] == "not needed"
    w1.kill9()
    cluster.restart(w1)
    assert cluster.wait_ended(orphaned)["state"] == "orphaned"
    open(flag, "w").close()
    tokens = {i: cluster.get(f"/v1/tasks/{i}")["token"] for i in ids}
    for i in ids:
        cluster.cli("retry", i)
        task = cluster.wait_ended(i)
        assert task["state"] == "succeeded", task
        assert task["token"] > tokens[i], "every start has a new token"
        assert [a["state"] for a in task["attempts"]][-1] == "succeeded"
        assert len(task["attempts"]) == 2
    assert cluster.cli("retry", records.dir, check=False).code == 2
