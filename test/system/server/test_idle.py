# SPDX-License-Identifier: Apache-2.0
"""Nothing to do costs nothing: no polling, no growing, however many watch."""
import os
import time

from client import Api

SECONDS = 3


def cpu_seconds(pid):
    """Of the process and all that it started."""
    total, ticks = 0, os.sysconf("SC_CLK_TCK")
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(entry) == pid or int(fields[3]) == pid:  # its session
            total += int(fields[11]) + int(fields[12])
    return total / ticks


def test_idle_server_and_worker_sleep(dev):
    api = Api(dev)
    api.queue("paused")
    api.post("/v1/queues/paused/pause")
    api.submit_many([{"command": ["true"], "queue": "paused"}] * 100)
    api.ended(api.submit()["id"])
    streams = [api.stream() for _ in range(20)]
    size = os.path.getsize(os.path.join(dev.state_dir(), "reeve.db"))
    before = cpu_seconds(dev.server.pid)
    time.sleep(SECONDS)
    used = cpu_seconds(dev.server.pid) - before
    assert used < 0.05 * SECONDS, f"{used:g} s of work in {SECONDS} idle seconds"
    assert os.path.getsize(os.path.join(dev.state_dir(), "reeve.db")) == size
    for stream in streams:
        assert not stream.ended
        stream.close()


def test_memory_does_not_grow_with_requests(cluster):
    """Hundreds of answered questions leave nothing behind. (The sanitizer may keep 4 MB of freed memory.)"""
    server = cluster
    server.start_server(env={"ASAN_OPTIONS": "quarantine_size_mb=4:thread_local_quarantine_size_kb=64"})
    api = Api(server)

    def ask(rounds):
        for n in range(rounds):
            api.get("/v1/tasks?limit=10")
            api.refused("POST", "/v1/tasks", 400, "invalid", json={"command": ["x" * 50_000], "x": 1})
            api.refused("GET", f"/v1/queues/none{n}", 404, "not-found")
        return server.server.rss_kb()

    first = ask(200)
    assert ask(500) - first < 12_000, "500 forgotten bodies would be 25 MB"
