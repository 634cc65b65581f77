# SPDX-License-Identifier: Apache-2.0
"""Server and workers killed -9 at random under load: nothing is lost, nothing begins twice."""
import chaos
import pytest
from chaos import Load, judge, pause, rng  # noqa: F401 (a fixture)

SERVER_KILLS = 200
WORKER_ROUNDS = 20
MOMENTS = ["starting"] * 2 + ["open"] * 3 + ["working"] * 5


def wait_moment(cluster, load, rng):
    """While it loads, as soon as it is open, or when it has found its workers and goes about its work."""
    moment = rng.choice(MOMENTS)
    if moment == "open":
        chaos.wait_open(cluster)
    elif moment == "working":
        load.wait_more()
    pause(rng, 0, 0.1)


def test_server_killed_two_hundred_times(cluster, rng):
    chaos.start(cluster)
    load = Load(cluster, rng).begin()
    for _ in range(SERVER_KILLS):
        wait_moment(cluster, load, rng)
        cluster.server.kill9()
        cluster.server.start()
    chaos.wait_open(cluster)
    # The workers lived, so every start and every end is known: nothing may be lost or repeated.
    tasks = judge(cluster, load, certain=True)
    assert len(tasks) > SERVER_KILLS, "so many kills, and hardly any work"
    assert load.records.most_at_once() <= 6


@pytest.mark.parametrize("server_too", [False, True], ids=["workers", "workers and server"])
def test_workers_killed_at_random(cluster, rng, server_too):
    workers = chaos.start(cluster, workers=("w1", "w2", "w3"))
    load = Load(cluster, rng).begin()
    for _ in range(WORKER_ROUNDS):
        if rng.random() < 0.7:
            load.wait_more()
        pause(rng, 0, 0.15)
        victims = rng.sample(workers, rng.choice([1, 1, 2, 3]))
        if server_too and rng.random() < 0.4:
            victims.insert(rng.randrange(len(victims) + 1), cluster.server)
        for victim in victims:
            victim.kill9()
        rng.shuffle(victims)
        for victim in victims:
            victim.start()
    chaos.wait_open(cluster)
    judge(cluster, load, certain=False)
