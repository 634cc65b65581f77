# SPDX-License-Identifier: Apache-2.0
"""A worker whose link answers but which cannot start processes any more: it is found out, spared, and taken back."""
import os
import shutil
import subprocess

import chaos
import pytest
from chaos import SHORT, wait_worker
from harness import wait_until
from records import Records

UID = 54321  # nobody's: the limit of processes counts all of a user's
# It must not be lost while the test looks at it.
PATIENT = dict(SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="120s", REEVE_SERVER_LOST_TASK_HOLD="125s")


def as_user():
    return {"user": UID, "group": UID, "extra_groups": []} if os.geteuid() == 0 else {}


def limit_processes(pid, soft):
    """From outside, as the same user; root is never limited, so the worker must not be root.
    It is the worker's keeper, its only child, that starts the processes."""
    keeper = subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    assert len(keeper) == 1
    subprocess.run(["prlimit", "--pid", keeper[0], f"--nproc={soft}:"], check=True, **as_user())


def start_sick(cluster, records):
    """w1 as a user of its own, in places that this user may use."""
    os.chmod(cluster.dir, 0o711)
    program = os.path.join(cluster.dir, "reeve")
    shutil.copy(cluster.server.binary, program)
    os.chmod(program, 0o755)
    home = cluster.state_dir("w1")
    os.mkdir(home)
    if os.geteuid() == 0:
        os.chown(home, UID, UID)
        os.chmod(records.dir, 0o777)
    w1 = cluster.start_worker("--maxthreads", 4, name="w1", as_user=as_user(), binary=program)
    wait_worker(cluster, "w1", "healthy")
    return w1


def processes_limit(pid):
    with open(f"/proc/{pid}/limits") as f:
        return next(line.split()[2] for line in f if line.startswith("Max processes"))


@pytest.fixture
def sick(cluster):
    """w1 can start nothing, w2 everything."""
    cluster.start_server(env=PATIENT)
    cluster.create_queue(chaos.QUEUE)
    records = Records(cluster)
    w1 = start_sick(cluster, records)
    before = processes_limit(w1.pid)  # its keeper has the same
    limit_processes(w1.pid, 0)
    w = wait_worker(cluster, "w1", "unhealthy")  # connected: it answers
    return w1, before, w, records


def names(cluster, ids):
    return {cluster.get(f"/v1/tasks/{i}")["worker"] for i in ids}


def test_who_can_not_start_processes_gets_no_tasks(cluster, sick):
    w1, before, w, records = sick
    assert "healthcheck" in w["why_unhealthy"], w
    text = cluster.cli("worker", "ls").out
    assert "unhealthy" in text and "healthcheck" in text, text
    waiting = [x for x in cluster.status()["waiting"] if x["worker"] == "w1"]
    assert waiting and "healthcheck" in waiting[0]["text"], waiting
    assert "w1" in cluster.cli("status").out
    # Nobody else is there: the work waits, and says for what.
    task = cluster.submit(*records.command(0), queue=chaos.QUEUE)["id"]
    assert cluster.get(f"/v1/tasks/{task}")["state"] == "queued" and cluster.why(task)
    cluster.start_worker(name="w2")
    ids = [task] + [cluster.submit(*records.command(0), queue=chaos.QUEUE)["id"] for _ in range(20)]
    for i in ids:
        assert cluster.wait_ended(i)["state"] == "succeeded"
    assert names(cluster, ids) == {"w2"}
    records.check(once=ids)
    assert chaos.worker(cluster, "w1")["state"] == "unhealthy" and w1.running


def test_repaired_it_is_healthy_again(cluster, sick):
    w1, before, w, records = sick
    limit_processes(w1.pid, before)
    again = wait_worker(cluster, "w1", "healthy")
    assert again["instance"] == w["instance"] and again["why_unhealthy"] is None
    task = cluster.submit(*records.command(0), queue=chaos.QUEUE)["id"]
    assert cluster.wait_ended(task)["state"] == "succeeded"
    assert names(cluster, [task]) == {"w1"}


def test_runs_that_reach_it_before_it_is_found_out_are_not_counted(cluster):
    """A start that fails is certainly not one: the attempt goes elsewhere, even the only one allowed."""
    slow = dict(PATIENT, REEVE_SERVER_HEALTHCHECK_PERIOD="2s", REEVE_SERVER_HEALTHCHECK_GRACE="2s")
    cluster.start_server(env=slow)
    cluster.create_queue(chaos.QUEUE)
    records = Records(cluster)
    w1 = start_sick(cluster, records)
    limit_processes(w1.pid, 0)
    ids = [cluster.submit(*records.command(0), queue=chaos.QUEUE)["id"] for _ in range(10)]
    wait_worker(cluster, "w1", "unhealthy")
    cluster.start_worker("--maxthreads", 4, name="w2")
    for i in ids:
        task = cluster.wait_ended(i)
        assert (task["state"], task["worker"]) == ("succeeded", "w2"), task
    records.check(once=ids)
    assert len(records.begun()) == len(ids)


