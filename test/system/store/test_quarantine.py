# SPDX-License-Identifier: Apache-2.0
"""
Rows that do not fit their checksums, one kind at a time: each says by its name that it is damaged, does nothing that
could be wrong, and the rest works. The structure of the database is whole: rows are changed by SQL.
"""
import os
import re
import sqlite3
import subprocess
import time

import pytest
from harness import BIN, clean_environment, run, wait_until

ID = r"[0-9a-f]{24}"


def database(cluster):
    return os.path.join(cluster.state_dir(), "reeve.db")


def damage(cluster, *statements):
    """Changes rows of a stopped server's database, and says what `store check` says of it."""
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    try:
        for statement in statements:
            assert db.execute(statement).rowcount >= 1, statement
        db.commit()
    finally:
        db.close()
    checked = run("store", "check", "--store", f"sqlite:{database(cluster)}", check=False)
    assert checked.code == 1, checked
    return [line[len("damaged: "):] for line in checked.out.splitlines() if line.startswith("damaged: ")]


def refused(cluster):
    said = run(*cluster.server.args, check=False)
    assert said.code != 0
    return said.err


def schedule(cluster, name, **members):
    return cluster.call("POST", "/v1/schedules", expect=201, json={
        "name": name, "max_shift": "10m", "overlap": "allow", "items": [{"epoch": {"period": 1}}],
        "task": {"queue": "q", "command": ["echo", f"tick of {name}"]}, **members}).json()


def fired(cluster, name):
    return cluster.get(f"/v1/schedules/{name}")["fired"]


# -- what no checksum covers

def test_a_task_that_is_gone_or_out_of_its_place_is_found(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    cluster.cli("queue", "set", "q", "--order", "priority")
    cluster.cli("queue", "pause", "q")
    made = cluster.call("POST", "/v1/tasks", json=[{"queue": "q", "command": ["true"], "priority": n} for n in range(20)]).json()["ids"]
    cluster.cli("queue", "set", "q", "--order", "fifo")
    cluster.cli("queue", "set", "q", "--order", "priority")
    assert damage(cluster, "UPDATE task SET rank = -1000 WHERE priority = 3") == [
        f"task {made[3]}: its place in the queue is not that of its priority"]
    cluster.restart()
    assert len(cluster.all_tasks()) == 20
    found = damage(cluster, "UPDATE task SET rank = -priority", "DELETE FROM task WHERE priority IN (5, 6)")
    assert found == ["task rows: 2 of those that were written are gone"]
    cluster.restart()
    assert len(cluster.all_tasks()) == 18, "the others are there"
    assert damage(cluster, "DELETE FROM stat") == ["stat numbers: they are gone"]
    cluster.restart()
    cluster.cli("cancel", "--all", "--yes")
    assert cluster.server.stop() == 0
    assert "nothing is damaged" in run("store", "check", "--store", f"sqlite:{database(cluster)}").out


# -- ids

@pytest.mark.parametrize("kind, bit", [("schedule", 3), ("schedule", 57), ("queue", 40), ("token", 63)])
def test_a_row_whose_id_has_changed_is_listed_as_damaged(cluster, kind, bit):
    cluster.start_server()
    cluster.create_queue("q")
    for name in "ab":
        schedule(cluster, name, items=[{"epoch": {"period": 3600}}])
    token(cluster, "a", "--role", "read")
    before = len(cluster.get(f"/v1/{kind}s")["items"])
    name = "q" if kind == "queue" else "a"
    changed = f"(id | (1 << {bit})) - (id & (1 << {bit}))"
    assert damage(cluster, f"UPDATE {kind} SET id = {changed} WHERE name = '{name}'") == [f"{kind} {name}: does not fit its checksum"]
    cluster.restart()
    listed = cluster.get(f"/v1/{kind}s")["items"]
    assert len(listed) == before and any("damaged" in str(one) for one in listed if one["name"] == name), listed


# -- tokens

def token(cluster, name, *args):
    return cluster.cli("token", "create", name, *args).out.strip()


def get_as(cluster, bearer, path="/v1/queues"):
    return cluster.call("GET", path, headers={"Authorization": f"Bearer {bearer}"}).status_code


@pytest.mark.parametrize("change", ["role = 5", "queues = NULL", "expires_ms = 0", "hash = (SELECT hash FROM token WHERE name = 'good')",
                                    "name = 'good'", "role = -7", "name = CAST(x'ff00' AS TEXT)"])
def test_a_damaged_token_admits_nobody(cluster, change):
    cluster.start_server()
    cluster.create_queue("q")
    good, bad = token(cluster, "good", "--role", "read"), token(cluster, "bad", "--role", "read", "--queue", "q", "--expires", "1d")
    assert get_as(cluster, bad) == 200
    found = damage(cluster, f"UPDATE token SET {change} WHERE name = 'bad'")
    assert len(found) == 1 and found[0].startswith("token "), found
    cluster.restart()
    assert get_as(cluster, bad) == 401 and get_as(cluster, good) == 200
    shown = [t for t in cluster.get("/v1/tokens")["items"] if t["damaged"]]
    assert len(shown) == 1 and shown[0]["role"] is None, shown
    name = shown[0]["name"]
    assert name == "bad" or re.fullmatch(f"damaged-{ID}", name), name
    assert re.search(rf"^{name} +damaged", cluster.cli("token", "ls").out, re.M)
    assert f"the token {name} is damaged in the store" in cluster.server.log()
    cluster.cli("token", "revoke", name)
    again = token(cluster, name, "--role", "read")
    assert get_as(cluster, again) == 200 and get_as(cluster, bad) == 401 and get_as(cluster, good) == 200
    assert cluster.server.stop() == 0
    checked = run("store", "check", "--store", f"sqlite:{database(cluster)}")
    assert "nothing is damaged" in checked.out


def test_a_damaged_join_token_admits_no_worker(cluster):
    cluster.start_server()
    bad, good = token(cluster, "bad", "--join"), token(cluster, "good", "--join")
    found = damage(cluster, "UPDATE token SET zone = 'x' WHERE name = 'bad'")
    assert found == ["token bad: does not fit its checksum"]
    cluster.restart()
    stranger = cluster._process("stranger", ["worker", "--join", cluster.link, "--name", "stranger", "--state-dir",
                                             cluster.state_dir("stranger")], {"REEVE_WORKER_TOKEN": bad})
    wait_until(lambda: "the join token is missing or wrong" in stranger.log(), what="it was told why")
    assert not cluster.has_worker("stranger")
    cluster.start_worker(name="known", env={"REEVE_WORKER_TOKEN": good})


# -- idempotency records

@pytest.mark.parametrize("change", ["result = x'00'", "fingerprint = fingerprint + 1", "time_ms = time_ms + 1"])
def test_a_damaged_record_is_not_done_twice(cluster, change):
    cluster.start_server()
    cluster.create_queue("q")
    cluster.cli("queue", "pause", "q")
    body = {"queue": "q", "command": ["echo"]}
    submit = lambda key: cluster.call("POST", "/v1/tasks", json=body, headers={"Idempotency-Key": key})
    first, other = submit("one"), submit("two").json()["id"]
    assert first.status_code == 201
    found = damage(cluster, f"UPDATE idem SET {change} WHERE idem_key LIKE '%one%'")
    assert len(found) == 1 and re.fullmatch("idem .*one.*: does not fit its checksum", found[0]), found
    cluster.restart()
    for _ in range(2):
        again = submit("one")
        assert again.status_code == 500 and "damaged" in again.json()["detail"] and "fresh key" in again.json()["hint"], again.text
    assert submit("two").json()["id"] == other, "the others' records hold"
    assert len(cluster.all_tasks()) == 2
    assert submit("three").status_code == 201


# -- schedules

@pytest.mark.parametrize("change", ["items = replace(items, '1', '2')", "body = replace(body, 'tick', 'tock')", "queue = queue + 1"])
def test_a_damaged_schedule_does_not_fire_and_says_why(cluster, change):
    cluster.start_server()
    cluster.create_queue("q")
    schedule(cluster, "bad")
    schedule(cluster, "good")
    begun = time.time()
    found = damage(cluster, f"UPDATE schedule SET {change} WHERE name = 'bad'")
    assert found == ["schedule bad: does not fit its checksum"]
    cluster.restart()
    s = cluster.get("/v1/schedules/bad")
    n, others = s["fired"], fired(cluster, "good")
    assert s["state"] == "paused" and "damaged" in s["pause"]["reason"] and "set it anew" in s["pause"]["reason"]
    assert begun - 1 <= time_of(s["pause"]["since"]) <= time.time() + 1
    assert "damaged" in cluster.cli("schedule", "show", "bad").out
    wait_until(lambda: fired(cluster, "good") >= others + 3, what="the other one fires")
    assert fired(cluster, "bad") == n
    cluster.cli("schedule", "resume", "bad", check=False)
    others = fired(cluster, "good")
    wait_until(lambda: fired(cluster, "good") >= others + 2, what="the other one fires")
    assert fired(cluster, "bad") == n, "without its items it cannot fire, whoever resumes it"
    cluster.cli("schedule", "rm", "bad")
    schedule(cluster, "bad")
    wait_until(lambda: fired(cluster, "bad") > 0, what="a new one of its name fires")


def time_of(text):
    return time.mktime(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone


@pytest.mark.parametrize("change", ["done_until_s = 60", "seen_until_s = 9223372036854775807", "zone_offset_s = -9223372036854775808",
                                    "waiting_s = 5", "n_fired = -3"])
def test_a_schedule_whose_progress_is_damaged_begins_anew(cluster, change):
    cluster.start_server()
    cluster.create_queue("q")
    schedule(cluster, "bad", missed="all", max_shift="30d")
    wait_until(lambda: fired(cluster, "bad") > 0, what="it fires")
    found = damage(cluster, f"UPDATE schedule SET {change} WHERE name = 'bad'")
    assert found == ["schedule bad: does not fit its checksum"]
    before = len(tasks_in_store(cluster))
    cluster.restart()
    s = cluster.get("/v1/schedules/bad")
    assert s["state"] == "paused" and "damaged" in s["pause"]["reason"]
    cluster.cli("schedule", "resume", "bad")
    begun = time.time()
    wait_until(lambda: fired(cluster, "bad") >= 2, what="it fires again")
    assert len(cluster.all_tasks()) - before <= time.time() - begun + 2, "it does not catch up with what it never missed"
    assert damage_of(cluster) == []


def tasks_in_store(cluster):
    db = sqlite3.connect(database(cluster))
    try:
        return db.execute("SELECT id FROM task").fetchall()
    finally:
        db.close()


def damage_of(cluster):
    assert cluster.server.stop() == 0
    checked = run("store", "check", "--store", f"sqlite:{database(cluster)}", check=False)
    return [line for line in checked.out.splitlines() if line.startswith("damaged: ")]


# -- queues, workers, what the server knows of itself, events

@pytest.mark.parametrize("change", ["threads = 7", "run = NULL", "paused = 0", "name = 'other'", "output_max = -1", "exit_codes = 99"])
def test_damaged_queue_settings_pause_it(cluster, change):
    cluster.start_server()
    cluster.create_queue("other")
    cluster.create_queue("q", run={"nice": 5}, threads=1)
    cluster.cli("queue", "pause", "q")
    task = cluster.submit("true", queue="q")["id"]
    rows = damage(cluster, f"UPDATE queue SET {change} WHERE name = 'q'")
    assert len(rows) == 1 and rows[0].endswith(": does not fit its checksum")
    cluster.restart()
    cluster.start_worker()
    queues = {q["name"]: q for q in cluster.get("/v1/queues")["items"]}
    bad = next(q for q in queues.values() if "damaged" in str(q["pause_reason"]))
    assert bad["paused"] and (bad["name"] == "q" or re.fullmatch(f"damaged-{ID}", bad["name"]))
    assert not queues["other"]["paused"]
    assert cluster.wait_ended(cluster.submit("true", queue="other")["id"])["state"] == "succeeded"
    assert cluster.task(task)["state"] == "queued"
    cluster.cli("queue", "set", bad["name"], "--plugin", "command")
    cluster.cli("queue", "resume", bad["name"])
    assert cluster.wait_ended(task)["state"] == "succeeded"


# as short as they may be: a worker that is not heard of is lost within seconds
SOON_LOST = {"REEVE_SERVER_HEARTBEAT": "200ms", "REEVE_SERVER_HEARTBEAT_GRACE": "500ms", "REEVE_SERVER_HEALTHCHECK_PERIOD": "500ms",
             "REEVE_SERVER_HEALTHCHECK_GRACE": "2s", "REEVE_SERVER_LOSE_UNHEALTHY_AFTER": "3s", "REEVE_SERVER_WORKER_MARGIN": "200ms",
             "REEVE_SERVER_TASK_KILL_WAIT": "100ms", "REEVE_SERVER_LOST_TASK_HOLD": "4s"}


def worker_named(cluster, name):
    return next((w for w in cluster.get("/v1/workers")["items"] if w["name"] == name), None)


@pytest.mark.parametrize("dispatch, change", [("durable", "link_key = zeroblob(32)"), ("durable", "state = 3"), ("durable", "instance = 0"),
                                              ("volatile", "unwritten = 5"), ("volatile", "lock = ''"), ("volatile", "instance = 7")])
def test_a_damaged_worker_is_nobody_until_it_must_be_over(cluster, dispatch, change):
    cluster.start_server(env={**SOON_LOST, "REEVE_SERVER_DISPATCH": dispatch})
    worker, other = cluster.start_worker(name="w1"), cluster.start_worker(name="w2")
    alone = os.path.join(cluster.dir, "alone")
    task = cluster.submit("flock", "-n", "-E", "9", alone, "sleep", "1000", max_attempts=5)["id"]
    cluster.wait_task(task, "running")
    name = cluster.task(task)["worker"]
    there = worker if name == "w1" else other
    found = damage(cluster, f"UPDATE worker SET {change} WHERE shard = '{name}'")
    assert found == [f"worker {name}: does not fit its checksum"]
    cluster.restart()
    begun = time.monotonic()
    assert f"the worker {name} is damaged in the store" in cluster.server.log()
    # whoever bears the name is a stranger; it ends what it has, and comes back when the other is certainly over
    wait_until(lambda: "is damaged in the store" in there.log(), what="it is told why")
    wait_until(lambda: cluster.task(task)["attempt"] == 2, timeout=90, what="it is tried again")
    assert time.monotonic() - begun > 4, "not before the hold was over"
    cluster.wait_task(task, "running")
    assert cluster.task(task)["attempt"] == 2, "the first one was over"
    cluster.cli("cancel", task)
    if not there.running:
        cluster.restart(there)
    wait_until(lambda: worker_named(cluster, name)["state"] == "healthy", timeout=60, what="it is let in again")
    assert damage_of(cluster) == []


def test_a_damaged_worker_with_another_name_is_shown_and_can_be_removed(cluster):
    cluster.start_server(env=SOON_LOST)
    cluster.start_worker(name="w1").stop()
    damage(cluster, "UPDATE worker SET shard = CAST(x'ff00' AS TEXT)")
    cluster.restart()
    name = cluster.get("/v1/workers")["items"][0]["name"]
    assert re.fullmatch(f"damaged-{ID}", name), name
    cluster.start_worker(name="w1")
    cluster.cli("worker", "rm", "--lost", name)
    assert [w["name"] for w in cluster.get("/v1/workers")["items"]] == ["w1"]
    assert damage_of(cluster) == []
    cluster.restart()


def test_what_the_server_knows_of_itself_is_never_guessed(cluster):
    cluster.start_server()
    assert damage(cluster, "UPDATE meta SET value = CAST('0000000000' AS BLOB) WHERE name = 'installation'") == \
        ["meta installation: does not fit its checksum"]
    said = refused(cluster)
    assert "the store is damaged" in said and "installation" in said and "restore a backup" in said


def test_a_lost_installation_is_not_drawn_again(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    db.execute("DELETE FROM meta WHERE name = 'installation'")
    db.commit()
    db.close()
    said = refused(cluster)
    assert "the store is damaged" in said and "installation" in said, said


def changed(cluster, *statements):
    """`store check` of a stopped server's database after the statements: exit code, and what it says."""
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()
    said = run("store", "check", "--store", f"sqlite:{database(cluster)}", check=False)
    return said.code, said.out


def test_store_check_misses_what_the_server_would_miss(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    code, said = changed(cluster, "DELETE FROM meta")
    assert code == 1 and "damaged: meta installation: it is gone" in said and "does not start" in said, said
    assert "the store is damaged" in refused(cluster)


@pytest.mark.parametrize("change", ["DELETE FROM stat", "UPDATE stat SET last_id = 1", "UPDATE stat SET last_event = last_event + 5"])
def test_damaged_numbers_are_found_and_counted_anew(cluster, change):
    cluster.start_server()
    cluster.create_queue("q")
    task = cluster.submit("true", queue="q")["id"]
    code, said = changed(cluster, change)
    assert code == 1 and "damaged: stat numbers: " in said and "go on without" in said, said
    cluster.restart()
    assert "the store's numbers are damaged: they are counted anew" in cluster.server.log()
    assert cluster.task(task)["state"] == "queued" and cluster.submit("true", queue="q")["id"] > task
    assert damage_of(cluster) == []


def test_a_store_that_nobody_has_used_yet_is_whole(cluster):
    path = os.path.join(cluster.dir, "new.db")
    cluster.start_server("--store", f"sqlite:{path}")
    assert cluster.server.stop() == 0
    assert "nothing is damaged" in run("store", "check", "--store", f"sqlite:{path}").out


def test_store_check_prints_no_bytes_of_a_damaged_schema(cluster):
    cluster.start_server()
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = CAST(replace(CAST(sql AS BLOB), CAST('queue' AS BLOB), x'ff1b5b33') AS TEXT)"
               " WHERE name = 'task_ready'")
    db.commit()
    db.close()
    said = subprocess.run([BIN, "store", "check", "--store", f"sqlite:{database(cluster)}"], capture_output=True,
                          env=clean_environment())
    assert said.returncode == 1
    assert all(32 <= b < 127 or b == 10 for b in said.stdout + said.stderr), said
    assert b"\\x1b" in said.stdout + said.stderr, said


def test_damaged_events_are_found_by_audit_verify(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    cluster.create_queue("r")
    seq = next(e["seq"] for e in cluster.get("/v1/events")["items"] if e.get("subject") == "q")
    assert damage(cluster, "UPDATE event SET actor = 'nobody' WHERE subject = 'q'") == [f"event {seq}: does not fit its checksum"]
    said = run("audit", "verify", "--store", f"sqlite:{database(cluster)}", check=False)
    assert said.code == 1 and f"event {seq}" in said.out, said
    cluster.restart()
    said = cluster.cli("audit", "verify", check=False)
    assert said.code == 1 and f"event {seq}" in said.out, said
    events = {e["seq"]: e for e in cluster.get("/v1/events")["items"]}
    assert events[seq]["kind"] == "damaged" and "actor" not in events[seq] or not events[seq]["actor"]
    assert [e for e in events.values() if e.get("subject") == "r"]


# -- output, and what `store check` calls things

def test_damaged_output_says_so_whatever_its_length(cluster):
    cluster.start_dev()
    short = cluster.submit("sh", "-c", "printf x; echo fine >&2")["id"]
    long = cluster.submit("sh", "-c", "head -c 200000 /dev/zero | tr '\\0' y")["id"]
    gone = cluster.submit("sh", "-c", "head -c 200000 /dev/zero | tr '\\0' z")["id"]
    for task in (short, long, gone):
        assert cluster.wait_ended(task)["state"] == "succeeded"
    rows = damage(cluster, "UPDATE task SET stdout = CAST('y' AS BLOB) WHERE length(stdout) = 1",
                  f"UPDATE output SET data = x'00' WHERE task = {row_of(long)} AND at = (SELECT max(at) FROM output WHERE at < 150000)",
                  f"DELETE FROM output WHERE task = {row_of(gone)} AND at > 100000")
    assert rows == [f"task {short}: its history or output does not fit its checksum", f"output {long}: does not fit its checksum"]
    cluster.restart()
    logs = lambda task, **p: cluster.call("GET", f"/v1/tasks/{task}/logs", params={"stream": "stdout", **p}).text
    assert logs(short) == "?\n[reeve: 1 bytes of output are damaged in the store]\n"
    assert "are damaged in the store]" in cluster.cli("logs", short).out
    assert cluster.task(short)["damaged"] and cluster.task(short)["stdout"] is None
    said = logs(long)
    n = int(re.search(r"\n\[reeve: (\d+) bytes of output are damaged in the store\]\n$", said)[1])
    assert 0 < n < 200000 and len(said.rsplit("\n[reeve", 1)[0]) == 200000 and said.count("y") > 100000
    assert logs(long, follow="true") == said
    said = logs(gone)
    assert re.search(r"\n\[reeve: \d+ bytes of output are missing: the store is damaged\]\n$", said), said[-200:]
    assert logs(gone, offset=200000) == ""


@pytest.mark.parametrize("change", ["token = 0", "attempt = 0", "output_where = 0"])
def test_output_of_a_damaged_state_is_not_taken_for_none(cluster, change):
    cluster.start_dev()
    task = cluster.submit("echo", "x")["id"]
    cluster.wait_ended(task)
    damage(cluster, f"UPDATE task SET {change} WHERE id = {row_of(task)}")
    cluster.restart()
    said = cluster.call("GET", f"/v1/tasks/{task}/logs", params={"stream": "stdout"})
    assert said.status_code == 500 and "damaged" in said.text, said.text


def row_of(task):
    return int(task[:8], 16) << 24 | int(task[18:], 16)


def test_store_check_names_what_the_command_line_knows(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    cluster.cli("queue", "pause", "q")
    tasks = [cluster.submit("echo", f"{n}", queue="q")["id"] for n in range(3)]
    rows = damage(cluster, f"UPDATE task SET body = replace(body, 'echo', 'evil') WHERE id = {row_of(tasks[1])}",
                  f"UPDATE task SET labels = 'x=y' WHERE id = {row_of(tasks[2])}", "UPDATE queue SET n_failed = 3")
    assert rows == ["queue q: does not fit its checksum", f"task {tasks[1]}: what it runs does not fit its checksum",
                    f"task {tasks[2]}: what was asked for does not fit its checksum"]
    cluster.restart()
    for task in [row.split()[1].rstrip(":") for row in rows if row.startswith("task")]:
        assert "damaged" in cluster.cli("task", "show", task).out


def test_sqlites_numbers_of_rows_are_not_shown(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    task = cluster.submit("echo", queue="q", key="k")["id"]
    cluster.cli("cancel", task)
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    db.execute("PRAGMA writable_schema = ON")
    db.execute("UPDATE sqlite_schema SET sql = replace(sql, 'WHERE', 'WHERE 1 OR ') WHERE name = 'task_key'")
    db.commit()
    db.close()
    checked = run("store", "check", "--store", f"sqlite:{database(cluster)}", check=False)
    assert checked.code == 1 and "a row missing from index task_key" in checked.out, checked
    assert not re.search(r"row \d", checked.out) and str(row_of(task)) not in checked.out


@pytest.mark.parametrize("change", [
    "UPDATE sqlite_schema SET sql = replace(sql, 'PRIMARY', 'PRIMARX') WHERE name = 'queue'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'threads INTEGER', 'threads INTEGES') WHERE name = 'queue'",
    "UPDATE sqlite_schema SET sql = replace(sql, 'status = -2', 'status = -3') WHERE name = 'task_ready'",
    "DELETE FROM sqlite_schema WHERE name = 'task_live'"])
def test_a_damaged_schema_is_refused(cluster, change):
    """Its text is part of the database: with a wrong letter a key is no key any more, and SQLite follows it."""
    cluster.start_server()
    cluster.create_queue("q")
    cluster.create_queue("r")
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    db.execute("PRAGMA writable_schema = ON")
    assert db.execute(change).rowcount == 1
    db.commit()
    db.close()
    said = refused(cluster)
    assert "damaged" in said and "bug" not in said, said
    checked = run("store", "check", "--store", f"sqlite:{database(cluster)}", check=False)
    assert checked.code == 1 and "damaged: schema: it lacks " in checked.out, checked


def test_what_others_have_added_to_the_schema_is_theirs(cluster):
    cluster.start_server()
    assert cluster.server.stop() == 0
    db = sqlite3.connect(database(cluster))
    db.execute("CREATE TABLE notes (a)")
    db.execute("CREATE INDEX aaa ON task (mtime_ms)")
    db.commit()
    db.close()
    cluster.restart()
