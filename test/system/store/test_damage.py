# SPDX-License-Identifier: Apache-2.0
"""
Damaged databases: bits flipped, bytes overwritten, pages zeroed, headers spoilt, ends cut off. Of every copy the
server says clearly that it is damaged and does not start; or every answer is right, or says what is damaged.
"""
import os
import random
import re
import shutil

import pytest
from harness import Cluster, run, wait_until

PAGE = 4096
MARK = re.compile(r"\n?\[reeve: \d+ bytes of output are damaged in the store\]\n")
MISSING = re.compile(r"\[reeve: (\d+ bytes of output are missing|the rest cannot be read): the store is damaged\]\n$")
BIG = "i=0; while [ $i -lt 9000 ]; do echo line $i of much output; i=$((i+1)); done"


def fill(cluster):
    """Some of everything that the server keeps."""
    cluster.create_queue("idle", env={"COLOUR": "blue" * 20}, run={"nice": 5})
    cluster.cli("queue", "pause", "idle")
    ended = [cluster.submit("sh", "-c", f"echo out {n}; echo err {n} >&2", labels={"n": str(n)})["id"] for n in range(25)]
    ended.append(cluster.submit("sh", "-c", BIG)["id"])
    ended.append(cluster.submit("sh", "-c", f"exit 3 # {'x' * 5000}")["id"])
    for n in range(25):
        cluster.submit("echo", f"precious {n} " + "y" * (3000 if n % 9 == 0 else 100), queue="idle", key=f"key-{n}",
                       env={"SECRET": f"s{n}" * 9}, priority=n)
    for n in range(3):
        cluster.call("POST", "/v1/schedules", expect=201, json={
            "name": f"s{n}", "time_zone": "UTC", "max_shift": "10m", "items": [{"minute": 0, "hour": 3, "dst_fixes": "vixie"}], "task": {"queue": "idle", "command": ["echo", "tick" * 9]}})
    for task in ended:
        cluster.wait_ended(task)


def answers(cluster):
    """What the server says of everything; times that are counted from now are left out."""
    said = {}
    for task in cluster.all_tasks(full="true"):
        said["task", task["id"]] = cluster.call("GET", f"/v1/tasks/{task['id']}").json()
        for stream in ("stdout", "stderr"):
            log = cluster.call("GET", f"/v1/tasks/{task['id']}/logs", params={"stream": stream})
            said["log", task["id"], stream] = log.text if log.status_code == 200 else log.json()
    said["ids"] = sorted(key[1] for key in said if key[0] == "task")
    for queue in cluster.get("/v1/queues", limit=1000)["items"]:
        said["queue", queue["id"]] = {k: v for k, v in queue.items() if k != "oldest_ms"}
    for s in cluster.get("/v1/schedules", limit=1000)["items"]:
        said["schedule", s["id"]] = {k: s[k] for k in s if not k.startswith(("next", "last"))}
    for event in cluster.get("/v1/events", limit=1000)["items"]:
        said["event", event["seq"]] = event
    del said["event", max(key[1] for key in said if key[0] == "event")]  # that this server was started
    return said


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A database, and what a server says of an untouched copy of it."""
    folder = tmp_path_factory.mktemp("damage")
    cluster = Cluster()
    try:
        cluster.start_dev()
        fill(cluster)
        assert cluster.server.stop() == 0
        shutil.copy(os.path.join(cluster.state_dir(), "reeve.db"), folder / "reeve.db")
    finally:
        wrong = cluster.end()
        cluster.remove()
    assert not wrong, wrong
    with open(folder / "reeve.db", "rb") as f:
        return f.read()


def serve(cluster, data):
    """A server on these bytes; False: it refused them."""
    os.mkdir(cluster.state_dir(), 0o700)
    with open(os.path.join(cluster.state_dir(), "reeve.db"), "wb") as f:
        f.write(data)
    os.chmod(os.path.join(cluster.state_dir(), "reeve.db"), 0o600)
    cluster.server = cluster._process("server", ["server", "--state-dir", cluster.state_dir(), "--listen",
                                                 "127.0.0.1:0", "--link-listen", "127.0.0.1:0"], {})
    wait_until(lambda: not cluster.server.running or cluster.cli("status", check=False).code == 0, what="it is open, or has ended")
    return cluster.server.running


def says_damaged(answer):
    return "damaged" in str(answer.get("detail", "")) + str(answer.get("hint", "")) if isinstance(answer, dict) else False


def judge(key, truth, said):
    """None: it is right, or says what is damaged."""
    if said == truth:
        return None
    if key[0] == "task" and (said.get("damaged") or says_damaged(said)):
        return None
    if key[0] == "log" and (says_damaged(said) or (isinstance(said, str) and MISSING.search(said))):
        return None
    if key[0] == "log" and isinstance(said, str) and MARK.fullmatch(said[len(truth):]):
        return None
    if key[0] == "queue" and "damaged" in str(said.get("pause_reason")):
        return None
    if key[0] == "schedule" and said.get("pause") and "damaged" in str(said["pause"]["reason"]):
        return None
    if key[0] == "event" and said["kind"] == "damaged":
        return None
    if isinstance(said, dict) and isinstance(truth, dict):
        return f"{key}: " + ", ".join(f"{k} is {said.get(k)!r}, not {v!r}" for k, v in truth.items() if said.get(k) != v)[:600]
    return f"{key}: is {str(said)[:300]}, not {str(truth)[:300]}"


@pytest.fixture(scope="module")
def truth(original):
    cluster = Cluster()
    try:
        assert serve(cluster, original), cluster.server.log()
        return answers(cluster)
    finally:
        cluster.end()
        cluster.remove()


def flip(r, data):
    data[r.randrange(len(data))] ^= 1 << r.randrange(8)


def rand16(r, data):
    at = r.randrange(len(data) - 16)
    data[at:at + 16] = r.randbytes(16)


def zero_page(r, data):
    at = r.randrange(len(data) // PAGE) * PAGE
    data[at:at + PAGE] = bytes(PAGE)


def header(r, data):
    data[r.randrange(100)] = r.randrange(256)


def cut(r, data):
    del data[r.randrange(1, len(data)):]


KINDS = {"flip": (flip, 18), "rand16": (rand16, 18), "zero_page": (zero_page, 10), "header": (header, 6), "cut": (cut, 6)}
SEEDS = [int(os.environ["REEVE_DAMAGE_SEED"])] if "REEVE_DAMAGE_SEED" in os.environ else [1, 2, 3]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind,part", [(k, p) for k, (_, n) in KINDS.items() for p in range((n + 5) // 6)])
def test_damaged_copies(new_cluster, original, truth, kind, part, seed):
    damage, n = KINDS[kind]
    wrong = []
    for number in range(part * 6, min(n, part * 6 + 6)):
        r = random.Random(f"{seed} {kind} {number}")
        data = bytearray(original)
        damage(r, data)
        cluster = new_cluster()
        if not serve(cluster, bytes(data)):
            assert "damaged" in cluster.server.log() or "not a Reeve database" in cluster.server.log() or \
                "schema" in cluster.server.log(), cluster.server.log()
            continue
        said = answers(cluster)
        missing = [key for key in truth if key not in said]
        wrong += [f"{kind} {number}: " + w for key in truth if key in said for w in [judge(key, truth[key], said[key])]
                  if w]
        wrong += [f"{kind} {number}: {key} is gone" for key in missing]
        assert cluster.server.running
        cluster.end()
    assert not wrong, "\n".join(wrong[:10])


def test_an_emptied_file_is_not_a_new_store(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    assert cluster.server.stop() == 0
    path = os.path.join(cluster.state_dir(), "reeve.db")
    with open(path, "wb"):
        pass
    refused = run(*cluster.server.args, check=False)
    assert refused.code != 0 and f"{path} is empty" in refused.err and "backup" in refused.err
    os.unlink(path + ".lock")
    cluster.restart()


def test_a_file_that_is_gone_is_not_a_new_store(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    assert cluster.server.stop() == 0
    path = os.path.join(cluster.state_dir(), "reeve.db")
    os.unlink(path)
    for _ in range(2):
        refused = run(*cluster.server.args, check=False)
        assert refused.code != 0 and f"{path} is gone" in refused.err and "backup" in refused.err, refused
        assert f"remove {path}" in refused.err and ".lock" in refused.err
    os.unlink(path + ".lock")
    cluster.restart()


def spoil(path, old, new):
    """Changes bytes of a stopped server's database."""
    with open(path, "r+b") as f:
        data = f.read()
        assert data.count(old) >= 1 and len(old) == len(new)
        f.seek(0)
        f.write(data.replace(old, new))


def test_what_is_damaged_is_held_and_the_rest_runs(cluster):
    cluster.start_server()
    cluster.create_queue("q")
    cluster.cli("queue", "pause", "q")
    bad = cluster.submit("sh", "-c", "echo precious", queue="q")["id"]
    good = cluster.submit("sh", "-c", "echo other", queue="q")["id"]
    assert cluster.server.stop() == 0
    path = os.path.join(cluster.state_dir(), "reeve.db")
    spoil(path, b"echo precious", b"rm -rf /preci")
    checked = run("store", "check", "--store", f"sqlite:{path}", check=False)
    assert checked.code == 1 and "damaged: task" in checked.out and "1 thing is damaged" in checked.out
    cluster.restart()
    cluster.start_worker()
    cluster.cli("queue", "resume", "q")
    assert cluster.wait_ended(good)["stdout"] == "other\n"
    held = cluster.wait_task(bad, "blocked", "held")
    assert held["damaged"] and "damaged" in held["reason"] and "command" not in held
    cluster.cli("release", bad, check=False)
    cluster.wait_task(bad, "blocked", "held")
    cluster.cli("cancel", bad)
    assert cluster.task(bad)["state"] == "cancelled"


def test_a_damaged_queue_is_paused_by_its_name(cluster):
    cluster.start_server()
    cluster.create_queue("q", env={"COLOUR": "blue-and-green"})
    cluster.create_queue("other")
    assert cluster.server.stop() == 0
    spoil(os.path.join(cluster.state_dir(), "reeve.db"), b"blue-and-green", b"blue-and-gre~n")
    cluster.restart()
    q = cluster.get("/v1/queues/q")
    assert q["paused"] and "damaged" in q["pause_reason"] and q["env"] == {}
    assert not cluster.get("/v1/queues/other")["paused"]
    cluster.cli("queue", "set", "q", "--plugin", "command")
    cluster.cli("queue", "resume", "q")
    assert cluster.server.stop() == 0
    cluster.restart()
    assert not cluster.get("/v1/queues/q")["paused"], "what was set anew has its own checksum"
