# SPDX-License-Identifier: Apache-2.0
"""Workers that go on purpose: who said goodbye has left, and is no alarm; who is drained ends what it has."""
import re
import subprocess

import harness
import requests
from chaos import LOST_S, SHORT, wait_worker
from harness import PATIENCE, wait_until
from records import Records


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
    cluster.server.kill9()
    cluster.restart()
    assert cluster.get("/v1/workers/w1")["state"] == "left", "the mark is in the store"
    cluster.start_worker(name="w1")
    wait_worker(cluster, "w1", "healthy")


def test_drain(cluster):
    cluster.start_server()
    w1 = cluster.start_worker("--maxthreads", 4, name="w1")
    records = Records(cluster)
    first = cluster.submit(*records.command("forever"))["id"]
    records.wait_begun(1)
    wait = subprocess.Popen([harness.BIN, "worker", "drain", "w1", "--reason", "new disk", "--wait"], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True,
                            env=harness.clean_environment(HOME=cluster.state_dir(), REEVE_SERVER="unix:" + cluster.socket))
    wait_until(lambda: cluster.get("/v1/workers/w1")["drained"], what="it is drained")
    second = cluster.submit("true")["id"]
    assert "workers-drained" in cluster.why(second)
    assert "new disk" in cluster.cli("why", second).out and "reeve worker undrain w1" in cluster.cli("why", second).out
    assert re.search(r"drained by uid=\d+: new disk$", cluster.cli("why", second).out, re.M)
    assert "drained: new disk" in cluster.cli("worker", "drain", "w1").out + cluster.cli("worker", "ls").out, "it stays"
    assert re.search(r"^w1 +‖ drained ", cluster.cli("worker", "ls").out, re.M) and "‖ drained" in cluster.cli("worker", "show", "w1").out
    assert "new disk" in cluster.cli("worker", "show", "w1").out
    assert cluster.get(f"/v1/tasks/{first}")["state"] == "running" and wait.poll() is None
    cluster.cli("cancel", first)
    out, err = wait.communicate(timeout=PATIENCE)
    assert wait.returncode == 0 and "w1" in out and "w1 still runs 1 task" in err, (out, err)
    assert w1.stop() == 0
    cluster.server.kill9()
    cluster.restart()
    cluster.start_worker("--maxthreads", 4, name="w1")
    wait_worker(cluster, "w1", "healthy")
    assert "workers-drained" in cluster.why(second), "it stays drained over restarts of both"
    cluster.cli("worker", "undrain", "w1")
    assert cluster.wait_ended(second)["state"] == "succeeded"
    told = {e["kind"]: e for e in reversed(cluster.get("/v1/events")["items"])}
    assert "new disk" in str(told["worker.drained"]) and "worker.undrained" in told
