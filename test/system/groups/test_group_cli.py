# SPDX-License-Identifier: Apache-2.0
"""Groups on the command line: submitted, watched, explained, drawn, cancelled, and what is said to wrong input."""
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess

import harness
import pytest
from harness import wait_until
from jobs import job
from terminal import OnTerminal

ID = re.compile(r"^[0-9a-f]{24}\n$")


@pytest.fixture
def cli(dev, tmp_path):
    """Runs a command as a person with a home of their own, so that @last is theirs."""
    def run(*args, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    return run


@pytest.fixture
def on_terminal(tmp_path):
    opened = []

    def start(cluster, *args, **options):
        opened.append(OnTerminal(cluster, *args, env={"HOME": str(tmp_path)}, **options))
        return opened[-1]

    yield start
    for t in opened:
        t.close()


class Gate:
    """A command that goes on when it is opened, and then does what it was given."""

    def __init__(self, path):
        self.path = str(path)

    def command(self, then="true"):
        return ["sh", "-c", f"while [ ! -e {self.path} ]; do sleep 0.05; done; {then}"]

    def open(self):
        with open(self.path, "w"):
            pass


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path / "gate")


def submit(cli, *jobs, more=(), **members):
    """The group's id, as a script gets it."""
    result = cli("group", "submit", "-", *more, input=json.dumps({"jobs": list(jobs), **members}))
    assert ID.match(result.out), result
    return result.out.strip()


def start(cluster, *args):
    """A command that is not waited for."""
    return subprocess.Popen([harness.BIN, *args], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=harness.clean_environment(REEVE_SERVER=f"unix:{cluster.socket}"), text=True)


def runs(cluster, group, name):
    wait_until(lambda: cluster.get(f"/v1/groups/{group}/jobs/{name}")["state"] == "dispatched", what=f"{name} runs")


STORY = """# a build
name: story
jobs:
  - name: fetch
    command: [echo, got it]
  - name: build
    needs: [fetch]
    matrix: {os: [linux, bsd]}
    command: [sh, -c, "echo for $os"]
  - name: lint
    needs: [fetch]
    command: [sh, -c, "echo bad style >&2; exit 3"]
  - name: deploy
    needs: [build, lint]
    command: [echo, deployed]
  - name: report
    needs: [{job: deploy, after: end}]
    command: [echo, done]
"""


@pytest.fixture
def story(cli, tmp_path):
    """A group that has failed."""
    path = tmp_path / "story.yaml"
    path.write_text(STORY)
    result = cli("group", "submit", path, "--wait", check=False)
    assert result.code == 1, result
    return result.out.strip()


def test_a_script_feeds_its_id_to_the_next_command(dev, cli):
    group = submit(cli, job("a"), job("b", needs=["a"]))
    waited = cli("wait", group)
    assert "complete: 2 built" in waited.err, waited
    assert "100%" not in cli("wait", group).err, "it had ended: there was no progress"
    assert cli("wait", "@last").code == 0 and cli("group", "show", "@last", "-o", "json").json["id"] == group
    assert cli("group", "watch", group).code == 0
    assert cli("task", "ls", "--group", group, "-o", "json", "--oldest").json["items"][0]["job"] == "a"
    assert len(cli("task", "ls", "--group", "@last", "-o", "jsonl").jsonl) == 2
    assert cli("group", "submit", "-", "-o", "json", input='{"jobs":[]}').json["state"] == "complete"
    one = cli("submit", "--", "true").out.strip()
    wrong = cli("group", "show", "@last", check=False)
    assert wrong.code == 2 and "@last is a single task, and a group is wanted here" in wrong.err, wrong
    assert cli("wait", one).code == 0


def test_a_file_is_sent_with_what_the_line_says(dev, cli, tmp_path, story):
    assert dev.get("/v1/groups/story")["policy"] == "best-effort"
    path = tmp_path / "story.yaml"
    cli("queue", "create", "mine")
    cli("group", "submit", path, "--name", "again", "--policy", "fail-fast", "--queue", "mine", "--series", "s", "--wait",
        check=False)
    again = dev.get("/v1/groups/again")
    assert (again["policy"], again["series"]) == ("fail-fast", "s")
    assert {t["queue"] for t in cli("task", "ls", "--group", "again", "-o", "jsonl").jsonl} == {"mine"}
    for queue, want in ((None, "mine"), ("default", "default")):
        said = {"queue": queue} if queue else {}
        made = dev.cli("group", "submit", "-", "--wait", env={"REEVE_QUEUE": "mine"}, input=json.dumps({"jobs": [job("a")], **said}))
        assert dev.get(f"/v1/groups/{made.out.strip()}/jobs/a")["queue"] == want, "the file goes before the environment"
    taken = cli("group", "submit", path, check=False)
    assert taken.code == 1 and 'there is a group "story" already' in taken.err, taken
    from_json = json.dumps({"jobs": [job("a")], "name": "first"})
    cli("group", "submit", "-", "--name", "second", input=from_json)
    assert dev.get("/v1/groups/second")["jobs"] == 1


def test_the_directory_of_jobs_that_name_none(dev, tmp_path):
    harness.run("group", "submit", "-", "-C", ".", "--wait", cwd=tmp_path, env={"REEVE_SERVER": f"unix:{dev.socket}"},
                input=json.dumps({"jobs": [job("here", "pwd"), job("there", "pwd", cwd="/")], "name": "dirs"}))
    assert dev.cli("logs", "dirs/here").out.strip() == str(tmp_path)
    assert dev.cli("logs", "dirs/there").out == "/\n"


def test_a_group_is_held_whole(dev, cli, gate):
    group = submit(cli, job("a", *gate.command()), job("b", needs=["a"]), job("c", needs=["b"]))
    runs(dev, group, "a")
    assert cli("task", "release", group).out == "0 of 0 released\n", "nobody holds anything"
    refused = cli("task", "release", f"{group}/b", check=False)
    assert refused.code == 1 and "nobody holds it: it waits for the jobs that it needs" in refused.err, refused
    assert cli("task", "hold", group).out == "2 of 2 held\n"
    gate.open()
    wait_until(lambda: dev.get(f"/v1/groups/{group}/jobs/a")["state"] == "built", what="a has ended")
    assert [t["state"] for t in cli("task", "ls", "--group", group, "-o", "jsonl").jsonl][:2] == ["held", "held"]
    assert cli("task", "release", group).out == "2 of 2 released\n"
    assert cli("wait", group).code == 0


def test_a_job_is_named_wherever_a_task_is(dev, cli, gate):
    group = submit(cli, job("a", *gate.command()), job("b", needs=["a"]), name="named")
    task = dev.get(f"/v1/groups/{group}/jobs/b")["task"]
    for of in ("named", group, "@last"):
        assert cli("task", "show", f"{of}/b", "-o", "json").json["id"] == task
        assert cli("task", "history", f"{of}/b", "-o", "json").json == cli("task", "history", task, "-o", "json").json
        assert cli("events", "--task", f"{of}/b", "-o", "json").json == cli("task", "history", task, "-o", "json").json
    cli("task", "set", "named/b", "--priority", "7")
    assert dev.get(f"/v1/tasks/{task}")["priority"] == 7
    gate.open()
    cli("wait", group)
    unknown = cli("task", "show", "named/c", check=False)
    assert unknown.code == 1 and '"c"' in unknown.err, unknown


WRONG = [
    ("jobs:\n- {name: a, command: [x], needs: [b]}\n", "line 2: a: it needs b, and there is no job of that name"),
    ("jobs:\n- {name: a, needs: [b]}\n- {name: b, needs: [a]}\n", "loop"),
    ("jobs:\n- name: a\n  comand: [x]\n", "line 3: a: there is no member of this name here"),
    ("jobs: [\n", "line"),
    ("{}", "neither packages nor jobs"),
    ("[]", "no map"),
    ("", ""),
    ("jobs:\n- {name: a, command: [x]}\n- {name: a, command: [x]}\n", "line 3: a"),
]


@pytest.mark.parametrize("n", range(len(WRONG)))
def test_a_wrong_file_is_refused_before_anything_is_sent(n, tmp_path):
    text, words = WRONG[n]
    for more in ((), ("--name", "x")):
        result = harness.run("group", "submit", "-", *more, input=text, check=False,
                             env={"REEVE_SERVER": f"unix:{tmp_path}/none", "REEVE_SERVER_TIMEOUT": "0"})
        assert result.code == (1 if words == "loop" else 2) and words in result.err and not result.out, result


@pytest.mark.parametrize("more", [(), ("--name", "x")])
def test_what_only_the_server_knows_names_the_line_too(dev, cli, more):
    text = "jobs:\n  - name: a\n    command: [x]\n\n  # the next one\n  - name: b\n    timeout: soon\n    command: [x]\n"
    result = cli("group", "submit", "-", *more, input=text, check=False)
    assert result.code == 2 and "line 6: b:" in result.err, result
    assert dev.get("/v1/groups")["items"] == []
    assert cli("group", "submit", "/nowhere/x", check=False).code == 2
    assert cli("group", "submit", "a", "b", check=False).code == 2
    assert cli("group", "submit", "-", "--policy", "maybe", input='{"jobs":[]}', check=False).code == 2


def test_show_begins_with_what_failed(cli, story):
    out = cli("group", "show", story).out
    facts, table = out.split("\n\n")
    assert re.search(r"^state +✗ failed$", facts, re.M) and "5/6" not in facts and "6/6" in facts, out
    assert "4 built" in facts and "1 job-failed" in facts and "1 dependency-failed" in facts and "ETA" not in facts
    assert re.search(r"^lint +✗ job-failed +\S+ +3 .*exit code 3$", table, re.M), out
    assert cli("group", "show", "story", "-o", "json").json["counts"]["failed"] == 1
    listed = cli("group", "ls").out.splitlines()
    assert listed[0].split()[:4] == ["ID", "NAME", "STATE", "PROGRESS"] and "✗ failed" in listed[1]
    assert "no such groups" in cli("group", "ls", "--state", "queued").err
    unknown = cli("group", "show", "nobody", check=False)
    assert unknown.code == 1 and 'there is no group "nobody"' in unknown.err


def test_show_of_one_that_runs(dev, cli, gate):
    group = submit(cli, job("a"), job("b", *gate.command(), needs=["a"]), job("c", needs=["b"]))
    runs(dev, group, "b")
    out = cli("group", "show", group).out
    assert re.search(r"^ETA +\S+, \w+ confidence; the critical path has 2 jobs$", out, re.M), out
    assert re.search(r"^b +▶ dispatched", out, re.M) and "33%" in out, out
    gate.open()
    assert cli("wait", group).code == 0


def test_the_time_that_is_left_before_a_job_has_ended(dev, cli, gate):
    """Of a series it is known from the group before; of any other it is not known yet, and that is said."""
    jobs = [job("a", "sleep", "0.2"), job("b", "sleep", "3", needs=["a"])]
    first = submit(cli, *jobs, series="night")
    assert cli("wait", first).code == 0
    again = submit(cli, job("a", *gate.command()), jobs[1], job("new", needs=["b"]), series="night")
    runs(dev, again, "a")
    took = cli("group", "graph", again, "-o", "json").json
    took = dict(zip(took["names"], took["took"]))
    assert 200 <= took["a"] < took["b"] and took["b"] >= 3000 and took["new"] == 0, took
    out = cli("group", "show", again).out
    eta = re.search(r"^ETA +(\S+), low confidence; the critical path has 3 jobs$", out, re.M)
    assert eta and eta[1] != "1s", out
    other = submit(cli, job("x", *gate.command()), job("y", needs=["x"]))
    runs(dev, other, "x")
    assert re.search(r"^ETA +not known yet; the critical path has 2 jobs$", cli("group", "show", other).out, re.M)
    assert "took" not in cli("group", "graph", other, "-o", "json").json
    gate.open()
    assert cli("wait", again, other).code == 0
    assert "took" not in cli("group", "graph", again, "-o", "json").json, "who has ended needs no forecast"


def test_watch_without_a_terminal_is_lines(dev, cli, gate):
    group = submit(cli, job("a", *gate.command()), job("bad", "false", needs=["a"]), job("c", needs=["bad"]), name="lines")
    watch = start(dev, "group", "watch", "lines")
    first = watch.stdout.readline()
    assert first.startswith(f"group lines ({group}) "), first
    gate.open()
    out, err = watch.communicate(timeout=harness.PATIENCE)
    assert watch.returncode == 1, err
    lines = [re.sub(r"^\d\d:\d\d:\d\d  ", "", line) for line in out.splitlines()]
    assert "2/3  ✗ job-failed  bad" in "\n".join(lines) and "3/3  ⊘ dependency-failed  c" in lines, out
    assert any(line.startswith("✗ group lines failed: 1 built, 1 failed, 1 skipped") for line in lines), out
    assert any(re.match(r"bad +✗ job-failed .* exit code 1$", line) for line in lines), "why it failed"


def test_watch_for_programs(cli, story):
    done = cli("group", "watch", story, "-o", "jsonl", check=False)
    assert done.code == 1 and [e["event"] for e in done.jsonl][-1:] == ["end"] or done.jsonl[0]["event"] == "group", done
    assert cli("group", "watch", "nobody", check=False).code == 125


def test_watch_on_a_terminal_is_a_tree(dev, cli, gate, on_terminal):
    group = submit(cli, job("a"), job("b", *gate.command(), needs=["a"]), job("c", needs=["b"]),
                   job("d", needs=["a"]), name="tree")
    watch = on_terminal(dev, "group", "watch", "tree")
    text = watch.shows("▶ b  dispatched", "◆ critical path: 2 jobs", "d  built", "ETA")
    rows = text.splitlines()
    assert rows[0].startswith("▶ group tree dispatching") and "2/4 50%" in rows[1], text
    at = next(i for i, row in enumerate(rows) if row.startswith("✓ a  built"))
    assert rows[at + 1].startswith("├─ ▶ b  dispatched") and "◆ critical" in rows[at + 1], text
    assert rows[at + 2].startswith("│  └─ ◌ c  schedulable  ◆ critical"), text
    assert rows[at + 3].startswith("└─ ✓ d  built"), text
    watch.resize(30, 7)
    watch.shows("… 3 more", "b  dispatched")
    gate.open()
    assert watch.ended() == 0
    watch.shows("group tree complete")
    assert cli("group", "show", group, "-o", "json").json["state"] == "complete"


def test_leaving_a_watch_leaves_the_group(dev, cli, gate, on_terminal):
    group = submit(cli, job("a", *gate.command()))
    watch = on_terminal(dev, "group", "watch", group)
    watch.shows("a  dispatched")
    watch.press("q")
    assert watch.ended() == 0
    other = start(dev, "group", "watch", group)
    other.stdout.readline()
    other.send_signal(signal.SIGINT)
    assert other.wait(harness.PATIENCE) == 130 and "goes on" in other.stderr.read()
    assert dev.get(f"/v1/groups/{group}")["state"] == "dispatching"
    gate.open()
    assert cli("wait", group).code == 0


def test_a_watch_outlives_the_server(new_cluster, gate):
    cluster = new_cluster()
    cluster.start_server()
    cluster.start_worker()
    group = submit(cluster.cli, job("a", *gate.command()), job("b", needs=["a"]))
    runs(cluster, group, "a")
    watch = start(cluster, "group", "watch", group)
    watch.stdout.readline()
    cluster.server.kill9()
    cluster.restart()
    gate.open()
    out, err = watch.communicate(timeout=harness.PATIENCE)
    assert watch.returncode == 0 and f"group {group} complete: 2 built" in out, out + err


def test_submit_watches_and_waits(dev, cli):
    watched = cli("group", "submit", "-", "--watch", input=json.dumps({"jobs": [job("a")]}))
    assert ID.match(watched.out.splitlines(True)[0]) and "complete: 1 built" in watched.out
    late = cli("group", "submit", "-", "--wait", "--wait-timeout", "0.2s", check=False,
               input=json.dumps({"jobs": [job("a", "sleep", "1000")]}))
    assert late.code == 124, late
    for wrong in (("--wait-timeout", "soon"), ("--wait", "--watch")):
        refused = cli("group", "submit", "-", *wrong, input=json.dumps({"jobs": [job("a")]}), check=False)
        assert refused.code == 2 and not refused.out, refused
    cli("cancel", late.out.strip())
    assert cli("wait", late.out.strip(), check=False).code == 1


def test_cancel(dev, cli):
    group = submit(cli, job("a", "sleep", "1000"), job("b", needs=["a"]), name="stop")
    runs(dev, group, "a")
    assert "group stop is being cancelled" in cli("group", "cancel", "stop", "--reason", "enough").out
    assert cli("wait", "stop", check=False).code == 1
    shown = cli("group", "show", "stop").out
    assert "⊖ canceled" in shown and "enough" in shown and "2 cancel-complete" in shown, shown
    again = cli("cancel", group, check=False)
    assert again.code == 1 and "ended already" in again.err, again
    other = submit(cli, job("a", "sleep", "1000"))
    assert "is being cancelled" in cli("cancel", "@last").out
    assert cli("wait", other, check=False).code == 1
    refused = cli("retry", other, check=False)
    assert refused.code == 2 and "group retry" in refused.err, refused
    assert cli("group", "rm", "stop").out == "group stop deleted\n"
    assert cli("group", "show", "stop", check=False).code == 1


def test_fail(new_cluster, tmp_path, gate):
    """What runs has failed when its worker has said so, also through a start of the server; what waits at once."""
    c = new_cluster()
    c.start_server()
    c.start_worker()

    def run(*args, **options):
        return c.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    jobs = [job("a", "sleep", "1000"), job("b", needs=["a"]), job("c", needs=[{"job": "a", "after": "failure"}]),
            job("hold", *gate.command()), job("d/e", needs=["hold"]), job("f", needs=["d/e"])]
    group = submit(run, *jobs, name="broken")
    for name in ("a", "hold"):
        runs(c, group, name)
    assert run("group", "fail", "broken", "d/e", "--reason", "plan disconnected").out == "job d/e has failed\n"
    assert "when its worker says" in run("group", "fail", "@last", "a", "--reason", "access denied").out
    c.server.kill9()
    c.restart()
    wait_until(lambda: c.get(f"/v1/groups/{group}/jobs/c")["state"] == "built", what="c has cleaned up")
    gate.open()
    assert run("wait", "broken", check=False).code == 1
    found = {j["name"]: (j["state"], j["reason"]) for j in c.get(f"/v1/groups/{group}/jobs")["items"]}
    assert found["a"] == ("job-failed", "access denied") and found["d/e"] == ("job-failed", "plan disconnected"), found
    assert [found[n][0] for n in ("b", "c", "f", "hold")] == ["dependency-failed", "built", "dependency-failed", "built"]
    task = c.get(f"/v1/groups/{group}/jobs/a")["task"]
    deed = [e for e in c.get(f"/v1/tasks/{task}/history")["items"] if e["cause"] == "fail"]
    assert len(deed) == 1 and deed[0]["reason"] == "access denied" and deed[0]["actor"], deed
    events = c.get("/v1/events?kind=group.job_failed")["items"]
    assert sorted(e["detail"]["job"] for e in events) == ["a", "d/e"], events
    again = run("group", "fail", "broken", "a", "--reason", "x", check=False)
    assert again.code == 1 and "ended already" in again.err, again
    nobody = run("group", "fail", "broken", "z", "--reason", "x", check=False)
    assert nobody.code == 1 and 'the group has no job "z"' in nobody.err, nobody
    assert run("group", "fail", "broken", "a", check=False).code == 2


def test_show_names_a_job_that_was_taken_out(dev, cli, gate):
    submit(cli, job("a", *gate.command()), job("broken", need={"target": "mars"}), job("b", needs=["broken"]), name="some")
    runs(dev, "some", "a")
    cli("cancel", "some/broken", "--reason", "plan disconnected")
    gate.open()
    assert cli("wait", "some", check=False).code == 1
    shown = cli("group", "show", "some").out
    assert re.search(r"broken +⊖ cancel-complete.*plan disconnected", shown), shown
    submit(cli, job("a", "sleep", "1000"), job("b", needs=["a"]), name="all")
    runs(dev, "all", "a")
    cli("group", "cancel", "all", "--reason", "enough")
    assert cli("wait", "all", check=False).code == 1
    shown = cli("group", "show", "all").out
    assert "JOB " not in shown and "enough" in shown, shown


def test_why(dev, cli, gate):
    group = submit(cli, job("a", *gate.command()), job("b", needs=["a"]), name="asked")
    runs(dev, group, "a")
    for words in (("why", "asked"), ("why", group), ("group", "why", "@last"), ("group", "why", "asked")):
        out = cli(*words).out
        assert out.startswith("▶ dispatching: ") and "1" in out, out
    for words in (("why", "asked/b"), ("group", "why", "asked", "b"), ("group", "why", "asked/b")):
        out = cli(*words).out
        assert "of the group asked, its job b" in out, out
    assert cli("group", "why", group, "b", "-o", "json").json["reasons"][0]["code"] == "needs"
    nobody = cli("why", "asked/c", check=False)
    assert nobody.code == 1 and 'the group has no job "c"' in nobody.err, nobody
    gate.open()
    assert cli("wait", "asked").code == 0


def test_log(dev, cli, story):
    out = cli("group", "log", story).out
    assert set(out.splitlines()) == {"[fetch] got it", "[build[os=linux]] for linux", "[build[os=bsd]] for bsd",
                                     "[lint] bad style", "[report] done"}
    assert cli("group", "log", "story", "lint").out == "bad style\n"
    assert cli("group", "log", "story", "build[os=bsd]", "report").out == "[build[os=bsd]] for bsd\n[report] done\n"
    assert cli("logs", story).out == out and cli("logs", "story/report").out == "done\n"
    assert cli("group", "log", story, "--stderr").out == "[lint] bad style\n"
    assert "bad style" in cli("group", "log", "-f", story).out, "one that has ended"
    assert cli("group", "log", story, "nobody", check=False).code == 1
    assert cli("group", "log", "--attempt", "0", story, check=False).code == 2


def test_log_follows_jobs_as_they_start(dev, cli, gate):
    jobs = [job("first", *gate.command("echo one"))] + [job(f"j{i}", "echo", str(i), needs=["first"]) for i in range(40)]
    group = submit(cli, *jobs)
    runs(dev, group, "first")
    log = start(dev, "group", "log", "-f", group)
    gate.open()
    out, err = log.communicate(timeout=harness.PATIENCE)
    assert log.returncode == 0 and sorted(out.splitlines()) == sorted(["[first] one"] + [f"[j{i}] {i}" for i in range(40)]), err


def test_a_group_that_is_gone_cannot_be_followed(dev, cli, story):
    cli("group", "rm", story)
    for words in (("group", "log", "-f"), ("group", "watch"), ("group", "log"), ("group", "graph")):
        gone = cli(*words, story, check=False)
        assert gone.code in (1, 125) and "there is no group" in gone.err, gone


def test_graph(cli, story):
    dot = cli("group", "graph", story).out
    assert dot == cli("group", "graph", "@last", "-o", "dot").out
    assert 'label="story: failed"' in dot and re.search(r'label="lint\\njob-failed [^"]*",shape=octagon', dot), dot
    assert dot.count(" -> ") == 7 and "style=dashed" in dot
    whole = cli("group", "graph", story, "-o", "json").json
    assert whole["names"][0] == "fetch" and whole["states"][0] == "b" and len(whole["needs"]) == 7
    if shutil.which("dot"):
        svg = cli("group", "graph", story, "-o", "svg").out
        assert svg.startswith("<?xml") and "dependency&#45;failed" in svg
    assert cli("group", "graph", "nobody", check=False).code == 1


def test_retry(dev, cli, tmp_path):
    flag = tmp_path / "flag"
    group = submit(cli, job("a", "sh", "-c", f"echo x >>{tmp_path}/a"), job("b", "test", "-e", str(flag), needs=["a"]),
                   job("c", needs=["b"]), name="once")
    early = cli("wait", group, check=False)
    assert early.code == 1, early
    flag.touch()
    again = cli("group", "retry", "@last", "--name", "twice", "--wait")
    assert again.code == 0 and ID.match(again.out) and again.out.strip() != group, again
    assert (tmp_path / "a").read_text() == "x\n", "what was built is not built again"
    assert cli("group", "retry", "twice", "--from", "a", "--wait").code == 0
    assert (tmp_path / "a").read_text() == "x\nx\n"
    assert cli("group", "retry", "once", "--from", "nobody", check=False).code in (1, 2)
    assert cli("group", "retry", "once", "--from", "a", "--failed", check=False).code == 2
    live = submit(cli, job("a", "sleep", "1000"))
    refused = cli("group", "retry", live, check=False)
    assert refused.code == 1 and "has not ended" in refused.err, refused
    cli("cancel", live)


def test_trigger(dev, cli, tmp_path):
    packages = {"packages": [{"ident": "core/gcc/9/1"}, {"ident": "core/make/4/1", "build": ["core/gcc"]},
                             {"ident": "core/php/7/1", "build": ["core/gcc"], "buildable": False, "reason": "no plan"}]}
    path = tmp_path / "core.json"
    path.write_text(json.dumps(packages))
    cli("graph", "load", "core", path)
    done = cli("group", "trigger", "--graph", "core", "--touched", "core/gcc", "--name", "built", "--wait", "--",
               "echo", "{package}", "{round}")
    assert ID.match(done.out) and "left out: core/php: no plan" in done.err, done
    assert set(cli("group", "log", "built").out.splitlines()) == {"[core/gcc#1] core/gcc 1", "[core/make#1] core/make 1"}
    assert cli("logs", "built/core/make#1").out == "core/make 1\n"
    everything = cli("group", "trigger", "--graph", "core", "--name", "all", "--wait", "--", "true")
    assert "left out: core/php: no plan" in everything.err, everything
    assert dev.get("/v1/groups/all")["jobs"] == 2
    missing = cli("group", "trigger", "--touched", "core/gcc", "--", "true", check=False)
    assert missing.code == 2 and "--graph" in missing.err, missing
    add = cli("graph", "add", "nope", "a/b/1/1", check=False)
    assert add.code == 1 and "`reeve graph load nope FILE` makes it" in add.err, add
    assert cli("group", "trigger", "--graph", "nope", "--touched", "a/b", "--", "true", check=False).code == 1
    whole = cli("group", "submit", "-", "--wait", input=json.dumps({**packages, "job": {"command": ["true"]}}))
    assert whole.code == 0


def test_what_was_left_out_stays_told(dev, cli, tmp_path):
    """A package that was named and cannot be built is no success, and its reason is not said just once."""
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"packages": [{"ident": "a/only/1/1", "buildable": False, "reason": "nope"},
                                             {"ident": "a/user/1/1", "build": ["a/only"]}, {"ident": "a/fine/1/1"}]}))
    cli("graph", "load", "t", path)

    def trigger(touched, name):
        return cli("group", "trigger", "--graph", "t", "--touched", touched, "--name", name, "--wait", "--", "true", check=False)
    made = trigger("a/only", "un")
    assert made.code == 3 and "left out: a/only: nope" in made.err, made
    assert "a/only was named, and was not built: nope" in made.err, made
    assert trigger("a/fine,a/only", "part").code == 3
    assert trigger("a/fine", "whole").code == 0
    dev.server.kill9()
    dev.restart()
    for args in (("group", "show", "un"), ("group", "why", "un"), ("why", "un")):
        out = cli(*args).out
        assert "left out: a/only: nope" in out and "left out: a/user through a/only: nope" in out, (args, out)
        assert "it has no jobs: 2 packages were left out, the first is a/only: nope" in out, (args, out)
    assert "left out: a/only: nope" in cli("group", "show", "part").out
    assert json.loads(cli("group", "show", "part", "-o", "json").out)["n_left_out"] == 2
    assert [cli("wait", g, check=False).code for g in ("un", "part", "whole")] == [3, 3, 0]
    assert cli("group", "watch", "un", check=False).code == 3
    assert "left out" not in cli("group", "show", "whole").out


def test_a_damaged_graph_hides_no_job(dev, cli):
    """A byte of it was flipped: the answers stay whole, and say so."""
    jobs = {"name": "G", "jobs": [{"name": "a", "command": ["false"]}, {"name": "b", "needs": ["a"], "command": ["true"]}]}
    cli("group", "submit", "-", "--wait", input=json.dumps(jobs), check=False)
    dev.server.stop()
    with contextlib.closing(sqlite3.connect(os.path.join(dev.state_dir(), "reeve.db"))) as db:
        data = bytearray(db.execute("SELECT data FROM group_graph").fetchone()[0])
        data[-1] ^= 0x55
        db.execute("UPDATE group_graph SET data = ?", (bytes(data),))
        db.commit()
    dev.restart()
    shown = cli("group", "show", "G")
    assert "the group's graph in the store is damaged" in shown.err, shown
    assert re.search(r"^a +✗ job-failed", shown.out, re.M) and "1 dependency-failed" in shown.out, shown
    graph = dev.get("/v1/groups/G/graph")
    assert graph["states"] == "fx" and len(graph["names"]) == 2 and graph["needs"] == [] and graph["problem"], graph
    assert [j["name"] for j in dev.get("/v1/groups/G/jobs")["items"]] == ["a", "b"]
    assert "it needs a, which failed" in cli("why", "G/b").out
    assert cli("group", "watch", "G", check=False).code == 1
    refused = cli("group", "retry", "G", check=False)
    assert refused.code == 1 and "graph in the store is damaged" in refused.err, refused


def test_cancel_tells_what_there_is_to_tell(cli):
    jobs = {"jobs": [{"name": f"j{i}", "queue": "q", "command": ["true"]} for i in range(2000)]}
    cli("queue", "create", "q")
    cli("queue", "pause", "q")
    cli("group", "submit", "-", "--name", "held", input=json.dumps(jobs))
    told = cli("group", "cancel", "held").out
    assert "what runs is told" not in told, told


def test_what_a_task_belongs_to(dev, cli, story):
    lint = dev.get("/v1/groups/story/jobs/lint")["task"]
    assert re.search(r"^group +story, its job lint$", cli("task", "show", lint).out, re.M)


def test_a_picture_that_nobody_reads_to_its_end(cli, dev, tmp_path):
    if not shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    jobs = [job(f"j{i}", needs=[f"j{i - 1}"] if i else []) for i in range(300)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"jobs": jobs}))
    read, write = os.pipe()
    drawing = subprocess.Popen([harness.BIN, "group", "plan", str(path), "-o", "svg"], stdin=subprocess.DEVNULL, stdout=write,
                               stderr=subprocess.PIPE, env=harness.clean_environment(), text=True)
    os.close(write)
    os.close(read)
    assert "signal" not in drawing.communicate(timeout=harness.PATIENCE)[1]


def test_events_of_a_group(dev, cli):
    """By its name and by its id, with a name of its own or without."""
    def kinds(group):
        return [e["kind"] for e in cli("events", "--group", group, "-o", "jsonl").jsonl]
    named, plain = submit(cli, job("a"), name="told"), submit(cli, job("a"))
    for group in (named, plain):
        assert cli("wait", group).code == 0
    wanted = ["group.created", "group.dispatching", "group.complete"]
    for group in ("told", named, plain, "@last"):
        got = kinds(group)
        assert [k for k in got if k in wanted] == wanted, (group, got)
    assert kinds("told") == kinds(named), "the same by name and by id"
    cli("queue", "create", "line")
    line = dev.get("/v1/queues/line")["id"]
    assert [e["kind"] for e in dev.get(f"/v1/events?queue={line}")["items"]] == ["queue.created"]


def test_completions(dev, cli, story):
    def complete(*words):
        return [line.split("\t")[0] for line in cli("__complete", "line", *words).out.splitlines()]

    assert {"submit", "watch", "graph", "log"} <= set(complete("group", ""))
    assert {"story", "@last"} <= set(complete("group", "watch", ""))
    assert complete("group", "graph", "-o", "s") == ["svg"]
    assert complete("group", "submit", "--policy", "fail-f") == ["fail-fast"]
    assert "story" in complete("task", "ls", "--group", "")


def test_ten_thousand_jobs(dev, cli, on_terminal):
    dev.cli("queue", "create", "never", "--threads", "0")
    jobs = [job("root", queue="never")] + [job(f"n{i}", needs=["root" if i < 100 else f"n{i - 100}"]) for i in range(10000)]
    group = submit(cli, *jobs, name="many")
    watch = on_terminal(dev, "group", "watch", "many")
    watch.shows("○ root  eligible", "0/10,001", "more: 9,9")
    watch.press("\033[B")
    watch.shows("○ root  eligible", "… 1-18 of 10001")
    watch.press("G")
    watch.shows("-10001 of 10001", without=["root"])
    watch.press("g")
    watch.shows("… 1-18 of 10001")
    watch.press("k")
    watch.shows("more: 9,9")
    watch.press("q")
    assert watch.ended() == 0
    dot = cli("group", "graph", group).out
    assert dot.count("[label=") == 10001
    cli("cancel", group)
    assert cli("wait", group, check=False).code == 1
