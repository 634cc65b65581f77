# SPDX-License-Identifier: Apache-2.0
"""TCP always wants a token: the one that the server makes, who finds it, and who does not."""
import os
import re
import socket
import stat
import subprocess

import harness
import pytest
import requests
from client import Api
from harness import wait_until
from running import needs_bwrap, needs_root

# What a task could try: with nothing, with the token file, through the socket. Says what came of each.
TRY = """
say() { python3 - "$@" <<'END'
import http.client, socket, sys
url, path, state = sys.argv[1:4]
def ask(headers):
    c = http.client.HTTPConnection(url, timeout=20)
    try:
        c.request("POST", path, '{"command":["id"]}', {"Content-Type": "application/json", **headers})
    except OSError:
        return "closed"
    return c.getresponse().status
print("tcp", ask({}))
for name in ("token", "join-token", "reeve.db"):
    try:
        print(name, open(f"{state}/{name}").read() and "READ")
    except OSError:
        print(name, "closed")
try:
    socket.socket(socket.AF_UNIX).connect(f"{state}/reeve.sock")
    print("socket OPEN")
except OSError:
    print("socket closed")
END
}
say %s /v1/tasks %s
"""
CLOSED = ["tcp 401", "token closed", "join-token closed", "reeve.db closed", "socket closed"]


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def test_tokens_are_made_at_the_first_start_and_stay(server):
    first = {}
    for name in ("token", "join-token"):
        path = os.path.join(server.state_dir(), name)
        assert mode(path) == 0o600 and re.fullmatch("[0-9a-f]{64}", server.own_token(name))
        first[name] = server.own_token(name)
    assert first["token"] != first["join-token"]
    server.server.stop()
    server.restart()
    assert {name: server.own_token(name) for name in first} == first
    assert not [f for f in os.listdir(server.state_dir()) if f.startswith(("token.", "join-token."))]
    assert not any(token in server.server.log() for token in first.values())


def test_tcp_wants_a_token_on_loopback_too(server):
    api = Api(server)
    assert api.get("/v1/status")["ready"]
    for headers in ({}, {"Authorization": "Bearer " + "0" * 64}):
        for path in ("/v1/status", "/v1/tasks", "/metrics", "/openapi.json", "/nothing"):
            answer = requests.get(api.url + path, headers=headers, timeout=harness.PATIENCE)
            assert answer.status_code == 401, path
            assert "token" in answer.json()["hint"]


def test_a_new_token_after_reload(server):
    api, old = Api(server), server.own_token()
    os.unlink(os.path.join(server.state_dir(), "token"))
    server.server.signal(harness.signal.SIGHUP)
    wait_until(lambda: server.own_token() not in (None, old), what="another one was made")
    wait_until(lambda: api.ask("GET", "/v1/status").status_code == 401, what="the old one has ended")
    Api(server).get("/v1/status")


def test_the_command_line_finds_the_token(server, reeve, tmp_path):
    has = {"HOME": tmp_path, "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": ""}
    for name in ("127.0.0.1", "localhost"):
        url = server.url.replace("127.0.0.1", name)
        reeve("queue", "ls", "--server", url, env={**has, "REEVE_SERVER_STATE_DIR": server.state_dir()})
    assert reeve("queue", "ls", "--server", server.url, env=has, check=False).code == 1
    (tmp_path / "state").mkdir()
    os.symlink(server.state_dir(), tmp_path / "state" / "reeve")
    reeve("queue", "ls", "--server", server.url, env={**has, "XDG_STATE_HOME": tmp_path / "state"})


LISTEN = """
import os, socket
s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1], flush=True)
c, _ = s.accept(); c.settimeout(20); print(c.recv(65536).decode(), flush=True)
c.sendall(b"HTTP/1.1 500 no\\r\\nContent-Length: 0\\r\\n\\r\\n"); c.close()
"""


@needs_root
def test_the_command_line_shows_it_to_nobody_else(server, reeve):
    """Anybody may listen on a free port, and wait there for whom asks."""
    for uid, shown in ((65534, False), (0, True)):
        with subprocess.Popen(["python3", "-c", LISTEN], stdout=subprocess.PIPE, user=uid, group=uid,
                              extra_groups=[]) as other:
            port = int(other.stdout.readline())
            reeve("queue", "ls", "--server", f"http://127.0.0.1:{port}", "--server-timeout", "0s", check=False,
                  env={"REEVE_SERVER_STATE_DIR": server.state_dir()})
            heard = other.stdout.read().decode()
        assert heard.startswith("GET ") and (server.own_token() in heard) == shown


def test_dev_says_how_to_use_curl(dev):
    line = re.search(r"^ +(curl .*)$", dev.server.log(), re.M).group(1)
    assert dev.own_token() not in dev.server.log()
    done = subprocess.run(["sh", "-c", line.replace("curl ", "curl -sf --max-time 30 ")], capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0 and b'"ready":true' in done.stdout, (line, done)


def test_workers_want_a_token_on_loopback_too(cluster):
    cluster.start_server()
    wrong = cluster._process("wrong", ["worker", "--join", cluster.link, "--name", "wrong", "--state-dir",
                                       cluster.state_dir("wrong")], {"REEVE_SERVER_STATE_DIR": cluster.state_dir("none")})
    wait_until(lambda: "join token" in cluster.server.log(), what="it was turned away")
    assert not cluster.has_worker("wrong")
    wrong.end()


def test_a_worker_on_the_same_machine_finds_it(cluster):
    """Even when it was there before the server."""
    state = {"REEVE_SERVER_STATE_DIR": cluster.state_dir()}
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    cluster._process("early", ["worker", "--join", f"127.0.0.1:{port}", "--name", "early", "--state-dir",
                               cluster.state_dir("early")], state)
    cluster.start_server("--link-listen", f"127.0.0.1:{port}")
    wait_until(lambda: cluster.has_worker("early"), what="it found the token that was made meanwhile")


# -- tasks

def outcome(cluster, task):
    task = cluster.wait_ended(task["id"], timeout=harness.PATIENCE * 2)
    assert task["state"] == "succeeded", task
    return task["stdout"].splitlines()


@needs_root
def test_tasks_of_other_users_reach_nothing(cluster):
    os.chmod(cluster.dir, 0o755)
    cluster.start_dev("--run-as", "daemon")
    script = TRY % (cluster.url.split("//")[1], cluster.state_dir())
    before = len(cluster.all_tasks())
    assert outcome(cluster, cluster.submit("sh", "-c", script, run={"user": "daemon"})) == CLOSED
    assert len(cluster.all_tasks()) == before + 1, "it made no task of its own"


@needs_bwrap
@pytest.mark.parametrize("network", [True, False])
def test_sandboxed_tasks_reach_nothing(dev, network):
    script = TRY % (dev.url.split("//")[1], dev.state_dir())
    run = {"sandbox": {"network": network, "readable": [dev.dir]}}
    tcp = "tcp 401" if network else "tcp closed"
    assert outcome(dev, dev.submit("sh", "-c", script, run=run)) == [tcp, *CLOSED[1:]]
