# SPDX-License-Identifier: Apache-2.0
"""Tasks that attack what runs them: ways into the keeper, and what they leave for the worker to read."""
import os

import harness
import pytest
from keepers import Watched, is_alive
from running import Runner, as_nobody, needs_root

INTRUDE = os.path.join(harness.PROGRAMS, "intrude.py")
WAYS = {"attach", "seize", "memory", "descriptor", "mem", "environ", "maps", "fd"}


def ways_into(cluster, who, **members):
    """{way: whether it worked}, as a task found it."""
    with open(INTRUDE) as f:
        task = cluster.wait_ended(cluster.submit("/usr/bin/python3", "-c", f.read(), str(who), **members)["id"])
    assert task["state"] == "succeeded", task
    found = dict(line.split(" ", 1) for line in task["stdout"].splitlines())
    assert set(found) == WAYS, task
    return {way for way, what in found.items() if what == "works"}


@needs_root
def test_a_task_of_the_workers_user_does_not_get_into_the_keeper(cluster):
    """Both have one user. The keeper holds what rights there are, so nobody may look into it or take it over."""
    cluster.start_server()
    watched = Watched(cluster, as_nobody(cluster))
    keeper = watched.keeper()
    assert ways_into(cluster, "sibling") == WAYS, "the ways are real ones"
    assert ways_into(cluster, "parent") == set(), "the keeper is its parent"
    assert ways_into(cluster, keeper) == set()
    assert is_alive(keeper) and watched.keeper() == keeper


@needs_root
def test_a_task_of_another_user_does_not_get_into_keeper_or_worker(cluster):
    cluster.start_server()
    os.chmod(cluster.dir, 0o755)
    watched = Watched(cluster, cluster.start_worker("--user", "nobody", "--run-as", "daemon"))
    for pid in (watched.keeper(), watched.worker.pid, cluster.server.pid):
        assert ways_into(cluster, pid, run={"user": "daemon"}) == set()
    for pid in (watched.keeper(), watched.worker.pid):
        assert ways_into(cluster, pid) == set(), "nor the worker's own user, into those who are or were root"
    assert is_alive(watched.keeper())


# -- what is left for the worker to read

@pytest.fixture(scope="module")
def runner():
    r = Runner("--run-as", "daemon")
    yield r
    r.close()


def left(runner, script, **run):
    """Runs a script of Python that finds the status file as `f`, opened for writing."""
    text = "import os, sys\nf = open(os.environ['REEVE_STATUS_FILE'], 'r+b', buffering=0)\n" + script
    return runner.ended("/usr/bin/python3", "-c", text, run={"status_file": True, **run})


@pytest.mark.parametrize("script", [
    "f.truncate(1 << 62)", "f.write(b'done\\n'); f.truncate(1 << 62)", "f.write(b'done\\n\\0\\0x')",
    "f.write(b'\\xff\\xfe\\n')", "f.write(b'x' * 5_000_000)", "f.write(b'{' * 60_000)", "f.write(b'[' * 60_000 + b'\\n')",
    "f.write(b'{\"result\": \"done\\\\u0000\"}')", "f.write(b'{\"result\": [\"done\"]}')", "f.write(b'{\"data\": 1}')",
    "f.write(b'{\"result\": \"done\", \"data\": 7}')", "f.write(b'{\"result\": \"done\", \"data\": ' + b'[' * 900 + b']' * 900 + b'}')",
    "f.write(b'done done\\n')", "f.write(b'DONE\\n')"])
def test_a_status_that_is_none_is_a_failure(runner, script):
    """Sparse, endless, deep, binary or not quite: never a success, and the worker goes on."""
    task = left(runner, script)
    assert (task["state"], task["exit_code"], task["result"]) == ("failed", 0, None), task
    assert "status" in task["reason"], task


def test_only_the_end_of_a_long_status_is_read(runner):
    assert left(runner, "for i in range(200): f.write(b'failed\\n' * 10_000)\nf.write(b'done\\n')")["state"] == "succeeded"


def test_data_that_becomes_longer_when_it_is_written_again(runner, tmp_path):
    """0.1 becomes 0.10000000000000001: what fitted into the file does not fit into what was kept for it."""
    path = tmp_path / "empty"
    path.write_text("")
    write = "f.write(b'{\"result\": \"done\", \"data\": {\"n\": [' + b','.join([b'0.1'] * %d) + b']}}')"
    for n in (2000, 8000, 16000):
        task = left(runner, write % n, result_file=str(path))
        small = n * 20 + 7 <= 50 << 10
        assert (task["state"], bool(task["result"])) == (("succeeded", True) if small else ("failed", False)), (n, task["state"])
        assert small or "result" in task["reason"], task["reason"]


@needs_root
def test_a_status_file_is_not_a_way_to_others(runner):
    """Its name leads to the task's own descriptor only; another task finds nothing there."""
    task = left(runner, "import time\nf.write(b'done\\n')\nprint(os.environ['REEVE_STATUS_FILE'])")
    name = task["stdout"].strip()
    assert name.startswith("/proc/self/fd/")
    script = f"ls -l /proc/$PPID/fd; echo done > {name} && echo written"
    other = runner.ended("sh", "-c", script, run={"user": "daemon"})
    assert other["state"] == "failed" and "written" not in (other["stdout"] or ""), other


def test_a_result_file_that_grows_or_changes_while_it_is_read(runner, tmp_path):
    """It is read when everything is over, so nobody is left who could."""
    path = tmp_path / "result"
    script = f"echo first > {path}; (setsid sh -c 'while :; do echo again >> {path}; done' &) ; sleep 0.2; exit 0"
    task = runner.ended("sh", "-c", script, run={"result_file": str(path)})
    size = os.path.getsize(path)
    if size <= 50 << 10:
        assert task["state"] == "succeeded" and len(task["result"]) == size, (task["state"], size)
    else:
        assert task["state"] == "failed" and task["result"] is None, task["state"]
    assert os.path.getsize(path) == size, "nobody writes any more"


@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/maps", "/sys/kernel/uevent_seqnum", "/dev/zero", "/dev/stdin",
                                  "/proc/self/fd/3", "/"])
def test_no_result_comes_from_the_kernel(runner, path):
    """For the keeper, which opens it, "self" would be the keeper."""
    task = runner.ended("true", run={"result_file": path})
    assert (task["state"], task["result"]) == ("failed", None), task
