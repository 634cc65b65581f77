# SPDX-License-Identifier: Apache-2.0
"""Load, faults at random moments, and the final judgement: what the chaos tests share."""
import json
import os
import random
import threading
import uuid

import harness
import pytest
import requests
from harness import wait_until
from proxy import Proxy
from records import Records

SEED = int(os.environ.get("REEVE_CHAOS_SEED", "1"))
QUEUE = "chaos"
BACKLOG = 40  # the load never runs further ahead than this: what it leaves must be done soon
LONG = "forever"
# Limits that a test can wait for: unhealthy after 1.5 s of silence, lost 2.5 s later, retried 1.5 s after that.
SHORT = {"REEVE_SERVER_HEARTBEAT": "300ms", "REEVE_SERVER_HEARTBEAT_GRACE": "1200ms",
         "REEVE_SERVER_HEALTHCHECK_PERIOD": "500ms", "REEVE_SERVER_HEALTHCHECK_GRACE": "1s",
         "REEVE_SERVER_LOSE_UNHEALTHY_AFTER": "2500ms", "REEVE_SERVER_WORKER_MARGIN": "500ms",
         "REEVE_SERVER_TASK_KILL_WAIT": "200ms", "REEVE_SERVER_LOST_TASK_HOLD": "1500ms"}
UNHEALTHY_S, LOST_S = 2.0, 4.5  # the longer of beat and check counts; both with SHORT


def pause(rng, shortest, longest):
    """At any point: this wait hopes for nothing, it only chooses a moment."""
    threading.Event().wait(rng.uniform(shortest, longest))


@pytest.fixture
def rng(request):
    """The choices of one test; a failure shows how to draw them again."""
    print(f"to draw the same: REEVE_CHAOS_SEED={SEED} pytest -k '{request.node.name}'")
    return random.Random(f"{SEED} {request.node.name}")


def post_until_answered(cluster, tasks, key, stop):
    """The ids of the tasks, submitted once however often the request is repeated; None: told to stop before that."""
    while True:
        try:
            answer = requests.post(cluster._base + "/v1/tasks", json=tasks, timeout=harness.PATIENCE,
                                   headers={"Idempotency-Key": key, **cluster.auth})
        except requests.RequestException:
            if stop.wait(0.02):
                return None
            continue
        if answer.status_code == 503:  # it is starting
            continue
        assert answer.status_code == 200, answer.text
        return answer.json()["ids"]


class Load(threading.Thread):
    """Submits without pause and remembers what was acknowledged. A request without an answer is repeated under its
    Idempotency-Key, so that its tasks exist once, whatever happened to it."""

    def __init__(self, cluster, rng, seconds=(0, 0, 0.05, 0.3), attempts=(1, 50)):
        super().__init__(daemon=True)
        self.records, self.cluster = Records(cluster), cluster
        cluster._base = cluster._base or cluster.url
        self.rng, self.seconds, self.attempts = random.Random(rng.random()), seconds, attempts
        self.stop, self.wrong, self.acked = threading.Event(), None, {}  # id -> what was submitted

    def make(self):
        code = self.rng.choice([0] * 9 + [3])
        attempts = self.rng.choice(self.attempts) if code == 0 else self.rng.choice([1, 2])
        return {"command": self.records.command(self.rng.choice(self.seconds), code), "queue": QUEUE,
                "max_attempts": attempts, "backoff": "10ms", "backoff_max": "50ms", "labels": {"code": str(code)}}

    def post(self, tasks):
        key = str(uuid.UUID(int=self.rng.getrandbits(128)))
        return post_until_answered(self.cluster, tasks, key, self.stop)

    def run(self):
        try:
            while not self.stop.wait(0.03):
                if len(self.acked) - len({line.task for line in self.records.begun()}) > BACKLOG:
                    continue
                tasks = [self.make() for _ in range(self.rng.choice([1, 1, 3, 8]))]
                self.acked.update(zip(self.post(tasks) or [], tasks))
        except Exception as e:  # shown by the test
            self.wrong = e

    def begin(self):
        self.start()
        return self

    def wait_more(self, timeout=harness.PATIENCE):
        """Waits until something begins that had not begun yet."""
        before = len(self.records.begun())
        wait_until(lambda: len(self.records.begun()) > before or self.wrong, timeout, what="another task began")

    def end(self):
        self.stop.set()
        self.join(harness.PATIENCE)
        assert self.wrong is None and not self.is_alive(), self.wrong
        assert len(self.acked) > 20, "the test submitted too little to say anything"
        return self.acked


def task_processes(ids):
    """Whatever still lives of these tasks: (pid, task)."""
    found = []
    for pid in harness.processes_with("REEVE_TASK_ID="):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                words = dict(w.split(b"=", 1) for w in f.read().split(b"\0") if b"=" in w)
        except OSError:
            continue
        task = words.get(b"REEVE_TASK_ID", b"").decode()
        if task in ids:
            found.append((pid, task))
    return found


def judge(cluster, load, certain, timeout=harness.PATIENCE):
    """Waits until all is over, and compares. certain: no worker was killed or lost on the way, so each outcome is exactly
    what the task itself did. Returns the tasks by id."""
    acked = load.end()
    cluster.wait_idle(timeout=timeout, queue=QUEUE)
    tasks = {t["id"]: t for t in cluster.all_tasks(queue=QUEUE, full="true")}
    lost = set(acked) - set(tasks)
    assert not lost, f"acknowledged, then lost: {lost}"
    load.records.check(once=[i for i, t in tasks.items() if t["max_attempts"] == 1])
    load.records.check_claims(tasks, certain)
    for task in tasks.values():
        check_outcome(task, certain)
    assert not task_processes(set(tasks)), "all is over, yet something runs"
    return tasks


def check_outcome(task, certain):
    allowed = {"succeeded"} if task["labels"]["code"] == "0" else {"failed"}
    if not certain and (task["max_attempts"] == 1 or task["labels"]["code"] != "0"):
        allowed = allowed | {"orphaned"}
    assert task["state"] in allowed, json.dumps(task)
    assert task["state"] != "orphaned" or task["reason"], "an orphan must say why"


# -- workers

def worker(cluster, name):
    """What the server says of a worker, or None."""
    return {w["name"]: w for w in cluster.get("/v1/workers")["items"]}.get(name)


def wait_worker(cluster, name, state, timeout=harness.PATIENCE, connected=True):
    """Waits until the server sees the worker so; returns it."""
    def look():
        w = worker(cluster, name)
        return w if w and w["state"] == state and (not connected or w["connected"]) else None
    return wait_until(look, timeout, what=f"worker {name} is {state}")


def wait_healthy(cluster, *names):
    for name in names:
        wait_worker(cluster, name, "healthy")


def is_open(cluster):
    """Asked as a probe would: far cheaper than a command."""
    try:
        return requests.get(cluster._base + "/readyz", timeout=5).status_code == 200
    except requests.RequestException:
        return False


def wait_open(cluster):
    wait_until(lambda: is_open(cluster), what="the server is open", every=0.01)


def start(cluster, workers=("w1", "w2"), maxthreads=4, threads=6, env=None, args=()):
    """A server with workers that are healthy, and the queue of the load."""
    cluster.start_server(env=env or {})
    cluster.create_queue(QUEUE, threads=threads)
    processes = [cluster.start_worker("--maxthreads", maxthreads, *args, name=name) for name in workers]
    wait_healthy(cluster, *workers)
    return processes


@pytest.fixture
def proxies():
    """A function that makes proxies before a server's link. To be asked for before the cluster, so that it ends after it:
    a worker that cannot reach its server takes its time to leave."""
    made = []

    def make(target, seed=0):
        made.append(Proxy(target, seed))
        return made[-1]

    yield make
    for p in made:
        p.end()
