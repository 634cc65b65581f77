# SPDX-License-Identifier: Apache-2.0
"""Clocks that are wrong: the server goes by its own, and shows what workers say only where it is possible."""
import datetime

import pytest
from harness import wait_until
from shims import WallClock

DAY = 86400


def at(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


@pytest.fixture
def clock(tmp_path):
    return WallClock(str(tmp_path))


@pytest.mark.parametrize("off", [-40 * DAY, 40 * DAY])
def test_a_worker_whose_clock_is_wrong_loses_no_end(cluster, clock, off):
    clock.set(off)
    cluster.start_server(env={"REEVE_SERVER_RETENTION_AGE": "1h", "REEVE_SERVER_RETENTION_COUNT": "2"})
    cluster.start_worker(name="w1", env=clock.env)
    chaff = cluster.submit("true")["id"]
    cluster.wait_ended(chaff)
    task = cluster.submit("sh", "-c", "sleep 0.5; echo precious")["id"]
    t = cluster.wait_ended(task)
    assert t["times_doubtful"] is True
    assert at(t["claimed"]) <= at(t["started"]) <= at(t["ended"]) <= at(t["mtime"])
    assert at(t["ended"]) - at(t["started"]) >= 0.4, "how long it took is kept"
    cluster.wait_ended(cluster.submit("true")["id"])
    # age is looked at before count: once the third is too many, all have been looked at by age
    wait_until(lambda: cluster.call("GET", f"/v1/tasks/{chaff}").status_code == 404, timeout=90,
               what="retention has looked")
    assert cluster.task(task)["stdout"] == "precious\n"
    assert "doubtful" in cluster.cli("task", "show", task).out


def test_clocks_in_step_are_believed(dev):
    t = dev.wait_ended(dev.submit("true")["id"])
    assert t["times_doubtful"] is False
    assert "doubtful" not in dev.cli("task", "show", t["id"]).out


def test_the_servers_clock_steps_under_load(cluster, clock, tmp_path):
    """By an hour, a day and forty days, there and back: every task runs once, nobody is lost, no end goes early."""
    cluster.start_server(env={**clock.env, "REEVE_SERVER_RETENTION_AGE": "3650d"})
    cluster.start_worker(name="w1")
    out = tmp_path / "ran"
    ids = []
    for step in (0, 3600, -3600, DAY, -DAY, 40 * DAY, -40 * DAY, 0):
        clock.set(step)
        ids += [cluster.submit("sh", "-c", f"echo {len(ids) + n} >> {out}", max_attempts=1)["id"] for n in range(8)]
    ended = [cluster.wait_ended(i) for i in ids]
    assert {t["state"] for t in ended} == {"succeeded"}
    assert sorted(map(int, out.read_text().split())) == list(range(len(ids))), "each ran once"
    assert len(set(ids)) == len(ids)
    for t in ended:
        assert at(t["started"]) <= at(t["ended"]) <= at(t["mtime"])
    assert [w["state"] for w in cluster.get("/v1/workers")["items"]] == ["healthy"]
    assert sorted(t["id"] for t in cluster.all_tasks()) == sorted(ids)
