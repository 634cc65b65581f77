# SPDX-License-Identifier: Apache-2.0
"""Small stones on the command line: words that were not true, errors said too often, names that mean something else."""
import os
import subprocess

import harness
import pytest

DAILY = ["--tz", "UTC", "--crontab", "0 3 * * *", "--max-shift", "12h"]


def reeve(cluster, *args, **more):
    env = harness.clean_environment(REEVE_SERVER=f"unix:{cluster.socket}")
    return subprocess.Popen([harness.BIN, *args], env=env, stderr=subprocess.PIPE, **more)


def test_nobody_reads_the_output_of_run(dev):
    out, end = os.pipe()
    child = reeve(dev, "run", "--", "yes", stdin=subprocess.DEVNULL, stdout=end)
    os.close(end)
    assert os.read(out, 2) == b"y\n"
    os.close(out)
    said = child.communicate(timeout=harness.PATIENCE)[1].decode()
    assert child.returncode == 141
    task = dev.all_tasks()[0]["id"]
    assert said == f"reeve: cancelling {task}: nobody reads its output any more\n"
    assert dev.wait_ended(task)["state"] == "cancelled"


def test_output_that_cannot_be_written_is_not_called_unread(dev):
    with open("/dev/full", "wb") as full:
        child = reeve(dev, "run", "--", "yes", stdin=subprocess.DEVNULL, stdout=full)
        said = child.communicate(timeout=harness.PATIENCE)[1].decode()
    assert "its output cannot be written here" in said and "nobody reads" not in said and "No space left" in said


@pytest.mark.parametrize("option, value, words", [
    ("--tail", "-1", 'reeve: --tail: "-1" is not a whole number from 0 to 100000\n'),
    ("--tail", "many", 'reeve: --tail: "many" is not a whole number from 0 to 100000\n'),
    ("--attempt", "0", "reeve: --attempt counts from 1, or back from -1\n"),
])
def test_logs_says_once_what_is_wrong_with_its_options(dev, option, value, words):
    batch = dev.cli("submit", "--array", "1-3", "--", "true").out.strip()
    result = dev.cli("logs", option, value, batch, check=False)
    assert (result.code, result.out, result.err) == (2, "", words)


def test_a_batch_where_a_task_is_meant(dev):
    batch = dev.cli("submit", "--array", "1-2", "--hold", "--", "true").out.strip()
    for words in (["task", "show", batch], ["task", "set", batch, "--priority", "1"], ["task", "history", batch]):
        result = dev.cli(*words, check=False)
        assert result.code == 1 and f"reeve batch show {batch}" in result.err, words
    for words in (["events", "--task", batch], ["events", "-f", "--task", batch]):
        result = dev.cli(*words, check=False)
        assert result.code == 2 and f"reeve batch show {batch}" in result.err and "--batch" in result.err, words
    nobody = "0" * 24
    assert "batch" not in dev.cli("task", "show", nobody, check=False).err


def test_a_group_where_a_task_is_meant(server):
    group = server.call("POST", "/v1/groups", json={"jobs": [{"name": "a", "command": ["true"]}]}).json()["id"]
    for words in (["task", "show", group], ["task", "set", group, "--priority", "1"], ["events", "--task", group]):
        result = server.cli(*words, check=False)
        assert result.code == 1 and "it is the id of a group" in result.err, words


def test_a_name_of_two_things_is_refused(server):
    """A batch and a group of one name: neither is cancelled by mistake."""
    group = server.call("POST", "/v1/groups", json={"name": "both", "jobs": [{"name": "a", "command": ["true"]}]}).json()["id"]
    batch = server.cli("submit", "--array", "1-2", "--name", "both", "--hold", "--", "true").out.strip()
    for word in ("cancel", "wait", "why", "retry", "logs"):
        result = server.cli(word, "both", check=False)
        assert result.code in (1, 125) and '"both" is the name of a batch and of a group' in result.err, result
        assert "reeve batch show both, reeve group show both" in result.err
    assert {t["state"] for t in server.all_tasks() if t["batch"] == batch} == {"held"}
    assert server.cli("cancel", batch).out == "2 of 2 cancelled\n"
    assert server.get(f"/v1/groups/{group}")["state"] != "canceled"
    assert server.cli("cancel", group).out == "group both cancelled\n"


def test_quiet_makes_no_remarks(server):
    def said(*words):
        result = server.cli(*words[:2], "-q", *words[2:])
        return result.out + result.err

    assert said("queue", "create", "q") == said("queue", "set", "q", "--threads", "1") == ""
    assert said("queue", "pause", "q") == said("queue", "resume", "q") == said("queue", "rm", "q", "--yes") == ""
    assert said("schedule", "add", "s", *DAILY, "--", "true") == ""
    assert said("schedule", "pause", "s") == said("schedule", "rm", "s", "--yes") == ""
    task = server.cli("submit", "-q", "--", "true").out.strip()
    assert said("task", "set", task, "--priority", "3") == "" and server.task(task)["priority"] == 3
    assert server.cli("queue", "create", "r", "-q", "-o", "json").json["name"] == "r", "what was asked for is no remark"


@pytest.mark.parametrize("words", [
    ["submit", "--name", "@last", "--", "true"], ["submit", "--array", "1-2", "--name", "@last", "--", "true"],
    ["submit", "--array", "1-2", "--name", "@mine", "--", "true"], ["queue", "create", "@last"],
    ["queue", "create", "@any"], ["schedule", "add", "@last", *DAILY, "--", "true"],
    ["run", "--name", "@last", "--", "true"],
])
def test_a_name_that_would_stand_for_something(server, words):
    result = server.cli(*words, check=False)
    assert result.code in (2, 125) and "what begins with @ stands for something" in result.err
    assert not server.all_tasks()


def test_a_tasks_name_is_for_people(server):
    task = server.cli("submit", "--name", "@home: backup", "--", "true").out.strip()
    assert server.task(task)["name"] == "@home: backup"


@pytest.mark.parametrize("words", [
    ["wait"], ["cancel"], ["retry"], ["why"], ["logs"], ["task", "show"], ["task", "hold"], ["batch", "show"],
    ["queue", "show"], ["queue", "rm", "--yes"], ["queue", "create"], ["worker", "show"], ["worker", "drain"],
    ["schedule", "show"], ["schedule", "rm", "--yes"], ["group", "show"], ["group", "rm"], ["graph", "show"], ["run"],
    ["submit"],
], ids=" ".join)
def test_a_variable_of_a_script_without_a_value(server, words):
    """`reeve wait "$B"` where nobody has set B: it means nothing, and never everything."""
    result = server.cli(*words, "", check=False)
    assert result.code in (2, 125) and result.out == ""
    assert f"an argument is empty: reeve {' '.join(w for w in words if w != '--yes')} takes" in result.err


@pytest.mark.parametrize("option", ["queue", "batch", "group", "worker", "schedule", "name", "search", "label", "state", "since"])
def test_an_empty_filter_chooses_nothing(server, option):
    held = server.cli("submit", "--hold", "--", "echo", "").out.strip()
    for words in (["task", "ls"], ["cancel", "--yes"], ["retry"]):
        result = server.cli(*words, f"--{option}=", check=False)
        assert result.code in (1, 2) and result.out == "" and "reply" not in result.err, result
    assert server.task(held)["state"] == "held" and server.task(held)["command"] == ["echo", ""]
