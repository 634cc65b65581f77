# SPDX-License-Identifier: Apache-2.0
"""Services behind a real HAProxy, under constant load from clients that count: a deploy and a drain lose no request,
and what is killed loses no more than what was in flight there."""
import http.client
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest
from harness import PROGRAMS, ROOT, wait_until

HAPROXY = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
pytestmark = pytest.mark.skipif(not HAPROXY, reason="haproxy is not installed")
TEMPLATE = os.path.join(ROOT, "examples", "routes", "haproxy.cfg.tmpl")
INSTANCES, WORKERS, CLIENTS = 20, 3, 6
HOST = "www.example.org"
# Each range is a worker's own, so that none of them takes a port of another's instance.
PORTS = 24


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def free_ranges(n):
    """Ports that nobody has now, below those that the kernel gives away."""
    while True:
        first, held = random.randrange(12000, 32000 - n * PORTS), []
        try:
            for port in range(first, first + n * PORTS):
                held.append(socket.create_server(("127.0.0.1", port)))
            return [f"{at}-{at + PORTS - 1}" for at in range(first, first + n * PORTS, PORTS)]
        except OSError:
            continue
        finally:
            for one in held:
                one.close()


class Load:
    """Some clients, each with one request after the other. A failure is kept with its time, from begin to end."""

    def __init__(self, port):
        self.port, self.lock, self.is_over = port, threading.Lock(), False
        self.answers, self.pids, self.words, self.failures = 0, set(), set(), []
        self.threads = [threading.Thread(target=self.run) for _ in range(CLIENTS)]
        for t in self.threads:
            t.start()

    def ask(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", "/", headers={"Host": HOST, "Connection": "close"})
            answer = connection.getresponse()
            body = answer.read().decode()
            if answer.status != 200:
                raise OSError(f"{answer.status}: {body[:80]}")
            return body.split()
        finally:
            connection.close()

    def run(self):
        while not self.is_over:
            begun = time.monotonic()
            try:
                pid, word = self.ask()
                with self.lock:
                    self.answers += 1
                    self.pids.add(int(pid))
                    self.words.add(word)
            except (OSError, http.client.HTTPException, ValueError) as e:
                with self.lock:
                    self.failures.append((begun, time.monotonic(), repr(e)))
            time.sleep(0.02)

    def goes_on(self, answers=100):
        """So many more requests were answered; whatever is wrong by now has shown."""
        before = self.answers
        wait_until(lambda: self.answers >= before + answers, what=f"{answers} more answers")

    def end(self):
        self.is_over = True
        for t in self.threads:
            t.join()


class Front:
    """HAProxy, its configuration kept up to date by `reeve routes render --watch`, and the load."""

    def __init__(self, cluster, dir):
        self.port, self.config, self.pid_file = free_port(), dir / "haproxy.cfg", dir / "haproxy.pid"
        text = open(TEMPLATE).read()
        assert "bind 127.0.0.1:8080" in text
        template = dir / "haproxy.cfg.tmpl"
        template.write_text(text.replace("127.0.0.1:8080", f"127.0.0.1:{self.port}"))
        cluster.cli("routes", "render", template, "--to", self.config)
        self.log = open(dir / "haproxy.log", "w")
        self.proxy = subprocess.Popen([HAPROXY, "-f", self.config], stdout=self.log, stderr=self.log)
        self.pid_file.write_text(f"{self.proxy.pid}\n")
        self.watch = cluster._process("render", [
            "routes", "render", str(template), "--to", str(self.config), "--check", f"{HAPROXY} -c -f {{}}",
            "--signal", f"USR2:{self.pid_file}", "--watch", "--interval", "200ms"],
            {"REEVE_SERVER": f"unix:{cluster.socket}"})
        wait_until(self.listens, what="HAProxy listens")
        self.load = Load(self.port)

    def listens(self):
        assert self.proxy.poll() is None, "HAProxy has ended"
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def end(self):
        self.load.end()
        self.proxy.kill()
        self.proxy.wait()
        self.log.close()


@pytest.fixture
def web(server):
    """Twenty instances on three workers, all of them ready."""
    for i, ports in enumerate(free_ranges(WORKERS)):
        server.start_worker("--address", "127.0.0.1", "--ports", ports, "--on-worker-exit", "keep", name=f"w{i}")
    server.call("PUT", "/v1/services/web", 201, json={
        "instances": INSTANCES, "ports": 1, "routes": [{"host": HOST}],
        "strategy": {"max_surge": 5, "max_unavailable": 0, "min_healthy": 0},
        "task": {"command": [os.path.join(PROGRAMS, "serve.py")],
                 "run": {"checks": {"readiness": {"tcp": "$PORT", "interval": "200ms"}}, "kill": {"wait": "60s"}}}})
    wait_until(lambda: counts(server)["ready"] == INSTANCES, what="all instances are ready")
    yield server
    end_workers([p for p in server.processes if p.args[0] == "worker"])


def end_workers(workers):
    """With all that they run, which a worker that keeps leaves to the next one, unless it gets QUIT."""
    for worker in workers:
        if not worker.running:
            worker.start()
            wait_until(lambda: "connected to" in worker.log().split("dials")[-1], what=f"{worker.name} is back")
        worker.signal(signal.SIGQUIT)
        worker.child.wait(60)


@pytest.fixture
def front(web, tmp_path):
    front = Front(web, tmp_path)
    yield front
    front.end()


def counts(c):
    return c.get("/v1/services/web")["counts"]


def instances(c):
    return c.get("/v1/services/web/instances")["items"]


def stands(c):
    """As many as are wanted, each of them ready, where it shall be."""
    return len(instances(c)) == INSTANCES and all(i["ready"] and i["presence"] == "ordinary" for i in instances(c))


def test_a_deploy_and_a_drain_lose_no_request(web, front):
    load = front.load
    wait_until(lambda: len(load.pids) == INSTANCES, what="every instance has served")
    assert not load.failures

    web.cli("service", "set", "web", "--env", "WORD=two", "--reason", "another word")
    wait_until(lambda: web.get("/v1/services/web")["deploy"]["stable"] == 2, what="revision 2 is everywhere")
    load.goes_on()
    assert load.words == {"one", "two"} and load.failures == []

    web.cli("worker", "drain", "w0", "--reason", "new disk")
    wait_until(lambda: web.get("/v1/workers/w0")["services"]["instances"] == 0, what="w0 is empty")
    wait_until(lambda: stands(web), what="all have a new place")
    load.goes_on()
    assert load.failures == []
    assert {i["worker"] for i in instances(web)} == {"w1", "w2"}
    assert web.get("/v1/status")["services"]["crashed"] == 0


def in_flight(failures, killed):
    """Of those failures, the ones that were under way when something was killed."""
    return [f for f in failures if any(f[0] <= after and f[1] >= before for before, after in killed)]


def test_what_is_killed_loses_what_was_in_flight_there(web, front):
    load, workers = front.load, [p for p in web.processes if p.args[0] == "worker"]
    load.goes_on()
    before = {i["task"] for i in instances(web)}

    # No request goes through these two: what they started goes on without them.
    workers[0].kill9()
    load.goes_on()
    web.restart(workers[0])
    web.server.kill9()
    load.goes_on()
    web.restart()
    wait_until(lambda: stands(web), what="all stand as before")
    load.goes_on()
    assert load.failures == [] and {i["task"] for i in instances(web)} == before

    killed = []
    for _ in range(5):
        load.pids.clear()
        victim = wait_until(lambda: next(iter(load.pids), None), what="one of those that serve")
        before = time.monotonic()
        os.kill(victim, signal.SIGKILL)
        killed.append((before, time.monotonic()))
        load.goes_on(20)
    wait_until(lambda: stands(web), what="all that were killed are made up for")
    load.goes_on()
    # The time of a kill lies inside of each request that it has cost, and no client has more than one at a time.
    assert in_flight(load.failures, killed) == load.failures
    assert len(load.failures) <= len(killed) * CLIENTS
    assert web.get("/v1/status")["services"]["running"] == INSTANCES
