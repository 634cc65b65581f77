# SPDX-License-Identifier: Apache-2.0
"""Plugins: the examples work as they are, and a broken one harms only its own tasks."""
import json
import os
import subprocess

import harness
import pytest
from harness import wait_until
from keepers import lock_mark
from plugins import done, start

EXAMPLES = os.path.join(harness.ROOT, "examples", "plugins")


def compiled(cluster, name, *flags):
    """The examples in C, built as their reader would."""
    program = os.path.join(cluster.dir, name)
    subprocess.run(["cc", "-Wall", "-Werror", "-D_GNU_SOURCE", "-o", program, os.path.join(EXAMPLES, name + ".c"),
                    *flags], check=True)
    return [program]


def python(name):
    return ["/usr/bin/python3", os.path.join(EXAMPLES, name + ".py")]


def test_once_in_python(cluster):
    start(cluster, p={"exec": python("once")})
    task = done(cluster, "p", {"text": "häuser"})
    assert (task["state"], task["stdout"]) == ("succeeded", "6 letters, attempt 1 in queue p\n")
    wrong = done(cluster, "p", {"text": 6})
    assert (wrong["state"], wrong["exit_code"]) == ("failed", 2)
    assert wrong["stderr"] == "params.text must be a string\n"


def test_a_status_of_the_plugin_s_own(cluster):
    start(cluster, p={"exec": python("once")})
    task = done(cluster, "p", {"text": ""}, max_attempts=3)
    assert (task["state"], task["status"], task["reason"]) == ("finished", 3, "the text is empty")
    assert task["attempt"] == 1, "a further positive status is an end, not a failure"
    assert cluster.get("/v1/tasks", state="3")["items"][0]["id"] == task["id"]
    assert cluster.cli("wait", task["id"], check=False).code == 3


def test_once_in_c(cluster):
    start(cluster, p={"exec": compiled(cluster, "once"), "env": {"FROM": "plugin"}})
    task = done(cluster, "p", {"a": 1})
    assert task["state"] == "succeeded"
    assert task["stdout"].startswith(f"task {task['id']}, attempt 1, queue p: ")


@pytest.mark.parametrize("language", ["python", "c"])
def test_persistent(cluster, language):
    if language == "c":
        start(cluster, p={"exec": compiled(cluster, "persistent", "-ljansson"), "mode": "persistent"})
        params, out = {"text": "loud"}, "LOUD"
    else:
        start(cluster, p={"exec": python("persistent"), "mode": "persistent"})
        params, out = {"numbers": [1, 2, 39]}, "adding 1\nadding 2\nadding 39\nsum 42\n"
    report = cluster.submit_many([{"queue": "p", "params": params}] * 50)
    assert cluster.wait_idle(batch=report["batch"]) == {"succeeded": 50}
    assert out in cluster.cli("logs", report["ids"][0]).out
    assert out in cluster.cli("logs", report["ids"][49]).out
    bad = done(cluster, "p", {"numbers": "abc"} if language == "python" else {"text": 7})
    assert bad["state"] == "failed" and bad["reason"]
    assert done(cluster, "p", params)["state"] == "succeeded", "the process goes on after a failure"


def test_noop_in_c_many_at_once(cluster):
    start(cluster, "--maxthreads", 64, p={"exec": compiled(cluster, "noop"), "mode": "persistent", "processes": 2})
    report = cluster.submit_many([{"queue": "p", "params": {}}] * 2000)
    assert cluster.wait_idle(batch=report["batch"]) == {"succeeded": 2000}


def test_persistent_processes_are_recycled(cluster):
    program = os.path.join(cluster.dir, "pids.py")
    with open(python("persistent")[1]) as f:
        text = f.read().replace('f"sum {sum(numbers)}\\n"', 'f"{__import__(\'os\').getpid()}\\n"')
    with open(program, "w") as f:
        f.write(text)
    start(cluster, p={"exec": ["/usr/bin/python3", program], "mode": "persistent", "processes": 1, "recycle_after": 3})
    pids = [done(cluster, "p", {})["stdout"].strip() for _ in range(9)]
    assert len(set(pids)) == 3 and all(pids.count(p) == 3 for p in pids), pids
    wait_until(lambda: not [p for p in set(pids[:6]) if os.path.exists(f"/proc/{p}")], what="the old ones are gone")


GARBAGE = ["bad-length", "empty-frame", "bad-json", "not-an-object", "wrong-id", "wrong-token", "bad-status",
           "huge-frame", "second-hello", "text", "exit", "abort", "close"]


def test_garbage_of_every_kind_harms_only_its_own_task(cluster):
    start(cluster, broken={"exec": python("broken"), "mode": "persistent"})
    worker = cluster.get("/v1/workers")["items"][0]
    reasons = {}
    for kind in GARBAGE:
        task = done(cluster, "broken", {"kind": kind})
        assert task["state"] == "failed", (kind, task)
        reasons[kind] = task["reason"]
        assert cluster.wait_ended(cluster.submit("echo", "fine")["id"])["stdout"] == "fine\n"
        assert done(cluster, "broken", {"kind": "none"})["stdout"] == "fine\n", "another was started"
    assert all(r and ("plugin" in r or "broken" in r) for r in reasons.values()), reasons
    assert len(set(reasons.values())) >= 8, f"the reasons tell the kinds apart: {reasons}"
    after = cluster.get("/v1/workers")["items"][0]
    assert after["instance"] == worker["instance"], "the worker lives"
    # None of the broken ones is left: only the last, well-behaved one waits for more work.
    mark = lock_mark(f"{cluster.state_dir()}/worker")
    wait_until(lambda: len(harness.processes_with(mark)) == 1, what="the broken processes are gone")


def test_garbage_fails_retried_tasks_too(cluster):
    start(cluster, broken={"exec": python("broken"), "mode": "persistent"})
    task = done(cluster, "broken", {"kind": "text"}, max_attempts=3, backoff="10ms")
    assert task["state"] == "failed" and len(task["attempts"]) == 3
    assert len({a["reason"] for a in task["attempts"]}) == 1


def test_a_silent_plugin_is_ended_by_the_time_limit(cluster):
    start(cluster, "--kill-wait", "200ms", broken={"exec": python("broken"), "mode": "persistent"})
    task = done(cluster, "broken", {"kind": "silence"}, timeout="500ms")
    assert task["state"] == "terminated"
    assert done(cluster, "broken", {"kind": "none"})["state"] == "succeeded"


def test_a_silent_plugin_can_be_cancelled(cluster):
    start(cluster, "--kill-wait", "200ms", broken={"exec": python("broken"), "mode": "persistent"})
    task = cluster.submit(queue="broken", params={"kind": "silence"})["id"]
    cluster.wait_task(task, "running")
    cluster.cli("cancel", task)
    assert cluster.wait_ended(task)["state"] == "cancelled"
    assert done(cluster, "broken", {"kind": "none"})["state"] == "succeeded"


def test_the_time_limit_counts_for_a_plugin_that_says_no_hello(cluster):
    start(cluster, p={"exec": ["/bin/sleep", "1000"], "mode": "persistent"})
    task = done(cluster, "p", {}, timeout="300ms", max_attempts=2, backoff="10ms")
    assert (task["state"], len(task["attempts"])) == ("terminated", 2), task
    assert task["reason"] == "time limit of 300ms reached before plugin p said hello"


@pytest.mark.parametrize("program, words", [
    (["/no/such/plugin"], "/no/such/plugin"), (["/bin/true"], "plugin"), (["/bin/echo", "hello, who is there?"], "plugin"),
])
def test_a_persistent_plugin_that_does_not_start(cluster, program, words):
    start(cluster, p={"exec": program, "mode": "persistent"})
    task = cluster.wait_ended(cluster.submit(queue="p", params={})["id"])
    assert task["state"] == "failed" and words in task["reason"], task["reason"]
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"


@pytest.mark.parametrize("text, state", [
    ('{"status": 7}', "finished"), ('{"status": 7, "reason": "r"}', "finished"), ("not json", None),
    ('{"status": "x"}', None), ('{"status": -2}', None), ("[]", None), ('{"status": 99999999999999999999}', None),
    ("x" * 70000, None),
])
def test_what_a_once_plugin_may_write_to_descriptor_three(cluster, text, state):
    script = os.path.join(cluster.dir, "p.sh")
    with open(script, "w") as f:
        f.write(f"cat >&2 <&0\ncat {script}.reply >&3\n")
    with open(script + ".reply", "w") as f:
        f.write(text)
    start(cluster, p={"exec": ["/bin/sh", script]})
    task = done(cluster, "p", {})
    if state:
        assert (task["state"], task["status"]) == (state, 7)
    else:
        assert task["state"] == "failed" and task["reason"], task
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"


def test_params_arrive_whole(cluster):
    start(cluster, p={"exec": ["/bin/cat"]})
    params = {"text": "ü\u2028\U0001f600\"\\\n\t", "list": [1, 2.5, None, True, {"deep": [[[]]]}], "": "empty name",
              "long": "x" * 200000}
    task = done(cluster, "p", params, env={"E": "v"})
    got = json.loads(cluster.cli("logs", task["id"]).out)
    assert got["params"] == params
    assert (got["id"], got["attempt"], got["queue"], got["env"]) == (task["id"], 1, "p", {"E": "v"})
    assert got["token"] == task["token"]


def test_a_command_into_a_plugin_s_queue_is_refused(cluster):
    start(cluster, p={"exec": ["/bin/cat"]})
    answer = cluster.call("POST", "/v1/tasks", json={"queue": "p", "command": ["true"]})
    assert answer.status_code == 400 and "params" in answer.text, answer.text
