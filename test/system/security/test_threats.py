# SPDX-License-Identifier: Apache-2.0
"""Classes of defects that other schedulers had: docs/SECURITY.md names the test of each."""
import os
import re
import socket
import threading
import urllib.parse

import pytest
import requests
from client import Api
from harness import PATIENCE, wait_until
from running import Runner, needs_root

EVIL = {"Origin": "https://evil.example"}
QUOTES = ["it's", 'a"b', "x'; DROP TABLE task; --", "x' OR '1'='1", "%", "_%", "a\\'b", "');--", "$1", "?1", ":name", "\u02bc", "x`y"]


@pytest.fixture(scope="module")
def runner():
    r = Runner("--run-as", "daemon")
    yield r
    r.close()


# -- what a page of another site can do

def operations(api, methods):
    """(method, path with something in place of each parameter) of the interface's own description."""
    for path, item in api.get("/openapi.json")["paths"].items():
        for method in item:
            if method in methods:
                yield method.upper(), re.sub(r"{\w+}", "x", path)


def test_every_unsafe_operation_looks_at_the_origin(server):
    """None is forgotten, whatever its method: the description lists them all."""
    api = Api(server)
    found = list(operations(api, ("post", "put", "patch", "delete")))
    assert len(found) >= 20 and {m for m, _ in found} >= {"POST", "PATCH", "DELETE"}, found
    for method, path in found:
        api.refused(method, path, 403, "denied", hint="allow_origins", json={}, headers=EVIL)
        api.refused(method, path, 403, "denied", hint="allow_origins", data="a=1",
                    headers={**EVIL, "Content-Type": "application/x-www-form-urlencoded"})


OPEN = {"/", "/healthz", "/readyz"}  # what it is, and whether it lives, for whoever watches it


def test_every_operation_wants_a_token(server):
    """Whatever the method and the path, also those that only read: none is forgotten."""
    api, stranger = Api(server), Api(server, "f" * 64)
    found = list(operations(api, ("get", "head", "post", "put", "patch", "delete")))
    assert len(found) >= 40, found
    for method, path in found:
        if path in OPEN:
            continue
        stranger.refused(method, path, 401, "unauthorized", **({} if method in ("GET", "HEAD") else {"json": {}}))
        bare = requests.request(method, api.url + path, timeout=PATIENCE)
        assert bare.status_code == 401, (method, path, bare.status_code)


def test_nothing_comes_back_as_a_page(dev):
    """Neither what was asked for nor what a task wrote: a browser shows none of it as HTML, and runs nothing in it."""
    api = Api(dev)
    page = "<script>alert(1)</script>"
    task = api.ended(api.submit("echo", page, labels={"page": "1"})["id"])["id"]
    word = urllib.parse.quote(page)
    for path in (f"/{word}", f"/v1/tasks/{word}", f"/v1/tasks?state={word}", f"/v1/tasks?{word}=1", f"/v1/tasks/{task}",
                 f"/v1/tasks/{task}/logs", "/v1/tasks?full=true", "/healthz", "/metrics", f"/v1/queues/{word}"):
        answer = api.ask("GET", path)
        assert not answer.headers["Content-Type"].startswith("text/html"), path
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"], path
    assert page in api.ask("GET", f"/v1/tasks/{task}/logs").text, "it was there"


# -- what a name can do

def test_no_text_becomes_sql(server):
    """Filters, labels, keys and bodies are parameters, never part of a statement."""
    api = Api(server)
    api.queue("q")
    ids = {text: api.submit("true", queue="q", labels={"k": text}, status=-10)["id"] for text in QUOTES}
    for text, task in ids.items():
        word = urllib.parse.quote(text, safe="")
        found = api.get(f"/v1/tasks?label={urllib.parse.quote('k=' + text, safe='')}")["items"]
        assert [t["id"] for t in found] == [task], text
        for query in (f"queue={word}", f"worker={word}", f"schedule={word}", f"cursor={word}", f"order={word}", f"state={word}",
                      f"batch={word}", f"limit={word}"):
            answer = api.ask("GET", "/v1/tasks?" + query)
            assert answer.status_code in (200, 400, 404), (query, answer.text)
            assert answer.status_code != 200 or answer.json()["items"] == [], query
        assert api.ask("GET", f"/v1/tasks/{word}").status_code in (400, 404)
        again = {"Idempotency-Key": f"key {text}"} if text.isascii() else {}
        first = api.submit("echo", text, queue="q", status=-10, headers=again)["id"]
        if again:
            assert api.submit("echo", text, queue="q", status=-10, headers=again)["id"] == first
        assert api.task(first)["command"] == ["echo", text]
    assert api.get("/v1/tasks/summary")["total"] == 2 * len(QUOTES)
    server.server.kill9()
    server.restart()
    assert Api(server).get("/v1/tasks/summary")["total"] == 2 * len(QUOTES)


# -- where requests can be sent to

class Ear:
    """Counts who connects, and sends them on to somebody else."""

    def __init__(self, on_to=0):
        self.on_to = on_to
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.heard = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            try:
                conn, peer = self.socket.accept()
            except OSError:
                return
            self.heard.append(peer)
            conn.sendall(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:%d/\r\nContent-Length: 0\r\n\r\n" % self.on_to)
            conn.close()

    @property
    def port(self):
        return self.socket.getsockname()[1]


def test_the_server_dials_nobody(server):
    """There are no calls back: whatever address is written where, only a task on a worker goes there, with its own rights."""
    ear, api = Ear(), Api(server)
    url = f"http://127.0.0.1:{ear.port}/"
    api.queue("q", run={"check": {"http": ear.port}})
    task = api.submit("true", queue="q", labels={"callback": url, "webhook": url}, env={"URL": url}, cwd="/" + url,
                      run={"check": {"http": ear.port, "path": "/x"}, "result_file": "/" + url})["id"]
    api.post("/v1/tasks", {"action": {"download": {"from": url, "to": "/tmp/x"}}, "queue": "q"}, 201)
    for path in (f"/v1/tasks/{task}", f"/v1/tasks/{task}/why", f"/v1/tasks/{task}/logs", "/v1/queues/q", "/metrics"):
        api.ask("GET", path, headers={"Referer": url, "X-Forwarded-For": "127.0.0.1", "Forwarded": f"host=127.0.0.1:{ear.port}"})
    server.server.kill9()
    server.restart()
    Api(server).get("/v1/status")
    assert ear.heard == []
    ear.socket.close()


def test_a_check_does_not_follow_a_redirect(runner):
    """It asks the one address that it was given."""
    other = Ear()
    ear = Ear(other.port)
    task = runner.cluster.submit("sleep", "1000", run={"check": {"http": ear.port, "start_interval": "100ms", "interval": "100ms"}})["id"]
    wait_until(lambda: len(ear.heard) >= 3, what="it was looked at")
    runner.cancel(task)
    assert other.heard == []
    for one in (ear, other):
        one.socket.close()


# -- what a task is given

@needs_root
@pytest.mark.parametrize("run", [{}, {"user": "daemon"}], ids=["the worker's user", "another"])
def test_a_task_gets_no_descriptor_of_ours(runner, run):
    """A directory that was left open would be a way out of whatever holds it."""
    out = runner.says("ls /proc/$$/fd; readlink /proc/$$/cwd", run=run)
    assert set(out[:-1]) <= {"0", "1", "2"} and out[-1].startswith("/"), out


@needs_root
def test_a_task_of_another_user_has_his_groups_only(runner):
    """Neither the worker's nor root's."""
    out = runner.says("id -u; id -g; id -G; grep ^Groups /proc/self/status", run={"user": "daemon"})
    assert out[0] == "1" and "0" not in out[2].split(), out
    assert "0" not in out[3].split()[1:], out
    assert os.getuid() == 0, "the worker's own would be this"
