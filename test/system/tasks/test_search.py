# SPDX-License-Identifier: Apache-2.0
"""Tasks by their words, with an index that may be behind, killed, removed, damaged or without room."""
import glob
import os
import random
import sqlite3
import subprocess

import pytest
from harness import wait_until

WORDS = ["convert", "render", "backup", "report"]


def index_of(cluster):
    return os.path.join(cluster.state_dir(), "reeve.db.search")


def indexed_to(cluster):
    """The id up to which the index has everything; 0: there is no index."""
    try:
        db = sqlite3.connect(f"file:{index_of(cluster)}?mode=rw", uri=True, timeout=10)
        try:
            return db.execute("SELECT done_to FROM about").fetchone()[0]
        finally:
            db.close()
    except sqlite3.Error:
        return 0


def last_id(cluster):
    db = sqlite3.connect(os.path.join(cluster.state_dir(), "reeve.db"), timeout=10)
    try:
        return db.execute("SELECT max(id) FROM task").fetchone()[0]
    finally:
        db.close()


def wait_indexed(cluster):
    wait_until(lambda: indexed_to(cluster) == last_id(cluster), what="the index has every task", every=0.1)


def trouble(cluster):
    return cluster.status()["search_trouble"]


def submit(cluster, n, start=0):
    cluster.submit_many({"command": ["/usr/bin/" + WORDS[i % 4], f"file-{i}.mp4"], "labels": {"team": f"t{i % 3}"},
                         "name": f"job {i}"} for i in range(start, start + n))


def found(cluster, words, **more):
    return sorted(int(t["name"].split()[1]) for t in cluster.all_tasks(search=words, **more))


def check(cluster, n):
    assert found(cluster, "convert") == list(range(0, n, 4))
    assert found(cluster, "Render team=t1") == [i for i in range(n) if i % 4 == 1 and i % 3 == 1]
    assert found(cluster, f"job {n - 1}") == [n - 1]
    assert found(cluster, "file-77.mp4") == [77]
    assert found(cluster, "nosuchword") == []


def test_by_words_and_other_filters(server):
    submit(server, 400)
    check(server, 400)
    wait_indexed(server)
    check(server, 400)
    assert found(server, "conv*", label="team=t0") == [i for i in range(400) if i % 4 == 0 and i % 3 == 0]
    lines = server.cli("task", "ls", "--search", "backup file-42", "-o", "jsonl").jsonl
    assert [t["name"] for t in lines] == ["job 42"]
    assert server.get("/v1/tasks/summary", search="report")["total"] == 100
    assert server.cli("cancel", "--search", "render", "--state", "queued", "-y", "-o", "json").json["changed"] == 100
    assert server.get("/v1/tasks/summary", search="render")["states"] == {"cancelled": 100}


def test_parts_of_words_and_capitals(server):
    server.cli("submit", "--name", "Ärger mit Москва", "--", "converter")
    assert server.cli("task", "ls", "--search", "conv").err == (
        "there are no such tasks\n"
        "  hint: --search finds whole words; with an asterisk, as in build*, those that begin so\n")
    assert server.cli("task", "ls", "--search", "xyz*").err == "there are no such tasks\n"
    assert server.cli("task", "ls", "--name", "xyz").err == "there are no such tasks\n"
    for _ in range(2):
        for words in ("conv*", "ärger", "ÄRGER МОСКВА", "моск*"):
            assert len(server.all_tasks(search=words)) == 1, words
        assert server.all_tasks(search="arger") == []
        wait_indexed(server)


def test_kill_9_amid_indexing(server):
    submit(server, 20000)
    wait_until(lambda: indexed_to(server) or last_id(server) == indexed_to(server), what="indexing has begun")
    server.server.kill9()
    server.restart()
    check(server, 20000)
    submit(server, 400, 20000)
    check(server, 20400)
    wait_indexed(server)
    check(server, 20400)


def remove(path):
    for name in glob.glob(path + "*"):
        os.unlink(name)


def overwrite(path):
    with open(path, "r+b") as f:
        f.seek(4096)
        f.write(os.urandom(max(4096, os.path.getsize(path) - 4096)))


@pytest.mark.parametrize("spoil", [remove, overwrite])
@pytest.mark.parametrize("running", [True, False])
def test_an_index_that_is_lost_or_damaged_is_made_anew(server, spoil, running):
    submit(server, 400)
    wait_indexed(server)
    if not running:
        server.server.stop()
    spoil(index_of(server))
    if not running:
        server.restart()
    check(server, 400)
    submit(server, 400, 400)
    check(server, 800)
    if spoil is overwrite or not running:
        wait_indexed(server)
        check(server, 800)


def test_the_file_is_private(server):
    submit(server, 1)
    wait_indexed(server)
    for name in glob.glob(index_of(server) + "*"):
        assert os.stat(name).st_mode & 0o077 == 0, name


def test_a_thousand_hostile_queries(server):
    submit(server, 100)
    wait_indexed(server)
    rng = random.Random(5)
    pieces = ['"', "'", "*", "(", ")", "^", "-", "+", ":", "{", "}", " ", "AND", "OR", "NOT", "NEAR(", "job", "convert",
              "t:", "w1", "rowid", ";", "--", "\\", "\0", "é", "%", "💥", "\x7f", "a" * 300, "1", "'; DROP TABLE w1; "]
    codes = set()
    for _ in range(1000):
        query = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 12)))
        answer = server.call("GET", "/v1/tasks", params={"search": query})
        codes.add(answer.status_code)
        assert answer.status_code in (200, 400), (query, answer.text)
        if answer.status_code == 400:
            assert answer.json()["field"] == "search" and answer.json()["detail"], (query, answer.text)
    assert codes == {200, 400}
    check(server, 100)
    assert indexed_to(server) == last_id(server)


def test_only_who_may_see_contents_may_search(server):
    submit(server, 4)
    token = server.call("POST", "/v1/tokens", expect=201, json={"name": "r", "role": "read"}).json()
    headers = {"Authorization": f"Bearer {token['secret'] if 'secret' in token else token['token']}"}
    assert server.call("GET", "/v1/tasks", expect=200, headers=headers).json()["items"][0]["summary"] is None
    refused = server.call("GET", "/v1/tasks", params={"search": "convert"}, headers=headers)
    assert refused.status_code == 403 and "logs" in refused.text


def test_a_limited_token_finds_only_its_own(server):
    server.create_queue("mine")
    server.submit("convert", queue="mine", name="job 1")
    server.submit("convert", name="job 2")
    token = server.call("POST", "/v1/tokens", expect=201, json={"name": "m", "role": "operate", "queues": ["mine"]}).json()
    headers = {"Authorization": f"Bearer {token['secret'] if 'secret' in token else token['token']}"}
    wait_indexed(server)
    items = server.call("GET", "/v1/tasks", params={"search": "convert"}, headers=headers).json()["items"]
    assert [t["name"] for t in items] == ["job 1"]


@pytest.fixture
def disk(tmp_path):
    """A file system of its own, somewhat larger than what the index leaves to others."""
    where = str(tmp_path / "disk")
    os.mkdir(where)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=320m,mode=0700", "tmpfs", where], capture_output=True).returncode:
        pytest.skip("needs the right to mount a file system")
    yield where
    subprocess.run(["umount", "-l", where], check=True)


def test_a_disk_that_gets_full_takes_the_index_away_first(cluster, disk):
    cluster.start_server("--store", f"sqlite:{disk}/reeve.db")
    index = f"{disk}/reeve.db.search"
    submit(cluster, 400)
    wait_until(lambda: os.path.exists(index), what="there is an index")
    with open(f"{disk}/others", "wb") as f:
        f.write(bytes(200 << 20))
    submit(cluster, 400, 400)
    wait_until(lambda: not os.path.exists(index), what="the index gave its room back")
    wait_until(lambda: trouble(cluster), what="the server says so")
    assert "256 MB" in trouble(cluster)
    check(cluster, 800)
    submit(cluster, 400, 800)
    check(cluster, 1200)


def test_a_file_that_cannot_be_made_harms_nobody(cluster):
    """The file's place is taken by something that cannot be written."""
    os.makedirs(cluster.state_dir(), mode=0o700)
    os.mkdir(index_of(cluster))
    cluster.start_server()
    submit(cluster, 400)
    wait_until(lambda: trouble(cluster), what="the server says so")
    assert "reeve_search_index_ok 0\n" in cluster.call("GET", "/metrics").text
    said = cluster.cli("status").out
    assert "search " in said and "cannot be read or written" in said
    assert "searches have no index" in cluster.cli("doctor", check=False).out
    check(cluster, 400)
    cluster.server.stop()
    os.rmdir(index_of(cluster))
    cluster.restart()
    wait_indexed(cluster)
    check(cluster, 400)
    assert trouble(cluster) is None and "search" not in cluster.cli("status").out
    assert "reeve_search_index_ok 1\n" in cluster.call("GET", "/metrics").text


def test_an_index_that_has_everything_is_not_behind(cluster):
    cluster.start_server()
    submit(cluster, 400)
    wait_indexed(cluster)
    wait_until(lambda: cluster.status()["search_lag_ms"] == 0, what="the index has everything")
    assert "reeve_search_index_lag_seconds 0.000\n" in cluster.call("GET", "/metrics").text
    assert "one by one" not in cluster.cli("status").out
