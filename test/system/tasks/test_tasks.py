# SPDX-License-Identifier: Apache-2.0
"""What a task can ask for, how it can end, and what can be done to it."""
import datetime
import json
import os
import subprocess
import time

import harness
import pytest
from harness import wait_until
from records import Records

TREE = os.path.join(harness.PROGRAMS, "tree.sh")


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


# -- when and how often

def test_run_after(dev):
    before = time.time()
    task = dev.submit("date", "+%s.%N", run_after="1500ms")
    assert dev.why(task["id"]) == ["run-after"]
    ended = dev.wait_ended(task["id"])
    assert float(ended["stdout"]) >= before + 1.5
    assert seconds(ended["started"]) >= seconds(ended["run_after"])


def test_run_after_survives_a_restart(dev):
    task = dev.submit("date", "+%s.%N", run_after="3s")
    dev.server.kill9()
    dev.restart()
    assert dev.get(f"/v1/tasks/{task['id']}")["run_after"] == task["run_after"]
    assert float(dev.wait_ended(task["id"])["stdout"]) >= seconds(task["run_after"])


def test_timeout_terminates_the_whole_tree(dev):
    ready = os.path.join(dev.dir, "ready")
    result = dev.cli("run", "--timeout", "2s", "--", "sh", "-c", f"{TREE} {ready} & sleep 1000", check=False)
    assert result.code == 124, result
    task = dev.all_tasks()[0]
    assert (task["state"], task["status"]) == ("terminated", -3)
    assert "time limit" in task["reason"]
    assert os.path.exists(ready), "the tree was there"
    assert harness.processes_with(f"REEVE_TASK_ID={task['id']}") == []


def test_timeout_counts_per_attempt(dev):
    task = dev.submit("sleep", "1000", timeout="300ms", max_attempts=2, backoff="10ms")["id"]
    task = dev.wait_ended(task)
    assert task["state"] == "terminated"
    assert [a["state"] for a in task["attempts"]] == ["terminated", "terminated"]


def test_attempts_with_backoff(dev):
    task = dev.submit("sh", "-c", "echo attempt $REEVE_ATTEMPT; exit 3", max_attempts=4,
                      backoff="200ms", backoff_max="400ms")["id"]
    wait_until(lambda: dev.get(f"/v1/tasks/{task}")["attempt"] >= 2)
    task = dev.wait_ended(task)
    assert (task["state"], task["attempt"], task["exit_code"]) == ("failed", 4, 3)
    attempts = task["attempts"]
    assert [a["attempt"] for a in attempts] == [1, 2, 3, 4]
    assert all(a["state"] == "failed" and a["exit_code"] == 3 and a["reason"] for a in attempts)
    tokens = [a["token"] for a in attempts]
    assert tokens == sorted(set(tokens))
    for a in attempts:
        assert a["claimed"] <= a["started"] <= a["ended"]
    # It doubles up to the limit; jitter may shorten it, but never below half.
    for earlier, later, pause in zip(attempts, attempts[1:], (0.2, 0.4, 0.4)):
        assert seconds(later["claimed"]) - seconds(earlier["ended"]) >= pause / 2 - 0.005
    assert task["stdout"] == "attempt 4\n"
    assert dev.cli("logs", task["id"], "--attempt", 2).out == "attempt 2\n"


def test_attempt_numbers_go_on_after_a_retry(dev):
    task = dev.submit("sh", "-c", "echo attempt $REEVE_ATTEMPT; exit 3", max_attempts=3, backoff="10ms", backoff_max="10ms")["id"]
    assert dev.wait_ended(task)["attempt"] == 3
    dev.cli("retry", task)
    wait_until(lambda: dev.get(f"/v1/tasks/{task}")["attempt"] > 3)
    ended = dev.wait_ended(task)
    assert (ended["attempt"], ended["attempts_before"], ended["max_attempts"]) == (6, 3, 3), "it has all of its attempts again"
    assert [a["attempt"] for a in ended["attempts"]] == [1, 2, 3, 4, 5, 6]
    for number in (1, 3, 4, 6):
        assert dev.cli("logs", task, "--attempt", number).out == f"attempt {number}\n"
    assert "6 of at most 6" in dev.cli("task", "show", task).out


def test_waiting_between_attempts_says_so(dev):
    task = dev.submit("false", max_attempts=2, backoff="1h")["id"]
    wait_until(lambda: dev.get(f"/v1/tasks/{task}")["due"])
    assert dev.why(task) == ["backoff"]
    assert dev.get(f"/v1/tasks/{task}")["state"] == "queued"


# -- identity

def test_unique_key_names_the_twin(dev):
    dev.cli("queue", "pause", dev.create_queue("q")["name"])
    first = dev.call("POST", "/v1/tasks", expect=201, json={"queue": "q", "command": ["true"], "key": "k"}).json()
    twin = dev.call("POST", "/v1/tasks", expect=200, json={"queue": "q", "command": ["true"], "key": "k"}).json()
    assert twin["id"] == first["id"] and twin["duplicate"] is True
    assert first["id"] in dev.cli("submit", "--queue", "q", "--key", "k", "--", "true").out
    report = dev.submit_many([{"queue": "q", "command": ["true"], "key": k} for k in ("k", "new", "new")])
    assert report["accepted"] == 1 and report["duplicates"] == 2
    assert dev.submit_many([{"queue": "q", "command": ["true"], "key": "k"}] * 2)["batch"] is None, "no task is in it"
    assert report["ids"][0] == first["id"] and report["ids"][1] == report["ids"][2]
    dev.cli("queue", "resume", "q")
    dev.wait_idle()
    again = dev.submit("true", queue="q", key="k")
    assert again["id"] != first["id"], "the key is free once its task is over"


def test_unique_key_survives_a_restart(dev):
    first = dev.submit("true", key="k", run_after="1h")["id"]
    dev.server.kill9()
    dev.restart()
    assert dev.submit("true", key="k")["id"] == first


def test_labels_and_filters(dev):
    dev.create_queue("other")
    for n in range(6):
        dev.submit("sh", "-c", f"exit {n % 2}", labels={"parity": "odd" if n % 2 else "even", "n": str(n)},
                   queue="other" if n < 2 else "default")
    dev.wait_idle()

    def listed(*filters):
        return sorted(t["labels"]["n"] for t in dev.cli("task", "ls", "-o", "jsonl", *filters).jsonl)

    assert listed("--label", "parity=odd") == ["1", "3", "5"]
    assert listed("--label", "parity=odd", "--queue", "other") == ["1"]
    assert listed("--state", "failed") == ["1", "3", "5"]
    assert listed("--state", "failed,succeeded", "--label", "n=4") == ["4"]
    assert listed("--label", "n=9") == []
    assert listed("--since", "1h") == list("012345")
    assert listed("--until", "1h") == []
    assert dev.get("/v1/tasks/summary", label="parity=even")["total"] == 3


# -- holding, cancelling

@pytest.mark.parametrize("status, state", [(-4, "blocked"), (-7, "held"), (-4711, "held")])
def test_held_and_released(dev, status, state):
    task = dev.submit("true", status=status)
    assert (task["state"], task["status"]) == (state, status)
    other = dev.submit("true")["id"]
    assert dev.wait_ended(other)["state"] == "succeeded"
    assert dev.why(task["id"]) == ["blocked" if status == -4 else "held"]
    dev.server.kill9()
    dev.restart()
    assert dev.get(f"/v1/tasks/{task['id']}")["status"] == status
    dev.cli("task", "release", task["id"])
    assert dev.wait_ended(task["id"])["state"] == "succeeded"


def test_hold_and_release_in_bulk(dev):
    dev.create_queue("q")
    dev.cli("queue", "pause", "q")
    ids = dev.submit_many([{"queue": "q", "command": ["true"], "labels": {"n": str(n)}} for n in range(4)])["ids"]
    dev.cli("task", "hold", "--label", "n=1", "--yes")
    dev.cli("task", "hold", ids[2])
    dev.cli("queue", "resume", "q")
    wait_until(lambda: dev.get("/v1/tasks/summary")["states"] == {"succeeded": 2, "held": 2})
    dev.cli("task", "release", "--queue", "q", "--yes")
    assert dev.wait_idle() == {"succeeded": 4}


def test_cancel_queued(dev):
    dev.cli("queue", "pause", dev.create_queue("q")["name"])
    records = Records(dev)
    task = dev.submit(*records.command(), queue="q")["id"]
    dev.cli("cancel", task, "--reason", "a mistake")
    ended = dev.wait_ended(task)
    assert (ended["state"], ended["status"], ended["reason"]) == ("cancelled", -5, "a mistake")
    dev.cli("queue", "resume", "q")
    dev.wait_ended(dev.submit("true", queue="q")["id"])
    assert records.begun() == []


def test_cancel_running_ends_the_whole_tree(cluster):
    cluster.start_dev("--kill-wait", "200ms")
    ready = os.path.join(cluster.dir, "ready")
    task = cluster.submit(TREE, ready)["id"]
    wait_until(lambda: os.path.exists(ready))
    wait_until(lambda: len(harness.processes_with(f"REEVE_TASK_ID={task}")) >= 4)
    cluster.cli("cancel", task)
    ended = cluster.wait_ended(task)
    assert ended["state"] == "cancelled"
    assert harness.processes_with(f"REEVE_TASK_ID={task}") == []


def test_cancel_lets_a_task_tidy_up(dev):
    task = dev.submit("sh", "-c", "trap 'echo tidied; exit 0' TERM; echo ready; while :; do sleep 0.02; done")["id"]
    wait_until(lambda: dev.cli("logs", task).out == "ready\n")
    dev.cli("cancel", task)
    ended = dev.wait_ended(task)
    assert ended["state"] == "cancelled" and dev.cli("logs", task, "--stdout").out == "ready\ntidied\n"


def test_cancel_while_the_server_restarts(cluster):
    cluster.start_server()
    cluster.start_worker("--kill-wait", "300ms", name="w1")
    task = cluster.submit("sh", "-c", "trap '' TERM; while :; do sleep 0.05; done")["id"]
    cluster.wait_task(task, "running")
    cluster.cli("cancel", task)
    cluster.server.kill9()
    cluster.restart()
    assert cluster.wait_ended(task)["state"] == "cancelled"


def test_bulk_cancel_and_retry(dev):
    dev.cli("queue", "pause", dev.create_queue("q")["name"])
    dev.submit_many([{"queue": "q", "command": ["true"]}] * 25)
    assert "25" in dev.cli("cancel", "--queue", "q", "--dry-run").out
    dev.cli("cancel", "--queue", "q", "--state", "queued", "--yes")
    assert dev.wait_idle() == {"cancelled": 25}
    dev.cli("queue", "resume", "q")
    dev.cli("retry", "--queue", "q", "--state", "cancelled", "--yes")
    assert dev.wait_idle() == {"succeeded": 25}


def test_ids_are_looked_at_before_they_count(dev):
    task = dev.cli("submit", "sleep", "100").out.strip()
    none = task[:18] + "fffff0"
    dry = dev.cli("cancel", "--dry-run", none, check=False)
    assert dry.code == 1 and dry.out == "0 match; none was cancelled\n" and f"{none} there is no such task" in dry.err, dry
    assert dev.cli("cancel", "--dry-run", task, task).out == "1 match; none was cancelled\n"
    assert dev.cli("cancel", task, task).out == "1 of 1 cancelled\n"
    dev.wait_ended(task)
    assert "it has ended already" in dev.cli("cancel", "--dry-run", task, check=False).err


# -- surroundings

def test_working_directory_and_environment(dev):
    result = dev.cli("run", "-C", "/usr/share", "-e", "A=b c", "-e", "COPIED", "--", "sh", "-c",
                     'pwd; echo "$A"; echo "$COPIED"; echo "$REEVE_TASK_QUEUE $REEVE_ATTEMPT"', env={"COPIED": "mine"})
    assert result.out == "/usr/share\nb c\nmine\ndefault 1\n"


def test_the_worker_s_own_environment_does_not_leak(cluster):
    cluster.start_dev(env={"SECRET_OF_THE_WORKER": "x"})
    result = cluster.cli("run", "--", "env")
    assert "SECRET_OF_THE_WORKER" not in result.out and "PATH=" in result.out


def test_only_the_standard_descriptors_are_open(dev):
    assert dev.cli("run", "--", "sh", "-c", "ls /proc/$$/fd").out.split() == ["0", "1", "2"]
    assert dev.cli("run", "--", "cat").out == "", "standard input is empty"


# -- ends

@pytest.mark.parametrize("command, code, words", [
    (["/no/such/program"], 127, "No such file"),
    (["no-such-program-anywhere"], 127, "no-such-program-anywhere"),
    (["/etc/passwd"], 126, "ermission"),
    (["/"], 126, "/"),
])
def test_a_command_that_can_not_be_started(dev, command, code, words):
    result = dev.cli("run", "--", *command, check=False)
    assert result.code == code, result
    task = dev.all_tasks()[0]
    assert task["state"] == "failed" and task["exit_code"] == code
    assert words in task["reason"], task["reason"]


def test_a_working_directory_that_is_not_there(dev):
    result = dev.cli("run", "-C", "/no/such/dir", "--", "true", check=False)
    assert result.code in (126, 127)
    assert "/no/such/dir" in dev.all_tasks()[0]["reason"]


@pytest.mark.parametrize("script, code", [
    ("exit 0", 0), ("exit 1", 1), ("exit 42", 42), ("exit 255", 255), ("kill -SEGV $$", 139), ("kill -KILL $$", 137),
])
def test_run_mirrors_the_end(dev, script, code):
    assert dev.cli("run", "--", "sh", "-c", script, check=False).code == code
    task = dev.all_tasks()[0]
    assert task["signal"] == (code - 128 if code in (137, 139) else None)


@pytest.mark.parametrize("code, state, attempts", [(99, "succeeded", 1), (100, "failed", 1), (111, "failed", 3), (5, "failed", 3)])
def test_exit_codes_where_the_queue_says_so(dev, code, state, attempts):
    dev.cli("queue", "create", "q", "--exit-codes", "--max-attempts", 3, "--backoff", "10ms")
    task = dev.wait_ended(dev.submit("sh", "-c", f"exit {code}", queue="q")["id"])
    assert (task["state"], len(task["attempts"]), task["exit_code"]) == (state, attempts, code)
    assert code != 99 or "skip" in task["reason"]


def test_exit_codes_elsewhere_are_only_codes(dev):
    for code in 99, 100, 111:
        task = dev.submit("sh", "-c", f"exit {code}", max_attempts=2, backoff="10ms")["id"]
        task = dev.wait_ended(task)
        assert (task["state"], len(task["attempts"])) == ("failed", 2)


def test_children_left_behind_do_not_outlive_their_task(dev):
    task = dev.submit("sh", "-c", "sleep 1000 & setsid sleep 1000 & exit 0")["id"]
    assert dev.wait_ended(task)["state"] == "succeeded"
    assert harness.processes_with(f"REEVE_TASK_ID={task}") == []


# -- many

def test_array_from_a_range_and_from_lines(dev):
    batch = dev.cli("submit", "-o", "json", "--array", "2-8:3", "--label", "n={}", "--", "echo", "item {}").json
    assert batch["accepted"] == 3
    dev.wait_idle(batch=batch["batch"])
    tasks = dev.all_tasks(batch=batch["batch"], full="true")
    assert [t["stdout"] for t in tasks] == ["item 2\n", "item 5\n", "item 8\n"]
    assert [t["labels"]["n"] for t in tasks] == ["2", "5", "8"]
    lines = dev.cli("submit", "--array", "-", "--wait", "-o", "json", "--", "test", "good", "=",
                    input="good\nbad\n", check=False)
    assert lines.code == 1, "not all succeeded"


def test_ndjson_reports_errors_by_line(dev):
    dev.cli("queue", "pause", dev.create_queue("q")["name"])
    lines = ['{"queue":"q","command":["true"]}', "", '{"queue":"q","command":"true"}', "{broken",
             '{"queue":"q","command":["true"],"prioriti":1}', '{"queue":"none","command":["true"]}',
             '{"queue":"q","command":["true"],"priority":3}', "[1]"]
    answer = dev.call("POST", "/v1/tasks", data="\n".join(lines), headers={"Content-Type": "application/x-ndjson"})
    report = answer.json()
    assert answer.status_code == 200, report
    assert report["accepted"] == 2 and report["rejected"] == 5
    assert [e["line"] for e in report["errors"]] == [3, 4, 5, 6, 8]
    assert all(e["detail"] for e in report["errors"])
    assert "priority" in json.dumps(report["errors"][2]), "the misspelt member is named"
    assert [i is not None for i in report["ids"]] == [True, False, False, False, False, True, False]
    assert dev.get("/v1/tasks/summary")["total"] == 2
    atomic = dev.call("POST", "/v1/tasks?atomic=true", data="\n".join(lines),
                      headers={"Content-Type": "application/x-ndjson"})
    assert atomic.status_code == 400
    assert dev.get("/v1/tasks/summary")["total"] == 2
    result = dev.cli("submit", "--ndjson", "-", input="\n".join(lines), check=False)
    assert result.code != 0 and "3" in result.err


def test_a_hundred_thousand_tasks_in_one_request(server):
    server.cli("queue", "pause", server.create_queue("q")["name"])
    total = 100000
    report = server.submit_many({"queue": "q", "command": ["echo", str(n)]} for n in range(total))
    assert report["accepted"] == total and len(set(report["ids"])) == total
    server.server.kill9()
    server.restart()
    assert server.get("/v1/tasks/summary", queue="q")["states"] == {"queued": total}
    assert server.get("/v1/queues/q")["counts"]["queued"] == total
    assert server.get(f"/v1/tasks/{report['ids'][77777]}")["command"] == ["echo", "77777"]


def test_an_idempotency_key_holds_across_a_crash(dev):
    headers = {"Idempotency-Key": "once only"}
    body = {"command": ["true"]}
    first = dev.call("POST", "/v1/tasks", expect=201, json=body, headers=headers)
    dev.server.kill9()
    dev.restart()
    again = dev.call("POST", "/v1/tasks", json=body, headers=headers)
    assert again.json()["id"] == first.json()["id"] and again.headers["Idempotent-Replay"] == "true"
    assert dev.get("/v1/tasks/summary")["total"] == 1


def test_interrupting_run_cancels_the_task(dev):
    records = Records(dev)
    child = subprocess.Popen([harness.BIN, "run", "--", *records.command("forever")], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=harness.clean_environment(REEVE_SERVER=f"unix:{dev.socket}"))
    task = records.wait_begun(1)[0].task
    child.send_signal(2)
    child.communicate(timeout=harness.PATIENCE)
    assert child.returncode == 130
    assert dev.get(f"/v1/tasks/{task}")["state"] == "cancelled"
