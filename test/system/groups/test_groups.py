# SPDX-License-Identifier: Apache-2.0
"""Groups over HTTP: jobs that need each other, submitted whole, looked at, cancelled, removed."""
import collections
import json
import os
import threading

import pytest
from client import Api
from harness import ROOT, wait_until
from jobs import ended, job, submit

RELEASE = os.environ.get("REEVE_RELEASE_BIN")


@pytest.fixture
def api(dev):
    return Api(dev)


def output(api, task):
    return api.get(f"/v1/tasks/{task}/logs").text


def tasks_of(api, group):
    """Its tasks by name."""
    found = api.get(f"/v1/tasks?limit=1000&full=true&group={group['id']}")["items"]
    assert all(t["group_id"] == group["id"] and t["job"] == t["name"] for t in found) and len(found) == group["jobs"]
    return {t["name"]: t for t in found}


def test_jobs_run_in_the_order_of_their_needs(api, tmp_path):
    log = tmp_path / "log"
    jobs = [job(n, "sh", "-c", f"echo {n} >>{log}", needs=needs) for n, needs in
            [("d", ["b", "c"]), ("b", ["a"]), ("c", ["a", "b"]), ("a", [])]]
    g = submit(api, *jobs, name="order")
    assert (g["name"], g["jobs"], g["edges"], g["policy"], g["actor"]) == ("order", 4, 5, "best-effort", g["actor"])
    done = ended(api, g["id"])
    assert done["state"] == "complete" and done["reason"] is None and done["dispatched"] and done["ended"]
    assert done["counts"] == {"built": 4, "failed": 0, "lost": 0, "skipped": 0, "cancelled": 0}
    assert log.read_text().split() == ["a", "b", "c", "d"]
    assert api.get("/v1/groups/order") == done, "by its name"


def test_a_job_knows_which_one_it_is(api):
    g = submit(api, job("say", "sh", "-c", "echo $REEVE_GROUP $REEVE_GROUP_NAME $REEVE_JOB"), name="knows")
    assert ended(api, g["id"])["state"] == "complete"
    assert output(api, tasks_of(api, g)["say"]["id"]) == f"{g['id']} knows say\n"


def test_who_asks_too_early_waits(dev, api):
    """As soon as a group can be found by its name all of it can be read: it appears whole, also to a reader in a hurry."""
    looks = ["", "/jobs", "/jobs/a", "/graph", "/why"]
    seen, stop = collections.Counter(), threading.Event()

    def poll(n):
        mine = Api(dev)
        while not stop.is_set():
            for what in looks:
                answer = mine.ask("GET", f"/v1/groups/early{n}{what}")
                seen[answer.status_code] += 1

    jobs = [job("a", "false"), *(job(f"j{i}", needs=["a"]) for i in range(3000))]
    for n in range(8):
        stop.clear()
        pollers = [threading.Thread(target=poll, args=(n,)) for _ in range(2)]
        for p in pollers:
            p.start()
        submit(api, *jobs, name=f"early{n}")
        found = seen[200]
        wait_until(lambda f=found: seen[200] > f + 20, what="it was looked at")
        stop.set()
        for p in pollers:
            p.join()
    assert set(seen) <= {200, 404}, seen


def test_a_matrix_is_a_job_for_each_of_its_values(api):
    build = job("build", "sh", "-c", 'echo {os} $bits "${os}" {what}', matrix={"os": ["linux", "bsd"], "bits": [32, 64]},
                env={"bits": "mine"}, throttle=1, need={"cpu": 0.001})
    g = submit(api, build, job("after", needs=["build"]))
    assert g["jobs"] == 5 and g["edges"] == 4
    assert ended(api, g["id"])["state"] == "complete"
    tasks = tasks_of(api, g)
    assert set(tasks) == {"after"} | {f"build[os={o},bits={b}]" for o in ("linux", "bsd") for b in (32, 64)}
    bsd = tasks["build[os=bsd,bits=64]"]
    assert output(api, bsd["id"]) == "bsd mine bsd {what}\n", "what the job sets itself stays"
    keys = {tuple(t["need"]["throttles"].items()) for n, t in tasks.items() if n != "after"}
    assert len(keys) == 1 and next(iter(keys))[0][1] == 1
    built = sorted((t["started"], t["ended"]) for n, t in tasks.items() if n != "after")
    assert all(a[1] <= b[0] for a, b in zip(built, built[1:])), "one at a time"


def test_conditions_and_what_failed(api):
    g = submit(api, job("bad", "false"), job("then", needs=["bad"]), job("always", needs=[{"job": "bad", "after": "end"}]),
               job("clean", needs=[{"job": "bad", "after": "failure"}]))
    done = ended(api, g["id"])
    assert done["state"] == "failed" and "1 of its 4 jobs" in done["reason"] or done["reason"]
    assert done["counts"] == {"built": 2, "failed": 1, "lost": 0, "skipped": 1, "cancelled": 0}


def test_fail_fast(api):
    g = submit(api, job("bad", "false"), job("long", needs=[{"job": "bad", "after": "end"}]), policy="fail-fast")
    done = ended(api, g["id"])
    assert done["state"] == "failed" and done["policy"] == "fail-fast" and done["counts"]["cancelled"] == 1


def test_an_empty_group_is_complete(api):
    g = submit(api)
    assert g["state"] == "complete" and g["jobs"] == 0 and g["name"] == g["id"]


def test_cancel_and_why(api):
    g = submit(api, job("long", "sleep", "1000"), job("then", needs=["long"]), name="stop")
    wait_until(lambda: tasks_of(api, g)["long"]["state"] == "running", what="it runs")
    why = api.get("/v1/groups/stop/why")
    assert why["state"] == "dispatching" and why["reasons"][0]["code"] == "group-runs" and why["summary"], why
    then = api.get(f"/v1/tasks/{tasks_of(api, g)['then']['id']}/why")
    assert then["reasons"][0]["code"] == "needs", then
    api.refused("DELETE", "/v1/groups/stop", 409, "conflict", hint="cancel")
    api.post("/v1/groups/stop/cancel", {"reason": "enough"})
    done = ended(api, g["id"])
    assert done["state"] == "canceled" and done["reason"] == "enough" and done["counts"]["cancelled"] == 2
    api.refused("POST", "/v1/groups/stop/cancel", 409, "conflict")
    assert "ended" in api.get("/v1/groups/stop/why")["summary"]
    api.delete("/v1/groups/stop")
    api.refused("GET", "/v1/groups/stop", 404, "not-found")
    assert api.task(tasks_of(api, g)["long"]["id"])["state"] == "cancelled", "its tasks stay"


def test_lists_are_newest_first(api):
    ids = [submit(api, job("x"), name=f"l{i}")["id"] for i in range(5)]
    other = submit(api, name="other")["id"]
    listed = [g["id"] for page in api.pages("/v1/groups", 2) for g in page]
    assert listed == [other] + ids[::-1]
    assert [g["id"] for g in api.get("/v1/groups?name=l")["items"]] == ids[::-1]
    for i in ids:
        ended(api, i)
    assert len(api.get("/v1/groups?state=complete,failed")["items"]) == 6
    assert api.get("/v1/groups?state=queued")["items"] == []
    api.refused("GET", "/v1/groups?state=done", 400, "invalid", field="state")


def test_etag(api):
    g = submit(api, name="tagged")
    first = api.ask("GET", "/v1/groups/tagged")
    assert api.ask("GET", "/v1/groups/tagged", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert first.json() == g


def test_once_with_one_key(api):
    body = {"jobs": [job("a")], "name": "once"}
    first = api.post("/v1/groups", body, 201, headers={"Idempotency-Key": "k"})
    again = api.ask("POST", "/v1/groups", json=body, headers={"Idempotency-Key": "k"})
    assert again.status_code == 201 and again.json()["id"] == first["id"]
    assert again.headers["Idempotent-Replay"] == "true"
    api.refused("POST", "/v1/groups", 409, "conflict", json=body)
    other = api.ask("POST", "/v1/groups", json={**body, "name": "twice"}, headers={"Idempotency-Key": "k"})
    assert other.status_code in (409, 422), other.text
    assert len(api.get("/v1/groups")["items"]) == 1


def test_yaml_and_queues(api):
    api.queue("other")
    text = """
queue: other
name: from-yaml
jobs:
  - name: a
    command: [echo, "1"]
  - name: b
    queue: default
    needs: [a]
    command: [echo, "2"]
"""
    made = api.ask("POST", "/v1/groups", data=text, headers={"Content-Type": "application/yaml"})
    assert made.status_code == 201 and made.headers["Location"].endswith(made.json()["id"]), made.text
    assert ended(api, "from-yaml")["state"] == "complete"
    assert {n: t["queue"] for n, t in tasks_of(api, made.json()).items()} == {"a": "other", "b": "default"}


def letters(api, group):
    g = api.get(f"/v1/groups/{group}/graph")
    return dict(zip(g["names"], g["states"]))


def test_jobs_and_their_needs(api):
    api.queue("never", threads=0)
    g = submit(api, job("core/a b"), job("wait", queue="never", need={"labels": {"zone": "x"}}),
               job("z%y", needs=["core/a b", {"job": "wait", "after": "end"}]), job("0", needs=["z%y"]), name="jobs")
    wait_until(lambda: letters(api, "jobs")["core/a b"] == "b", what="what can be built is")
    jobs = {j["name"]: j for j in api.get("/v1/groups/jobs/jobs")["items"]}
    assert [j["number"] for j in jobs.values()] == [0, 1, 2, 3] and list(jobs)[3] == "0"
    assert {n: j["state"] for n, j in jobs.items()} == {
        "core/a b": "built", "wait": "eligible", "z%y": "schedulable", "0": "schedulable"}
    assert jobs["z%y"]["needs"] == [{"job": "core/a b", "after": "success", "why": []}, {"job": "wait", "after": "end", "why": []}]
    assert jobs["z%y"]["n_needs"] == 2 and jobs["core/a b"]["exit_code"] == 0 and jobs["core/a b"]["worker"]
    assert [j["name"] for page in api.pages("/v1/groups/jobs/jobs", 1) for j in page] == list(jobs)
    assert [j["name"] for j in api.get("/v1/groups/jobs/jobs?state=built,eligible")["items"]] == ["core/a b", "wait"]
    assert [j["name"] for j in api.get("/v1/groups/jobs/jobs?name=z&state=schedulable")["items"]] == ["z%y"]
    api.refused("GET", "/v1/groups/jobs/jobs?state=done", 400, "invalid", field="state")
    one = api.get("/v1/groups/jobs/jobs/core/a%20b")
    assert one.pop("dependents") == [{"job": "z%y", "after": "success", "why": []}] and one == jobs["core/a b"]
    for name in ("z%25y", "2", jobs["z%y"]["task"]):
        assert api.get(f"/v1/groups/jobs/jobs/{name}")["name"] == "z%y"
    assert api.get("/v1/groups/jobs/jobs/0")["number"] == 3, "a name goes before a number"
    for name in ("4", "nobody", "z%25y/x", g["id"]):
        api.refused("GET", f"/v1/groups/jobs/jobs/{name}", 404, "not-found", field="job")
    api.refused("GET", "/v1/groups/nobody/jobs/0", 404, "not-found", field="group")
    task = api.task(jobs["wait"]["task"])
    assert (task["group"], task["group_id"], task["job"], task["schedule"]) == ("jobs", g["id"], "wait", None)
    assert {t["name"] for t in api.get("/v1/tasks?group=jobs&state=blocked")["items"]} == {"z%y", "0"}


def test_the_graph_is_compact(api):
    g = submit(api, job("bad", "false"), job("good", "sleep", "0.01"), job("skip", needs=["bad"]),
               job("end", needs=[{"job": "bad", "after": "end"}, "good"]), name="compact")
    done = ended(api, "compact")
    graph = api.get("/v1/groups/compact/graph")
    assert graph["group"] == done and int(graph["first_task"], 16) == int(g["id"], 16) + 1
    assert letters(api, "compact") == {"bad": "f", "good": "b", "skip": "x", "end": "b"}
    number = {n: i for i, n in enumerate(graph["names"])}
    assert sorted(graph["needs"]) == sorted([[number["skip"], number["bad"], 0, 0], [number["end"], number["bad"], 1, 0],
                                             [number["end"], number["good"], 0, 0]])
    assert graph["started"][number["good"]] < graph["ended"][number["good"]] and graph["started"][number["skip"]] == 0
    assert api.get(f"/v1/groups/{submit(api)['id']}/graph")["names"] == []


def follow(api, group, headers=None):
    """What the stream says until it ends: [(kind, data)]."""
    found, kind = [], None
    with api.ask("GET", f"/v1/groups/{group}/stream", stream=True, headers=headers) as answer:
        assert answer.status_code == 200 and answer.headers["Content-Type"] == "text/event-stream"
        for line in answer.iter_lines(decode_unicode=True):
            if line.startswith("event: "):
                kind = line[7:]
            elif line.startswith("data: "):
                found.append((kind, json.loads(line[6:])))
    return found


def test_the_stream_tells_all_changes(api, tmp_path):
    go = tmp_path / "go"
    jobs = [job("first", "sh", "-c", f"until test -e {go}; do sleep 0.02; done")]
    jobs += [job(f"j{i}", *(["false"] if i == 7 else []), needs=["first"]) for i in range(50)] + [job("skip", needs=["j7"])]
    submit(api, *jobs, name="stream")
    names = api.get("/v1/groups/stream/graph")["names"]
    with api.ask("GET", "/v1/groups/stream/stream", stream=True) as early:
        go.touch()
        told = [line for line in early.iter_lines(decode_unicode=True)]
    assert told.count("event: end") == 1
    states, objects = {}, []
    kind = None
    for line in told:
        kind = line[7:] if line.startswith("event: ") else kind
        if line.startswith("data: ") and kind == "jobs":
            for number, letter, ms in json.loads(line[6:]):
                states[names[number]] = letter
                assert ms > 1e12
        elif line.startswith("data: "):
            objects.append(json.loads(line[6:]))
    assert states == letters(api, "stream") and states["skip"] == "x" and states["j7"] == "f", states
    assert objects[-1]["state"] == "failed" and objects[-1]["counts"]["built"] == 50
    again = follow(api, "stream")
    assert [k for k, _ in again] == ["group", "end"] and again[0][1] == objects[-1], "one that has ended"
    ids = [int(line[4:]) for line in told if line.startswith("id: ")]
    assert ids == sorted(ids)


def test_a_project_that_becomes_unbuildable(api):
    """Its job is cancelled with the reason: it counts as failed, and the rest goes on."""
    g = submit(api, job("broken", "sleep", "1000"), job("user", needs=["broken"]), job("other"), job("more", needs=["other"]))
    task = tasks_of(api, g)["broken"]["id"]
    api.reaches(task, "running")
    api.post(f"/v1/tasks/{task}/cancel", {"reason": "plan disconnected"})
    done = ended(api, g["id"])
    assert done["state"] == "failed" and done["counts"] == {"built": 2, "failed": 0, "lost": 0, "skipped": 1, "cancelled": 1}
    broken = api.get(f"/v1/groups/{g['id']}/jobs/broken")
    assert broken["state"] == "cancel-complete" and "plan disconnected" in broken["reason"], broken


def test_limits_of_a_token(dev, api):
    """A group is there for whoever sees all of its jobs."""
    api.queue("mine")
    api.queue("theirs")
    def bearer(name, **members):
        return Api(dev, api.post("/v1/tokens", {"name": name, "role": "operate", **members}, 201)["token"])
    one = bearer("one", queues=["mine"])
    both = bearer("both", queues=["mine", "theirs"])
    labelled = bearer("labelled", labels={"team": "a"})
    own = submit(one, job("a", queue="mine"), name="own")
    mixed = submit(both, job("a", queue="mine"), job("b", queue="theirs", labels={"team": "a"}), name="mixed")
    team = submit(labelled, job("a", queue="theirs", labels={"team": "a"}), name="team")
    assert [g["name"] for g in api.get("/v1/groups")["items"]] == ["team", "mixed", "own"]
    seen = {one: [own], both: [team, mixed, own], labelled: [team]}
    for token, groups in seen.items():
        for page in (1, 100):
            listed = [g["id"] for p in token.pages("/v1/groups", page) for g in p]
            assert listed == [g["id"] for g in groups], (listed, page)
        for g in (own, mixed, team):
            for path in ("", "/why", "/jobs", "/jobs/a", "/graph"):
                status = 200 if g in groups else 404
                assert token.ask("GET", f"/v1/groups/{g['name']}{path}").status_code == status, (g["name"], path)
    one.refused("POST", "/v1/groups/mixed/cancel", 404, "not-found", json={})
    one.refused("DELETE", f"/v1/groups/{mixed['id']}", 404, "not-found")
    one.refused("POST", "/v1/groups", 403, "denied", json={"jobs": [job("a", queue="theirs")]})
    one.refused("POST", "/v1/groups", 403, "denied", json={"jobs": [job("a")]})
    labelled.refused("POST", "/v1/groups", 403, "denied", json={"jobs": [job("a", queue="mine")]})
    assert "access.refused" in {e["kind"] for e in api.get("/v1/events?kind=access")["items"]}
    assert len(api.get("/v1/groups")["items"]) == 3


PACKAGES = [
    {"ident": "o/lib/1/1", "build": ["o/cc"]}, {"ident": "o/cc/2/1", "runtime": ["o/lib"], "build": ["o/cc"]},
    {"ident": "o/app/10/1", "runtime": ["o/lib"], "targets": ["{target}"]},
    {"ident": "o/dead/1/1", "build": ["o/lib"], "buildable": False, "reason": "plan disconnected"},
    {"ident": "o/behind/1/1", "runtime": ["o/dead"]}]


def test_packages_are_planned(api):
    wait_until(lambda: api.get("/v1/workers")["items"], what="the worker is there")
    target = api.get("/v1/workers")["items"][0]["target"]
    packages = json.loads(json.dumps(PACKAGES).replace("{target}", target))
    say = ["sh", "-c", "echo {package} {ident} {round} {job} $REEVE_PACKAGE $REEVE_IDENT $REEVE_ROUND $REEVE_JOB"]
    g = api.post("/v1/groups", {"packages": packages, "touched": ["o/lib", "o/unknown"], "rounds": 2, "name": "planned",
                                "job": {"command": say, "timeout": "1m"}}, 201)
    left = {p["package"]: p for p in g.pop("left_out")}
    assert len(left) == 2 and left["o/dead"]["reason"] == left["o/behind"]["reason"] == "plan disconnected"
    assert left["o/behind"]["how"] == "indirect" and left["o/behind"]["root"] == "o/dead"
    assert ended(api, "planned")["state"] == "complete"
    tasks = tasks_of(api, g)
    assert set(tasks) == {"o/lib#1", "o/lib#2", "o/cc#1", "o/cc#2", "o/app#1", "o/unknown#1"}
    assert output(api, tasks["o/cc#2"]["id"]) == "o/cc o/cc/2/1 2 o/cc#2 o/cc o/cc/2/1 2 o/cc#2\n"
    assert output(api, tasks["o/unknown#1"]["id"]) == "o/unknown o/unknown 1 o/unknown#1 o/unknown 1 o/unknown#1\n"
    assert tasks["o/app#1"]["need"]["target"] == target and tasks["o/cc#1"]["need"] is None
    needs = {n["job"]: n["why"] for n in api.get("/v1/groups/planned/jobs/o/cc%232")["needs"]}
    assert needs["o/lib#2"] == ["runtime"] and needs["o/cc#1"] == ["build"], needs


def test_a_real_graph_is_built(api):
    """627 plans, 721 jobs: each once, and none before what it needs."""
    with open(f"{ROOT}/test/unit/graph/real_graph.json") as f:
        graph = json.load(f)
    answer = api.post("/v1/groups", {**graph, "name": "real", "job": {"command": ["true"]}}, 201)
    assert answer["jobs"] == 721
    done = ended(api, "real")
    assert done["state"] == "complete" and done["counts"]["built"] == 721
    g = api.get("/v1/groups/real/graph")
    assert g["states"] == "b" * 721 and all(g["started"][job] >= g["ended"][need] for job, need, _, _ in g["needs"])


REFUSED = [
    ({"jobs": [job("a", needs=["b"]), job("b", needs=["a"])]}, 409, "loop"),
    ({"jobs": [job("a", needs=["a"])]}, 409, "loop"),
    ({"jobs": [job("a", needs=["no"])]}, 400, "a: it needs no, and there is no job of that name"),
    ({"jobs": [job("a"), job("a")]}, 400, "two jobs of this name"),
    ({"jobs": [job("a"), job("b", needs=["a", {"job": "a", "after": "end"}])]}, 400, "two conditions"),
    ({"jobs": [job("x" * (1 << 20))]}, 413, "1048576 bytes"),
    ({"jobs": [{"name": "a"}]}, 400, "line 1: a: the task has no"),
    ({"jobs": [job("a", key="k")]}, 400, "line 1: a: there is no member of this name"),
    ({"jobs": [job("a", timeout="soon")]}, 400, "line 1: a:"),
    ({"jobs": [job("a"), job("b", queue="nowhere")]}, 404, 'line 1: b: there is no queue "nowhere"'),
    ({"jobs": [job("a")], "queue": "nowhere"}, 404, 'there is no queue "nowhere"'),
    ({"jobs": [job("a"), job("b", needs=[{"job": "a", "after": "noon"}])]}, 400,
     "line 1: b: after is success, end or failure"),
    ({"jobs": [job("a"), job("b", needs=[{"job": 7}])]}, 400, "line 1: b: job is"),
    ({"jobs": [job("a", tmeout=1)]}, 400, "line 1: a: there is no member of this name here: tmeout"),
    ({"jobs": [], "name": "a/b"}, 400, "usable name"),
    ({"jobs": [], "policy": "maybe"}, 400, "policy"),
    ({"jobs": [], "jobz": 1}, 400, "line 1: there is no member of this name"),
    ({"name": "x"}, 400, "neither packages nor jobs"),
    ({"jobs": [job("a", matrix={"x": [1, 2]}, need="throttle.a=1,throttle.b=1", throttle=0)]}, 400, "throttle"),
    ({"jobs": [job("a", "echo", "{x}", matrix={chr(97 + i) * 60: [str(n) * 200 for n in range(2)] for i in range(3)})]},
     413, "its name has"),
    ({"jobs": [job(f"j{i}", matrix={"x": list(range(10000))}) for i in range(11)]}, 413, "there are more than 100000 jobs"),
    ([], 400, "no map"),
    ("x", 400, "no map"),
]


@pytest.mark.parametrize("n", range(len(REFUSED)))
def test_what_is_wrong_is_said(api, n):
    body, status, words = REFUSED[n]
    answer = api.ask("POST", "/v1/groups", data=json.dumps(body), headers={"Content-Type": "application/json"})
    assert answer.status_code == status and words in answer.json()["detail"], answer.text
    assert api.get("/v1/groups")["items"] == [] and api.get("/v1/tasks")["items"] == []


@pytest.mark.skipif(not RELEASE, reason="REEVE_RELEASE_BIN is not set: a sanitizer's memory says nothing")
def test_what_was_refused_gives_its_memory_back(new_cluster):
    cluster = new_cluster()
    cluster.binary = RELEASE
    cluster.start_server()
    api = Api(cluster)
    name = "o/some-package-with-a-long-name-{}".format
    needs = [[*range(max(0, i - 8), i), *([i + 1] if i % 2 == 0 else [])] for i in range(100000)]
    packages = [{"ident": name(i) + "/1/1", "build": [name(k) for k in needs[i]]} for i in range(100000)]
    body = json.dumps({"packages": packages, "job": {"command": ["true"]}})
    before = cluster.server.rss_kb()
    for _ in range(3):
        answer = api.ask("POST", "/v1/groups", data=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 413, "its pairs are built three times each, which makes too many jobs"
    wait_until(lambda: cluster.server.rss_kb() < before + 16 * 1024, what="the memory is given back")


def test_bodies_that_are_none(api):
    for text, status in (("", 400), ("{", 400), ("\0", 400), (b"\xff\xfe", 400), ("{}{}", 400), ("a: &x 1", 400)):
        answer = api.ask("POST", "/v1/groups", data=text, headers={"Content-Type": "application/json"})
        assert answer.status_code == status, (text, answer.text)
    assert api.ask("POST", "/v1/groups", data="x", headers={"Content-Type": "text/plain"}).status_code == 415
