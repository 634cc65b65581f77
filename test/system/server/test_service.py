# SPDX-License-Identifier: Apache-2.0
"""As a service: what the manager is told and when, and a loop that stands still is noticed."""
import ctypes
import os
import signal
import time

import requests
from harness import wait_until
from manager import Manager, url_of

WALL = 0x40000000
SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17


def start_server(cluster, manager, watchdog_ms=None):
    return cluster._process("server", ["server", "--state-dir", cluster.state_dir(), "--listen", "127.0.0.1:0",
                                       "--link-listen", "127.0.0.1:0"], manager.env(watchdog_ms))


def test_ready_means_that_it_answers(cluster):
    manager = Manager(cluster)
    server = start_server(cluster, manager)
    said = manager.wait_for("READY", "1")
    assert requests.get(url_of(said) + "/healthz", timeout=60).status_code == 200
    server.signal(signal.SIGHUP)
    assert int(manager.wait_for("RELOADING", "1")["MONOTONIC_USEC"]) <= time.monotonic() * 1e6
    manager.wait_for("READY", "1")
    server.signal(signal.SIGTERM)
    manager.wait_for("STOPPING", "1")
    assert server.child.wait() == 0
    assert manager.next(0) is None, "that was the last word"
    assert {pid for pid, _ in manager.heard} == {server.pid}


def test_a_start_that_fails_says_why(cluster):
    manager, first = Manager(cluster), Manager(cluster, "first")
    start_server(cluster, first)
    first.wait_for("READY", "1")
    second = start_server(cluster, manager)
    assert second.child.wait() == 1
    while manager.next(0):
        pass
    assert manager.heard[-1][1]["STATUS"] in second.log()
    assert not any("READY" in said for _, said in manager.heard)


def test_only_the_server_of_dev_speaks(cluster):
    manager = Manager(cluster)
    cluster.start_dev(env=manager.env())
    assert cluster.cli("run", "--", "sh", "-c", "echo [$NOTIFY_SOCKET$WATCHDOG_USEC]").out == "[]\n"
    assert cluster.server.stop() == 0
    while manager.next(0):
        pass
    assert {pid for pid, _ in manager.heard} == {cluster.server.pid}


def test_a_worker_and_its_server(server):
    manager = Manager(server)
    worker = server.start_worker(env=manager.env())
    manager.wait_for("STATUS", "connected to " + server.link)
    assert any("READY" in said for _, said in manager.heard)
    worker.signal(signal.SIGHUP)
    manager.wait_for("RELOADING", "1")
    manager.wait_for("READY", "1")
    assert server.server.stop() == 0
    manager.wait_for("STATUS", "not connected to ")
    server.restart()
    manager.wait_for("STATUS", "connected to " + server.link)
    assert not any("STOPPING" in said for _, said in manager.heard)
    server.cli("worker", "stop", "w1")
    manager.wait_for("STOPPING", "1")
    assert worker.child.wait() == 0
    assert {pid for pid, _ in manager.heard} == {worker.pid}


def test_a_worker_does_not_wait_for_its_server(cluster):
    manager = Manager(cluster)
    worker = cluster._process("w1", ["worker", "--join", "127.0.0.1:1", "--name", "w1", "--state-dir",
                                     cluster.state_dir("w1")], {**manager.env(), "REEVE_WORKER_TOKEN": "x" * 32})
    manager.wait_for("READY", "1")
    manager.wait_for("STATUS", "not connected to 127.0.0.1:1")
    assert worker.stop() == 0
    manager.wait_for("STOPPING", "1")


def test_who_begins_again_does_not_stop(server):
    """A manager that has heard STOPPING=1 ends what does not go; this process stays."""
    manager = Manager(server)
    worker = server.start_worker(env=manager.env())
    manager.wait_for("STATUS", "connected")
    server.cli("worker", "restart", "w1")
    manager.wait_for("READY", "1")
    manager.wait_for("STATUS", "connected")
    assert worker.running and not any("STOPPING" in said for _, said in manager.heard)


def pings(manager, seconds):
    end, n = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        message = manager.next(max(end - time.monotonic(), 0.001))
        n += bool(message) and message[1].get("WATCHDOG") == "1"
    return n


def ptrace(what, pid):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    assert libc.ptrace(what, pid, None, None) == 0, os.strerror(ctypes.get_errno())


def hold_the_loop(pid):
    """Its thread alone stands still, as one that waits for ever: the others go on."""
    ptrace(SEIZE, pid)
    ptrace(INTERRUPT, pid)
    os.waitpid(pid, WALL)


def watch(process, manager):
    manager.wait_for("WATCHDOG", "1")
    manager.wait_for("WATCHDOG", "1")
    hold_the_loop(process.pid)
    while manager.next(0):
        pass
    assert pings(manager, 2) == 0
    ptrace(DETACH, process.pid)
    manager.wait_for("WATCHDOG", "1")


def test_a_server_whose_loop_stands_still_is_noticed(cluster):
    manager = Manager(cluster)
    watch(start_server(cluster, manager, watchdog_ms=500), manager)


def test_a_worker_whose_loop_stands_still_is_noticed(server):
    manager = Manager(server)
    watch(server.start_worker(env=manager.env(watchdog_ms=500)), manager)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_manager_that_does_not_read(cluster):
    manager = Manager(cluster)
    manager.fill()
    cluster.start_server(env=manager.env(watchdog_ms=200))
    before, begun = cpu_seconds(cluster.server.pid), time.monotonic()
    time.sleep(2)
    assert cpu_seconds(cluster.server.pid) - before < (time.monotonic() - begun) / 2, "it spins"
    assert cluster.server.log().count("service manager is not told") == 1
    manager.wait_for("READY", "1")  # once it reads, it hears what holds
    assert cluster.server.stop() == 0


def test_managers_that_are_none(new_cluster):
    for address in ("", "/", "@", "nowhere", "/nowhere/at/all", "/dev/null", "/" + "x" * 300):
        c = new_cluster()
        c.start_server(env={"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "soon"})
        assert c.server.stop() == 0, address


def test_a_manager_that_went_away(cluster):
    manager = Manager(cluster)
    cluster.start_server(env=manager.env(watchdog_ms=200))
    manager.wait_for("READY", "1")
    manager.sock.close()
    os.unlink(manager.path)
    wait_until(lambda: "service manager is not told" in cluster.server.log(), what="it has noticed")
    assert cluster.status()["ready"]
    assert cluster.server.stop() == 0
