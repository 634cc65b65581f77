# SPDX-License-Identifier: Apache-2.0
"""Ended tasks are deleted by age and by count, with all they wrote; live ones never."""
import sqlite3

from harness import wait_until

BIG = "head -c 200000 /dev/urandom | base64"


def rows(cluster, table):
    """What really lies in the database."""
    db = sqlite3.connect(f"file:{cluster.state_dir()}/reeve.db?mode=ro", uri=True)
    try:
        return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    finally:
        db.close()


def live_tasks(cluster):
    """One of each kind that must stay, however old."""
    cluster.create_queue("paused")
    cluster.cli("queue", "pause", "paused")
    running = cluster.submit("sh", "-c", "echo kept; sleep 1000")["id"]
    cluster.wait_task(running, "running")
    return [running, cluster.submit("true", queue="paused")["id"], cluster.submit("true", status=-7)["id"],
            cluster.submit("true", run_after="1h")["id"]]


def test_by_age(cluster):
    cluster.start_dev(env={"REEVE_SERVER_RETENTION_AGE": "2s"})
    live = live_tasks(cluster)
    old = [cluster.submit("sh", "-c", BIG)["id"], cluster.submit("false")["id"]]
    for i in old:
        cluster.wait_ended(i)
    assert rows(cluster, "output") > 0
    wait_until(lambda: cluster.call("GET", f"/v1/tasks/{old[0]}").status_code == 404)
    wait_until(lambda: cluster.get("/v1/tasks/summary")["total"] == len(live))
    assert [cluster.call("GET", f"/v1/tasks/{i}").status_code for i in live] == [200] * len(live)
    gone = cluster.cli("logs", old[0], check=False)
    assert gone.code != 0 and old[0] in gone.err
    wait_until(lambda: rows(cluster, "task") == len(live), what="the rows are gone")
    wait_until(lambda: rows(cluster, "output") <= 1, what="the output is gone with its task")
    cluster.cli("queue", "resume", "paused")
    assert cluster.wait_ended(live[1])["state"] == "succeeded"


def test_by_count(cluster):
    cluster.start_dev(env={"REEVE_SERVER_RETENTION_COUNT": "5", "REEVE_SERVER_RETENTION_AGE": "0"})
    live = live_tasks(cluster)
    ids = []
    for n in range(12):
        ids.append(cluster.submit("sh", "-c", BIG if n % 2 else "true")["id"])
        cluster.wait_ended(ids[-1])
    wait_until(lambda: cluster.get("/v1/tasks/summary")["done"] == 5)
    kept = [t["id"] for t in cluster.all_tasks() if t["id"] not in live]
    assert kept == ids[-5:], "the oldest go first"
    assert {t["id"] for t in cluster.all_tasks()} >= set(live)
    db_tasks = len(kept) + len(live)
    wait_until(lambda: rows(cluster, "task") == db_tasks)
    big = [i for n, i in enumerate(ids) if n % 2 and i in kept]
    for i in big:
        assert len(cluster.cli("logs", i).out) > 200000


def test_bodies_go_with_their_tasks(cluster):
    cluster.start_dev(env={"REEVE_SERVER_RETENTION_COUNT": "1", "REEVE_SERVER_RETENTION_AGE": "0"})
    for _ in range(4):
        cluster.wait_ended(cluster.submit("true", "x" * 100000)["id"])
    wait_until(lambda: rows(cluster, "task") == 1)
    wait_until(lambda: rows(cluster, "task_body") <= 1)


def test_many_are_pruned_while_work_goes_on(cluster):
    cluster.start_server(env={"REEVE_SERVER_RETENTION_COUNT": "100", "REEVE_SERVER_RETENTION_AGE": "0"})
    cluster.create_queue("q")
    cluster.cli("queue", "pause", "q")
    cluster.submit_many([{"queue": "q", "command": ["true"]}] * 3000)
    cluster.cli("cancel", "--queue", "q", "--yes")
    cluster.start_worker(name="w1")
    cluster.cli("queue", "resume", "q")
    last = cluster.submit("true", queue="q")["id"]
    assert cluster.wait_ended(last)["state"] == "succeeded"
    wait_until(lambda: cluster.get("/v1/tasks/summary")["total"] == 100)
    assert cluster.get(f"/v1/tasks/{last}")["state"] == "succeeded", "the newest stays"
    assert cluster.get("/v1/queues/q")["counts"]["queued"] == 0
