# SPDX-License-Identifier: Apache-2.0
"""Graphs of packages that the server keeps: uploads whole or not at all, loops refused, marks, restarts, memory."""
import collections
import concurrent.futures
import contextlib
import json
import os
import sqlite3
import threading

import pytest
from client import Api
from harness import ROOT, wait_until

REAL = os.path.join(ROOT, "test", "unit", "graph", "real_graph.json")
RELEASE = os.environ.get("REEVE_RELEASE_BIN")
KINDS = {"b": "build", "r": "runtime", "s": "strong"}


def packages(*rows, **more):
    """Rows "o/a[/version/release] b:o/c r:o/d" as a file."""
    made = []
    for row in rows:
        name, *deps = row.split()
        made.append({"ident": name if name.count("/") == 3 else f"{name}/1/1"})
        for dep in deps:
            made[-1].setdefault(KINDS[dep[0]], []).append(dep[2:])
    return {"packages": made, **more}


def real_file():
    """The real graph as a file of packages: its own form, in our words."""
    with open(REAL, encoding="utf-8") as file:
        return json.load(file)


@pytest.fixture
def api(new_cluster):
    cluster = new_cluster()
    cluster.start_server()
    made = Api(cluster)
    made.cluster = cluster
    return made


def put(api, name, body, status=201, **options):
    return api.ok("PUT", f"/v1/graphs/{name}/packages", status, json=body, **options)


def add(api, name, *rows, status=200, **more):
    return api.post(f"/v1/graphs/{name}/packages", packages(*rows, **more), status)


def idents(api, name, query=""):
    return [k["ident"] for k in api.get(f"/v1/graphs/{name}/packages{query}")["items"]]


def test_made_changed_and_removed(api):
    made = put(api, "core", packages("o/a r:o/b", "o/b/9/1", "o/c b:o/a s:o/b"))
    assert (made["name"], made["version"], made["packages"], made["dependencies"]) == ("core", 1, 3, 3)
    assert made["change"]["added"] == 3
    assert idents(api, "core") == ["o/a/1/1", "o/b/9/1", "o/c/1/1"]
    changed = add(api, "core", "o/b/10/1 b:o/x", "o/a/0.9/1", "o/c b:o/a s:o/b", "o/d")
    assert changed["change"] == {"added": 1, "replaced": 1, "same": 1, "older": 1, "marked": 0, "removed": 0}
    assert changed["version"] == 2
    assert idents(api, "core") == ["o/a/1/1", "o/b/10/1", "o/c/1/1", "o/d/1/1"]
    one = api.get("/v1/graphs/core/package?name=o/b")
    assert one["build"] == ["o/x"] and one["buildable"] and one["reason"] is None
    assert one["dependents"] == [{"package": "o/a", "why": ["runtime"]}, {"package": "o/c", "why": ["strong"]}]
    # nothing new: nothing is written
    assert add(api, "core", "o/d")["version"] == 2
    assert [g["name"] for g in api.get("/v1/graphs")["items"]] == ["core"]
    api.delete("/v1/graphs/core")
    api.refused("GET", "/v1/graphs/core", 404, "not-found")
    api.refused("GET", "/v1/graphs/core/packages", 404, "not-found")
    assert [e["kind"] for e in api.get("/v1/events?kind=graph")["items"]] == [
        "graph.created", "graph.changed", "graph.deleted"]


def test_a_runtime_loop_is_refused_by_name(api):
    put(api, "core", packages("o/a r:o/b", "o/b r:o/c", "o/c"))
    before = api.get("/v1/graphs/core/packages")
    api.refused("POST", "/v1/graphs/core/packages", 409, "conflict", detail="o/c -> o/a -> o/b -> o/c",
                json=packages("o/new", "o/c/2/1 r:o/a"))
    assert api.get("/v1/graphs/core/packages") == before
    assert api.get("/v1/graphs/core")["version"] == 1
    # two that only together close one, and one that closes it by its version
    api.refused("POST", "/v1/graphs/core/packages", 409, "conflict", detail="o/x -> o/y -> o/x",
                json=packages("o/x r:o/y", "o/y r:o/x"))
    add(api, "core", "o/p r:o/q/2")
    api.refused("POST", "/v1/graphs/core/packages", 409, "conflict", detail="o/q -> o/p -> o/q",
                json=packages("o/q/2/1 r:o/p"))
    add(api, "core", "o/q/3/1 r:o/p")
    # loops of builds are fine, and so is the newer one that needs less
    add(api, "core", "o/c/2/1 b:o/a")
    add(api, "core", "o/b/2/1", "o/c/3/1 r:o/a")
    assert api.get("/v1/graphs/core/check")["ok"]


def test_marks_and_removals(api):
    put(api, "core", packages("o/a b:o/b", "o/b b:o/c", "o/c"))
    changed = api.patch("/v1/graphs/core/packages",
                        {"unbuildable": [{"package": "o/b", "reason": "plan disconnected"}]})
    assert changed["unbuildable"] == 1 and changed["change"]["marked"] == 1
    assert api.get("/v1/graphs/core/package?name=o/b")["reason"] == "plan disconnected"
    found = api.get("/v1/graphs/core/check")
    assert found["ok"] and [(u["package"], u["how"]) for u in found["unbuildable"]] == [
        ("o/a", "indirect"), ("o/b", "direct")]
    assert api.patch("/v1/graphs/core/packages", {"buildable": ["o/b"], "remove": ["o/c/1/1"]})["packages"] == 2
    assert [u["package"] for u in api.get("/v1/graphs/core/check")["unknown"]] == ["o/c"]
    # one that is not there refuses all
    api.refused("PATCH", "/v1/graphs/core/packages", 404, "not-found", detail="o/zz",
                json={"remove": ["o/a", "o/zz"]})
    assert idents(api, "core") == ["o/a/1/1", "o/b/1/1"]
    # the place of what was removed is taken again
    add(api, "core", "o/e", "o/f")
    api.cluster.server.kill9()
    api.cluster.restart()
    assert idents(api, "core") == ["o/a/1/1", "o/b/1/1", "o/e/1/1", "o/f/1/1"]


def test_versions_and_conditions(api):
    put(api, "g", packages("o/a"))
    api.refused("PUT", "/v1/graphs/g/packages", 412, "precondition-failed", json=packages("o/b"),
                headers={"If-None-Match": "*"})
    api.refused("POST", "/v1/graphs/g/packages", 412, "precondition-failed", json=packages("o/b"),
                headers={"If-Match": '"7"'})
    api.refused("PUT", "/v1/graphs/none/packages", 412, "precondition-failed", json=packages("o/b"),
                headers={"If-Match": "*"})
    assert api.ok("POST", "/v1/graphs/g/packages", 200, json=packages("o/b"), headers={"If-Match": '"1"'})["version"] == 2
    assert put(api, "g", packages("o/z"), 200)["change"]["removed"] == 2
    assert idents(api, "g") == ["o/z/1/1"]
    # the same request again gets the first answer, and changes nothing
    for _ in range(2):
        assert api.post("/v1/graphs/g/packages", packages("o/k"), headers={"Idempotency-Key": "k"})["version"] == 4
    assert idents(api, "g") == ["o/k/1/1", "o/z/1/1"]


def test_the_real_graph(api):
    file = real_file()
    made = put(api, "real", file)
    assert made["packages"] == 627
    first = api.get("/v1/graphs/real/packages?limit=1000")["items"]
    assert len(first) == 627 and [k["package"] for k in first] == sorted(k["package"] for k in first)
    assert [k for page in api.pages("/v1/graphs/real/packages", 100) for k in page] == first
    api.cluster.server.kill9()
    api.cluster.restart()
    assert api.get("/v1/graphs/real/packages?limit=1000")["items"] == first
    found = api.get("/v1/graphs/real/check")
    assert found["ok"] and found["packages"] == 627


def test_many_upload_at_once(api):
    """Each of them sees what the ones before it left: of those that would close a loop together, one is refused."""
    put(api, "g", packages("o/a"))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(
            lambda i: Api(api.cluster).ask("POST", "/v1/graphs/g/packages",
                                           json=packages(f"p/n{i} r:p/n{(i + 1) % 24}")).status_code, range(24)))
    assert sorted(set(answers)) == [200, 409] and answers.count(409) == 1
    assert api.get("/v1/graphs/g")["packages"] == 24
    assert api.get("/v1/graphs/g/check")["ok"]


BAD_FILES = [
    ('{"packages": [{"ident": "o/a/1/1", "runtime": "o/b"}]}', "line 1"),
    ('{"packages": [{"ident": "o/a"}]}', "no version"),
    ('{"packages": [{"ident": "o/a/1/1"}, {"ident": "o/a/1/1"}]}', "twice"),
    ('{"packages": [{"ident": "%s/a/1/1"}]}' % ("x" * (1 << 20)), "bytes"),
    ('{"packages": [', "line"),
    ('[]', "map"),
    ('{"jobs": []}', "jobs"),
    ('{"packages": [], "unbuildable": ["o/x"]}', "o/x"),
    ('{"packages": [{"ident": "o/a/1/1", "nosuch": 1}]}', "no member"),
]


def test_bad_files(api):
    put(api, "g", packages("o/keep"))
    for body, detail in BAD_FILES:
        for method in ("PUT", "POST"):
            answer = api.ask(method, "/v1/graphs/g/packages", data=body, headers={"Content-Type": "application/json"})
            assert answer.status_code in (400, 404, 413), answer.text
            assert detail in answer.json()["detail"], answer.text
    assert idents(api, "g") == ["o/keep/1/1"]
    assert api.get("/v1/graphs/g")["version"] == 1


def test_too_much(api):
    put(api, "g", packages("o/a"))
    api.refused("POST", "/v1/graphs/g/packages", 400, "invalid", detail="100000",
                json={"packages": [{"ident": "o/b/1/1", "build": [f"o/p{i}" for i in range(100001)]}]})
    long = "x" * (1 << 20)
    api.refused("POST", "/v1/graphs/g/packages", 413, "too-large", json=packages(f"o/b r:o/{long}"))
    api.refused("PATCH", "/v1/graphs/g/packages", 413, "too-large",
                json={"unbuildable": [{"package": "o/a", "reason": long}]})
    api.refused("GET", f"/v1/graphs/{long[:5000]}", 404, "not-found")
    assert idents(api, "g") == ["o/a/1/1"]


def test_bad_requests(api):
    put(api, "g", packages("o/a"))
    api.refused("PUT", "/v1/graphs/%20/packages", 400, "invalid", json=packages("o/a"))
    api.refused("PUT", "/v1/graphs/" + "x" * 300 + "/packages", 400, "invalid", json=packages("o/a"))
    api.refused("POST", "/v1/graphs/none/packages", 404, "not-found", json=packages("o/a"))
    api.refused("POST", "/v1/graphs/g/packages", 400, "invalid")
    api.refused("POST", "/v1/graphs/g/packages", 415, "unsupported-media-type", data="x",
                headers={"Content-Type": "text/csv"})
    for body in ({}, {"remove": "o/a"}, {"remove": [1]}, {"unbuildable": [{}]}, {"remove": ["a"]},
                 {"remove": ["x" * 5000]}, {"nosuch": []}):
        api.refused("PATCH", "/v1/graphs/g/packages", 400, "invalid", json=body)
    api.refused("GET", "/v1/graphs/g/package", 400, "invalid", field="name")
    api.refused("GET", "/v1/graphs/g/package?name=o/none", 404, "not-found")
    api.refused("GET", "/v1/graphs/g/packages?limit=0", 400, "invalid")
    api.refused("GET", "/v1/graphs/g/packages?cursor=" + "x" * 5000, 400, "invalid")


def layers(n, deps):
    """So many packages, each of which needs `deps` of those before it."""
    return {"packages": [{"ident": f"o/package-{i}/1/1", ("runtime" if i % 2 else "build"): [
        f"o/package-{(i * 7919 + k * 104729) % i}" for k in range(min(deps, i))]} for i in range(n)]}


@pytest.mark.skipif(not RELEASE, reason="REEVE_RELEASE_BIN is not set: a sanitizer's memory says nothing")
def test_memory_is_given_back(new_cluster):
    cluster = new_cluster()
    cluster.binary = RELEASE
    cluster.start_server()
    api, process = Api(cluster), cluster.server
    process.reset_peak()
    put(api, "large", layers(20000, 10))
    wait_until(lambda: api.get("/v1/graphs/large/check")["ok"], what="the check")
    peak = process.rss_kb("VmHWM")
    wait_until(lambda: process.rss_kb() < peak - 8 * 1024, timeout=60, what=f"less than {peak} kB")
    assert api.get("/v1/graphs/large/package?name=o/package-0")["n_dependents"] > 0


@pytest.fixture
def graph(api):
    """`reeve graph …` with the exit code that is wanted."""
    def run(*args, code=0, **options):
        result = api.cluster.cli("graph", *args, check=False, **options)
        assert result.code == code, result
        return result

    return run


def test_the_commands(graph, tmp_path):
    file = tmp_path / "core.yaml"
    file.write_text("packages:\n  - ident: o/a/1/1\n    runtime: [o/b]\n  - {ident: o/b/1/1, build: [o/x]}\n")
    assert "2 added; version 1" in graph("load", "core", file).out
    assert "2 as they were" in graph("load", "core", "-", input=file.read_bytes()).out
    assert "1 added" in graph("add", "core", "o/c/1/1", "--runtime", "o/a,o/b", "--build", "o/x", "--duration", "5m").out
    refused = graph("add", "core", "o/b/2/1", "--runtime", "o/c", code=1)
    assert "o/b -> o/c -> o/b" in refused.err or "o/b -> o/c -> o/a -> o/b" in refused.err
    assert "1 marked" in graph("set", "core", "o/b", "--unbuildable", "plan disconnected").out
    shown = graph("show", "core", "o/b").out
    assert "no: plan disconnected" in shown and "o/a (runtime)" in shown and "o/c (runtime)" in shown
    listed = graph("show", "core", "--name", "o/").out
    assert all(ident in listed for ident in ("o/a/1/1", "o/b/1/1", "o/c/1/1"))
    assert [k["package"] for k in graph("show", "core", "-o", "jsonl").jsonl] == ["o/a", "o/b", "o/c"]
    checked = graph("check", "core").out
    assert "plans can be made" in checked and "o/x, needed by o/b and others" in checked
    assert "o/b: plan disconnected" in checked and "o/a through o/b" in checked
    graph("set", "core", "o/b", "--buildable")
    assert "core" in graph("ls").out
    assert "1 removed" in graph("rm", "core", "o/c").out
    assert "2 removed" in graph("load", "core", file, "--replace").out
    graph("rm", "core", "-y")
    assert graph("ls", "-o", "json").json["items"] == []


def test_usage(graph):
    graph("load", "core", code=2)
    graph("load", "core", "/none/such", code=2)
    graph("add", "core", code=2)
    graph("add", "none", "o/a/1/1", code=1)
    graph("set", "core", "o/a", code=2)
    graph("set", "core", "o/a", "--buildable", "--unbuildable", "x", code=2)
    graph("check", code=2)
    graph("check", "core", "--file", "x", code=2)
    graph("rm", "none", "-y", code=1)


def test_a_check_without_a_server(reeve, tmp_path):
    file = tmp_path / "g.json"
    file.write_text(json.dumps(packages("o/a r:o/b", "o/b r:o/a", "o/c s:o/d", "o/d s:o/c", "o/e b:o/zz")))
    found = reeve("graph", "check", "--file", file, "-o", "json", check=False)
    assert found.code == 1
    assert found.json["counts"] == {"loops": 1, "contradictions": 2, "unknown": 1, "unbuildable": 0}
    told = reeve("graph", "check", "--file", file, check=False).out
    assert "o/a -> o/b -> o/a" in told and "o/zz, needed by o/e" in told
    assert reeve("graph", "check", "--file", REAL).code == 0


def test_damaged_rows(api):
    """A graph of which something is missing plans nothing, says so, and is whole again when it is loaded anew."""
    for damage in ("UPDATE graph_package SET needs = 'r o/x' WHERE number = 1", "UPDATE graph SET n_deps = 7"):
        put(api, "g", packages("o/a", "o/b r:o/a"), 201)
        api.cluster.server.stop()
        with contextlib.closing(sqlite3.connect(os.path.join(api.cluster.state_dir(), "reeve.db"))) as db, db:
            db.execute(damage)
        api.cluster.restart()
        for method, path, body in (("GET", "packages", None), ("POST", "packages", packages("o/c")), ("GET", "check", None)):
            answer = api.ask(method, f"/v1/graphs/g/{path}", json=body)
            assert answer.status_code == 500 and "--replace" in answer.json()["hint"], answer.text
        put(api, "g", packages("o/a", "o/b r:o/a"), 200)
        assert idents(api, "g") == ["o/a/1/1", "o/b/1/1"]
        api.delete("/v1/graphs/g")


def test_uploads_amid_kills(api):
    """Whatever was acknowledged is there, and of every upload all packages are, or none."""
    put(api, "g", packages("o/a"))
    acknowledged = set()

    def upload(n, own):
        for k in range(200):
            if stop.is_set():
                return
            name = f"u{n}-{k}"
            try:
                answer = own.ask("POST", "/v1/graphs/g/packages",
                                 json=packages(*(f"{name}/p{i} r:{name}/p{i + 1}" for i in range(20))))
            except OSError:
                continue
            if answer.status_code == 200:
                acknowledged.add(name)

    for _ in range(4):
        stop, before = threading.Event(), len(acknowledged)
        threads = [threading.Thread(target=upload, args=(f"{_}{n}", Api(api.cluster))) for n in range(3)]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(acknowledged) >= before + 5, what="some uploads")
        api.cluster.server.kill9()
        stop.set()
        for thread in threads:
            thread.join()
        api.cluster.restart()
        found = [k["package"] for page in api.pages("/v1/graphs/g/packages", 1000) for k in page]
        counts = collections.Counter(package.split("/")[0] for package in found)
        assert counts.pop("o") == 1 and set(counts.values()) == {20}
        assert acknowledged <= set(counts)
        assert api.get("/v1/graphs/g")["packages"] == len(found)


# -- groups triggered from a kept graph

SAY = {"command": ["sh", "-c", "echo {package} {round} $REEVE_PACKAGE $REEVE_IDENT $REEVE_ROUND $REEVE_JOB"]}


@pytest.fixture
def dev(new_cluster):
    cluster = new_cluster()
    cluster.start_dev()
    made = Api(cluster)
    made.cluster = cluster
    return made


def trigger(api, status=201, **members):
    return api.post("/v1/groups", members, status)


def ends(api, group, state="complete"):
    return wait_until(lambda: (lambda g: g if g["ended"] else None)(api.get(f"/v1/groups/{group['id']}")),
                      what=f"it is {state}")


def test_a_group_from_a_graph(dev):
    put(dev, "core", packages("o/a b:o/b", "o/b b:o/a", "o/c r:o/a", "o/d", "o/e b:o/c"))
    dev.patch("/v1/graphs/core/packages", {"unbuildable": [{"package": "o/e", "reason": "access denied"}]})
    made = trigger(dev, graph="core", touched=["o/a"], rounds=2, job=SAY)
    assert made["jobs"] == 5 and "graph core, version 2: o/a has changed" in made["reason"]
    assert made["left_out"] == [{"package": "o/e", "how": "direct", "through": None, "root": None, "reason": "access denied"}]
    done = ends(dev, made)
    assert done["state"] == "complete" and done["counts"]["built"] == 5
    tasks = dev.get("/v1/tasks?full=true&order=asc&limit=1000")["items"]
    said = {t["name"]: t["stdout"].split() for t in tasks}
    assert set(said) == {"o/a#1", "o/b#1", "o/a#2", "o/b#2", "o/c#1"}
    assert said["o/b#2"] == ["o/b", "2", "o/b", "o/b/1/1", "2", "o/b#2"]
    # what was uploaded since counts, what was not touched is not built
    add(dev, "core", "o/d/2/1 b:o/x")
    assert trigger(dev, graph="core", touched=["o/x"], job=SAY)["jobs"] == 2
    assert trigger(dev, graph="core", touched=[], job=SAY)["state"] == "complete"
    # an event says where it came from
    events = dev.get("/v1/events?kind=group.created")["items"]
    assert "graph core, version 2" in events[0]["detail"]["reason"]


def test_a_package_is_taken_out_in_flight(dev, tmp_path):
    """One command: the graph, and every group of it that is under way; the rest goes on by policy."""
    put(dev, "core", packages("o/a", "o/b r:o/a", "o/c r:o/b", "o/d r:o/a"))
    put(dev, "other", packages("o/a", "o/b r:o/a"))
    go = tmp_path / "go"
    hold = {"command": ["sh", "-c", f"until test -e {go}; do sleep 0.05; done"]}
    made = [trigger(dev, graph="core", name="one", job=hold), trigger(dev, graph="core", name="two", series="mine", job=hold),
            trigger(dev, graph="other", name="not", job=hold)]
    wait_until(lambda: all(dev.get(f"/v1/groups/{g}/jobs/o/a%231")["state"] == "dispatched" for g in ("one", "two")),
               what="two groups run")

    def cli(*args, **options):
        return dev.cluster.cli("graph", "set", *args, **options)

    assert cli("core", "o/b", "--buildable", "--live", check=False).code == 2
    done = cli("core", "o/b", "--unbuildable", "access denied", "--live").out.splitlines()
    assert done[0].startswith("graph core: 1 marked; version 2"), done
    assert sorted(done[1:]) == ["job o/b#1 of the group one has failed", "job o/b#1 of the group two has failed"]
    again = cli("core", "o/b", "--unbuildable", "access denied", "--live", "-o", "json").json
    assert again["failed"] == [] and again["name"] == "core"
    running = cli("core", "o/a", "--unbuildable", "gone", "--live", "-o", "json").json["failed"]
    assert sorted((f["group"], f["job"], f["state"]) for f in running) == [
        (g, "o/a#1", "cancel-pending") for g in ("one", "two")]
    for g in made[:2]:
        ended = ends(dev, g, "failed")
        assert ended["state"] == "failed" and ended["counts"] == {"built": 0, "failed": 2, "lost": 0, "skipped": 2, "cancelled": 0}
        b = dev.get(f"/v1/groups/{g['id']}/jobs/o/b%231")
        assert b["state"] == "job-failed" and b["reason"] == "access denied"
    go.touch()
    assert ends(dev, made[2])["state"] == "complete", "a group of another graph has nothing to do with it"
    assert trigger(dev, graph="core", job=SAY)["left_out"][0]["reason"]


def test_a_group_from_packages(dev):
    made = trigger(dev, **packages("o/a", "o/b r:o/a"), touched=["o/a"], job=SAY, name="built")
    assert made["jobs"] == 2 and made["name"] == "built" and made["reason"] is None
    assert ends(dev, made)["counts"]["built"] == 2


def test_triggers_that_are_refused(dev):
    put(dev, "core", packages("o/a s:o/b", "o/b r:o/a", "o/c"))
    dev.refused("POST", "/v1/groups", 404, "not-found", json={"graph": "none", "touched": [], "job": SAY})
    dev.refused("POST", "/v1/groups", 409, "conflict", detail="contradict",
                json={"graph": "core", "touched": ["o/a"], "job": SAY})
    for more in ({"packages": []}, {"jobs": []}, {"job": 7}, {"job": {"key": "x"}}, {"job": {"nosuch": 1}}, {"job": {"command": [1]}}, {"job": {"command": "x"}}, {"job": {"env": 7}},
                 {"rounds": 0}, {"touched": ["x"]}, {"graph": 7}, {"graph": "x" * 1000}):
        dev.refused("POST", "/v1/groups", 400, "invalid", json={"graph": "core", "touched": ["o/c"], "job": SAY, **more})
    limited = Api(dev.cluster, dev.post("/v1/tokens", {"name": "t", "role": "submit", "queues": ["q"]}, 201)["token"])
    limited.refused("POST", "/v1/groups", 403, "denied", json={"graph": "core", "touched": ["o/c"], "job": SAY})


def test_the_real_graph_is_planned(api):
    put(api, "real", real_file())
    made = trigger(api, graph="real", job={"command": ["true"]})
    assert made["jobs"] == 721
