# SPDX-License-Identifier: Apache-2.0
"""Standard output that is full or closed: it is said, what was submitted is named, and the exit code is not 0."""
import json
import re
import subprocess

import harness
import pytest

MANY = [("task", "ls"), ("task", "ls", "-o", "json"), ("task", "ls", "-o", "jsonl"), ("batch", "ls"), ("events",),
        ("events", "-o", "yaml"), ("queue", "ls", "--watch"), ("why", "@last"), ("task", "show", "@last"), ("status",), ("--help",),
        ("help", "submit"), ("queue", "--help"), ("submit", "--help"), ("--version",), ("config", "show"), ("version",),
        ("cron", "next", "--tz", "UTC", "--crontab", "0 0 * * *")]
# what the shell does with standard output, the exit code, and the reason
LOST = {">/dev/full": (1, "No space left on device"), ">&-": (1, "Bad file descriptor")}


@pytest.fixture(scope="module")
def dev(module_cluster):
    return module_cluster("dev")


@pytest.fixture
def lost(dev, tmp_path):
    """Runs a command with such a standard output; what it wrote to standard error."""
    def run(how, *args, given=b""):
        done = subprocess.run(["sh", "-c", f'"$@" {how}', "sh", harness.BIN, *args], input=given, stderr=subprocess.PIPE, timeout=60,
                              env=harness.clean_environment(REEVE_SERVER=f"unix:{dev.socket}", HOME=str(tmp_path)))
        return done.returncode, done.stderr.decode()

    return run


@pytest.mark.parametrize("how", LOST)
def test_what_was_submitted_is_named(dev, lost, how):
    code, reason = LOST[how]
    group = json.dumps({"jobs": [{"name": "a", "command": ["true"]}]}).encode()
    for kind, args, given in (("task", ("submit", "--", "true"), b""), ("task", ("submit", "-o", "json", "--", "true"), b""),
                              ("batch", ("submit", "--array", "1-3", "--", "true"), b""), ("task", ("submit", "--wait", "true"), b""),
                              ("group", ("group", "submit", "-"), group)):
        got, err = lost(how, *args, given=given)
        said = re.search(rf"reeve: standard output cannot be written: {reason}; the {kind} was submitted: ([0-9a-f]{{24}})\n", err)
        assert got == code and said, (args, got, err)
        path = {"task": "tasks", "batch": "batches", "group": "groups"}[kind]
        assert dev.get(f"/v1/{path}/{said[1]}")["id"] == said[1]


@pytest.mark.parametrize("how", LOST)
def test_every_command_tells(lost, how):
    assert lost(">/dev/null", "submit", "--array", "1-3", "--", "true")[0] == 0
    assert lost(">/dev/null", "submit", "sleep", "100")[0] == 0
    for args in MANY:
        code, reason = LOST[how]
        got, err = lost(how, *args)
        assert got == code and err.count(f"reeve: standard output cannot be written: {reason}\n") == 1, (args, got, err)


def test_one_that_writes_nothing_has_lost_nothing(lost):
    assert lost(">&-", "-q", "queue", "pause", "default") == (0, "")
    assert lost(">&- 2>&-", "queue", "resume", "default")[0] == 1
    assert lost("2>&-", "queue", "resume", "default")[0] == 0


def test_a_reader_that_left_is_no_error(lost):
    assert lost("| true", "task", "ls")[1] == ""
    err = lost("| sleep 0", "submit", "-o", "json", "--stdin", "-", "true", given=b"x" * 10)[1]
    assert err == "" or "Broken pipe; the task was submitted: " in err, err
