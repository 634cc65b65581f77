# SPDX-License-Identifier: Apache-2.0
"""HTTP as programs speak it: requests with checked errors, event streams, and raw bytes."""
import json
import socket
import threading
import time

import requests
from harness import PATIENCE, wait_until

JSON = {"Content-Type": "application/json"}
NDJSON = {"Content-Type": "application/x-ndjson"}
PROBLEM_MEMBERS = {"type", "title", "status", "detail", "hint", "field", "errors"}
ENDED = {"succeeded", "failed", "finished", "cancelled", "terminated", "orphaned"}


def check_problem(response, status, name, field=None, hint=None, detail=None):
    """The answer is the RFC 9457 document that it should be; returns it."""
    assert response.status_code == status, (response.status_code, response.text[:2000])
    if response.request.method == "HEAD":
        return None
    assert response.headers["Content-Type"] == "application/problem+json"
    problem = response.json()
    assert problem["type"] == f"urn:reeve:error:{name}", problem
    assert problem["status"] == status and problem["title"] and problem["detail"], problem
    assert set(problem) <= PROBLEM_MEMBERS, problem
    if field is not None:
        assert problem.get("field") == field, problem
    if hint is not None:
        assert hint in problem.get("hint", ""), problem
    if detail is not None:
        assert detail in problem["detail"], problem
    return problem


class Api:
    """One client of a server. Methods return the response, or fail with what was said."""

    def __init__(self, cluster, token=None, verify=True):
        self.url = cluster.url
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.verify = verify
        token = token or cluster.own_token()
        if token:
            self.session.headers["Authorization"] = f"Bearer {token}"

    def ask(self, method, path, **options):
        options.setdefault("timeout", PATIENCE)
        return self.session.request(method, self.url + path, **options)

    def ok(self, method, path, status=200, **options):
        response = self.ask(method, path, **options)
        assert response.status_code == status, (method, path, response.status_code, response.text[:2000])
        if response.headers.get("Content-Type", "").startswith("application/json"):
            return response.json()
        return response

    def get(self, path, **options):
        return self.ok("GET", path, **options)

    def post(self, path, body=None, status=200, **options):
        return self.ok("POST", path, status, json={} if body is None else body, **options)

    def patch(self, path, body, status=200, **options):
        return self.ok("PATCH", path, status, json=body, **options)

    def delete(self, path, status=204, **options):
        return self.ok("DELETE", path, status, **options)

    def refused(self, method, path, status, name, field=None, hint=None, detail=None, **options):
        return check_problem(self.ask(method, path, **options), status, name, field, hint, detail)

    # -- shorthands

    def submit(self, *command, expect=201, headers=None, **members):
        body = {"command": list(command) or ["true"], **members}
        return self.post("/v1/tasks", body, expect, headers=headers)

    def submit_many(self, tasks, query=""):
        lines = "".join(t if isinstance(t, str) else json.dumps(t) + "\n" for t in tasks)
        return self.ok("POST", "/v1/tasks" + query, data=lines.encode(), headers=NDJSON)

    def queue(self, name, **members):
        return self.post("/v1/queues", {"name": name, **members}, 201)

    def task(self, task_id):
        return self.get(f"/v1/tasks/{task_id}")

    def ended(self, task_id):
        """The task once it has ended: the server says when."""
        def look():
            task = self.get(f"/v1/tasks/{task_id}?wait=10s")
            return task if task["state"] in ENDED else None
        return wait_until(look, what=f"task {task_id} has ended")

    def reaches(self, task_id, state):
        def look():
            task = self.task(task_id)
            return task if task["state"] == state else None
        return wait_until(look, what=f"task {task_id} is {state}")

    def pages(self, path, limit):
        """All pages of a list, each as its items."""
        cursor, pages = None, []
        joint = "&" if "?" in path else "?"
        while True:
            page = self.get(f"{path}{joint}limit={limit}" + (f"&cursor={cursor}" if cursor else ""))
            assert len(page["items"]) <= limit
            pages.append(page["items"])
            cursor = page["next"]
            if cursor is None:
                return pages
            assert len(pages) < 1000, "the pages do not end"

    def stream(self, query="", **headers):
        return Stream(self, query, headers)

    @property
    def address(self):
        host, port = self.url.split("://")[1].rsplit(":", 1)
        return host, int(port)

    def raw(self, data=b"", timeout=PATIENCE):
        """A bare connection, with these bytes sent; a request to localhost shows the token too."""
        s = socket.create_connection(self.address, timeout)
        if data:
            s.sendall(self.signed(data))
        return s

    def signed(self, data):
        token = self.session.headers.get("Authorization", "").encode()
        return data.replace(b"Host: localhost\r\n", b"Host: localhost\r\nAuthorization: " + token + b"\r\n", 1)


def read_all(s, end=None):
    """What the server says until it closes, or until these bytes end it."""
    parts = []
    while not (end and b"".join(parts[-2:]).endswith(end)):
        try:
            part = s.recv(65536)
        except ConnectionResetError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts)


class Stream:
    """Server-sent events, read on a thread so that a test can wait for one with patience."""

    def __init__(self, api, query, headers):
        self.events, self.comments, self.ended = [], [], False
        self.response = requests.get(api.url + "/v1/events" + query, stream=True, timeout=(PATIENCE, 120),
                                     headers={**api.session.headers, "Accept": "text/event-stream", **headers})
        if self.response.status_code == 200:
            assert self.response.headers["Content-Type"].startswith("text/event-stream")
            self.thread = threading.Thread(target=self._read, daemon=True)
            self.thread.start()

    def _read(self):
        event = {}
        try:
            for line in self.response.iter_lines(chunk_size=1):
                line = line.decode()
                if line.startswith(":"):
                    self.comments.append(line)
                elif line:
                    name, _, value = line.partition(": ")
                    event[name] = value
                elif "data" in event:
                    event["data"] = json.loads(event["data"])
                    self.events.append(event)
                    event = {}
                else:
                    event = {}
        except (requests.RequestException, AttributeError, ValueError, OSError):
            pass
        self.ended = True

    def wait_for(self, condition, what, timeout=PATIENCE):
        """The events up to now, once condition(events) is true."""
        wait_until(lambda: condition(self.events) or self.ended, timeout, what)
        assert condition(self.events), f"the stream ended without: {what}; it had {self.events[-3:]}"
        return list(self.events)

    def kinds(self):
        return [e["event"] for e in self.events]

    def ids(self):
        return [int(e["id"]) for e in self.events]

    def close(self):
        """Hangs up; the thread notices at once instead of waiting for the next line."""
        try:
            self.response.raw._fp.fp.raw._sock.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            pass
        self.thread.join(PATIENCE)
        self.response.close()


class Canary:
    """Another client, who must not notice: keeps asking, and remembers every failure."""

    def __init__(self, api, slowest=60):
        self.api, self.slowest = api, slowest
        self.count, self.wrong = 0, []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _once(self, session):
        answers = [session.get(self.api.url + "/v1/status", timeout=self.slowest),
                   session.post(self.api.url + "/v1/tasks", json={"command": ["true"], "status": -10},
                                timeout=self.slowest)]
        self.wrong += [a.text for a in answers if a.status_code not in (200, 201)]
        self.count += 1

    def _run(self):
        session = requests.Session()
        session.trust_env = False
        session.headers.update(self.api.session.headers)
        while not self.stopping.is_set():
            try:
                self._once(session)
            except requests.RequestException as e:
                self.wrong.append(repr(e))
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        wait_until(lambda: self.count or self.wrong, what="the canary sings")
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            before = self.count
            wait_until(lambda: self.count > before or self.wrong, what="the canary still sings")
        self.stopping.set()
        self.thread.join()
        if kind is None:
            assert not self.wrong, self.wrong[:3]
