# SPDX-License-Identifier: Apache-2.0
"""`reeve dev`: what it hands on to its worker."""
from harness import wait_until


def test_flags_for_the_worker_reach_it(cluster):
    cluster.start_dev("--name", "alder", "--maxthreads", "3", "--label", "disk=nvme", "--zone", "z1",
                      "--activequeues", "a,default", "--kill-wait", "2s")
    cluster.cli("run", "--", "true")
    worker = cluster.json("worker", "show", "alder")
    assert worker["maxthreads"] == 3
    assert worker["labels"] == {"disk": "nvme"}
    assert worker["zone"] == "z1"
    assert worker["activequeues"] == ["a", "default"]


def test_commands_can_be_forbidden(cluster):
    cluster.start_dev("--no-allow-commands", "--name", "alder")
    wait_until(lambda: cluster.has_worker("alder"), what="the worker joined")
    assert "command" not in cluster.json("worker", "show", "alder")["plugins"]


def test_a_task_may_use_the_command_line(dev):
    """What a task is told about itself does not stand in for the command line's own settings."""
    result = dev.cli("run", "--", "sh", "-c", "echo $REEVE_TASK_TOKEN ${REEVE_TOKEN-none} ${REEVE_SERVER-none}")
    assert result.out.split() == ["1", "none", "none"]
