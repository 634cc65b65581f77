# SPDX-License-Identifier: Apache-2.0
"""Where settings come from, which one wins, what a mistake says, and what SIGHUP changes."""
import json
import os
import re
import signal

import pytest
from client import Api
from harness import keep_secret, wait_until

BASE = """// a comment first
{
	/* and another */
	"server": {
		"listen": ["127.0.0.1:7499"], // with a trailing comma
		"retention": {"age": "5d", "count": 77},
	},
	"worker": {"maxthreads": 3, "labels": {"a": "1"}},
	"log": {"level": "warn"},
}
"""


@pytest.fixture
def files(tmp_path):
    """A configuration of a main file and two more in conf.d; env for the one who reads it."""
    main = tmp_path / "reeve.json"
    main.write_text(BASE)
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "20-b.json").write_text('{"worker": {"maxthreads": 20, "labels": {"c": "3"}}}')
    (tmp_path / "conf.d" / "10-a.json").write_text('{\n"worker": {"maxthreads": 10, "labels": {"b": "2"},\n"zone": "z10"}}')
    (tmp_path / "conf.d" / "ignored.txt").write_text("{nonsense")
    return main


def shown(reeve, main, **env):
    return json.loads(reeve("config", "show", "-o", "json", "--config", main, env=env).out)


def test_precedence(reeve, files):
    values = shown(reeve, files, REEVE_LOG_LEVEL="debug", REEVE_SERVER_RETENTION_AGE="")
    expected = {
        "server.listen": (["127.0.0.1:7499"], f"{files}:5"),
        "server.retention.age": ("5d", f"{files}:6"),  # an empty variable is none
        "server.retention.count": (77, f"{files}:6"),
        "worker.maxthreads": (20, f"{files.parent}/conf.d/20-b.json:1"),
        "worker.zone": ("z10", f"{files.parent}/conf.d/10-a.json:3"),
        "log.level": ("debug", "REEVE_LOG_LEVEL"),
        "server.heartbeat": ("15s", "default"),
    }
    for key, (value, origin) in expected.items():
        assert (values[key]["value"], values[key]["origin"]) == (value, origin), key
    assert values["worker.labels"]["value"] == {"a": "1", "b": "2", "c": "3"}, "objects are merged"
    text = reeve("config", "show", "--origin", "--config", files).out
    assert re.search(r"worker\.maxthreads +\S*20-b\.json:1 +20", text), text


def test_file_from_the_environment_and_the_usual_places(reeve, files, tmp_path):
    assert json.loads(reeve("config", "show", "-o", "json", env={"REEVE_CONFIG": files}).out)["log.level"]["value"] == "warn"
    home = tmp_path / "xdg" / "reeve"
    home.mkdir(parents=True)
    (home / "reeve.json").write_text('{"log": {"level": "error"}}')
    if not os.path.exists("/etc/reeve/reeve.json"):
        values = json.loads(reeve("config", "show", "-o", "json", env={"XDG_CONFIG_HOME": tmp_path / "xdg"}).out)
        assert values["log.level"]["value"] == "error"
    gone = reeve("server", "--config", tmp_path / "nowhere.json", check=False)
    assert gone.code != 0 and "nowhere.json" in gone.err


def test_flags_win(cluster, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text('{"log": {"level": "error"}, "server": {"listen": "127.0.0.1:1", "link_listen": "127.0.0.1:1"}}')
    server = cluster.start_server("--config", file, "--log-level", "info", env={
        "REEVE_LOG_LEVEL": "error", "REEVE_SERVER_LISTEN": "127.0.0.1:2", "REEVE_SERVER_LINK_LISTEN": "127.0.0.1:2"})
    assert "serving at" in server.log(), "--log-level info beat the variable and the file"
    assert not cluster.url.endswith((":1", ":2"))


MISTAKES = [
    ('{"server": {"lisen": []}}', 1, ["lisen", '"listen"']),
    ('{\n\n"sever": {}}', 3, ["sever", "server"]),
    ('{"server": {\n"heartbeat": "soon"}}', 2, ["heartbeat"]),
    ('{"server": {\n"heartbeat": "10h"}}', 2, ["heartbeat", "5m"]),
    ('{"worker": {\n\n"maxthreads": "many"}}', 3, ["maxthreads"]),
    ('{"worker": {"maxthreads": -7}}', 1, ["maxthreads"]),
    ('{"server": {"listen": ["nonsense"]}}', 1, ["listen"]),
    ('{"server": {"listen": "127.0.0.1:99999"}}', 1, ["listen"]),
    ('{"server": {"tls": {"cert": "/x"}}}', 1, ["key"]),
    ('{"log": {"level": "loud"}}', 1, ["level", "debug"]),
    ('{"log": {"output": "file"}}', 1, ["log.file"]),
    ('{"log": {},\n"log": {}}', 2, ["log"]),
    ('{"server": {', 1, []),
    ('{"server": {"retention": 5}}', 1, ["retention"]),
    ('{"worker": {"plugins": {"p": {"exe": ["x"]}}}}', 1, ["exe", "exec"]),
    ('{"worker": {"plugins": {"p": {}}}}', 1, ["exec"]),
    ('{"server": {"store": "mysql://x"}}', 1, ["store"]),
    ("[" * 100 + "]" * 100, 1, []),
    ("\x00", 1, []),
]


@pytest.mark.parametrize("text, line, words", MISTAKES, ids=[m[0][:30].replace("\x00", "NUL") for m in MISTAKES])
def test_mistakes(reeve, tmp_path, text, line, words):
    file = tmp_path / "reeve.json"
    file.write_text(text)
    checked = reeve("config", "check", file, check=False)
    assert checked.code == 1
    said = checked.out + checked.err
    assert f"reeve.json:{line}:" in said and all(w in said for w in words), said
    command = "worker" if '"worker"' in text else "server"
    refused = reeve(command, "--config", file, "--state-dir", tmp_path / "s", check=False)
    assert refused.code == 2 and f"reeve.json:{line}:" in refused.err, refused
    assert not (tmp_path / "s").exists(), "nothing was begun"


def test_every_mistake_at_once(reeve, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text('{"log": {"level": 5},\n"server": {"x": 1},\n"worker": {"maxthread": 1}}')
    said = reeve("config", "check", file, check=False).out
    assert all(f"reeve.json:{n}:" in said for n in (1, 2, 3))


def test_mistakes_in_variables_and_flags(reeve, tmp_path):
    result = reeve("server", "--state-dir", tmp_path / "s", check=False, env={"REEVE_SERVER_HEARTBEAT": "soon"})
    assert result.code == 2 and "REEVE_SERVER_HEARTBEAT" in result.err
    result = reeve("server", "--state-dir", tmp_path / "s", "--listne", "x", check=False)
    assert result.code == 2 and "--listen" in result.err
    result = reeve("server", "--state-dir", tmp_path / "s", "--listen", "x", check=False)
    assert result.code == 2 and "--listen" in result.err
    result = reeve("server", "--state-dir", tmp_path / "s", "word", check=False)
    assert result.code == 2 and "word" in result.err


# -- reload

def hup(process, words="configuration reloaded"):
    before = process.log().count(words)
    process.signal(signal.SIGHUP)
    wait_until(lambda: process.log().count(words) > before, what=f"it says: {words}")


def test_reload(cluster, tmp_path):
    file = tmp_path / "reeve.json"

    def write(**server):
        file.write_text(json.dumps({"log": {"level": "debug"}, "server": server}))

    write(token="first-token-of-this-test", retention={"count": 0})
    file.chmod(0o600)
    server = cluster.start_server("--config", file)
    first = Api(cluster, "first-token-of-this-test")
    for _ in range(3):
        first.post(f"/v1/tasks/{first.submit()['id']}/cancel")
    write(token="second-token-of-this-test", retention={"count": 1}, allow_hosts=["reeve.example"])
    hup(server)
    first.refused("GET", "/v1/status", 401, "unauthorized")
    second = Api(cluster, "second-token-of-this-test")
    second.get("/v1/status", headers={"Host": "reeve.example"})
    wait_until(lambda: second.get("/v1/tasks/summary")["total"] == 1, what="the new retention holds")
    write(token="third-token-of-this-test", retention={"count": "lots"})
    hup(server, "the old one stays in force")
    assert f"{file}:1:" in server.log(), "the mistake is named"
    second.get("/v1/status")
    write(token="second-token-of-this-test", heartbeat="30s")
    hup(server, "restart")
    assert "server.heartbeat" in server.log(), "what needs a restart is said"


def test_log_level_is_reloaded(cluster, tmp_path):
    file = tmp_path / "reeve.json"
    file.write_text('{"log": {"level": "error"}}')
    server = cluster.start_server("--config", file)
    assert "serving at" not in server.log()
    file.write_text('{"log": {"level": "info"}}')
    hup(server)


def test_worker_reloads(server, tmp_path):
    file = tmp_path / "worker.json"
    file.write_text('{"log": {"level": "info"}}')
    worker = server.start_worker("--config", file)
    hup(worker)
    file.write_text("{")
    hup(worker, "the old one stays in force")
    assert worker.running
    api = Api(server)
    assert api.ended(api.submit()["id"])["state"] == "succeeded"


def test_worker_shows_its_new_token(cluster, tmp_path):
    token = tmp_path / "join"
    keep_secret(token, "the-old-token-of-all-workers")
    cluster.start_server("--join-token-file", token)
    worker = cluster.start_worker("--token-file", token)
    keep_secret(token, "the-new-token-of-all-workers")
    hup(worker)
    cluster.server.stop()
    cluster.restart()
    api = Api(cluster)
    wait_until(lambda: api.get("/v1/workers/w1")["connected"], what="the worker came back")


# -- logs

def test_log_as_json(cluster):
    server = cluster.start_server("--log-format", "json", "--log-level", "debug")
    server.stop()
    lines = [json.loads(line) for line in server.log().splitlines()]
    assert {"info"} <= {x["level"] for x in lines} and all(x["time"] and x["message"] and x["program"] for x in lines)


def test_log_for_people(cluster):
    server = cluster.start_server("--log-format", "human")
    line = next(x for x in server.log().splitlines() if "serving at" in x)
    assert not line.startswith("{") and "\033" not in line


def test_log_for_the_journal(cluster):
    server = cluster.start_server("--log-output", "journald")
    assert all(re.match(r"<[3467]>", line) for line in server.log().splitlines()), server.log()
    assert "<6>" in server.log()


def test_log_file_is_opened_anew(cluster, tmp_path):
    file = tmp_path / "reeve.log"
    server = cluster.start_server("--log-output", "file", "--log-file", file)
    assert "serving at" in file.read_text() and "serving at" not in server.log()
    file.rename(tmp_path / "reeve.log.1")
    server.signal(signal.SIGHUP)
    wait_until(file.exists, what="a new log was begun")
    server.stop()
    assert "stopped" in file.read_text() and "stopped" not in (tmp_path / "reeve.log.1").read_text()


def test_log_file_that_can_not_be_opened(reeve, tmp_path):
    result = reeve("server", "--state-dir", tmp_path / "s", "--listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0",
                   "--log-output", "file", "--log-file", tmp_path / "no" / "reeve.log", check=False)
    assert result.code == 1 and "reeve.log" in result.err
