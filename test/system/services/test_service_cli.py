# SPDX-License-Identifier: Apache-2.0
"""`reeve service` and `reeve domain`: making, changing, planning and deploying, against a real server."""
import json

import pytest

FILE = """\
services:
  - name: web
    instances: 0
    ports: 1
    task: {command: [./server, --listen, $PORT]}
    crash: {wait: 5s}
  - name: api
    instances: 0
    needs: [web]
    task: {command: [./api]}
"""


@pytest.fixture
def cli(server):
    def run(*words, code=0, **options):
        result = server.cli(*words, check=False, **options)
        assert result.code == code, result.out + result.err
        return result

    return run


def shown(cli, name):
    return json.loads(cli("service", "show", name, "-o", "json").out)


def test_a_domain_is_made_and_spoken_for(cli):
    assert "there are no domains" in cli("domain", "ls").err
    assert cli("domain", "set", "apps", "--ttl", "2m").out == "domain apps created\n"
    assert cli("domain", "set", "apps", "--ttl", "none").out == "domain apps changed\n"
    assert "already" in cli("domain", "set", "apps", code=1).err
    assert "what is surplus stops" in cli("domain", "fresh", "apps").out
    assert "for ever" in cli("domain", "ls").out
    assert json.loads(cli("domain", "show", "apps", "-o", "json").out)["fresh"] is True
    cli("domain", "stale", "apps")
    assert json.loads(cli("domain", "show", "apps", "-o", "json").out)["fresh"] is False
    assert cli("domain", "rm", "apps").out == "domain apps deleted\n"
    assert "reeve domain set apps makes it" in cli("domain", "show", "apps", code=1).err


def test_a_service_by_options(cli):
    cli("service", "add", "web", "-i", "0", "--ports", "2", "--env", "A=1", "-l", "team=shop", "--strategy", "canary",
        "--canary", "2", "--crash-wait", "5s", "--routes", '[{"host":"a.example"}]', "--need", "memory=64M",
        "--reason", "the first", "--", "./server", "-x")
    web = shown(cli, "web")
    assert web["task"]["command"] == ["./server", "-x"] and web["task"]["env"] == {"A": "1"}
    assert web["strategy"]["kind"] == "canary" and web["strategy"]["canary"] == 2
    assert web["crash"]["wait_ms"] == 5000 and web["routes"] == [{"host": "a.example"}]
    assert web["labels"] == {"team": "shop"} and web["need"] == {"memory": 64 << 20}
    assert cli("service", "set", "web", "--annotation", "ours").out == "service web changed\n"
    assert cli("service", "set", "web", "--env", "A=", "--env", "B=2", "-l", "team=").out == "service web changed: revision 2\n"
    web = shown(cli, "web")
    assert web["task"] == {"command": ["./server", "-x"], "env": {"B": "2"}} and web["labels"] == {}
    assert 'task.env.A: "1" ' in cli("service", "diff", "web", "1", "2").out
    assert cli("service", "set", "web", "--name", "site", "--routes", "none").out == "service site changed\n"
    assert shown(cli, "site")["routes"] is None
    table = cli("service", "history", "site").out
    assert "the first" in table and "wanted" in table


def test_what_is_said_of_mistakes(cli):
    assert "a service needs a name" in cli("service", "add", "--", "x", code=2).err
    assert "there is nothing to run" in cli("service", "add", "web", code=2).err
    assert "is not a whole number from 0 to 100000" in cli("service", "add", "web", "-i", "-3", "--", "x", code=2).err
    assert "routes is no JSON" in cli("service", "add", "web", "--routes", "{", "--", "x", code=2).err
    cli("service", "add", "web", "-i", "0", "--", "x")
    assert "exists" in cli("service", "add", "web", "--", "x", code=1).err \
        or "already" in cli("service", "add", "web", "--", "x", code=1).err
    assert "needs itself" in cli("service", "set", "web", "--needs", "web", code=2).err
    assert "which instance shall stop" in cli("service", "stop", "web", code=2).err
    assert "is not an index" in cli("service", "restart", "web/x", code=2).err
    assert "did you mean" in cli("service", "show", "wbe", code=1).err
    assert "has no revision 7" in cli("service", "deploy", "web", "7", code=1).err
    assert "is not a number of instances" in cli("service", "scale", "web=-1", code=2).err


def test_a_file_is_planned_and_applied(cli, tmp_path):
    path = tmp_path / "services.yaml"
    path.write_text(FILE)
    plan = cli("service", "apply", "-f", str(path), "--plan")
    assert "service web would be added" in plan.out and "nothing was changed" in plan.err
    assert "there are no services" in cli("service", "ls").err
    assert cli("service", "apply", "-f", str(path)).out == "service web added\nservice api added\n"
    again = cli("service", "apply", "-f", str(path)).out
    assert again == "service web is as it shall be\nservice api is as it shall be\n"
    assert shown(cli, "web")["version"] == 1
    path.write_text(FILE.replace("wait: 5s", "wait: 6s").replace("./api", "./api-2"))
    plans = json.loads(cli("service", "apply", "-f", str(path), "--plan", "-o", "json").out)
    assert [(p["name"], p["revision"], [c["member"] for c in p["changes"]]) for p in plans] == [
        ("web", False, ["crash.wait_ms"]), ("api", True, ["task.command"])]
    assert "  crash.wait_ms: 5000 " in cli("service", "apply", "-f", str(path), "--plan").out
    cli("service", "apply", "-f", str(path))
    assert shown(cli, "web")["deploy"]["target"] == 1 and shown(cli, "api")["deploy"]["target"] == 2


def test_a_file_with_a_mistake_changes_nothing(cli, tmp_path):
    path = tmp_path / "services.yaml"
    for text, words in ((FILE.replace("ports: 1", "ports: -1"), "service web: "), (FILE.replace("./api]", "./api], x: 1"), "task.x"),
                        (FILE.replace("name: api", "nmae: api"), "line 7"), ("instances: 2\n", "names no service"),
                        ("name: a\nservices: []\n", "nothing to run"), ("- a\n", "")):
        path.write_text(text)
        assert words in cli("service", "apply", "-f", str(path), code=2).err or words == "nothing to run"
        assert "there are no services" in cli("service", "ls").err


def test_there_and_back(cli, server):
    cli("service", "add", "web", "-i", "0", "--", "one")
    cli("service", "set", "web", "--", "two")
    cli("service", "set", "web", "--", "three")
    assert cli("service", "deploy", "web", "1").out == "service web goes to revision 1\n"
    assert shown(cli, "web")["task"]["command"] == ["one"]
    assert cli("service", "rollback", "web", "--to", "2").out == "service web goes back\n"
    assert shown(cli, "web")["task"]["command"] == ["two"]
    server.server.kill9()
    server.restart()
    web = shown(cli, "web")
    assert web["task"]["command"] == ["two"] and web["deploy"]["target"] == 2
    assert len(json.loads(cli("service", "history", "web", "-o", "json").out)["items"]) == 3
    assert cli("service", "scale", "web=0").out == "service web shall have 0 instances\n"
    cli("service", "rm", "web", "-y")
    assert "there are no services" in cli("service", "ls").err
