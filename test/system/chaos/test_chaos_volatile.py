# SPDX-License-Identifier: Apache-2.0
"""Volatile dispatch: nothing is written before a start, so a restarted server must know its workers before it starts
anything. It waits no longer than needed, and says for whom."""
import signal

import chaos
import pytest
from chaos import LONG, SHORT, Load, judge, rng  # noqa: F401 (a fixture)
from harness import PATIENCE, wait_until
from records import Records

VOLATILE = dict(SHORT, REEVE_SERVER_DISPATCH="volatile")
# With these the safe wait is far longer than any test: only consensus can end it.
PATIENT = {"REEVE_SERVER_DISPATCH": "volatile", "REEVE_SERVER_HEARTBEAT": "200ms"}
SAFE_S = 2.0 + 2.5 + 0.5 + 1.5  # until a silent worker is lost, the margin, and the hold: all in SHORT


def waiting(cluster):
    return cluster.get("/v1/status")["worker_set"]["waiting"]


def test_consensus_ends_the_wait(cluster, rng):
    chaos.start(cluster, workers=("w1", "w2", "w3"), env=PATIENT)
    load = Load(cluster, rng).begin()
    for _ in range(8):
        load.wait_more()
        chaos.pause(rng, 0, 0.3)
        cluster.server.kill9()
        cluster.server.start()
        chaos.wait_open(cluster)
        # The safe time is more than ten minutes; the workers agree long before.
        wait_until(lambda: not waiting(cluster), PATIENCE, what="the workers agreed that they are all")
    tasks = judge(cluster, load, certain=True)
    assert load.records.most_at_once() <= 6
    assert not [t for t in tasks.values() if t["attempt"] > 1 and t["labels"]["code"] == "0"]


def test_killed_again_during_the_wait(cluster, rng):
    chaos.start(cluster, env=PATIENT)
    load = Load(cluster, rng).begin()
    for _ in range(4):
        load.wait_more()
        for _ in range(rng.choice([1, 2, 4])):
            cluster.server.kill9()
            cluster.server.start()
            chaos.pause(rng, 0, 0.3)
        chaos.wait_open(cluster)
        wait_until(lambda: not waiting(cluster), PATIENCE, what="the workers agreed that they are all")
    judge(cluster, load, certain=True)


@pytest.mark.parametrize("fate", ["killed", "stopped"])
def test_one_worker_gone_means_waiting_for_the_safe_time(cluster, fate):
    w1, w2 = chaos.start(cluster, env=VOLATILE, maxthreads=2)
    records = Records(cluster)
    ids = [cluster.submit(*records.command(LONG), max_attempts=5, backoff="10ms")["id"] for _ in range(2)]
    records.wait_begun(2)
    places = {i: cluster.wait_task(i, "running")["worker"] for i in ids}
    assert set(places.values()) == {"w1", "w2"}, "one on each"
    cluster.create_queue("later")  # what is acknowledged now is behind their starts: these are durable, too
    cluster.server.kill9()
    w1.kill9() if fate == "killed" else w1.signal(signal.SIGSTOP)
    cluster.server.start()
    chaos.wait_open(cluster)
    status = cluster.get("/v1/status")
    assert status["worker_set"]["waiting"], status
    wait = next(w for w in status["waiting"] if w["code"] == "initial-wait")
    assert 0 < wait["in_ms"] <= SAFE_S * 1000, wait
    assert "w1" in [w["worker"] for w in status["waiting"] if w["code"] == "initial-wait-worker"], status
    assert "w1" in cluster.cli("status").out
    fresh = cluster.submit(*records.command(0))["id"]
    why = cluster.get(f"/v1/tasks/{fresh}/why")
    assert cluster.get(f"/v1/tasks/{fresh}")["state"] == "queued" and why["reasons"], why
    wait_until(lambda: not waiting(cluster), what="the wait is over")
    gone = next(i for i in ids if places[i] == "w1")
    cluster.cli("cancel", next(i for i in ids if places[i] == "w2"))  # room for both others
    assert cluster.wait_ended(fresh)["state"] == "succeeded"
    wait_until(lambda: [b for b in records.begun() if b.task == gone and b.attempt > 1], what="it begins elsewhere")
    records.check(once=[fresh])
    if fate == "stopped":
        w1.signal(signal.SIGCONT)
        wait_until(lambda: not w1.running, what="the lost worker leaves")
        records.check(once=[fresh])
    cluster.cli("cancel", gone)
    assert cluster.wait_ended(gone)["state"] == "cancelled"


def test_the_missing_worker_returns_and_ends_the_wait(cluster):
    workers = dict(zip(("w1", "w2"), chaos.start(cluster, env=PATIENT, maxthreads=1)))
    records = Records(cluster)
    task = cluster.submit(*records.command(LONG))["id"]
    records.wait_begun(1)
    away = cluster.get(f"/v1/tasks/{task}")["worker"]
    here = next(w for w in workers if w != away)
    workers[away].signal(signal.SIGSTOP)
    cluster.server.kill9()
    cluster.server.start()
    chaos.wait_open(cluster)
    wait_until(lambda: chaos.worker(cluster, here)["connected"], what=f"{here} has spoken")
    fresh = cluster.submit(*records.command(0))["id"]
    assert waiting(cluster) and cluster.get(f"/v1/tasks/{fresh}")["state"] == "queued"
    said = {w["worker"]: w["text"] for w in cluster.get("/v1/status")["waiting"] if w["code"] == "initial-wait-worker"}
    assert "has not spoken" in said[away] and "has not spoken" not in said[here], said
    workers[away].signal(signal.SIGCONT)
    wait_until(lambda: not waiting(cluster), what="all have spoken")
    assert cluster.wait_ended(fresh)["state"] == "succeeded"
    assert cluster.get(f"/v1/tasks/{task}")["state"] == "running"
    records.check(once=[task, fresh])
    cluster.cli("cancel", task)
    assert cluster.wait_ended(task)["state"] == "cancelled"
