# SPDX-License-Identifier: Apache-2.0
"""The members of `run` with a real worker: as whom, within which limits, in which sandbox, and how it is ended."""
import json
import os
import shutil
import signal
import subprocess

import pytest
from harness import wait_until
from keepers import Watched, is_alive
from running import Runner, as_nobody, needs_bwrap, needs_root


@pytest.fixture(scope="module")
def runner():
    r = Runner("--run-as", "daemon", "--run-as", "games", "--run-as-groups", "adm",
               "--run-as-capabilities", "net_bind_service")
    yield r
    r.close()


def refused(task, *words):
    assert task["state"] == "failed" and task["exit_code"] == 126, task
    for word in words:
        assert word in task["reason"], task["reason"]


# -- how it is ended

DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
# Who gets the signal writes its name; the leader waits for a moment, so that the others have the time.
FAMILY = """
say() { sh -c "trap 'echo $1 >> {said}' TERM; echo > {said}.$1; while :; do sleep 0.05; done" & }
say group
setsid sh -c "trap 'echo session >> {said}' TERM; echo > {said}.session; while :; do sleep 0.05; done" &
trap 'echo leader >> {said}; sleep 0.3; exit 0' TERM
while [ ! -e {said}.group ] || [ ! -e {said}.session ]; do sleep 0.02; done
echo ready
while :; do sleep 0.05; done
"""


@pytest.mark.parametrize("to, heard", [("child", {"leader"}), ("group", {"leader", "group"}),
                                       ("cgroup", {"leader", "group", "session"})])
def test_kill_to(runner, tmp_path, to, heard):
    said = tmp_path / "said"
    task = runner.ready(FAMILY.replace("{said}", str(said)), run={"kill": {"to": to, "wait": "20s"}})
    runner.cancel(task)
    assert set(said.read_text().split()) == heard
    runner.watched.quiet()


def test_kill_method_term_never_kills(runner):
    task = runner.ready(DEAF, run={"kill": {"method": "term", "wait": "10ms"}})
    pid = runner.pid_of(task)
    runner.cluster.cli("cancel", task)
    for i in range(3):  # whatever comes in between
        assert runner.ended("true")["state"] == "succeeded"
    assert is_alive(pid) and runner.cluster.get(f"/v1/tasks/{task}")["cancelling"]
    os.kill(pid, signal.SIGKILL)
    assert runner.cluster.wait_ended(task)["state"] == "cancelled"


def test_kill_method_kill_does_not_ask(runner, tmp_path):
    said = tmp_path / "said"
    task = runner.ready(f"trap 'echo asked > {said}' TERM; echo ready; while :; do sleep 0.05; done",
                        run={"kill": {"method": "kill", "wait": "1h"}})
    runner.cancel(task)
    assert not said.exists()


@pytest.mark.parametrize("wait", ["0s", "1ms", "3ms"])
def test_tiny_waits_do_kill(runner, wait):
    """Shorter than anybody looks: TERM, and then KILL all the same."""
    task = runner.ready(DEAF, run={"kill": {"wait": wait}})
    pid = runner.pid_of(task)
    assert runner.cancel(task)["signal"] == signal.SIGKILL
    assert not is_alive(pid)


def test_the_wait_is_the_tasks_own(runner, tmp_path):
    """Longer than the worker's: it has all of it."""
    said = tmp_path / "said"
    task = runner.ready(f"trap 'sleep 0.7; echo clean > {said}; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
                        run={"kill": {"wait": "30s"}})
    runner.cancel(task)
    assert said.read_text() == "clean\n"


def test_process_group_false(runner):
    task = runner.ready("echo ready; sleep 1000", run={"process_group": False})
    pid = runner.pid_of(task)
    assert os.getpgid(pid) == os.getpgid(runner.watched.keeper())
    runner.cancel(task)
    assert not is_alive(pid) and is_alive(runner.watched.keeper()), "nobody else in that group was hit"
    runner.watched.quiet()


def test_parent_death_signal(cluster, tmp_path):
    """When the keeper dies, and before the worker could do anything about it."""
    cluster.start_server()
    watched = Watched(cluster, cluster.start_worker("--maxthreads", 4))
    tasks, pids = {}, {}
    for word in ("kill", "term", "none"):
        said = tmp_path / word
        script = (f"trap 'echo asked > {said}; exit 0' TERM; echo $$ > {said}.pid.new; mv {said}.pid.new {said}.pid;"
                  "while :; do sleep 0.05; done")
        tasks[word] = cluster.submit("sh", "-c", script, run={"parent_death_signal": word})["id"]
        wait_until((tmp_path / (word + ".pid")).exists, what=f"{word} runs")
        pids[word] = int((tmp_path / (word + ".pid")).read_text())
    keeper = watched.keeper()
    watched.worker.signal(signal.SIGSTOP)
    os.kill(keeper, signal.SIGKILL)
    wait_until(lambda: not is_alive(pids["kill"]) and not is_alive(pids["term"]), what="two of them have ended")
    assert is_alive(pids["none"])
    assert [(tmp_path / w).exists() for w in ("kill", "term", "none")] == [False, True, False]
    watched.worker.signal(signal.SIGCONT)
    for task in tasks.values():
        assert cluster.wait_ended(task)["state"] == "failed"
    assert not is_alive(pids["none"])


# -- as whom

def ids(user):
    """What `id` says of a user, in the order of IDS."""
    return [subprocess.run(["id", flag, user], capture_output=True, text=True, check=True).stdout.strip()
            for flag in ("-u", "-g", "-G")]


IDS = "id -u; id -g; id -G"


@needs_root
def test_user(runner):
    out = runner.says(f"{IDS}; echo $HOME $USER $LOGNAME; id -un", run={"user": "daemon"})
    assert out == ids("daemon") + ["/usr/sbin daemon daemon", "daemon"]


@needs_root
def test_group_and_groups(runner):
    out = runner.says(IDS, run={"user": "daemon", "group": "adm"})
    assert out[:2] == [ids("daemon")[0], "4"], out
    out = runner.says(IDS, run={"user": "daemon", "groups": ["adm"]})
    assert out[1] == ids("daemon")[1] and "4" in out[2].split(), out


@needs_root
def test_a_directory_of_path_that_may_not_be_searched(runner, tmp_path):
    """The program may be there, so nobody can say that there is none: 126. Found further on, it runs."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    for path, code, said in ((f"{closed}:/usr/bin", 126, "exec no-such-tool: Permission denied"),
                             ("/nowhere:/usr/bin", 127, "exec no-such-tool: not found in PATH")):
        task = runner.ended("no-such-tool", run={"user": "daemon"}, env={"PATH": path})
        assert (task["state"], task["exit_code"], task["reason"]) == ("failed", code, said), task
    assert runner.ended("true", run={"user": "daemon"}, env={"PATH": f"{closed}:/usr/bin"})["state"] == "succeeded"


@needs_root
def test_own_environment_wins(runner):
    assert runner.says("echo $HOME $USER", run={"user": "daemon"}, env={"HOME": "/mine"}) == ["/mine daemon"]


@needs_root
def test_who_is_not_named_is_refused(runner):
    refused(runner.ended("id", run={"user": "www-data"}), "www-data", "worker.run_as")
    refused(runner.ended("id", run={"user": "root"}), "root", "worker.run_as")
    refused(runner.ended("id", run={"user": "no-such-user"}), "no-such-user")
    refused(runner.ended("id", run={"user": "daemon", "group": "shadow"}), "shadow", "worker.run_as_groups")
    refused(runner.ended("id", run={"user": "daemon", "groups": ["adm", "root"]}), "root")


@needs_root
def test_files_of_the_user(runner):
    """What it makes is its own, where it may; the worker's rights do not help it."""
    place = os.path.join(runner.cluster.dir, "place")
    os.makedirs(place, exist_ok=True)
    shutil.chown(place, "daemon")
    runner.says(f"echo x > {place}/file", run={"user": "daemon", "umask": "027"})
    st = os.stat(f"{place}/file")
    assert (st.st_uid, st.st_mode & 0o777) == (1, 0o640)
    task = runner.ended("cat", "/etc/shadow", run={"user": "daemon"})
    assert task["state"] == "failed" and "Permission denied" in task["stderr"], task


@needs_root
@pytest.mark.parametrize("allowed", [False, True])
def test_no_new_privs(runner, allowed):
    program = os.path.join(runner.cluster.dir, "id")
    shutil.copy(shutil.which("id"), program)
    os.chmod(program, 0o4755)
    run = {"user": "daemon", "no_new_privs": not allowed}
    assert runner.says(f"{program} -u", run=run) == ["0" if allowed else "1"]


def capabilities(runner, **run):
    words = dict(line.split(":\t") for line in runner.says("grep ^Cap /proc/self/status", run=run))
    return {k: int(v, 16) for k, v in words.items()}


@needs_root
def test_capabilities(runner):
    bind = 1 << 10  # net_bind_service
    all_of_us = capabilities(runner, capabilities="all")
    assert all_of_us["CapEff"] & bind
    none = capabilities(runner, user="daemon")
    assert none["CapEff"] == none["CapPrm"] == none["CapBnd"] == 0, none
    one = capabilities(runner, user="daemon", capabilities=["net_bind_service"])
    assert one["CapEff"] == one["CapPrm"] == one["CapBnd"] == one["CapAmb"] == bind, one
    refused(runner.ended("id", run={"user": "daemon", "capabilities": ["sys_admin"]}), "worker.run_as_capabilities")
    refused(runner.ended("id", run={"user": "daemon", "capabilities": "all"}), "worker.run_as_capabilities", '"all"')
    root = capabilities(runner, capabilities=["net_bind_service"])
    assert root["CapEff"] == root["CapBnd"] == bind, root
    assert set(capabilities(runner, capabilities=[]).values()) == {0}, "an empty list keeps none"
    assert runner.says("""python3 -c 'import socket; socket.socket().bind(("127.0.0.1", 81)); print("bound")'""",
                       run={"user": "daemon", "capabilities": ["net_bind_service"]}) == ["bound"]


@needs_root
def test_all_capabilities_where_the_worker_gives_them():
    runner = Runner("--run-as", "daemon", "--run-as-capabilities", "all")
    try:
        mine, theirs = capabilities(runner), capabilities(runner, user="daemon", capabilities="all")
        assert theirs["CapEff"] == mine["CapEff"] != 0
    finally:
        runner.close()


@needs_root
@pytest.mark.parametrize("names", [["setuid"], ["net_bind_service", "dac_read_search"], ["sys_admin"]])
def test_capabilities_that_the_worker_does_not_give(runner, names):
    """Some of them are as good as root: nobody gets one only by asking."""
    task = runner.ended("id", run={"user": "daemon", "capabilities": names})
    refused(task, "does not give its tasks these capabilities")


@needs_root
def test_another_user_sets_his_own_limits(runner):
    refused(runner.ended("true", run={"user": "daemon", "nice": -5}), "nice")


@needs_root
def test_results_are_not_of_the_kernels_files(runner):
    """"self" would be the keeper there."""
    for path in ("/proc/self/maps", "/proc/self/status", "/sys/kernel/uevent_seqnum"):
        task = runner.ended("true", run={"result_file": path})
        assert task["state"] == "failed" and task["result"] is None, task


@needs_root
def test_worker_that_became_another_user(cluster):
    """Its tasks are that user's, with that user's home; and it has no other rights itself."""
    os.chmod(cluster.dir, 0o755)
    cluster.start_server()
    worker = cluster.start_worker("--user", "daemon", "--run-as", "games")
    with open(f"/proc/{worker.pid}/status") as f:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
    assert status["Uid"].split() == ["1"] * 4 and int(status["CapEff"], 16) == 0 and int(status["CapPrm"], 16) == 0
    task = cluster.wait_ended(cluster.submit("sh", "-c", f"{IDS}; echo $HOME $USER")["id"])
    assert task["stdout"].splitlines() == ids("daemon") + ["/usr/sbin daemon"], task
    task = cluster.wait_ended(cluster.submit("sh", "-c", "id -un", run={"user": "games"})["id"])
    assert task["stdout"] == "games\n", task
    assert worker.stop() == 0


# -- within which limits

def test_nice_umask_and_rlimits(runner):
    run = {"nice": 7, "umask": "077",
           "limits": {"open_files": 77, "file_size": "1M", "core_size": 0, "stack_size": "4M", "cpu_time": "100s"}}
    out = runner.says("nice; umask; ulimit -n; ulimit -f; ulimit -c; ulimit -s; ulimit -t", run=run)
    assert out == ["7", "0077", "77", "2048", "0", "4096", "100"]
    assert runner.says("nice; umask") == [str(os.nice(0)), "0022"], "as nice as the worker, which is as nice as we"
    out = [line.split(":\t") for line in runner.ended("cat", "/proc/self/status")["stdout"].splitlines()]
    signals = {k: int(v, 16) for k, v in out if k in ("SigBlk", "SigIgn", "SigCgt")}
    assert not any(signals.values()), "no signal is blocked, ignored or caught when a task starts"


@needs_root
def test_less_nice_than_we(runner):
    assert runner.says("nice", run={"nice": -5}) == ["-5"]


def test_cpu_time_of_a_process(runner):
    task = runner.ended("sh", "-c", "while :; do :; done", run={"limits": {"cpu_time": "1s"}})
    assert task["state"] == "failed" and task["signal"] in (signal.SIGXCPU, signal.SIGKILL), task
    assert task["usage"]["user_ms"] + task["usage"]["system_ms"] >= 500, task


def test_memory(runner):
    """Which process is killed is the kernel's choice; that it was for lack of memory is said."""
    runner.needs_limits()
    task = runner.ended("python3", "-c", "x = bytearray(200 << 20)", run={"limits": {"memory": "32M"}})
    assert task["state"] == "failed" and "out of memory" in task["reason"], task
    assert task["signal"] == 9 and task["usage"]["oom_kills"] >= 1, task
    assert (16 << 20) < task["usage"]["peak_memory"] <= (33 << 20), task
    task = runner.ended("sh", "-c", "python3 -c 'x = bytearray(200 << 20)'; exit 5", run={"limits": {"memory": "32M"}})
    assert (task["state"], task["usage"]["oom_kills"] > 0) == ("failed", True) and "out of memory" in task["reason"], task
    runner.watched.quiet()


def test_enough_memory(runner):
    runner.needs_limits()
    task = runner.ended("python3", "-c", "x = bytearray(100 << 20)", run={"limits": {"memory": "400M"}})
    assert task["state"] == "succeeded" and task["usage"]["oom_kills"] == 0, task
    assert (100 << 20) < task["usage"]["peak_memory"] < (400 << 20), task


def test_pids_and_cpu(runner):
    runner.needs_limits()
    out = runner.says("(sleep 1 & sleep 1 & sleep 1 & sleep 1 & sleep 1 & echo all) 2>&1 | tail -1; true",
                      run={"limits": {"pids": 5}}, ok=False)
    assert "all" not in out, out
    out = runner.says("""python3 -c '
import os, time
a, b = time.monotonic(), sum(os.times()[:2])
while time.monotonic() < a + 1.5: pass
print(sum(os.times()[:2]) - b)'""", run={"limits": {"cpu": 0.2}})
    assert float(out[0]) < 0.6, "a fifth of 1.5 seconds, and a bit"


@needs_root
def test_what_can_not_be_held_is_refused_or_warned_of(cluster):
    """A worker without the right to make cgroups."""
    cluster.start_server()
    worker = as_nobody(cluster)
    command, limit = ["sh", "-c", "ulimit -v"], {"cpu": 0.5}
    refused(cluster.wait_ended(cluster.submit(*command, run={"limits": limit})["id"]), "cpu")
    task = cluster.wait_ended(cluster.submit(*command, run={"limits": {**limit, "policy": "warn"}})["id"])
    assert task["state"] == "succeeded", task
    assert task["id"] in worker.log() and "cpu" in worker.log(), "the warning"
    task = cluster.wait_ended(cluster.submit(*command, run={"limits": {"memory": "512M"}})["id"])
    assert (task["state"], task["stdout"]) == ("succeeded", f"{512 << 10}\n"), "an rlimit instead"
    refused(cluster.wait_ended(cluster.submit("id", run={"user": "daemon"})["id"]), "daemon")


# -- in which sandbox

# Our own runner of actions is in there, too; its sanitizer looks for leaks by a call that the filter forbids.
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}


@needs_bwrap
def test_sandbox(runner):
    place = runner.writable("data")
    out = runner.says("echo $$; find /tmp -type f; touch /usr/x 2>&1 | grep -c Read-only; grep -c : /proc/net/dev; "
                      f"echo kept > {place}/file; echo hidden > /tmp/file", run={"sandbox": {"writable": [place]}})
    assert out == ["2", "1", "1"], out
    with open(f"{place}/file") as f:
        assert f.read() == "kept\n"
    assert not os.path.exists("/tmp/file")


@needs_bwrap
def test_sandbox_does_not_set_the_machine(runner):
    out = runner.says("(echo 1 > /proc/sys/kernel/printk_ratelimit) 2>/dev/null || echo no", run={"sandbox": True})
    assert out == ["no"]


@needs_bwrap
def test_sandbox_does_not_see_a_server_beside_it(dev):
    """Whoever can talk to it can have things run outside."""
    task = dev.wait_ended(dev.submit("sh", "-c", f"ls -A {os.path.dirname(dev.socket)}",
                                     run={"sandbox": {"readable": [os.path.dirname(os.path.dirname(dev.socket))]}})["id"])
    assert task["state"] == "succeeded" and not task["stdout"], task


@needs_bwrap
def test_sandbox_with_all_else(runner):
    """An action inside, as another user, with a result and a status file, within limits."""
    place = runner.writable("data2", "daemon")
    script = f"id -un; printf answer > {place}/result; echo done > $REEVE_STATUS_FILE"
    run = {"sandbox": {"writable": [place]}, "result_file": f"{place}/result", "status_file": True}
    if os.geteuid() == 0:
        run["user"] = "daemon"
    task = runner.ended("sh", "-c", script, run=run)
    assert (task["state"], task["result"]) == ("succeeded", "answer"), task
    steps = {"serial": {"actions": [{"run": {"command": ["sh", "-c", script]}}, {"run": {"command": ["sh", "-c", "echo $$"]}}]}}
    task = runner.ended(action=steps, run=run, env=NO_LEAKS)
    assert (task["state"], task["result"]) == ("succeeded", "answer"), task
    assert 1 < int(task["stdout"].split()[-1]) < 20, "process numbers of its own"
    task = runner.ended(action={"run": {"command": ["sh", "-c", "exit 3"]}}, run={"sandbox": True}, env=NO_LEAKS)
    assert (task["state"], task["exit_code"]) == ("failed", 3), task
    runner.watched.quiet()


@needs_bwrap
def test_sandbox_is_ended(runner, tmp_path):
    place = runner.writable("data3")
    script = f"trap 'echo asked > {place}/said; exit 0' TERM; (setsid sleep 1000 &); echo ready; while :; do sleep 0.05; done"
    task = runner.ready(script, run={"sandbox": {"writable": [place]}, "kill": {"wait": "20s"}})
    runner.cancel(task)
    with open(f"{place}/said") as f:
        assert f.read() == "asked\n"
    task = runner.ready(f"{DEAF}", run={"sandbox": True, "kill": {"wait": "10ms"}})
    runner.cancel(task)
    runner.watched.quiet()


@needs_bwrap
def test_sandbox_that_can_not_be(runner):
    task = runner.ended("true", run={"sandbox": {"writable": ["/no/such/place"]}})
    refused(task, "/no/such/place")
    task = runner.ended("/no/such/program", run={"sandbox": True})
    refused(task, "sandbox")
    assert "bwrap:" in task["stderr"], task


@needs_bwrap
def test_result_of_a_sandbox_is_what_was_written_inside(runner, tmp_path):
    """A path that means something else outside shows nothing of that."""
    secret = tmp_path / "secret"  # below /tmp, which is another one inside
    secret.write_text("secret of the host")
    place = runner.writable("data4")
    os.symlink(str(secret), f"{place}/link")
    for path in (str(secret), f"{place}/../secret", f"{place}/link", os.path.join(runner.watched.state_dir, "started")):
        task = runner.ended("true", run={"sandbox": {"writable": [place]}, "result_file": path})
        assert task["state"] == "failed" and task["result"] is None, (path, task)
        assert "secret of" not in json.dumps(task)
