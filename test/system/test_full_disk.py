# SPDX-License-Identifier: Apache-2.0
"""A full disk: nothing is acknowledged that is not kept, the server stays, and goes on by itself."""
import os
import subprocess

import pytest
import requests
from harness import wait_until


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


def submit(cluster, word, seconds=2):
    """The answer to a submit, or None: one that is caught in the full batch waits with it."""
    try:
        return requests.post(cluster.url + "/v1/tasks", json={"command": ["echo", word]}, timeout=seconds)
    except requests.Timeout:
        return None


def test_full_disk_is_refused_then_survived(cluster, small_disk):
    server = cluster.start_server("--store", f"sqlite:{small_disk}/reeve.db")
    kept = submit(cluster, "hi").json()["id"]
    fill(f"{small_disk}/ballast")

    def full():
        submit(cluster, "x" * 500_000)
        return "the store refuses writes" in server.log()

    wait_until(full, what="the store is full")
    refused = submit(cluster, "hi")
    assert refused.status_code == 503 and "disk full" in refused.json()["hint"]
    assert server.running
    assert cluster.task(kept)["state"] == "queued", "what is kept can be read meanwhile"
    os.unlink(f"{small_disk}/ballast")
    wait_until(lambda: "the store takes writes again" in server.log(), what="the store goes on")
    assert submit(cluster, "hi", 30).status_code == 201
