# SPDX-License-Identifier: Apache-2.0
"""A batch is a thing of its own: its id and its name mean all of its tasks, in every command."""
import json
import sqlite3

import pytest
from harness import wait_until

MEMBERS = {"id", "name", "ctime", "actor", "tasks", "total", "states", "done", "live", "running", "failed", "rate",
           "left_ms", "ended", "id_is_task", "namesakes"}


@pytest.fixture
def cli(dev, tmp_path):
    """Runs a command as a person with a home of their own, so that @last is theirs."""
    def run(*args, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    return run


def array(cli, items, *command, more=()):
    """The batch, as a script gets it."""
    result = cli("submit", "--array", items, *more, "--", *command)
    assert result.out.count("\n") == 1, result
    return result.out.strip()


def states(cluster, batch):
    return cluster.get(f"/v1/batches/{batch}")["states"]


def test_wait_waits_for_all_of_them(dev, cli):
    batch = array(cli, "1-3", "sh", "-c", "sleep 0.{}; exit 0")
    assert cli("wait", batch).code == 0
    assert states(dev, batch) == {"succeeded": 3}
    failing = array(cli, "0-2", "sh", "-c", "exit {}")
    assert cli("wait", failing, check=False).code == 1
    assert states(dev, failing) == {"succeeded": 1, "failed": 2}
    assert cli("wait", batch, failing, check=False).code == 1
    assert cli("wait", "--timeout", "0.1s", array(cli, "100-101", "sleep"), check=False).code == 124


def test_cancel_cancels_all_of_them(dev, cli):
    batch = array(cli, "31-33", "sleep")
    assert cli("cancel", batch).out == "3 of 3 cancelled\n"
    cli("wait", batch, check=False)
    assert states(dev, batch) == {"cancelled": 3}


def test_one_task_is_a_batch_too(dev, cli):
    """A script does not know how many items there are."""
    batch = array(cli, "7", "true")
    assert cli("wait", batch).code == 0
    assert cli("batch", "show", batch, "-o", "json").json["tasks"] == 1


def test_every_command_takes_it(dev, cli):
    cli("queue", "create", "later", "--threads", "0")
    batch = array(cli, "1-3", "sh", "-c", "echo item {}; test {} != 2", more=("--queue", "later"))
    why = cli("why", batch)
    assert "threads" in why.out and "3 wait" in why.err, why
    assert cli("task", "hold", batch).out == "3 of 3 held\n"
    assert states(dev, batch) == {"held": 3}
    assert cli("task", "release", batch).out == "3 of 3 released\n"
    cli("queue", "set", "later", "--threads", "3")
    assert cli("wait", batch, check=False).code == 1
    assert cli("logs", "--no-prefix", batch).out.split("\n")[:3] == ["item 1", "item 2", "item 3"]
    assert cli("retry", "--failed", batch).out == "1 of 1 queued again\n"
    cli("wait", batch, check=False)
    ids = [t["id"] for t in cli("task", "ls", "--batch", batch, "-o", "jsonl").jsonl]
    assert len(ids) == 3 and batch not in ids
    assert "all of its tasks have ended: nothing waits" in cli("why", batch).out
    other = cli("submit", "sleep", "100").out.strip()
    several = cli("cancel", other, batch).out
    assert several == "0 of 0 cancelled\n1 of 1 cancelled\n", several
    assert dev.call("GET", f"/v1/tasks/{batch}").status_code == 404, "it is no task's"


def test_why_of_a_batch_that_has_ended(dev, cli):
    batch = cli("submit", "--array", "1-3", "--", "sh", "-c", "echo {}; test {} != 2").out.strip()
    assert cli("wait", batch, check=False).code == 1
    lines = cli("why", batch).out.splitlines()
    assert lines[0] == "all of its tasks have ended: nothing waits"
    assert cli("why", batch, "-o", "json").json == {"id": batch, "summary": lines[0], "reasons": []}
    proposed = [line.partition(": reeve ")[2].split() for line in lines[1:]]
    assert cli(*proposed[0]).out.endswith("2\n") and cli(*proposed[1]).out == "1 of 1 queued again\n", proposed


def test_events_of_a_batch(dev, cli):
    batch = array(cli, "1-2", "true", more=("--name", "told"))
    assert cli("events", "--batch", batch).code == cli("events", "--batch", "told").code == 0
    assert "there is no batch" in cli("events", "--batch", "untold", check=False).err


def test_names(dev, cli):
    first = array(cli, "1-2", "true", more=("--name", "nightly"))
    second = array(cli, "1-3", "true", more=("--name", "nightly"))
    assert cli("wait", "nightly").code == 0
    shown = cli("batch", "show", "nightly", "-o", "json").json
    assert shown["id"] == second and shown["tasks"] == 3 and set(shown) == MEMBERS, shown
    assert cli("submit", "--batch", "nightly", "--array", "8-9", "--", "true").out.strip() == second
    assert cli("batch", "show", "@last").out.count(second) == 1
    cli("submit", "--batch", second, "true")
    assert cli("wait", "nightly").code == 0
    assert cli("batch", "show", second, "-o", "json").json["states"] == {"succeeded": 6}
    assert len(cli("task", "ls", "--batch", "nightly", "-o", "jsonl").jsonl) == 6
    assert [b["id"] for b in cli("batch", "ls", "--name", "night", "-o", "jsonl").jsonl] == [second, first]
    assert "6 succeeded" in cli("batch", "show", second).out
    table = cli("batch", "ls").out
    assert "PROGRESS" in table and "6/6" in table and "100%" in table, table
    unknown = cli("wait", "weekly", check=False)
    assert unknown.code == 2 and '"weekly" is neither the id of a task nor' in unknown.err, unknown
    assert cli("submit", "--batch", "weekly", "true", check=False).code == 1
    assert cli("submit", "--array", "1-2", "--name", "n-{}", "-o", "json", "--", "true").json["batch"]
    assert cli("batch", "show", "@last", "-o", "json").json["name"] is None, "each task has a name of its own"
    cli("submit", "--ndjson", "-", "--name", "lines", input='{"command":["true"]}\n')
    assert cli("batch", "show", "lines", "-o", "json").json["tasks"] == 1
    one = cli("submit", "--batch", first, "--name", "alone", "true").out.strip()  # its own name, in their batch
    joined = cli("task", "show", one, "-o", "json").json
    assert (joined["name"], joined["batch"]) == ("alone", first)


def test_the_newest_of_a_name_is_said(dev, cli):
    first = array(cli, "1-2", "true", more=("--name", "nightly"))
    assert "are named" not in cli("wait", "nightly").err
    newest = array(cli, "1-2", "true", more=("--name", "nightly"))
    commands = [("wait", "nightly"), ("wait", "--batch", "nightly"), ("cancel", "nightly"), ("cancel", "--batch", "nightly"),
                ("retry", "nightly"), ("why", "nightly"), ("logs", "nightly"), ("logs", "--batch", "nightly"),
                ("task", "hold", "nightly"), ("task", "release", "nightly"), ("task", "ls", "--batch", "nightly"),
                ("events", "--batch", "nightly"), ("batch", "show", "nightly"), ("submit", "--batch", "nightly", "true")]
    for command in commands:
        said = cli(*command).err
        assert f'reeve: 2 batches are named "nightly"; the newest is meant: {newest}' in said, (command, said)
    assert cli("batch", "show", first).err == cli("-q", "batch", "show", "nightly").err == ""


def test_the_id_of_something_else(dev, cli):
    """Each says what it is, and nothing is done."""
    task = cli("submit", "sleep", "100").out.strip()
    batch = array(cli, "101-102", "sleep")
    group = cli("group", "submit", "-", input=json.dumps({"jobs": [{"name": "a", "command": ["sleep", "100"]}]})).out.strip()
    nothing = "6aff6d8fa8bf66e05a00ffff"
    ids = {"batch": [(task, f"task: reeve task show {task}"), (group, f"group of jobs: reeve group show {group}"), (nothing, None)],
           "group": [(task, "task: reeve task show"), (batch, f"batch of tasks: reeve batch show {batch}"), (nothing, None)]}
    commands = [("wait",), ("cancel",), ("retry",), ("task", "hold"), ("task", "release"), ("logs",), ("task", "ls"), ("events",)]
    for kind, wrong in ids.items():
        for given, what in wrong:
            for command in [*commands, ("cancel", "--dry-run")]:
                said = cli(*command, f"--{kind}", given, check=False)
                assert said.code == (125 if command == ("wait",) else 1) and not said.out, (command, said)
                assert f'there is no {kind} "{given}"' in said.err and (what or "hint:") in said.err, (command, said)
            said = cli(kind, "show", given, check=False)
            assert said.code == 1 and f'there is no {kind} "{given}"' in said.err and (what or "") in said.err, said
    assert cli("submit", "--batch", task, "true", check=False).code == 1
    assert dev.get(f"/v1/tasks/{task}")["state"] in ("queued", "claimed", "running")
    for kind in ("batch", "group"):
        said = cli(kind, "show", f"{group}/a", check=False)
        assert said.code == 1 and f'there is no {kind} "{group}/a"' in said.err and "GROUP/JOB" in said.err, said
        assert cli("cancel", f"--{kind}", "x/y", check=False).err == said.err.replace(f"{group}/a", "x/y")
    cli("group", "cancel", group)
    wait_until(lambda: dev.get(f"/v1/groups/{group}")["state"] == "canceled", what="the group has ended")
    cli("group", "rm", group)
    assert len(cli("task", "ls", "--group", group, "-o", "jsonl").jsonl) == 1, "its tasks are there"


def test_killed_between_submit_and_wait(cluster):
    cluster.start_server()
    cluster.start_worker()
    batch = array(cluster.cli, "1-40", "sh", "-c", "sleep 0.01", more=("--name", "durable"))
    cluster.server.kill9()
    cluster.restart()
    assert cluster.cli("wait", batch).code == 0
    shown = cluster.get(f"/v1/batches/{batch}")
    assert shown["states"] == {"succeeded": 40} and shown["tasks"] == 40 and shown["name"] == "durable"
    assert shown["live"] == 0 and shown["ended"] and shown["rate"] > 0 and shown["left_ms"] is None


def test_a_repeated_request_has_the_same_batch(cluster):
    cluster.start_server()

    def submit():
        return cluster.call("POST", "/v1/tasks?batch_name=once", headers={"Idempotency-Key": "k"},
                            json=[{"command": ["true"]}] * 3)

    first = submit().json()
    cluster.server.kill9()
    cluster.restart()
    again = submit()
    assert again.json()["batch"] == first["batch"] and again.json()["ids"] == first["ids"]
    assert [b["id"] for b in cluster.get("/v1/batches")["items"]] == [first["batch"]]
    assert cluster.get(f"/v1/batches/{first['batch']}")["tasks"] == 3


def test_many_chunks_are_one_batch(dev, cli):
    cli("queue", "create", "later", "--threads", "0")
    batch = array(cli, "1-120000", "true", more=("--queue", "later", "--name", "big"))
    shown = cli("batch", "show", batch, "-o", "json").json
    assert shown["tasks"] == shown["total"] == 120000 and shown["states"] == {"queued": 120000}
    assert cli("cancel", batch, timeout=300).out == "120000 of 120000 cancelled\n"
    assert dev.get("/v1/batches")["items"][0]["done"] == 120000


def test_it_goes_with_its_last_task(cluster):
    cluster.start_dev(env={"REEVE_SERVER_RETENTION_AGE": "1s"})
    cluster.create_queue("paused")
    cluster.cli("queue", "pause", "paused")
    kept = array(cluster.cli, "1-2", "true", more=("--queue", "paused"))
    batch = array(cluster.cli, "1-5", "true")
    wait_until(lambda: cluster.call("GET", f"/v1/batches/{batch}").status_code == 404, what="all are pruned")
    assert [b["id"] for b in cluster.get("/v1/batches")["items"]] == [kept]
    joined = cluster.call("POST", f"/v1/tasks?batch={batch}", json=[{"command": ["true"]}])
    assert joined.status_code == 404 and joined.json()["field"] == "batch"
    cluster.cli("queue", "rm", "paused", "--force", "--yes")
    assert cluster.get("/v1/batches")["items"] == []


def make_old(cluster):
    """As it was before batches had ids of their own."""
    db = sqlite3.connect(f"{cluster.state_dir()}/reeve.db")
    first = db.execute("SELECT min(id) FROM task WHERE batch IN (SELECT max(id) FROM task_batch)").fetchone()[0]
    db.execute("UPDATE task SET batch = ?, spec_sum = NULL WHERE batch IN (SELECT max(id) FROM task_batch)", (first,))
    db.execute("DELETE FROM task_batch")
    db.commit()
    db.close()


def test_old_ids_mean_what_they_meant(cluster):
    cluster.start_server()
    ids = cluster.submit_many([{"command": ["sh", "-c", f"exit {n}"]} for n in range(3)])["ids"]
    assert cluster.server.stop() is not False
    make_old(cluster)
    cluster.restart()
    cluster.start_worker()
    cluster.wait_idle(batch=ids[0])
    old = ids[0]
    assert cluster.cli("wait", old).code == 0, "it is a task"
    assert cluster.cli("task", "show", old, "-o", "json").json["batch"] == old
    assert len(cluster.cli("task", "ls", "--batch", old, "-o", "jsonl").jsonl) == 3
    assert cluster.cli("wait", "--batch", old, check=False).code == 1, "and a batch"
    shown = cluster.cli("batch", "show", old, "-o", "json").json
    assert shown["id_is_task"] and shown["states"] == {"succeeded": 1, "failed": 2} and shown["tasks"] == 3
    assert cluster.cli("retry", "--batch", old, "--failed").out == "2 of 2 queued again\n"
    joined = cluster.submit_many([{"command": ["true"]}] * 2, batch=old)
    assert joined["batch"] == old
    cluster.wait_idle(batch=old)
    assert cluster.get(f"/v1/batches/{old}")["total"] == 5


def test_down_and_up_again(cluster):
    cluster.start_server()
    batch = array(cluster.cli, "1-3", "true", more=("--name", "kept"))
    before = cluster.get(f"/v1/batches/{batch}")
    cluster.server.stop()
    url = f"sqlite:{cluster.state_dir()}/reeve.db"
    said = cluster.cli("store", "migrate", "--to", 13, "--store", url).out
    assert "1 batch's row" in said, said
    cluster.cli("store", "migrate", "--store", url)
    cluster.restart()
    assert cluster.get(f"/v1/batches/{batch}") == {**before, "rate": cluster.get(f"/v1/batches/{batch}")["rate"]}


@pytest.mark.parametrize("items, want", [("1,3,7", "1 3 7"), ("1-9:4,20", "1 5 9 20"), ("3-1", "3 2 1")])
def test_lists_of_items(dev, cli, items, want):
    batch = array(cli, items, "sh", "-c", 'echo "$REEVE_ARRAY_INDEX {}"')
    cli("wait", batch)
    assert cli("logs", "--no-prefix", batch).out.split("\n")[:-1] == [f"{n} {n}" for n in want.split()]


def test_index_of_lines(dev, cli):
    batch = cli("submit", "--array", "-", "--", "sh", "-c", 'echo "$REEVE_ARRAY_INDEX {}"', input="a\n\nb\n").out.strip()
    cli("wait", batch)
    assert cli("logs", "--no-prefix", batch).out == "1 a\n2 b\n"


def test_a_second_array_is_refused(dev, cli):
    twice = cli("submit", "--array", "1-3", "--array", "4-5", "--", "true", check=False)
    assert twice.code == 2 and "--array is given more than once" in twice.err and "commas" in twice.err, twice
    for bad in ("1,,2", "1,", "x", "1-3,-"):
        assert cli("submit", "--array", bad, "--", "true", check=False).code == 2
    assert json.loads(cli("batch", "ls", "-o", "json").out)["items"] == []
