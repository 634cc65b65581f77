# SPDX-License-Identifier: Apache-2.0
"""A worker behind the filters of its systemd unit: everything works but what the unit says it forbids."""
import os

import pytest
import zoo
from harness import wait_until
from keepers import LIMITS, Watched
from running import CAN_CONFINE, confined, needs_root

pytestmark = pytest.mark.skipif(not CAN_CONFINE, reason="the filter is not written for this machine")


def start(cluster, *args):
    return Watched(cluster, cluster.start_worker("--kill-wait", "200ms", *args, binary=confined(cluster)))


def ended(cluster, *command, **members):
    return cluster.wait_ended(cluster.submit(*command, **members)["id"])


def test_tasks_start_and_are_ended(cluster, tmp_path):
    cluster.start_server()
    watched = start(cluster)
    filters = [line for line in open(f"/proc/{watched.keeper()}/status") if line.startswith(("Seccomp:", "NoNewPrivs:"))]
    assert [line.split()[1] for line in filters] == ["1", "2"], "the keeper is behind the filter, too"
    assert ended(cluster, "echo", "x")["stdout"] == "x\n"
    mark = f"MARK={tmp_path}"
    task = cluster.submit("sh", "-c", "(setsid sh -c 'sleep 1000' &) ; echo ready; sleep 1000", env={"MARK": str(tmp_path)})["id"]
    wait_until(lambda: len(zoo.processes(mark)) >= 3, what="it has children")
    cluster.cli("cancel", task)
    assert cluster.wait_ended(task)["state"] == "cancelled"
    wait_until(lambda: not zoo.processes(mark), what="nothing is left of it")
    watched.quiet()


@needs_root
def test_limits_and_users_are_as_ever(cluster):
    os.chmod(cluster.dir, 0o755)
    cluster.start_server()
    start(cluster, "--run-as", "daemon")
    assert ended(cluster, "id", "-un", run={"user": "daemon", "limits": LIMITS})["stdout"] == "daemon\n"
    task = ended(cluster, "/usr/bin/python3", "-c", "x = b'x' * (200 << 20)", run={"limits": {"memory": "64M"}})
    assert task["state"] == "failed" and task["exit_code"] != 0, task


def test_a_sandbox_is_refused_with_the_reason(cluster):
    """The unit's drop-in sandbox.conf allows what it needs."""
    cluster.start_server()
    start(cluster)
    task = ended(cluster, "true", run={"sandbox": True})
    assert task["state"] == "failed" and task["exit_code"] == 126 and "sandbox" in task["reason"], task
    assert ended(cluster, "true")["state"] == "succeeded"


def test_the_filter_forbids_what_the_unit_does(cluster):
    cluster.start_server()
    start(cluster)
    for words in (["unshare", "-U", "true"], ["unshare", "-m", "true"], ["mount", "-t", "tmpfs", "none", cluster.dir]):
        assert ended(cluster, *words)["state"] == "failed", words
