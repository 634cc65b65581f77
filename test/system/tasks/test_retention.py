# SPDX-License-Identifier: Apache-2.0
"""Ended tasks are deleted by age and by count, with all they wrote; live ones never."""
import os
import sqlite3
import time

from harness import wait_until

MUST_DIE = 3  # among the states of workers, as it is stored
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


def lost_at(cluster, name, seen_s, ago_s):
    """As if it had been seen for so long, and last so long ago, and had been lost since."""
    ago = int((time.time() - ago_s) * 1000)
    return (f"UPDATE worker SET state = {MUST_DIE}, first_seen_ms = {ago - seen_s * 1000}, last_seen_ms = {ago}, sum = NULL"
            f" WHERE shard = '{name}'")


def test_lost_workers_are_forgotten(cluster):
    cluster.start_server()
    for name in ("passer-by", "lately", "colleague", "ancient", "set"):
        cluster.start_worker(name=name).stop()
    cluster.cli("worker", "set", "set", "--maxthreads", "3")
    assert cluster.server.stop() == 0
    db = sqlite3.connect(os.path.join(cluster.state_dir(), "reeve.db"))
    for change in (lost_at(cluster, "passer-by", 10, 2 * 3600), lost_at(cluster, "lately", 10, 600), lost_at(cluster, "colleague", 86400, 2 * 3600),
                   lost_at(cluster, "ancient", 86400, 31 * 86400), lost_at(cluster, "set", 10, 31 * 86400)):
        assert db.execute(change).rowcount == 1
    db.commit()
    db.close()
    cluster.restart()
    names = lambda: sorted(w["name"] for w in cluster.get("/v1/workers")["items"])
    wait_until(lambda: names() == ["colleague", "lately", "set"], what="old ones are forgotten")
    removed = lambda: {e["subject"] for e in cluster.get("/v1/events")["items"] if e["kind"] == "worker.removed"}
    wait_until(lambda: removed() == {"passer-by", "ancient"}, what="that is in the trail")
