# SPDX-License-Identifier: Apache-2.0
"""Workers stopped with SIGSTOP: they cannot watch their limits, so their guards do. No second copy beside a first one."""
import signal
import threading

import chaos
import pytest
from chaos import LONG, SHORT, Load, judge, pause, rng, task_processes, wait_worker  # noqa: F401 (a fixture)
from harness import wait_until
from records import Records


def one_task_on_w1(cluster, when_lost):
    """Two long tasks run on w1, one of a single attempt; w2 could take them over."""
    cluster.start_server(env=SHORT)
    w1 = cluster.start_worker("--maxthreads", 2, "--when-lost", when_lost, name="w1")
    records = Records(cluster)
    once = cluster.submit(*records.command(LONG))["id"]
    more = cluster.submit(*records.command(LONG), max_attempts=3, backoff="10ms")["id"]
    records.wait_begun(2)
    cluster.start_worker("--maxthreads", 2, name="w2")
    chaos.wait_healthy(cluster, "w1", "w2")
    return w1, records, once, more


def attempts(records, task):
    return [line.attempt for line in records.begun() if line.task == task]


@pytest.mark.parametrize("when_lost", ["exit", "restart"])
def test_stopped_past_the_limits(cluster, when_lost):
    w1, records, once, more = one_task_on_w1(cluster, when_lost)
    instance = chaos.worker(cluster, "w1")["instance"]
    w1.signal(signal.SIGSTOP)
    wait_worker(cluster, "w1", "unhealthy", connected=False)
    wait_worker(cluster, "w1", "must_die", connected=False)
    # It is still stopped, yet its tasks are over before the server calls them over.
    assert cluster.wait_ended(once)["state"] == "orphaned"
    assert task_processes({once}) == [], "an orphan is certainly over"
    wait_until(lambda: attempts(records, more) == [1, 2], what="the second attempt begins elsewhere")
    records.check(once=[once])
    w1.signal(signal.SIGCONT)
    if when_lost == "exit":
        wait_until(lambda: not w1.running, what="the lost worker leaves")
        assert w1.child.returncode == 1
    else:
        w = wait_worker(cluster, "w1", "healthy")
        assert w["instance"] != instance, "it came back as another"
    assert attempts(records, more) == [1, 2]
    records.check(once=[once])
    cluster.cli("cancel", more)
    assert cluster.wait_ended(more)["state"] == "cancelled"
    assert task_processes({once, more}) == []


def test_stopped_shorter_than_the_limits(cluster):
    w1, records, once, more = one_task_on_w1(cluster, "exit")
    instance = chaos.worker(cluster, "w1")["instance"]
    before = sorted(task_processes({once, more}))
    w1.signal(signal.SIGSTOP)
    wait_worker(cluster, "w1", "unhealthy", connected=False)
    w1.signal(signal.SIGCONT)
    w = wait_worker(cluster, "w1", "healthy")
    assert w["instance"] == instance and w1.running
    assert sorted(task_processes({once, more})) == before, "the same processes run on"
    assert attempts(records, once) == [1] and attempts(records, more) == [1]
    for task in once, more:
        cluster.cli("cancel", task)
        assert cluster.wait_ended(task)["state"] == "cancelled"


def stop_for_a_while(worker, rng):
    """Shorter than the limits, about as long, or longer."""
    try:
        worker.signal(signal.SIGSTOP)
        pause(rng, *rng.choice([(0.05, 0.5), (1, 2.5), (3.5, 5.5)]))
    finally:
        worker.signal(signal.SIGCONT)


def test_stopped_at_random_under_load(cluster, rng):
    workers = chaos.start(cluster, env=SHORT, args=("--when-lost", "restart"))
    load = Load(cluster, rng, seconds=(0, 0.05, 0.3, 1.5)).begin()
    for _ in range(4):
        load.wait_more()
        pause(rng, 0, 0.3)
        victims = rng.choice([workers[:1], workers[1:], workers])
        stops = [threading.Thread(target=stop_for_a_while, args=(v, rng)) for v in victims]
        for s in stops:
            s.start()
        for s in stops:
            s.join()
    judge(cluster, load, certain=False)
    chaos.wait_healthy(cluster, "w1", "w2")
