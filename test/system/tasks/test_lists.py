# SPDX-License-Identifier: Apache-2.0
"""Lists come page by page: the first line is there before the last is asked for, and none is kept."""
import json
import os
import signal
import subprocess

import harness
import pytest
import yaml

N = 2500  # more than two pages of a thousand


@pytest.fixture
def many(server):
    """A server with tasks that nobody runs."""
    server.submit_many({"command": ["echo", str(i)]} for i in range(N))
    return server


def environment(cluster):
    return harness.clean_environment(REEVE_SERVER=f"unix:{cluster.socket}")


def test_every_format_is_whole_over_many_pages(many):
    whole = many.cli("task", "ls", "-n", "0", "-o", "json").json
    ids = [task["id"] for task in whole["items"]]
    assert len(ids) == len(set(ids)) == N and whole["next"] is None
    assert [t["id"] for t in many.cli("task", "ls", "-n", "0", "-o", "jsonl").jsonl] == ids
    assert yaml.safe_load(many.cli("task", "ls", "-n", "0", "-o", "yaml").out) == whole
    table = many.cli("task", "ls", "-n", "0").out.splitlines()
    assert table[0].startswith("ID ") and len(table) == N + 1  # one title
    assert [line.split()[0] for line in table[1:]] == ids


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_part_says_where_to_go_on(many, form):
    read = json.loads if form == "json" else yaml.safe_load
    part = read(many.cli("task", "ls", "-n", "1200", "-o", form).out)
    assert len(part["items"]) == 1200 and part["next"]
    assert read(many.cli("worker", "ls", "-o", form).out) == {"items": [], "next": None}


def test_the_first_line_comes_before_the_last_page_is_asked_for(many):
    """The reader takes one line and goes. The list ends then, without a word, as SIGPIPE has it."""
    p = subprocess.Popen([harness.BIN, "task", "ls", "-n", "0", "-o", "jsonl"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=environment(many))
    first = json.loads(p.stdout.readline())
    p.stdout.close()
    assert first["queue"] == "default"
    assert p.stderr.read() == b""
    assert p.wait(harness.PATIENCE) in (-signal.SIGPIPE, 141)


def test_a_list_that_nobody_reads_ends_with_the_code_of_sigpipe(many):
    """The caller ignores SIGPIPE: the code is that of a program which did not."""
    out, unread = os.pipe()
    os.close(out)
    done = subprocess.run([harness.BIN, "task", "ls", "-n", "0"], stdout=unread, stderr=subprocess.PIPE,
                          restore_signals=False, env=environment(many), timeout=harness.PATIENCE)
    os.close(unread)
    assert (done.returncode, done.stderr) == (141, b"")


def test_events_of_all_time_come_page_by_page(server):
    for i in range(120):
        server.create_queue(f"q{i:03}")
    made = server.cli("events", "-n", "0", "--kind", "queue.created", "-o", "jsonl").jsonl
    assert [e["subject"] for e in made if e["subject"] != "default"] == [f"q{i:03}" for i in range(120)]
    assert server.cli("events", "-n", "0", "--kind", "queue.created", "-o", "json").json["items"] == made
    some = server.cli("events", "--after", made[9]["seq"], "-n", "5", "-o", "json").json
    assert [e["seq"] for e in some["items"]] == [e["seq"] for e in made[10:15]]
    last = server.cli("events", "-n", "3", "--kind", "queue.created", "-o", "jsonl").jsonl
    assert last == made[-3:]
