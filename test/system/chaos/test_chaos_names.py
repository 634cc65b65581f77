# SPDX-License-Identifier: Apache-2.0
"""Two workers with one name: never both, and never at the cost of what the first one runs."""
import os
import signal

import chaos
from chaos import LONG, SHORT, task_processes, wait_worker
from harness import wait_until
from records import Records


def second(cluster, state_dir, *args):
    """Another process that calls itself w1."""
    return cluster._process("second", ["worker", "--join", cluster.link, "--name", "w1", "--state-dir",
                                       cluster.state_dir(state_dir), *args], cluster.join)


def busy(cluster, env=None):
    cluster.start_server(env=env)
    w1 = cluster.start_worker(name="w1")
    records = Records(cluster)
    task = cluster.submit(*records.command(LONG))["id"]
    records.wait_begun(1)
    wait_worker(cluster, "w1", "healthy")
    return w1, records, task


def undisturbed(cluster, w1, records, task, instance):
    w = wait_worker(cluster, "w1", "healthy")
    assert w["instance"] == instance and w1.running
    assert cluster.get(f"/v1/tasks/{task}")["state"] == "running" and len(records.begun()) == 1
    assert task_processes({task})
    cluster.cli("cancel", task)
    assert cluster.wait_ended(task)["state"] == "cancelled"


def test_another_state_directory_is_told_to_die(cluster):
    w1, records, task = busy(cluster)
    instance = chaos.worker(cluster, "w1")["instance"]
    other = second(cluster, "elsewhere")
    wait_until(lambda: not other.running, what="the second one leaves")
    assert other.child.returncode == 1 and "w1" in other.log()
    assert "leaving" in other.log() and "dialling again" not in other.log()
    undisturbed(cluster, w1, records, task, instance)


def test_the_same_state_directory_is_locked(cluster):
    w1, records, task = busy(cluster)
    instance = chaos.worker(cluster, "w1")["instance"]
    other = second(cluster, "w1")
    wait_until(lambda: not other.running, what="the second one leaves")
    assert other.child.returncode != 0 and "state directory" in other.log()
    undisturbed(cluster, w1, records, task, instance)


def test_the_lock_is_held_by_a_stopped_worker(cluster):
    w1, records, task = busy(cluster)
    instance = chaos.worker(cluster, "w1")["instance"]
    w1.signal(signal.SIGSTOP)
    other = second(cluster, "w1")
    wait_until(lambda: not other.running, what="the second one leaves")
    w1.signal(signal.SIGCONT)
    assert other.child.returncode != 0
    undisturbed(cluster, w1, records, task, instance)


def test_the_same_state_directory_after_a_crash_takes_over(cluster):
    w1, records, task = busy(cluster)
    instance = chaos.worker(cluster, "w1")["instance"]
    w1.kill9()
    second(cluster, "w1")
    assert cluster.wait_ended(task)["state"] == "orphaned"
    assert task_processes({task}) == []
    assert wait_worker(cluster, "w1", "healthy")["instance"] != instance
    assert len(records.begun()) == 1


def test_a_lost_workers_name_is_free(cluster):
    """And the lost one, when it comes back, is told to die; the new one stays."""
    w1, records, task = busy(cluster, env=SHORT)
    w1.signal(signal.SIGSTOP)
    wait_worker(cluster, "w1", "must_die", connected=False)
    other = second(cluster, "elsewhere")
    instance = wait_worker(cluster, "w1", "healthy")["instance"]
    w1.signal(signal.SIGCONT)
    wait_until(lambda: not w1.running, what="the lost one leaves")
    assert w1.child.returncode == 1
    assert cluster.wait_ended(task)["state"] == "orphaned"
    assert task_processes({task}) == [] and len(records.begun()) == 1
    assert other.running and wait_worker(cluster, "w1", "healthy")["instance"] == instance


def test_an_unhealthy_workers_name_can_be_bumped_if_allowed(cluster):
    patient = dict(SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="60s", REEVE_SERVER_LOST_TASK_HOLD="65s")
    w1, records, task = busy(cluster, env=dict(patient, REEVE_SERVER_ALLOW_BUMP_UNHEALTHY_WORKER="true"))
    w1.signal(signal.SIGSTOP)
    wait_worker(cluster, "w1", "unhealthy", connected=False)
    other = second(cluster, "elsewhere")
    instance = wait_worker(cluster, "w1", "healthy")["instance"]
    w1.signal(signal.SIGCONT)
    wait_until(lambda: not w1.running, what="the displaced one leaves")
    assert task_processes({task}) == [] and len(records.begun()) == 1
    assert cluster.wait_ended(task)["state"] == "orphaned"
    assert other.running and wait_worker(cluster, "w1", "healthy")["instance"] == instance


def test_an_unhealthy_workers_name_is_its_own_otherwise(cluster):
    patient = dict(SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="60s", REEVE_SERVER_LOST_TASK_HOLD="65s")
    w1, records, task = busy(cluster, env=patient)
    instance = chaos.worker(cluster, "w1")["instance"]
    w1.signal(signal.SIGSTOP)
    wait_worker(cluster, "w1", "unhealthy", connected=False)
    other = second(cluster, "elsewhere")
    wait_until(lambda: not other.running, what="the second one leaves")
    w1.signal(signal.SIGCONT)
    assert os.path.isdir(cluster.state_dir("elsewhere"))
    undisturbed(cluster, w1, records, task, instance)
