# SPDX-License-Identifier: Apache-2.0
"""A database that a killed server of an older version left is opened, whole; and taken back down."""
import os
import pathlib
import sqlite3

from client import Api
from harness import run

STORES = pathlib.Path(__file__).parent / "stores"


def lay_down(server, name):
    path = os.path.join(server.state_dir(), "reeve.db")
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.unlink(path + suffix)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript((STORES / name).read_text())
    db.close()
    return path


def by_state(api):
    found = {}
    for task in api.get("/v1/tasks")["items"]:
        found.setdefault(task["state"], []).append(task)
    return found


def test_a_store_of_schema_10(server):
    server.server.stop()
    path = lay_down(server, "schema10.sql")
    server.restart()
    api = Api(server)
    tasks = by_state(api)
    assert {state: len(of) for state, of in tasks.items()} == {
        "succeeded": 1, "failed": 1, "cancelled": 1, "held": 1, "queued": 5, "running": 1}, tasks
    failed = api.task(tasks["failed"][0]["id"])
    assert failed["attempt"] == 3 and failed["labels"] == {"team": "a"} and failed["exit_code"] == 3
    assert sorted(server.cli("logs", failed["id"]).out.split()) == ["err", "out"]
    array = [t for t in tasks["queued"] if t.get("batch")]
    assert len(array) == 3 and len({t["batch"] for t in array}) == 1
    assert len(api.get(f"/v1/tasks?batch={array[0]['batch']}")["items"]) == 3
    schedule = api.get("/v1/schedules/hourly")
    assert schedule["time_zone"] == "Europe/Berlin" and schedule["state"] == "active"
    queue = api.get("/v1/queues/later")
    assert queue["paused"] and queue["pause_reason"] == "not yet"
    assert server.cli("audit", "verify").code == 0
    server.server.stop()
    assert run("store", "check", "--store", f"sqlite:{path}").code == 0
    run("store", "migrate", "--to", "10", "--store", f"sqlite:{path}")
    db = sqlite3.connect(path)
    assert db.execute("PRAGMA user_version").fetchone()[0] == 10
    assert db.execute("SELECT count(*) FROM task").fetchone()[0] == 10
    db.close()
