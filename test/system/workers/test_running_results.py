# SPDX-License-Identifier: Apache-2.0
"""What a process leaves beside its exit code: result and status files, special codes; and whether it is well."""
import contextlib
import hashlib
import http.server
import os
import socket
import threading

import pytest
from harness import wait_until
from keepers import is_alive
from running import Runner, needs_bwrap, needs_root

RESULT_MAX = 50 << 10


@pytest.fixture(scope="module")
def runner():
    r = Runner("--run-as", "daemon")
    yield r
    r.close()


# -- the result file

def result(runner, script, path="result", run=None, **members):
    return runner.ended("sh", "-c", script, run={"result_file": str(path), **(run or {})}, **members)


def test_result(runner, tmp_path):
    path = tmp_path / "result"
    task = result(runner, f"printf 'the answer' > {path}", path)
    assert (task["state"], task["result"]) == ("succeeded", "the answer"), task
    task = result(runner, "printf relative > result", cwd=str(tmp_path))
    assert (task["state"], task["result"]) == ("succeeded", "relative"), task
    assert "relative" in runner.cluster.cli("task", "show", task["id"]).out
    task = result(runner, "printf 'a\\000b\\377' > result", cwd=str(tmp_path))
    assert (task["state"], task["result"]) == ("succeeded", "a\0b\ufffd"), task
    task = result(runner, ": > result", cwd=str(tmp_path))
    assert task["state"] == "succeeded" and not task["result"], task
    task = result(runner, "printf whatever > result; exit 4", cwd=str(tmp_path))
    assert (task["state"], task["exit_code"], task["result"]) == ("failed", 4, None), "of a success only"


def test_result_of_50_kib_and_a_byte_more(runner, tmp_path):
    task = result(runner, f"head -c {RESULT_MAX} /dev/zero | tr '\\0' x > result", cwd=str(tmp_path))
    assert task["state"] == "succeeded" and task["result"] == "x" * RESULT_MAX, task
    task = result(runner, f"head -c {RESULT_MAX + 1} /dev/zero | tr '\\0' x > result", cwd=str(tmp_path))
    assert task["state"] == "failed" and task["result"] is None and str(RESULT_MAX) in task["reason"], task


@pytest.mark.parametrize("make", ["true", "mkdir result", "mkfifo result", "ln -s /etc/hostname result",
                                  "ln -s /proc/self/environ result", "python3 -c 'import socket; "
                                  "socket.socket(socket.AF_UNIX).bind(\"result\")'", "ln -s result result"],
                         ids=["missing", "directory", "fifo", "link", "magic link", "socket", "loop"])
def test_what_is_no_result(runner, tmp_path, make):
    """Not a plain file: a failure that says so, and nobody waits for a fifo's other end."""
    task = result(runner, make, cwd=str(tmp_path))
    assert task["state"] == "failed" and task["exit_code"] == 0 and task["result"] is None, task
    assert "result" in task["reason"], task


@needs_root
def test_result_is_read_with_the_tasks_rights(runner, tmp_path):
    """The worker may read it; the task's user may not. What was submitted must not see more than its process could."""
    os.chmod(tmp_path, 0o755)
    secret = tmp_path / "secret"
    secret.write_text("not for daemon")
    secret.chmod(0o600)
    closed = tmp_path / "closed"
    closed.mkdir(0o700)
    (closed / "file").write_text("not for daemon")
    for path in (secret, closed / "file", "/etc/shadow"):
        task = result(runner, "true", path, run={"user": "daemon"})
        assert task["state"] == "failed" and task["result"] is None, task
    mine = runner.writable("mine", "daemon")
    task = result(runner, f"umask 077; printf mine > {mine}/result", f"{mine}/result", run={"user": "daemon"})
    assert (task["state"], task["result"]) == ("succeeded", "mine"), task
    task = result(runner, f"ln -s {secret} {mine}/link", f"{mine}/link", run={"user": "daemon"})
    assert task["state"] == "failed" and task["result"] is None, task


def test_result_of_an_action(runner, tmp_path):
    steps = [{"run": {"command": ["sh", "-c", "printf first > result"]}}, {"run": {"command": ["sh", "-c", "printf ' second' >> result"]}}]
    task = runner.ended(action={"serial": {"actions": steps}}, run={"result_file": "result"}, cwd=str(tmp_path))
    assert (task["state"], task["result"]) == ("succeeded", "first second"), task


# -- the status file

@pytest.mark.parametrize("line, state, said", [
    ("done", "succeeded", None), ("incomplete", "failed", "run again"), ("backoff", "failed", "later"),
    ("failed", "failed", "for good"), ('{"result": "done", "data": {"rows": 3}}', "succeeded", None),
    ('{"result": "backoff"}', "failed", "later"), ("", "failed", "no status line"), ("perhaps", "failed", "status line"),
    ('{"result": "perhaps"}', "failed", "status line"), ("{broken", "failed", "status line"),
    ('{"result": "done", "data": {}}', "succeeded", None), ('{"result": "done", "data": 7}', "failed", "not an object"),
    ('{"result": "done", "data": ["rows"]}', "failed", "not an object"), ('{"result": "done", "data": null}', "failed", "not an object"),
    ('{"result": "failed", "data": "no"}', "failed", "not an object")])
def test_status_lines(runner, line, state, said):
    script = f"echo incomplete > $REEVE_STATUS_FILE; echo '{line}' > $REEVE_STATUS_FILE" if line else "true"
    task = runner.ended("sh", "-c", script, run={"status_file": True})
    assert (task["state"], task["exit_code"]) == (state, 0), task
    assert said is None or said in task["reason"], task
    kept = {'{"result": "done", "data": {"rows": 3}}': '{"rows":3}', '{"result": "done", "data": {}}': "{}"}
    assert task["result"] == kept.get(line), task


def test_the_last_line_counts(runner):
    """Written all at once, with blanks behind it, or over and over: Bistro's tasks do all of that."""
    task = runner.ended("sh", "-c", "printf 'incomplete\\nbackoff\\ndone  \\n\\n' >> $REEVE_STATUS_FILE", run={"status_file": True})
    assert task["state"] == "succeeded", task
    script = "for i in $(seq 5000); do echo incomplete; done >> $REEVE_STATUS_FILE; echo done >> $REEVE_STATUS_FILE"
    assert runner.ended("sh", "-c", script, run={"status_file": True})["state"] == "succeeded"


def test_a_bad_exit_is_stronger_than_a_good_status(runner):
    task = runner.ended("sh", "-c", "echo done > $REEVE_STATUS_FILE; exit 5", run={"status_file": True})
    assert (task["state"], task["exit_code"]) == ("failed", 5), task
    task = runner.ended("sh", "-c", "echo done > $REEVE_STATUS_FILE; kill -9 $$", run={"status_file": True})
    assert (task["state"], task["signal"]) == ("failed", 9), task


def test_statuses_and_attempts(runner):
    """"failed" is for good; the others are tried again, and so is what cannot be understood."""
    members = {"max_attempts": 3, "backoff": "1ms", "run": {"status_file": True}}
    for word, attempts in (("failed", 1), ("incomplete", 3), ("backoff", 3), ('{"result": "failed", "data": 7}', 3)):
        task = runner.ended("sh", "-c", f"echo '{word}' > $REEVE_STATUS_FILE", **members)
        assert (task["state"], task["attempt"]) == ("failed", attempts), (word, task)


@needs_root
def test_status_file_of_another_user(runner):
    task = runner.ended("sh", "-c", "echo done > $REEVE_STATUS_FILE", run={"status_file": True, "user": "daemon"})
    assert task["state"] == "succeeded", task


@pytest.mark.parametrize("code, state, attempts", [(99, "succeeded", 1), (100, "failed", 1), (111, "failed", 3), (3, "failed", 3)])
def test_special_exit_codes(runner, code, state, attempts):
    with contextlib.suppress(AssertionError):
        runner.cluster.create_queue("codes", exit_codes=True)
    members = {"max_attempts": 3, "backoff": "1ms"}
    task = runner.ended("sh", "-c", f"exit {code}", queue="codes", **members)
    assert (task["state"], task["exit_code"], task["attempt"]) == (state, code, attempts), task
    task = runner.ended("sh", "-c", f"exit {code}", **members)
    assert (task["state"], task["attempt"]) == ("failed", 3), "elsewhere they are codes like others"


def test_input(runner):
    text = "line\n" * 40000 + "the end without a newline"
    assert len(text) < 256 << 10
    out = runner.says("cat | sha256sum; cat | wc -c", run={"input": text})
    assert out[0].split()[0] == hashlib.sha256(text.encode()).hexdigest() and out[1] == "0", out
    assert runner.says("cat; echo end") == ["end"], "empty unless one is given"


# -- is it well?

QUICK = {"interval": "100ms", "start_interval": "100ms", "timeout": "5s", "start_timeout": "20s"}


class Web(http.server.BaseHTTPRequestHandler):
    """200 until the server is told another status."""

    def do_GET(self):
        self.send_response(self.server.status if self.path == "/health" else 404)
        self.end_headers()
        self.server.asked += 1

    def log_message(self, *args):
        pass


@pytest.fixture
def web():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Web)
    server.status, server.asked = 200, 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def start_checked(runner, script="sleep 1000", **check):
    task = runner.cluster.submit("sh", "-c", script, run={"check": {**QUICK, **check}})["id"]
    wait_until(lambda: runner.cluster.get(f"/v1/tasks/{task}")["state"] != "queued", what="it has begun")
    return task


def wait_well(runner, task):
    wait_until(lambda: f"task {task} is healthy" in runner.watched.worker.log(), what="it is healthy")


def unwell(runner, task, *words):
    task = runner.cluster.wait_ended(task)
    assert task["state"] == "failed", task
    for word in words:
        assert word in task["reason"], task["reason"]
    runner.watched.quiet()


def test_check_by_http(runner, web):
    task = start_checked(runner, http=web.server_port, path="/health")
    wait_well(runner, task)
    wait_until(lambda: web.asked > 5, what="it is asked again and again")
    assert runner.cluster.get(f"/v1/tasks/{task}")["state"] == "running"
    web.status = 503
    unwell(runner, task, "became unhealthy", "503")
    task = start_checked(runner, http=web.server_port, path="/other", start_timeout="300ms")
    unwell(runner, task, "never healthy", "404")


def start_apart(runner, **checks):
    task = runner.cluster.submit("sleep", "1000", run={"checks": checks})["id"]
    wait_until(lambda: runner.cluster.get(f"/v1/tasks/{task}")["state"] != "queued", what="it has begun")
    return task


def test_checks_apart(runner, web, tmp_path):
    """Up by one, alive by another, ready by a third: only the first two can end it."""
    up, ready = tmp_path / "up", tmp_path / "ready"
    said = runner.watched.worker.log
    task = start_apart(runner, startup={"command": ["cat", str(up)], "interval": "100ms"},
                       liveness={"http": web.server_port, "path": "/health", "interval": "100ms", "timeout": "5s"},
                       readiness={"command": ["cat", str(ready)], "interval": "100ms", "timeout": "5s"})
    assert f"task {task} is" not in said() and web.asked == 0
    up.touch()
    wait_well(runner, task)
    wait_until(lambda: web.asked > 1, what="it is looked at whether it is alive")
    ready.touch()
    wait_until(lambda: f"task {task} is ready" in said(), what="it is ready")
    ready.unlink()
    wait_until(lambda: f"task {task} is not ready: " in said(), what="it is not ready any more")
    up.unlink()
    asked = web.asked
    wait_until(lambda: web.asked > asked + 1, what="it goes on")
    assert runner.cluster.get(f"/v1/tasks/{task}")["state"] == "running"
    web.status = 500
    unwell(runner, task, "became unhealthy", "500")
    unwell(runner, start_apart(runner, startup={"tcp": free_port(), "start_timeout": "300ms", "interval": "100ms"}),
           "never healthy after 300", "refused")


def test_a_daemon_that_is_checked(runner, tmp_path):
    """What an action's program leaves behind is the task, as long as the check says that it is well."""
    well = tmp_path / "well"
    action = {"with_sidecars": {"action": {"run": {"command": ["sh", "-c", f"(touch {well}; sleep 1000) & exit 0"]}}}}
    check = {**QUICK, "command": ["cat", str(well)]}
    task = runner.cluster.submit(action=action, run={"check": check})["id"]
    wait_well(runner, task)
    assert runner.cluster.get(f"/v1/tasks/{task}")["state"] == "running"
    well.unlink()
    unwell(runner, task, "became unhealthy", "No such file")


def test_check_by_tcp(runner):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
        task = start_checked(runner, tcp=port)
        wait_well(runner, task)
    unwell(runner, task, "became unhealthy", "refused")
    task = start_checked(runner, tcp=free_port(), start_timeout="300ms")
    unwell(runner, task, "never healthy after 300", "refused")


def test_check_by_command(runner, tmp_path):
    well = tmp_path / "well"
    task = start_checked(runner, f"sleep 0.2; touch {well}; sleep 1000", command=["cat", str(well)])
    wait_well(runner, task)
    well.unlink()
    unwell(runner, task, "became unhealthy", "No such file")
    task = start_checked(runner, command=["sh", "-c", "exit 3"], start_timeout="200ms")
    unwell(runner, task, "never healthy", "exit code 3")
    task = start_checked(runner, command=["/no/such/check"], start_timeout="200ms")
    unwell(runner, task, "never healthy", "/no/such/check")
    task = start_checked(runner, command=["sleep", "1000"], start_timeout="400ms", timeout="50ms")
    unwell(runner, task, "never healthy", "timed out")


def test_check_runs_as_the_task(runner, tmp_path):
    """Same user, directory, environment and limits."""
    script = "[ $WORD = here ] && [ $(pwd) = / ] || exit 1; [ $(ulimit -n) = 99 ] && id -u > /tmp/$NAME"
    name = f"reeve-check-{os.getpid()}"
    run = {"check": {**QUICK, "command": ["sh", "-c", script]}, "limits": {"open_files": 99}}
    if os.geteuid() == 0:
        run["user"] = "daemon"
    task = runner.cluster.submit("sleep", "1000", run=run, env={"WORD": "here", "NAME": name}, cwd="/")["id"]
    wait_well(runner, task)
    with open(f"/tmp/{name}") as f:
        assert f.read().strip() == ("1" if os.geteuid() == 0 else str(os.getuid()))
    os.unlink(f"/tmp/{name}")
    runner.cancel(task)


@needs_bwrap
def test_check_of_a_sandbox_is_in_one(runner):
    run = {"check": {**QUICK, "command": ["sh", "-c", "[ $$ = 2 ] && ! touch /usr/local/x"]}, "sandbox": True}
    task = runner.cluster.submit("sleep", "1000", run=run)["id"]
    wait_well(runner, task)
    runner.cancel(task)
    runner.watched.quiet()


def test_who_ends_while_it_is_looked_at(runner):
    """Its own exit says how it ended; the check that was under way is ended, too."""
    task = start_checked(runner, "sleep 0.3; exit 7", command=["sleep", "1000"], timeout="60s")
    task = runner.cluster.wait_ended(task)
    assert (task["state"], task["exit_code"]) == ("failed", 7), task
    runner.watched.quiet()


def test_an_unwell_one_that_does_not_listen_is_killed(runner):
    task = start_checked(runner, "trap '' TERM; while :; do sleep 0.05; done", command=["false"], start_timeout="200ms")
    wait_until(runner.watched.tasks, what="it runs")
    pid = runner.pid_of(task)
    unwell(runner, task, "never healthy")
    assert not is_alive(pid)
