# SPDX-License-Identifier: Apache-2.0
"""What newcomers stumbled over: filters, scripts, words of other systems, hints, plain answers."""
import fcntl
import json
import os
import pty
import re
import struct
import signal
import subprocess
import termios

import harness
import pytest
import requests
from plugins import done, start


def terminal(cluster, *args, columns=80):
    """What a terminal of so many columns shows."""
    main, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen([harness.BIN, *args], stdin=end, stdout=end, stderr=subprocess.STDOUT,
                             env=harness.clean_environment(REEVE_SERVER=f"unix:{cluster.socket}", NO_COLOR="1",
                                                           LANG="C.UTF-8", TERM="xterm"))
    os.close(end)
    out = b""
    try:
        while data := os.read(main, 65536):
            out += data
    except OSError:
        pass
    child.wait(harness.PATIENCE)
    os.close(main)
    return out.decode().replace("\r\n", "\n")


def test_delayed_is_asked_for_as_it_is_shown(dev):
    later = dev.cli("submit", "--run-after", "1h", "--", "true").out.strip()
    dev.cli("queue", "create", "closed", "--threads", "0")
    dev.cli("submit", "--queue", "closed", "--", "true")
    assert [t["id"] for t in dev.all_tasks(state="delayed")] == [later]
    assert len(dev.all_tasks(state="queued")) == 2, "they are queued, too"
    assert later in dev.cli("task", "ls", "--state", "delayed,failed").out
    assert dev.cli("cancel", "--state", "delayed").out == "1 of 1 cancelled\n"
    assert "delayed" in dev.cli("task", "ls", "--state", "nonsense", check=False).err


def test_a_script_from_standard_input(dev):
    dev.cli("queue", "create", "builds")
    script = "#!/bin/bash\n# a comment\n#REEVE --queue builds --label 'who=ann b'\n#REEVE -p 7\n\necho ${BASH_VERSION:+bash} $0 $1; read -r x; echo [$x]\n#REEVE --queue nonsense\n"
    task = dev.cli("submit", "-", "one", input=script).out.strip()
    done = dev.wait_ended(task)
    assert (done["queue"], done["labels"], done["priority"]) == ("builds", {"who": "ann b"}, 7)
    assert (done["state"], done["stdout"]) == ("succeeded", "bash script one\n[]\n"), "its standard input is free"
    task = dev.cli("submit", "--queue", "default", "-", input=script).out.strip()
    assert dev.task(task)["queue"] == "default", "the line wins"
    task = dev.cli("submit", "-", input="echo plain").out.strip()
    assert dev.wait_ended(task)["stdout"] == "plain\n"


def test_a_script_of_another_language(dev):
    task = dev.cli("submit", "-", "x", input="#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:], 6 * 7)\n").out.strip()
    assert dev.wait_ended(task)["stdout"] == "['x'] 42\n"


@pytest.mark.parametrize("script, said", [
    ("#!/usr/bin/python3\nimport sys\nprint(repr(sys.stdin.read()), sys.argv[1:])\n", "'' ['-x', 'y']\n"),
    ("#!/usr/bin/env -S python3 -u\nimport sys\nprint(repr(sys.stdin.read()), sys.argv[1:])\n", "'' ['-x', 'y']\n"),
    ("#!/usr/bin/perl -w\nuse strict;\nmy @in = <STDIN>;\nprint scalar(@in), \" @ARGV\\n\";\n", "0 -x y\n"),
    ("\ufeff#!/usr/bin/perl\nprint \"perl @ARGV\\n\";\n", "perl -x y\n"),
    ("\ufeff#REEVE --name first\ncat; echo $1 $2\n", "-x y\n"),
    ("#!/bin/cat\nread by what it names\n", None),
])
def test_a_script_does_not_read_itself(dev, script, said):
    task = dev.cli("submit", "-", "-x" if said else "/dev/null", "y" if said else "/dev/null", input=script).out.strip()
    done = dev.wait_ended(task)
    assert (done["state"], done["stdout"]) == ("succeeded", said or script)
    assert done["name"] == ("first" if "#REEVE" in script else None)


@pytest.mark.parametrize("script, args, words", [
    ("", [], "is empty"), ("#REEVE --quue x\ntrue\n", [], "line 1 of the script: there is no option --quue"),
    ("#REEVE --quue x\ntrue\n", [], "did you mean --queue?"), ("#!/bin/sh\n#REEVE 'x\n", [], "line 2 of the script: a quote"),
    ("#REEVE x\n", [], 'options only, not by "x"'), ("true", ["--stdin", "/dev/null"], "--stdin"),
    ("true", ["--array", "-"], "both be standard input"), ("x" * 120001, [], "longer than 120000 bytes"), ("a\0b", [], "NUL"),
])
def test_scripts_that_are_refused(dev, script, args, words):
    result = dev.cli("submit", *args, "-", input=script, check=False)
    assert result.code != 0 and words in result.err
    assert not dev.all_tasks(), "and nothing was submitted"


@pytest.mark.parametrize("script, said", [
    ("#!/bin/sh\n#SBATCH --array=1-9\n#SBATCH -p gpu\necho x\n#SBATCH -N 2\n", "2 lines #SBATCH are not read; options stand in #REEVE"),
    ("#PBS -l walltime=1\necho x\n", "1 line #PBS is not read"), ("#$ -N name\necho x\n", "1 line #$ is not read"),
    ("#!/bin/sh\n#REEVE -p 1\n# #SBATCH\n#PBSX y\necho x\n", ""),
])
def test_a_script_of_another_system_is_told_what_is_not_read(dev, script, said):
    result = dev.cli("submit", "-", input=script)
    assert said in result.err and bool(said) == bool(result.err)
    assert dev.wait_ended(result.out.strip())["stdout"] == "x\n"
    assert dev.cli("submit", "-q", "-", input=script).err == ""


@pytest.mark.parametrize("words", ["-s http://192.0.2.1", "--token-file /etc/passwd", "--ca-file x", "--server-timeout 1s"])
def test_a_script_does_not_choose_its_server(dev, words):
    """One from elsewhere would send the token wherever it likes."""
    result = dev.cli("submit", "-", input=f"#!/bin/sh\n#REEVE {words}\ntrue\n", check=False)
    assert result.code == 2 and "line 2 of the script: --" in result.err and "is not a script's to say" in result.err
    assert not dev.all_tasks()


def test_held_at_submit(dev):
    task = dev.cli("submit", "--hold", "--", "true").out.strip()
    assert dev.task(task)["state"] == "held"
    assert f"reeve task release {task}" in dev.cli("why", task).out
    dev.cli("task", "release", task)
    assert dev.wait_ended(task)["state"] == "succeeded"


def says(status):
    return {"exec": ["/bin/sh", "-c", "echo '{\"status\": %s}' >&3" % status]}


def test_a_plugins_own_status_is_seen(cluster):
    start(cluster, p=says(300))
    task = done(cluster, "p", {})
    assert (task["state"], task["status"]) == ("finished", 300)
    assert "finished 300" in cluster.cli("task", "ls").out and "300" in cluster.cli("task", "show", task["id"]).out


def test_what_is_shown_can_be_asked_for(cluster):
    start(cluster, p=says(7))
    task = done(cluster, "p", {})["id"]
    assert task in cluster.cli("task", "ls", "--state", "finished 7").out
    assert not cluster.all_tasks(state="finished 8") and len(cluster.all_tasks(state="failed,finished 7")) == 1
    assert cluster.cli("task", "ls", "--state", "finished 1", check=False).code == 2, "that is no plugin's own"
    later = cluster.cli("submit", "--run-after", "1h", "--", "true").out.strip()
    assert "◷ delayed" in cluster.cli("why", later).out and "◷ delayed" in cluster.cli("task", "ls").out
    worker = cluster.get("/v1/workers")["items"][0]["name"]
    assert "no such workers" in cluster.cli("worker", "ls", "--state", "drained").err
    cluster.cli("worker", "drain", worker)
    assert worker in cluster.cli("worker", "ls", "--state", "drained").out
    assert "no such workers" in cluster.cli("worker", "ls", "--state", "lost").err
    assert {"lost", "drained"} <= set(cluster.cli("__complete", "worker-state").out.split())


@pytest.mark.parametrize("status", ["0", "-3", "1000001"])
def test_a_plugin_is_told_which_numbers_there_are(cluster, status):
    start(cluster, p=says(status))
    task = done(cluster, "p", {})
    assert (task["state"], task["reason"]) == ("failed", "the plugin wrote a status that is not from 1 to 1000000")


def test_words_of_disbatch(server):
    assert server.cli("queue", "create", "q", "--sort", "lifo", check=False).err.endswith("did you mean --order?\n")
    reply = server.call("POST", "/v1/queues", json={"name": "q", "sort": "lifo"}, expect=400).json()
    assert reply["hint"] == 'did you mean "order"?'
    server.cli("queue", "create", "q", "--order", "lifo")
    server.cli("queue", "set", "q", "--order", "default")
    assert server.get("/v1/queues/q")["order"] == "fifo"
    assert server.cli("queue", "set", "q", "--order", "defaults", check=False).code != 0


@pytest.mark.parametrize("words, meant", [
    ("ps", "task ls"), ("ls", "task ls"), ("kill 1", "cancel ID"), ("drain w", "worker drain NAME"), ("job", "task ls"),
    ("get queues", "queue ls"), ("get", "task ls"), ("exit", "help"), ("batch cancel x", "cancel NAME"),
    ("batch retry x", "retry NAME"), ("cron add x", "schedule add NAME"), ("man", "help"),
    ("describe x", "task show ID"), ("queue list", "queue ls"), ("worker delete x", "worker rm"), ("stauts", "status"),
    ("squeue", "task ls"), ("sbatch", "submit"), ("queue add x", "queue create NAME"), ("tail", "logs -f ID"),
])
def test_words_of_others(reeve, words, meant):
    result = reeve(*words.split(), check=False)
    assert result.code == 2
    if meant:
        assert f'did you mean "reeve {meant}"?' in result.err


@pytest.mark.parametrize("option, meant", [("at", "run-after"), ("mem", "memory"), ("chdir", "cwd"), ("partition", "queue")])
def test_options_of_others(reeve, option, meant):
    assert f"did you mean --{meant}?" in reeve("submit", f"--{option}", "x", "--", "true", check=False).err


def test_every_synonym_names_something_that_is_there(reeve):
    """A hint that does not work is worse than none."""
    with open(os.path.join(harness.ROOT, "src/cli/frame/synonyms.c")) as f:
        rows = f.read().split("} commands[] = {")[1].split("};")[0].strip().splitlines()
    for row in rows:
        meant = row.strip(" {},").split(", ")[2].strip('"')
        words = [w for w in meant.split() if w.islower() and not w.startswith("-")]
        assert reeve(*words, "--help").out.startswith(f"usage: reeve {' '.join(words)}"), row


def test_a_wrong_member_is_named_with_its_place(server):
    result = server.cli("submit", "--action", '{"serial":{"actions":[{"run":{"path":"true"}},{"run":{"pth":1}}]}}', check=False)
    assert "action.serial.actions[1].run.pth" in result.err


def test_names_stay_whole_on_a_terminal(server):
    name = "a-queue-whose-name-is-not-short-at-all-0123456789"
    server.cli("queue", "create", name)
    for columns in (80, 70):
        shown = terminal(server, "queue", "ls", columns=columns)
        assert name in shown and "active" in shown
        assert max(len(line) for line in shown.splitlines()) <= columns
    assert "…" in terminal(server, "queue", "ls", columns=40), "until there is no room at all"


def test_names_stay_whole_in_other_lists(server):
    """Other columns go before the name, which people copy; those that say least go first."""
    task, batch, schedule = "nightly-backup-of-home", "a-batch-with-a-long-name", "a-schedule-with-a-name-of-37-letters."
    server.cli("queue", "create", "builds-of-the-day", "--threads", "0")
    server.cli("submit", "--queue", "builds-of-the-day", "--name", task, "--", "true")
    server.cli("submit", "--queue", "builds-of-the-day", "--array", "1-2", "--name", batch, "--", "true")
    server.cli("schedule", "add", schedule, "--crontab", "0 3 * * *", "--tz", "Europe/Berlin", "--max-shift", "1h", "--", "/x")
    for words, name, also in ((["task", "ls"], task, "STATE"), (["batch", "ls"], batch, "PROGRESS"),
                              (["schedule", "ls"], schedule, "NEXT RUN")):
        shown = terminal(server, *words)
        assert name in shown and also in shown, shown
        assert max(len(line) for line in shown.splitlines()) <= 80, shown


def test_a_worker_whose_queues_do_not_exist(cluster):
    cluster.start_server()
    cluster.start_worker("--activequeues", "biulds")
    words = "none of its activequeues exists, so it gets no tasks: biulds"
    assert cluster.get("/v1/workers/w1")["warning"] == words
    assert words in cluster.cli("worker", "ls").out and words in cluster.cli("worker", "show", "w1").out
    cluster.cli("queue", "create", "biulds")
    assert cluster.get("/v1/workers/w1")["warning"] is None and words not in cluster.cli("worker", "ls").out


def test_which_of_its_queues_do_not_exist(cluster):
    cluster.start_server()
    cluster.cli("queue", "create", "closed")
    worker = cluster.start_worker("--activequeues", "biulds,closed")
    assert cluster.get("/v1/workers/w1")["warning"] == "of its activequeues do not exist: biulds"
    worker.stop()
    harness.wait_until(lambda: not cluster.get("/v1/workers/w1")["connected"], what="it has left")
    assert cluster.get("/v1/workers/w1")["warning"] is None and "biulds" not in cluster.cli("worker", "ls").out


def test_hints_can_be_pasted(dev):
    """A name with a blank is one word there, too."""
    dev.cli("queue", "create", "a b")
    assert "reeve queue set 'a b'" in dev.cli("queue", "create", "a b", check=False).err
    assert "change it: reeve queue set 'a b' --threads 3" in dev.cli(
        "submit", "--queue", "a b", "--limit", "3", "--", "true", check=False).err
    assert "reeve queue create 'what else' makes it" in dev.cli("submit", "--queue", "what else", "--", "true", check=False).err
    dev.cli("submit", "--queue", "a b", "--hold", "--", "true")
    dev.cli("queue", "pause", "a b", "--reason", "x")
    dev.cli("submit", "--queue", "a b", "--", "true")
    assert "reeve queue resume 'a b'" in dev.cli("doctor", check=False).out


def test_how_long_a_wait_took_and_what_was_cancelled(dev):
    batch = dev.cli("submit", "--array", "1-3", "--hold", "--", "true").out.strip()
    dev.cli("cancel", batch)
    result = dev.cli("wait", batch, check=False)
    assert result.code == 1 and "3 cancelled" in result.err and "failed" not in result.err
    result = dev.cli("submit", "--array", "1-4", "--wait", "--", "sleep", "0.3")
    assert "4/4 100%" in result.err and "in 0ms" not in result.err, result.err


def test_sizes_are_written_alike(server):
    server.cli("queue", "create", "q", "--output-max", "32M")
    assert server.get("/v1/queues/q")["output_max"] == 32 << 20
    server.cli("queue", "set", "q", "--output-max", "1000")
    assert server.get("/v1/queues/q")["output_max"] == 1000
    assert server.cli("queue", "set", "q", "--output-max", "many", check=False).code == 2


def test_logs_takes_the_filters_of_lists(dev):
    for name in ("one", "two"):
        dev.wait_ended(dev.cli("submit", "--name", name, "--", "echo", f"said-{name}").out.strip())
    assert dev.cli("logs", "--no-prefix", "--name", "two").out == "said-two\n"
    assert dev.cli("logs", "--no-prefix", "--search", "said-one").out == "said-one\n"
    worker = dev.get("/v1/workers")["items"][0]["name"]
    assert dev.cli("logs", "--no-prefix", "--worker", worker, "--until", "0s").out == "said-one\nsaid-two\n"
    assert dev.cli("logs", "--until", "1h", check=False).out == ""


def test_a_script_that_is_named_in_place_of_sent(dev, tmp_path):
    (tmp_path / "job.sh").write_text("echo x\n")
    result = dev.cli("submit", "job.sh", cwd=tmp_path)
    assert "job.sh is looked for in PATH, not here" in result.err and "reeve submit - <job.sh" in result.err
    result = dev.cli("submit", "--", "-", input="echo sent\n")
    assert dev.task(result.out.strip())["command"] == ["-"], "behind -- stands a command"


def test_a_long_array_names_its_batch_before_its_end(dev):
    result = dev.cli("submit", "--array", "1-50001", "--hold", "--", "true")
    assert f"batch {result.out.strip()} has begun" in result.err
    assert "has begun" not in dev.cli("submit", "--array", "1-9", "--hold", "--", "true").err


def test_why_of_a_task_that_has_ended(dev):
    task = dev.cli("submit", "--", "false").out.strip()
    dev.wait_ended(task)
    lines = dev.cli("why", task).out.splitlines()
    assert re.fullmatch(r"✗ failed \(exit code 1\) on \S+ in \S+", lines[0]), lines
    assert re.fullmatch(r"  it ended \d+s ago, and waits for nothing", lines[1]), lines
    for line, proposed in zip(lines[2:], ["logs", "task history", "retry"], strict=True):
        assert line.endswith(f": reeve {proposed} {task}"), lines
        dev.cli(*line.partition(": reeve ")[2].split())
    good = dev.cli("submit", "--", "true").out.strip()
    dev.wait_ended(good)
    assert re.fullmatch(r"✓ succeeded on \S+ in \S+\n  it ended \d+s ago, and waits for nothing\n",
                        dev.cli("why", good).out)
    plain = dev.cli("submit", "--hold", "--", "true").out.strip()
    dev.cli("cancel", plain)
    assert dev.cli("why", plain).out.startswith("⊖ cancelled\n"), "not twice"
    never = dev.cli("submit", "--hold", "--", "true").out.strip()
    dev.cli("cancel", never, "--reason", "too late")
    out = dev.cli("why", never).out
    assert out.startswith("⊖ cancelled: too late\n") and "reeve logs" not in out, "it has written nothing"


def test_who_holds_a_task_is_said(dev):
    task = dev.cli("submit", "--hold", "--", "true").out.strip()
    assert f"held back by uid={os.getuid()} (status -10)\n" in dev.cli("why", task).out
    dev.cli("task", "release", task)
    other = dev.cli("submit", "--run-after", "1h", "--", "true").out.strip()
    dev.cli("task", "hold", other, "--reason", "the disk")
    assert f"held back by uid={os.getuid()} (status -10): the disk\n" in dev.cli("why", other).out


def test_which_step_of_an_action_failed(dev):
    action = {"serial": {"actions": [{"run": {"command": ["true"]}}, {"run": {"command": ["false"]}}]}}
    task = dev.cli("submit", "--action", json.dumps(action)).out.strip()
    dev.wait_ended(task)
    assert "Exited with status 1 (action.serial.actions[1].run)" in dev.cli("why", task).out


def test_quiet_is_quiet(dev):
    task = dev.cli("submit", "--", "false").out.strip()
    dev.wait_ended(task)
    assert dev.cli("retry", "-q", task).out == ""
    dev.wait_ended(task)
    assert dev.cli("retry", "-q", "--state", "failed").out == ""


def test_one_is_not_many(server):
    result = server.cli("submit", "--ndjson", "-", input='{"nonsense":1}\n{"command":["true"]}\n', check=False)
    assert "1 line was refused" in result.err and "1 task submitted" in result.err
    result = server.cli("queue", "rm", "default", check=False)
    assert "1 task of the queue has not ended yet" in result.err


def test_columns_of_the_configuration(reeve):
    lines = reeve("config", "show", "--origin").out.splitlines()
    places = {line.index(" default ") for line in lines if " default " in line}
    assert len(lines) > 50 and len({line[:max(places)].rstrip().split()[0] for line in lines}) == len(lines)
    ends = {len(line) - len(line.split(None, 1)[1]) for line in lines if not line.startswith(" ")}
    assert len(ends) == 1, "the second column begins at one place"


def test_who_types_the_address_into_a_browser(dev):
    page = requests.get(f"{dev.url}/", timeout=harness.PATIENCE)
    assert page.status_code == 200 and page.headers["Content-Type"].startswith("text/plain")
    assert "no web page" in page.text and "/openapi.json" in page.text


def test_gen_says_what_it_can_make(reeve):
    assert "gen man" in reeve("help", "gen").out


@pytest.mark.parametrize("words", [["yes"], ["sh", "-c", "while :; do echo tick; sleep 0.1; done"]])
def test_run_ends_when_nobody_reads_its_output(dev, words):
    """As it would here: the reader leaves, the command ends, and so do we."""
    reader, writer = os.pipe()
    run = subprocess.Popen([harness.BIN, "-s", f"unix:{dev.socket}", "run", "--", *words], stdout=writer,
                           stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(writer)
    assert os.read(reader, 2) in (b"y\n", b"ti")
    os.close(reader)
    run.communicate(timeout=harness.PATIENCE)
    assert run.returncode == 141
    task = dev.get("/v1/tasks")["items"][0]
    dev.wait_task(task["id"], "cancelled")


def test_run_says_that_its_output_cannot_be_written(dev):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([harness.BIN, "-s", f"unix:{dev.socket}", "run", "--", "echo", "x"], stdout=full,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=harness.PATIENCE)
    assert done.returncode == 125 and b"the output cannot be written: No space left" in done.stderr, done


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_run_that_is_ended_says_by_what(dev, number, code):
    run = subprocess.Popen([harness.BIN, "-s", f"unix:{dev.socket}", "run", "--", "sh", "-c", "echo begun; sleep 100"],
                           stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert run.stdout.read(6) == b"begun\n"
    run.send_signal(number)
    run.communicate(timeout=harness.PATIENCE)
    assert run.returncode == code
    reason = dev.get("/v1/tasks")["items"][0]["reason"]
    assert reason == ("Ctrl-C in reeve run" if code == 130 else f"reeve run was ended by {number.name}"), reason


def test_a_tasks_name_where_an_id_is_wanted(dev):
    dev.cli("submit", "--name", "single", "sleep", "100")
    for command in (("cancel",), ("wait",), ("logs",), ("task", "hold"), ("why",)):
        said = dev.cli(*command, "single", check=False)
        assert said.code == 2 and "--name single means all of them" in said.err, said
    assert "--name" not in dev.cli("cancel", "double", check=False).err
    assert dev.cli("cancel", "--name", "single").out == "1 of 1 cancelled\n"


@pytest.mark.parametrize("option", ["--need", "--env", "--cwd"])
def test_an_empty_value_is_refused(dev, option):
    for command in (("submit",), ("run",), ("schedule", "add", "s", "--crontab", "0 0 * * *", "--tz", "UTC", "--max-shift", "1h")):
        said = dev.cli(*command, option, "", "--", "true", check=False)
        assert said.code in (2, 125) and f"{option} is empty" in said.err, said
    assert not dev.get("/v1/tasks")["items"]


def test_a_time_that_is_none_is_shown(dev):
    assert 'since: "" is neither a time nor a duration' in dev.cli("task", "ls", "--since", "", check=False).err
    assert 'until: "soon" is neither a time nor a duration' in dev.cli("task", "ls", "--until", "soon", check=False).err
