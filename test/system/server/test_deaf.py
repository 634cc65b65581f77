# SPDX-License-Identifier: Apache-2.0
"""Clients that ask and do not read: a thousand of a kind cost a bounded amount of memory, and nobody else anything."""
import os
import re
import resource
import signal
import socket
import subprocess
import sys

import harness
import pytest
from client import Api, Canary
from harness import wait_until

RELEASE = os.environ.get("REEVE_RELEASE_BIN")
pytestmark = pytest.mark.skipif(not RELEASE, reason="REEVE_RELEASE_BIN is not set: a sanitizer's memory says nothing")

CLIENTS = 1000
COST_KB = 64 * 1024
# Of processor time, between two polls. Others are promised 50 ms; on a busy machine the clock on the wall says nothing.
STEP_SECONDS = 0.030


@pytest.fixture
def api(cluster):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CLIENTS + 500
    assert hard >= wanted, "the hard limit of open files must allow this test"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    cluster.binary = RELEASE
    cluster.start_dev()
    yield Api(cluster)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def deaf(cluster, target, accept="*/*", times=1):
    """Asks, and never reads. By the unix socket, for which the kernel keeps little itself."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(harness.PATIENCE)
    sock.connect(cluster.socket)
    sock.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\n\r\n" % (target.encode(), accept.encode()) * times)
    return sock


class Probe:
    """Measures what somebody else waits for, in a process of its own; it must get all its answers."""

    def __init__(self, cluster):
        self.args = [sys.executable, os.path.join(harness.ROOT, "test", "system", "support", "probe.py"), cluster.socket]

    def __enter__(self):
        self.process = subprocess.Popen(self.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, kind, value, trace):
        self.said, _ = self.process.communicate("", timeout=harness.PATIENCE)
        self.said = self.said.strip()
        assert kind or self.process.returncode == 0


def figure(api, name):
    return float(re.search(rf"(?m)^{name} (\S+)$", api.ask("GET", "/metrics").text)[1])


def steady(read):
    """Once the value no longer changes: all that was asked for has been dealt with."""
    seen = []

    def look():
        seen.append(read())
        return len(seen) > 5 and len(set(seen[-5:])) == 1
    wait_until(look, 120, "nothing changes any more", every=0.2)
    return seen[-1]


def cost_of(api, cluster, open_all, stir=lambda: None):
    """Most that the server's memory grew by, in KiB, while the clients came and did not read. What its readers cache
    for whoever does read is there before."""
    steady(lambda: figure(api, "reeve_http_output_bytes"))
    before = cluster.server.rss_kb()
    cluster.server.reset_peak()
    socks = []
    try:
        with Canary(api), Probe(cluster) as probe:
            open_all(socks)
            stir()
            steady(lambda: (figure(api, "reeve_http_output_bytes"), figure(api, "reeve_http_cut_off_total")))
            held = figure(api, "reeve_http_output_bytes")
            peak = cluster.server.rss_kb("VmHWM")
        print(f"{len(socks)} clients: {before} -> {peak} KiB (now {cluster.server.rss_kb()}), {held:.0f} bytes held, "
              f"{figure(api, 'reeve_http_cut_off_total'):.0f} cut off, "
              f"longest step {figure(api, 'reeve_loop_longest_step_seconds') * 1000:.1f} ms")
        print(f"another client waits (p50, p99, most, in ms): {probe.said}")
        assert held <= 17 << 20
        assert figure(api, "reeve_loop_longest_step_seconds") < STEP_SECONDS
        return peak - before
    finally:
        for sock in socks:
            sock.close()


def read_all(api):
    cursor = ""
    while cursor is not None:
        page = api.get("/v1/tasks?limit=1000&full=true&order=asc" + (f"&cursor={cursor}" if cursor else ""))
        cursor = page["next"]


def test_lists_that_nobody_reads(api, cluster):
    for _ in range(60):
        api.submit("x" * 1_000_000, status=-10)
    for _ in range(3):
        read_all(api)

    def open_all(socks):
        for _ in range(CLIENTS):
            socks.append(deaf(cluster, "/v1/tasks?limit=1000&full=true&order=asc"))
    assert cost_of(api, cluster, open_all) < COST_KB
    assert len(api.get("/v1/tasks?limit=1")["items"]) == 1


def test_events_that_nobody_reads(api, cluster):
    api.queue("q")
    many = api.submit_many([{"command": ["true"], "queue": "q", "status": -10}] * 4000)

    def open_all(socks):
        for _ in range(CLIENTS):
            socks.append(deaf(cluster, "/v1/events", "text/event-stream"))
        wait_until(lambda: figure(api, "reeve_http_connections") >= CLIENTS, what="all are there")

    def stir():
        for action in ("release", "hold") * 2:
            api.post(f"/v1/tasks/actions/{action}", {"filter": {"batch": many["batch"]}}, timeout=120)
    assert cost_of(api, cluster, open_all, stir) < COST_KB


def test_logs_that_nobody_reads(api, cluster):
    task = api.submit("sh", "-c", "head -c 30000000 /dev/zero | tr '\\0' x")["id"]
    assert api.ended(task)["state"] == "succeeded"

    def open_all(socks):
        for n in range(CLIENTS):
            socks.append(deaf(cluster, f"/v1/tasks/{task}/logs" + "?follow=true" * (n % 2)))
    assert cost_of(api, cluster, open_all) < COST_KB
    assert len(api.ask("GET", f"/v1/tasks/{task}/logs", timeout=120).content) == 30_000_000


@pytest.mark.parametrize("times", [1, 30])
@pytest.mark.parametrize("target", ["/openapi.json", "/metrics"])
def test_documents_that_nobody_reads(api, cluster, target, times):
    """All of them ask before the server looks: what is answered at once has its share of a turn, too."""
    def open_all(socks):
        os.kill(cluster.server.pid, signal.SIGSTOP)
        try:
            for _ in range(CLIENTS):
                socks.append(deaf(cluster, target, times=times))
        finally:
            os.kill(cluster.server.pid, signal.SIGCONT)
    assert cost_of(api, cluster, open_all) < COST_KB


def test_many_that_leave_at_once(api, cluster):
    """The step that is told of is one: several polls do not count as one that took as long as all."""
    socks = [deaf(cluster, "/v1/nothing", times=500) for _ in range(CLIENTS)]
    wait_until(lambda: figure(api, "reeve_http_connections") >= CLIENTS, what="all are there")
    steady(lambda: figure(api, "reeve_http_output_bytes"))
    for sock in socks:
        sock.close()
    wait_until(lambda: figure(api, "reeve_http_connections") < 10, what="all are gone")
    print(f"longest step {figure(api, 'reeve_loop_longest_step_seconds') * 1000:.1f} ms")
    assert figure(api, "reeve_loop_longest_step_seconds") < STEP_SECONDS


def test_pages_are_bounded_in_bytes(api):
    """A page ends early, says where to go on, and nothing is left out or comes twice."""
    ids = [api.submit("x" * 200_000, status=-10)["id"] for _ in range(10)]
    ids += [api.submit("y", status=-10)["id"] for _ in range(40)]
    seen, cursor, sizes = [], None, []
    for _ in range(60):
        answer = api.ask("GET", "/v1/tasks?full=true&order=asc&limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        sizes.append(len(answer.content))
        page = answer.json()
        seen += [t["id"] for t in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == ids
    assert max(sizes) < 1 << 20 and len(sizes) >= 4
