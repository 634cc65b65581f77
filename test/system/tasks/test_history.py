# SPDX-License-Identifier: Apache-2.0
"""A task's history: every state with its time, its cause, and who caused it, as long as there is the task."""
import os
import re

import harness
import pytest

ME = f"uid={os.getuid()}"


def history(cluster, task_id):
    return cluster.get(f"/v1/tasks/{task_id}/history")


def story(cluster, task_id):
    """What happened, in short."""
    return [(e["state"], e["cause"], e["actor"]) for e in history(cluster, task_id)["items"]]


def by_cli(cluster, *words):
    return cluster.cli("submit", "-q", *words).out.strip()


def test_a_plain_task(dev):
    task = by_cli(dev, "--name", "a first try", "--", "true")
    dev.wait_ended(task)
    assert story(dev, task) == [("queued", "submit", ME), ("claimed", "claim", "reeve"),
                                ("running", "start", "reeve"), ("succeeded", "end", "reeve")]
    whole = history(dev, task)
    assert whole["complete"] and whole["name"] == "a first try"
    assert all(e["time"] for e in whole["items"])
    assert whole["items"][-1]["exit_code"] == 0 and whole["items"][-1]["worker"]
    assert dev.get(f"/v1/tasks/{task}")["actor"] == ME


def test_attempts_cancel_and_retry_by_whom_and_why(dev):
    task = by_cli(dev, "--max-attempts", "2", "--backoff", "0s", "--", "false")
    dev.wait_ended(task)
    dev.cli("retry", task, "--reason", "once more")
    dev.wait_ended(task)
    told = story(dev, task)
    one = [("claimed", "claim", "reeve"), ("running", "start", "reeve"), ("failed", "end", "reeve")]
    assert [e for e in told if e != ("queued", "again", "reeve")] == (
        [("queued", "submit", ME)] + one * 2 + [("queued", "retry", ME)] + one * 2)
    assert told.count(("queued", "again", "reeve")) == 2
    retry = [e for e in history(dev, task)["items"] if e["cause"] == "retry"]
    assert [(e["reason"], e["attempt"]) for e in retry] == [("once more", 2)]


def test_held_at_submit_and_released(dev):
    task = by_cli(dev, "--hold", "--", "true")
    assert story(dev, task) == [("held", "submit", ME)]
    dev.cli("task", "release", task)
    dev.wait_ended(task)
    assert story(dev, task)[:2] == [("held", "submit", ME), ("queued", "release", ME)]
    never = by_cli(dev, "--hold", "--", "true")
    dev.cli("cancel", never)
    assert story(dev, never) == [("held", "submit", ME), ("cancelled", "cancel", ME)]
    assert history(dev, never)["complete"]
    blocked = dev.call("POST", "/v1/tasks", json={"command": ["true"], "status": -4}).json()["id"]
    dev.cli("task", "release", blocked)
    assert story(dev, blocked)[0][:2] == ("blocked", "submit")


def test_hold_release_priority_and_a_cancel_while_it_waits(server):
    task = server.cli("submit", "-q", "--", "true").out.strip()
    server.cli("task", "hold", task, "--reason", "not now")
    server.cli("task", "set", task, "--priority", "7")
    server.cli("task", "release", task)
    server.cli("cancel", task, "--reason", "never")
    assert story(server, task) == [("queued", "submit", ME), ("held", "hold", ME), ("held", "priority", ME),
                                   ("queued", "release", ME), ("cancelled", "cancel", ME)]
    assert [e["reason"] for e in history(server, task)["items"]] == [None, "not now", "7", None, "never"]
    server.cli("retry", task)
    assert story(server, task)[-2:] == [("cancelled", "cancel", ME), ("queued", "retry", ME)]


def test_a_cancel_of_a_running_task_names_who_wanted_it(dev):
    task = by_cli(dev, "--", "sleep", "600")
    dev.wait_task(task, "running")
    dev.cli("cancel", task, "--reason", "too long")
    dev.wait_ended(task)
    assert story(dev, task)[-2:] == [("running", "cancel", ME), ("cancelled", "end", "reeve")]


def test_a_token_is_named(server):
    made = server.call("POST", "/v1/tokens", expect=201, json={"name": "ci", "role": "operate"}).json()
    as_ci = {"Authorization": f"Bearer {made['secret'] if 'secret' in made else made['token']}"}
    task = server.call("POST", "/v1/tasks", json={"command": ["true"]}, headers=as_ci).json()["id"]
    server.call("POST", f"/v1/tasks/{task}/cancel", expect=200, headers=as_ci)
    actors = {e["actor"] for e in history(server, task)["items"]}
    assert len(actors) == 1 and "ci" in actors.pop()


def test_it_survives_kill_9_and_many_tasks_at_once(dev):
    report = dev.submit_many({"command": ["false"], "max_attempts": 1} for _ in range(700))  # a long submit
    dev.wait_idle()
    task = report["ids"][650]
    dev.cli("retry", task)
    dev.wait_ended(task)
    before = history(dev, task)
    assert [e["cause"] for e in before["items"]] == ["submit", "claim", "start", "end", "retry", "claim", "start", "end"]
    dev.server.kill9()
    dev.restart()
    assert history(dev, task) == before
    assert before["items"][0]["actor"] == dev.get(f"/v1/tasks/{task}")["actor"]


def test_ten_thousand_deeds_are_bounded_and_say_so(server):
    task = server.submit("true")["id"]
    for i in range(150):
        for status in (-10, -2):
            server.call("PATCH", f"/v1/tasks/{task}", expect=200, json={"status": status, "reason": "x" * 60})
    whole = history(server, task)
    assert not whole["complete"]
    assert 50 < len(whole["items"]) < 300
    assert whole["items"][0]["cause"] == "submit" and whole["items"][-1]["cause"] == "release"
    assert "not kept" in server.cli("task", "history", task).err


def test_of_a_schedule(dev):
    dev.cli("schedule", "add", "nightly", "--crontab", "0 3 * * *", "--tz", "UTC", "--max-shift", "12h", "--", "true")
    task = dev.cli("schedule", "run", "nightly").out.strip()
    dev.wait_ended(task)
    assert story(dev, task)[0] == ("queued", "schedule", ME)


def test_the_command_line_shows_date_zone_and_actor(dev):
    task = by_cli(dev, "--", "true")
    dev.wait_ended(task)
    lines = dev.cli("task", "history", task).out.splitlines()
    assert lines[0].split() == ["TIME", "STATE", "CAUSE", "BY", "WORKER", "REASON"] and len(lines) == 5
    assert lines[1].split()[0].endswith("Z") and ME in lines[1]
    assert dev.cli("events", "--task", task).out.splitlines() == lines
    dev.cli("queue", "create", "q1")
    wide = dev.cli("events", "--kind", "queue.created", "-o", "wide").out.splitlines()[-1]
    assert wide.split()[0].endswith("Z") and f"by {ME}" in wide


@pytest.mark.parametrize("name, wrong", [("", "empty"), ("a\nb", "control"), ("x" * 129, "128")])
def test_names_that_are_refused(server, name, wrong):
    answer = server.call("POST", "/v1/tasks", expect=400, json={"command": ["true"], "name": name}).json()
    assert wrong in answer["detail"] and answer["field"] == "name"


def test_lists_show_names_and_commands(server):
    server.cli("submit", "-q", "--name", "weekly report", "--", "make", "report")
    server.cli("submit", "-q", "--", "sh", "-c", "echo 'a b' | wc")
    server.create_queue("sums", plugin="sums")
    server.call("POST", "/v1/tasks", expect=201, json={"queue": "sums", "params": {"to": "ann", "n": [1, 2]}})
    server.call("POST", "/v1/tasks", expect=201, json={"command": ["long", "x" * 5000]})
    items = server.get("/v1/tasks")["items"]
    assert [t["summary"] for t in items[1:]] == ['{"to":"ann","n":[1,2]}', r"sh -c 'echo '\''a b'\'' | wc'", "make report"]
    assert items[0]["summary"].startswith("long xxx") and items[0]["summary"].endswith("…")
    table = server.cli("task", "ls").out
    assert "weekly report" in table and "make report" not in table and "sh -c" in table
    wide = server.cli("task", "ls", "-o", "wide").out
    assert re.search("weekly report .* make report", wide) and wide.count("sh -c") == 1, "named ones say what they run, too"
    assert [t["name"] for t in server.cli("task", "ls", "--name", "weekly report", "-o", "jsonl").jsonl] == ["weekly report"]
    assert server.cli("task", "ls", "--name", "weekly", "-o", "jsonl").jsonl == []
    assert harness.run("submit", "--help").out.count("--name") >= 1
