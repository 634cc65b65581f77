# SPDX-License-Identifier: Apache-2.0
"""Workers that go on purpose: who said goodbye has left, and is no alarm."""
import requests
from chaos import LOST_S, SHORT, wait_worker
from harness import wait_until


def test_a_stopped_worker_has_left_and_comes_back(cluster):
    cluster.start_server(env=SHORT)
    w1 = cluster.start_worker(name="w1")
    cluster.start_worker(name="w2")
    assert w1.stop() == 0
    wait_worker(cluster, "w1", "left", connected=False)
    silent = lambda: cluster.get("/v1/workers/w1")["silent_ms"] > LOST_S * 1000 + 500
    wait_until(silent, what="it would be lost by now")
    assert cluster.get("/v1/workers/w1")["state"] == "left"
    workers = cluster.status()["workers"]
    assert (workers["left"], workers["unhealthy"], workers["must_die"]) == (1, 0, 0)
    assert [w["name"] for w in cluster.get("/v1/workers?state=left")["items"]] == ["w1"]
    shown = cluster.cli("worker", "ls").out
    assert "left" in shown and "lost" not in shown
    assert "1 left" in cluster.cli("status").out and "lost" not in cluster.cli("status").out
    assert "lost" not in cluster.cli("doctor", check=False).out
    metrics = requests.get(cluster._base + "/metrics", headers=cluster.auth, timeout=10).text
    assert 'state="left"} 1\n' in metrics and 'state="must_die"} 0\n' in metrics
    assert not [e for e in cluster.get("/v1/events")["items"] if e["kind"] == "worker.lost"]
    cluster.restart()
    assert cluster.get("/v1/workers/w1")["state"] == "left", "the mark is in the store"
    cluster.start_worker(name="w1")
    wait_worker(cluster, "w1", "healthy")
