# SPDX-License-Identifier: Apache-2.0
"""The command line against a real server: exit codes, output, arrays, bulk actions, restarts."""
import json
import signal
import subprocess

import harness
import pytest
import yaml
from harness import wait_until


@pytest.fixture
def cli(dev, tmp_path):
    """Runs a command as a person with a home of their own, so that @last is theirs."""
    def run(*args, **options):
        return dev.cli(*args, env={"HOME": str(tmp_path), "XDG_STATE_HOME": ""}, **options)

    return run


def test_exit_codes_are_mirrored(cli):
    for words, code in ((["true"], 0), (["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137),
                        (["/nonexistent"], 127), (["/etc/passwd"], 126)):
        assert cli("run", *words, check=False).code == code
    assert cli("run", "--timeout", "300ms", "sleep", "60", check=False).code == 124


def test_streams_stay_apart(cli):
    result = cli("run", "sh", "-c", "echo out; echo err >&2")
    assert result.out == "out\n"
    assert "err\n" in result.err
    assert cli("logs", "--stderr", "@last").out == "err\n"
    assert cli("logs", "@last").out == "out\nerr\n"


def test_array_retry_and_wait(cli):
    result = cli("submit", "--array", "1-20", "--limit", "4", "--wait", "--", "sh", "-c", "test {} -ne 13", check=False)
    assert result.code == 1
    assert "20/20 100%" in result.err and "1 failed" in result.err
    failed = cli("task", "ls", "--failed", "--batch", "@last", "-o", "jsonl").jsonl
    assert [task["queue"] for task in failed] == ["limit-4"]
    assert cli("retry", "--failed", "@last").out == "1 of 1 queued again\n"
    assert cli("wait", "@last", check=False).code == 1


def test_long_stream_keeps_its_order(cli):
    lines = "".join('{"command":["true","%d"],"run_after":"1h"}\n' % n for n in range(60000))
    batch = cli("submit", "--ndjson", "-", input=lines).out.strip()
    tasks = cli("task", "ls", "--batch", batch, "--oldest", "--full", "-n", "0", "-o", "jsonl").jsonl
    assert [int(task["command"][1]) for task in tasks] == list(range(60000))
    assert cli("cancel", "--batch", "@last", "--yes").out == "60000 of 60000 cancelled\n"


def test_run_goes_on_over_a_crash_of_the_server(server, tmp_path):
    server.start_worker()
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER="unix:" + server.socket)
    script = f"echo before; while ! test -e {tmp_path}/go; do sleep 0.05; done; echo after; exit 5"
    with subprocess.Popen([harness.BIN, "run", "sh", "-c", script], env=env, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"before\n"
        server.server.kill9()
        server.restart()
        (tmp_path / "go").touch()
        assert child.stdout.read() == b"after\n"
        assert child.wait(harness.PATIENCE) == 5


def test_interrupt_cancels(dev, tmp_path):
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER="unix:" + dev.socket)
    with subprocess.Popen([harness.BIN, "run", "sh", "-c", "echo here; sleep 60"], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as child:
        assert child.stdout.readline() == b"here\n"
        child.send_signal(signal.SIGINT)
        assert child.wait(harness.PATIENCE) == 130


def test_hold_why_release(cli):
    cli("queue", "create", "q", "--threads", "0")
    id = cli("submit", "--queue", "q", "true").out.strip()
    assert "q" in cli("why", id).out
    cli("task", "hold", id)
    assert cli("task", "show", id, "-o", "json").json["state"] == "held"
    why = cli("why", id).out
    assert "held back" in why and "reeve task release " + id in why and "0 of 0 threads" in why
    cli("task", "release", id)
    cli("queue", "set", "q", "--threads", "none")
    assert cli("wait", id).code == 0


def test_lists_and_doctor(cli, dev):
    cli("run", "true")
    assert [queue["name"] for queue in cli("queue", "ls", "-o", "json").json["items"]] == ["default"]
    assert len(cli("worker", "ls", "-o", "jsonl").jsonl) == 1
    assert cli("status", "-o", "json").json["ready"] is True
    assert "default" in cli("top").out
    assert "it answers in" in cli("doctor").out
    disks = [c["text"] for c in cli("doctor", "-o", "json").json["items"] if c["check"] == "disk"]
    assert any(t.endswith(f"are free for a server's store, in {dev.state_dir()}") for t in disks), disks
    assert len(disks) == len(set(disks))
    assert cli("__complete", "queue").out == "default\n"


def test_events_follow(dev, tmp_path):
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER="unix:" + dev.socket)
    with subprocess.Popen([harness.BIN, "events", "-f", "-n", "1", "--kind", "task.succeeded", "-o", "jsonl"], env=env,
                          stdout=subprocess.PIPE) as child:
        # The stream has begun when an event arrives; so make them until one does.
        wait_until(lambda: dev.cli("run", "true").code == 0 and child.poll() is not None, what="an event")
        assert b'"kind":"task.succeeded"' in child.stdout.read()
        assert child.returncode == 0


def test_wait_mirrors_every_end(dev, cli):
    """All that a task can come to, as an exit code of wait."""
    for options, words, code in (([], ["true"], 0), ([], ["sh", "-c", "exit 7"], 7), ([], ["sh", "-c", "kill -9 $$"], 137),
                                 ([], ["/nonexistent"], 127), ([], ["/etc/passwd"], 126),
                                 (["--timeout", "300ms"], ["sleep", "60"], 124)):
        cli("submit", *options, "--", *words)
        assert cli("wait", "@last", check=False).code == code, words
    id = cli("submit", "sleep", "60").out.strip()
    assert cli("wait", "--timeout", "200ms", id, check=False).code == 124
    cli("cancel", id)
    assert cli("wait", id, check=False).code == 130
    assert cli("submit", "--wait", "--", "sh", "-c", "exit 9", check=False).code == 9
    good, bad = cli("submit", "true").out.strip(), cli("submit", "false").out.strip()
    assert cli("wait", good, bad, check=False).code == 1
    for wrong in (["wait"], ["wait", "nonsense"], ["run"], ["run", "--nonsense", "true"], ["wait", "--timeout", "soon", id]):
        assert cli(*wrong, check=False).code == 2, wrong
    assert cli("wait", "0" * 24, check=False).code == 125


def test_orphans_are_ours(server, tmp_path):
    """What became of the work cannot be known: that is Reeve's own kind of end."""
    server.start_worker()
    id = server.cli("submit", "--", "sleep", "60").out.strip()
    server.wait_task(id, "running")
    server.processes[-1].kill9()
    wait_until(lambda: server.cli("worker", "rm", "--lost", "w1", check=False).code == 0, what="the worker is given up")
    assert server.cli("wait", id, check=False).code == 125


def test_show_has_the_output(dev, cli):
    """Also of what was followed while it ran, and the end of what is long."""
    cli("run", "sh", "-c", "echo begin; echo oops >&2; seq 10000; echo the end")
    shown = cli("task", "show", "@last").out
    assert "  the end\n" in shown and "  …\n" in shown and "  begin\n" not in shown
    assert "  oops\n" in shown
    cli("run", "sh", "-c", "echo short; kill -9 $$", check=False)
    assert "  short\n" in cli("task", "show", "@last").out


def test_run_says_all_that_it_waits_for(dev, tmp_path):
    dev.create_queue("q", threads=0)
    dev.cli("queue", "pause", "q", "--reason", "for a test")
    env = harness.clean_environment(HOME=tmp_path, REEVE_SERVER="unix:" + dev.socket)
    with subprocess.Popen([harness.BIN, "run", "--queue", "q", "true"], env=env, stderr=subprocess.PIPE) as child:
        said = child.stderr.readline().decode()
        assert "for a test" in said and "threads" in said, said
        dev.cli("queue", "resume", "q")
        dev.cli("queue", "set", "q", "--threads", "1")
        child.stderr.read()
        assert child.wait(harness.PATIENCE) == 0


def test_every_list_speaks_every_format(dev, cli):
    cli("run", "true")
    for command, more in ((["task", "ls"], "LABELS"), (["queue", "ls"], "ORDER"), (["worker", "ls"], "VERSION")):
        assert more in cli(*command, "-o", "wide").out and more not in cli(*command).out, command
    for command in (["task", "ls"], ["queue", "ls"], ["worker", "ls"], ["events"], ["status"], ["top"], ["doctor"],
                    ["task", "show", "@last"], ["queue", "show", "default"], ["why", "@last"], ["version"]):
        assert isinstance(cli(*command, "-o", "json").json, dict), command
        assert cli(*command, "-o", "jsonl").jsonl, command
        assert isinstance(yaml.safe_load(cli(*command, "-o", "yaml").out), dict), command
        assert cli(*command, "-o", "wide").out and cli(*command, "-o", "table").out, command
        assert "json" in cli(*command, "-o", "jsn", check=False).err


def test_filters_choose_alike_in_lists_and_actions(dev, cli):
    dev.create_queue("held", threads=0)
    for n in range(3):
        cli("submit", "--queue", "held", "-l", f"n={n}", "true")
    cli("run", "true")
    # What is listed, and what of it can still be cancelled.
    for filters, count, live in ((["--queue", "held"], 3, 3), (["--label", "n=1"], 1, 1), (["--state", "queued"], 3, 3),
                                 (["--since", "1h"], 4, 3), (["--until", "1h"], 0, 0),
                                 (["--state", "queued", "--label", "n=2"], 1, 1)):
        assert len(cli("task", "ls", *filters, "-o", "jsonl").jsonl) == count, filters
        dry = cli("cancel", *filters, "--dry-run", "-o", "json").json
        assert dry["matched"] == live and dry["changed"] == 0, (filters, dry)
    assert cli("cancel", "--queue", "held", "--label", "n=1", "--yes").out == "1 of 1 cancelled\n"
    assert cli("retry", "--state", "cancelled", "--queue", "held", "--yes").out == "1 of 1 queued again\n"
    assert cli("cancel", "--queue", "held", "--state", "queued", "--yes").out == "3 of 3 cancelled\n"
    assert cli("cancel", check=False).code == 2, "nothing was named"


def test_events_are_all_there(server):
    """More than a page of them: the newest, the first after a number, those of one queue, and all."""
    server.create_queue("first")
    server.create_queue("q")
    for n in range(1, 1100):
        server.call("PATCH", "/v1/queues/q", expect=200, json={"threads": n})
    server.create_queue("last")
    everything = server.cli("events", "-n", "0", "-o", "jsonl").jsonl
    numbers = [event["seq"] for event in everything]
    assert len(everything) > 1100 and numbers == sorted(set(numbers))
    assert server.cli("events", "-n", "3", "-o", "jsonl").jsonl == everything[-3:]
    assert server.cli("events", "-n", "1050", "-o", "jsonl").jsonl == everything[-1050:]
    after = ["events", "--after", numbers[4], "-o", "jsonl"]
    assert server.cli(*after, "-n", "2").jsonl == everything[5:7]
    assert server.cli(*after, "-n", "0").jsonl == everything[5:]
    # Older than the newest page, and found all the same.
    assert [e["subject"] for e in server.cli("events", "--kind", "queue.created", "-o", "jsonl").jsonl] == ["first", "q", "last"]
    assert [e["subject"] for e in server.cli("events", "--kind", "queue.created", "-n", "1", "-o", "jsonl").jsonl] == ["last"]


def test_what_was_cut_short_is_guessed(reeve):
    for words, meant in ((["que", "ls"], "reeve queue"), (["stat"], "reeve status"), (["queue", "pau"], "reeve queue pause")):
        result = reeve(*words, check=False)
        assert result.code == 2 and f'did you mean "{meant}' in result.err, result


def test_an_atomic_refusal_names_the_lines(dev, cli):
    lines = '{"command":["true"]}\n\n{"command":"true"}\n{"command":["true"],"queue":"nope"}\n'
    result = cli("submit", "--ndjson", "-", "--atomic", input=lines, check=False)
    assert result.code == 2 and result.out == "", result
    said = result.err.splitlines()
    assert said[0].startswith('reeve: line 3: "command" is a string'), result
    assert any(line.startswith("reeve: line 4: ") and "nope" in line for line in said), result
    assert "2 of 3 tasks are not valid, so none was taken" in result.err
    assert dev.get("/v1/tasks/summary")["total"] == 0


def test_wait_timeout_has_one_name_everywhere(dev, cli):
    cli("submit", "sleep", "1000")
    for words in (["wait", "@last", "--wait-timeout", "100ms"], ["wait", "@last", "--timeout", "100ms"],
                  ["submit", "--wait", "--wait-timeout", "100ms", "sleep", "1000"]):
        assert cli(*words, check=False).code == 124, words
    assert cli("wait", "@last", "--wait-timeout", "1s", "--timeout", "1s", check=False).code == 2


def test_a_queue_takes_its_history_along_and_says_so(dev, cli):
    dev.create_queue("q")
    ended = [dev.submit("true", queue="q")["id"] for _ in range(2)]
    for task in ended:
        dev.wait_ended(task)
    assert cli("queue", "rm", "q").out == "queue q deleted, with 2 tasks and all output\n"
    assert all(dev.call("GET", f"/v1/tasks/{task}").status_code == 404 for task in ended)
    gone = cli("queue", "rm", "q", check=False)
    assert gone.code != 0 and 'no queue "q"' in gone.err, gone


def test_run_takes_an_action_or_params_in_place_of_a_command(cluster):
    cluster.start_dev(env={"REEVE_WORKER_PLUGINS": json.dumps({"p": {"exec": ["/bin/cat"]}})})
    cluster.create_queue("sums", plugin="p")
    action = cluster.cli("run", "--action", '{"run":{"command":["sh","-c","echo acted; exit 4"]}}', check=False)
    assert (action.code, action.out) == (4, "acted\n"), action
    params = cluster.cli("run", "--queue", "sums", "--params", '{"n":[1,2]}')
    assert '"params":{"n":[1,2]}' in params.out
    nothing = cluster.cli("run", check=False)
    assert nothing.code == 2 and "there is nothing to run" in nothing.err and "-- echo hello" in nothing.err
