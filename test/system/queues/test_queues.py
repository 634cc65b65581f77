# SPDX-License-Identifier: Apache-2.0
"""Queues: limits that are exact, order, who serves them, pauses, defaults, deletion."""
import os
import time

import harness
import pytest
from harness import PATIENCE, wait_until
from records import Records

STEP = os.path.join(harness.PROGRAMS, "append.sh")


def appends(path, word):
    """The cheapest task that leaves a trace."""
    return [STEP, path, str(word)]


def words(path):
    try:
        with open(path) as f:
            return f.read().split()
    except FileNotFoundError:
        return []


def test_threads_are_exact_across_workers(cluster):
    cluster.start_server()
    for name in "w1", "w2", "w3":
        cluster.start_worker("--maxthreads", 4, name=name)
    records = {threads: Records(cluster) for threads in (1, 3, 5)}
    for threads, r in records.items():
        cluster.create_queue(f"q{threads}", threads=threads)
    tasks = [{"queue": f"q{t}", "command": r.command(0.05)} for _ in range(30) for t, r in records.items()]
    cluster.submit_many(tasks)
    assert cluster.wait_idle() == {"succeeded": 90}
    for threads, r in records.items():
        r.check()
        assert r.most_at_once() == threads, "the limit is kept, and used"


def test_threads_follow_a_change(dev):
    dev.cli("worker", "set", dev.get("/v1/workers")["items"][0]["name"], "--maxthreads", 8)
    dev.create_queue("q", threads=0)
    records = Records(dev)
    ids = dev.submit_many([{"queue": "q", "command": records.command("forever")}] * 5)["ids"]
    assert "queue-closed" in dev.why(ids[0])
    dev.cli("queue", "set", "q", "--threads", 2)
    records.wait_begun(2)
    assert "queue-full" in dev.why(ids[4])
    dev.cli("queue", "set", "q", "--threads", "none")
    records.wait_begun(5)
    dev.cli("cancel", "--queue", "q", "--yes")
    assert dev.wait_idle() == {"cancelled": 5}


def test_a_list_counts_tasks_and_not_their_endings(dev):
    dev.create_queue("q", max_attempts=3, backoff=0)
    dev.submit(queue="q", command=["false"])
    assert dev.wait_idle() == {"failed": 1}
    listed = dev.cli("queue", "ls", "-o", "wide").out.splitlines()[0].split()
    assert "QUEUED" in listed and not {"SUCCEEDED", "FAILED", "OTHER"} & set(listed)
    shown = dict(line.split(None, 1) for line in dev.cli("queue", "show", "q").out.splitlines() if " " in line.strip())
    assert shown["tasks"] == "none"
    assert shown["endings"] == f"{dev.get('/v1/queues/q')['counts']['failed']} failed"


def test_maxthreads_of_each_worker(cluster):
    cluster.start_server()
    cluster.start_worker("--maxthreads", 1, name="w1")
    cluster.start_worker("--maxthreads", 2, name="w2")
    records = Records(cluster)
    ids = cluster.submit_many([{"command": records.command("forever")}] * 6)["ids"]
    records.wait_begun(3)
    wait_until(lambda: cluster.status()["tasks"]["running"] == 3)
    running = [t["worker"] for t in cluster.all_tasks(state="running")]
    assert sorted(running) == ["w1", "w2", "w2"]
    assert "workers-full" in cluster.why(ids[5])
    cluster.cli("worker", "set", "w1", "--maxthreads", 2)
    records.wait_begun(4)
    cluster.cli("cancel", "--all", "--yes")
    cluster.wait_idle()
    assert len(records.begun()) == 4


def served_by(cluster, queue):
    """Which workers take tasks of the queue, when all are free."""
    report = cluster.submit_many([{"queue": queue, "command": ["sleep", "0.05"]}] * 12)
    cluster.wait_idle(batch=report["batch"])
    return {t["worker"] for t in cluster.all_tasks(batch=report["batch"])}


def test_activequeues_and_ignorequeues(cluster):
    cluster.start_server()
    for q in "red", "green", "blue":
        cluster.create_queue(q)
    cluster.start_worker("--maxthreads", 2, "--activequeues", "red", name="active")
    cluster.start_worker("--maxthreads", 2, "--ignorequeues", "red,blue", name="ignores")
    cluster.start_worker("--maxthreads", 2, "--activequeues", "blue", "--ignorequeues", "blue", name="both")
    assert served_by(cluster, "red") == {"active"}
    assert served_by(cluster, "green") == {"ignores"}
    assert served_by(cluster, "blue") == {"both"}, "ignorequeues does not count beside activequeues"
    cluster.create_queue("other")
    assert served_by(cluster, "other") == {"ignores"}


def test_a_queue_that_nobody_serves_says_so(cluster):
    cluster.start_server()
    cluster.create_queue("mail", plugin="mailer")
    mail = cluster.submit(queue="mail", params={"to": "a"})["id"]
    assert cluster.why(mail) == ["no-workers"]
    cluster.start_worker("--ignorequeues", "odd", name="w1")
    assert cluster.why(mail) == ["plugin-not-allowed"]
    text = cluster.cli("why", mail).out
    assert "mailer" in text and "ignored" in text and "plugins" in text
    cluster.create_queue("odd")
    assert cluster.why(cluster.submit("true", queue="odd")["id"]) == ["no-worker-serves-queue"]
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"
    assert cluster.get(f"/v1/tasks/{mail}")["state"] == "queued"


def test_commands_can_be_forbidden(cluster):
    cluster.start_server()
    cluster.start_worker("--no-allow-commands", name="w1")
    task = cluster.submit("true")["id"]
    assert cluster.why(task) == ["plugin-not-allowed"]


@pytest.mark.parametrize("order", ["fifo", "lifo", "priority"])
def test_order(dev, order):
    dev.create_queue("q", threads=1, order=order)
    dev.cli("queue", "pause", "q")
    trace = os.path.join(dev.dir, "trace")
    priorities = [0, 5, -3, 5, 0, 9, -3, 1]
    for n, p in enumerate(priorities):
        dev.submit(*appends(trace, n), queue="q", priority=p)
    dev.cli("queue", "resume", "q")
    dev.wait_idle()
    numbers = list(range(len(priorities)))
    want = {"fifo": numbers, "lifo": numbers[::-1],
            "priority": sorted(numbers, key=lambda n: (-priorities[n], n))}[order]
    assert [int(w) for w in words(trace)] == want


def test_a_changed_priority_counts(dev):
    dev.create_queue("q", threads=1, order="priority")
    dev.cli("queue", "pause", "q")
    trace = os.path.join(dev.dir, "trace")
    ids = [dev.submit(*appends(trace, n), queue="q")["id"] for n in range(3)]
    dev.cli("task", "set", ids[2], "--priority", 7)
    dev.cli("queue", "resume", "q")
    dev.wait_idle()
    assert words(trace) == ["2", "0", "1"]


def test_pause_with_a_reason_survives_a_restart(dev):
    dev.create_queue("q")
    paused = dev.json("queue", "pause", "q", "--reason", "new compiler")
    paused = paused[0] if isinstance(paused, list) else paused
    assert paused["paused"] and paused["pause_reason"] == "new compiler"
    task = dev.submit("true", queue="q")["id"]
    assert dev.why(task) == ["queue-paused"]
    assert "new compiler" in dev.cli("why", task).out
    dev.server.kill9()
    dev.restart()
    wait_until(lambda: dev.status()["workers"]["connected"] == 1)
    assert dev.why(task) == ["queue-paused"]
    dev.cli("queue", "resume", "q")
    assert dev.wait_ended(task)["state"] == "succeeded"
    assert dev.get("/v1/queues/q")["pause_reason"] is None


def test_pause_until_a_time_ends_by_itself(dev):
    dev.create_queue("q")
    before = time.time()
    dev.cli("queue", "pause", "q", "--until", "2s")
    task = dev.submit("date", "+%s.%N", queue="q")["id"]
    assert dev.get("/v1/queues/q")["paused_until"]
    ended = dev.wait_ended(task)
    assert ended["state"] == "succeeded" and float(ended["stdout"]) >= before + 2
    assert not dev.get("/v1/queues/q")["paused"]


def test_pause_lets_go_on_what_runs(dev):
    dev.create_queue("q", threads=2)
    go = os.path.join(dev.dir, "go")
    first = dev.submit("sh", "-c", f"until [ -e {go} ]; do sleep 0.02; done", queue="q")["id"]
    dev.wait_task(first, "running")
    dev.cli("queue", "pause", "q")
    second = dev.submit("true", queue="q")["id"]
    open(go, "w").close()
    assert dev.wait_ended(first)["state"] == "succeeded"
    assert dev.get(f"/v1/tasks/{second}")["state"] == "queued"


def test_delete_is_refused_with_live_tasks_unless_forced(dev):
    dev.create_queue("q", threads=1)
    running = dev.submit("sleep", "1000", queue="q")["id"]
    dev.wait_task(running, "running")
    queued = dev.submit("true", queue="q")["id"]
    refused = dev.cli("queue", "rm", "q", "--yes", check=False)
    assert refused.code != 0 and "force" in refused.err, refused
    assert dev.get(f"/v1/tasks/{running}")["state"] == "running", "a refusal changes nothing"
    dev.cli("queue", "rm", "q", "--force", "--yes")
    assert dev.call("GET", "/v1/queues/q").status_code == 404
    assert dev.call("GET", f"/v1/tasks/{queued}").status_code == 404
    assert harness.processes_with(f"REEVE_TASK_ID={running}") == []
    dev.create_queue("q")  # the name is free again
    assert dev.wait_ended(dev.submit("true", queue="q")["id"])["state"] == "succeeded"


def test_delete_of_a_queue_whose_tasks_are_over(dev):
    dev.create_queue("q")
    dev.wait_ended(dev.submit("true", queue="q")["id"])
    dev.cli("queue", "rm", "q", "--yes")
    assert dev.call("GET", "/v1/queues/q").status_code == 404


def test_defaults_of_a_queue(dev):
    dev.cli("queue", "create", "q", "--timeout", "500ms", "--max-attempts", 2, "--backoff", "10ms",
            "--backoff-max", "20ms", "--env", "WHO=queue", "--env", "ONLY=queue")
    task = dev.submit("sh", "-c", "echo $WHO $ONLY; exit 1", queue="q", env={"WHO": "task"})["id"]
    task = dev.wait_ended(task)
    assert task["state"] == "failed" and len(task["attempts"]) == 2
    assert task["stdout"] == "task queue\n", "the task's own variables are the stronger ones"
    assert (task["timeout_ms"], task["backoff_ms"], task["backoff_max_ms"]) == (500, 10, 20)
    slow = dev.wait_ended(dev.submit("sleep", "1000", queue="q", max_attempts=1)["id"])
    assert slow["state"] == "terminated" and "500ms" in slow["reason"].replace(" ", "")
    own = dev.submit("sh", "-c", "sleep 0.7; exit 0", queue="q", timeout="60s")["id"]
    assert dev.wait_ended(own)["state"] == "succeeded"


def test_a_deep_queue_drains_completely_and_in_order(cluster):
    cluster.start_server(env={"REEVE_SERVER_WINDOW_TASKS": "64"})
    cluster.create_queue("deep", threads=1, plugin="note")
    trace = os.path.join(cluster.dir, "trace")
    total = 20000
    report = cluster.submit_many({"queue": "deep", "params": {"n": n}} for n in range(total))
    assert report["accepted"] == total and len(set(report["ids"])) == total
    program = os.path.join(harness.PROGRAMS, "note.py")
    cluster.start_worker(name="w1", env={"REEVE_WORKER_PLUGINS": harness.json.dumps(
        {"note": {"exec": ["/usr/bin/python3", program, trace], "mode": "persistent"}})})
    wait_until(lambda: len(words(trace)) > 1000)
    cluster.server.kill9()  # the window is made anew from what the store says
    cluster.restart()
    assert cluster.wait_idle(timeout=PATIENCE * 4, queue="deep") == {"succeeded": total}
    assert [int(w) for w in words(trace)] == list(range(total))


def test_queues_take_turns(dev):
    """A long queue does not starve a short one."""
    trace = os.path.join(dev.dir, "trace")
    for q in "long", "short":
        dev.create_queue(q)
        dev.cli("queue", "pause", q)
    dev.cli("worker", "set", dev.get("/v1/workers")["items"][0]["name"], "--maxthreads", 1)
    dev.submit_many([{"queue": "long", "command": appends(trace, "long")}] * 60)
    dev.submit_many([{"queue": "short", "command": appends(trace, "short")}] * 3)
    dev.cli("queue", "pause", "long", "short")
    dev.cli("queue", "resume", "long", "short")
    dev.wait_idle()
    seen = words(trace)
    assert len(seen) == 63
    assert seen.index("short") < 30 and max(i for i, w in enumerate(seen) if w == "short") < 50


def test_a_renamed_queue_keeps_its_tasks(dev):
    dev.create_queue("old")
    dev.cli("queue", "pause", "old")
    task = dev.submit("true", queue="old")["id"]
    dev.cli("queue", "set", "old", "--name", "new")
    assert dev.get(f"/v1/tasks/{task}")["queue"] == "new"
    dev.cli("queue", "resume", "new")
    assert dev.wait_ended(task)["state"] == "succeeded"
