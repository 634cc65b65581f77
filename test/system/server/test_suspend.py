# SPDX-License-Identifier: Apache-2.0
"""Ctrl-Z and fg: `reeve dev`, its worker and its tasks stand still together, and go on together."""
import os
import signal
import subprocess

from client import Api
from harness import wait_until


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rpartition(")")[2].split()[0]


def size(path):
    return os.path.getsize(path) if os.path.exists(path) else 0


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
        return [int(word) for word in f.read().split()]


def test_tasks_stand_still_with_their_terminal(dev, tmp_path):
    api, out = Api(dev), tmp_path / "ticks"
    # It ends by itself once told to: nothing depends on how long the test takes.
    task = api.submit("sh", "-c", f"while [ ! -e {tmp_path}/enough ]; do echo tick >> {out}; sleep 0.01; done")["id"]
    wait_until(lambda: size(out) > 50, what="the task ticks")
    worker = children(dev.server.pid)[0]
    os.kill(dev.server.pid, signal.SIGTSTP)
    wait_until(lambda: state_of(dev.server.pid) == "T" and state_of(worker) == "T", what="both have stopped")
    still, other = size(out), tmp_path / "other"
    free = subprocess.Popen(["sh", "-c", f"while :; do echo tick >> {other}; sleep 0.01; done"])
    try:  # as long as it takes somebody else to tick thirty times, this one does not
        wait_until(lambda: size(other) >= 150, what="others go on")
    finally:
        free.kill()
        free.wait()
    assert size(out) == still
    os.kill(dev.server.pid, signal.SIGCONT)
    wait_until(lambda: size(out) > still + 50, what="the task goes on")
    assert state_of(worker) != "T"
    (tmp_path / "enough").touch()
    assert api.ended(task)["state"] == "succeeded"
