# SPDX-License-Identifier: Apache-2.0
"""`worker.on_worker_exit: keep`: tasks outlive their worker, and the next one takes them over as if nothing had been."""
import json
import os
import shutil
import signal

import chaos
import pytest
import zoo
from chaos import Load, pause, rng  # noqa: F401 (a fixture)
from harness import ROOT, wait_until
from keepers import Watched, is_alive

NUMBERS = os.path.join(ROOT, "test", "system", "programs", "numbers.py")
PATIENT = dict(chaos.SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="30s")
ENDS = ["term", "kill"]


class Kept(Watched):
    """A worker whose tasks outlive it. Its keeper is its child only until the first of them is over."""

    def __init__(self, cluster, *args, **options):
        self.args, self.options, self.last = args, options, None
        super().__init__(cluster, self._start(cluster))

    def _start(self, cluster):
        return cluster.start_worker("--maxthreads", 8, "--kill-wait", "300ms", "--on-worker-exit", "keep", *self.args,
                                    **self.options)

    def keeper(self):
        if self.last is None or not is_alive(self.last):
            self.last = super().keeper()
        return self.last

    def leave(self, how):
        """The worker goes, and its keeper does not."""
        self.keeper()
        if how == "kill":
            self.worker.kill9()
        else:
            assert self.worker.stop() == 0

    def again(self):
        self.cluster.restart(self.worker)

    def change(self, how="kill"):
        self.leave(how)
        self.again()

    def text(self):
        with open(os.path.join(self.state_dir, "lock")):
            return self.worker.log()


@pytest.fixture
def kept(cluster):
    cluster.start_server(env=PATIENT)
    return Kept(cluster)


class Numbers:
    """A task that writes numbered lines, and what must have come of them."""

    def __init__(self, cluster, pause=0.002, lines=0, **members):
        self.cluster, self.stop_file = cluster, os.path.join(cluster.dir, f"stop{len(os.listdir(cluster.dir))}")
        while os.path.exists(self.stop_file + ".taken"):
            self.stop_file += "x"
        open(self.stop_file + ".taken", "w").close()
        self.id = cluster.submit(NUMBERS, self.stop_file, pause, lines, **members)["id"]

    def log(self, stream):
        return self.cluster.call("GET", f"/v1/tasks/{self.id}/logs", expect=200, params={"stream": stream}).content.decode()

    def pid(self):
        return int(wait_until(lambda: self.log("stdout"), what="it has written its pid").split()[0])

    def wait_more(self, lines=20):
        """Waits until the server has so many lines more."""
        before = self.log("stderr").count("\n")
        wait_until(lambda: self.log("stderr").count("\n") >= before + lines, what=f"{lines} more lines came", every=0.05)

    def wait_bytes(self, n):
        """Waits until the server has so many bytes of stdout."""
        path, params = f"/v1/tasks/{self.id}/logs", {"stream": "stdout", "offset": n}
        wait_until(lambda: self.cluster.call("GET", path, expect=200, params=params).content, what=f"{n} bytes came")

    def end(self):
        open(self.stop_file, "w").close()
        return self.check(self.cluster.wait_ended(self.id))

    def check(self, task):
        """Complete and in order, nothing twice."""
        out, err = self.log("stdout"), self.log("stderr")
        n = int(out.rpartition("out end ")[2] or -1)
        pid = out.split("\n", 1)[0]
        wanted = f"{pid}\n" + "".join(f"out {i}\n" for i in range(1, n + 1)) + f"out end {n}\n"
        assert out == wanted, different(out, wanted)
        wanted = "".join(f"err {i}\n" for i in range(1, n + 1))
        assert err == wanted, different(err, wanted)
        assert (task["state"], task["attempt"], len(task["attempts"])) == ("succeeded", 1, 1), task
        assert (task["stdout_bytes"], task["stderr_bytes"], task["stdout_dropped"]) == (len(out), len(err), 0), task
        return task


def different(a, b):
    """Where two long texts part."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at} of {len(a)} and {len(b)}: {a[max(0, at - 60):at + 60]!r} instead of {b[max(0, at - 60):at + 60]!r}"


# -- they go on

@pytest.mark.parametrize("how", ENDS)
def test_they_go_on(cluster, kept, how):
    tasks = [Numbers(cluster) for _ in range(3)]
    pids = [t.pid() for t in tasks]
    kept.leave(how)
    assert all(map(is_alive, pids))
    kept.again()
    for t in tasks:
        t.wait_more()
    assert all(map(is_alive, pids)) and [t.pid() for t in tasks] == pids
    for t in tasks:
        t.end()
    assert "took over 3 tasks" in kept.worker.log()
    kept.quiet()


def test_taken_over_five_times_with_the_server_killed_in_between(cluster, kept):
    t = Numbers(cluster)
    pid = t.pid()
    for i in range(5):
        t.wait_more()
        kept.leave(ENDS[i % 2])
        if i % 2:
            cluster.server.kill9()
            cluster.restart()
        kept.again()
        assert is_alive(pid)
    t.wait_more()
    assert t.end()["started"] == cluster.get(f"/v1/tasks/{t.id}")["started"]
    kept.quiet()


@pytest.mark.parametrize("spool", ["8K", "1M"])
def test_more_output_than_the_spool_holds(cluster, kept, spool):
    """What the server has may be given back; what it does not have yet may not, though the worker had taken it."""
    t = Numbers(cluster, pause=0, lines=300000, run={"output": {"spool": spool}})
    for i in range(1, 4):
        t.wait_bytes(i * 700000)
        kept.change()
    t.check(cluster.wait_ended(t.id, timeout=90))
    kept.quiet()


def test_load_with_the_worker_killed_again_and_again(cluster, rng):
    """Each outcome is certain, as if the worker had lived all the time."""
    cluster.start_server(env=PATIENT)
    cluster.create_queue(chaos.QUEUE, threads=6)
    kept = Kept(cluster)
    load = Load(cluster, rng).begin()
    for i in range(int(os.environ.get("REEVE_KEEP_ROUNDS", "12"))):
        load.wait_more()
        pause(rng, 0, 0.2)
        kept.leave(rng.choice(ENDS))
        pause(rng, 0, 0.2)
        if rng.random() < 0.3:
            cluster.server.kill9()
            cluster.restart()
        kept.again()
    chaos.judge(cluster, load, certain=True)
    kept.quiet()
    kept.worker.signal(signal.SIGQUIT)
    assert kept.worker.child.wait(30) == 0
    kept.wait_gone()
