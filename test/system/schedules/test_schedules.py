# SPDX-License-Identifier: Apache-2.0
"""Schedules in real processes: one task a tick through crashes, and a word about every other tick."""
import json
import os
import re
import shutil
import time

import pytest
from client import Api
from harness import ROOT, wait_until

EVERY_SECOND = {"epoch": {"period": 1}}


def body(name="s", **members):
    made = {"name": name, "items": EVERY_SECOND, "max_shift": "10m", "task": {"command": ["true"]}}
    if {"crontab", "calendar"} & set(members):
        del made["items"]
    return {**made, **members}


def make(api, name="s", **members):
    return api.post("/v1/schedules", body(name, **members), 201)


def history(api, name="s"):
    """All of it, oldest first."""
    pages = api.pages(f"/v1/schedules/{name}/history", 100)
    return [tick for page in pages for tick in page][::-1]


def outcomes(api, name="s"):
    return [t["outcome"] for t in history(api, name)]


def wait_ticks(api, n, outcome="fired", name="s"):
    def enough():
        ticks = [t for t in history(api, name) if t["outcome"] == outcome]
        return ticks if len(ticks) >= n else None
    return wait_until(enough, what=f"{n} ticks of {name} are {outcome}")


def tasks_of(api, name="s"):
    return [t for page in api.pages(f"/v1/tasks?schedule={name}", 100) for t in page]


def one_task_each(api, name="s"):
    """The books agree: every tick that has a task has one, and every task has its tick."""
    tasks = {t["id"]: t["tick"] for t in tasks_of(api, name)}
    ticks = {t["task"]: t["tick"] for t in history(api, name) if t["task"] and t["outcome"] != "manual"}
    assert tasks == ticks
    assert len(set(tasks.values())) == len(tasks)
    return tasks


def test_the_first_example_of_the_page(api):
    """As it stands there, also for who has just been through README's tour, which has made a schedule."""
    with open(f"{ROOT}/docs/SCHEDULES.md", encoding="utf-8") as f:
        example = json.loads(re.search(r"-d '({.*?})'", f.read(), re.S).group(1))
    with open(f"{ROOT}/README.md", encoding="utf-8") as f:
        make(api, re.search(r"\$ reeve schedule add (\S+) ", f.read()).group(1))
    assert api.post("/v1/schedules", example, 201)["words"] == "at 02:30, every day"


# -- firing


def test_fires_each_second(live):
    make(live)
    ticks = wait_ticks(live, 3)
    first = ticks[0]
    assert first["reason"] is None and first["until"] is None and first["tick"].endswith("000Z")
    task = live.ended(first["task"])
    assert task["state"] == "succeeded" and task["schedule"] == "s" and task["tick"] == first["tick"]
    schedule = live.get("/v1/schedules/s")
    assert schedule["fired"] >= 3 and schedule["last"]["task"] and schedule["words"]
    live.post("/v1/schedules/s/pause")
    one_task_each(live)


def test_overlap_skip(live):
    make(live, task={"command": ["sleep", "60"]})
    skipped = wait_ticks(live, 2, "skipped")
    fired = wait_ticks(live, 1)
    assert len(tasks_of(live)) == 1
    assert fired[0]["task"] in skipped[0]["reason"]


def test_overlap_allow(live):
    make(live, overlap="allow", task={"command": ["sleep", "60"]})
    wait_ticks(live, 3)
    assert live.get("/v1/schedules/s")["live"] >= 3


def test_overlap_queue(live, tmp_path):
    gate = tmp_path / "gate"
    make(live, overlap="queue", task={"command": ["sh", "-c", f"while ! test -e {gate}; do sleep 0.1; done"]})
    waiting = wait_ticks(live, 1, "waiting")
    wait_ticks(live, 1, "skipped")
    assert len(tasks_of(live)) == 1
    gate.touch()
    after = wait_until(lambda: [t for t in history(live) if t["tick"] == waiting[0]["tick"] and t["task"]],
                       what="the tick that waited has a task")
    assert after[0]["outcome"] == "fired" and "waited" in after[0]["reason"]


def test_overlap_replace(live):
    make(live, overlap="replace", task={"command": ["sleep", "60"]})
    ticks = wait_ticks(live, 2)
    old = live.ended(ticks[0]["task"])
    assert old["state"] == "cancelled" and "replaced" in old["reason"]


def test_start_end_and_jitter(api):
    end = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 4))
    made = make(api, start="2s", end=end, jitter="1h", overlap="allow")
    assert made["state"] == "active" and made["jitter_ms"] == 3600000
    done = wait_until(lambda: [s for s in [api.get("/v1/schedules/s")] if s["state"] == "finished"],
                      what="the schedule is finished")[0]
    assert done["next"] is None
    tasks = tasks_of(api)
    assert tasks and all(made["start"] <= t["tick"] <= end.replace("Z", ".000Z") for t in tasks)
    assert any(t["due"] for t in tasks), "an hour's jitter delays them"
    # that it is finished can be seen a moment before it is durable
    wait_until(lambda: [e["kind"] for e in api.get("/v1/events?schedule=s")["items"]] ==
               ["schedule.created", "schedule.finished"], what="its end is in the trail")


# -- crashes


def crash_and_wait(cluster, seconds):
    """Down for that long: the only way to miss ticks is that their time passes."""
    cluster.server.kill9()
    down = time.time()
    wait_until(lambda: time.time() > down + seconds, what="time has passed")
    cluster.restart()


def test_one_task_a_tick_through_crashes(new_cluster):
    cluster = new_cluster()
    cluster.start_server()
    make(Api(cluster), overlap="allow", missed="all")
    for _ in range(3):
        api = Api(cluster)
        before = len(history(api))
        wait_until(lambda: len(history(api)) >= before + 2, what="it ticks")
        crash_and_wait(cluster, 2)
    api = Api(cluster)
    count = len(history(api))
    wait_until(lambda: len(history(api)) > count, what="it ticks again")
    api.post("/v1/schedules/s/pause")
    seconds = sorted(one_task_each(api).values())
    whole = [time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(i)) for i in range(
        *[int(time.mktime(time.strptime(s[:19] + " UTC", "%Y-%m-%dT%H:%M:%S %Z"))) - time.timezone + k
          for s, k in ((seconds[0], 0), (seconds[-1], 1))])]
    assert seconds == whole, "a second without a task"


@pytest.mark.parametrize("missed, late", [("once", 1), ("skip", 0)])
def test_missed_after_a_long_time(new_cluster, missed, late):
    """On time is whatever is found within a minute; so the clock's minute is shortened by a faked past."""
    cluster = new_cluster()
    cluster.start_server()
    api = Api(cluster)
    make(api, missed=missed, overlap="allow", max_shift="1d")
    wait_ticks(api, 1)
    cluster.server.kill9()
    rewind(cluster, 600)
    cluster.restart()
    api = Api(cluster)
    skipped = wait_ticks(api, 1, "skipped")[0]
    assert "not running" in skipped["reason"] and skipped["until"]
    late_ones = [t for t in history(api) if t["outcome"] == "fired" and t["reason"]]
    assert len(late_ones) == late
    wait_until(lambda: [t for t in history(api) if t["outcome"] == "fired" and not t["reason"]],
               what="it goes on")


def test_too_late_is_too_late(new_cluster):
    cluster = new_cluster()
    cluster.start_server()
    api = Api(cluster)
    make(api, missed="all", overlap="allow", max_shift="2m")
    wait_ticks(api, 1)
    cluster.server.kill9()
    rewind(cluster, 3600)
    cluster.restart()
    api = Api(cluster)
    skipped = wait_ticks(api, 1, "skipped")[0]
    assert "more than 120 s" in skipped["reason"]
    wait_ticks(api, 100)
    assert len(tasks_of(api)) < 3600


def rewind(cluster, seconds):
    """As if the server had been down for that long: how far the schedule has got lies further back."""
    import sqlite3
    db = sqlite3.connect(os.path.join(cluster.state_dir(), "reeve.db"))
    columns = ["done_until_s", "seen_until_s", "system_s", "dealt0_from_s", "dealt0_to_s"]
    with db:
        # a row without a checksum is believed
        moved = ", ".join(f"{c} = {c} - {seconds}" for c in columns)
        db.execute(f"UPDATE schedule SET {moved}, state_sum = NULL")
        db.execute(f"UPDATE tick SET tick_s = tick_s - {seconds}, until_s = until_s - {seconds}, sum = NULL")
    db.close()


# -- what people ask for


def test_pause_leaves_a_recorded_skip(api):
    make(api, overlap="allow")
    wait_ticks(api, 1)
    paused = api.post("/v1/schedules/s/pause", {"reason": "the disk is full"})
    assert paused["state"] == "paused" and paused["pause"]["reason"] == "the disk is full" and paused["next"] is None
    count = len(tasks_of(api))
    then = time.time()
    wait_until(lambda: time.time() > then + 2.5, what="ticks were due")
    assert len(tasks_of(api)) == count
    assert api.post("/v1/schedules/s/resume")["pause"] is None
    skipped = wait_ticks(api, 1, "skipped")[0]
    assert skipped["reason"] == "paused: the disk is full" and skipped["until"] > skipped["tick"]
    wait_ticks(api, 2)


def test_pause_ends_by_itself(api):
    make(api, overlap="allow")
    api.post("/v1/schedules/s/pause", {"until": "2s"})
    wait_until(lambda: api.get("/v1/schedules/s")["state"] == "active", what="it is active again")
    assert wait_ticks(api, 1, "skipped")[0]["reason"] == "paused"


def test_backfill_gives_tasks_once(api):
    make(api, overlap="allow", items={"epoch": {"period": 60}})
    first = api.post("/v1/schedules/s/backfill", {"from": "10m"})["tasks"]
    assert 9 <= len(first) <= 10
    assert api.post("/v1/schedules/s/backfill", {"from": "9m"})["tasks"] == []
    assert set(one_task_each(api)) >= set(first)
    assert set(outcomes(api)) <= {"backfill", "fired"}
    api.refused("POST", "/v1/schedules/s/backfill", 413, "too-large", json={"from": "100d"})
    api.refused("POST", "/v1/schedules/s/backfill", 400, "invalid", json={"from": "1m", "to": "2199-01-01T00:00:00Z"})


def test_run_now(live):
    make(live, items={"epoch": {"start": 32000000000, "period": 1}})
    response = live.ask("POST", "/v1/schedules/s/run")
    assert response.status_code == 201
    task = live.ended(response.json()["tasks"][0])
    assert task["state"] == "succeeded" and task["schedule"] == "s" and task["tick"] is None
    assert response.headers["Location"].endswith(task["id"])
    assert outcomes(live) == ["manual"]


def test_idempotency_key(api):
    headers = {"Idempotency-Key": "k1"}
    first = api.ask("POST", "/v1/schedules", json=body(), headers=headers)
    again = api.ask("POST", "/v1/schedules", json=body(), headers=headers)
    assert first.status_code == again.status_code == 201
    assert first.json()["id"] == again.json()["id"] and again.headers["Idempotent-Replay"] == "true"
    api.refused("POST", "/v1/schedules", 422, "idempotency-key-reused", json=body("other"), headers=headers)
    ran = [api.ask("POST", "/v1/schedules/s/run", headers={"Idempotency-Key": "k2"}).json() for _ in "12"]
    assert ran[0] == ran[1]


def test_versions(api):
    made = make(api)
    tag = api.ask("GET", "/v1/schedules/s").headers["ETag"]
    assert tag == '"1"' and made["version"] == 1
    changed = api.ask("PATCH", "/v1/schedules/s", json={"jitter": "5s", "name": "t"}, headers={"If-Match": tag})
    assert changed.status_code == 200 and changed.json()["version"] == 2 and changed.json()["name"] == "t"
    for method, path, what in (("PATCH", "", {"jitter": 1}), ("POST", "/pause", {}), ("POST", "/run", {}),
                               ("POST", "/backfill", {"from": "1m"}), ("DELETE", "", None)):
        api.refused(method, "/v1/schedules/t" + path, 412, "precondition-failed", json=what, headers={"If-Match": tag})
    api.delete("/v1/schedules/" + made["id"])
    api.refused("GET", "/v1/schedules/t", 404, "not-found")


def test_a_queue_in_use_stays(api):
    api.queue("q")
    make(api, task={"queue": "q", "command": ["true"]}, crontab="0 0 1 1 *", time_zone="UTC")
    problem = api.refused("DELETE", "/v1/queues/q", 409, "conflict")
    assert '"s"' in problem["detail"]
    api.delete("/v1/schedules/s")
    api.delete("/v1/queues/q")


@pytest.fixture(scope="module")
def shared(module_cluster):
    return Api(module_cluster("server"))


@pytest.mark.parametrize("members, field", [
    ({"crontab": "30 25 * * *", "time_zone": "UTC"}, "crontab"), ({"crontab": "0 0 30 2 *", "time_zone": "UTC"}, "crontab"),
    ({"crontab": "0 0 * * *"}, "time_zone"), ({"crontab": "0 0 * * *", "time_zone": "Europe/Berln"}, "time_zone"),
    ({"crontab": "0 0 * * *", "time_zone": "../../etc/passwd"}, "time_zone"),
    ({"calendar": "Mon *-*-* 25:00", "time_zone": "UTC"}, "calendar"), ({"items": []}, "items"), ({"items": "x"}, "items"),
    ({"items": [{"epoch": 5}, {"minute": 5, "dst_fixes": "vixie"}], "time_zone": "UTC"}, "items"),
    ({"items": {"hour": 5}}, "items"), ({"items": {"epoch": {"period": 0}}}, "items"), ({"max_shift": None}, "max_shift"),
    ({"max_shift": "-1s"}, "max_shift"), ({"overlap": "x"}, "overlap"), ({"missed": 3}, "missed"),
    ({"jitter": "-5"}, "jitter"), ({"start": "2d", "end": "1d"}, "end"), ({"task": {"command": "date"}}, "task.command"),
    ({"task": {"command": ["date"], "key": "k"}}, "task.key"), ({"task": {"command": ["x"], "run_after": 1}}, "task.run_after"),
    ({"name": ""}, "name"), ({"name": "preview"}, "name"), ({"nmae": "x"}, "nmae"),
    ({"dst": "vixie"}, "dst"),
])
def test_bad_schedules(shared, members, field):
    problem = shared.refused("POST", "/v1/schedules", 400, "invalid", json=body(**members))
    assert problem["field"].startswith(field), problem
    assert shared.get("/v1/schedules")["items"] == []


def test_unknown_queue(shared):
    shared.refused("POST", "/v1/schedules", 404, "not-found", "task.queue",
                   json=body(task={"queue": "nowhere", "command": ["true"]}))


def test_preview(shared):
    seen = shared.post("/v1/schedules/preview", {"crontab": "30 2 * * *", "time_zone": "Europe/Berlin",
                                                 "from": "2027-03-27T12:00:00Z", "n": 2, "year": 2027})
    assert [m["local"] for m in seen["next"]] == ["2027-03-28T01:59:59+01:00", "2027-03-29T02:30:00+02:00"]
    assert [n["trick"] for n in seen["daylight_saving"]] == ["gap", "overlap"]
    assert "02:30 does not exist" in seen["daylight_saving"][0]["text"]


# -- told to others


def test_events_and_metrics(api):
    stream = api.stream("?kind=schedule")
    make(api, overlap="skip")
    stream.wait_for(lambda _: {"schedule.created", "schedule.fired", "schedule.skipped"} <= set(stream.kinds()),
                    "the schedule, a tick with a task and one without")
    fired = [e["data"] for e in stream.events if e["event"] == "schedule.fired"][0]
    assert fired["schedule"] == "s" and fired["task"] and fired["tick"] and "status" not in fired
    text = api.ask("GET", "/metrics").text
    assert 'reeve_schedules{state="active"} 1' in text
    assert 'reeve_schedule_ticks_total{outcome="fired"} 1' in text
    assert "reeve_schedule_lateness_seconds_count 1" in text


# -- zones


def zone_dir(cluster, **files):
    """A zoneinfo of our own: these names are those of the system."""
    folder = os.path.join(cluster.dir, "zoneinfo")
    os.makedirs(os.path.join(folder, "Our"), exist_ok=True)
    for name, system in files.items():
        path = os.path.join(folder, "Our", name)
        shutil.copyfile(f"/usr/share/zoneinfo/{system}", path + ".new")
        os.replace(path + ".new", path)
    return {"REEVE_SERVER_ZONEINFO_DIR": folder, "REEVE_SERVER_ZONEINFO_REFRESH": "200ms"}


def test_a_zone_that_changes(new_cluster):
    cluster = new_cluster()
    cluster.start_server(env=zone_dir(cluster, Town="Etc/GMT-1"))
    api = Api(cluster)
    made = make(api, crontab="30 12 * * *", time_zone="Our/Town")
    assert made["next"].endswith("T11:30:00.000Z")
    zone_dir(cluster, Town="Etc/GMT-2")
    wait_until(lambda: api.get("/v1/schedules/s")["next"].endswith("T10:30:00.000Z"), what="the schedule follows its zone")
    assert api.get("/v1/schedules/s")["next_local"].endswith("T12:30:00+02:00")


def test_a_zone_that_is_lost_and_found(new_cluster):
    cluster = new_cluster()
    cluster.start_server(env=zone_dir(cluster, Town="Etc/GMT-1"))
    api = Api(cluster)
    make(api, crontab="* * * * *", time_zone="Our/Town")
    cluster.server.stop()
    os.remove(os.path.join(cluster.dir, "zoneinfo", "Our", "Town"))
    cluster.restart()
    api = Api(cluster)
    lost = api.get("/v1/schedules/s")
    assert "time zone" in lost["problem"] and lost["next"] is None
    assert "Our/Town" in cluster.server.log()
    zone_dir(cluster, Town="Etc/GMT-1")
    wait_until(lambda: api.get("/v1/schedules/s")["problem"] is None, what="the zone is found again")
    assert api.get("/v1/schedules/s")["next"]
