# SPDX-License-Identifier: Apache-2.0
"""The object `run`: taken, checked, shown, changed, and kept over a crash."""
import json
import os
import sqlite3

from client import Api, check_problem
from harness import run

RUN = {"user": "alice", "groups": ["x"], "nice": 5, "umask": "027", "limits": {"memory": "512M", "cpu": 1.5, "core_size": 0},
       "kill": {"method": "term_wait_kill", "wait": "3s"}, "sandbox": {"writable": ["/data"]},
       "check": {"http": 8080, "path": "/health"}, "result_file": "result", "input": "a\nb\n"}


def test_it_comes_back_after_a_crash(server):
    api = Api(server)
    api.ok("POST", "/v1/queues", status=201, json={"name": "q", "run": RUN})
    task = api.ok("POST", "/v1/tasks", status=201, json={"queue": "q", "command": ["true"], "run": {"nice": 1}})
    server.server.kill9()
    server.restart()
    api = Api(server)
    assert api.get("/v1/queues/q")["run"] == RUN
    shown = api.task(task["id"])
    assert shown["run"] == {"nice": 1}
    assert shown["usage"] is None and shown["result"] is None, "it has not run yet"


def test_what_is_wrong_is_named(server):
    api = Api(server)
    for bad, field, hint in (
            ({"limits": {"memroy": 1}}, "run.limits.memroy", 'did you mean "memory"?'),
            ({"limits": {"memory": "much"}}, "run.limits.memory", "512M"),
            ({"kill": {"to": "group"}, "process_group": False}, "run.kill.to", "process_group"),
            ({"sandbox": {"rootfs": "srv"}}, "run.sandbox.rootfs", "/"),
            ({"check": {"tcp": 1, "http": 2}}, "run.check", "http"),
            ({"checks": {"livenes": {"tcp": 1}}}, "run.checks.livenes", "liveness"),
            ({"checks": {"startup": {"tcp": 1, "unhealthy_after": 2}}}, "run.checks.startup.unhealthy_after", "healthy_after"),
            ({"checks": {"readiness": {"http": "PORT"}}}, "run.checks.readiness.http", "$PORT"),
            ({"input": "x" * (256 * 1024 + 1)}, "run.input", None)):
        check_problem(api.ask("POST", "/v1/tasks", json={"command": ["true"], "run": bad}), 400, "invalid", field, hint)
        check_problem(api.ask("POST", "/v1/queues", json={"name": "q", "run": bad}), 400, "invalid", field, hint)
    api.ok("POST", "/v1/queues", status=201, json={"name": "q", "run": {"process_group": False}})
    task = {"queue": "q", "command": ["true"], "run": {"kill": {"to": "group"}}}
    check_problem(api.ask("POST", "/v1/tasks", json=task), 400, "invalid", "run.kill.to")


def test_queue_on_the_command_line(server):
    server.cli("queue", "create", "q", "--user", "alice", "--nice", -5, "--memory", "1G", "--cpu", 1.5, "--pids", 100,
               "--kill-method", "kill", "--kill-wait", "2s", "--sandbox", "--result-file", "out")
    whole = {"user": "alice", "nice": -5, "limits": {"memory": "1G", "cpu": 1.5, "pids": 100},
             "kill": {"method": "kill", "wait": "2s"}, "sandbox": True, "result_file": "out"}
    assert server.json("queue", "show", "q")["run"] == whole
    assert '"memory": "1G"' in server.cli("queue", "show", "q").out
    server.cli("queue", "set", "q", "--memory", "2G", "--no-sandbox")
    whole["limits"]["memory"], whole["sandbox"] = "2G", False
    assert server.json("queue", "show", "q")["run"] == whole, "the others stay"
    server.cli("queue", "set", "q", "--run", '{"nice":1}', "--user", "bob")
    assert server.json("queue", "show", "q")["run"] == {"nice": 1, "user": "bob"}
    server.cli("queue", "set", "q", "--run", "none")
    assert server.json("queue", "show", "q")["run"] is None


def test_task_on_the_command_line(server):
    task = server.cli("submit", "--run", '{"limits":{"pids":5},"umask":"077"}', "--memory", "64M", "--", "true").out.strip()
    assert server.json("task", "show", task)["run"] == {"limits": {"pids": 5, "memory": "64M"}, "umask": "077"}
    assert '"umask": "077"' in server.cli("task", "show", task).out
    for words, said in ((("--memory", "lots"), "run.limits.memory"), (("--cpu", "many"), "--cpu wants a number"),
                        (("--nice", "1.5"), "--nice wants a number"), (("--run", "[1]"), "--run is not a JSON object"),
                        (("--kill-method", "trem"), 'did you mean "term"?')):
        result = server.cli("submit", *words, "--", "true", check=False)
        assert result.code == 2 and said in result.err, result


def test_array_of_results(server):
    """{} stands for the item inside of the settings as well."""
    server.cli("submit", "--array", "1-2", "--result-file", "out-{}", "--", "true", "{}")
    assert sorted(Api(server).task(t["id"])["run"]["result_file"] for t in server.all_tasks()) == ["out-1", "out-2"]


def test_usage_and_result_are_shown(server):
    """As they lie in the store: what wrote them there is tested elsewhere."""
    api = Api(server)
    task = api.submit()["id"]
    server.cli("cancel", task)
    server.server.stop()
    db = sqlite3.connect(os.path.join(server.state_dir(), "reeve.db"))
    db.execute("UPDATE task SET usage = ?, result = ?, state_sum = NULL, output_sum = NULL",
               (f"1200000 100000 {45 << 20} 1", b'{"answer": 42}\n\xff'))
    db.commit()
    db.close()
    server.restart()
    shown = Api(server).task(task)
    assert shown["usage"] == {"user_ms": 1200, "system_ms": 100, "peak_memory": 45 << 20, "oom_kills": 1}
    assert shown["result"] == '{"answer": 42}\n\ufffd'
    listed = Api(server).get("/v1/tasks")["items"][0]
    assert listed["usage"] == shown["usage"] and "result" not in listed
    out = server.cli("task", "show", task).out
    assert "1.2s user, 100ms system, 45.0 MiB" in out and "lack of memory" in out and '{"answer": 42}' in out, out


def test_help_lists_the_settings():
    for command in ("run", "submit", "queue create", "queue set"):
        text = run("help", *command.split()).out
        for option in ("--user", "--nice", "--memory", "--cpu", "--pids", "--kill-method", "--kill-wait", "--sandbox",
                       "--result-file", "--run JSON"):
            assert option in text, (command, option)


def test_old_store_comes_up_and_goes_down(server):
    api = Api(server)
    api.ok("POST", "/v1/queues", status=201, json={"name": "q", "run": {"nice": 5}})
    task = api.ok("POST", "/v1/tasks", status=201, json={"queue": "q", "command": ["true"], "run": {"nice": 1}})["id"]
    server.server.stop()
    store = ("--store", f"sqlite:{server.state_dir()}/reeve.db")
    run("store", "migrate", *store, "--to", 2, "--lose")
    server.restart()
    api = Api(server)
    assert api.get("/v1/queues/q")["run"] == {"nice": 5}, "it was set aside, and is back"
    assert json.dumps(api.task(task)["run"]) == '{"nice": 1}', "what was submitted is whole"
