# SPDX-License-Identifier: Apache-2.0
"""Tasks over REST: submitted, listed, changed, explained, as docs/API.md says."""
import concurrent.futures
import json
import re
import time

import pytest
from client import NDJSON, Api, check_problem
from harness import PATIENCE, wait_until

ID = re.compile(r"^[0-9a-f]{24}$")
TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")



def foreign(task_id):
    """An id of the right shape, made by another installation."""
    other = "%010x" % (int(task_id[8:18], 16) ^ 1)
    return task_id[:8] + other + task_id[18:]


def unknown(task_id):
    """An id of this installation that was never given out."""
    return task_id[:18] + "fffff0"


# -- submit

def test_submit_one(api):
    response = api.ask("POST", "/v1/tasks", json={
        "command": ["sh", "-c", "exit 0"], "env": {"A": "b"}, "cwd": "/tmp", "priority": 5, "timeout": "90s",
        "max_attempts": 3, "backoff": "250ms", "backoff_max": "PT1H", "key": "k1", "labels": {"team": "x"}})
    assert response.status_code == 201
    task = response.json()
    assert ID.match(task["id"])
    assert response.headers["Location"] == "/v1/tasks/" + task["id"]
    expected = {"queue": "default", "state": "queued", "status": -2, "command": ["sh", "-c", "exit 0"],
                "env": {"A": "b"}, "cwd": "/tmp", "priority": 5, "timeout_ms": 90000, "max_attempts": 3,
                "backoff_ms": 250, "backoff_max_ms": 3600000, "key": "k1", "labels": {"team": "x"},
                "attempt": 0, "attempts": [], "worker": None, "started": None, "cancelling": False}
    assert {k: task[k] for k in expected} == expected
    assert TIME.match(task["ctime"])
    assert api.task(task["id"]) == task


def test_a_whole_life(live):
    task = live.submit("sh", "-c", "echo out; echo err >&2; exit 3")
    task = live.ended(task["id"])
    assert (task["state"], task["status"], task["exit_code"], task["signal"]) == ("failed", 2, 3, None)
    assert (task["stdout"], task["stderr"]) == ("out\n", "err\n")
    assert (task["stdout_bytes"], task["stderr_bytes"], task["output"]) == (4, 4, "inline")
    assert task["ctime"] <= task["claimed"] <= task["started"] <= task["ended"]
    (attempt,) = task["attempts"]
    assert (attempt["attempt"], attempt["status"], attempt["exit_code"]) == (1, 2, 3)
    assert attempt["worker_id"] == task["worker_id"] and task["worker"]


def test_run_after_and_held(live):
    later = live.submit(run_after="1h")
    held = live.submit(status=-10)
    assert later["state"] == "queued" and later["due"] == later["run_after"]
    assert held["state"] == "held"
    assert live.ended(live.submit()["id"])["state"] == "succeeded"
    assert live.task(later["id"])["state"] == "queued"
    assert live.task(held["id"])["state"] == "held"
    assert live.get("/v1/queues/default")["counts"]["delayed"] == 1
    live.patch(f"/v1/tasks/{held['id']}", {"status": -2})
    assert live.ended(held["id"])["state"] == "succeeded"


def test_twin_by_unique_key(api):
    first = api.submit(key="only-one")
    twin = api.submit(key="only-one", expect=200)
    assert twin["id"] == first["id"] and twin["duplicate"] is True
    api.post(f"/v1/tasks/{first['id']}/cancel")
    assert api.submit(key="other")["id"] != first["id"]


def test_array_and_ndjson(api):
    many = api.post("/v1/tasks", [{"command": ["true"]}, {"command": 7}, {"command": ["true"]}])
    assert (many["accepted"], many["rejected"], many["duplicates"]) == (2, 1, 0)
    assert many["ids"][1] is None and ID.match(many["ids"][0])
    assert [e["line"] for e in many["errors"]] == [2]
    many = api.submit_many([{"command": ["true"], "key": "a"}, "\n", {"command": ["true"], "key": "a"},
                            "{nonsense\n", {"comand": ["true"]}, {"command": ["true"], "queue": "nowhere"}])
    assert (many["accepted"], many["rejected"], many["duplicates"]) == (1, 3, 1)
    assert many["ids"][0] == many["ids"][1] and many["ids"][2:] == [None] * 3, "blank lines have no entry"
    assert [e["line"] for e in many["errors"]] == [4, 5, 6]
    assert many["errors"][1]["field"] == "comand" and "command" in many["errors"][1]["hint"]
    assert many["errors"][2]["type"] == "urn:reeve:error:not-found"
    more = api.submit_many([{"command": ["true"]}], f"?batch={many['batch']}")
    assert more["batch"] == many["batch"]
    listed = {t["id"] for t in api.get(f"/v1/tasks?batch={many['batch']}")["items"]}
    assert listed == {many["ids"][0], more["ids"][0]}


def test_atomic_takes_all_or_none(api):
    lines = [{"command": ["true"]}, {"command": "true"}]
    data = "".join(json.dumps(x) + "\n" for x in lines)
    problem = api.refused("POST", "/v1/tasks?atomic=true", 400, "invalid", data=data, headers=NDJSON)
    assert [e["line"] for e in problem["errors"]] == [2]
    assert api.get("/v1/tasks/summary")["total"] == 0
    assert api.submit_many([lines[0], lines[0]], "?atomic=true")["accepted"] == 2


def test_hundred_thousand_in_one_request(api):
    line = json.dumps({"command": ["true"]}) + "\n"
    data = line * 99_998 + '{"command":1}\n' + line
    many = api.ok("POST", "/v1/tasks", data=data, headers=NDJSON, timeout=PATIENCE)
    assert (many["accepted"], many["rejected"]) == (99_999, 1)
    assert [e["line"] for e in many["errors"]] == [99_999]
    assert len(set(many["ids"])) == 100_000
    assert api.get(f"/v1/tasks/summary?batch={many['batch']}")["total"] == 99_999
    api.refused("POST", "/v1/tasks", 413, "too-large", hint="batch", data=data + line, headers=NDJSON, timeout=PATIENCE)


# -- lists

def test_pages_have_no_gaps_and_no_repeats(api):
    ids = api.submit_many([{"command": ["true"]}] * 70)["ids"]
    for order, expected in (("desc", ids[::-1]), ("asc", ids)):
        pages = api.pages(f"/v1/tasks?order={order}", 30)
        assert len(pages) >= 3
        assert [t["id"] for page in pages for t in page] == expected


def test_pages_stay_right_while_tasks_arrive(api):
    ids = api.submit_many([{"command": ["true"]}] * 30)["ids"]
    first = api.get("/v1/tasks?limit=10")
    new = api.submit_many([{"command": ["true"]}] * 5)["ids"]
    seen, page = first["items"], first
    while page["next"]:
        page = api.get(f"/v1/tasks?limit=10&cursor={page['next']}")
        seen += page["items"]
    assert [t["id"] for t in seen] == ids[::-1]
    assert not {t["id"] for t in seen} & set(new)


def test_filters(api):
    api.queue("a")
    api.queue("b")
    one = api.submit(queue="a", labels={"team": "x", "tier": "1"})["id"]
    two = api.submit(queue="b", labels={"team": "x"})["id"]
    three = api.submit(queue="b", status=-10)["id"]
    api.post(f"/v1/tasks/{one}/cancel")
    batch = api.submit_many([{"command": ["true"], "queue": "a"}] * 2)
    four, five = batch["ids"]
    api.post(f"/v1/tasks/{five}/cancel")
    assert api.submit_many([{"command": 1}])["batch"] is None
    cases = {
        "queue=a": {one, four, five}, "queue=b": {two, three}, "state=cancelled": {one, five}, "state=-5": {one, five},
        "state=held": {three}, "state=-10": {three}, "state=queued,held": {two, three, four},
        "state=queued&state=cancelled": {one, two, four, five}, "label=team=x": {one, two},
        "label=team=x&label=tier=1": {one}, "label=team=y": set(), f"batch={batch['batch']}": {four, five},
        "since=1h": {one, two, three, four, five}, "until=1h": set(), "queue=b&state=queued": {two},
        "since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z": {one, two, three, four, five},
        "since=2100-01-01T00:00:00Z": set(),
    }
    for query, expected in cases.items():
        assert {t["id"] for t in api.get("/v1/tasks?" + query)["items"]} == expected, query
        assert api.get("/v1/tasks/summary?" + query)["total"] == len(expected), query
    queue_id = api.get("/v1/queues/a")["id"]
    assert {t["id"] for t in api.get(f"/v1/tasks?queue={queue_id}")["items"]} == {one, four, five}


def test_filter_by_time_and_worker(live):
    """Ids carry their second, and that is how finely times are told apart."""
    first = live.ended(live.submit()["id"])

    def in_another_second():
        task = live.submit()
        return task if task["ctime"][:19] > first["ctime"][:19] else None

    second = wait_until(in_another_second, what="the clock goes on", every=0.2)
    middle = second["ctime"][:19] + "Z"
    since = {t["id"] for t in live.get(f"/v1/tasks?since={middle}")["items"]}
    assert second["id"] in since and first["id"] not in since
    until = {t["id"] for t in live.get(f"/v1/tasks?until={middle}")["items"]}
    assert first["id"] in until and second["id"] not in until
    live.ended(second["id"])
    by_worker = {t["id"] for t in live.get(f"/v1/tasks?worker={first['worker']}")["items"]}
    assert {first["id"], second["id"]} <= by_worker
    live.refused("GET", "/v1/tasks?worker=nobody", 404, "not-found", "worker")


def test_lists_are_short_unless_full(live):
    live.ended(live.submit("echo", "x")["id"])
    (short,) = live.get("/v1/tasks")["items"]
    assert not {"command", "params", "env", "attempts", "stdout", "stderr"} & set(short)
    (full,) = live.get("/v1/tasks?full=true")["items"]
    assert full["command"] == ["echo", "x"] and full["stdout"] == "x\n" and full["attempts"]


def test_summary(live):
    for code in (0, 0, 1):
        live.ended(live.submit("sh", "-c", f"exit {code}")["id"])
    live.submit(status=-10)
    summary = live.get("/v1/tasks/summary")
    assert summary == {"total": 4, "states": {"succeeded": 2, "failed": 1, "held": 1}, "done": 3, "live": 1}


@pytest.mark.parametrize("query, field, hint", [
    ("limit=0", "limit", None), ("limit=-1", "limit", None), ("limit=1001", "limit", None),
    ("limit=many", "limit", None), ("limit=99999999999999999999", "limit", None), ("limt=3", "limt", "limit"),
    ("cursor=garbage", "cursor", None), ("cursor=", "cursor", None), ("state=faild", "state", "failed"),
    ("label=x", "label", None), ("batch=7", "batch", None), ("since=yesterday", "since", None),
    ("until=-5", "until", None), ("order=up", "order", None), ("full=maybe", "full", None),
    ("limit=1&limit=2", "limit", None), ("queue=nowhere", "queue", None), ("state=", "state", None),
])
def test_bad_queries(shared, query, field, hint):
    problem = shared.ask("GET", "/v1/tasks?" + query)
    name = {400: "invalid", 404: "not-found"}[problem.status_code]
    check_problem(problem, problem.status_code, name, field, hint)


@pytest.fixture(scope="module")
def shared(module_cluster):
    """For questions that change nothing: one server for all of them."""
    return Api(module_cluster("server"))


# -- one task

def test_unknown_ids(api):
    known = api.submit()["id"]
    for method, path, body in (("GET", "", None), ("PATCH", "", {"priority": 1}), ("POST", "/cancel", {}),
                               ("POST", "/retry", {}), ("GET", "/why", None), ("GET", "/logs", None)):
        options = {} if body is None else {"json": body}
        for bad in (unknown(known), foreign(known), "nonsense", known[:-1], known + "0", "%ff"):
            api.refused(method, f"/v1/tasks/{bad}{path}", 404, "not-found", **options)
        api.refused(method, f"/v1/tasks/%00{path}", 400, "invalid", **options)
    assert "installation" in api.refused("GET", f"/v1/tasks/{foreign(known)}", 404, "not-found")["detail"]


def test_ids_in_capitals_are_the_same_or_refused(api):
    known = api.submit()["id"]
    assert api.ask("GET", f"/v1/tasks/{known.upper()}").status_code in (200, 404)


def test_patch(api):
    task = api.submit()["id"]
    path = f"/v1/tasks/{task}"
    assert api.patch(path, {"priority": 9})["priority"] == 9
    assert api.patch(path, {"status": -10})["state"] == "held"
    assert api.patch(path, {"status": -2})["state"] == "queued"
    assert api.patch(path, {"status": -4})["state"] == "blocked"
    for body, field in (({"priority": 10_000_000}, "priority"), ({"priority": "high"}, "priority"),
                        ({"status": 1}, "status"), ({"status": None}, "status"), ({"prio": 1}, "prio")):
        api.refused("PATCH", path, 400, "invalid", field, json=body)
    api.refused("PATCH", path, 400, "invalid", json={})
    api.post(path + "/cancel")
    api.refused("PATCH", path, 409, "conflict", json={"status": -10})


def test_cancel_and_retry(live):
    running = live.submit("sleep", "600")["id"]
    live.reaches(running, "running")
    live.post(f"/v1/tasks/{running}/cancel", {"reason": "not needed"})
    task = live.ended(running)
    assert task["state"] in ("cancelled", "terminated")
    assert "not needed" in (task["reason"] or "")
    live.refused("POST", f"/v1/tasks/{running}/cancel", 409, "conflict", json={})
    again = live.post(f"/v1/tasks/{running}/retry")
    assert again["state"] in ("queued", "claimed", "running")
    live.reaches(running, "running")
    live.refused("POST", f"/v1/tasks/{running}/retry", 409, "conflict", json={})
    live.ok("POST", f"/v1/tasks/{running}/cancel")  # without a body at all
    assert len(live.ended(running)["attempts"]) == 2


def test_wait_answers_when_it_ended(live):
    live.queue("gate")
    live.post("/v1/queues/gate/pause")
    task = live.submit(queue="gate")["id"]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        waits = [pool.submit(Api.get, live, f"/v1/tasks/{task}?wait=60s") for _ in range(3)]
        live.post("/v1/queues/gate/resume")
        assert [w.result(PATIENCE)["state"] for w in waits] == ["succeeded"] * 3


def test_wait_ends_by_itself(api):
    task = api.submit()["id"]
    begun = time.monotonic()
    assert api.get(f"/v1/tasks/{task}?wait=300ms")["state"] == "queued"
    assert time.monotonic() - begun >= 0.29
    api.refused("GET", f"/v1/tasks/{task}?wait=soon", 400, "invalid", "wait")
    api.refused("GET", f"/v1/tasks/{task}?wait=-1", 400, "invalid", "wait")


def test_why_names_every_reason(api):
    api.queue("q", threads=0)
    api.post("/v1/queues/q/pause", {"reason": "audit"})
    task = api.submit(queue="q", run_after="1h")["id"]
    why = api.get(f"/v1/tasks/{task}/why")
    assert why["id"] == task and why["state"] == "queued" and why["summary"]
    text = json.dumps(why)
    assert len(why["reasons"]) >= 3 and "audit" in text
    assert len({r["code"] for r in why["reasons"]}) == len(why["reasons"])
    assert all(r["text"] for r in why["reasons"])
    api.post(f"/v1/tasks/{task}/cancel")
    assert api.get(f"/v1/tasks/{task}/why")["state"] == "cancelled"


def test_logs(live):
    task = live.submit("sh", "-c", "printf abcdef; printf 12345 >&2")["id"]
    live.ended(task)
    path = f"/v1/tasks/{task}/logs"
    response = live.ask("GET", path)
    assert response.headers["Content-Type"].startswith("text/plain")
    assert response.content == b"abcdef12345"
    assert live.ask("GET", path + "?stream=stdout").content == b"abcdef"
    assert live.ask("GET", path + "?stream=stderr").content == b"12345"
    assert live.ask("GET", path + "?stream=stdout&offset=4").content == b"ef"
    assert live.ask("GET", path + "?stream=stdout&offset=99").content == b""
    assert live.ask("GET", path + "?attempt=1&stream=stdout").content == b"abcdef"
    assert live.ask("GET", path + "?follow=true&stream=stdout").content == b"abcdef"
    for query, field in (("stream=stdin", "stream"), ("offset=-1&stream=stdout", "offset"), ("offset=1", "offset"),
                         ("follow=x", "follow"), ("attempt=0", "attempt")):
        live.refused("GET", f"{path}?{query}", 400, "invalid", field)
    assert live.ask("GET", path + "?attempt=9").status_code in (400, 404)


def test_logs_follow_ends_with_the_task(live, tmp_path):
    gate = tmp_path / "gate"
    task = live.submit("sh", "-c", f"echo first; until [ -e {gate} ]; do sleep 0.02; done; echo last")["id"]
    with live.session.get(live.url + f"/v1/tasks/{task}/logs?follow=true", stream=True, timeout=PATIENCE) as response:
        lines = response.iter_lines(chunk_size=1)
        assert next(lines) == b"first", "it comes while the task still runs"
        gate.touch()
        assert list(lines) == [b"last"]


# -- many at once

def test_bulk_actions(api):
    ids = [api.submit(labels={"n": str(n % 2)})["id"] for n in range(6)]
    act = "/v1/tasks/actions/"
    dry = api.post(act + "cancel", {"filter": {"label": ["n=0"]}, "dry_run": True})
    assert (dry["matched"], dry["changed"]) == (3, 0)
    assert api.get("/v1/tasks/summary?state=queued")["total"] == 6
    done = api.post(act + "hold", {"filter": {"label": ["n=0"], "state": ["queued"]}, "reason": "later"})
    assert (done["matched"], done["changed"], done["refused"]) == (3, 3, 0)
    assert api.get("/v1/tasks/summary")["states"] == {"queued": 3, "held": 3}
    assert api.post(act + "release", {"filter": {"state": "held"}})["changed"] == 3
    assert api.post(act + "cancel", {"ids": ids[:2]})["changed"] == 2
    mixed = api.post(act + "retry", {"ids": [ids[0], ids[5], unknown(ids[0])]})
    assert (mixed["matched"], mixed["changed"], mixed["refused"]) == (3, 1, 2), mixed
    assert len(mixed["errors"]) == 2 and all(e["type"] and e["detail"] for e in mixed["errors"])
    assert api.post(act + "cancel", {"filter": {}, "all": True})["changed"] == 5
    assert api.get("/v1/tasks/summary")["states"] == {"cancelled": 6}


def test_bulk_reaches_past_a_page(api):
    api.submit_many([{"command": ["true"]}] * 2500)
    assert api.post("/v1/tasks/actions/cancel", {"filter": {}, "all": True})["changed"] == 2500
    assert api.get("/v1/tasks/summary")["states"] == {"cancelled": 2500}


def test_bulk_asks_for_what_is_meant(api):
    known = api.submit()["id"]
    for body, field in (({}, None), ({"filter": {}}, None), ({"filter": {}, "ids": [known]}, None),
                        ({"filter": {"stat": "x"}}, "stat"), ({"filter": {"state": ["x"]}}, "state"),
                        ({"ids": "x"}, "ids"), ({"ids": [7]}, "ids"), ({"ids": [known], "dryrun": True}, "dryrun"),
                        ({"ids": [known], "dry_run": "yes"}, "dry_run"), ({"filter": {"queue": 3}}, None),
                        ({"filter": {"since": "soonish"}}, "since"), ([], None)):
        for action in ("cancel", "retry", "release", "hold"):
            problem = api.refused("POST", f"/v1/tasks/actions/{action}", 400, "invalid", json=body)
            assert field is None or problem.get("field", "").endswith(field), problem
    assert "all" in api.refused("POST", "/v1/tasks/actions/cancel", 400, "invalid", json={"filter": {}})["hint"]
    api.refused("POST", "/v1/tasks/actions/cancel", 404, "not-found", json={"filter": {"queue": "nowhere"}})
    api.refused("POST", "/v1/tasks/actions/explode", 404, "not-found", json={})
    assert api.task(known)["state"] == "queued"


# -- idempotency

def test_idempotency_key(server):
    api = Api(server)
    key = {"Idempotency-Key": "abc"}
    first = api.ask("POST", "/v1/tasks", json={"command": ["true"]}, headers=key)
    again = api.ask("POST", "/v1/tasks", json={"command": ["true"]}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert "Idempotent-Replay" not in first.headers
    assert again.headers["Idempotent-Replay"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["Location"] == first.headers["Location"]
    api.refused("POST", "/v1/tasks", 422, "idempotency-key-reused", json={"command": ["false"]}, headers=key)
    api.refused("POST", "/v1/queues", 422, "idempotency-key-reused", json={"name": "q"}, headers=key)
    for bad in ("", "x" * 257):
        api.refused("POST", "/v1/tasks", 400, "invalid", "Idempotency-Key", json={"command": ["true"]},
                    headers={"Idempotency-Key": bad})
    server.server.kill9()
    server.restart()
    api = Api(server)
    replay = api.ask("POST", "/v1/tasks", json={"command": ["true"]}, headers=key)
    assert replay.status_code == 201 and replay.headers["Idempotent-Replay"] == "true"
    assert replay.json()["id"] == first.json()["id"]
    api.refused("POST", "/v1/tasks", 422, "idempotency-key-reused", json={"command": ["x"]}, headers=key)
    assert api.get("/v1/tasks/summary")["total"] == 1


def test_idempotent_bulk_and_queue(server):
    api = Api(server)
    data = '{"command":["true"],"key":"u"}\n{"command":["true"],"key":"u"}\n{"command":5}\n{"command":["true"]}\n'

    def send():
        response = api.ask("POST", "/v1/tasks", data=data, headers={**NDJSON, "Idempotency-Key": "bulk"})
        assert response.status_code == 200
        return response

    first = send()
    server.server.kill9()
    server.restart()
    api = Api(server)
    again = send()
    assert again.headers["Idempotent-Replay"] == "true"
    assert again.json() == first.json()
    for replay in (False, True):
        made = api.ask("POST", "/v1/queues", json={"name": "q"}, headers={"Idempotency-Key": "queue"})
        assert made.status_code == 201 and made.json()["name"] == "q"
        assert ("Idempotent-Replay" in made.headers) is replay


def test_two_at_once_with_the_same_key(api):
    def send(n):
        return api.ask("POST", "/v1/tasks", json={"command": ["true"]}, headers={"Idempotency-Key": f"k{n}"})

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, [n // 8 for n in range(80)]))
    assert {a.status_code for a in answers} == {201}
    for n in range(10):
        group = answers[n * 8:n * 8 + 8]
        assert len({a.json()["id"] for a in group}) == 1
        assert sum("Idempotent-Replay" not in a.headers for a in group) == 1
    assert api.get("/v1/tasks/summary")["total"] == 10


