# SPDX-License-Identifier: Apache-2.0
"""Standard input that comes bit by bit: in order, whole, bounded, whoever dies on the way."""
import contextlib
import hashlib
import os
import random
import signal
import sqlite3
import subprocess

import harness
import pytest
from client import Api, check_problem
from harness import wait_until

MIB = 1 << 20
RELEASE = os.environ.get("REEVE_RELEASE_BIN")
BYTES = {"Content-Type": "application/octet-stream"}


class Run:
    """`reeve run` that can be written to, and that says what it was told."""

    def __init__(self, cluster, *args):
        env = harness.clean_environment(REEVE_SERVER="unix:" + cluster.socket, HOME=cluster.dir, XDG_STATE_HOME="")
        self.child = subprocess.Popen([harness.BIN, "run", *args], env=env, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def write(self, data):
        self.child.stdin.write(data)
        self.child.stdin.flush()

    def line(self):
        return self.child.stdout.readline()

    def end(self):
        out, err = self.child.communicate(timeout=harness.PATIENCE)
        return self.child.returncode, out, err.decode()


@pytest.fixture
def big(tmp_path):
    """Bytes that no compression and no luck can hide; their file, and their hash."""
    data = random.Random(7).randbytes(64 * MIB + 12345)
    (tmp_path / "big").write_bytes(data)
    return tmp_path / "big", hashlib.sha256(data).hexdigest()


def kept(cluster):
    """How many rows of streamed input the store has."""
    with contextlib.closing(sqlite3.connect(f"file:{cluster.state_dir()}/reeve.db?mode=ro", uri=True)) as db:
        return db.execute("SELECT (SELECT count(*) FROM input) + (SELECT count(*) FROM input_part)").fetchone()[0]


def only_task(cluster):
    def there():
        tasks = cluster.all_tasks()
        return tasks[0] if tasks else None
    return wait_until(there, what="the task is submitted")


def append(api, task, offset=None, data=b"", end=False, **options):
    query = ([f"offset={offset}"] if offset is not None else []) + (["end=true"] if end else [])
    return api.ask("POST", f"/v1/tasks/{task}/input?" + "&".join(query), data=data, headers=BYTES, **options)


def test_line_by_line(dev):
    run = Run(dev, "--", "sh", "-c", "while read x; do echo got $x; done; echo end; exit 3")
    for word in (b"one", b"two", b"three"):
        run.write(word + b"\n")  # the next one only when this one has come back
        assert run.line() == b"got " + word + b"\n"
    run.child.stdin.close()
    run.child.stdin = None
    code, out, err = run.end()
    assert code == 3 and out == b"end\n", err


def test_much_of_it_is_the_same_there(dev, big):
    path, digest = big
    with open(path, "rb") as f:
        done = subprocess.run([harness.BIN, "run", "--", "sha256sum"], stdin=f, capture_output=True,
                              env=harness.clean_environment(REEVE_SERVER="unix:" + dev.socket),
                              timeout=harness.PATIENCE, check=True)
    assert done.stdout.split()[0].decode() == digest
    task = dev.cli("submit", "--stdin", path, "--wait", "--", "sha256sum").out.strip()
    assert dev.wait_ended(task)["stdout"].split()[0] == digest
    retry = dev.cli("retry", task, check=False)
    assert retry.code != 0 and "its input was streamed" in retry.err
    wait_until(lambda: kept(dev) == 0, what="nothing of it is left")


@pytest.mark.skipif(not RELEASE, reason="REEVE_RELEASE_BIN is not set: a sanitizer's memory says nothing")
def test_memory_is_bounded(cluster, big):
    cluster.binary = RELEASE
    cluster.start_server()
    worker = cluster.start_worker()
    for process in (cluster.server, worker):
        process.reset_peak()
    assert cluster.cli("submit", "--stdin", big[0], "--wait", "--", "sha256sum").code == 0
    assert cluster.server.rss_kb("VmHWM") < 64 << 10 and worker.rss_kb("VmHWM") < 32 << 10


def test_one_that_ends_early_ends_it(dev):
    for command, code in (("head -c 5", 0), ("exit 7", 7), ("exec <&-; sleep 0.2", 0)):
        done = subprocess.run(["bash", "-c", f'yes | "$0" run -- sh -c "{command}"; exit $?', harness.BIN],
                              env=harness.clean_environment(REEVE_SERVER="unix:" + dev.socket),
                              capture_output=True, text=True, timeout=harness.PATIENCE, check=False)
        assert done.returncode == code, done
        assert "input" not in done.stderr and "ipe" not in done.stderr, done


def test_one_that_never_reads_holds_it_up(dev):
    """Neither the server nor the disk takes more than a few megabytes, however much there is."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    child = subprocess.Popen([harness.BIN, "run", "--", "sleep", "600"], stdin=reader, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL,
                             env=harness.clean_environment(REEVE_SERVER="unix:" + dev.socket, HOME=dev.dir))
    os.close(reader)
    sent, api, sizes = 0, Api(dev), []
    task = only_task(dev)["id"]

    def stands():
        nonlocal sent
        try:
            while True:
                sent += os.write(writer, b"x" * 65536)
        except BlockingIOError:
            pass
        sizes.append(append(api, task).json()["size"])
        return len(sizes) > 40 and len(set(sizes[-40:])) == 1

    wait_until(stands, what="nothing more is taken", every=0.05)
    assert 4 * MIB < sizes[-1] < 16 * MIB and sent < 20 * MIB
    child.send_signal(signal.SIGINT)
    assert child.wait(harness.PATIENCE) != 0
    os.close(writer)
    assert dev.wait_ended(task)["state"] == "cancelled"


def test_a_killed_server_loses_nothing(cluster, big):
    path, digest = big
    cluster.start_server()
    cluster.start_worker()
    env = harness.clean_environment(REEVE_SERVER="unix:" + cluster.socket, HOME=cluster.dir)
    with open(path, "rb") as f:
        child = subprocess.Popen([harness.BIN, "run", "--", "sha256sum"], stdin=f, stdout=subprocess.PIPE, env=env)
    task, api = only_task(cluster)["id"], Api(cluster)
    for part in (1, 3):
        wait_until(lambda: append(api, task).json()["size"] > part * 8 * MIB, what="some of it is there", every=0.01)
        before = append(api, task).json()["size"]
        cluster.server.kill9()
        cluster.restart()
        api = Api(cluster)
        assert append(api, task).json()["size"] >= before
    out, _ = child.communicate(timeout=harness.PATIENCE)
    assert child.returncode == 0 and out.split()[0].decode() == digest


def test_a_killed_worker_is_made_up_for(cluster, big):
    """The next attempt reads from the beginning what is there, and goes on with what comes."""
    path, digest = big
    cluster.start_server(env={"REEVE_SERVER_LOST_TASK_HOLD": "1s"})
    worker = cluster.start_worker()
    env = harness.clean_environment(REEVE_SERVER="unix:" + cluster.socket, HOME=cluster.dir)
    with open(path, "rb") as f:
        child = subprocess.Popen([harness.BIN, "run", "--max-attempts", "3", "--", "sha256sum"], stdin=f,
                                 stdout=subprocess.PIPE, env=env)
    task, api = only_task(cluster)["id"], Api(cluster)
    wait_until(lambda: append(api, task).json()["taken"] > 8 * MIB, what="some of it is taken", every=0.01)
    worker.kill9()
    cluster.restart(worker)
    out, _ = child.communicate(timeout=harness.PATIENCE)
    assert child.returncode == 0 and out.split()[0].decode() == digest
    assert cluster.task(task)["attempt"] == 2


def test_a_kept_task_does_not_take_its_workers_death_for_the_end(cluster):
    """With on_worker_exit: keep, one whose input comes through the worker goes with it."""
    cluster.start_server(env={"REEVE_SERVER_LOST_TASK_HOLD": "1s"})
    worker = cluster.start_worker(env={"REEVE_WORKER_ON_WORKER_EXIT": "keep"})
    run = Run(cluster, "--", "sh", "-c", "while read x; do echo got $x; done; echo whole")
    run.write(b"one\n")
    assert run.line() == b"got one\n"
    worker.kill9()
    cluster.restart(worker)
    code, out, err = run.end()
    assert code != 0 and b"whole" not in out and "orphaned" in err, (code, out, err)


def test_a_killed_sender_ends_its_task(cluster):
    cluster.start_dev(env={"REEVE_SERVER_LIMITS_INPUT_SILENCE": "2s"})
    run = Run(cluster, "--", "sh", "-c", "while read x; do echo got $x; done; echo whole")
    run.write(b"one\n")
    assert run.line() == b"got one\n"
    run.child.kill()
    run.child.communicate()
    task = cluster.wait_ended(only_task(cluster)["id"])
    assert task["state"] == "cancelled" and "its input broke off after 4 bytes" in task["reason"]
    assert cluster.cli("logs", task["id"]).out == "got one\n"


def test_a_quiet_sender_is_still_there(cluster):
    cluster.start_dev(env={"REEVE_SERVER_LIMITS_INPUT_SILENCE": "1s"})
    done = subprocess.run(["bash", "-c", '(sleep 4; echo late; sleep 3; echo later) | "$0" run cat', harness.BIN],
                          env=harness.clean_environment(REEVE_SERVER="unix:" + cluster.socket),
                          capture_output=True, text=True, timeout=harness.PATIENCE, check=True)
    assert done.stdout == "late\nlater\n"


def test_too_much_is_said(cluster, big):
    cluster.start_dev(env={"REEVE_SERVER_LIMITS_INPUT": "2MiB"})
    for words in (["run", "--stdin", big[0], "cat"], ["submit", "--stdin", big[0], "cat"]):
        refused = cluster.cli(*words, check=False)
        assert refused.code != 0 and "at most 2097152 bytes" in refused.err and "limits.input" in refused.err, refused
    for task in cluster.all_tasks():
        assert cluster.wait_ended(task["id"])["state"] == "cancelled"


def test_hostile_senders_are_refused(server):
    """There is no worker: the task waits, and takes what fits, once."""
    api = Api(server)
    task = api.submit("cat", stdin="stream")["id"]
    plain = api.submit("cat")["id"]
    assert append(api, task, 0, b"abc").json() == {
        "id": task, "size": 3, "taken": 0, "ended": False, "silence_ms": 60000}
    for offset in (0, 2, 4, 1 << 62):
        check_problem(append(api, task, offset, b"x"), 409, "conflict", hint="offset=3")
    check_problem(append(api, task, -1, b"x"), 400, "invalid", field="offset")
    check_problem(append(api, task, None, b"x"), 400, "invalid", field="offset")
    check_problem(append(api, plain, 0, b"x"), 409, "conflict", detail="takes no input")
    check_problem(append(api, "0" * 24, 0, b"x"), 404, "not-found")
    check_problem(append(api, task, 3, b"x" * (MIB + 1)), 413, "too-large")
    api.refused("POST", f"/v1/tasks/{task}/input?offset=3", 415, "unsupported-media-type", data=b"x", headers={"Content-Type": "text/html"})
    assert append(api, task, 3, b"\0" * MIB, end=True).json()["ended"]
    assert append(api, task, 3 + MIB, end=True).status_code == 200  # an answer that was lost
    check_problem(append(api, task, 3 + MIB, b"x"), 409, "conflict", detail="has ended")
    api.post(f"/v1/tasks/{task}/cancel")
    check_problem(append(api, task, 3 + MIB, end=True), 409, "conflict", detail="takes no input")
    for wrong in ({"stdin": "other"}, {"stdin": 5}, {"stdin": "stream", "run": {"input": "x"}},
                  {"stdin": "stream", "command": None, "action": {"run": {"path": "/bin/true"}}}):
        body = {k: v for k, v in {"command": ["cat"], **wrong}.items() if v is not None}
        api.refused("POST", "/v1/tasks", 400, "invalid", field="stdin", json=body)
    api.refused("POST", "/v1/schedules", 400, "invalid", field="task.stdin", json={
        "name": "s", "crontab": "0 0 * * *", "time_zone": "UTC", "max_shift": "1h",
        "task": {"command": ["cat"], "stdin": "stream"}})


def test_tokens_reach_their_own_tasks_only(server):
    admin = Api(server)
    admin.post("/v1/queues", {"name": "theirs"}, 201)
    admin.post("/v1/queues", {"name": "ours"}, 201)
    theirs = admin.submit("cat", stdin="stream", queue="theirs")["id"]
    ours = admin.submit("cat", stdin="stream", queue="ours")["id"]
    ask = {"name": "sender", "role": "submit", "queues": ["ours"]}
    sender = Api(server, token=admin.post("/v1/tokens", ask, 201)["token"])
    reader = Api(server, token=admin.post("/v1/tokens", {"name": "reader", "role": "read"}, 201)["token"])
    assert append(sender, ours, 0, b"abc").status_code == 200
    check_problem(append(sender, theirs, 0, b"abc"), 404, "not-found")
    assert append(reader, ours, 3, b"abc").status_code == 403
    assert append(admin, theirs).json()["size"] == 0
