# SPDX-License-Identifier: Apache-2.0
"""Starts and ends real `reeve` processes, and talks to them as a person or a program would."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import requests

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PROGRAMS = os.path.join(ROOT, "test", "system", "programs")
BIN = os.environ.get("REEVE_BIN", os.path.join(ROOT, "build-check", "reeve"))
# Sanitized programs beside whatever else the machine does: patience costs nothing when the condition comes soon.
PATIENCE = float(os.environ.get("REEVE_TEST_PATIENCE", "180"))
LIVE = (-2, -1, 0)  # queued, claimed, running
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|reeve: bug:")


def wait_until(condition, timeout=PATIENCE, what=None, every=0.02):
    """Returns the first true value of condition(); fails with `what` after `timeout` seconds."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {timeout:g} s still not: {what or condition}")
        time.sleep(every)


class Result:
    """What a command did: exit code, and both streams as text."""

    def __init__(self, args, done):
        self.args, self.code = args, done.returncode
        self.out, self.err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def __repr__(self):
        return f"{' '.join(map(str, self.args))} -> {self.code}\n{self.out}{self.err}"

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def jsonl(self):
        return [json.loads(line) for line in self.out.splitlines() if line]


def clean_environment(**extra):
    """The caller's own REEVE_* settings must not decide how a test ends."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("REEVE_")}
    env.update({"NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
    env.update({k: str(v) for k, v in extra.items()})
    return env


def keep_secret(path, text):
    """A file that only its owner may read and write, as a server wants its tokens kept."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as f:
        f.write(text)


def run(*args, input=None, env=None, timeout=PATIENCE, check=True, cwd=None):
    """Runs `reeve ARGS…` to its end. check=True: a failure fails the test, with all it said."""
    if isinstance(input, str):
        input = input.encode()
    stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, timeout=timeout, cwd=cwd,
                          env=clean_environment(**(env or {})), **stdin)
    result = Result(["reeve", *args], done)
    assert not SANITIZER.search(result.err), result
    assert not check or result.code == 0, result
    return result


def processes_with(text):
    """The processes whose environment mentions this: how tasks and their children are found."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                if text.encode() in f.read():
                    found.append(int(pid))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    return found


class Process:
    """One long-running `reeve`: a process group of its own, its output in a file."""

    def __init__(self, name, args, log_path, env=None, binary=None, as_user=None):
        self.name, self.args, self.log_path = name, [str(a) for a in args], log_path
        self.binary = binary or BIN
        self.env, self.child, self.as_user = env or {}, None, as_user or {}
        self.killed = False

    def start(self):
        with open(self.log_path, "ab") as log:
            self.child = subprocess.Popen([self.binary, *self.args], stdin=subprocess.DEVNULL, stdout=log,
                                          stderr=log, env=clean_environment(**self.env),
                                          start_new_session=True, **self.as_user)
        self.killed = False
        return self

    @property
    def pid(self):
        return self.child.pid

    @property
    def running(self):
        return self.child is not None and self.child.poll() is None

    def log(self):
        try:
            with open(self.log_path, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def signal(self, number):
        self.child.send_signal(number)

    def kill9(self):
        """As a crash would: no chance to say goodbye. Only the process itself, not what it started."""
        self.killed = True
        self.child.kill()
        self.child.wait()

    def stop(self, timeout=PATIENCE):
        """Asks it to end and returns its exit code."""
        if self.running:
            self.child.terminate()
        return self.child.wait(timeout)

    def rss_kb(self, field="VmRSS"):
        """Memory in use; with VmHWM: the most there ever was since reset_peak()."""
        with open(f"/proc/{self.pid}/status") as f:
            return int(re.search(field + r":\s+(\d+)", f.read()).group(1))

    def reset_peak(self):
        with open(f"/proc/{self.pid}/clear_refs", "w") as f:
            f.write("5")

    def end(self):
        """Always leaves nothing behind; returns what went wrong on the way, or None."""
        if self.child is None:
            return None
        wrong = None
        try:
            self.stop()
        except subprocess.TimeoutExpired:
            wrong = f"{self.name} did not end within {PATIENCE:g} s of SIGTERM"
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        found = SANITIZER.search(self.log())
        return f"{self.name}: {found.group(0)} (see its log)" if found else wrong


class Cluster:
    """A server (or `reeve dev`) with its workers, in one temporary directory."""

    def __init__(self):
        # Short, because the path of a unix socket must fit into 107 bytes.
        self.dir = tempfile.mkdtemp(prefix="reeve-")
        self.processes = []
        self.server = None
        self.binary = None  # another program than BIN for servers and workers
        self._base = None

    # -- starting

    def state_dir(self, name="server"):
        return os.path.join(self.dir, name)

    @property
    def socket(self):
        return os.path.join(self.state_dir(), "reeve.sock")

    def _process(self, name, args, env, binary=None, as_user=None):
        process = Process(name, args, os.path.join(self.dir, f"{name}.log"), env, binary or self.binary, as_user)
        self.processes.append(process)
        return process.start()

    def _pin_ports(self):
        """The kernel chose the ports; after a restart the workers must find them again."""
        args = self.server.args
        for flag, address in (("--listen", self.url), ("--link-listen", self.link)):
            if flag in args:
                args[args.index(flag) + 1] = address.split("://")[-1]

    def start_dev(self, *args, env=None):
        """Server and worker in one, on free ports of the loopback."""
        self.server = self._process("dev", ["dev", "--state-dir", self.state_dir(), "--listen",
                                            "127.0.0.1:0", "--link-listen", "127.0.0.1:0", *args], env)
        self.wait_ready()
        self._pin_ports()
        return self.server

    def start_server(self, *args, env=None):
        self.server = self._process("server", ["server", "--state-dir", self.state_dir(), "--listen",
                                               "127.0.0.1:0", "--link-listen", "127.0.0.1:0", *args], env)
        self.wait_ready()
        self._pin_ports()
        return self.server

    def own_token(self, kind="token"):
        """What the server made at its first start; None when it was given another, or is too old to make one."""
        try:
            with open(os.path.join(self.state_dir(), kind)) as f:
                return f.read().strip()
        except FileNotFoundError:
            return None

    @property
    def auth(self):
        """The header by which requests over TCP are admitted."""
        token = self.own_token()
        return {"Authorization": f"Bearer {token}"} if token else {}

    @property
    def join(self):
        """The environment in which a worker is admitted."""
        token = self.own_token("join-token")
        return {"REEVE_WORKER_TOKEN": token} if token else {}

    def start_worker(self, *args, name="w1", env=None, join=None, binary=None, as_user=None):
        """join: another way to the server than its own address; as_user: what subprocess needs to know of a user."""
        env = {**self.join, **(env or {})}
        process = self._process(name, ["worker", "--join", join or self.link, "--name", name, "--state-dir",
                                       self.state_dir(name), *args], env, binary, as_user)
        wait_until(lambda: not process.running or self.has_worker(name), what=f"worker {name} joined")
        assert process.running, f"worker {name} ended:\n{process.log()}"
        return process

    def restart(self, process=None):
        """Starts a stopped or killed process again, with the same arguments."""
        process = process or self.server
        assert not process.running
        process.start()
        if process is self.server:
            self.wait_ready()
        return process

    # -- asking

    def cli(self, *args, env=None, **options):
        return run(*args, env={"REEVE_SERVER": f"unix:{self.socket}", "REEVE_SERVER_STATE_DIR": self.state_dir(),
                               **(env or {})}, **options)

    def json(self, *args, **options):
        """The parsed output of a command that is asked for JSON."""
        return self.cli(*args, "-o", "json", **options).json

    def status(self):
        return self.json("status")

    def _ready(self):
        assert self.server.running, f"{self.server.name} ended before it was ready:\n{self.server.log()}"
        result = self.cli("status", "-o", "json", check=False)
        return result.code == 0 and result.json.get("ready") is not False

    def wait_ready(self):
        wait_until(self._ready, what=f"{self.server.name} is ready")

    def has_worker(self, name):
        workers = self.json("worker", "ls")
        workers = workers.get("workers", workers.get("items", [])) if isinstance(workers, dict) else workers
        return any(w.get("name") == name for w in workers)

    @property
    def url(self):
        """Where HTTP is served: the port was chosen by the kernel."""
        for address in self.status()["listen"]:
            if not address.startswith(("unix:", "/")):
                return address if "://" in address else f"http://{address}"
        raise AssertionError("the server listens on no TCP port")

    @property
    def link(self):
        return self.status()["link"]

    # -- asking as a program: over HTTP

    def call(self, method, path, expect=None, **options):
        """A request and its answer; `expect`: the status that it must have."""
        self._base = self._base or self.url
        options["headers"] = {**self.auth, **(options.get("headers") or {})}
        answer = requests.request(method, self._base + path, timeout=PATIENCE, **options)
        assert expect is None or answer.status_code == expect, (path, answer.status_code, answer.text[:2000])
        return answer

    def get(self, path, **params):
        return self.call("GET", path, expect=200, params=params).json()

    def submit(self, *command, **members):
        """One task; returns it."""
        if command:
            members["command"] = [str(word) for word in command]
        answer = self.call("POST", "/v1/tasks", json=members)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def submit_many(self, tasks, **params):
        """Many in one request; returns the report."""
        body = "".join(json.dumps(t) + "\n" for t in tasks)
        return self.call("POST", "/v1/tasks", expect=200, data=body, params=params,
                         headers={"Content-Type": "application/x-ndjson"}).json()

    def wait_ended(self, task_id, timeout=PATIENCE):
        """Waits until the task is over, however; returns it."""
        def there():
            task = self.get(f"/v1/tasks/{task_id}", wait="5s")
            return task if task["ended"] and task["status"] not in LIVE else None
        return wait_until(there, timeout, what=f"task {task_id} has ended")

    def wait_idle(self, timeout=PATIENCE, **filters):
        """Waits until nothing that matches is live; returns how many there are in each state."""
        def over():
            summary = self.get("/v1/tasks/summary", **filters)
            return summary["states"] if summary["live"] == 0 else None
        return wait_until(over, timeout, what="everything has ended", every=0.1)

    def all_tasks(self, **filters):
        """Every task that matches, oldest first."""
        items, cursor = [], None
        while True:
            page = self.get("/v1/tasks", order="asc", limit=1000, **filters, **({"cursor": cursor} if cursor else {}))
            items += page["items"]
            cursor = page["next"]
            if not cursor:
                return items

    def create_queue(self, name, **settings):
        return self.call("POST", "/v1/queues", expect=201, json={"name": name, **settings}).json()

    def why(self, task_id):
        """The codes of all reasons."""
        return [r["code"] for r in self.get(f"/v1/tasks/{task_id}/why")["reasons"]]

    def task(self, task_id):
        return self.json("task", "show", task_id)

    def wait_task(self, task_id, *states, timeout=PATIENCE):
        """Waits until the task is in one of these states; returns it."""
        def there():
            task = self.task(task_id)
            return task if task["state"] in states else None
        return wait_until(there, timeout, what=f"task {task_id} is {' or '.join(states)}")

    # -- ending

    def logs(self):
        return "\n".join(f"---- {p.name}: reeve {' '.join(p.args)}\n{p.log()[-8000:]}" for p in self.processes)

    def end(self):
        """Ends everything that was started, workers first; returns what went wrong."""
        wrong = [p.end() for p in reversed(self.processes)]
        return [w for w in wrong if w]

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)
