# SPDX-License-Identifier: Apache-2.0
"""
The audit trail is a chain of hashes. Whoever edits, removes or adds events in the database is found out, by the server
and without it; whoever writes the whole chain anew is found out by a head that was kept elsewhere.
"""
import hashlib
import os
import sqlite3
import struct

import pytest
from harness import wait_until


def database(cluster):
    return os.path.join(cluster.state_dir(), "reeve.db")


def sql(cluster, *statements):
    db = sqlite3.connect(database(cluster), timeout=60)
    try:
        found = [db.execute(*s) if isinstance(s, tuple) else db.execute(s) for s in statements][-1].fetchall()
        db.commit()
        return found
    finally:
        db.close()


def verify(cluster, *args):
    return cluster.cli("audit", "verify", *args, check=False)


def verify_file(cluster, *args):
    return verify(cluster, "--store", f"sqlite:{database(cluster)}", *args)


def head(said):
    return next(line for line in said.out.splitlines() if line.startswith("head ")).split()[1]


def fill(cluster, first=0, n=8):
    for i in range(first, first + n):
        cluster.create_queue(f"q{i}")


def number(cluster, subject):
    return sql(cluster, ("SELECT seq FROM event WHERE subject = ?", (subject,)))[0][0]


def expect_fault(cluster, kind, event):
    """By the server; then by the file alone."""
    found = cluster.call("GET", "/v1/audit/verify", expect=200).json()
    assert not found["fits"] and (found["fault"]["kind"], found["fault"]["event"]) == (kind, event), found
    said = verify(cluster)
    assert said.code == 1 and found["fault"]["detail"] in said.out
    assert cluster.server.stop() == 0
    said = verify_file(cluster)
    assert said.code == 1 and f"event {event}" in said.out and "does not fit" in said.out, said


def test_it_fits_and_its_head_is_found_again(cluster):
    cluster.start_server()
    fill(cluster)
    said = verify(cluster)
    assert said.code == 0 and "the audit trail fits" in said.out
    kept = head(said)
    fill(cluster, 10)
    assert verify(cluster, "--expect", kept).code == 0
    found = cluster.json("audit", "verify")
    assert found["fits"] and found["checked"] == sql(cluster, "SELECT count(*) FROM event")[0][0]
    assert found["fault"] is None and found["unchained"] == 0 and found["head"] != kept
    assert verify_file(cluster).code == 1, "a server has it"
    assert cluster.server.stop() == 0
    assert verify_file(cluster, "--expect", kept).code == 0
    of_file = verify_file(cluster, "-o", "json").json
    assert set(of_file) == set(found) and of_file["fits"] and of_file["head"] == found["head"]
    wrong = kept[:-1] + ("0" if kept[-1] != "0" else "1")
    said = verify_file(cluster, "--expect", wrong)
    assert said.code == 1 and "written anew" in said.out
    for bad in ("", "7", "7:ab", "x" + kept, kept + "0", kept.replace(":", ";")):
        said = verify_file(cluster, "--expect", bad)
        assert said.code == 2 and "hint" in said.err, (bad, said)


def test_what_is_expected_is_checked(cluster):
    cluster.start_server()
    said = cluster.call("GET", "/v1/audit/verify", expect=400, params={"expect": "7:ab"}).json()
    assert said["field"] == "expect" and said["hint"]


def test_only_an_admin_may_ask(cluster):
    cluster.start_server()
    token = cluster.json("token", "create", "ops", "--role", "operate")["token"]
    auth = {"Authorization": f"Bearer {token}"}
    assert cluster.call("GET", "/v1/audit/verify", headers=auth).status_code == 403
    assert cluster.call("GET", "/v1/events", headers=auth).status_code == 200


@pytest.mark.parametrize("change", [
    "subject = 'other'", "actor = 'uid=1000'", "detail = '{}'", "detail = ''", "time_ms = time_ms - 1", "kind = kind || 'x'",
    "hash = randomblob(32)", "sum = NULL, actor = 'nobody'"])
def test_an_edited_event_is_named(cluster, change):
    cluster.start_server()
    fill(cluster)
    event = number(cluster, "q4")
    sql(cluster, (f"UPDATE event SET {change} WHERE seq = ?", (event,)))
    fill(cluster, 20, 2)
    expect_fault(cluster, "changed", event)


def test_a_deleted_event_is_named(cluster):
    cluster.start_server()
    fill(cluster)
    event = number(cluster, "q4")
    sql(cluster, ("DELETE FROM event WHERE seq = ?", (event,)))
    expect_fault(cluster, "missing", event)


def test_a_deleted_first_event_is_named(cluster):
    cluster.start_server()
    fill(cluster)
    event = sql(cluster, "SELECT min(seq) FROM event")[0][0]
    sql(cluster, ("DELETE FROM event WHERE seq = ?", (event,)))
    expect_fault(cluster, "missing", event)


def test_deleted_last_events_are_named_and_their_numbers_not_given_again(cluster):
    cluster.start_server()
    fill(cluster)
    cluster.server.kill9()
    last = sql(cluster, "SELECT max(seq) FROM event")[0][0]
    sql(cluster, ("DELETE FROM event WHERE seq > ?", (last - 2,)))
    said = verify_file(cluster)
    assert said.code == 1 and f"event {last} is missing" in said.out, said
    cluster.restart()
    fill(cluster, 20)
    assert sql(cluster, ("SELECT count(*) FROM event WHERE seq IN (?, ?)", (last - 1, last)))[0][0] == 0
    expect_fault(cluster, "missing", last)


@pytest.mark.parametrize("hashed", [False, True])
def test_an_added_event_is_named(cluster, hashed):
    cluster.start_server()
    fill(cluster, n=4)
    cluster.submit("true", run_after="1h")  # its event takes a number, but no row
    fill(cluster, 10, 4)
    before = sql(cluster, "SELECT min(seq) FROM event WHERE seq + 1 NOT IN (SELECT seq FROM event)")[0][0]
    assert before < number(cluster, "q10")
    event = before + 1
    sql(cluster, ("INSERT INTO event (seq, time_ms, kind, subject) VALUES (?, 5, 'queue.created', 'q')", (event,)))
    if hashed:
        link(cluster, before, event)
    expect_fault(cluster, "added", event)


def test_an_event_behind_the_last_is_named(cluster):
    cluster.start_server()
    fill(cluster)
    event = sql(cluster, "SELECT max(seq) FROM event")[0][0] + 1000
    sql(cluster, ("INSERT INTO event (seq, time_ms, kind) VALUES (?, 5, 'queue.created')", (event,)))
    expect_fault(cluster, "added", event)


def encoded(*texts):
    parts = [t if t is None or isinstance(t, bytes) else t.encode() for t in texts]
    return b"".join(struct.pack(">Q", 2**64 - 1 if t is None else len(t)) + (t or b"") for t in parts)


def link(cluster, before, event):
    """Gives an event the hash that the server would have given it: there is no secret in it."""
    previous = sql(cluster, ("SELECT hash FROM event WHERE seq = ?", (before,)))[0][0] if before else bytes(32)
    row = sql(cluster, ("SELECT seq, time_ms, kind, subject, actor, detail FROM event WHERE seq = ?", (event,)))[0]
    text = b"reeve audit 1\n" + struct.pack(">Q", before) + previous + struct.pack(">Qq", *row[:2]) + encoded(*row[2:])
    made = hashlib.sha256(text).digest()
    sql(cluster, ("UPDATE event SET prev = ?, hash = ?, sum = NULL WHERE seq = ?", (before, made, event)))
    return f"{event}:{made.hex()}"


def test_a_chain_written_anew_is_found_by_a_kept_head(cluster):
    """What a chain without a secret cannot show by itself, and how it is found all the same."""
    cluster.start_server()
    fill(cluster)
    kept = head(verify(cluster))
    assert cluster.server.stop() == 0
    sql(cluster, "UPDATE event SET actor = 'somebody else' WHERE subject = 'q4'")
    before = 0
    for (event,) in sql(cluster, "SELECT seq FROM event ORDER BY seq"):
        made = link(cluster, before, event)
        before = event
    sql(cluster, ("UPDATE meta SET value = ?, sum = NULL WHERE name = 'audit.head'", (made,)))
    assert verify_file(cluster).code == 0
    said = verify_file(cluster, "--expect", kept)
    assert said.code == 1 and "written anew" in said.out


def test_retention_keeps_it_whole(cluster):
    cluster.start_server()
    fill(cluster)
    kept = head(verify(cluster))
    old = sql(cluster, "SELECT max(seq) FROM event")[0][0]
    assert cluster.server.stop() == 0
    cluster.server.env["REEVE_SERVER_RETENTION_EVENTS"] = "1s"
    cluster.restart()
    wait_until(lambda: sql(cluster, ("SELECT count(*) FROM event WHERE seq <= ?", (old,)))[0][0] == 0, what="they expire")
    fill(cluster, 20)
    found = cluster.json("audit", "verify")
    assert found["fits"] and found["expired"] and found["first"] > old
    cluster.server.kill9()
    assert verify_file(cluster).code == 0
    said = verify_file(cluster, "--expect", kept)
    assert said.code == (0 if found["expired"] == kept else 1)
    sql(cluster, "DELETE FROM meta WHERE name = 'audit.anchor'")
    said = verify_file(cluster)
    assert said.code == 1 and "missing" in said.out


def test_killed_again_and_again_it_goes_on(cluster):
    cluster.start_server()
    kept = []
    for i in range(6):
        fill(cluster, 10 * i, 5)
        kept.append(head(verify(cluster)))
        cluster.server.kill9()
        assert verify_file(cluster, "--expect", kept[0]).code == 0
        cluster.restart()
    for end in kept:
        assert verify(cluster, "--expect", end).code == 0


def test_events_from_before_the_chain_are_said(cluster):
    cluster.start_server()
    fill(cluster)
    assert cluster.server.stop() == 0
    n = sql(cluster, "SELECT count(*) FROM event")[0][0]
    url = f"sqlite:{database(cluster)}"
    cluster.cli("store", "migrate", "--to", "8", "--lose", "--store", url)
    assert "hash" not in [row[1] for row in sql(cluster, "PRAGMA table_info(event)")]
    cluster.cli("store", "migrate", "--store", url)
    assert cluster.cli("store", "check", "--store", url).code == 0
    cluster.restart()
    fill(cluster, 20)
    found = cluster.json("audit", "verify")
    assert found["fits"] and found["unchained"] == n and found["checked"] > 8
    assert f"{n} older events" in verify(cluster).out
