# SPDX-License-Identifier: Apache-2.0
"""Hostile programs through a real server and worker: however they end, nothing of them is left."""
import itertools
import os
import shutil
import stat
import tempfile

import harness
import pytest
import zoo
from harness import wait_until
from running import CAN_CONFINE, as_nobody, confined

BEASTS = zoo.names()
KINDS = ["cgroups", "bare"] + ["confined"] * CAN_CONFINE
STAY = [b for b in BEASTS if b != "exits_at_once"]
# What the main process says when it ends by itself; 0 for all others.
EXITS = {"exits_at_once": 7, "dies_while_killed": 128 + 11, "eats_memory": 128 + 6}


class Cage:
    """A server and a worker; remembers how the worker looked before anything ran in it. bare: one without rights, and so
    without cgroups. Then its keeper is the parent of whoever lost his, and knows them by that. confined: behind the
    filters of its systemd unit."""

    def __init__(self, kind):
        bare = kind == "bare"
        self.bin = tempfile.mkdtemp(prefix="reeve-zoo-")
        zoo.build(self.bin)
        self.cluster = harness.Cluster()
        self.cluster.start_server()
        words = ("--kill-wait", "300ms", "--maxthreads", "4")
        if bare:
            os.chmod(self.bin, 0o755)
            self.worker = as_nobody(self.cluster, *words, name="keeper")
        else:
            program = confined(self.cluster) if kind == "confined" else None
            self.worker = self.cluster.start_worker(*words, name="keeper", binary=program)
        self.place = os.path.join(self.cluster.dir, "ready")
        os.mkdir(self.place)
        os.chmod(self.place, 0o777)
        self.numbers = itertools.count()
        self.cgroups, self.bare = set(), bare
        self.cluster.cli("cancel", self.let_out("ignores_term"))
        self.note()

    def note(self):
        """How it looks when nothing runs, once everything that is made once was made."""
        self.cluster.wait_ended(self.cluster.submit(self.path("exits_at_once"), self.new_file())["id"])
        self.settle()
        assert bool(self.cgroups) != self.bare, self.cgroups
        self.descriptors = zoo.descriptors(self.worker.pid)
        self.files = zoo.files_below(self.state_dir)

    @property
    def state_dir(self):
        return self.cluster.state_dir("keeper")

    def path(self, beast):
        return os.path.join(self.bin, beast)

    def new_file(self):
        return os.path.join(self.place, str(next(self.numbers)))

    def let_out(self, beast, *words, **members):
        """Starts it and returns its task when it is at its worst."""
        ready = self.new_file()
        task = self.cluster.submit(self.path(beast), ready, *words, env={"ZOO": self.bin}, **members)["id"]
        wait_until(lambda: os.path.exists(ready), what=f"{beast} is ready")
        seen = self.beasts()
        assert seen or words, f"{beast} runs, and is not found: nothing below would mean anything"
        for pid in seen:
            self.cgroups |= zoo.cgroups_of(pid)
        return task

    def beasts(self):
        """By program, words or environment; one of these is hard to hide."""
        return zoo.processes(self.bin, self.place)

    def settle(self):
        wait_until(lambda: not self.beasts(), what="no process of it is left")

    def assert_clean(self):
        self.settle()
        wait_until(lambda: zoo.descriptors(self.worker.pid) <= self.descriptors,
                   what=f"the worker has no more than {self.descriptors} descriptors")
        wait_until(lambda: zoo.files_below(self.state_dir) == self.files, what="no file is left")
        assert self.worker.running

    def close(self):
        wrong = self.cluster.end()
        left = [c for c in self.cgroups if os.path.exists(c)]
        logs = self.cluster.logs()
        beasts = self.beasts()
        self.cluster.remove()
        shutil.rmtree(self.bin)
        assert not wrong and not left and not beasts, (wrong, left, beasts, logs)


@pytest.fixture(scope="module", params=KINDS if os.geteuid() == 0 else ["bare"])
def cage(request):
    cage = Cage(request.param)
    yield cage
    cage.close()


def exit_code(task):
    return 128 + task["signal"] if task.get("signal") else task["exit_code"]


@pytest.mark.parametrize("beast", BEASTS)
def test_ends_by_itself(cage, beast):
    task = cage.cluster.wait_ended(cage.let_out(beast, "end"))
    wanted = EXITS.get(beast, 0)
    assert task["state"] == ("failed" if wanted else "succeeded"), task
    assert exit_code(task) == wanted, task
    cage.assert_clean()


@pytest.mark.parametrize("beast", STAY)
def test_is_cancelled(cage, beast):
    task = cage.let_out(beast)
    cage.cluster.cli("cancel", task)
    assert cage.cluster.wait_ended(task)["state"] == "cancelled"
    assert not cage.beasts(), "a task is over only when all of it is gone"
    cage.assert_clean()


@pytest.mark.parametrize("beast", STAY)
def test_reaches_its_time_limit(cage, beast):
    task = cage.cluster.wait_ended(cage.let_out(beast, timeout="1s"))
    assert task["state"] == "terminated" and "time limit" in task["reason"], task
    assert not cage.beasts(), "a task is over only when all of it is gone"
    cage.assert_clean()


@pytest.mark.parametrize("beast", STAY)
def test_worker_is_killed(cage, beast):
    """Nothing of it lives on, with or without a next instance; and that one tells what happened."""
    task = cage.let_out(beast)
    cage.worker.kill9()
    cage.settle()
    wait_until(lambda: not zoo.processes(cage.state_dir), what="whoever ended it has left, too")
    cage.cluster.restart(cage.worker)
    assert cage.cluster.wait_ended(task)["state"] == "orphaned"
    cage.note()
    cage.assert_clean()


def test_all_at_once_and_the_worker_killed(cage):
    tasks = [cage.let_out(beast) for beast in ("ignores_term", "forks", "writes", "stops_itself")]
    cage.worker.kill9()
    cage.settle()
    cage.cluster.restart(cage.worker)
    assert {cage.cluster.wait_ended(t)["state"] for t in tasks} == {"orphaned"}
    cage.note()
    cage.assert_clean()


def test_others_are_spared(cage):
    """The end of a task is not the end of what another one has made."""
    task = cage.let_out("double_forks")
    before = set(cage.beasts())
    assert len(before) == 2
    for beast in ("runs_away", "forks", "hides"):
        cage.cluster.wait_ended(cage.let_out(beast, "end"))
    wait_until(lambda: set(cage.beasts()) == before, what="nothing is left of the others")
    cage.cluster.cli("cancel", task)
    cage.cluster.wait_ended(task)
    cage.assert_clean()


def test_worker_is_told_to_stop(cage):
    """As at a shutdown: its tasks end with it, and it ends well."""
    for beast in ("ignores_term", "forks", "stops_itself"):
        cage.let_out(beast)
    assert cage.worker.stop() == 0
    assert not cage.beasts()
    wait_until(lambda: not zoo.processes(cage.state_dir), what="nothing of the worker is left")
    cage.cluster.restart(cage.worker)
    cage.note()
    cage.assert_clean()


# -- what cannot be started

def make_plain(path, text, mode):
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def missing(directory):
    return os.path.join(directory, "missing")


def a_directory(directory):
    path = os.path.join(directory, "folder")
    os.makedirs(path, exist_ok=True)
    return path


def no_shebang(directory):
    return make_plain(os.path.join(directory, "no_shebang"), "just words\n", 0o755)


def no_interpreter(directory):
    return make_plain(os.path.join(directory, "no_interpreter"), "#!/no/such/interpreter\n", 0o755)


def not_executable(directory):
    return make_plain(os.path.join(directory, "not_executable"), "#!/bin/sh\n", stat.S_IRUSR | stat.S_IWUSR)


@pytest.mark.parametrize("make, why", [
    (missing, "No such file or directory"),
    (a_directory, "Permission denied"),
    (no_shebang, "Exec format error"),
    (no_interpreter, "No such file or directory"),
    (not_executable, "Permission denied"),
])
def test_can_not_be_started(cage, make, why):
    path = make(cage.cluster.dir)
    task = cage.cluster.wait_ended(cage.cluster.submit(path)["id"])
    assert task["state"] == "failed", task
    assert path in task["reason"] and why in task["reason"], task["reason"]
    cage.assert_clean()
