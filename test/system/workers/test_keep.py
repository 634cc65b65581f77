# SPDX-License-Identifier: Apache-2.0
"""`worker.on_worker_exit: keep`: tasks outlive their worker, and the next one takes them over as if nothing had been."""
import datetime
import json
import os
import shutil
import signal

import chaos
import pytest
from chaos import Load, pause, rng  # noqa: F401 (a fixture)
from harness import PATIENCE, PROGRAMS, wait_until
from keepers import Watched, is_alive

NUMBERS = os.path.join(PROGRAMS, "numbers.py")
PATIENT = dict(chaos.SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="30s")
ENDS = ["term", "kill"]


class Kept(Watched):
    """A worker whose tasks outlive it. Its keeper is its child only until the first of them is over."""

    def __init__(self, cluster, *args, **options):
        self.args, self.options, self.last = args, options, None
        super().__init__(cluster, self._start(cluster))

    def _start(self, cluster):
        return cluster.start_worker("--maxthreads", 8, "--kill-wait", "300ms", "--on-worker-exit", "keep", *self.args,
                                    **self.options)

    def keeper(self):
        if self.last is None or not is_alive(self.last):
            self.last = super().keeper()
        return self.last

    def leave(self, how):
        """The worker goes, and its keeper does not."""
        self.keeper()
        if how == "kill":
            self.worker.kill9()
        else:
            assert self.worker.stop() == 0

    def again(self):
        self.cluster.restart(self.worker)

    def change(self, how="kill"):
        self.leave(how)
        self.again()

    def text(self):
        with open(os.path.join(self.state_dir, "lock")):
            return self.worker.log()


@pytest.fixture
def kept(cluster):
    cluster.start_server(env=PATIENT)
    return Kept(cluster)


class Numbers:
    """A task that writes numbered lines, and what must have come of them."""

    def __init__(self, cluster, pause=0.002, lines=0, **members):
        self.cluster, self.stop_file = cluster, os.path.join(cluster.dir, f"stop{len(os.listdir(cluster.dir))}")
        while os.path.exists(self.stop_file + ".taken"):
            self.stop_file += "x"
        open(self.stop_file + ".taken", "w").close()
        self.id = cluster.submit(NUMBERS, self.stop_file, pause, lines, **members)["id"]

    def log(self, stream):
        return self.cluster.call("GET", f"/v1/tasks/{self.id}/logs", expect=200, params={"stream": stream}).content.decode()

    def pid(self):
        return int(wait_until(lambda: self.log("stdout"), what="it has written its pid").split()[0])

    def wait_more(self, lines=20):
        """Waits until the server has so many lines more."""
        before = self.log("stderr").count("\n")
        wait_until(lambda: self.log("stderr").count("\n") >= before + lines, what=f"{lines} more lines came", every=0.05)

    def wait_bytes(self, n):
        """Waits until the server has so many bytes of stdout."""
        path, params = f"/v1/tasks/{self.id}/logs", {"stream": "stdout", "offset": n}
        wait_until(lambda: self.cluster.call("GET", path, expect=200, params=params).content, what=f"{n} bytes came")

    def end(self):
        open(self.stop_file, "w").close()
        return self.check(self.cluster.wait_ended(self.id))

    def check(self, task):
        """Complete and in order, nothing twice."""
        out, err = self.log("stdout"), self.log("stderr")
        n = int(out.rpartition("out end ")[2] or -1)
        pid = out.split("\n", 1)[0]
        wanted = f"{pid}\n" + "".join(f"out {i}\n" for i in range(1, n + 1)) + f"out end {n}\n"
        assert out == wanted, different(out, wanted)
        wanted = "".join(f"err {i}\n" for i in range(1, n + 1))
        assert err == wanted, different(err, wanted)
        assert (task["state"], task["attempt"], len(task["attempts"])) == ("succeeded", 1, 1), task
        assert (task["stdout_bytes"], task["stderr_bytes"], task["stdout_dropped"]) == (len(out), len(err), 0), task
        return task


def different(a, b):
    """Where two long texts part."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at} of {len(a)} and {len(b)}: {a[max(0, at - 60):at + 60]!r} instead of {b[max(0, at - 60):at + 60]!r}"


# -- they go on

@pytest.mark.parametrize("how", ENDS)
def test_they_go_on(cluster, kept, how):
    tasks = [Numbers(cluster) for _ in range(3)]
    pids = [t.pid() for t in tasks]
    kept.leave(how)
    assert all(map(is_alive, pids))
    kept.again()
    for t in tasks:
        t.wait_more()
    assert all(map(is_alive, pids)) and [t.pid() for t in tasks] == pids
    for t in tasks:
        t.end()
    assert "took over 3 tasks" in kept.worker.log()
    kept.quiet()


def test_taken_over_five_times_with_the_server_killed_in_between(cluster, kept):
    t = Numbers(cluster)
    pid = t.pid()
    for i in range(5):
        t.wait_more()
        kept.leave(ENDS[i % 2])
        if i % 2:
            cluster.server.kill9()
            cluster.restart()
        kept.again()
        assert is_alive(pid)
    t.wait_more()
    assert t.end()["started"] == cluster.get(f"/v1/tasks/{t.id}")["started"]
    kept.quiet()


@pytest.mark.parametrize("spool", ["8K", "1M"])
def test_more_output_than_the_spool_holds(cluster, kept, spool):
    """What the server has may be given back; what it does not have yet may not, though the worker had taken it."""
    t = Numbers(cluster, pause=0, lines=300000, run={"output": {"spool": spool}})
    for i in range(1, 4):
        t.wait_bytes(i * 700000)
        kept.change()
    t.check(cluster.wait_ended(t.id))
    kept.quiet()


def test_load_with_the_worker_killed_again_and_again(cluster, rng):
    """Each outcome is certain, as if the worker had lived all the time."""
    cluster.start_server(env=PATIENT)
    cluster.create_queue(chaos.QUEUE, threads=6)
    kept = Kept(cluster)
    load = Load(cluster, rng).begin()
    for i in range(int(os.environ.get("REEVE_KEEP_ROUNDS", "12"))):
        load.wait_more()
        pause(rng, 0, 0.2)
        kept.leave(rng.choice(ENDS))
        pause(rng, 0, 0.2)
        if rng.random() < 0.3:
            cluster.server.kill9()
            cluster.restart()
        kept.again()
    chaos.judge(cluster, load, certain=True)
    kept.quiet()
    kept.worker.signal(signal.SIGQUIT)
    assert kept.worker.child.wait(PATIENCE) == 0
    kept.wait_gone()


# -- what ends while nobody is there

def wait_file(path):
    wait_until(lambda: os.path.exists(path), what=f"{path} is there")


def gate(cluster, name):
    """A file for which a script can wait, and the words to do so."""
    path = os.path.join(cluster.dir, name)
    return path, f"while [ ! -e {path} ]; do sleep 0.02; done;"


def open_gate(path):
    open(path, "w").close()


def submit_ready(cluster, name, script, **members):
    """A shell script that runs when this returns; (task, gate, pid)."""
    path, wait = gate(cluster, name)
    ready = path + ".ready"
    task = cluster.submit("sh", "-c", f"echo $$ > {ready}.new; mv {ready}.new {ready}; {wait} {script}", **members)["id"]
    wait_file(ready)
    with open(ready) as f:
        return task, path, int(f.read())


def test_ends_in_between_are_told_as_they_were(cluster, kept, tmp_path):
    result = tmp_path / "result"
    cases = {  # script, settings: state, exit code, signal, result
        "good": ("echo said; exit 0", {}, ("succeeded", 0, None, None)),
        "bad": ("echo said; exit 7", {}, ("failed", 7, None, None)),
        "killed": ("echo said; kill -9 $$", {}, ("failed", None, 9, None)),
        "term": ("echo said; kill -TERM $$", {}, ("failed", None, 15, None)),
        "result": (f"echo said; printf done > {result}", {"result_file": str(result)}, ("succeeded", 0, None, "done")),
        "status": ('echo said; echo \'{"result": "done", "data": {"n": 1}}\' > $REEVE_STATUS_FILE', {"status_file": True},
                   ("succeeded", 0, None, '{"n":1}')),
        "no": ("echo said; echo failed > $REEVE_STATUS_FILE", {"status_file": True}, ("failed", 0, None, None))}
    tasks = {name: submit_ready(cluster, name, script, run=run) for name, (script, run, _) in cases.items()}
    kept.leave("kill")
    for _, path, pid in tasks.values():
        open_gate(path)
    for _, _, pid in tasks.values():
        wait_until(lambda: not is_alive(pid), what="it has ended")
    kept.again()
    for name, (_, _, wanted) in cases.items():
        task = cluster.wait_ended(tasks[name][0])
        assert (task["state"], task["exit_code"], task["signal"], task["result"]) == wanted, (name, task)
        assert cluster.call("GET", f"/v1/tasks/{task['id']}/logs").text == "said\n", name
        assert task["usage"]["peak_memory"] > 0 and task["attempt"] == 1, (name, task)
    kept.quiet()


def test_a_long_input_harms_nobody(cluster, kept):
    other, path, _ = submit_ready(cluster, "other", "exit 0")
    long = cluster.submit("wc", "-c", run={"input": "x" * 200_000})["id"]
    assert cluster.wait_ended(long)["state"] == "succeeded"
    assert cluster.call("GET", f"/v1/tasks/{long}/logs").text.strip() == "200000"
    kept.change()
    open_gate(path)
    assert cluster.wait_ended(other)["state"] == "succeeded"


def test_a_worker_that_does_not_keep_ends_what_was_kept(cluster, kept):
    task, _, pid = submit_ready(cluster, "a", "exit 0")
    kept.leave("kill")
    kept.worker.args = ["kill" if word == "keep" else word for word in kept.worker.args]
    kept.again()
    ended = cluster.wait_ended(task)
    assert ended["state"] in ("orphaned", "failed") and not is_alive(pid), ended
    assert "that an earlier worker kept" in kept.worker.log()


def test_results_and_statuses_after_adoption(cluster, kept, tmp_path):
    result = tmp_path / "result"
    a = submit_ready(cluster, "a", f"printf done > {result}", run={"result_file": str(result)})
    b = submit_ready(cluster, "b", "echo backoff > $REEVE_STATUS_FILE", run={"status_file": True})
    kept.change()
    for _, path, _ in (a, b):
        open_gate(path)
    task = cluster.wait_ended(a[0])
    assert (task["state"], task["result"]) == ("succeeded", "done"), task
    task = cluster.wait_ended(b[0])
    assert task["state"] == "failed" and "backoff" in task["reason"], task


def test_time_limits_go_on(cluster, kept):
    """Counted from the task's own start; a limit that passed while nobody was there counts at once."""
    during = submit_ready(cluster, "a", "", timeout="5s")
    later = submit_ready(cluster, "b", "", timeout="12s")
    started = [wait_until(lambda: cluster.get(f"/v1/tasks/{t[0]}")["started"], what="the server knows") for t in (during, later)]
    kept.leave("kill")
    assert seconds_since(started[0]) < 5, "otherwise this machine is too slow for what follows"
    wait_until(lambda: seconds_since(started[0]) > 8, what="its time is over")
    assert is_alive(during[2])
    again = seconds_since(started[1])
    kept.again()
    for task, _, pid in (during, later):
        task = cluster.wait_ended(task)
        assert task["state"] == "terminated" and "time limit" in task["reason"], task
        assert not is_alive(pid)
    assert 11.9 < seconds_between(task["started"], task["ended"]) < again + 12, "it was not counted anew"


def seconds_since(text):
    return datetime.datetime.now(datetime.timezone.utc).timestamp() - stamp(text)


def seconds_between(a, b):
    return stamp(b) - stamp(a)


def stamp(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def test_cancelled_while_nobody_is_there_and_afterwards(cluster, kept):
    a, b = (submit_ready(cluster, name, "", max_attempts=3) for name in "ab")
    kept.leave("kill")
    cluster.cli("cancel", a[0])
    kept.again()
    assert cluster.wait_ended(a[0])["state"] == "cancelled"
    assert not is_alive(a[2]) and is_alive(b[2])
    cluster.cli("cancel", b[0])
    assert cluster.wait_ended(b[0])["state"] == "cancelled"
    assert not is_alive(b[2])
    kept.quiet()


# -- other kinds of tasks

def test_actions_and_plugins(cluster, tmp_path):
    """Who has a process of its own goes on; who shared one is told to have ended with it."""
    once, pool, go = tmp_path / "once.sh", tmp_path / "pool.py", tmp_path / "go"
    once.write_text(f"#!/bin/sh\nwhile [ ! -e {go} ]; do sleep 0.02; done; echo '{{\"status\": 1, \"reason\": \"well\"}}' >&3\n")
    pool.write_text(POOL)
    for program in (once, pool):
        program.chmod(0o755)
    cluster.start_server(env=PATIENT)
    plugins = {"once": {"exec": [str(once)]}, "pool": {"exec": [str(pool)], "mode": "persistent", "processes": 1}}
    kept = Kept(cluster, env={"REEVE_WORKER_PLUGINS": json.dumps(plugins)})
    for name in plugins:
        cluster.create_queue(name, plugin=name)
    steps = [{"run": {"command": ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.02; done"]}},
             {"run": {"command": ["echo", "second"]}}]
    action = cluster.submit(action={"serial": {"actions": steps}})["id"]
    ids = [action] + [cluster.submit(queue=q, params={})["id"] for q in ("once", "pool", "pool")]
    wait_until(lambda: {cluster.get(f"/v1/tasks/{i}")["state"] for i in ids} == {"running"}, what="all run")
    kept.change()
    for i in ids[2:]:
        task = cluster.wait_ended(i)
        assert task["state"] == "failed" and "plugin" in task["reason"] and task["attempt"] == 1, task
    assert {cluster.get(f"/v1/tasks/{i}")["state"] for i in ids[:2]} == {"running"}
    go.write_text("")
    task = cluster.wait_ended(action)
    assert (task["state"], task["reason"]) == ("succeeded", None), task
    assert cluster.call("GET", f"/v1/tasks/{action}/logs").text == "second\n"
    task = cluster.wait_ended(ids[1])
    assert (task["state"], task["reason"]) == ("succeeded", "well"), task
    kept.quiet()


POOL = '''#!/usr/bin/python3
import json, struct, sys

data = json.dumps({"reeve": 1, "concurrency": 4}).encode()
sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
sys.stdout.buffer.flush()
while sys.stdin.buffer.read(1):
    pass
'''


def test_checks_go_on(cluster, kept, tmp_path):
    """A long runner that becomes unwell after its worker was replaced is found out by the next one."""
    well = tmp_path / "well"
    well.write_text("")
    check = {"command": ["test", "-e", str(well)], "interval": "100ms", "start_interval": "100ms"}
    task, _, pid = submit_ready(cluster, "a", "", run={"check": check})
    wait_until(lambda: "is healthy" in kept.worker.log(), what="it was found healthy")
    kept.change()
    wait_until(lambda: kept.worker.log().count("is healthy") == 2, what="it was found healthy again")
    assert kept.worker.log().count(f"task {task} is healthy") == 2, kept.worker.log()
    well.unlink()
    task = cluster.wait_ended(task)
    assert task["state"] == "failed" and "became unhealthy" in task["reason"], task
    assert not is_alive(pid)


@pytest.mark.skipif(not shutil.which("bwrap"), reason="there is no bubblewrap")
def test_sandboxes_go_on(cluster, kept):
    open_path, wait = gate(cluster, "go")
    run = {"sandbox": {"readable": [cluster.dir]}, "status_file": True}
    good = cluster.submit("sh", "-c", f"echo $$; {wait} echo done > $REEVE_STATUS_FILE", run=run)["id"]
    wait_until(lambda: cluster.call("GET", f"/v1/tasks/{good}/logs").text, what="it runs inside")
    cluster.submit("/no/such/thing", run={"sandbox": {"readable": [cluster.dir]}})
    kept.leave("kill")
    kept.again()
    bad = cluster.all_tasks()[-1]["id"]
    task = cluster.wait_ended(bad)
    assert task["state"] == "failed" and task["exit_code"] == 126 and "sandbox" in task["reason"], task
    open_gate(open_path)
    assert cluster.wait_ended(good)["state"] == "succeeded"


# -- the lease, and the end

def test_the_keeper_ends_them_before_the_server_gives_them_up(cluster):
    """Nobody comes back: the tasks are over before the server may start them elsewhere."""
    cluster.start_server(env=chaos.SHORT)
    kept = Kept(cluster)
    chaos.wait_worker(cluster, "w1", "healthy")
    task, _, pid = submit_ready(cluster, "a", "", max_attempts=2)
    deaf, _, deaf_pid = submit_ready(cluster, "b", "trap '' TERM; exec sleep 1000")

    def given_up():
        tasks = [cluster.get(f"/v1/tasks/{i}") for i in (task, deaf)]
        states = [(t["state"], t["attempt"]) for t in tasks]
        return states if states != [("running", 1)] * 2 else None
    wait_until(lambda: given_up() is None, what="the server has heard that both run")
    kept.leave("kill")
    assert is_alive(pid) and is_alive(deaf_pid)
    wait_until(given_up, what="the server has given them up", every=0.005)
    assert not is_alive(pid) and not is_alive(deaf_pid)
    assert cluster.wait_ended(deaf)["state"] == "orphaned"
    kept.wait_gone()
    assert cluster.get(f"/v1/tasks/{task}")["state"] in ("queued", "claimed"), "another worker may try it"


def test_another_worker_gets_what_was_given_up(cluster):
    cluster.start_server(env=chaos.SHORT)
    kept = Kept(cluster)
    chaos.wait_worker(cluster, "w1", "healthy")
    records = chaos.Records(cluster)
    ids = [cluster.submit(*records.command(chaos.LONG), max_attempts=2)["id"] for _ in range(3)]
    records.wait_begun(3)
    kept.leave("kill")
    cluster.start_worker("--maxthreads", 4, name="w2")
    records.wait_begun(6)
    records.check()
    for i in ids:
        cluster.cli("cancel", i)
    kept.wait_gone()


def test_another_program_takes_over(cluster, kept):
    """As after an upgrade of the package: the file is another one, the tasks are the same."""
    copy = os.path.join(cluster.dir, "reeve-new")
    shutil.copy(kept.worker.binary, copy)
    t = Numbers(cluster)
    pid = t.pid()
    kept.leave("term")
    kept.worker.binary = copy
    kept.again()
    t.wait_more()
    assert is_alive(pid) and os.readlink(f"/proc/{kept.worker.pid}/exe") == copy
    t.end()
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"
    kept.quiet()


@pytest.mark.parametrize("how", ENDS)
def test_a_keeper_without_tasks_does_not_stay(cluster, kept, how):
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"
    kept.quiet()
    kept.leave(how)
    kept.wait_gone()


def test_a_keeper_leaves_with_the_last_task(cluster, kept):
    """When nothing is left to be told but ends, it waits no longer than the lease."""
    task, path, _ = submit_ready(cluster, "a", "exit 3")
    kept.leave("term")
    open_gate(path)
    assert is_alive(kept.keeper()), "somebody has to remember how it ended"
    kept.again()
    assert cluster.wait_ended(task)["exit_code"] == 3
    kept.quiet()
    kept.leave("kill")
    kept.wait_gone()


@pytest.mark.parametrize("how", ["quit", "server"])
def test_who_is_told_to_end_everything_does(cluster, kept, how):
    task, _, pid = submit_ready(cluster, "a", "")
    kept.keeper()
    if how == "quit":
        kept.worker.signal(signal.SIGQUIT)
    else:
        cluster.call("POST", "/v1/workers/w1/stop", expect=200)
    assert kept.worker.child.wait(PATIENCE) == 0
    assert not is_alive(pid)
    kept.wait_gone()
    assert cluster.wait_ended(task)["state"] == "failed"


def test_keeper_and_worker_killed(cluster, kept):
    """Then there is nobody to keep them: the next start ends what is left, as without this setting."""
    task, _, pid = submit_ready(cluster, "a", "(setsid sleep 1000 &) ; sleep 1000", run={"parent_death_signal": "none"})
    keeper = kept.keeper()
    os.kill(keeper, signal.SIGSTOP)
    kept.worker.kill9()
    os.kill(keeper, signal.SIGKILL)
    kept.again()
    assert cluster.wait_ended(task)["state"] == "orphaned"
    assert not is_alive(pid)
    kept.quiet()


def test_adopted_keeper_killed(cluster, kept):
    """It is not the worker's child; its death is noticed all the same, and another one takes its place."""
    t = Numbers(cluster)
    pid = t.pid()
    keeper = kept.keeper()
    kept.change()
    t.wait_more()
    os.kill(keeper, signal.SIGKILL)
    task = cluster.wait_ended(t.id)
    assert task["signal"] == 9 and "keeper" in task["reason"] and not is_alive(pid), task
    t = Numbers(cluster)
    t.wait_more()
    kept.change()
    t.wait_more()
    t.end()
    kept.quiet()


def test_a_next_worker_that_does_not_reach_the_server_gets_no_new_lease(cluster):
    """It cannot say that it has them: they end when they would have ended with the first one."""
    cluster.start_server(env=chaos.SHORT)
    kept = Kept(cluster)
    chaos.wait_worker(cluster, "w1", "healthy")
    task, _, pid = submit_ready(cluster, "a", "")
    cluster.server.kill9()
    kept.leave("kill")
    kept.worker.start()
    wait_until(lambda: "took over 1 tasks" in kept.worker.log(), what="it has them")
    assert is_alive(pid)
    wait_until(lambda: not is_alive(pid), what="its time is up")
    cluster.restart()
    task = cluster.wait_ended(task)
    assert (task["state"], task["signal"]) in (("failed", 9), ("orphaned", None)), task
    kept.quiet()
