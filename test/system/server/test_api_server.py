# SPDX-License-Identifier: Apache-2.0
"""What the server says about itself, and the document that describes its interface: every route in it is
used here once, and every answer is held against its schema."""
import re

import jsonschema
import requests
from client import Api
from harness import PATIENCE, ROOT, wait_until

OPENAPI_METHODS = {"get", "put", "post", "delete", "patch", "options", "head", "trace"}


def test_status(live):
    live.queue("q")
    live.ended(live.submit(queue="q")["id"])
    live.submit(queue="q", status=-10)
    status = live.get("/v1/status")
    assert status["ready"] is True and status["version"] and status["uptime_ms"] >= 0
    assert status["store"]["backend"] == "sqlite" and status["store"]["schema"] >= 2
    assert status["workers"] == {"new": 0, "unhealthy": 0, "healthy": 1, "must_die": 0, "left": 0, "connected": 1}
    assert status["tasks"] == {"queued": 0, "delayed": 0, "held": 1, "claimed": 0, "running": 0, "unsure": 0}
    assert status["dispatch"] == "durable" and status["waiting"] == []
    assert status["worker_set"]["workers"] == 1 and status["worker_set"]["waiting"] is False
    assert status["queues"] == 1 and status["threads"]["used"] == 0 and status["threads"]["max"] >= 1
    assert set(status["rates"]) == {"submitted_per_s", "ended_per_s"}
    assert live.url.split("//")[1] in status["listen"]


def test_status_says_what_work_waits_for(server):
    api = Api(server)
    api.submit()
    assert [w["code"] for w in api.get("/v1/status")["waiting"]] == ["no-worker"]
    assert "no worker is connected" in server.cli("status").out


def test_health(live):
    for path in ("/healthz", "/readyz"):
        response = live.ask("GET", path)
        assert response.status_code == 200 and response.text.strip() == "ok"
        assert response.headers["Content-Type"].startswith("text/plain")


def test_head_is_get_without_a_body(live):
    for path in ("/v1/status", "/healthz", "/v1/queues", "/openapi.json", "/metrics"):
        head = live.ask("HEAD", path)
        assert head.status_code == 200 and head.content == b"" and int(head.headers["Content-Length"]) > 0


def test_wrong_methods_name_the_right_ones(live):
    for method, path, allowed in (("PUT", "/v1/tasks", {"GET", "HEAD", "POST"}), ("DELETE", "/v1/status", {"GET", "HEAD"}),
                                  ("POST", "/v1/queues/x", {"GET", "HEAD", "PATCH", "DELETE"}),
                                  ("GET", "/v1/tasks/actions/cancel", {"POST"}), ("PATCH", "/metrics", {"GET", "HEAD"})):
        response = live.ask(method, path, json={})
        assert response.status_code == 405
        assert set(response.headers["Allow"].split(", ")) == allowed
        assert response.json()["type"] == "urn:reeve:error:method-not-allowed"
    for path, allowed in (("/v1/tasks", {"GET", "HEAD", "POST"}), ("/v1/tasks/actions/cancel", {"POST"})):
        response = live.ask("OPTIONS", path)
        assert response.status_code == 204 and set(response.headers["Allow"].split(", ")) == allowed
    assert live.ask("OPTIONS", "/v1/nothing").status_code == 404


# -- metrics

SAMPLE = re.compile(r'^([a-z_]+)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*)\})? (-?[0-9.e+-]+|\+Inf|NaN)$')


def parse_metrics(text):
    """Prometheus text: {name: {labels: value}}, and types; fails on whatever a scraper would refuse."""
    types, samples, current = {}, {}, None
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types, f"{name} has two types"
            types[name], current = kind, name
        elif not line.startswith("#"):
            match = SAMPLE.match(line)
            assert match, line
            name, labels, value = match.groups()
            base = re.sub(r"_(bucket|sum|count)$", "", name) if types.get(name) is None else name
            assert base == current, f"{name} stands outside its family"
            key = tuple(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or ""))
            assert key not in samples.setdefault(name, {}), f"twice: {line}"
            samples[name][key] = float(value.replace("+Inf", "inf"))
    return types, samples


def check_histograms(types, samples):
    for name in (n for n, kind in types.items() if kind == "histogram"):
        series = {}
        for labels, value in samples.get(name + "_bucket", {}).items():
            rest = tuple(x for x in labels if x[0] != "le")
            series.setdefault(rest, []).append((float(dict(labels)["le"].replace("+Inf", "inf")), value))
        for rest, buckets in series.items():
            assert buckets == sorted(buckets) and buckets[-1][0] == float("inf")
            assert [v for _, v in buckets] == sorted(v for _, v in buckets), "buckets are cumulative"
            assert samples[name + "_count"][rest] == buckets[-1][1]
            assert rest in samples[name + "_sum"]


def documented_metrics():
    with open(f"{ROOT}/docs/API.md", encoding="utf-8") as f:
        first = [line.split("|")[1] for line in f if line.startswith("| `reeve_")]
    return {m.group(1): set((m.group(2) or "").split(",")) - {""}
            for m in re.finditer(r"`(reeve_[a-z_]+)(?:\{([a-z,]+)\})?`", " ".join(first))}


def test_metrics(cluster):
    cluster.start_dev("--cluster-resource", "licence=1")
    live = Api(cluster)
    live.queue("odd {name}é")
    live.ended(live.submit(queue="odd {name}é")["id"])
    live.ended(live.submit("false")["id"])
    response = live.ask("GET", "/metrics")
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    types, samples = parse_metrics(response.text)
    check_histograms(types, samples)
    for name, labels in documented_metrics().items():
        assert name in types, f"{name} is documented but missing"
        found = samples.get(name) or samples.get(name + "_count")
        assert found, f"{name} has no sample"
        for key in found:
            assert labels <= {k for k, _ in key}, (name, key)
    assert set(types) <= set(documented_metrics()), "what is told is documented"
    totals = samples["reeve_tasks_total"]
    assert totals[("queue", "default"), ("outcome", "failed")] == 1
    assert totals[("queue", "odd {name}é"), ("outcome", "succeeded")] == 1
    assert samples["reeve_workers"][("zone", ""), ("state", "healthy")] == 1
    assert list(samples["reeve_process_resident_bytes"].values())[0] > 1e6
    before = samples["reeve_events_total"][()]
    live.ended(live.submit()["id"])
    _, samples = parse_metrics(live.ask("GET", "/metrics").text)
    assert samples["reeve_events_total"][()] > before


# -- the document

class Contract:
    """The server's own description, and a client that holds every answer against it."""

    def __init__(self, api):
        self.api, self.used = api, set()
        self.doc = api.get("/openapi.json")
        self.patterns = [(method, path, re.compile("^" + re.sub(r"\\\{[a-z]+\\\}", "[^/]+", re.escape(path)) + "$"))
                         for path, item in self.doc["paths"].items() for method in item if method in OPENAPI_METHODS]
        # fixed paths before those with a parameter, as the server does
        self.patterns.sort(key=lambda p: p[1].count("{"))

    def operation(self, method, path):
        for m, template, pattern in self.patterns:
            if m == method.lower() and pattern.match(path.split("?")[0]):
                self.used.add((m, template))
                return self.doc["paths"][template][m]
        raise AssertionError(f"{method} {path} is not in the document")

    def resolve(self, node):
        while "$ref" in node:
            assert node["$ref"].startswith("#/")
            ref, node = node["$ref"], self.doc
            for part in ref[2:].split("/"):
                node = node[part]
        return node

    def validate(self, value, schema):
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "components": self.doc["components"],
                  "allOf": [schema]}
        jsonschema.Draft202012Validator(schema).validate(value)

    def ask(self, method, path, expected, **options):
        """Sends it, and checks status, content type and body against what is promised."""
        operation = self.operation(method, path)
        if "json" in options and expected < 400:
            body = self.resolve(operation["requestBody"])["content"]["application/json"]["schema"]
            self.validate(options["json"], body)
        response = self.api.ask(method, path, **options)
        assert response.status_code == expected, response.text
        promised = operation["responses"]
        found = promised.get(str(expected)) or promised.get(f"{expected // 100}XX") or promised.get("default")
        assert found, f"{method} {path}: {expected} is not in the document"
        content = self.resolve(found).get("content", {})
        kind = response.headers.get("Content-Type", "").split(";")[0]
        if expected in (204, 304):
            assert not response.content and not content
        else:
            assert kind in content, (method, path, kind, list(content))
            if kind.endswith("json"):
                self.validate(response.json(), content[kind]["schema"])
        return response


def test_document_is_openapi_3_1(live):
    doc = live.get("/openapi.json")
    assert re.match(r"^3\.1\.\d+$", doc["openapi"])
    assert set(doc) <= {"openapi", "info", "jsonSchemaDialect", "servers", "paths", "webhooks", "components",
                        "security", "tags", "externalDocs"}
    assert doc["info"]["title"] and doc["info"]["version"]
    ids = []
    tags = {t["name"] for t in doc.get("tags", [])}
    for path, item in doc["paths"].items():
        assert path.startswith("/")
        for method, operation in item.items():
            if method not in OPENAPI_METHODS:
                assert method in {"summary", "description", "parameters", "servers", "$ref"}
                continue
            check_operation(doc, path, item, method, operation)
            ids.append(operation["operationId"])
            assert set(operation.get("tags", [])) <= tags or not tags
    assert len(ids) == len(set(ids))
    for name, schema in doc["components"]["schemas"].items():
        assert re.match(r"^[a-zA-Z0-9._-]+$", name)
        jsonschema.Draft202012Validator.check_schema(schema)
    check_references(doc, doc)


def check_operation(doc, path, item, method, operation):
    assert {key for key in operation if not key.startswith("x-")} <= {"tags", "summary", "description", "externalDocs", "operationId", "parameters",
                              "requestBody", "responses", "callbacks", "deprecated", "security", "servers"}
    contract_parameters = operation.get("parameters", []) + item.get("parameters", [])
    in_path = set()
    seen = set()
    for parameter in contract_parameters:
        while "$ref" in parameter:
            parameter = doc["components"]["parameters"][parameter["$ref"].rsplit("/", 1)[1]]
        assert parameter["in"] in {"query", "header", "path", "cookie"}
        assert ("schema" in parameter) != ("content" in parameter)
        assert (parameter["in"], parameter["name"]) not in seen
        seen.add((parameter["in"], parameter["name"]))
        if parameter["in"] == "path":
            assert parameter["required"] is True
            in_path.add(parameter["name"])
    assert in_path == set(re.findall(r"\{([a-z]+)\}", path)), (method, path)
    assert operation["responses"]
    for status, response in operation["responses"].items():
        assert re.match(r"^([1-5]\d\d|[1-5]XX|default)$", status)
        assert "$ref" in response or response["description"]
    if "requestBody" in operation and "$ref" not in operation["requestBody"]:
        assert operation["requestBody"]["content"]


def check_references(doc, node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            at = doc
            for part in node["$ref"].removeprefix("#/").split("/"):
                assert part in at, f"{node['$ref']} leads nowhere"
                at = at[part]
        for value in node.values():
            check_references(doc, value)
    elif isinstance(node, list):
        for value in node:
            check_references(doc, value)


def documented_routes():
    """Every `METHOD /path` of docs/API.md."""
    routes, last = set(), None
    with open(f"{ROOT}/docs/API.md", encoding="utf-8") as f:
        for line in f:
            if not line.startswith("| `"):
                continue
            for cell in re.findall(r"`([^`]+)`", line.split("|")[1]):
                match = re.match(r"^(GET|POST|PUT|PATCH|DELETE) (/\S*)$", cell)
                if match:
                    last = match.groups()
                    routes.add(last)
                elif cell.startswith("…/"):
                    routes.add((last[0], last[1].rsplit("/", 1)[0] + cell[1:]))
    routes.add(("GET", "/v1/events"))
    return routes


def test_document_and_manual_name_the_same_routes(live):
    doc = live.get("/openapi.json")
    described = {(m.upper(), path) for path, item in doc["paths"].items() for m in item if m in OPENAPI_METHODS}
    assert described == documented_routes()


def ask_groups(c):
    jobs = [{"name": "a", "command": ["sleep", "1000"]}, {"name": "b", "command": ["true"], "needs": [{"job": "a", "after": "end"}]}]
    c.ask("POST", "/v1/groups", 201, json={"name": "g", "policy": "fail-fast", "jobs": jobs})
    c.ask("POST", "/v1/groups", 400, json={"jobs": [{"name": "a", "needs": ["z"]}]})
    c.ask("GET", "/v1/groups?state=queued,dispatching&name=g&limit=1", 200)
    c.ask("GET", "/v1/groups/g", 200)
    c.ask("GET", "/v1/groups/g/why", 200)
    c.ask("GET", "/v1/groups/g/jobs?state=pending,schedulable,eligible,dispatched&limit=1", 200)
    c.ask("GET", "/v1/groups/g/jobs/a", 200)
    c.ask("GET", "/v1/groups/g/jobs/nobody", 404)
    c.ask("GET", "/v1/groups/g/graph", 200)
    c.ask("GET", "/v1/groups/g/left-out", 200)
    c.ask("DELETE", "/v1/groups/g", 409)
    c.ask("POST", "/v1/groups/g/retry", 409, json={"what": "failed"})
    c.ask("POST", "/v1/groups/g/fail", 404, json={"job": "nobody", "reason": "it cannot be built"})
    c.ask("POST", "/v1/groups/g/cancel", 200, json={"reason": "enough"})
    c.ask("POST", "/v1/groups/g/fail", 400, json={"job": "a"})
    wait_until(lambda: c.ask("GET", "/v1/groups/g", 200).json()["state"] == "canceled", what="it is canceled")
    c.ask("GET", "/v1/groups/g/stream", 200)
    c.ask("POST", "/v1/groups/g/retry", 201, json={"what": "failed", "name": "again"})
    c.ask("DELETE", "/v1/groups/g", 204)
    c.ask("GET", "/v1/groups/g", 404)


def ask_graphs(c):
    file = {"packages": [{"ident": "o/a/1/1", "runtime": ["o/b"]}, {"ident": "o/b/1/1", "build": ["o/x"]}]}
    c.ask("PUT", "/v1/graphs/g/packages", 201, json=file)
    c.ask("PUT", "/v1/graphs/g/packages", 200, json=file)
    c.ask("PUT", "/v1/graphs/g/packages", 412, json=file, headers={"If-None-Match": "*"})
    c.ask("POST", "/v1/graphs/g/packages", 200, json={"packages": [{"ident": "o/c/1/1"}]})
    c.ask("POST", "/v1/graphs/g/packages", 409, json={"packages": [{"ident": "o/b/2/1", "runtime": ["o/a"]}]})
    c.ask("PATCH", "/v1/graphs/g/packages", 200, json={"unbuildable": [{"package": "o/b", "reason": "r"}], "remove": ["o/c"]})
    c.ask("GET", "/v1/graphs", 200)
    c.ask("GET", "/v1/graphs/g", 200)
    c.ask("GET", "/v1/graphs/g", 304, headers={"If-None-Match": '"4"'})
    c.ask("GET", "/v1/graphs/g/packages?name=o/&limit=1", 200)
    c.ask("GET", "/v1/graphs/g/package?name=o/b", 200)
    c.ask("GET", "/v1/graphs/g/check", 200)
    c.ask("DELETE", "/v1/graphs/g", 204)
    c.ask("GET", "/v1/graphs/g", 404)


def ask_domains(c):
    c.ask("POST", "/v1/domains", 201, json={"name": "d", "ttl": "2m"})
    c.ask("POST", "/v1/domains", 409, json={"name": "d"})
    c.ask("GET", "/v1/domains?name=d", 200)
    c.ask("GET", "/v1/domains/d", 200)
    c.ask("PUT", "/v1/domains/e", 201, json={})
    c.ask("PATCH", "/v1/domains/d", 200, json={"ttl": None})
    c.ask("PATCH", "/v1/domains/d", 400, json={"ttl": -1})
    c.ask("POST", "/v1/domains/d/fresh", 200)
    c.ask("POST", "/v1/domains/d/stale", 200)
    c.ask("DELETE", "/v1/domains/d", 204)
    c.ask("GET", "/v1/domains/d", 404)


def ask_services(c):
    made = {"name": "web", "instances": 1, "domain": "e", "task": {"command": ["sleep", "1000"]}, "routes": [{"host": "h"}]}
    c.ask("POST", "/v1/services?dry_run=true", 200, json=made)
    c.ask("POST", "/v1/services", 201, json=made)
    c.ask("POST", "/v1/services", 409, json=made)
    c.ask("POST", "/v1/services", 400, json={**made, "name": "x", "instances": -1})
    c.ask("GET", "/v1/services?domain=e&name=w&full=true", 200)
    wait_until(lambda: c.api.get("/v1/services/web/instances/0")["ready"], what="it is ready")
    c.ask("GET", "/v1/services/web", 200)
    c.ask("GET", "/v1/services/web/instances", 200)
    c.ask("GET", "/v1/services/web/instances/0", 200)
    c.ask("GET", "/v1/services/web/instances/7", 404)
    c.ask("GET", "/v1/services/web/why?index=0", 200)
    c.ask("PATCH", "/v1/services/web", 200, json={"annotation": "a"})
    c.ask("PATCH", "/v1/services/web", 412, json={"annotation": "b"}, headers={"If-Match": '"1"'})
    c.ask("PUT", "/v1/services/web", 200, json={"task": {"command": ["sleep", "2000"]}, "reason": "longer"})
    c.ask("GET", "/v1/services/web/revisions", 200)
    c.ask("GET", "/v1/services/web/diff?from=1&to=2", 200)
    c.ask("POST", "/v1/services/web/promote", 409)
    c.ask("POST", "/v1/services/web/deploy", 200, json={"revision": 1})
    c.ask("POST", "/v1/services/web/rollback", 200, json={"revision": 2})
    c.ask("POST", "/v1/services/web/restart", 200, json={"index": 0})
    c.ask("POST", "/v1/services/web/stop", 200, json={"index": 0})
    c.ask("GET", "/v1/routes?domain=e", 200)
    c.ask("GET", "/v1/routes/prometheus", 200)
    with c.api.session.get(c.api.url + "/v1/routes/stream", stream=True, timeout=PATIENCE) as r:
        assert r.headers["Content-Type"] in c.operation("GET", "/v1/routes/stream")["responses"]["200"]["content"]
    c.ask("DELETE", "/v1/services/web", 204)
    c.ask("DELETE", "/v1/domains/e", 204)
    wait_until(lambda: c.api.ask("GET", "/v1/services/web").status_code == 404, what="it has gone with its instance")


def ask_schedules(c):
    """All that there is about schedules."""
    made = {"name": "s", "crontab": "30 2 * * *", "time_zone": "Europe/Berlin", "max_shift": "1h",
            "task": {"queue": "q", "command": ["true"], "timeout": "5m", "labels": {"a": "b"}}}
    c.ask("POST", "/v1/schedules", 201, json=made)
    c.ask("POST", "/v1/schedules", 409, json=made)
    c.ask("POST", "/v1/schedules", 400, json={**made, "name": "t", "time_zone": "Nowhere/Land"})
    c.ask("POST", "/v1/schedules", 201, json={**made, "name": "t", "crontab": "* * 1 * Mon", "jitter": "1m", "start": "1h"})
    c.ask("POST", "/v1/schedules/preview", 200, json={"calendar": "*-*-* 02:30 Europe/Paris", "year": 2027})
    c.ask("GET", "/v1/schedules?full=true&state=active&queue=q&name=s", 200)
    c.ask("PATCH", "/v1/schedules/s", 200, json={"overlap": "queue"})
    c.ask("PATCH", "/v1/schedules/s", 412, json={"overlap": "queue"}, headers={"If-Match": '"1"'})
    c.ask("POST", "/v1/schedules/s/run", 201)
    c.ask("POST", "/v1/schedules/s/backfill", 200, json={"from": "3d"})
    c.ask("GET", "/v1/schedules/s/history?limit=2", 200)
    c.ask("GET", "/v1/schedules/s/next?n=2", 200)
    c.ask("POST", "/v1/schedules/s/pause", 200, json={"reason": "test", "until": "1h"})
    c.ask("GET", "/v1/schedules/s", 200)
    c.ask("POST", "/v1/schedules/s/resume", 200)
    c.ask("GET", "/v1/tasks?schedule=s", 200)
    for name in "st":
        c.ask("DELETE", f"/v1/schedules/{name}", 204)
    c.api.post("/v1/tasks/actions/cancel", {"filter": {"queue": "q"}})
    wait_until(lambda: c.api.get("/v1/tasks/summary?queue=q")["live"] == 0, what="the schedule's tasks are over")


def test_every_route_keeps_its_contract(dev):
    c = Contract(Api(dev))
    worker = c.api.get("/v1/workers")["items"][0]["name"]
    c.ask("POST", "/v1/queues", 201, json={"name": "q", "threads": 5})
    c.ask("POST", "/v1/queues", 409, json={"name": "q"})
    c.ask("GET", "/v1/queues", 200)
    c.ask("GET", "/v1/queues/q", 200)
    c.ask("GET", "/v1/queues/q", 304, headers={"If-None-Match": '"1"'})
    c.ask("PATCH", "/v1/queues/q", 200, json={"threads": None})
    c.ask("PATCH", "/v1/queues/q", 412, json={"threads": 1}, headers={"If-Match": '"1"'})
    c.ask("POST", "/v1/queues/q/pause", 200, json={"reason": "test", "until": "1h"})
    c.ask("GET", "/v1/queues/q", 200)
    c.ask("POST", "/v1/queues/q/resume", 200)
    ask_schedules(c)
    ask_graphs(c)
    ask_domains(c)
    ask_services(c)
    c.ask("POST", "/v1/tasks", 201, json={"command": ["true"], "run_after": "1h", "key": "k", "status": -10})
    c.ask("POST", "/v1/tasks", 200, json={"command": ["true"], "key": "k"})
    task = c.ask("POST", "/v1/tasks", 201, json={"queue": "q", "command": ["echo", "x"], "labels": {"a": "b"}}).json()["id"]
    c.api.ended(task)
    many = c.api.ask("POST", "/v1/tasks", data='{"command":["true"],"status":-10}\n{}\n',
                     headers={"Content-Type": "application/x-ndjson"})
    schema = c.operation("POST", "/v1/tasks")["responses"]["200"]["content"]["application/json"]["schema"]
    c.validate(many.json(), schema)
    held = many.json()["ids"][0]
    c.ask("GET", "/v1/batches", 200)
    c.ask("GET", f"/v1/batches/{many.json()['batch']}", 200)
    c.ask("GET", "/v1/batches/nobody", 404)
    ask_groups(c)
    fed = c.ask("POST", "/v1/tasks", 201, json={"command": ["cat"], "stdin": "stream"}).json()["id"]
    c.ask("POST", f"/v1/tasks/{fed}/input?offset=0&end=true", 200, data=b"x\n",
          headers={"Content-Type": "application/octet-stream"})
    c.api.ended(fed)
    c.ask("GET", f"/v1/tasks/{task}", 200)
    c.ask("GET", f"/v1/tasks/{task}?wait=1s", 200)
    c.ask("GET", f"/v1/tasks/{task[:18]}fffff0", 404)
    c.ask("GET", "/v1/tasks?limit=1&full=true", 200)
    c.ask("GET", "/v1/tasks?limit=0", 400)
    c.ask("GET", "/v1/tasks/summary?state=held", 200)
    c.ask("PATCH", f"/v1/tasks/{held}", 200, json={"priority": 4})
    c.ask("GET", f"/v1/tasks/{held}/why", 200)
    c.ask("GET", f"/v1/tasks/{held}/history", 200)
    c.ask("POST", f"/v1/tasks/{held}/cancel", 200, json={"reason": "enough"})
    c.ask("POST", f"/v1/tasks/{held}/cancel", 409, json={"reason": "enough"})
    c.ask("POST", f"/v1/tasks/{held}/retry", 200, json={})
    c.ask("GET", f"/v1/tasks/{task}/logs", 200)
    for action in ("hold", "release", "cancel", "retry"):
        c.ask("POST", f"/v1/tasks/actions/{action}", 200, json={"filter": {"state": ["orphaned"]}})
        c.ask("POST", f"/v1/tasks/actions/{action}", 200, json={"ids": [task], "dry_run": True})
    c.ask("GET", "/v1/workers", 200)
    c.ask("GET", f"/v1/workers/{worker}", 200)
    c.ask("PATCH", f"/v1/workers/{worker}", 200, json={"maxthreads": "worker"})
    c.ask("PATCH", f"/v1/workers/{worker}", 200, json={"maxthreads": None})
    c.ask("DELETE", f"/v1/workers/{worker}", 409)
    for action in ("stop", "restart"):
        c.ask("POST", f"/v1/workers/nobody/{action}", 404)
    head = c.ask("GET", "/v1/audit/verify", 200).json()["head"]
    c.ask("GET", f"/v1/audit/verify?expect={head}", 200)
    c.ask("GET", f"/v1/audit/verify?expect={head[:-1]}{int(head[-1] == '0')}", 200)  # another hash: a fault
    c.ask("GET", "/v1/audit/verify?expect=1:2", 400)
    c.ask("POST", "/v1/tokens", 201, json={"name": "t", "role": "submit", "queues": ["q"], "labels": {"k": "v"}, "expires": "1d"})
    c.ask("GET", "/v1/tokens", 200)
    c.ask("GET", "/v1/tokens/t", 200)
    c.ask("DELETE", "/v1/tokens/t", 204)
    c.ask("GET", "/v1/events", 200)
    with c.api.session.get(c.api.url + "/v1/events", headers={"Accept": "text/event-stream"}, stream=True,
                           timeout=PATIENCE) as r:
        assert r.headers["Content-Type"] in c.operation("GET", "/v1/events")["responses"]["200"]["content"]
    for path in ("/v1/status", "/", "/healthz", "/readyz", "/metrics", "/openapi.json"):
        c.ask("GET", path, 200)
    wait_until(lambda: c.api.get("/v1/queues/q")["counts"]["queued"] == 0, what="the queue is empty")
    c.ask("DELETE", "/v1/queues/q", 204)
    c.ask("POST", f"/v1/workers/{worker}/drain", 200, json={"reason": "new disk"})
    c.ask("POST", f"/v1/workers/{worker}/undrain", 200)
    c.ask("POST", f"/v1/workers/{worker}/stop", 200)
    assert c.used == {(m, path) for m, path, _ in c.patterns}, "a route was not used"
