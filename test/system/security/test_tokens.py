# SPDX-License-Identifier: Apache-2.0
"""Tokens with rights, as people and programs use them: made, limited, expired, revoked, over restarts."""
import json
import os
import sqlite3
import subprocess
import threading

import pytest
import requests
from client import Api, Canary
from harness import PATIENCE, wait_until
from link_client import Closed, Link, new_key


def make(cluster, name, *words):
    """A token's bearer."""
    token = cluster.cli("token", "create", name, *words).out.strip()
    assert token.startswith("rv_")
    return Api(cluster, token)


def refused(api, method, path, status, **options):
    name = {401: "unauthorized", 403: "denied", 404: "not-found"}[status]
    return api.refused(method, path, status, name, **options)


def test_made_listed_revoked(server):
    api = make(server, "ci", "--role", "submit", "--expires", "30d")
    api.submit()
    made = server.json("token", "create", "other", "--role", "read", "--queue", "a", "--queue", "b", "--label", "k=v")
    assert made["token"].startswith("rv_" + made["id"] + "_") and made["labels"] == {"k": "v"}
    listed = {t["name"]: t for t in server.json("token", "ls")["items"]}
    assert listed["ci"]["role"] == "submit" and listed["ci"]["expires"] and not listed["ci"]["expired"]
    assert listed["other"]["queues"] == ["a", "b"] and listed["other"]["creator"] == f"uid={os.getuid()}"
    table = server.cli("token", "ls").out
    assert "ci" in table and "a,b" in table and "k=v" in table and made["token"][-64:] not in table
    assert server.cli("token", "create", "ci", "--role", "read", check=False).code == 1
    assert "revoked" in server.cli("token", "revoke", "ci").out
    refused(api, "GET", "/v1/status", 401)
    assert [t["name"] for t in server.json("token", "ls")["items"]] == ["other"]
    for wrong in (["x"], ["x", "--role", "god"], ["x", "--role", "read", "--join"], ["--role", "read"],
                  ["x", "--role", "read", "--label", "nonsense"], ["x", "--role", "read", "--expires", "1970-01-01T00:00:00Z"],
                  ["x", "--role", "read", "--once"]):
        result = server.cli("token", "create", *wrong, check=False)
        assert result.code in (1, 2) and result.err.startswith("reeve: "), (wrong, result)


def test_the_secret_is_nowhere_but_here(server):
    made = server.json("token", "create", "ci", "--role", "admin")
    secret = made["token"][-64:]
    Api(server, made["token"]).get("/v1/status")
    server.server.stop()
    for name in os.listdir(server.state_dir()):
        path = os.path.join(server.state_dir(), name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                assert secret.encode() not in f.read(), name
    assert secret not in server.server.log()
    db = sqlite3.connect(os.path.join(server.state_dir(), "reeve.db"))
    assert db.execute("SELECT hash FROM token").fetchall()[0][0].startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_restart_keeps_them(server):
    api, gone = make(server, "ci", "--role", "read"), make(server, "gone", "--role", "read")
    server.cli("token", "revoke", "gone")
    server.server.kill9()
    server.restart()
    api.get("/v1/status")
    refused(gone, "GET", "/v1/status", 401)
    refused(api, "POST", "/v1/tasks", 403, json={"command": ["true"]})


def test_expiry(server):
    api = make(server, "brief", "--role", "read", "--expires", "2s")
    stream = api.stream()
    wait_until(lambda: api.ask("GET", "/v1/status").status_code == 401, what="it has expired")
    wait_until(lambda: stream.ended, what="and its stream has ended")
    assert server.json("token", "ls")["items"][0]["expired"]


def test_revoked_in_the_middle(dev):
    api = make(dev, "ci", "--role", "logs")
    task = dev.submit("sh", "-c", "echo begun; sleep 1000")["id"]
    wait_until(lambda: "begun" in dev.call("GET", f"/v1/tasks/{task}/logs").text, what="it runs")
    stream, waited = api.stream(), []
    waiter = threading.Thread(target=lambda: waited.append(api.ask("GET", f"/v1/tasks/{task}?wait=10m", timeout=PATIENCE)))
    waiter.start()
    with api.session.get(api.url + f"/v1/tasks/{task}/logs?follow=true", stream=True, timeout=PATIENCE) as logs:
        assert next(logs.iter_content(6)) == b"begun\n"
        dev.cli("token", "revoke", "ci")
        wait_until(lambda: stream.ended, what="the events have ended")
        waiter.join(PATIENCE)
        assert waited[0].status_code == 401
        assert logs.raw.read(10) == b"", "the log has ended"


def test_limits(dev):
    """No way around: what the unit tests say of each route, once for real."""
    dev.create_queue("mine")
    dev.create_queue("theirs")
    own = make(dev, "own", "--role", "admin", "--queue", "mine")
    task = dev.submit("echo", "secret words", queue="theirs")["id"]
    dev.wait_ended(task)
    for method, path in (("GET", ""), ("GET", "?wait=1s"), ("GET", "/why"), ("GET", "/logs"), ("POST", "/retry"),
                         ("POST", "/cancel")):
        refused(own, method, f"/v1/tasks/{task}{path}", 404)
    refused(own, "POST", "/v1/tasks", 403, json={"queue": "theirs", "command": ["id"]})
    report = own.submit_many([{"queue": q, "command": ["true"]} for q in ("mine", "theirs", "mine")])
    assert report["accepted"] == 2 and len(report["errors"]) == 1
    assert all(t["queue"] == "mine" for t in own.get("/v1/tasks?limit=100")["items"])
    assert own.get(f"/v1/tasks?batch={task}")["items"] == []
    theirs = dev.submit_many([{"queue": "theirs", "command": ["true"]}] * 2)["batch"]
    mixed = dev.submit_many([{"queue": q, "command": ["true"]} for q in ("theirs", "mine")])["batch"]
    for batch in (theirs, task, "0" * 24):
        for body in ({"queue": "mine", "command": ["true"]}, [{"queue": "mine", "command": ["true"]}] * 2):
            refused(own, "POST", f"/v1/tasks?batch={batch}", 404, json=body)
    assert len(dev.all_tasks(batch=theirs)) == 2, "nobody waits for what strangers add"
    for batch in (report["batch"], mixed):
        joined = own.submit_many([{"queue": "mine", "command": ["true"]}] * 2, f"?batch={batch}")
        assert joined["batch"] == batch and joined["accepted"] == 2
    refused(own, "POST", "/v1/tasks/actions/retry", 404, json={"filter": {"queue": "theirs"}})
    assert own.post("/v1/tasks/actions/retry", {"ids": [task]})["refused"] == 1
    schedule = {"name": "s", "crontab": "* * * * *", "time_zone": "UTC", "max_shift": "1h",
                "task": {"queue": "theirs", "command": ["id"]}}
    refused(own, "POST", "/v1/schedules", 403, json=schedule)
    for path in ("/v1/workers", "/v1/tokens", "/metrics"):
        refused(own, "GET", path, 403)
    stream = own.stream()
    dev.submit("true", queue="theirs")
    dev.submit("true", queue="mine")
    events = stream.wait_for(lambda es: any(e["event"] == "task.succeeded" for e in es), "its own task has ended")
    assert {e["data"]["queue"] for e in events} == {"mine"}
    stream.close()
    got = dev.cli("queue", "ls", "-o", "json", env={"REEVE_SERVER": dev.url, "REEVE_TOKEN": own.session.headers[
        "Authorization"][7:]}).json
    assert [q["name"] for q in got["items"]] == ["mine"]


def test_a_key_that_another_holds(dev):
    """A unique key is the queue's; whose task holds it is nobody's business who does not see that task."""
    dev.create_queue("shared")
    held = dev.submit("sh", "-c", "echo SECRET", queue="shared", key="K", labels={"team": "b"},
                      env={"PW": "SECRET"}, status=-10)["id"]
    own = make(dev, "team-a", "--role", "submit", "--label", "team=a")
    mine = {"queue": "shared", "labels": {"team": "a"}, "key": "K", "command": ["true"]}
    answers = [own.ask("POST", "/v1/tasks", json=mine) for _ in range(2)]
    answers.append(own.ask("POST", "/v1/tasks", json=[mine, mine, dict(mine, key="other")]))
    assert [a.status_code for a in answers] == [409, 409, 200]
    for answer in answers:
        assert "SECRET" not in answer.text and held not in answer.text and "conflict" in answer.text
    many = answers[2].json()
    assert (many["accepted"], many["duplicates"], many["rejected"]) == (1, 0, 2)
    assert [e["line"] for e in many["errors"]] == [1, 2] and many["ids"][:2] == [None, None]
    Api(dev).post(f"/v1/tasks/{held}/cancel", {})
    assert own.post("/v1/tasks", mine, 201)["labels"] == {"team": "a"}


def test_numbers_and_keys_of_a_limited_token(dev):
    dev.create_queue("mine")
    dev.create_queue("theirs")
    for _ in range(3):
        dev.submit("true", queue="theirs", status=-10)
    one, two = make(dev, "one", "--role", "submit", "--queue", "mine"), make(
        dev, "two", "--role", "submit", "--label", "team=a")
    body = {"queue": "mine", "command": ["true"], "labels": {"team": "a"}, "status": -10}
    headers = {"Idempotency-Key": "same"}
    ids = [api.ask("POST", "/v1/tasks", json=body, headers=headers).json()["id"] for api in (one, two, two, one)]
    assert ids[0] == ids[3] and ids[1] == ids[2] and ids[0] != ids[1]
    for api in (one, two):
        status = api.get("/v1/status")
        assert status["tasks"]["held"] == 2 and status["rates"] is None
        said = dev.cli("status", env={"REEVE_SERVER": dev.url, "REEVE_TOKEN": api.session.headers[
            "Authorization"][7:]}).out
        assert "2 held" in said and "rates" not in said
    assert dev.get("/v1/status")["tasks"]["held"] == 5
    assert two.get("/v1/queues/theirs")["counts"] is None
    listed = dev.cli("queue", "ls", env={"REEVE_SERVER": dev.url, "REEVE_TOKEN": two.session.headers[
        "Authorization"][7:]}).out
    row = next(line for line in listed.splitlines() if line.startswith("theirs"))
    assert "3" not in row.split(), row
    for empty in ({"queues": []}, {"labels": {}}):
        Api(dev).refused("POST", "/v1/tokens", 400, "invalid", json={"name": "x", "role": "read", **empty})


def test_refusals_and_changes_are_in_the_trail(server):
    api = make(server, "ci", "--role", "operate")
    refused(api, "POST", "/v1/queues", 403, json={"name": "q"})
    boss = make(server, "boss", "--role", "admin")
    boss.queue("q")
    events = server.get("/v1/events", limit=100)["items"]
    kinds = {(e["kind"], e.get("subject"), e.get("actor")) for e in events}
    assert ("access.refused", "createQueue", "token:ci") in kinds
    assert ("queue.created", "q", "token:boss") in kinds
    assert ("token.created", "ci", f"uid={os.getuid()}") in kinds
    for _ in range(300):
        assert requests.get(api.url + "/v1/status", headers={"Authorization": "Bearer x"}, timeout=PATIENCE).status_code == 401
    events = server.get("/v1/events", limit=1000)["items"]
    assert len([e for e in events if e["kind"] == "access.refused"]) <= 40, "nobody fills the disk by being refused"


def trail(cluster, kind):
    return [{**e, "detail": e.get("detail", {})} for e in cluster.get("/v1/events", limit=1000, kind=kind)["items"]]


def test_a_flood_of_refusals_hides_nobody_elses(server):
    late, loud = make(server, "late", "--role", "read"), make(server, "loud", "--role", "read")
    shown = loud.session.headers["Authorization"]
    guess = shown[:-1] + ("0" if shown[-1] != "0" else "1")
    for _ in range(60):
        refused(loud, "GET", "/v1/tokens", 403)
        for wrong in ("Bearer nonsense", guess):
            assert requests.get(late.url + "/v1/tasks", headers={"Authorization": wrong}, timeout=PATIENCE).status_code == 401
    refused(late, "GET", "/v1/tokens", 403)
    who = [(e["actor"], e["detail"].get("token")) for e in trail(server, "access.refused")]
    assert who.count(("token:late", None)) == 1, "whoever else was refused, and how often"
    assert max(map(who.count, who)) <= 41, "and nobody fills the disk"
    assert {("unknown", None), ("unknown", "loud"), ("token:loud", None)} < set(who)


def test_what_a_token_allows_is_in_the_trail(server):
    server.create_queue("builds")
    server.cli("token", "create", "ci", "--role", "submit", "--queue", "builds", "--queue", "more", "--label", "team=a=b")
    server.cli("token", "create", "east", "--join", "--once", "--zone", "east", "--expires", "1d")
    made = {e["subject"]: e["detail"] for e in trail(server, "token.created")}
    assert made["ci"] == {"role": "submit", "queues": ["builds", "more"], "labels": {"team": "a=b"}}
    until = made["east"].pop("expires")
    assert until == server.get("/v1/tokens/east")["expires"]
    assert made["east"] == {"role": "join", "once": True, "zone": "east"}
    shown = server.cli("token", "ls").out
    assert "ZONE" in shown and "east" in shown.split("join (once)")[1]


def test_a_flood_of_wrong_ones_starves_nobody(server):
    """Every one of them names a token that exists, so every one would be worth a look."""
    good, fresh = make(server, "good", "--role", "admin"), make(server, "fresh", "--role", "read")
    good.get("/v1/status")
    wrong = {"Authorization": fresh.session.headers["Authorization"][:-1] + "g"}
    wrong_shape = {"Authorization": fresh.session.headers["Authorization"][:-4] + "0000"}
    stop = threading.Event()

    def flood():
        session = requests.Session()
        while not stop.is_set():
            for headers in (wrong, wrong_shape):
                assert session.get(good.url + "/v1/status", headers=headers, timeout=PATIENCE).status_code in (401, 503)

    threads = [threading.Thread(target=flood, daemon=True) for _ in range(8)]
    for t in threads:
        t.start()
    try:
        with Canary(good, slowest=PATIENCE) as canary:
            before = canary.count
            wait_until(lambda: canary.count > before + 20, what="who is known goes on")
        wait_until(lambda: fresh.ask("GET", "/v1/status").status_code == 200, what="and its true bearer comes in")
    finally:
        stop.set()
        for t in threads:
            t.join(PATIENCE)


def test_curl(server):
    token = server.cli("token", "create", "ci", "--role", "submit").out.strip()
    done = subprocess.run(["curl", "-sf", "--max-time", "30", "-H", f"Authorization: Bearer {token}", "-H",
                           "Content-Type: application/json", server.url + "/v1/tasks", "-d", '{"command":["true"]}'],
                          capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout)["state"] == "queued"


@pytest.mark.parametrize("role, exits", [("read", 1), ("submit", 0)])
def test_the_command_line_with_a_token(dev, role, exits):
    token = dev.cli("token", "create", "x", "--role", role).out.strip()
    done = dev.cli("run", "--", "true", env={"REEVE_SERVER": dev.url, "REEVE_TOKEN": token}, check=False)
    assert (done.code == 0) == (exits == 0), done
    if exits:
        assert "submit" in done.err and "hint" in done.err and token not in done.err


# -- workers

def join_with(cluster, token, name, *words):
    """A worker that shows this token; it is not waited for."""
    return cluster._process(name, ["worker", "--join", cluster.link, "--name", name, "--state-dir", cluster.state_dir(name),
                                   *words], {"REEVE_WORKER_TOKEN": token})


def connected(cluster, name):
    return any(w["name"] == name and w["connected"] for w in cluster.json("worker", "ls")["items"])


def other_secret(token):
    return token[:-1] + ("0" if token[-1] != "0" else "1")


def turned_away(cluster, process):
    wait_until(lambda: "the join token is missing or wrong" in process.log(), what=f"{process.name} was told why")
    assert not cluster.has_worker(process.name)


def test_lasting_join_token(server):
    token = server.cli("token", "create", "rack", "--join", "--expires", "1d").out.strip()
    first, second = join_with(server, token, "w1"), join_with(server, token, "w2")
    for name in ("w1", "w2"):
        wait_until(lambda: connected(server, name), what=f"{name} has joined")
    refused(Api(server, token), "GET", "/v1/status", 401)  # it admits workers, and nobody else
    server.cli("token", "revoke", "rack")
    third = join_with(server, token, "w3")
    turned_away(server, third)
    assert connected(server, "w1"), "who is here stays"
    second.stop()
    second.start()
    wait_until(lambda: connected(server, "w2"), what="and who was here comes back, with its key")
    api = server.cli("token", "create", "ci", "--role", "admin").out.strip()
    turned_away(server, join_with(server, api, "w4"))
    turned_away(server, join_with(server, other_secret(server.cli("token", "create", "rack2", "--join").out.strip()), "w5"))
    assert token[-64:] not in server.server.log() + first.log() + third.log()


def test_join_token_for_one_worker(server):
    token = server.cli("token", "create", "one", "--join", "--once").out.strip()
    first = join_with(server, token, "w1")
    wait_until(lambda: connected(server, "w1"), what="w1 has joined")
    assert server.json("token", "ls")["items"] == [], "it was used up"
    turned_away(server, join_with(server, token, "w2"))
    server.server.kill9()
    server.restart()
    wait_until(lambda: connected(server, "w1"), what="w1 comes back without another")
    first.stop()
    first.start()
    wait_until(lambda: connected(server, "w1"), what="as a new process, too")
    events = server.get("/v1/events", limit=100)["items"]
    assert ("token.used", "one") in {(e["kind"], e.get("subject")) for e in events}


def test_join_token_for_a_zone(server):
    token = server.cli("token", "create", "east", "--join", "--zone", "east").out.strip()
    wrong = join_with(server, token, "w1", "--zone", "west")
    wait_until(lambda: "for another zone" in wrong.log(), what="it was told why")
    assert not server.has_worker("w1")
    join_with(server, token, "w2", "--zone", "east")
    wait_until(lambda: connected(server, "w2"), what="w2 has joined")


def test_a_wrong_secret_is_told_and_costs_one_look(server):
    """Of a token that there is: its bearer hears why, a good one passes by, and each guess is another look."""
    rack = server.cli("token", "create", "rack", "--join").out.strip()
    wrong = other_secret(rack)
    told = wait_until(lambda: refusal(server, wrong, "w1"), what="it was looked at, and is told")
    assert "join token is missing or wrong" in told
    assert refusal(server, wrong, "w1") == told, "from then on at once"
    assert refusal(server, wrong[:-2] + "00" if wrong[-2:] != "00" else wrong[:-2] + "11", "w2") is None, "another is looked at first"
    join_with(server, rack, "good")
    wait_until(lambda: connected(server, "good"), what="the right secret lets in")


def refused_joins(cluster):
    return {(e["actor"], e["detail"].get("token"), e["detail"].get("worker"), e["detail"]["why"].split(":")[0])
            for e in trail(cluster, "access.refused") if e.get("subject") == "join"}


def refusal(cluster, token, name):
    """The reason that such a worker is given; None: it is closed without one, to come again."""
    with Link(cluster) as stranger:
        stranger.knock(name, 1, new_key(), token=token)
        try:
            return stranger.refused()
        except Closed:
            return None


def knock(cluster, token, name):
    with Link(cluster) as stranger:
        stranger.knock(name, 1, new_key(), token=token)
        with pytest.raises(Closed):
            while True:
                stranger.read()


def test_refused_knocks_are_in_the_trail(server):
    rack = server.cli("token", "create", "rack", "--join").out.strip()
    short = server.cli("token", "create", "short", "--join", "--expires", "1s").out.strip()
    gone = server.cli("token", "create", "gone", "--join").out.strip()
    ci = server.cli("token", "create", "ci", "--role", "admin").out.strip()
    server.cli("token", "revoke", "gone")
    wait_until(lambda: server.get("/v1/tokens/short")["expired"], what="it has expired")
    for token, name in (("nonsense", "w1"), (None, "w2"), (other_secret(rack), "w3"),
                        (short, "w4"), (gone, "w5"), (ci, "w6")):
        knock(server, token, name)
    east = server.cli("token", "create", "east", "--join", "--zone", "east").out.strip()
    wrong = join_with(server, east, "w7", "--zone", "west")
    wait_until(lambda: "for another zone" in wrong.log(), what="it was told why")
    missing = "the join token is missing or wrong"
    expected = {("unknown", None, "w1", missing), ("unknown", None, "w2", missing),
                ("unknown", "rack", "w3", "this is not the secret of this token"),
                ("unknown", "short", "w4", "this token has expired"),
                ("unknown", None, "w5", "there is no such join token, or no more"),
                ("unknown", "ci", "w6", "this token does not admit workers"),
                ("token:east", None, "w7", "its join token is for another zone")}
    wait_until(lambda: refused_joins(server) >= expected, what="each is in the trail")
    wrong.stop()
    for _ in range(50):
        knock(server, "nonsense", "flood")
    knock(server, short, "w8")
    wait_until(lambda: ("unknown", "short", "w8", "this token has expired") in refused_joins(server),
               what="and strangers do not hide others")
    assert len([e for e in trail(server, "access.refused") if e["detail"].get("worker") == "flood"]) <= 40


def test_the_trail_tells_by_which_token_a_worker_has_joined(server):
    rack = server.cli("token", "create", "rack", "--join").out.strip()
    once = server.cli("token", "create", "one", "--join", "--once").out.strip()
    for token, name in ((rack, "w1"), (once, "w2"), (server.own_token("join-token"), "w3")):
        join_with(server, token, name)
        wait_until(lambda: connected(server, name), what=f"{name} has joined")
    assert {e["subject"]: e["detail"]["token"] for e in trail(server, "worker.joined")} == {
        "w1": "rack", "w2": "one", "w3": "the server's own"}
    used, = trail(server, "token.used")
    assert (used["subject"], used["actor"], used["detail"]) == ("one", "worker:w2", {"worker": "w2"})
