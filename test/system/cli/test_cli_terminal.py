# SPDX-License-Identifier: Apache-2.0
"""What comes from tasks and servers never drives the terminal of whoever looks at it."""
import json
import re

import pytest
from harness import wait_until

ESC = "\x1b]0;owned\x07\x1b[31m"
C1 = "\x9b31m\x7f"
BIDI = "\u202e"
EVIL = ESC + C1 + BIDI + "end"
DRIVES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(dev, tmp_path):
    """A failed task, a held one and a paused queue, everything in them hostile."""
    def accept(**members):
        answer = dev.call("POST", "/v1/tasks", json=members)
        return answer.json()["id"] if answer.status_code < 300 else None

    dev.create_queue("q", threads=0)
    dev.call("POST", "/v1/queues/q/pause", expect=200, json={"reason": EVIL})
    script = f"printf '{ESC}'; printf '{ESC}' >&2; exit 3"
    dev.failed = accept(command=["sh", "-c", script, EVIL], labels={"l": EVIL}, env={"E": EVIL}, key=EVIL)
    # Where the server already refuses such text there is nothing to show.
    dev.failed = dev.failed or accept(command=["sh", "-c", script, EVIL], labels={"l": EVIL}, env={"E": EVIL})
    dev.failed = dev.failed or accept(command=["sh", "-c", script, EVIL], env={"E": EVIL})
    dev.waiting = accept(queue="q", command=["echo", EVIL], params={"p": EVIL})
    assert dev.failed and dev.waiting
    dev.wait_ended(dev.failed)
    dev.person = {"HOME": str(tmp_path)}
    return dev


def commands(dev):
    yield from (["task", "ls"], ["task", "ls", "-o", "wide"], ["task", "show", dev.failed], ["task", "show", dev.waiting],
                ["why", dev.waiting], ["why", dev.failed], ["queue", "ls", "-o", "wide"], ["queue", "show", "q"],
                ["worker", "ls", "-o", "wide"], ["events"], ["status"], ["top"], ["doctor"], ["wait", dev.failed],
                ["cancel", "--reason", EVIL, dev.failed], ["__complete", "task"], ["__complete", "queue"])


def test_text_for_people_is_clean(evil):
    for command in commands(evil):
        result = evil.cli(*command, env=evil.person, check=False)
        found = DRIVES.search(result.out + result.err)
        assert not found, (command, found, result)
    assert "owned" in evil.cli("task", "show", evil.failed).out, "it is shown, only made harmless"


def test_machine_formats_escape_and_keep_it(evil):
    for command in (["task", "show", evil.failed], ["task", "ls", "--full"], ["why", evil.waiting], ["queue", "ls"]):
        for form in ("json", "jsonl", "yaml"):
            text = evil.cli(*command, "-o", form).out
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f]", text), (command, form)
    assert evil.json("task", "show", evil.failed)["command"][3] == EVIL
    assert evil.json("queue", "show", "q")["pause_reason"] == EVIL


def test_output_itself_is_not_touched(evil):
    assert evil.cli("logs", "--stdout", evil.failed).out == ESC
    assert evil.cli("run", "printf", "%s", ESC).out == ESC


def test_refused_lines_are_clean(evil):
    lines = json.dumps({"command": ["true"], EVIL: 1}) + "\n" + json.dumps({"command": ["true"], "queue": EVIL}) + "\n"
    result = evil.cli("submit", "--ndjson", "-", input=lines, env=evil.person, check=False)
    assert result.code == 1 and "line 2" in result.err
    assert not DRIVES.search(result.err), result
    gone = evil.cli("task", "ls", "--queue", EVIL, check=False)
    assert not DRIVES.search(gone.out + gone.err), gone


def test_worker_names(server):
    started = server._process("evil", ["worker", "--join", server.link, "--name", "w\x1b[2Jx", "--state-dir",
                                       server.state_dir("evil"), "--zone", "z\x9b1m"], None)
    wait_until(lambda: not started.running or server.json("worker", "ls")["items"], what="it joined or was refused")
    for command in (["worker", "ls", "-o", "wide"], ["top"], ["events"], ["__complete", "worker"]):
        result = server.cli(*command)
        assert not DRIVES.search(result.out + result.err), (command, result)
