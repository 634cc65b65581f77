# SPDX-License-Identifier: Apache-2.0
"""Whatever is sent, the answer is clear, and the other clients do not notice."""
import json
import re
import resource
import socket
import time

import pytest
import requests
from client import JSON, NDJSON, Api, Canary, check_problem, read_all
from harness import PATIENCE, wait_until

DEEP = b'{"command":["x"],"params":' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.fixture(scope="module")
def shared(module_cluster):
    """One server for everything that is refused; the canary watches it."""
    return Api(module_cluster("server", env={"REEVE_SERVER_LIMITS_BODY_MAX": "16MiB"}))


@pytest.fixture
def limited(cluster):
    """A server with little patience."""
    cluster.start_server(env={"REEVE_SERVER_LIMITS_IDLE": "2s", "REEVE_SERVER_LIMITS_REQUEST": "3s",
                              "REEVE_SERVER_LIMITS_BODY_MAX": "1MiB"})
    return Api(cluster)


def answer_of(sock):
    """Status and problem document of a raw answer after which the server closes, or None."""
    data = read_all(sock)
    if not data:
        return None, None
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), data[:200]
    status = int(head.split(b" ")[1])
    assert b"application/problem+json" in head, head
    problem = json.loads(body)
    assert problem["status"] == status and problem["type"].startswith("urn:reeve:error:") and problem["detail"]
    return status, problem


# -- bodies

BODIES = {
    "nothing": (b"", None), "blank": (b"  \n ", None), "half": (b'{"command":["x"', "JSON"),
    "words": (b"hello", "JSON"), "null": (b"null", "JSON"), "string": (b'"x"', "JSON"), "number": (b"5", "JSON"),
    "two": (b'{"command":["x"]} {}', "JSON"), "single quotes": (b"{'command':['x']}", "JSON"),
    "comment": (b'{"command":["x"]} // no', "JSON"), "trailing comma": (b'{"command":["x"],}', "JSON"),
    "twice": (b'{"command":["x"],"command":["y"]}', "twice"), "raw NUL": (b'{"command":["a\x00b"]}', None),
    "escaped NUL": (b'{"command":["a\\u0000b"]}', "NUL"), "NUL in a key": (b'{"comm\\u0000and":["x"]}', None),
    "NUL after": (b'{"command":["x"]}\x00', None), "not UTF-8": (b'{"command":["\xff\xfe"]}', "UTF-8"),
    "lone surrogate": (b'{"command":["\\ud800"]}', None), "overlong": (b'{"command":["\xc0\x80"]}', "UTF-8"),
    "huge exponent": (b'{"command":["x"],"priority":1e400}', "large"),
    "huge integer": (b'{"command":["x"],"priority":99999999999999999999}', "large"),
    "deep": (DEEP, "64"), "BOM only": (b"\xef\xbb\xbf", None), "NaN": (b'{"command":["x"],"priority":NaN}', "JSON"),
}


@pytest.mark.parametrize("name", BODIES)
def test_bad_json(shared, name):
    body, words = BODIES[name]
    problem = shared.refused("POST", "/v1/tasks", 400, "invalid", data=body, headers=JSON)
    assert words is None or words in problem["detail"], problem
    for path in ("/v1/queues", "/v1/tasks/actions/cancel"):
        shared.refused("POST", path, 400, "invalid", data=body, headers=JSON)
    many = shared.ask("POST", "/v1/tasks", data=body.replace(b"\n", b" ") + b"\n", headers=NDJSON)
    if body.strip():
        assert many.status_code == 200 and many.json()["rejected"] == 1 and many.json()["errors"][0]["line"] == 1
    else:
        check_problem(many, 400, "invalid")


TASKS = [
    ({}, "command", None), ({"command": []}, "command", None), ({"command": "ls"}, "command", None),
    ({"command": [1]}, "command", None), ({"command": [""]}, "command", None), ({"command": None}, "command", None),
    ({"command": ["x"], "env": []}, "env", None), ({"command": ["x"], "env": {"A": 5}}, "env", None),
    ({"command": ["x"], "env": {"": "5"}}, "env", None), ({"command": ["x"], "env": {"A=B": "5"}}, "env", None),
    ({"command": ["x"], "cwd": 5}, "cwd", None),
    ({"command": ["x"], "cwd": "here"}, "cwd", None),
    ({"command": ["x"], "priority": 1.5}, "priority", None), ({"command": ["x"], "priority": "5"}, "priority", None),
    ({"command": ["x"], "priority": 1000001}, "priority", None),
    ({"command": ["x"], "run_after": "tomorrow"}, "run_after", None),
    ({"command": ["x"], "run_after": []}, "run_after", None),
    ({"command": ["x"], "timeout": "-5s"}, "timeout", None), ({"command": ["x"], "timeout": -5}, "timeout", None),
    ({"command": ["x"], "timeout": "1000000d"}, "timeout", None), ({"command": ["x"], "timeout": {}}, "timeout", None),
    ({"command": ["x"], "max_attempts": 0}, "max_attempts", None),
    ({"command": ["x"], "max_attempts": -1}, "max_attempts", None),
    ({"command": ["x"], "max_attempts": 10**6}, "max_attempts", None),
    ({"command": ["x"], "backoff": "-1"}, "backoff", None), ({"command": ["x"], "key": 5}, "key", None),
    ({"command": ["x"], "key": ""}, "key", None), ({"command": ["x"], "key": "k" * 257}, "key", None),
    ({"command": ["x"], "labels": ["a"]}, "labels", None), ({"command": ["x"], "labels": {"a": 1}}, "labels", None),
    ({"command": ["x"], "labels": {"": "1"}}, "labels", None),
    ({"command": ["x"], "labels": {"a": "b" * 300}}, "labels", None),
    ({"command": ["x"], "labels": {f"l{n}": "" for n in range(65)}}, "labels", None),
    ({"command": ["x"], "status": 1}, "status", None), ({"command": ["x"], "status": -1}, "status", None),
    ({"command": ["x"], "status": -5}, "status", None), ({"command": ["x"], "status": "held"}, "status", None),
    ({"command": ["x"], "queue": 5}, "queue", None), ({"command": ["x"], "params": []}, "params", None),
    ({"command": ["x"], "prority": 5}, "prority", "priority"), ({"comand": ["x"]}, "comand", "command"),
    ({"command": ["x"], "id": "5"}, "id", None), ({"command": ["x"], "QUEUE": "q"}, "QUEUE", "queue"),
]


@pytest.mark.parametrize("body, field, hint", TASKS, ids=[json.dumps(t[0])[:60] for t in TASKS])
def test_bad_tasks(shared, body, field, hint):
    problem = shared.refused("POST", "/v1/tasks", 400, "invalid", hint=hint, json=body)
    assert problem.get("field", "").split(".")[0].split("[")[0] == field, problem


def test_queue_that_does_not_exist(shared):
    shared.refused("POST", "/v1/tasks", 404, "not-found", "queue", hint="reeve queue create",
                   json={"command": ["x"], "queue": "nowhere"})
    for name in ("a/b", "x" * 200, "new\nline"):
        response = shared.ask("POST", "/v1/tasks", json={"command": ["x"], "queue": name})
        assert response.status_code in (400, 404) and response.json()["field"] == "queue"


def test_large_bodies(shared):
    with Canary(shared):
        ten = json.dumps({"command": ["x"], "params": {"a": "x" * 10_000_000}})
        problem = shared.refused("POST", "/v1/tasks", 413, "too-large", data=ten, headers=JSON)
        assert "1048576" in problem["detail"] and problem["hint"]
        many = shared.ok("POST", "/v1/tasks", data=ten + "\n" + '{"command":["x"],"status":-10}\n', headers=NDJSON)
        assert (many["accepted"], many["rejected"]) == (1, 1)
        assert many["errors"][0]["type"] == "urn:reeve:error:too-large"
        shared.submit("x" * 1_000_000, status=-10)
        for data in (b" " * (17 << 20), b"[" * (17 << 20)):
            shared.refused("POST", "/v1/tasks", 413, "too-large", data=data, headers=JSON)


def test_wrong_content_types(shared):
    good = b'{"command":["x"],"status":-10}'
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
                 "application/jsonx", "nonsense"):
        shared.refused("POST", "/v1/tasks", 415, "unsupported-media-type", data=good, headers={"Content-Type": kind})
    for kind in ("application/json; charset=utf-8", "Application/JSON"):
        assert shared.ask("POST", "/v1/tasks", data=good, headers={"Content-Type": kind}).status_code == 201


def test_encoded_bodies_are_refused(shared):
    response = shared.ask("POST", "/v1/tasks", data=b"\x1f\x8b\x08", headers={**JSON, "Content-Encoding": "gzip"})
    assert response.status_code in (400, 415)


# -- the request itself

TARGETS = [b"/v1/%zz", b"/v1/tasks/%", b"/v1/tasks?queue=%zz", b"/v1/tasks/%00", b"/v1/tasks?limit=%00", b"//v1/tasks/x",
           b"/v1/../../etc/passwd", b"/v1/tasks/..%2f..", b"/v1/tasks?state=%ff%fe", b"/\xff\xfe", b"/v1/tasks/" + b"a" * 5000,
           b"/" + b"/" * 1000, b"/v1/tasks?" + b"&".join(b"label=a=b" for _ in range(2000)), b"/v1/tasks/x?y=1&y=2"]


@pytest.mark.parametrize("target", TARGETS, ids=[t[:30].decode("latin1") for t in TARGETS])
def test_odd_targets(shared, target):
    sock = shared.raw(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    status, problem = answer_of(sock)
    assert 400 <= status < 500 and problem["detail"]


@pytest.mark.parametrize("filler", ["&", "%26=%26&", "label=a%3Db&"], ids=["empty", "encoded", "known"])
def test_encoded_path_before_a_long_query(shared, filler):
    """What the query is must not change what the path was."""
    shared.queue("my queue")
    for many in (1, 30, 64, 300, 3000):
        plain = shared.ask("GET", "/v1/queues/my%20queue")
        sock = shared.raw(b"GET /v1/queues/my%20queue?" + filler.encode() * many +
                          b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        head, _, body = read_all(sock).partition(b"\r\n\r\n")
        if filler == "&":
            assert head.startswith(b"HTTP/1.1 200") and json.loads(body)["id"] == plain.json()["id"], (head, body)
        else:
            assert head.startswith(b"HTTP/1.1 400") and b"NUL" not in body and b"parameter" in body, (head, body)
    assert shared.ask("DELETE", "/v1/queues/my%20queue").status_code == 204


def test_no_parameter_is_left_out(shared):
    """A filter that does not count would act on more tasks than were meant."""
    many = "&".join(["state=queued"] * 64 + ["state=held"])
    problem = shared.refused("GET", "/v1/tasks?" + many, 400, "invalid")
    assert "64" in problem["detail"], problem


GARBAGE = {
    "words": b"hello there\r\n\r\n", "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x55" * 300,
    "binary": bytes(range(256)) * 4 + b"\r\n\r\n", "no version": b"GET /v1/status\r\nHost: localhost\r\n\r\n",
    "HTTP/9.9": b"GET /v1/status HTTP/9.9\r\nHost: localhost\r\n\r\n", "blank lines": b"\r\n" * 50,
    "NUL": b"GET /\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "bad header": b"GET /v1/status HTTP/1.1\r\nno colon here\r\n\r\n",
    "negative length": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    "two lengths": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "huge length": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n",
    "no number": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: ten\r\n\r\n",
    "bad chunk": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "negative chunk": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
    "huge chunk": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffff\r\n",
    "long header": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000 + b"\r\n\r\n",
    "many headers": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 50_000 + b"\r\n",
    "long line": b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "unknown method": b"BREW /v1/tasks HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "expectation": b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nExpect: wonders\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_not_http(shared, name):
    """An answer or a closed connection, soon; and the next client is served."""
    sock = shared.raw(timeout=PATIENCE)
    try:
        sock.sendall(GARBAGE[name])
    except (BrokenPipeError, ConnectionResetError):
        pass
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    status, problem = answer_of(sock)
    assert status is None or 400 <= status < 600, problem
    assert status is not None or name in ("blank lines", "TLS", "no version"), "it should say what was wrong"
    assert shared.get("/v1/status")["ready"]


POST = b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
AMBIGUOUS = {
    "two lengths": POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
    "length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "unknown coding": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "blank before the colon": POST + b"Content-Length : 5\r\n\r\nhello",
    "bad chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    "negative chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n",
    "NUL in a header": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\r\n\r\n",
    "no host": b"GET /v1/status HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere\r\n\r\n",
    "chunk in C": POST + b"Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n",
    "blank before a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n 2\r\n{}\r\n0\r\n\r\n",
    "no end of a chunk": POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}0\r\n\r\n",
    "trailer": POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n",
    "folded line": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    "bare LF": b"GET /v1/status HTTP/1.1\nHost: localhost\n\n",
    "two origins": b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil\r\n\r\n",
    "another host": b"GET http://evil.example/v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous_requests_are_refused(shared, name):
    """400, a close, and nothing that stands behind them is read as a request."""
    sock = shared.raw(AMBIGUOUS[name] + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    status, problem = answer_of(sock)
    assert status == 400 and problem["type"] == "urn:reeve:error:invalid", problem


def test_smuggled_second_request_is_not_obeyed(shared):
    """Length and chunks together: the ambiguity must not become a second request."""
    inner = b"POST /v1/queues HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 19\r\n\r\n" \
            b'{"name":"smuggled"}'
    sock = shared.raw(b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (len(inner) + 5) + inner)
    sock.shutdown(socket.SHUT_WR)
    read_all(sock)
    shared.refused("GET", "/v1/queues/smuggled", 404, "not-found")


def test_pipelined_requests_are_answered_in_order(shared):
    sock = shared.raw(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"
                      b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    text = read_all(sock)
    assert [x.split(b" ")[0] for x in text.split(b"HTTP/1.1 ")[1:]] == [b"200", b"404", b"200"]


def test_half_closed_client_still_gets_its_answer(shared):
    sock = shared.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    sock.shutdown(socket.SHUT_WR)
    assert read_all(sock).startswith(b"HTTP/1.1 200")


def test_client_that_leaves_in_the_middle(shared):
    with Canary(shared):
        for n in range(100):
            sock = shared.raw(b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n" + b"x" * n)
            if n % 2:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            sock.close()
        for n in range(50):
            sock = shared.raw(b"GET /v1/tasks/summary HTTP/1.1\r\nHost: localhost\r\n\r\n")
            sock.close()


# -- time

def test_byte_a_second(limited):
    """Slowly is not for ever: after the limit the connection ends, with the reason where it can be given."""
    text = b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n"
    with Canary(limited):
        slow = [limited.raw(text[:20]), limited.raw(text), limited.raw(text + b'{"command":')]
        alive, begun = dict(enumerate(slow)), time.monotonic()
        while alive and time.monotonic() - begun < PATIENCE:
            for n, sock in list(alive.items()):
                try:
                    sock.sendall(b"x")
                except OSError:
                    del alive[n]
            time.sleep(0.5)
        assert not alive, "a byte every half second kept the place"
        assert time.monotonic() - begun >= 2.5, "it had the time that was promised"
        for sock in slow:
            sock.close()


def test_timed_out_request_is_told_so(limited):
    sock = limited.raw(b"POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500\r\n\r\n{")
    status, problem = answer_of(sock)
    assert status in (408, None), problem


def test_silent_connections_are_closed(limited):
    begun = time.monotonic()
    quiet = limited.raw()
    kept = requests.Session()
    assert kept.get(limited.url + "/healthz", timeout=PATIENCE).status_code == 200
    answer = read_all(quiet)
    assert not answer or b" 408 " in answer
    assert time.monotonic() - begun >= 1.5
    quiet.close()


def test_client_that_stops_reading(limited, tmp_path):
    """Its answer waits in bounded memory, then it is let go."""
    limited.submit_many([{"command": ["x" * 20_000], "status": -10}] * 50)
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(PATIENCE)
    sock.connect(limited.address)
    ask = limited.signed(b"GET /v1/tasks?full=true&limit=50 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    with Canary(limited):
        sock.setblocking(False)
        sent, end = 0, time.monotonic() + PATIENCE
        gone = False
        while not gone:
            assert time.monotonic() < end, "it still may send"
            try:
                sent += sock.send(ask)
            except BlockingIOError:
                time.sleep(0.05)
            except OSError:
                gone = True
    sock.close()


# -- many

def test_five_thousand_idle_connections(cluster):
    """They cost a little memory each, and nobody else anything."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 6000
    assert hard >= wanted, "the hard limit of open files must allow this test"
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    socks = []
    try:
        cluster.start_dev(env={"REEVE_SERVER_LIMITS_IDLE": "10m"})
        api = Api(cluster)
        before = cluster.server.rss_kb()
        with Canary(api):
            for n in range(5000):
                socks.append(api.raw())
                if n % 3 == 0:
                    socks[-1].sendall(b"GET /v1/stat")  # and some in the middle of a word
            for _ in range(20):
                assert api.ended(api.submit()["id"])["state"] == "succeeded"
        assert cluster.server.rss_kb() - before < 400_000
        sample = socks[::500]
        for n, sock in zip(range(0, 5000, 500), sample):
            sock.sendall(api.signed(b"us HTTP/1.1\r\nHost: localhost\r\n\r\n" if n % 3 == 0 else
                                    b"GET /v1/status HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            assert sock.recv(12) == b"HTTP/1.1 200", "they are still served when they speak"
    finally:
        for sock in socks:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    wait_until(lambda: api.get("/v1/status")["ready"], what="it goes on")


def test_garbage_on_the_worker_link(server):
    """The other port is open to the world as well."""
    host, port = server.link.rsplit(":", 1)
    api = Api(server)
    with Canary(api):
        for data in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 4096, b"\x00" * 4096, b"\x00\x00\x00\x05hello",
                     b"\x7f\xff\xff\xff" + b"x" * 10_000, b"\x05\x00\x00\x00hello"):
            sock = socket.create_connection((host, int(port)), PATIENCE)
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            read_all(sock)
            sock.close()
    server.start_worker()
    assert api.ended(api.submit()["id"])["state"] == "succeeded"


def test_strangers_do_not_fill_the_log(server):
    """Some lines say what happens, one says how many more there were."""
    host, port = server.link.rsplit(":", 1)
    for _ in range(300):
        sock = socket.create_connection((host, int(port)), PATIENCE)
        sock.sendall(b"\x00\x00\x00\x05hello")
        sock.shutdown(socket.SHUT_WR)
        read_all(sock)
        sock.close()
    wait_until(lambda: "more like this" in server.server.log(), what="the count is told")
    about = [line for line in server.server.log().splitlines() if "turned away" in line or "worker link" in line]
    assert len(about) < 100, len(about)
    more = sum(int(x) for x in re.findall(r"and (\d+) more like this", "\n".join(about)))
    assert more >= 200, about[-3:]
