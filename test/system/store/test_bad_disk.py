# SPDX-License-Identifier: Apache-2.0
"""A sync that fails: what it was for may be gone, so the server ends and never tries again; what was said stays true."""
import requests
from harness import PATIENCE, wait_until
from shims import BadDisk


def test_a_failed_sync_ends_the_server(cluster, tmp_path):
    disk = BadDisk(str(tmp_path))
    server = cluster.start_server(env=disk.env)
    cluster.create_queue("q")
    kept = [cluster.submit("echo", str(n), queue="q")["id"] for n in range(20)]
    disk.fail(True)
    answered = None
    try:
        answered = cluster.call("POST", "/v1/tasks", json={"queue": "q", "command": ["echo", "lost?"]})
    except requests.RequestException:
        pass
    assert answered is None or answered.status_code >= 500, "nothing is acknowledged that is not durable"
    assert server.child.wait(PATIENCE) != 0
    assert "outcome is unknown" in server.log(), server.log()
    disk.fail(False)
    cluster.restart()
    there = [t["id"] for t in cluster.all_tasks()]
    assert set(kept) <= set(there) and len(there) <= len(kept) + 1
    wait_until(lambda: cluster.submit("echo", "again", queue="q")["id"], what="it takes work again")
