# SPDX-License-Identifier: Apache-2.0
"""Output when the server cannot take it, when there is too much of it, and when the wrong ones hold the pipe."""
import hashlib
import os
import signal

import harness
import pytest
from chaos import proxies  # noqa: F401 (a fixture)
from harness import wait_until
from keepers import Watched, is_alive
from running import Runner
from written import MIB, WRITE, check_marks, lines, write


class Stopped:
    """The ways in which a server does not take what it is sent."""

    def __init__(self, cluster, proxies, how):
        self.cluster, self.how = cluster, how
        cluster.start_server()
        self.proxy = proxies(cluster.link) if how == "black hole" else None
        self.worker = cluster.start_worker(join=self.proxy.address if self.proxy else None)
        self.watched = Watched(cluster, self.worker)

    def stop(self):
        if self.proxy:
            self.proxy.black_hole(up=False, down=True)  # nothing is acknowledged
        else:
            self.cluster.server.signal(signal.SIGSTOP)

    def go_on(self):
        if self.proxy:
            self.proxy.heal()
        else:
            self.cluster.server.signal(signal.SIGCONT)


@pytest.fixture(params=["stopped", "black hole"])
def stopped(proxies, cluster, request):
    return Stopped(cluster, proxies, request.param)


def test_dropped_with_marks(stopped):
    """The task goes on, whoever listens; what the server then gets says where and how much is missing."""
    wanted = lines(6 * MIB)
    task, done = write(stopped, len(wanted), "drop", "256K")
    wait_until(lambda: os.path.exists(done), what="it was not held up")
    stopped.go_on()
    task = stopped.cluster.wait_ended(task)
    assert task["state"] == "succeeded", task
    log = stopped.cluster.call("GET", f"/v1/tasks/{task['id']}/logs").content
    gone = check_marks(log, wanted)
    assert gone > 3 * MIB, "a window and a spool were kept"
    assert log.startswith(wanted[:MIB]) and task["stdout_bytes"] == len(log), task
    stopped.watched.quiet()


def test_the_mark_comes_before_what_is_said_later(stopped):
    """The reader has caught up and the gap is not marked yet: what comes then does not overtake the mark."""
    wanted = lines(6 * MIB)
    more = os.path.join(stopped.cluster.dir, "more")
    task, done = write(stopped, len(wanted), "drop", "256K", then=f"while [ ! -e {more} ]; do sleep 0.02; done; echo later")
    wait_until(lambda: os.path.exists(done), what="it was not held up")
    stopped.go_on()
    wait_until(lambda: len(stopped.cluster.call("GET", f"/v1/tasks/{task}/logs").content) > MIB, what="it has caught up")
    open(more, "w").close()
    ended = stopped.cluster.wait_ended(task)
    log = stopped.cluster.call("GET", f"/v1/tasks/{task}/logs").content
    assert (ended["state"], ended["stdout_bytes"]) == ("succeeded", len(log)), ended
    check_marks(log, wanted + b"later\n")
    stopped.watched.quiet()


def test_a_result_beside_much_output(stopped):
    """The end and its result wait behind the output that nobody takes."""
    cluster = stopped.cluster
    result = os.path.join(cluster.dir, "result")
    ready, go = os.path.join(cluster.dir, "ready"), os.path.join(cluster.dir, "go")
    script = (f"touch {ready}; while [ ! -e {go} ]; do sleep 0.02; done; "
              + WRITE.format(bytes=3 * MIB, done=ready + "2", then=f"printf 42 > {result}"))
    task = cluster.submit("sh", "-c", script, run={"result_file": result})["id"]
    wait_until(lambda: os.path.exists(ready), what="it has begun")
    stopped.stop()
    open(go, "w").close()
    wait_until(lambda: os.path.exists(result), what="it is done")
    stopped.go_on()
    ended = cluster.wait_ended(task)
    assert (ended["state"], ended["result"], ended["stdout_bytes"]) == ("succeeded", "42", 3 * MIB), ended
    stopped.watched.quiet()


def test_slowed_and_whole(stopped):
    wanted = lines(6 * MIB)
    task, done = write(stopped, len(wanted), "slow", "256K")
    # It fills window, spool and pipe, and then waits: its files in the worker's directory do not grow any more.
    pid = wait_until(lambda: [p for p in stopped.watched.tasks() if b"python3\0-c" in cmdline(p)], what="it writes")[0]
    wait_until(lambda: waits_for_a_pipe(pid), what="it waits")
    assert not os.path.exists(done)
    stopped.go_on()
    task = stopped.cluster.wait_ended(task)
    log = stopped.cluster.call("GET", f"/v1/tasks/{task['id']}/logs").content
    assert task["state"] == "succeeded" and hashlib.sha256(log).digest() == hashlib.sha256(wanted).digest(), task
    assert (task["stdout_bytes"], task["stdout_dropped"]) == (len(wanted), 0), task
    stopped.watched.quiet()


def read(path):
    try:
        with open(path) as f:
            return f.read()
    except OSError:
        return ""


def waits_for_a_pipe(pid):
    """Where the kernel does not say what for, waiting has to do."""
    where = read(f"/proc/{pid}/wchan").strip("0")
    return "pipe" in where if where else read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0] == "S"


def cmdline(pid):
    return read(f"/proc/{pid}/cmdline").encode()


def test_cancelled_while_it_is_slowed(cluster, proxies):
    """Nobody takes its output, and it has to end all the same."""
    stopped = Stopped(cluster, proxies, "black hole")
    task, _ = write(stopped, 6 * MIB, "slow", "64K")
    wait_until(lambda: [p for p in stopped.watched.tasks() if b"python3\0-c" in cmdline(p)], what="it writes")
    stopped.worker.signal(signal.SIGTERM)
    assert stopped.worker.child.wait(harness.PATIENCE) == 0
    stopped.watched.wait_gone()
    stopped.go_on()


# -- too much of it

@pytest.mark.parametrize("mode", ["auto", "inline", "chunks"])
@pytest.mark.parametrize("exit_policy", ["kill", "keep"])
def test_a_line_of_hundreds_of_megabytes(cluster, mode, exit_policy):
    """Cut at the limit, counted to the last byte, and not piled up anywhere on the way: neither in memory nor on disk."""
    n, most = 300 * MIB, 70000
    cluster.start_server()
    worker = cluster.start_worker("--on-worker-exit", exit_policy)
    watched = Watched(cluster, worker)
    cluster.create_queue("q", output=mode, output_max=most)
    assert cluster.wait_ended(cluster.submit("true", queue="q")["id"])["state"] == "succeeded"
    worker.reset_peak()
    before = worker.rss_kb()
    task = cluster.submit("sh", "-c", f"head -c {n} /dev/zero; printf end", queue="q")["id"]
    disk = 0
    while cluster.get(f"/v1/tasks/{task}")["state"] not in ("succeeded", "failed"):
        disk = max(disk, disk_use(watched.state_dir))
    task = cluster.wait_ended(task)
    assert task["state"] == "succeeded", task
    assert (task["stdout_bytes"], task["stdout_dropped"]) == (most, n + 3 - most), task
    assert disk < 40 * MIB, f"{disk >> 20} MiB on disk"
    assert worker.rss_kb("VmHWM") - before < 64 << 10, "the worker's memory"
    watched.quiet()


def disk_use(directory):
    total = 0
    for at, _, names in os.walk(directory):
        for name in names:
            try:
                total += os.stat(os.path.join(at, name)).st_blocks * 512
            except OSError:
                pass
    return total


@pytest.fixture(scope="module")
def runner():
    r = Runner()
    yield r
    r.close()


def raw(runner, script, **members):
    task = runner.ended("sh", "-c", script, **members)
    return task, runner.cluster.call("GET", f"/v1/tasks/{task['id']}/logs").content


def test_nothing_but_nuls(runner):
    task, log = raw(runner, "head -c 3000000 /dev/zero")
    assert log == bytes(3000000) and task["stdout_bytes"] == 3000000


def test_no_newline_at_the_end(runner):
    assert raw(runner, "printf one; printf two")[1] == b"onetwo"


# -- the wrong ones hold the pipe

def test_written_before_the_main_process_ended(runner):
    """What is in the pipe is part of the output, whoever wrote it."""
    task, log = raw(runner, "(echo child; sleep 1000) & while ! pgrep -P $$ sleep >/dev/null; do sleep 0.01; done; echo main")
    assert sorted(log.split()) == [b"child", b"main"] and task["state"] == "succeeded"
    runner.watched.quiet()


def test_a_grandchild_holds_the_pipe(runner):
    """It is ended with the main process; nobody waits for what it might still have said."""
    script = "(trap '' TERM HUP; setsid sh -c 'sleep 1000; echo late' &) ; echo early"
    task, log = raw(runner, script)
    assert log == b"early\n" and task["state"] == "succeeded", task
    runner.watched.quiet()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can leave its cgroup")
def test_somebody_who_escaped_does_not_hold_the_pipe(runner, tmp_path):
    """It left the task's cgroup and session, which only root can, and is ended with the task all the same."""
    pid = tmp_path / "pid"
    top = runner.watched.cgroups()[0]
    procs = next(os.path.join(os.path.dirname(c), "cgroup.procs") for c in runner.watched.cgroups() if "unified" in c) \
        if any("unified" in c for c in runner.watched.cgroups()) else os.path.join(os.path.dirname(top), "cgroup.procs")
    script = f"setsid sh -c 'echo $$ > {procs}; echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000' & " \
             f"while [ ! -e {pid} ]; do sleep 0.01; done; echo early"
    task, log = raw(runner, script)
    assert log == b"early\n" and task["state"] == "succeeded", task
    assert not is_alive(int(pid.read_text()))
    runner.watched.quiet()
