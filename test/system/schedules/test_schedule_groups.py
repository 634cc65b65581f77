# SPDX-License-Identifier: Apache-2.0
"""Schedules of groups in real processes: one group a tick through crashes, whole and only once."""
import json

from client import Api
from harness import wait_until

JOBS = {"jobs": [{"name": "a", "command": ["true"]}, {"name": "b", "needs": ["a"], "command": ["true"]}]}
PACKAGES = {"packages": [{"ident": "core/gcc/9/1"}, {"ident": "core/make/4/1", "build": ["core/gcc"]},
                         {"ident": "core/sed/4/1"}]}


def make(api, name="s", **members):
    body = {"name": name, "items": {"epoch": {"period": 1}}, "max_shift": "10m", "group": JOBS, **members}
    return api.post("/v1/schedules", body, 201)


def far_off(**members):
    """None of its ticks comes while the test runs."""
    return {"items": {"epoch": {"period": 1 << 30}}, "max_shift": "1h", **members}


def groups_of(api, name="s", state=""):
    return [g for page in api.pages(f"/v1/groups?schedule={name}{state}", 100) for g in page]


def ticks_of(api, name="s"):
    return [t for page in api.pages(f"/v1/schedules/{name}/history", 100) for t in page]


def all_drafted(api, name="s"):
    wait_until(lambda: not groups_of(api, name, "&state=triggered,created"), what="every group has its jobs")


def test_a_tick_is_a_group(dev):
    api = Api(dev)
    make(api)
    ended = wait_until(lambda: groups_of(api, state="&state=complete"), what="a group of a tick is complete")[-1]
    assert ended["jobs"] == 2 and ended["counts"]["built"] == 2 and ended["schedule"] == "s"
    tick = [t for t in ticks_of(api) if t["group"] == ended["id"]][0]
    assert tick["tick"] == ended["tick"] and tick["task"] is None and tick["outcome"] == "fired"
    kinds = [e["kind"] for e in api.get("/v1/events?group=" + ended["id"])["items"]]
    assert "group.triggered" in kinds and "group.complete" in kinds


def test_one_group_a_tick_through_crashes(new_cluster):
    cluster = new_cluster()
    cluster.start_server()
    make(Api(cluster), overlap="allow", missed="all")
    for _ in range(4):
        api = Api(cluster)
        before = len(ticks_of(api))
        wait_until(lambda: len(ticks_of(api)) >= before + 2, what="it ticks")
        cluster.server.kill9()
        cluster.restart()
    api = Api(cluster)
    before = len(ticks_of(api))
    wait_until(lambda: len(ticks_of(api)) > before, what="it ticks again")
    api.post("/v1/schedules/s/pause")
    all_drafted(api)
    ticks = {t["group"]: t["tick"] for t in ticks_of(api) if t["group"]}
    groups = groups_of(api)
    assert {g["id"]: g["tick"] for g in groups} == ticks
    assert len(set(ticks.values())) == len(ticks), "a tick has two groups"
    assert all(g["jobs"] == 2 for g in groups)
    tasks = [t["group_id"] for page in api.pages("/v1/tasks", 1000) for t in page]
    assert all(tasks.count(g["id"]) == 2 for g in groups)


def test_killed_between_the_tick_and_its_jobs(new_cluster):
    """Its drafting takes a while: the server dies before it is over, and the next one does it whole."""
    values = [str(i) for i in range(100)]
    long = {"jobs": [{"name": "j", "matrix": {"x": values, "y": values[:80]}, "command": ["true"]}]}
    cluster = new_cluster()
    cluster.start_server()
    api = Api(cluster)
    make(api, **far_off(group=long))
    group = api.post("/v1/schedules/s/run", None, 201)["groups"][0]
    cluster.server.kill9()
    cluster.restart()
    api = Api(cluster)
    found = groups_of(api)
    assert [g["id"] for g in found] == [group]
    all_drafted(api)
    assert api.get(f"/v1/groups/{group}")["jobs"] == 8000
    other = api.post("/v1/schedules/s/run", None, 201)["groups"][0]
    all_drafted(api)
    assert api.get(f"/v1/groups/{other}")["jobs"] == 8000
    assert api.get(f"/v1/groups/{group}/jobs?limit=1&state=pending,schedulable,eligible")["items"]


def test_on_the_command_line(dev, tmp_path):
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text("jobs:\n- name: a\n  command: [\"true\"]\n- {name: b, needs: [a], command: [\"true\"]}\n")
    when = ["--item", json.dumps({"epoch": {"period": 1 << 30}}), "--max-shift", "1h"]
    added = dev.cli("schedule", "add", "nightly", *when, "--group", str(jobs), "--policy", "fail-fast")
    assert added.code == 0 and "schedule nightly added" in added.out, added
    group = dev.cli("schedule", "run", "nightly").out.strip()
    assert dev.cli("wait", "@last").code == 0
    assert dev.json("group", "show", group)["policy"] == "fail-fast"
    assert group in dev.cli("schedule", "history", "nightly").out
    shown = dev.cli("schedule", "show", "nightly")
    assert shown.code == 0 and "2 jobs" in shown.out, shown
    wrong = dev.cli("schedule", "add", "x", *when, "--group", str(jobs), "--", "true", check=False)
    assert wrong.code == 2 and "have their own commands" in wrong.err
    jobs.write_text("jobs:\n- name: a\n  needs: [b]\n  command: [\"true\"]\n")
    wrong = dev.cli("schedule", "add", "x", *when, "--group", str(jobs), check=False)
    assert wrong.code == 2 and "line 3" in wrong.err, wrong
    assert dev.cli("schedule", "set", "nightly", "--", "true", check=False).code == 1
    assert dev.cli("schedule", "add", "x", *when, "--rounds", "2", "--", "true", check=False).code == 2


def test_a_trigger(dev, tmp_path):
    graph = tmp_path / "graph.json"
    graph.write_text(json.dumps(PACKAGES))
    assert dev.cli("graph", "load", "core", str(graph)).code == 0
    added = dev.cli("schedule", "add", "weekly", "--item", json.dumps({"epoch": {"period": 1 << 30}}), "--max-shift",
                    "1h", "--trigger", "core", "--touched", "core/gcc", "--", "echo", "{package}")
    assert added.code == 0, added
    group = dev.cli("schedule", "run", "weekly").out.strip()
    assert dev.cli("wait", "@last").code == 0
    api = Api(dev)
    assert {j["name"] for j in api.get(f"/v1/groups/{group}/jobs")["items"]} == {"core/gcc#1", "core/make#1"}
    api.delete("/v1/graphs/core")
    group = dev.cli("schedule", "run", "weekly").out.strip()
    assert dev.cli("wait", "@last", check=False).code == 1
    failed = api.get(f"/v1/groups/{group}")
    assert failed["state"] == "failed" and "core" in failed["reason"], failed
