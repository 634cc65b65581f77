# SPDX-License-Identifier: Apache-2.0
"""A server that is out of descriptors: who is connected is served, the loop does not spin, and it recovers."""
import os
import re
import resource
import socket
import time

import requests
from client import Api
from harness import wait_until

ROOM = 40


def steps(api):
    return int(re.search(r"(?m)^reeve_loop_steps_total (\d+)$", api.ask("GET", "/metrics").text)[1])


def fill(api, cluster):
    """Connections until the server can accept no more; those beyond wait in the kernel."""
    used = len(os.listdir(f"/proc/{cluster.server.pid}/fd"))
    resource.prlimit(cluster.server.pid, resource.RLIMIT_NOFILE, (used + ROOM, used + ROOM))
    socks = [socket.create_connection(api.address, 60) for _ in range(ROOM * 3)]
    wait_until(lambda: "cannot accept" in cluster.server.log(), what="it has no descriptors left")
    return socks


def test_out_of_descriptors(server):
    api = Api(server)
    task = api.submit("true", status=-10)["id"]
    steps(api)  # this connection stays open
    socks = fill(api, server)
    try:
        begun, before = time.monotonic(), steps(api)
        asked = 0
        while time.monotonic() - begun < 3:
            assert api.task(task)["id"] == task
            asked += 1
            time.sleep(0.1)
        spent = time.monotonic() - begun
        # each request is a few turns, and looking again for room once a second is one or two
        assert steps(api) - before < 50 * (asked + spent + 1), "the loop spins"
        assert server.server.log().count("cannot accept") < 10 * (spent + 30)
        api.submit("true", status=-10)
    finally:
        for sock in socks:
            sock.close()

    def served():
        try:
            return requests.get(api.url + "/healthz", timeout=5).status_code == 200
        except requests.RequestException:
            return False
    wait_until(served, what="new clients are served again")
    assert api.task(task)["id"] == task
