# SPDX-License-Identifier: Apache-2.0
"""A small stand-in for the server: enough of /v1 to test the command line alone, with faults on demand.

Tasks do not run. What becomes of one is said by its command: ["exit", "3"], ["signal", "9"], ["say", "text"],
["cancelled"], ["orphaned"], ["terminated"], ["forever"]; anything else succeeds.
"""
import json
import socketserver
import threading
import time
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, unquote, urlsplit

STATES = {"succeeded": 1, "failed": 2, "cancelled": -5, "orphaned": -6, "terminated": -3, "running": 0,
          "queued": -2, "held": -10}
ENDED = ("succeeded", "failed", "cancelled", "orphaned", "terminated")
TIME = "2026-11-15T21:08:45.123Z"


class Fake:
    def __init__(self):
        self.lock = threading.Condition()
        self.tasks, self.queues, self.workers, self.keys = {}, {}, {}, {}
        self.services = []
        self.route_streams = []  # what each connection is told: (kind, data), …
        self.requests = []  # (method, path, headers, body)
        self.events = []
        self.forgotten = 0  # the stream no longer has events up to this one
        self.faults = []    # one per coming request: "drop", "lose" (handled, reply lost), an int status, None
        self.cut_logs = 0   # how many log streams break off after 3 bytes
        self.count = 0
        self.token = None
        self.rate, self.waiting, self.dispatch = 12.5, [], "durable"
        self.threads = {"used": 3, "max": 8}

    def new_id(self):
        self.count += 1
        return "64f0c0de0123456789%06x" % self.count

    def add_task(self, spec, batch=None):
        if not isinstance(spec, dict) or "bogus" in spec:
            return None
        twin = spec.get("key") and next((t for t in self.tasks.values() if t["key"] == spec["key"]), None)
        if twin:
            return dict(twin, duplicate=True)
        command = spec.get("command", ["true"])
        state, code, signal, out = "succeeded", 0, None, ""
        if command[0] == "exit":
            code = int(command[1])
            state = "failed" if code else "succeeded"
        elif command[0] == "signal":
            state, code, signal = "failed", None, int(command[1])
        elif command[0] == "say":
            out = command[1]
        elif command[0] in ENDED:
            state, code = command[0], None
        elif command[0] == "forever":
            state, code = "running", None
        task = {"id": self.new_id(), "queue": spec.get("queue", "default"), "state": state, "status": STATES[state],
                "priority": spec.get("priority", 0), "command": command, "labels": spec.get("labels", {}),
                "env": spec.get("env", {}), "key": spec.get("key"), "batch": batch, "attempt": 1, "max_attempts": 1,
                "worker": "w1", "ctime": TIME, "started": TIME, "ended": TIME if state in ENDED else None,
                "exit_code": code, "signal": signal, "reason": None, "stdout": out, "stdout_bytes": len(out),
                "stderr_bytes": 0, "attempts": [], "spec": spec}
        self.tasks[task["id"]] = task
        return task

    def add_queue(self, name, **more):
        self.queues[name] = dict({"id": self.new_id(), "name": name, "plugin": "command", "threads": None,
                                  "order": "fifo", "paused": False, "env": {}, "output": "auto", "output_max": 1 << 28,
                                  "max_attempts": 1, "counts": {"queued": 0, "running": 0}, "workers": 1}, **more)
        return self.queues[name]

    def add_worker(self, name, **more):
        self.workers[name] = dict({"id": self.new_id(), "name": name, "state": "healthy", "connected": True,
                                   "why_unhealthy": None, "unsure": 0, "silent_ms": 3000, "check_age_ms": 40000,
                                   "lost_in_ms": None, "set": {"version": 2, "indirect": 2, "joined": 1, "batched": False},
                                   "host": "h1", "zone": "z1",
                                   "running": 0, "maxthreads": 4, "plugins": ["command"], "labels": {"gpu": "no"},
                                   "version": "0.1.0", "last_seen": TIME}, **more)

    def matching(self, q):
        def fits(t):
            states = [s for text in q.get("state", []) for s in text.split(",")]
            labels = [pair.split("=", 1) for pair in q.get("label", [])]
            return ((not states or t["state"] in states) and all(t["labels"].get(k) == v for k, v in labels)
                    and all(t[n] == q[n][0] for n in ("queue", "batch", "worker") if n in q))
        return [t for t in self.tasks.values() if fits(t)]


class Problem(Exception):
    def __init__(self, status, name, detail, hint=None):
        self.status, self.body = status, {"type": "urn:reeve:error:" + name, "title": "…", "status": status,
                                          "detail": detail}
        if hint:
            self.body["hint"] = hint


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "unix"

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/json"):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def serve(self):
        fake = self.server.fake
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with fake.lock:
            fake.requests.append((self.command, self.path, dict(self.headers), body))
            fault = fake.faults.pop(0) if fake.faults else None
        if fault == "drop":
            self.close_connection = True
            return
        try:
            if isinstance(fault, int):
                raise Problem(fault, "busy", "not now")
            if fake.token and self.headers.get("Authorization") != "Bearer " + fake.token:
                raise Problem(401, "unauthorized", "a token is needed")
            answer = self.route(fake, body)
            if callable(fault):
                fault()
            if fault == "lose":
                self.close_connection = True
            elif answer is not None:
                self.reply(*answer)
        except Problem as p:
            self.reply(p.status, p.body, "application/problem+json")
        except BrokenPipeError:
            self.close_connection = True

    do_GET = do_POST = do_PATCH = do_DELETE = serve

    def route(self, fake, body):
        parts = urlsplit(self.path)
        q = parse_qs(parts.query)
        path = [unquote(p) for p in parts.path.strip("/").split("/")]
        if path[0] != "v1":
            raise Problem(404, "not-found", "there is nothing at %s" % parts.path)
        handler = getattr(self, "%s_%s" % (self.command.lower(), path[1]), None)
        if not handler:
            raise Problem(404, "not-found", "there is nothing at %s" % parts.path)
        key = self.headers.get("Idempotency-Key")
        with fake.lock:
            if key and key in fake.keys:
                return fake.keys[key]
        answer = handler(fake, path[2:], q, body)
        if key:
            fake.keys[key] = answer
        return answer

    def page(self, items, q):
        limit, start = int(q.get("limit", ["100"])[0]), int(q.get("cursor", ["0"])[0])
        end = start + limit
        return 200, {"items": items[start:end], "next": str(end) if end < len(items) else None}

    def get_status(self, fake, path, q, body):
        return 200, {"version": "0.1.0", "started": TIME, "uptime_ms": 61000, "store": {"backend": "memory", "schema": 1},
                     "ready": True, "queues": len(fake.queues),
                     "dispatch": fake.dispatch,
                     "workers": dict({s: sum(w["state"] == s for w in fake.workers.values())
                                      for s in ("new", "unhealthy", "healthy", "must_die", "left")},
                                     connected=sum(w["connected"] for w in fake.workers.values())),
                     "worker_set": {"server": "0" * 15 + "7", "version": 4, "hash": "0" * 32, "workers": len(fake.workers),
                                    "consensus": False, "batched": 2, "waiting": False, "ends_in_ms": None},
                     "tasks": {"queued": 1234, "delayed": 0, "held": 2, "claimed": 0, "running": 3, "unsure": 1},
                     "services": {"total": len(fake.services), "running": 5 * len(fake.services), "crashed": 1,
                                  "ready": sum(s["counts"]["ready"] for s in fake.services)},
                     "threads": fake.threads, "rates": {"submitted_per_s": fake.rate, "ended_per_s": 0.0},
                     "waiting": fake.waiting}

    def task(self, fake, id):
        if id not in fake.tasks:
            raise Problem(404, "not-found", 'there is no task "%s"' % id, "`reeve task ls` shows them")
        return fake.tasks[id]

    def post_tasks(self, fake, path, q, body):
        if path[:1] == ["actions"]:
            return self.action(fake, path[1], json.loads(body))
        if path:
            task = self.task(fake, path[0])
            self.change(fake, task, path[1])
            return 200, task
        if "ndjson" in self.headers["Content-Type"]:
            return self.bulk(fake, q, body)
        with fake.lock:
            task = fake.add_task(json.loads(body))
        return (200 if task.get("duplicate") else 201), task

    def bulk(self, fake, q, body):
        ids, errors, batch = [], [], q.get("batch", [None])[0]
        with fake.lock:
            batch = batch or fake.new_id()
            for number, line in enumerate(body.split(b"\n"), 1):
                if not line.strip():
                    continue
                try:
                    task = fake.add_task(json.loads(line), batch)
                except ValueError:
                    task = None
                if not task:
                    errors.append({"line": number, "type": "urn:reeve:error:invalid", "detail": "not a task",
                                   "hint": "see the manual"})
                ids.append(task and task["id"])
        return 200, {"batch": batch, "accepted": len(ids) - len(errors), "duplicates": 0, "rejected": len(errors),
                     "ids": ids, "errors": errors}

    def change(self, fake, task, verb):
        with fake.lock:
            ended = task["state"] in ENDED
            if verb == "retry" and not ended:
                raise Problem(409, "conflict", "task %s has not ended" % task["id"])
            if verb == "cancel" and ended:
                raise Problem(409, "conflict", "task %s has ended" % task["id"])
            state = {"retry": "queued", "cancel": "cancelled", "hold": "held", "release": "queued"}[verb]
            task.update(state=state, status=STATES[state], exit_code=None)
            fake.lock.notify_all()

    def action(self, fake, verb, body):
        if "ids" in body:
            tasks = [fake.tasks[i] for i in body["ids"] if i in fake.tasks]
        else:
            assert body["filter"] or body.get("all")
            tasks = fake.matching({k: v if isinstance(v, list) else [v] for k, v in body["filter"].items()})
        changed = 0
        for task in [] if body.get("dry_run") else tasks:
            try:
                self.change(fake, task, verb)
                changed += 1
            except Problem:
                pass
        refused = 0 if body.get("dry_run") else len(tasks) - changed
        return 200, {"matched": len(tasks), "changed": changed, "refused": refused, "errors": []}

    def get_tasks(self, fake, path, q, body):
        if not path:
            return self.page(fake.matching(q)[::-1], q)
        if path == ["summary"]:
            tasks = fake.matching(q)
            states = {}
            for t in tasks:
                states[t["state"]] = states.get(t["state"], 0) + 1
            done = sum(t["state"] in ENDED for t in tasks)
            return 200, {"total": len(tasks), "states": states, "done": done, "live": len(tasks) - done}
        task = self.task(fake, path[0])
        if path[1:] == ["why"]:
            return 200, {"id": task["id"], "state": task["state"], "summary": "the queue is full",
                         "reasons": [{"code": "threads", "text": "limit 8/8 on queue q", "lift": "one of 8 must end"}]}
        if path[1:] == ["logs"]:
            return self.logs(fake, task, q)
        if "wait" in q:
            with fake.lock:
                fake.lock.wait_for(lambda: task["state"] in ENDED, float(q["wait"][0][:-2]) / 1000)
        return 200, task

    def logs(self, fake, task, q):
        text = (task["stdout"] if q["stream"][0] == "stdout" else "").encode()[int(q.get("offset", ["0"])[0]):]
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with fake.lock:
            cut = fake.cut_logs > 0 and text
            fake.cut_logs -= bool(cut)
        if cut:
            text = text[:3]
        if text:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        if cut:
            self.close_connection = True
            return None
        if "follow" in q:
            with fake.lock:
                fake.lock.wait_for(lambda: task["state"] in ENDED, 30)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def patch_tasks(self, fake, path, q, body):
        task, wanted = self.task(fake, path[0]), json.loads(body)
        if "priority" in wanted:
            task["priority"] = wanted["priority"]
        elif "status" in wanted:
            self.change(fake, task, "hold" if wanted["status"] == -10 else "release")
        return 200, task

    def get_queues(self, fake, path, q, body):
        if not path:
            return self.page(list(fake.queues.values()), q)
        if path[0] not in fake.queues:
            raise Problem(404, "not-found", 'there is no queue "%s"' % path[0], "reeve queue ls shows the queues")
        return 200, fake.queues[path[0]]

    def post_queues(self, fake, path, q, body):
        if path:
            queue = self.get_queues(fake, path[:1], q, body)[1]
            wanted = json.loads(body or b"{}")
            queue.update(paused=path[1] == "pause", pause_reason=wanted.get("reason"), until=wanted.get("until"))
            return 200, queue
        wanted = json.loads(body)
        if wanted["name"] in fake.queues:
            raise Problem(409, "conflict", 'there is a queue "%s" already' % wanted["name"])
        return 201, fake.add_queue(**wanted)

    def patch_queues(self, fake, path, q, body):
        queue = self.get_queues(fake, path, q, body)[1]
        queue.update(json.loads(body))
        return 200, queue

    def delete_queues(self, fake, path, q, body):
        self.get_queues(fake, path, q, body)
        tasks = fake.matching({"queue": path})
        if "force" not in q and any(t["state"] not in ENDED for t in tasks):
            raise Problem(409, "conflict", "it holds live tasks", "--force cancels them")
        for task in tasks:
            del fake.tasks[task["id"]]
        del fake.queues[path[0]]
        return 200, {}

    def get_services(self, fake, path, q, body):
        return self.page(fake.services, q)

    def get_workers(self, fake, path, q, body):
        if not path:
            return self.page(list(fake.workers.values()), q)
        if path[0] not in fake.workers:
            raise Problem(404, "not-found", 'there is no worker "%s"' % path[0])
        return 200, fake.workers[path[0]]

    def patch_workers(self, fake, path, q, body):
        worker = self.get_workers(fake, path, q, body)[1]
        worker.update(json.loads(body))
        return 200, worker

    def post_workers(self, fake, path, q, body):
        worker = self.get_workers(fake, path[:1], q, body)[1]
        if not worker["connected"]:
            raise Problem(409, "conflict", "the worker is not connected")
        worker["told"] = path[1]
        return 200, worker

    def delete_workers(self, fake, path, q, body):
        self.get_workers(fake, path, q, body)
        del fake.workers[path[0]]
        return 200, {}

    def get_routes(self, fake, path, q, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for kind, data in fake.route_streams.pop(0) if fake.route_streams else []:
            self.wfile.write(b"event: %s\ndata: %s\n\n" % (kind.encode(), json.dumps(data).encode()))
        return None

    def get_events(self, fake, path, q, body):
        if "event-stream" not in self.headers.get("Accept", ""):
            return self.page(fake.events, q)
        after = int(self.headers.get("Last-Event-ID", "0"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if fake.forgotten and after < fake.forgotten:
            self.wfile.write(b'id: %d\nevent: reset\ndata: {"seq":%d,"kind":"reset","after":%d}\n\n' % (
                fake.forgotten, fake.forgotten, after))
            after = fake.forgotten
        # Two events a connection: the client has to come back for the rest.
        for event in [e for e in fake.events if e["seq"] > after][:2]:
            self.wfile.write(b": hello\nid: %d\nevent: %s\ndata: %s\n\n" % (
                event["seq"], event["kind"].encode(), json.dumps(event).encode()))
        return None


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # clients leave whenever they like


def start(path):
    server = Server(path, Handler)
    server.fake = Fake()
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server
