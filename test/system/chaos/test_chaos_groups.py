# SPDX-License-Identifier: Apache-2.0
"""The plan of a real package graph, with server and workers killed -9 fifty times on the way: it is built whole."""
import os

import chaos
import harness
from chaos import pause, rng  # noqa: F401 (a fixture)
from harness import wait_until
from records import Records

GRAPH = os.path.join(harness.ROOT, "test", "unit", "graph", "real_graph.json")
KILLS = 50


def make_jobs(records):
    plan = harness.run("group", "plan", GRAPH, "-o", "json").json
    return [{"name": j["name"], "command": records.command(), "needs": [n["job"] for n in j["needs"]],
             "max_attempts": 50, "backoff": "10ms", "backoff_max": "50ms"} for j in plan["jobs"]]


def check_order(records, tasks, jobs):
    """No job began before what it needs had ended well: by what the jobs themselves wrote, in that order."""
    first = {}
    for i, line in enumerate(records.lines()):
        if line.what == "begin":
            first.setdefault(line.task, i)
    ended = {line.task: i for i, line in enumerate(records.lines()) if line.what == "end" and line.code == 0}
    by_name = {t["name"]: t["id"] for t in tasks.values()}
    assert len(by_name) == len(jobs) == len(first)
    for job in jobs:
        for need in job["needs"]:
            assert ended[by_name[need]] < first[by_name[job["name"]]], f"{job['name']} began before {need} had ended"


def check_built_once(tasks):
    """By the book: of each job one attempt has succeeded, the last one."""
    for task in tasks.values():
        good = [a["token"] for a in task["attempts"] if a["state"] == "succeeded"]
        assert good == [task["token"]], task


def build_amid_kills(cluster, rng, workers, n_jobs, kills):
    """The first jobs of the plan, of which none needs a later one. Returns what they wrote, and their tasks by id."""
    cluster._base = cluster.url
    records = Records(cluster)
    jobs = make_jobs(records)[:n_jobs]
    group = cluster.call("POST", "/v1/groups", expect=201,
                         json={"name": "real", "queue": chaos.QUEUE, "jobs": jobs}).json()
    assert group["jobs"] == n_jobs
    for _ in range(kills):
        # some of the kills come in quick succession, most after a step forward
        before = len(records.begun())
        if rng.random() < 0.8 and before < n_jobs - 20:
            wait_until(lambda: len(records.begun()) > before, what="another job began")
        pause(rng, 0, 0.05)
        victims = rng.choice([[cluster.server], [rng.choice(workers)], [cluster.server, rng.choice(workers)]])
        for victim in victims:
            victim.kill9()
        for victim in victims:
            victim.start()
    chaos.wait_open(cluster)

    def over():
        g = cluster.get("/v1/groups/real")
        assert g["state"] in ("dispatching", "complete"), g
        return g["state"] == "complete" and g
    done = wait_until(over, what="the group is complete")
    assert done["counts"] == {"built": n_jobs, "failed": 0, "lost": 0, "skipped": 0, "cancelled": 0}
    tasks = {t["id"]: t for t in cluster.all_tasks(queue=chaos.QUEUE, full="true")}
    assert len(tasks) == n_jobs and all(t["state"] == "succeeded" for t in tasks.values())
    records.check()
    records.check_claims(tasks, certain=False)
    good = [line.task for line in records.lines() if line.what == "end" and line.code == 0]
    assert set(good) == set(tasks)
    check_built_once(tasks)
    check_order(records, tasks, jobs)
    assert not chaos.task_processes(set(tasks)), "all is over, yet something runs"
    return records, tasks


def test_a_real_graph_amid_fifty_kills(cluster, rng):
    """A job whose end went with its worker is done again: nobody else knew of it. By the book it was built once."""
    workers = chaos.start(cluster, workers=("w1", "w2", "w3"), threads=20)
    build_amid_kills(cluster, rng, workers, 721, KILLS)


def test_jobs_that_outlive_their_worker_are_built_once(cluster, rng):
    """With on_worker_exit: keep the next worker finds what ran, and what had ended: nothing is done twice."""
    workers = chaos.start(cluster, workers=("w1", "w2"), threads=8, args=("--on-worker-exit", "keep"))
    records, tasks = build_amid_kills(cluster, rng, workers, 120, 12)
    good = sorted(line.task for line in records.lines() if line.what == "end" and line.code == 0)
    assert good == sorted(tasks)
