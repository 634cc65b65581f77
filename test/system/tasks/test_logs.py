# SPDX-License-Identifier: Apache-2.0
"""`reeve logs`: at once for those who follow, of several tasks, the last lines, since when."""
import os
import socket
import subprocess

import harness
import pytest
from harness import wait_until
from test_output import Follower, ended, raw_log

MIB = 1 << 20

# Writes a line, then waits until somebody says that he has seen it.
ECHO = "i=0; while [ $i -lt %d ]; do echo line $i; while [ ! -e %s/$i ]; do sleep 0.01; done; i=$((i+1)); done"


def answer_lines(path, follower, count):
    """Each line is answered by a file; without it the task does not go on."""
    for i in range(count):
        wait_until(lambda: f"line {i}\n" in follower.text(), what=f"line {i} of {count}")
        open(os.path.join(path, str(i)), "w").close()


def traced(cluster):
    """A server whose words to its worker can be read."""
    trace = os.path.join(cluster.dir, "server.shiviz")
    cluster.start_server("--trace-shiviz", trace, env={"REEVE_SERVER_HEARTBEAT": "200ms"})
    cluster.start_worker()
    return trace


def told_to_follow(trace, task):
    with open(trace) as f:
        return f"follow {task}/1" in f.read()


@pytest.mark.parametrize("early", [True, False])
def test_who_follows_reads_at_once(cluster, early):
    """There and back, sixty times. The worker's brain is tested for when; this is that it hears of readers."""
    count, path, trace = 60, os.path.join(cluster.dir, "seen"), traced(cluster)
    os.mkdir(path)
    cluster.cli("queue", "create", "q", "--threads", "0" if early else "1")
    task = cluster.submit("sh", "-c", ECHO % (count, path), queue="q")["id"]
    if not early:
        cluster.wait_task(task, "running")
    follower = Follower(cluster, task)
    if early:  # the task starts under the eyes of its reader
        cluster.cli("queue", "set", "q", "--threads", "1")
    answer_lines(path, follower, count)
    assert follower.end() == 0
    assert follower.text() == "".join(f"line {i}\n" for i in range(count))
    assert told_to_follow(trace, task)


def test_a_reader_who_comes_back_still_reads(cluster):
    count, path = 12, os.path.join(cluster.dir, "seen")
    os.mkdir(path)
    trace = traced(cluster)
    task = cluster.submit("sh", "-c", ECHO % (count, path))["id"]
    follower = Follower(cluster, task)
    answer_lines(path, follower, 3)
    cluster.server.kill9()
    os.rename(trace, trace + ".before")
    cluster.restart()
    wait_until(lambda: told_to_follow(trace, task), what="the new server tells of its readers, too")
    answer_lines(path, follower, count)
    assert follower.end() == 0 and follower.text() == "".join(f"line {i}\n" for i in range(count))


def test_nobody_follows_nobody_is_told(cluster):
    trace = traced(cluster)
    task = ended(cluster, "sh", "-c", "for i in $(seq 100); do echo $i; sleep 0.01; done")["id"]
    assert raw_log(cluster, task).count(b"\n") == 100
    assert not told_to_follow(trace, task)


def test_several_tasks_with_their_names(dev):
    a, b = (ended(dev, "sh", "-c", f"echo {x}1; echo {x}2; printf {x}3")["id"] for x in "ab")
    got = dev.cli("logs", a, b).out
    assert got == "".join(f"[{t}] {x}{i}\n" for t, x in ((a, "a"), (b, "b")) for i in (1, 2, 3))
    assert dev.cli("logs", "--no-prefix", a, b).out == "a1\na2\na3b1\nb2\nb3"
    assert dev.cli("logs", a).out == "a1\na2\na3", "one alone is as it is"
    assert dev.cli("logs", "--prefix", a).out.splitlines()[0] == f"[{a}] a1"
    assert "\033" not in got


def test_a_task_that_is_not_there_does_not_hide_the_others(dev):
    task = ended(dev, "echo", "here")["id"]
    got = dev.cli("logs", "0" * 23 + "1", task, check=False)
    assert got.code == 1 and got.out == f"[{task}] here\n" and "reeve: " in got.err


def test_a_batch(dev, tmp_path):
    own = {"HOME": str(tmp_path), "XDG_STATE_HOME": ""}  # whose @last nobody else writes
    dev.cli("submit", "--array", "1-5", "--wait", "--", "sh", "-c", "echo item {}; echo bad {} >&2", env=own)
    got = dev.cli("logs", "--batch", "@last", env=own).out.splitlines()
    assert sorted(line.split("] ")[1] for line in got) == sorted(f"{w} {i}" for w in ("item", "bad") for i in range(1, 6))
    assert len({line.split("]")[0] for line in got}) == 5
    assert dev.cli("logs", "@last", "--stdout", env=own).out.count("\n") == 5, "@last is that batch"


def test_following_several_at_once(cluster):
    """None ends before all were seen: so they are followed at the same time."""
    dev = cluster
    dev.start_server()
    dev.start_worker("--maxthreads", "4")
    gate = os.path.join(dev.dir, "gate")
    dev.cli("submit", "--array", "1-4", "--", "sh", "-c", f"echo begin {{}}; while [ ! -e {gate} ]; do sleep 0.02; done; echo end {{}}")
    follower = Follower(dev, "--batch", "@last")
    wait_until(lambda: follower.text().count("begin") == 4, what="all have begun, for their reader too")
    open(gate, "w").close()
    assert follower.end() == 0
    lines = follower.text().splitlines()
    assert len(lines) == 8 and all(line[0] == "[" and line[25:27] == "] " for line in lines)


def test_more_than_are_followed_at_once(dev):
    dev.cli("submit", "--array", "1-80", "--", "echo", "n{}")
    follower = Follower(dev, "--batch", "@last")
    assert follower.end() == 0
    assert sorted(line.split()[1] for line in follower.text().splitlines()) == sorted(f"n{i}" for i in range(1, 81))
    assert b"at a time" in b"".join(follower.err)


@pytest.mark.parametrize("n, want", [(0, ""), (1, "5\n"), (2, "4\n5\n"), (5, "1\n2\n3\n4\n5\n"), (100, "1\n2\n3\n4\n5\n")])
def test_the_last_lines(dev, n, want):
    task = ended(dev, "seq", "5")["id"]
    assert dev.cli("logs", "--tail", n, task).out == want
    assert raw_log(dev, task, tail=n).decode() == want


@pytest.mark.parametrize("total, tail", [(200000, 3), (200000, 30000), (9000, 9000)])
def test_the_last_lines_of_much(dev, total, tail):
    task = ended(dev, "seq", total)["id"]
    assert dev.task(task)["output"] == "chunks"
    assert dev.cli("logs", "-n", tail, task).out == "".join(f"{i}\n" for i in range(total - tail + 1, total + 1))


def test_the_last_lines_without_newlines(dev):
    task = ended(dev, "sh", "-c", r"printf 'a\nb\nc'")["id"]
    assert raw_log(dev, task, tail=1) == b"c" and raw_log(dev, task, tail=2) == b"b\nc"
    task = ended(dev, "sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x")["id"]
    assert raw_log(dev, task, tail=1) == b"x" * 300000


def test_the_last_lines_and_what_follows(cluster):
    dev = cluster
    dev.start_server()
    dev.start_worker()
    gate = os.path.join(dev.dir, "gate")
    task = dev.submit("sh", "-c", f"seq 50000; while [ ! -e {gate} ]; do sleep 0.02; done; echo more; sleep 0.5; echo end")["id"]
    wait_until(lambda: raw_log(dev, task, stream="stdout").endswith(b"\n50000\n"), what="all of it is there")
    follower = Follower(dev, "-n", "2", task)
    wait_until(lambda: follower.text() == "49999\n50000\n", what="its last lines")
    dev.server.kill9()  # and it goes on where it was
    dev.restart()
    open(gate, "w").close()
    assert follower.end() == 0 and follower.text() == "49999\n50000\nmore\nend\n"


@pytest.mark.parametrize("query, field", [("tail=-1", "tail"), ("tail=100001", "tail"), ("tail=x", "tail"),
                                          ("tail=1&offset=1&stream=stdout", "tail")])
def test_a_bad_tail(dev, query, field):
    task = ended(dev, "true")["id"]
    reply = dev.call("GET", f"/v1/tasks/{task}/logs?{query}", expect=400).json()
    assert field in reply["field"] and "tail" in reply["detail"]


def test_since_chooses_tasks(dev):
    old = ended(dev, "echo", "old")
    gate = os.path.join(dev.dir, "gate")
    running = dev.submit("sh", "-c", f"echo live; while [ ! -e {gate} ]; do sleep 0.02; done")["id"]
    wait_until(lambda: raw_log(dev, running) == b"live\n", what="it writes")
    new = ended(dev, "echo", "new")
    since = new["ended"]
    assert old["ended"] < since
    got = dev.cli("logs", "--queue", "default", "--since", since).out
    assert got == f"[{running}] live\n[{new['id']}] new\n"
    assert dev.cli("logs", "--since", since, old["id"]).out == ""
    assert "old" in dev.cli("logs", "--queue", "default", "--since", "1h").out
    bad = dev.cli("logs", "--queue", "default", "--since", "yesterday", check=False)
    assert bad.code == 2 and "neither a time nor a duration" in bad.err
    open(gate, "w").close()


def test_nothing_named(dev):
    got = dev.cli("logs", check=False)
    assert got.code == 2 and "which tasks" in got.err and "hint: " in got.err
    task = ended(dev, "true")["id"]
    got = dev.cli("logs", "--queue", "default", task, check=False)
    assert got.code == 2 and "cannot be mixed" in got.err
    assert "no task matches" in dev.cli("logs", "--state", "failed").err


def test_very_long_lines_are_cut_into_lines(dev):
    task = ended(dev, "sh", "-c", "head -c 150000 /dev/zero | tr '\\0' x; echo; echo end")["id"]
    lines = dev.cli("logs", "--prefix", task).out.splitlines()
    assert [len(line) - 27 for line in lines] == [65536, 65536, 150000 - 2 * 65536, 3]


def test_who_reads_no_more_ends_the_command(dev):
    gate = os.path.join(dev.dir, "gate")
    task = dev.submit("sh", "-c", f"while [ ! -e {gate} ]; do echo y; sleep 0.02; done")["id"]
    got = subprocess.run(f"{harness.BIN} logs -f {task} | head -n 1", shell=True, capture_output=True, text=True,
                         timeout=harness.PATIENCE, env=harness.clean_environment(REEVE_SERVER=f"unix:{dev.socket}"))
    assert got.stdout == "y\n"
    open(gate, "w").close()


def test_who_never_reads_harms_nobody(dev):
    """One follows and reads nothing; another reads everything, the task ends, the next one runs."""
    task = dev.submit("sh", "-c", f"head -c {40 * MIB} /dev/zero; echo end")["id"]
    deaf = []
    for _ in range(5):
        s = socket.socket(socket.AF_UNIX)
        s.connect(dev.socket)
        s.sendall(f"GET /v1/tasks/{task}/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        deaf.append(s)
    follower = Follower(dev, task)
    assert follower.end() == 0
    assert sum(len(b) for b in follower.out) == 40 * MIB + 4
    assert dev.wait_ended(task)["state"] == "succeeded"
    assert ended(dev, "echo", "next")["state"] == "succeeded"
    for s in deaf:
        s.close()
