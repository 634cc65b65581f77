# SPDX-License-Identifier: Apache-2.0
"""One server and one worker, and short ways to run something there."""
import os
import platform
import shutil
import sys

import harness
import pytest
from harness import wait_until
from keepers import Watched

CONFINE = os.path.join(harness.PROGRAMS, "confine.py")
CAN_CONFINE = platform.machine() == "x86_64"  # which the filter is written for
NOBODY = 54322  # a user that nobody has
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change the user")
needs_bwrap = pytest.mark.skipif(not shutil.which("bwrap"), reason="there is no bubblewrap")


def as_nobody(cluster, *args, name="w1", **options):
    """A worker without any rights, and so without cgroups, in places that it may use."""
    os.chmod(cluster.dir, 0o711)
    program = os.path.join(cluster.dir, "reeve")
    if not os.path.exists(program):
        shutil.copy(cluster.server.binary, program)
        os.chmod(program, 0o755)
    user = {}
    if os.geteuid() == 0:
        os.makedirs(cluster.state_dir(name), exist_ok=True)
        os.chown(cluster.state_dir(name), NOBODY, NOBODY)
        user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    return cluster.start_worker(*args, name=name, as_user=user, binary=program, **options)


def confined(cluster):
    """The cluster's program behind the filters of the worker's systemd unit, as a program of its own."""
    program = os.path.join(cluster.dir, "confined")
    with open(program, "w") as f:
        f.write(f'#!/bin/sh\nexec {sys.executable} {CONFINE} {cluster.server.binary} "$@"\n')
    os.chmod(program, 0o755)
    return program


class Runner:
    """Lives as long as a file's tests."""

    def __init__(self, *args, env=None):
        self.cluster = harness.Cluster()
        self.cluster.start_server(env=env or {})
        os.chmod(self.cluster.dir, 0o755)
        args = args if os.geteuid() == 0 else ()
        worker = self.cluster.start_worker("--maxthreads", 8, "--kill-wait", "300ms", *args)
        self.watched = Watched(self.cluster, worker)
        self.watched.keeper()

    def needs_limits(self):
        if os.geteuid() != 0:
            pytest.skip("the worker may not make cgroups here")

    def ended(self, *command, **members):
        return self.cluster.wait_ended(self.cluster.submit(*command, **members)["id"])

    def says(self, script, ok=True, **members):
        """The lines that a shell script writes."""
        task = self.ended("sh", "-c", script, **members)
        assert not ok or task["state"] == "succeeded", task
        return (task["stdout"] or "").splitlines()

    def ready(self, script, **members):
        """A script that has said "ready"."""
        task = self.cluster.submit("sh", "-c", script, **members)["id"]
        wait_until(lambda: "ready" in self.log(task), what="it is ready")
        return task

    def log(self, task):
        return self.cluster.call("GET", f"/v1/tasks/{task}/logs").text

    def pid_of(self, task):
        """The leader's: the oldest of those that bear its number."""
        found = [p for p in self.watched.tasks() if f"REEVE_TASK_ID={task}".encode() in environ(p)]
        return min(found, key=started)

    def cancel(self, task):
        self.cluster.cli("cancel", task)
        task = self.cluster.wait_ended(task)
        assert task["state"] == "cancelled", task
        return task

    def writable(self, name, owner=None):
        """A directory that is not below /tmp, as a sandbox has another one of that."""
        path = os.path.join(self.home(), name)
        os.makedirs(path)
        if owner and os.geteuid() == 0:
            shutil.chown(path, owner)
        return path

    def home(self):
        path = os.path.join("/var/lib" if os.access("/var/lib", os.W_OK) else os.path.expanduser("~"),
                            "reeve-test-" + os.path.basename(self.cluster.dir))
        os.makedirs(path, exist_ok=True)
        return path

    def close(self):
        wrong = self.cluster.end()
        logs = self.cluster.logs()
        shutil.rmtree(self.home())
        self.watched.wait_gone()
        self.cluster.remove()
        assert not wrong, (wrong, logs)


def environ(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as f:
            return f.read()
    except OSError:
        return b""


def started(pid):
    """When, in the kernel's ticks; who has gone meanwhile is younger than anybody."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rpartition(")")[2].split()[19])
    except OSError:
        return float("inf")
