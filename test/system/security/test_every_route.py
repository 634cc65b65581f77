# SPDX-License-Identifier: Apache-2.0
"""
Every operation of the interface, by its own description, against real things of somebody else: without a token, with each
role that is too small, and with tokens whose limits leave those things out. Nobody hears of them, and nothing happens to
them. A route, a parameter or a body that is new must be said here, or the test of its table fails.
"""
import re

import pytest
import requests
from client import Api
from harness import PATIENCE, wait_until

ROLES = ["read", "logs", "submit", "operate", "admin"]
OPEN = {"getHealth", "getReadiness", "getRoot"}  # whether it lives, for whoever watches it; what it is
ENDLESS = {"streamRoutes"}  # goes on for as long as somebody reads
FAR = {"items": [{"epoch": {"period": 86400 * 365}}], "max_shift": "1h"}


class World:
    """Two sides of one server: all that is `hidden`, and a little that a limited token may see."""

    def __init__(self, cluster):
        self.cluster = cluster
        cluster.start_server()
        cluster.start_worker(name="hidden-worker")
        self.admin = api = Api(cluster)
        api.queue("hidden-queue", env={"E": "hidden-env"})
        api.queue("mine")
        task = {"queue": "hidden-queue", "command": ["echo", "hidden-output"], "key": "hidden-key",
                "labels": {"team": "hidden-label"}}
        ids = api.submit_many([task, {**task, "key": "hidden-key-2"}], "?batch_name=hidden-batch")
        self.batch, (self.task, other) = ids["batch"], ids["ids"]
        for one in (self.task, other):
            api.ended(one)
        self.mine = api.submit("true", queue="mine", labels={"team": "own"}, status=-10)["id"]
        self.schedule = api.post("/v1/schedules", {
            "name": "hidden-schedule", "task": {"queue": "hidden-queue", "command": ["echo", "hidden-command"],
                                                "labels": {"team": "hidden-label"}}, **FAR}, 201)["id"]
        api.ended(api.post("/v1/schedules/hidden-schedule/run", status=201)["tasks"][0])
        api.post("/v1/queues/hidden-queue/pause", {"reason": "hidden-reason"})
        self.held = api.submit(queue="hidden-queue", labels={"team": "hidden-label"}, status=-10)["id"]
        self.group = api.post("/v1/groups", {"name": "hidden-group", "queue": "hidden-queue",
                                             "jobs": [{"name": "hidden-job", "command": ["echo", "hidden-command"],
                                                       "labels": {"team": "hidden-label"}}]}, 201)["id"]
        self.graph = api.ok("PUT", "/v1/graphs/hidden-graph/packages", 201,
                            json={"packages": [{"ident": "hidden/package/1/1"}]})["id"]
        api.post("/v1/domains", {"name": "hidden-domain"}, 201)
        self.service = api.post("/v1/services", {
            "name": "hidden-service", "instances": 0, "domain": "hidden-domain", "routes": {"host": "hidden-host"},
            "task": {"command": ["echo", "hidden-command"]}}, 201)["id"]
        self.token = api.post("/v1/tokens", {"name": "hidden-token", "role": "read"}, 201)["id"]
        self.queue = api.get("/v1/queues/hidden-queue")["id"]
        self.paths = {"id": [self.task, self.held], "queue": ["hidden-queue", self.queue], "worker": ["hidden-worker"],
                      "schedule": ["hidden-schedule", self.schedule], "token": ["hidden-token", self.token], "batch": [self.batch, "hidden-batch"],
                      "group": ["hidden-group", self.group], "job": ["hidden-job", "0"], "graph": ["hidden-graph", self.graph],
                      "service": ["hidden-service", self.service], "domain": ["hidden-domain"], "index": ["0"]}
        self.ids = {self.task, other, self.held, self.batch, self.schedule, self.token, self.queue, self.group, self.graph, self.service}

    def bearer(self, name, **members):
        return Api(self.cluster, self.admin.post("/v1/tokens", {"name": name, **members}, 201)["token"])

    def now(self):
        """All that must stay as it is."""
        a = self.admin
        worker = a.get("/v1/workers/hidden-worker")
        return {"tasks": a.get("/v1/tasks?queue=hidden-queue&full=true&limit=1000")["items"],
                "queue": {**a.get("/v1/queues/hidden-queue"), "oldest_ms": None}, "queues": [q["name"] for q in a.get("/v1/queues")["items"]],
                "groups": a.get("/v1/groups")["items"],
                "graphs": a.get("/v1/graphs")["items"],
                "services": a.get("/v1/services?full=true")["items"], "domains": a.get("/v1/domains")["items"],
                "schedules": [(s["name"], s["version"]) for s in a.get("/v1/schedules")["items"]],
                "tokens": a.get("/v1/tokens/hidden-token"), "worker": (worker["id"], worker["maxthreads"], worker["instance"])}

    def parameters(self):
        """Values of query parameters that ask for what is hidden. None: said elsewhere, or it changes only how."""
        return {"queue": ["hidden-queue", self.queue], "schedule": ["hidden-schedule", self.schedule], "group": ["hidden-group", self.group],
                "worker": ["hidden-worker"], "task": [self.task], "batch": [self.batch], "batch_name": ["hidden-batch"], "label": ["team=hidden-label"],
                "name": ["hidden"], "search": ["hidden"], "full": ["true"], "state": ["held", "ended", "paused"], "cursor": [self.mine], "after": ["0"],
                "since": ["1d"], "until": ["1s"], "kind": ["queue", "token", "schedule"], "order": ["asc"], "limit": ["1000"],
                "stream": ["stdout"], "offset": ["0"], "tail": ["1"], "attempt": ["1"], "atomic": ["true"], "force": ["true"],
                "search": ["hidden"], "lost": ["true"], "end": ["true"], "dry_run": ["true"], "n": ["3"], "wait": ["1s"], "follow": None, "expect": None,
                "service": ["hidden-service", self.service], "domain": ["hidden-domain"], "index": ["0"], "from": ["1"], "to": ["1"]}

    def bodies(self):
        """Bodies of requests, by the name of their schema: each would do something to what is hidden, or add to it."""
        task = {"queue": "hidden-queue", "command": ["true"]}
        return {"TaskSubmit": [task, [task, {**task, "queue": self.queue}]],
                "BulkAction": [{"all": True}, {"ids": [self.task, self.held]}, {"filter": {"queue": "hidden-queue"}},
                               {"filter": {"queue": self.queue}}, {"filter": {"schedule": "hidden-schedule"}},
                               {"filter": {"worker": "hidden-worker"}}, {"filter": {"batch": self.batch}},
                               {"filter": {"label": "team=hidden-label"}}],
                "TaskChange": [{"priority": 7}, {"status": -2}], "Reason": [{"reason": "r"}],
                "QueueCreate": [{"name": "hidden-queue"}, {"name": "other"}], "QueueChange": [{"threads": 0}],
                "Drain": [{"reason": "r"}], "Pause": [{"reason": "r"}], "WorkerChange": [{"maxthreads": 0}],
                "ScheduleCreate": [{"name": "s", "task": task, **FAR}], "ScheduleChange": [{"missed": "skip"}],
                "PreviewAsk": [{"items": FAR["items"]}], "Backfill": [{"from": "2h", "to": "1h"}],
                "GroupSubmit": [{"jobs": [{"name": "j", **task}]}, {"jobs": [{"name": "j", "command": ["true"]}], "queue": self.queue}],
                "PackageFile": [{"packages": [{"ident": "hidden/other/1/1"}]}],
                "PackagesChange": [{"remove": ["hidden/package"]}, {"unbuildable": ["hidden/package"]}],
                "GroupRetry": [{"what": "failed"}, {"what": "from", "job": "hidden-job"}],
                "DomainCreate": [{"name": "hidden-domain"}], "DomainPut": [{"ttl": "1m"}], "DomainChange": [{"ttl": "1m"}],
                "ServiceCreate": [{"name": "hidden-service", "task": {"command": ["true"]}}], "ServiceChange": [{"instances": 1}],
                "RevisionAsk": [{"revision": 1}], "RollbackAsk": [{"revision": 1}], "IndexAsk": [{"index": 0}],
                "IndexNeeded": [{"index": 0}],
                "GroupFail": [{"job": "hidden-job", "reason": "r"}],
                "TokenCreate": [{"name": "t", "role": "read"}]}


@pytest.fixture
def world(cluster):
    return World(cluster)


class Operation:
    """One of the description's; `requests` are the ways to ask it for what is hidden."""

    def __init__(self, method, path, said):
        self.method, self.path, self.said = method.upper(), path, said
        self.name, self.right = said["operationId"], said.get("x-reeve-right")
        self.limited = said.get("x-reeve-limits", False)
        content = said.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        self.schema = re.search(r"schemas/(\w+)\"", str(content).replace("'", '"'))
        self.schema = self.schema and self.schema.group(1)
        self.query = [p["name"] for p in said.get("parameters", []) if p.get("in") == "query"]
        self.named = re.findall(r"{(\w+)}", path)

    def requests(self, world):
        """(target, body), the first without any parameter."""
        targets = [self.path]
        for name in self.named:
            targets = [t.replace("{%s}" % name, value) for t in targets for value in world.paths[name]]
        bodies = world.bodies()[self.schema] if self.schema else [None]
        for target in targets:
            for body in bodies:
                yield target, body
        for name in self.query:
            for value in world.parameters()[name] or []:
                yield f"{targets[0]}?{name}={value}", bodies[0]

    def ask(self, api, target, body):
        return api.ask(self.method, target, **({} if body is None else {"json": body}))


def operations(api):
    found = [Operation(method, path, said) for path, item in api.get("/openapi.json")["paths"].items()
             for method, said in item.items() if method in ("get", "post", "put", "patch", "delete")]
    assert len(found) >= 49
    return found


def test_the_tables_know_every_parameter_and_body(world):
    for o in operations(world.admin):
        assert o.name in OPEN or o.right in ROLES, o.name
        assert set(o.named) <= set(world.paths) and set(o.query) <= set(world.parameters()), (o.name, o.query)
        has_json = "application/json" in o.said.get("requestBody", {}).get("content", {})
        assert has_json == bool(o.schema) and (not o.schema or o.schema in world.bodies()), (o.name, o.schema)


def test_nobody_and_too_small_a_role_get_nowhere(world):
    before, found = world.now(), operations(world.admin)
    bearers = {role: world.bearer(role, role=role) for role in ROLES}
    join = world.bearer("j", role="join")
    tried = 0
    for o in found:
        if o.name in OPEN:
            continue
        target, body = next(o.requests(world))
        bare = requests.request(o.method, world.admin.url + target, json=body, timeout=PATIENCE)
        assert bare.status_code == 401 and "hidden" not in without(bare.text, target, body), (o.name, bare.text)
        assert o.ask(join, target, body).status_code == 401, o.name
        for role in ROLES[:ROLES.index(o.right)]:
            answer = o.ask(bearers[role], target, body)
            assert answer.status_code == 403, (o.name, role, answer.status_code)
            assert "hidden" not in without(answer.text, target, body), (o.name, answer.text)
            tried += 1
    assert tried > 60 and world.now() == before


def without(text, *asked):
    """An answer without the words that the request itself held."""
    words = re.findall(r"hidden-[\w-]+|[0-9a-f]{24}", " ".join(map(str, asked)))
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "")
    return text


def reveals(world, answer, target, body, but=()):
    """What of the hidden it says beside what it was asked for."""
    text = without(answer.text + str(dict(answer.headers)), target, body)
    for word in but:
        text = text.replace(word, "")
    return sorted(set(re.findall(r"hidden[\w-]*", text)) | {i for i in world.ids if i in text})


# Names of queues are no secret to a token whose limits are labels alone: it may use each of them.
@pytest.mark.parametrize("limits, but", [({"queues": ["mine"]}, False), ({"labels": {"team": "own"}}, True),
                                         ({"queues": ["mine"], "labels": {"team": "own"}}, False)], ids=["queue", "label", "both"])
def test_limits_hide_all_else(world, limits, but):
    before = world.now()
    bearer = world.bearer("limited", role="admin", **limits)
    known = ["hidden-queue", world.queue] if but else []
    refused = shown = 0
    for o in operations(world.admin):
        for target, body in o.requests(world):
            answer = o.ask(bearer, target, body)
            where = (o.method, target, body, answer.status_code, answer.text[:500])
            assert answer.status_code < 500, where
            assert not reveals(world, answer, target, body, known), (reveals(world, answer, target, body, known), where)
            if not o.limited and o.name not in OPEN:
                assert answer.status_code == 403, where
            elif o.named and not (but and o.named == ["queue"]):
                assert answer.status_code in (403, 404), where
            refused += answer.status_code in (403, 404)
            shown += answer.status_code == 200
    assert refused > 60 and shown > 10, (refused, shown)
    assert world.now() == before


def test_the_same_questions_show_it_to_who_may(world):
    """Or the tests above would look for what is nowhere."""
    seen = set()
    world.admin.post("/v1/groups/hidden-group/cancel")  # its stream ends with it
    wait_until(lambda: world.admin.get("/v1/groups/hidden-group")["ended"], what="the group has ended")
    for o in operations(world.admin):
        for target, body in o.requests(world) if o.method == "GET" and o.name not in ENDLESS else []:
            answer = o.ask(world.admin, target, body)
            seen |= {(o.name, word) for word in reveals(world, answer, target, body)}
    words = {word for _, word in seen}
    assert words >= {"hidden-queue", "hidden-env", "hidden-output", "hidden-command", "hidden-label", "hidden-reason",
                     "hidden-schedule", "hidden-token", "hidden-worker", "hidden-key"} | world.ids - {world.held}, words
    assert len({name for name, _ in seen}) >= 12, seen
