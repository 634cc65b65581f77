# SPDX-License-Identifier: Apache-2.0
"""Queues and workers over REST, with their versions and preconditions."""
import pytest
from client import Api
from harness import wait_until


def test_create_and_get(api):
    response = api.ask("POST", "/v1/queues", json={
        "name": "images", "plugin": "thumb", "threads": 3, "order": "priority", "timeout": "5m", "max_attempts": 4,
        "backoff": "2s", "backoff_max": "1h", "exit_codes": True, "env": {"A": "1"}, "output": "chunks",
        "output_max": 1000})
    assert response.status_code == 201
    queue = response.json()
    expected = {"name": "images", "plugin": "thumb", "threads": 3, "order": "priority", "timeout_ms": 300000,
                "max_attempts": 4, "backoff_ms": 2000, "backoff_max_ms": 3600000, "exit_codes": True,
                "env": {"A": "1"}, "output": "chunks", "output_max": 1000, "paused": False, "version": 1}
    assert {k: queue[k] for k in expected} == expected
    assert api.get("/v1/queues/images") == queue
    assert api.get("/v1/queues/" + queue["id"]) == queue
    assert api.get("/v1/queues")["items"] == [queue]
    assert api.queue("plain")["threads"] is None


def test_same_name_is_a_conflict(api):
    first = api.queue("one")
    problem = api.refused("POST", "/v1/queues", 409, "conflict", json={"name": "one"})
    assert "one" in problem["detail"] or first["id"] in problem["detail"]
    api.queue("two")
    api.refused("PATCH", "/v1/queues/two", 409, "conflict", json={"name": "one"})


@pytest.mark.parametrize("body, field", [
    ({}, "name"), ({"name": ""}, "name"), ({"name": 7}, "name"), ({"name": "x" * 129}, "name"),
    ({"name": "a\nb"}, "name"), ({"name": "a/b"}, "name"), ({"name": "q", "threads": -1}, "threads"),
    ({"name": "q", "threads": 1.5}, "threads"), ({"name": "q", "threads": 10**12}, "threads"),
    ({"name": "q", "order": "random"}, "order"), ({"name": "q", "timeout": "-1s"}, "timeout"),
    ({"name": "q", "timeout": "soon"}, "timeout"), ({"name": "q", "max_attempts": 0}, "max_attempts"),
    ({"name": "q", "max_attempts": 1001}, "max_attempts"), ({"name": "q", "backoff": True}, "backoff"),
    ({"name": "q", "exit_codes": "yes"}, "exit_codes"), ({"name": "q", "env": {"A": 1}}, "env"),
    ({"name": "q", "env": {"A=B": "1"}}, "env"), ({"name": "q", "output": "gfs"}, "output"),
    ({"name": "q", "output_max": -5}, "output_max"), ({"name": "q", "treads": 1}, "treads"),
    ({"name": "q", "plugin": ""}, "plugin"), ({"name": "q", "version": 3}, "version"),
])
def test_bad_queues(shared, body, field):
    problem = shared.refused("POST", "/v1/queues", 400, "invalid", json=body)
    assert problem["field"].startswith(field), problem
    assert shared.get("/v1/queues")["items"] == []


@pytest.fixture(scope="module")
def shared(module_cluster):
    return Api(module_cluster("server"))


def test_patch_and_versions(api):
    api.queue("q")
    first = api.ask("GET", "/v1/queues/q")
    tag = first.headers["ETag"]
    assert tag == '"1"'
    assert api.ask("GET", "/v1/queues/q", headers={"If-None-Match": tag}).status_code == 304
    assert api.ask("GET", "/v1/queues/q", headers={"If-None-Match": "*"}).status_code == 304
    assert api.ask("GET", "/v1/queues/q", headers={"If-None-Match": '"7", "8"'}).status_code == 200
    changed = api.ask("PATCH", "/v1/queues/q", json={"threads": 0, "name": "r"}, headers={"If-Match": tag})
    assert changed.status_code == 200 and changed.json()["version"] == 2 and changed.json()["threads"] == 0
    assert api.ask("GET", "/v1/queues/r", headers={"If-None-Match": tag}).headers["ETag"] == '"2"'
    for method, path, body in (("PATCH", "", {"threads": 9}), ("POST", "/pause", {}), ("POST", "/resume", {}),
                               ("DELETE", "", None)):
        api.refused(method, "/v1/queues/r" + path, 412, "precondition-failed", json=body, headers={"If-Match": tag})
    assert api.patch("/v1/queues/r", {"threads": None}, headers={"If-Match": "*"})["threads"] is None
    api.refused("GET", "/v1/queues/q", 404, "not-found")
    api.refused("PATCH", "/v1/queues/r", 400, "invalid", "threads", json={"threads": "many"})
    api.refused("PATCH", "/v1/queues/r", 400, "invalid", json={})


def test_pause_and_resume(live):
    live.queue("q")
    paused = live.post("/v1/queues/q/pause", {"reason": "moving house"})
    assert paused["paused"] and paused["pause_reason"] == "moving house" and paused["paused_until"] is None
    task = live.submit(queue="q")["id"]
    assert "moving house" in str(live.get(f"/v1/tasks/{task}/why"))
    assert not live.post("/v1/queues/q/resume")["paused"]
    assert live.ended(task)["state"] == "succeeded"
    soon = live.post("/v1/queues/q/pause", {"until": "300ms"})
    assert soon["paused_until"]
    assert live.ended(live.submit(queue="q")["id"])["state"] == "succeeded", "it resumes by itself"
    assert live.ok("POST", "/v1/queues/q/pause")["paused"]  # no body at all
    assert not live.ok("POST", "/v1/queues/q/resume")["paused"]
    live.refused("POST", "/v1/queues/q/pause", 400, "invalid", "until", json={"until": "later"})
    live.refused("POST", "/v1/queues/q/pause", 400, "invalid", "reason", json={"reason": "x" * 600})
    live.refused("POST", "/v1/queues/nowhere/pause", 404, "not-found", json={})
    live.refused("POST", "/v1/queues/nowhere/resume", 404, "not-found", json={})


def test_delete(live):
    live.queue("q")
    task = live.submit("sleep", "600", queue="q")["id"]
    waiting = live.submit(queue="q", run_after="1h")["id"]
    live.reaches(task, "running")
    live.refused("DELETE", "/v1/queues/q", 409, "conflict")
    live.refused("DELETE", "/v1/queues/q?force=true", 409, "conflict")
    live.refused("DELETE", "/v1/queues/q?force=perhaps", 400, "invalid", "force")
    live.post(f"/v1/tasks/{task}/cancel")
    live.ended(task)
    live.refused("DELETE", "/v1/queues/q", 409, "conflict")
    live.delete("/v1/queues/q?force=true")
    live.refused("GET", "/v1/queues/q", 404, "not-found")
    live.refused("GET", f"/v1/tasks/{waiting}", 404, "not-found")
    live.refused("DELETE", "/v1/queues/q", 404, "not-found")
    live.refused("POST", "/v1/tasks", 404, "not-found", "queue", json={"command": ["true"], "queue": "q"})


def test_queue_hints_at_the_nearest_name(api):
    api.queue("pictures")
    api.refused("GET", "/v1/queues/picturse", 404, "not-found", hint="pictures")
    api.refused("POST", "/v1/tasks", 404, "not-found", "queue", hint="pictures",
                json={"command": ["true"], "queue": "picturse"})


def test_pages_of_queues(api):
    names = {f"q{n:02d}" for n in range(25)}
    for name in names:
        api.queue(name)
    pages = api.pages("/v1/queues", 10)
    assert len(pages) >= 3
    listed = [q["name"] for page in pages for q in page]
    assert len(listed) == 25 and set(listed) == names
    api.refused("GET", "/v1/queues?limit=0", 400, "invalid", "limit")
    api.refused("GET", "/v1/queues?cursor=!", 400, "invalid", "cursor")


def test_queue_with_a_name_to_be_escaped(api):
    api.queue("a b+c%é")
    assert api.get("/v1/queues/a%20b%2Bc%25%C3%A9")["name"] == "a b+c%é"
    assert api.submit(queue="a b+c%é")["queue"] == "a b+c%é"
    assert len(api.get("/v1/tasks?queue=a+b%2Bc%25%C3%A9")["items"]) == 1


def test_counts(live):
    live.queue("q", threads=1)
    for code in (0, 0, 1):
        live.ended(live.submit("sh", "-c", f"exit {code}", queue="q")["id"])
    live.submit(queue="q", status=-10)
    running = live.submit("sleep", "600", queue="q")["id"]
    live.reaches(running, "running")
    live.submit(queue="q")
    live.submit(queue="q", run_after="1h")
    queue = live.get("/v1/queues/q")
    counts = queue["counts"]
    assert (counts["succeeded"], counts["failed"], counts["held"], counts["running"], counts["delayed"]) \
        == (2, 1, 1, 1, 1), counts
    assert queue["oldest_ms"] is not None and queue["workers"] == 1
    live.post(f"/v1/tasks/{running}/cancel")


# -- workers

def test_worker_is_shown(server):
    server.start_worker("--zone", "z1", "--target", "t1", "--label", "gpu=a100", "--maxthreads", "3",
                        "--ignorequeues", "slow")
    api = Api(server)
    wait_until(lambda: api.get("/v1/workers/w1")["state"] == "healthy", what="it passed its first healthcheck")
    worker = api.get("/v1/workers/w1")
    expected = {"name": "w1", "state": "healthy", "connected": True, "why_unhealthy": None, "unsure": 0, "lost_in_ms": None,
                "zone": "z1", "target": "t1", "labels": {"gpu": "a100"},
                "maxthreads": 3, "maxthreads_set": False, "plugins": ["command"], "ignorequeues": ["slow"],
                "activequeues": [], "running": 0}
    assert {k: worker[k] for k in expected} == expected
    assert worker["check_age_ms"] >= 0 and worker["set"]["joined"] >= 1 and worker["set"]["batched"] is False
    assert [w["name"] for w in api.get("/v1/workers?state=healthy")["items"]] == ["w1"]
    assert api.get("/v1/workers?state=unhealthy,must_die")["items"] == []
    api.refused("GET", "/v1/workers?state=connected", 400, "invalid", "state")
    assert api.get("/v1/workers/" + worker["id"])["name"] == "w1"
    assert [w["name"] for w in api.get("/v1/workers")["items"]] == ["w1"]
    api.refused("GET", "/v1/workers/w2", 404, "not-found")


def test_worker_is_set(server):
    server.start_worker("--maxthreads", "3")
    api = Api(server)
    tag = api.ask("GET", "/v1/workers/w1").headers["ETag"]
    assert api.ask("GET", "/v1/workers/w1", headers={"If-None-Match": tag}).status_code == 304
    worker = api.patch("/v1/workers/w1", {"maxthreads": 1}, headers={"If-Match": tag})
    assert (worker["maxthreads"], worker["maxthreads_set"]) == (1, True)
    api.refused("PATCH", "/v1/workers/w1", 412, "precondition-failed", json={"maxthreads": 2}, headers={"If-Match": tag})
    assert api.patch("/v1/workers/w1", {"maxthreads": None})["maxthreads"] is None
    worker = api.patch("/v1/workers/w1", {"maxthreads": "worker"})
    assert (worker["maxthreads"], worker["maxthreads_set"]) == (3, False)
    for body in ({"maxthreads": -2}, {"maxthreads": "all"}, {"maxthreads": 1.5}, {"maxthreads": 10**9}):
        api.refused("PATCH", "/v1/workers/w1", 400, "invalid", "maxthreads", json=body)
    api.refused("PATCH", "/v1/workers/w1", 400, "invalid", "zone", json={"zone": "x"})
    api.refused("PATCH", "/v1/workers/nobody", 404, "not-found", json={"maxthreads": 1})


def test_worker_is_forgotten(server):
    worker = server.start_worker()
    api = Api(server)
    api.refused("DELETE", "/v1/workers/w1", 409, "conflict")
    worker.stop()
    wait_until(lambda: not api.get("/v1/workers/w1")["connected"], what="the worker is away")
    api.delete("/v1/workers/w1")
    api.refused("GET", "/v1/workers/w1", 404, "not-found")
    api.refused("DELETE", "/v1/workers/w1?lost=true", 404, "not-found")


def test_lost_worker_orphans_or_retries(server):
    worker = server.start_worker("--maxthreads", "4")
    api = Api(server)
    once = api.submit("sleep", "600")["id"]
    more = api.submit("sleep", "600", max_attempts=2, backoff="0s")["id"]
    api.reaches(once, "running")
    api.reaches(more, "running")
    worker.kill9()
    wait_until(lambda: not api.get("/v1/workers/w1")["connected"], what="the worker is away")
    assert api.task(once)["state"] == "running", "unsure is not over"
    waits = api.get("/v1/status")["waiting"]
    assert [(w["code"], w["worker"], w["tasks"]) for w in waits if w["code"] == "worker-word"] == [("worker-word", "w1", 2)]
    assert all(w["in_ms"] > 0 and w["until"] and w["text"] for w in waits)
    said = server.cli("status").out
    assert "waiting  for" in said and "w1" in said and "until 20" in said
    api.delete("/v1/workers/w1?lost=true")
    assert api.reaches(once, "orphaned")["status"] == -6
    assert api.reaches(more, "queued")["attempts"][0]["state"] == "orphaned"


def test_worker_is_stopped_and_restarted(server):
    worker = server.start_worker()
    api = Api(server)
    api.refused("POST", "/v1/workers/nobody/stop", 404, "not-found")
    first = api.get("/v1/workers/w1")["instance"]
    assert api.post("/v1/workers/w1/restart")["name"] == "w1"
    wait_until(lambda: api.get("/v1/workers/w1")["instance"] != first and api.get("/v1/workers/w1")["connected"],
               what="it came back as a new instance")
    assert api.ended(api.submit()["id"])["state"] == "succeeded"
    assert "was told to stop" in server.cli("worker", "stop", "w1").out
    wait_until(lambda: not worker.running, what="it left")
    wait_until(lambda: not api.get("/v1/workers/w1")["connected"], what="the server noticed")
    api.refused("POST", "/v1/workers/w1/stop", 409, "conflict")
    assert server.cli("worker", "restart", "w1", check=False).code == 1
