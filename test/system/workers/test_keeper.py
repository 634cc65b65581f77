# SPDX-License-Identifier: Apache-2.0
"""The worker, its keeper, or both killed -9 in the middle of everything: nothing is left, and every end is told as it was."""
import os
import shutil
import signal
import tempfile

import chaos
import pytest
import zoo
from chaos import Load, pause, rng  # noqa: F401 (a fixture)
from harness import PATIENCE, wait_until
from keepers import LIMITS, Watched, children, is_alive

ROUNDS = int(os.environ.get("REEVE_KEEPER_ROUNDS", "6"))
HERD = ("double_forks", "escapes", "forks", "freezes", "hides", "holds_pipe", "ignores_term", "runs_away", "stops_itself", "writes")


@pytest.fixture(scope="module")
def beasts():
    directory = tempfile.mkdtemp(prefix="reeve-zoo-")
    zoo.build(directory)
    yield directory
    shutil.rmtree(directory)


class Herd:
    """Beasts as tasks that stay until somebody ends them."""

    def __init__(self, cluster, directory):
        self.cluster, self.directory, self.ids, self.number = cluster, directory, [], 0
        cluster.create_queue("zoo")

    def let_out(self, names, user=None):
        """Starts them, and waits until each is at its worst."""
        ready = []
        for name in names:
            self.number += 1
            ready.append(os.path.join(self.cluster.dir, f"ready{self.number}"))
            command = [os.path.join(self.directory, name), ready[-1]]
            run = {"limits": LIMITS} if self.number % 2 else {}
            run.update({"user": user} if user else {})
            self.ids.append(self.cluster.submit(*command, queue="zoo", run=run, env={"ZOO": self.directory})["id"])
        for path in ready:
            wait_until(lambda: os.path.exists(path), what=f"{path} is there")

    def wait_running(self):
        states = lambda: {self.cluster.get(f"/v1/tasks/{i}")["state"] for i in self.ids}
        wait_until(lambda: states() == {"running"}, what="the server knows that they run")

    def settle(self):
        mark = os.path.join(self.cluster.dir, "ready")
        wait_until(lambda: not zoo.processes(self.directory, mark), what="no beast is left")

    def ended(self):
        return [self.cluster.wait_ended(i) for i in self.ids]


def start(cluster, beasts, *args):
    chaos.start(cluster, workers=(), env=dict(chaos.SHORT, REEVE_SERVER_LOSE_UNHEALTHY_AFTER="20s"))
    worker = cluster.start_worker("--maxthreads", 16, "--kill-wait", "200ms", *args)
    chaos.wait_worker(cluster, "w1", "healthy")
    return Watched(cluster, worker), Herd(cluster, beasts)


def kill(watched, who):
    """Returns the worker's and the keeper's pid."""
    worker, keeper = watched.worker, watched.keeper()
    if who == "keeper":
        os.kill(keeper, signal.SIGKILL)
    elif who == "worker":
        worker.kill9()
    elif who == "both":
        worker.kill9()
        os.kill(keeper, signal.SIGKILL)
    else:
        os.kill(keeper, signal.SIGSTOP)  # it must not have time to see anything
        worker.kill9()
        os.kill(keeper, signal.SIGKILL)
    return keeper


def judge(cluster, load, herd, who):
    """Whatever was killed: no attempt twice, no claim without a start, and the truth about each end."""
    load.end()
    cluster.wait_idle(queue=chaos.QUEUE)
    tasks = {t["id"]: t for t in cluster.all_tasks(queue=chaos.QUEUE, full="true")}
    assert not set(load.acked) - set(tasks), "acknowledged, then lost"
    load.records.check(once=[i for i, t in tasks.items() if t["max_attempts"] == 1])
    load.records.check_claims(tasks, certain=False)
    for task in tasks.values():
        check_end(task, who)
    for task in herd.ended():
        check_beast(task, who)
    assert not chaos.task_processes(set(tasks)), "all is over, yet something runs"


def check_end(task, who):
    code = int(task["labels"]["code"])
    if task["state"] == "succeeded":
        assert code == 0 and task["exit_code"] == 0, task
    elif task["state"] == "orphaned":
        assert who != "keeper" and task["reason"], task
    elif task["signal"]:
        assert who == "keeper" and task["signal"] == signal.SIGKILL and "keeper" in task["reason"], task
    else:
        assert task["state"] == "failed" and code and task["exit_code"] == code, task


def check_beast(task, who):
    """None of them ends by itself."""
    if who == "keeper":
        assert task["state"] == "failed" and task["signal"] == signal.SIGKILL, task
        assert "keeper" in task["reason"], task
    else:
        assert task["state"] == "orphaned" and task["reason"], task
    assert task["attempt"] == 1 and len(task["attempts"]) == 1, task


@pytest.mark.parametrize("who", ["worker", "keeper", "both", "both at once"])
def test_killed_in_the_middle_of_everything(cluster, beasts, rng, who):
    watched, herd = start(cluster, beasts)
    load = Load(cluster, rng).begin()
    # root's process that has left its cgroup and its environment is known by its parents alone
    names = [n for n in HERD if n != "escapes" or who in ("worker", "keeper")]
    for _ in range(ROUNDS):
        herd.let_out(rng.sample(names, 3))
        load.wait_more()
        pause(rng, 0, 0.1)
        keeper = kill(watched, who)
        if who != "keeper":
            cluster.restart(watched.worker)
        herd.settle()
        wait_until(lambda: watched.keeper() != keeper, what="there is another keeper")
    judge(cluster, load, herd, who)
    watched.quiet()
    assert watched.worker.stop() == 0
    watched.wait_gone()


def test_without_a_next_worker_nothing_is_left(cluster, beasts):
    """The keeper alone ends everything, and leaves."""
    watched, herd = start(cluster, beasts)
    herd.let_out(HERD)
    watched.keeper()
    watched.worker.kill9()
    herd.settle()
    watched.wait_gone()


@pytest.mark.parametrize("who", ["worker", "keeper"])
def test_who_left_its_cgroup_does_not_outlive_them(cluster, beasts, who):
    """Nothing is left to know it by, but that its parents are gone and that it became somebody's child."""
    watched, herd = start(cluster, beasts)
    herd.let_out(["escapes"])
    kill(watched, who)
    herd.settle()


def test_tasks_have_their_time_after_the_worker_is_killed(cluster, tmp_path):
    """TERM first, as ever: what wants to clean up may, and say so, though nobody reads it any more."""
    watched, _ = start(cluster, str(tmp_path), "--kill-wait", "20s")
    said = tmp_path / "said"
    script = f"trap 'echo ending; echo cleaned up > {said}; exit 0' TERM; echo > {said}.ready; while :; do sleep 0.05; done"
    cluster.submit("sh", "-c", script)
    wait_until((tmp_path / "said.ready").exists, what="it runs")
    watched.keeper()
    watched.worker.kill9()
    wait_until(lambda: said.exists() and said.read_text() == "cleaned up\n", what="it was asked to end")
    watched.wait_gone()


def test_keeper_killed_again_and_again(cluster, beasts):
    """The worker goes on, with nothing of the dead ones: no zombie, no descriptor."""
    watched, herd = start(cluster, beasts)

    def work():
        task = cluster.wait_ended(cluster.submit("true")["id"])
        assert task["state"] == "succeeded", task

    def kill():
        """What is given to a dying keeper may have run, and is told as failed: it must be buried first."""
        pid = watched.kill_keeper()
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"), what="the worker has buried it")
    work()
    kill()
    work()
    before = zoo.descriptors(watched.worker.pid)
    for _ in range(5):
        herd.let_out(["ignores_term"])
        kill()
        herd.settle()
        work()
    wait_until(lambda: len(children(watched.worker.pid)) == 1, what="no zombie of a keeper is left")
    wait_until(lambda: zoo.descriptors(watched.worker.pid) <= before, what="no more descriptors than before")
    for task in herd.ended():
        check_beast(task, "keeper")


def test_keeper_alone_is_not_moved_by_other_signals(cluster, beasts):
    """What is meant for the worker, its group or its terminal must not end it first."""
    watched, herd = start(cluster, beasts)
    herd.let_out(["ignores_term"])
    keeper = watched.keeper()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGTSTP):
        os.kill(keeper, number)
    assert cluster.wait_ended(cluster.submit("true")["id"])["state"] == "succeeded"
    assert is_alive(keeper) and watched.keeper() == keeper
    cluster.cli("cancel", herd.ids[0])
    assert cluster.wait_ended(herd.ids[0])["state"] == "cancelled"


def test_a_stopped_keeper_is_replaced(cluster, beasts):
    """It can neither start nor end anything; whoever can signal it must not be able to hold up its worker for ever."""
    watched, herd = start(cluster, beasts)
    herd.let_out(["ignores_term"])
    keeper = watched.keeper()
    os.kill(keeper, signal.SIGSTOP)
    wait_until(lambda: not is_alive(keeper), what="the worker has ended it")
    assert cluster.wait_ended(herd.ids[0])["state"] == "failed"
    assert cluster.wait_ended(cluster.submit("true", max_attempts=3)["id"])["state"] == "succeeded"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up rights")
@pytest.mark.parametrize("user", [None, "daemon"], ids=["its own", "another's"])
def test_who_gave_up_its_rights_can_not_go_on_without_its_keeper(cluster, beasts, user):
    """It leaves, to be started anew. What it could not end it does not call ended: the next instance does both."""
    os.chmod(cluster.dir, 0o1777)
    os.chmod(beasts, 0o755)
    watched, herd = start(cluster, beasts, "--user", "nobody", "--run-as", "daemon")
    assert os.stat(f"/proc/{watched.worker.pid}").st_uid != 0
    herd.let_out(["hides", "double_forks"], user=user)
    herd.wait_running()  # the server may hear of a start later than we see it
    watched.kill_keeper()
    assert watched.worker.child.wait(PATIENCE) == 1, watched.worker.log()
    assert bool(zoo.processes(beasts)) == bool(user), "only its own it can find without cgroups"
    wanted = "running" if user else "failed"
    assert {cluster.get(f"/v1/tasks/{i}")["state"] for i in herd.ids} == {wanted}
    cluster.restart(watched.worker)
    for task in herd.ended():
        wanted = ("orphaned", None) if user else ("failed", signal.SIGKILL)
        assert (task["state"], task["signal"]) == wanted and task["reason"], task
    herd.settle()
    chaos.wait_worker(cluster, "w1", "healthy")
    assert watched.worker.stop() == 0
    watched.wait_gone()


def test_persistent_plugins_die_with_the_keeper(cluster, tmp_path):
    plugin = tmp_path / "slow.py"
    plugin.write_text(SLOW_PLUGIN)
    plugin.chmod(0o755)
    chaos.start(cluster, workers=(), env=chaos.SHORT)
    cluster.create_queue("p", plugin="slow")
    env = {"REEVE_WORKER_PLUGINS": '{"slow": {"exec": ["%s"], "mode": "persistent", "processes": 1}}' % plugin}
    watched = Watched(cluster, cluster.start_worker(env=env))
    long, short = ({"queue": "p", "params": {"seconds": s}} for s in (1000, 0))
    tasks = [cluster.submit(**long)["id"] for _ in range(2)]
    wait_until(lambda: {cluster.get(f"/v1/tasks/{t}")["state"] for t in tasks} == {"running"}, what="both run")
    watched.kill_keeper()
    for t in tasks:
        task = cluster.wait_ended(t)
        assert task["state"] == "failed" and task["reason"], task
    assert cluster.wait_ended(cluster.submit(**short)["id"])["state"] == "succeeded", "another process took its place"


SLOW_PLUGIN = '''#!/usr/bin/python3
import json, struct, sys, threading, time

lock = threading.Lock()


def send(message):
    data = json.dumps(message).encode()
    with lock:
        sys.stdout.buffer.write(struct.pack(">I", len(data)) + data)
        sys.stdout.buffer.flush()


def work(task):
    time.sleep(task["params"]["seconds"])
    send({"id": task["id"], "token": task["token"], "status": 1})


send({"reeve": 1, "concurrency": 4})
while head := sys.stdin.buffer.read(4):
    task = json.loads(sys.stdin.buffer.read(struct.unpack(">I", head)[0]))
    threading.Thread(target=work, args=(task,), daemon=True).start()
'''
