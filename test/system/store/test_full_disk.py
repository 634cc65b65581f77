# SPDX-License-Identifier: Apache-2.0
"""A full disk: nothing is acknowledged that is not kept, the server stays, and goes on by itself."""
import os
import signal
import subprocess

import pytest
import requests
from harness import PATIENCE, wait_until
from written import MIB, check_marks, lines, write


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 24 MB of its own."""
    where = str(tmp_path / "disk")
    os.mkdir(where)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", where], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield where
    subprocess.run(["umount", "-l", where], check=True)


def fill(path):
    with open(path, "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(65536))
        except OSError:
            pass


def submit(cluster, word, key=None):
    """Every submit has its answer, disk or no disk."""
    return requests.post(cluster.url + "/v1/tasks", json={"command": ["echo", word]}, timeout=PATIENCE,
                         headers={**cluster.auth, **({"Idempotency-Key": key} if key else {})})


def test_full_disk_is_refused_then_survived(cluster, small_disk):
    server = cluster.start_server("--store", f"sqlite:{small_disk}/reeve.db")
    kept = submit(cluster, "hi").json()["id"]
    fill(f"{small_disk}/ballast")
    answers = {}

    def full():
        key = f"key-{len(answers)}"
        answers[key] = submit(cluster, key + "x" * 500_000, key)
        return answers[key].status_code == 503

    wait_until(full, what="the store is full")
    assert "the store refuses writes" in server.log()
    met_it = list(answers.values())[-1].json()
    assert "will be known later" in met_it["detail"] and "Idempotency-Key" in met_it["hint"], met_it
    refused = submit(cluster, "hi")
    assert refused.status_code == 503 and "disk full" in refused.json()["hint"]
    assert server.running
    assert cluster.task(kept)["state"] == "queued", "what is kept can be read meanwhile"
    status = cluster.get("/v1/status")
    assert status["ready"] is False and status["not_ready"], status
    assert "not ready yet" in cluster.cli("status").out and "it is not ready" in cluster.cli("doctor", check=False).out
    os.unlink(f"{small_disk}/ballast")
    wait_until(lambda: "the store takes writes again" in server.log(), what="the store goes on")
    assert cluster.get("/v1/status")["not_ready"] is None
    again = {key: submit(cluster, key + "x" * 500_000, key) for key in answers}
    assert {a.status_code for a in again.values()} == {201}
    ids = [a.json()["id"] for a in again.values()]
    assert len(set(ids)) == len(ids)
    acknowledged = {key: a.json()["id"] for key, a in answers.items() if a.status_code == 201}
    assert {key: again[key].json()["id"] for key in acknowledged} == acknowledged, "answered as the first time"
    assert sorted(t["id"] for t in cluster.all_tasks()) == sorted([kept, *ids]), "each once, and no other"


class Deaf:
    """A server that is stopped, and a worker whose disk is full: output can go nowhere."""

    def __init__(self, cluster, disk):
        self.cluster = cluster
        cluster.start_server()
        os.mkdir(cluster.state_dir("w1"), 0o700)
        subprocess.run(["mount", "--bind", disk, cluster.state_dir("w1")], check=True)
        self.worker = cluster.start_worker()
        fill(f"{disk}/ballast")

    def stop(self):
        self.cluster.server.signal(signal.SIGSTOP)

    def go_on(self):
        self.cluster.server.signal(signal.SIGCONT)


@pytest.fixture
def deaf(cluster, small_disk):
    yield Deaf(cluster, small_disk)
    subprocess.run(["umount", "-l", cluster.state_dir("w1")], check=True)


def test_a_full_disk_of_a_worker_loses_no_end(deaf):
    """What finds no room is dropped with a mark that says how much; the end arrives, and the next task runs."""
    wanted = lines(6 * MIB)
    task, done = write(deaf, len(wanted), "drop", "16M")
    wait_until(lambda: os.path.exists(done), what="it was not held up")
    deaf.go_on()
    ended = deaf.cluster.wait_ended(task)
    assert (ended["state"], ended["exit_code"]) == ("succeeded", 0), ended
    log = deaf.cluster.call("GET", f"/v1/tasks/{task}/logs").content
    assert check_marks(log, wanted) > 3 * MIB, "what the window held was kept"
    assert ended["stdout_bytes"] == len(log)
    assert deaf.cluster.wait_ended(deaf.cluster.submit("echo", "next")["id"])["stdout"] == "next\n"
    assert deaf.worker.running
